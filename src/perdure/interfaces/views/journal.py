"""Views of the journal: operations, what happened to a memory, plans, and what was undone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from perdure.interfaces.views import Request
from perdure.interfaces.views.blocks import Block, Foreign, Identifier, Line, Table, command
from perdure.interfaces.views.values import cell, counted, label, undo
from perdure.records.applied import UndoResult
from perdure.records.plan import Plan
from perdure.records.report import Entry, Operation

_COLUMNS = ("id", "at", "operation", "namespace", "changes", "hides", "note", "undone_by")


def view_history(entries: Sequence[Entry | Operation], _: Request) -> Iterator[Block]:
    """Show a memory's journal, oldest first, or the newest operations."""
    if not entries:
        yield Line("No operations.")
    if operations := [e for e in entries if isinstance(e, Operation)]:
        rows = tuple(tuple(cell(name, getattr(o, name)) for name in _COLUMNS) for o in operations)
        yield Table(tuple(map(label, _COLUMNS)), rows)
        if operations[0].is_own:
            yield Line(("Undo the newest: ", command("undo", operation_id="last")), tone="faint")
    yield from (line_of(e) for e in entries if isinstance(e, Entry))


def line_of(entry: Entry) -> Line:
    """Return one entry of a journal."""
    text = (f"{entry.at}  {entry.operation} ", Identifier(entry.operation_id), ": ", Foreign(entry.because))
    return Line(text, item=True)


def view_undo_result(done: UndoResult, request: Request) -> Iterator[Block]:
    """Show what was undone."""
    yield from view_plan(done.plans, request)


def view_plan(plans: Sequence[Plan], request: Request) -> Iterator[Block]:
    """Show plans that were applied, or written to a file."""
    for p in plans:
        changes = f"{counted(len(p.changes), 'change')}, hides {p.hides:,}, shortens {len(p.shortened):,}"
        if p.undoes:
            yield Line(("Undone: ", Foreign(p.note.removeprefix("undoes ")), f"; {changes}."))
        else:
            yield Line((f"{p.operation} in ", Foreign(p.namespace), f": {changes}. ", Foreign(p.note)))
    if not plans:
        yield Line("There is nothing to do.")
    elif "file" in request.notes:
        yield Line(("Apply it with: ", command("apply", file=request.notes["file"])))
    else:
        yield from undo(p.id for p in plans)


view_apply = view_plan
