"""Views of maintenance: sweeps, ends of sessions, statistics, the digest, checks, the schedule, ingests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from perdure.interfaces.views import Request
from perdure.interfaces.views.blocks import (
    Block,
    Identifier,
    Line,
    Pairs,
    PlainText,
    Span,
    Table,
    Text,
    Untrusted,
    command,
)
from perdure.interfaces.views.values import (
    MOST,
    closing_notes,
    counts_in_words,
    first_entries,
    format_figure,
    format_instant,
    pluralize,
    remaining_entries,
    undo,
)
from perdure.records.consolidation_results import SessionResult
from perdure.records.journal_growth import JournalGrowth
from perdure.records.report import Alert, Digest, IngestResult, Stats, SweepReport, TierMove


def view_sweep_report(report: SweepReport, request: Request) -> Iterator[Block]:
    """Show what a sweep moved or would move, or what a forecast foresees."""
    if request.verb == "forecast":
        yield from _foreseen(report, request.arguments.get("days", 30))
    else:
        yield from _moves(report)
        yield from closing_notes(report, request)


def _foreseen(report: SweepReport, days: float) -> Iterator[Block]:
    tally = report.tally
    yield Line(f"{pluralize(sum(tally.values()), 'move')} within {days:g} days without further access.")
    if report.overdue:
        yield Line(f"{pluralize(report.overdue, 'move')} of them due already: the next sweep makes them.")
    if tally:
        yield Line(counts_in_words(tally))
        rows = [
            (day, *(f"{many[kind]:,}" if kind in many else "" for kind in tally)) for day, many in report.by_day.items()
        ]
        yield Table(("day", *tally), tuple(rows[:MOST]))
        yield from remaining_entries(len(rows))
    moves = [_move(m) for m in report.moved]
    yield from moves[:MOST]
    yield from (replace(line, reader="person") for line in moves[MOST:])  # who asks for details on a terminal
    if len(moves) > MOST:
        yield Line(f"and {len(moves) - MOST:,} more", item=True, reader="model")
    if report.left_out:
        yield Line(f"… and {report.left_out:,} more; --details lists all.", item=True, reader="person")
        yield Line(f"and {report.left_out:,} more; details=true lists all", item=True, reader="model")
    yield from _held_moves(report)


def _moves(report: SweepReport) -> Iterator[Block]:
    accesses = f", {pluralize(report.counted, 'access')} counted" if report.counted else ""
    moves = f"{pluralize(len(report.moved), 'move')} {'due' if report.dry_run else 'made'}"
    yield Line(f"{moves}; {pluralize(report.examined, 'memory')} examined{accesses}.")
    if report.moved:
        yield Line(counts_in_words(report.tally))
    yield from first_entries([_move(m) for m in report.moved])
    yield from _held_moves(report)


def _held_moves(report: SweepReport) -> Iterator[Block]:
    for hold in report.held:
        reason = f": {pluralize(len(hold.ids), 'move')}. {hold.because}"
        yield Line(("Held back in ", Untrusted(hold.namespace), reason), tone="warning")


def _move(m: TierMove) -> Line:
    because = m.because if m.because.startswith(m.move) else f"{m.move}: {m.because.removeprefix('archived: ')}"
    return Line((f"{m.at}  ", Identifier(m.id), f"  {because}"), tone="faint", item=True)


def view_session_result(result: SessionResult, _: Request) -> Iterator[Block]:
    """Show what the end of a session did."""
    if not result.anew:
        yield Line((Untrusted(result.session), f" had already ended at {result.ended_at}; nothing was left to do."))
        return
    yield Line(("Ended ", Untrusted(result.session), f"; {pluralize(len(result.tasks), 'open task')} completed."))
    if result.promotion is not None:
        summaries = pluralize(result.promotion.crystallized_count, "summary")
        yield Line(f"Promoted {pluralize(result.promotion.promoted_count, 'memory')}, {summaries} made.")
    if result.report is not None and (result.report.moved or result.report.held):
        yield from _moves(result.report)
    yield from undo(result.operations)


def view_stats(stats: Stats, request: Request) -> Iterator[Block]:
    """Show how a store is doing; where it has no facts, what may be the reason."""
    yield Pairs(tuple(_stats_pairs(stats, request)))
    if not stats.namespaces and (name := request.arguments.get("namespace")):
        yield Line(("There is no namespace ", Untrusted(str(name)), ": nothing was ever stored in it."), tone="faint")
    yield from looked_into(stats)
    says = request.notes.get("says")
    risk = "High value, but archived within 30 days without further access:"
    yield from _memory_lines(risk, _with_dates(stats.at_risk), says)
    risky = {i for i, *_ in stats.at_risk}
    rest = [row for row in stats.about_to_fade if row[0] not in risky]
    yield from _memory_lines("Archived within 30 days without further access:", _with_dates(rest), says)
    held = [(i, None, f"since {format_instant(at)}") for i, at in stats.held_first[:_FEW]]
    yield from _memory_lines("Held back by a gate, longest first:", held, says)
    promising = [(i, value, pluralize(accesses, "access")) for i, value, accesses in stats.vault_candidates]
    yield from _memory_lines("Nearly worth the vault:", promising, says)
    rows = [(i, None, f"retention {retention:.2f}") for i, retention in stats.reviews]
    more = stats.review_suggested - len(rows)
    yield from _memory_lines("Review suggested, the most valuable first:", rows[:_FEW], says, more + len(rows[_FEW:]))


def looked_into(stats: Stats) -> Iterator[Block]:
    """Say which namespaces the figures rest on, where those are not all."""
    if stats.namespaces_sampled < stats.namespaces:
        counts = "Memories, what is due, vectors and changes are counted in all of them; the rest is of those"
        yield Line(f"{_some(stats.namespaces_sampled, stats.namespaces)} {counts}.", tone="faint")


def _some(few: int, names: int) -> str:
    return f"{few:,} of {names:,} namespaces were looked into: where moves wait longest, then the largest."


_FEW: Final = 5  # memories of a list that are shown; the structured result has more
_BEGINNING: Final = 60  # characters of what a memory says


def _with_dates(rows: Iterable[tuple[str, float, datetime]]) -> list[tuple[str, float | None, str]]:
    return [(i, value, format_instant(at)) for i, value, at in rows]


def _memory_lines(
    heading: str, rows: Sequence[tuple[str, float | None, str]], says: Callable[[str], str] | None, more: int = 0
) -> Iterator[Block]:
    if not rows:
        return
    yield Line(heading)
    lines = [
        Line((Identifier(i), "" if value is None else f"  value {value:.2f}", f"  {note}", *_words(i, says)), item=True)
        for i, value, note in rows
    ]
    yield from first_entries(lines)
    if more:
        yield Line(f"and {more:,} more", tone="faint", item=True)


def _words(identity: str, says: Callable[[str], str] | None) -> tuple[Span, ...]:
    return ("  ", Untrusted(says(identity), _BEGINNING)) if says else ()


def view_alerts(alerts: Sequence[Alert], request: Request) -> Iterator[Block]:
    """Show what needs attention, the most severe first."""
    for alert in alerts:
        text = (f"{alert.severity}: ", Untrusted(alert.namespace), ": ", Untrusted(alert.message))
        limits = f" ({format_figure(alert.name, alert.value)}, threshold {format_figure(alert.name, alert.threshold)})"
        yield Line((*text, limits), tone="plain" if alert.severity == "info" else "warning")
        lines = [(Identifier(i), *_words(i, request.notes.get("says"))) for i in alert.ids[:_FEW]]
        yield from first_entries([Line(line, item=True) for line in lines])
    if not alerts:
        yield Line("Nothing needs attention.")
    names = len(request.notes.get("namespaces", ()))
    if request.arguments.get("namespace") is None and names:
        from perdure.operations.monitoring import PLACES  # noqa: PLC0415  # start-up time

        rest = "Of the others it is told what waits there now, and what maintenance found at its last report"
        yield from [Line(f"{_some(PLACES, names)} {rest}.", tone="faint")] if names > PLACES else ()


def _stats_pairs(stats: Stats, request: Request) -> Iterator[tuple[str, Text]]:
    if "store" in request.notes:
        yield "store", Untrusted(request.notes["store"])
    yield "memories", f"{stats.memories:,} in {pluralize(stats.namespaces, 'namespace')}"
    for name in ("tiers", "statuses", "kinds"):
        yield name, counts_in_words(getattr(stats, name))
    if stats.value_percentiles:
        percentiles = ", ".join(f"{name} {value:.2f}" for name, value in stats.value_percentiles.items())
        yield "value", f"{percentiles} (of {pluralize(stats.sampled, 'memory')})"
    yield "due", f"{stats.due_now:,} now, {stats.due_soon:,} within 7 days"
    if stats.value_by_form:
        yield "value by form", ", ".join(f"{form} {value:.2f}" for form, value in stats.value_by_form.items())
    yield "archived soon", f"{stats.fading:,} within 30 days without further access"
    if stats.held:
        yield "held back", counts_in_words(stats.held)
    yield "questions", f"{stats.questions:,} to a person"
    if stats.journal:
        yield from _growth_pairs(stats.journal)
    yield "without a vector", f"{stats.without_vector:,} (found by keyword search only)"
    yield "embedding space", Untrusted(stats.space) if stats.space else "none"
    if use := stats.model:
        tokens = f"{use.tokens_in:,} tokens in, {use.tokens_out:,} tokens out"
        yield (
            "language model",
            f"{pluralize(use.calls, 'call')}, {use.failures:,} failed, {use.seconds:.1f} s; {tokens}",
        )
    if stats.unread:
        yield (
            "not read yet",
            f"{pluralize(stats.unread, 'message')} by the language model; run learn with the session",
        )
    if (hint := request.notes.get("facts_hint")) and "fact" not in stats.kinds:
        yield "facts", f"none. {hint}"


def _growth_pairs(growth: JournalGrowth) -> Iterator[tuple[str, Text]]:
    size = f"; {growth.characters / 1e6:,.1f} million characters" if growth.characters else ""
    yield "journal", f"{growth.total:,} changes, {growth.day:,} within a day, {growth.week:,} within a week{size}"
    if growth.events:
        yield "within a week", counts_in_words({name: week for name, (_, week) in growth.events.items()})


def view_digest(digest: Digest | str, request: Request) -> Iterator[Block]:
    """Show MEMORY.md, or what became of its file."""
    if isinstance(digest, str):
        yield PlainText(digest)
        return
    size = f"{pluralize(len(digest.ids), 'memory')}, at most {digest.tokens:,} tokens, profile {digest.profile}"
    file = request.notes.get("file")
    if file is None:
        yield PlainText(digest.text, size)
    elif "stale" in request.notes:
        yield Line((Untrusted(file), f" is {_state_of_file(request)}."))
    else:
        yield Line((Untrusted(file), f" {'was written' if request.notes['written'] else 'is up to date'}: {size}."))


def _state_of_file(request: Request) -> str:
    if not request.notes["stale"]:
        return "up to date"
    if request.notes["edited"]:
        return "out of date, and was changed by hand between its markers; run without --check to see what to do"
    return "out of date; run without --check to update it"


_KEPT_COPIES: Final = (
    "Kept as it was before a repair or a restore, with what was erased since. Delete what you no longer need:"
)
_MEND: Final = "Run `perdure repair`, which shows what it can repair; the rest comes from a backup (--source)."


def view_check(faults: Sequence[str], request: Request) -> Iterator[Block]:
    """Show what is wrong with a store."""
    store = Untrusted(request.notes.get("store", "The store"))
    yield from (Line(Untrusted(fault), tone="warning") for fault in faults)
    verdict = f" has {pluralize(len(faults), 'fault')}. {_MEND}" if faults else " is sound."
    yield Line((store, verdict))
    if losses := request.notes.get("confirmed_losses", 0):
        yield Line(f"On record: {pluralize(losses, 'confirmed loss')}.", tone="faint")
    if copies := request.notes.get("kept_copies"):
        yield Line(_KEPT_COPIES)
        yield from (Line(Untrusted(path), item=True) for path in copies)


def view_namespaces(names: Sequence[str], _: Request) -> Iterator[Block]:
    """Show all namespaces."""
    yield from (Line(Untrusted(name)) for name in names)
    if not names:
        yield Line("There is no namespace yet; the first stored memory creates one.")


def view_upkeep_state(states: Mapping[str, Mapping[str, Mapping[str, Any]]], _: Request) -> Iterator[Block]:
    """Show when each scheduled task last ran in each namespace, and how it ended."""
    for namespace, tasks in states.items():
        for task, data in tasks.items():
            note = (" ", Untrusted(data["note"])) if data.get("note") else ""
            times = f"last {format_instant(data['last_ms'])}, next {format_instant(data['next'])}."
            text = (Untrusted(namespace), f": {task} {data['outcome']}, {times}", note)
            yield Line(text, tone="plain" if data["outcome"] == "done" else "warning")
    if not any(states.values()):
        yield Line("No scheduled task has run yet.")


def view_ingest_result(ingested: IngestResult, request: Request) -> Iterator[Block]:
    """Show what an ingest brought in, and where its facts are shown if the policy has them learned."""
    files = f" from {pluralize(request.notes['files'], 'file')}" if "files" in request.notes else ""
    echoes = f", {ingested.echoes:,} only repeated recalled memories" if ingested.echoes else ""
    empty = f", {ingested.empty:,} had no text" if ingested.empty else ""
    skipped = f"; {ingested.skipped:,} already stored{echoes}{empty}."
    yield Line((f"Stored {pluralize(ingested.added, 'memory')}{files} in ", Untrusted(request.namespace), skipped))
    if ingested.used:
        yield Line(f"{pluralize(ingested.used, 'recalled memory')} marked as helpful.")
    if ingested.operations and request.notes.get("facts_hint") == "":  # else "facts" and "stats" say how to learn them
        yield Line(("To see the facts that were learned: ", command("facts")), tone="faint", reader="person")
    yield from undo(ingested.operations)
