"""Views of the journal: operations, what happened to a memory, and what was taken back or applied."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from perdure.interfaces.views.blocks import Block, Foreign, Identifier, Line, Span, Table, Text, counted, undo
from perdure.records.report import Entry, Operation

if TYPE_CHECKING:
    from perdure.interfaces.views import Request
    from perdure.records.plan import Plan


def view_history(entries: Sequence[Entry | Operation], _: Request) -> Iterator[Block]:
    """Show a memory's journal, oldest first, or the newest operations."""
    if not entries:
        yield Line("No operations.")
    if operations := [e for e in entries if isinstance(e, Operation)]:
        columns = ("id", "at", "operation", "namespace", "changes", "hides", "note")
        yield Table(columns, tuple(_operation(o) for o in operations))
    yield from (line_of(e) for e in entries if isinstance(e, Entry))


def _operation(o: Operation) -> tuple[Text, ...]:
    undone: tuple[Span, ...] = (" (undone by ", Identifier(o.undone_by), ")") if o.undone_by else ()
    note = (Foreign(o.note), *undone)
    return (Identifier(o.id), o.at, o.operation, Foreign(o.namespace), f"{o.changes:,}", f"{o.hides:,}", note)


def line_of(entry: Entry) -> Line:
    """Return one entry of a journal."""
    text = (f"{entry.at}  {entry.operation} ", Identifier(entry.operation_id), ": ", Foreign(entry.because))
    return Line(text, item=True)


def view_undo(plan: Plan, _: Request) -> Iterator[Block]:
    """Show what was undone."""
    yield Line(
        ("Undone: ", Foreign(plan.note.removeprefix("takes back ")), f"; {counted(len(plan.changes), 'change')}.")
    )
    yield from undo([plan.id])
