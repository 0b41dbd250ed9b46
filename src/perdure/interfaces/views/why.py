"""What a terminal shows of reasons: why a memory is where it is, why it was no answer, and what its journal says."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from perdure.interfaces.views.facts import show_reasons
from perdure.interfaces.views.rendering import brief, draw_pairs, new_table, shown, sum_of
from perdure.records.recall import Absence
from perdure.records.report import Entry, Explanation, Operation

_SAYS = 500
_REASONS = 4
"""So many reasons of one operation are told."""


def show_explanation(out: Console, found: Explanation) -> None:
    """Draw why a memory is as it is: what it says, and of a fact why it is believed, before its signals."""
    out.print(shown(found.summary.removesuffix(found.next_move).rstrip()))
    if found.fact is not None:
        show_reasons(out, found.fact)
    else:
        out.print(Text(shown(f"\n{brief(found.says, _SAYS)}"), style="bold"))
    out.print()
    draw_pairs(out, found.signals)
    out.print(f"\nvalue = {sum_of(found.value_parts)}")
    out.print(shown(found.next_move))
    if found.links:
        out.print("\nLinks")
        for kind, other, weight in found.links:
            out.print(f"  {shown(kind)} {other} ({weight:.2f})")
    out.print("\nHistory")
    of: dict[str, list[Entry]] = {}
    for entry in found.history:
        told = of.setdefault(entry.operation_id, [])
        if all(entry.because != other.because for other in told):  # a memory and what is beside it: one reason
            told.append(entry)
    for told in of.values():
        _entries(out, told[:_REASONS])
        if len(told) > _REASONS:
            out.print(f"  {told[0].at}  {told[0].operation} {told[0].operation_id}: and {len(told) - _REASONS} more")


def show_absence(out: Console, found: Absence) -> None:
    """Draw what kept a memory out of an answer."""
    out.print(shown(found.explanation))
    out.print(Text(f"kept out by: {found.kept_out_by}", style="dim"))
    if found.rank is not None:
        out.print(Text(f"rank {found.rank}", style="dim"))
    if found.parts:
        out.print(Text(f"score {sum(found.parts.values()):.3f} = {sum_of(found.parts)}", style="dim"))


def _entries(out: Console, entries: Sequence[Entry]) -> None:
    for entry in entries:
        out.print(f"  {entry.at}  {entry.operation} {entry.operation_id}: {shown(entry.because)}")


def show_history(out: Console, entries: Sequence[Entry] | Sequence[Operation]) -> None:
    """Draw a memory's journal, or a table of operations."""
    operations = [e for e in entries if isinstance(e, Operation)]
    if not entries:
        out.print("Nothing has happened yet.")
    if not operations:
        _entries(out, [e for e in entries if isinstance(e, Entry)])
        return
    table = new_table("id", "at", "operation", "namespace", "changes", "hides", "note")
    for o in operations:
        note = f"{o.note} (taken back by {o.undone_by})" if o.undone_by else o.note
        row = (o.id, o.at, o.operation, o.namespace, f"{o.changes:,}", f"{o.hides:,}", note)
        table.add_row(*(Text(shown(cell)) for cell in row))
    out.print(table)
