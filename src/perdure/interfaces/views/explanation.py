"""View of why a memory is as it is, and of a fact why it is believed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from perdure.interfaces.views import Request
from perdure.interfaces.views.blocks import Block, Foreign, Identifier, Line, Pairs, Quote
from perdure.interfaces.views.journal import line_of, told_operation
from perdure.interfaces.views.knowledge import period, state, true_period
from perdure.interfaces.views.values import MOST, first, sum_of
from perdure.records.fact_claim import Checked, Clash, FactReasons, Said, Surer
from perdure.records.report import Entry, Explanation

_SAYS: Final = 500
_REASONS: Final = 4  # reasons of one operation that are shown


def view_explanation(found: Explanation, _: Request) -> Iterator[Block]:
    """Show why a memory is as it is: what it says, and of a fact why it is believed, before its signals."""
    summary = found.summary.partition(" Last entry: ")[0]
    yield Line(summary.replace(found.id, Identifier(found.id).short), tone="strong")
    if found.fact is not None:
        yield from _fact(found.fact)
    else:
        yield Quote(found.says if len(found.says) <= _SAYS else f"{found.says[: _SAYS - 1]}…")
    yield Line("Signals", tone="strong")
    yield Pairs(tuple(found.signals.items()))
    yield Line(f"value = {sum_of(found.value_parts)}")
    yield Line(found.next_move)
    if found.links:
        yield Line("Links", tone="strong")
        links = [
            Line((Foreign(kind), " ", Identifier(other), f" ({w:.2f})"), item=True) for kind, other, w in found.links
        ]
        yield from first(links)
    yield Line("History", tone="strong")
    yield from _history(found.history)


def _history(entries: tuple[Entry, ...]) -> Iterator[Line]:
    """Yield what happened, the newest operations; a reason that an operation gives twice is shown once."""
    operations: dict[str, dict[str, Entry]] = {}
    for entry in entries:
        operations.setdefault(entry.operation_id, {}).setdefault(entry.because, entry)
    for reasons in list(operations.values())[-MOST:]:
        shown = list(reasons.values())
        yield from (line_of(entry) for entry in shown[:_REASONS])
        if len(shown) > _REASONS:
            yield Line((f"{shown[0].at}  {told_operation(shown[0])}: and {len(shown) - _REASONS} more"), item=True)


def _fact(r: FactReasons) -> Iterator[Block]:
    yield Quote(r.says)
    since = f"true {true_period(r.valid_from, r.valid_to, r.state)}, believed {period(r.believed_from, r.believed_to)}"
    yield Line(f"This fact is {state(r.state)}. It {r.learned}; source: {r.trust}; {since}.")
    yield from (Line(sentence, item=True) for sentence in r.next)
    yield Line("Sources", tone="strong")
    yield from (_source(s) for s in r.sources)
    if not r.sources:
        who = "an authority" if r.trust == "authority" else "a person, in answer to a question"
        yield Line(f"stated by {who}, not in a message", item=True)
    yield Line("Confidence", tone="strong")
    yield from first([_confidence(c) for c in r.confidence])
    for title, lines in (("Conflicts", map(_conflict, r.conflicts)), ("Checks", map(_check, r.checks))):
        if shown := list(lines):
            yield Line(title, tone="strong")
            yield from first(shown)


def _source(s: Said) -> Quote:
    place = (s.at or "unknown date", ("in ", Identifier(s.memory), f", characters {s.start} to {s.end}"))
    return Quote(s.quote, place, () if s.found else ("no longer there",), speaker=s.speaker)


def _confidence(c: Surer) -> Line:
    before = "" if c.before is None else f"{c.before:.2f} to "
    return Line((f"{c.at}  {before}{c.after:.2f}: ", Foreign(c.because)), item=True)


def _conflict(c: Clash) -> Line:
    mine, other = (Foreign(c.value), f" ({c.confidence:.2f})"), (Foreign(c.other_value), f" ({c.other_confidence:.2f})")
    return Line(
        (f"{c.at}  ", *mine, " against ", *other, " of ", Identifier(c.with_id), ": ", Foreign(c.told)), item=True
    )


def _check(c: Checked) -> Line:
    value = ("; it has ", Foreign(c.value)) if c.value else ()
    return Line((f"{c.at}  ", Foreign(c.authority), f": {c.outcome}", *value), item=True)
