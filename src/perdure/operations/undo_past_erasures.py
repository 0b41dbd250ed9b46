"""Undoing what an operation did where an erasure has changed rows that stay: the erasure itself cannot be undone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from perdure.operations.identify import operations_of
from perdure.operations.ports import Context
from perdure.records.memory import Shelf
from perdure.records.plan import Change, Target
from perdure.records.report import Operation

ERASE = "erase"


def rebase_on_erasures(ctx: Context, operation: Operation, changes: Sequence[Change]) -> tuple[Change, ...]:
    """Return an operation's changes as their rows are now, where nothing but erasures has changed these since.

    A document that was erased is left out. Other rows are as they were; where that does not fit, undoing is refused.
    """
    ids = dict.fromkeys(c.id for c in changes if c.target in (Target.MEMORY, Target.DOCUMENT))
    touched = {identity for identity in ids if _is_changed_by_erasures_alone(ctx, operation, identity)}
    rows = ctx.store.images(operation.namespace, sorted(touched))
    seen, found = set[tuple[str, ...]](), list[Change]()
    for change in reversed(changes):  # a row that is changed several times must be as the last change left it
        key = _key(change)
        current: Change | None = change
        if change.id in touched and key not in seen:
            current = _document_now(ctx, operation, change) if change.target is Target.DOCUMENT else _row(change, rows)
        seen.add(key)
        found += [] if current is None else [current]
    return tuple(reversed(found))


def _is_changed_by_erasures_alone(ctx: Context, operation: Operation, identity: str) -> bool:
    """Whether an erasure has changed a row since an operation, and nothing else that was not undone."""
    entries = ctx.store.journal(operation.namespace, identity)
    places = [at for at, entry in enumerate(entries) if entry.operation_id == operation.id]
    later = entries[places[-1] + 1 :] if places else []
    if not any(entry.operation == ERASE for entry in later):
        return False
    known = {e.operation_id for e in later if not (e.before is None and e.after is None)}  # what others did is gone
    find = operations_of(ctx, operation.namespace)
    return all(_is_over(ctx, found) for found in map(find, sorted(known)) if found is not None)


def _is_over(ctx: Context, operation: Operation) -> bool:
    """Whether an operation is an erasure, or was undone, or is an undo of another that is looked at as well."""
    if operation.operation == ERASE or operation.undoes is not None:
        return True
    undo = operations_of(ctx, operation.namespace)(operation.undone_by) if operation.undone_by else None
    return undo is not None and undo.undone_by is None


def _key(change: Change) -> tuple[str, ...]:
    place = change.before or change.after or {}
    return change.target.value, change.id, str(place.get("shelf", "")), str(place.get("name", ""))


def _row(change: Change, rows: Mapping[str, Mapping[str, Any]]) -> Change:
    row = rows.get(change.id)
    if change.target is not Target.MEMORY or row is None or change.after is None:
        return change
    return replace(change, after={column: row.get(column, value) for column, value in change.after.items()})


def _document_now(ctx: Context, operation: Operation, change: Change) -> Change | None:
    if change.after is None:
        return change
    shelf, name = Shelf(change.after["shelf"]), change.after["name"]
    documents: Iterable[Any] = ctx.store.documents.find(operation.namespace, shelf, [change.id])
    data = next((d.data for d in documents if d.name == name), None)
    return None if data is None else replace(change, after={**change.after, "data": dict(data)})
