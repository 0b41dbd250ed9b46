"""What people see of a verification: both values of each fact, and what became of what memories cite."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from perdure.interfaces.views.rendering import counted, new_table, show_undo, shown
from perdure.interfaces.views.signals import show_rest
from perdure.knowledge.records.authority import Outcome, Sight, Verdict
from perdure.knowledge.records.verification_results import Cited, Verified

_SHOWN = 20
_ORDER = (Outcome.DISAGREES, Outcome.AMBIGUOUS, Outcome.UNREACHABLE, Outcome.SILENT, Outcome.AGREES)


def show_verified(out: Console, done: Verified) -> None:
    """Draw what authorities said, what needs attention first."""
    if done.note:
        out.print(shown(done.note))
    else:
        out.print(", ".join(f"{n:,} {what}" for what, n in done.counts.items()))
    verdicts = sorted(done.verdicts, key=lambda v: _ORDER.index(v.outcome))
    if verdicts:
        _verdicts(out, verdicts[:_SHOWN])
    show_rest(out, len(verdicts))
    seen = [c for c in done.cited if c.sight is not Sight.FINE]
    for one in seen[:_SHOWN]:
        _cited(out, one)
    show_rest(out, len(seen))
    if done.unasked:
        out.print(Text(f"No authority has a word on: {shown(', '.join(done.unasked))}", style="yellow"))
    if done.left:
        out.print(f"{counted(done.left, 'memory')} left for the next time (--limit).")
    show_undo(out, done.operations)


def _verdicts(out: Console, verdicts: list[Verdict]) -> None:
    table = new_table("id", "what", "believed", "authority says", "outcome", "why")
    for v in verdicts:
        known = ", ".join(v.known) or "-"
        why = f"replaced by {v.replaced_by}" if v.replaced_by else v.evidence
        row = (v.id, _about(v.key), v.claimed, known, v.outcome.value, why)
        table.add_row(*(Text(shown(cell)) for cell in row))
    out.print(table)


def _about(key: str) -> str:
    entity, _, predicate = key.partition("|")
    return f"{entity}: {predicate.replace('_', ' ')}" if predicate else key


def _cited(out: Console, one: Cited) -> None:
    out.print(Text(f"{one.id}: {one.sight.value} ({shown(one.authority)})", style="yellow"))
    for s in one.sightings:
        out.print(Text(f"   {shown(s.citation.text)}: {shown(s.evidence)}", style="dim"))
