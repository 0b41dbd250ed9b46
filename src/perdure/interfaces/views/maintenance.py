"""Views of maintenance: sweeps and forecasts, statistics, the digest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from perdure.interfaces.views.blocks import (
    MOST,
    Block,
    Document,
    Foreign,
    Identifier,
    Line,
    Pairs,
    Text,
    counted,
    not_written,
    rest,
    tally,
    undo,
)

if TYPE_CHECKING:
    from perdure.interfaces.views import Request
    from perdure.records.report import Moved, Report, Stats
    from perdure.rules.lifecycle.digest import Digest


def view_report(report: Report, request: Request) -> Iterator[Block]:
    """Show what a sweep moved or would move, or what a forecast foresees."""
    yield from report_lines(report, request.arguments.get("days") if request.verb == "forecast" else None)
    if request.verb != "forecast":
        yield from not_written(report.moved, dry_run=report.dry_run)
    yield from undo(report.operations)


def report_lines(report: Report, days: float | None = None) -> Iterator[Line]:
    """Yield the moves of a report; ``days`` of a forecast."""
    moves = counted(len(report.moved), "move")
    if days is not None:
        yield Line(f"{moves} within {days:g} days if nothing happens.")
    else:
        accesses = f", {counted(report.counted, 'access')} counted" if report.counted else ""
        made = "due" if report.dry_run else "made"
        yield Line(f"{moves} {made}; {counted(report.examined, 'memory')} examined{accesses}.")
    if report.moved:
        yield Line(tally(report.tally))
    for moved in report.moved[:MOST]:
        yield Line((f"{moved.at}  ", Identifier(moved.id), f"  {_because(moved)}"), tone="faint", item=True)
    yield from rest(len(report.moved))
    for held in report.held:
        stopped = f": {counted(len(held.ids), 'move')}. {held.because}"
        yield Line(("Held back in ", Foreign(held.namespace), stopped), tone="warning")


def _because(moved: Moved) -> str:
    return moved.because if moved.because.startswith(moved.move) else f"{moved.move}: {moved.because}"


def view_stats(found: Stats, request: Request) -> Iterator[Block]:
    """Show how a store is doing; where it has no facts, what may be the reason."""
    yield Pairs(tuple(_figures(found, request)))
    if found.at_risk:
        yield Line("High value, and archived within 30 days if nothing happens:")
    for identity, value, when in found.at_risk[:MOST]:
        yield Line((Identifier(identity), f"  value {value:.2f}  {when}"), item=True)
    yield from rest(len(found.at_risk))


def _figures(found: Stats, request: Request) -> Iterator[tuple[str, Text]]:
    if "store" in request.notes:
        yield "store", Foreign(request.notes["store"])
    yield "memories", f"{found.memories:,} in {counted(found.namespaces, 'namespace')}"
    yield "tiers", tally(found.tiers)
    yield "statuses", tally(found.statuses)
    yield "kinds", tally(found.kinds)
    if found.value_percentiles:
        percentiles = ", ".join(f"{name} {value:.2f}" for name, value in found.value_percentiles.items())
        yield "value", f"{percentiles} (of {counted(found.sampled, 'memory')})"
    yield "due", f"{found.due_now:,} now, {found.due_soon:,} within 7 days"
    yield "review suggested", f"{found.review_suggested:,} of {found.sampled:,}"
    yield "without a vector", f"{found.without_vector:,} (found by keyword search only)"
    yield "embedding space", Foreign(found.space) if found.space else "none"
    if found.model is not None:
        use = found.model
        tokens = f"{use.tokens_in:,} tokens in, {use.tokens_out:,} tokens out"
        yield "language model", f"{counted(use.calls, 'call')}, {use.failures:,} failed, {use.seconds:.1f} s; {tokens}"
    if (hint := request.notes.get("no_facts")) and "fact" not in found.kinds:
        yield "facts", f"none. {hint}"


def view_digest(made: Digest, _: Request) -> Iterator[Block]:
    """Show MEMORY.md."""
    yield Document(made.text, digest_size(made))


def digest_size(made: Digest) -> str:
    """Return how long a digest is."""
    how = "counted by the embedder's tokenizer" if made.exact else "estimated on the high side"
    return f"{counted(len(made.ids), 'memory')}, {made.tokens:,} tokens ({how}), profile {made.profile}"
