"""What ties two memories, in an undo: links, conflicts and questions go with either, and come back where both are."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final

from perdure.operations.documents import find_documents, find_states
from perdure.operations.identify import operations_of
from perdure.operations.ports import Context
from perdure.records.memory import CONFLICT_WITH, Shelf
from perdure.records.plan import Change, Target
from perdure.records.report import Operation

_ASKED: Final = (Shelf.CONFLICT, Shelf.REVIEW)

Tie = tuple[str, str, str, str]  # kind of row, memory, shelf or kind of link, name or other memory


def with_ties(ctx: Context, operation: Operation, changes: Sequence[Change]) -> tuple[Change, ...]:
    """Return an operation's changes without what the undo of another one took away, or cannot bring back.

    An undo that is undone brings back, too, what the operation had tied to memories that were gone when it was undone.
    """
    lost = [c for c in _first_changes(ctx, operation) if c.before is None and len(tied_memories(c)) > 1]
    own = {_tie(c) for c in changes}
    more = [c.inverse() for c in lost if _tie(c) not in own]
    tied = [c for c in (*changes, *more) if len(tied_memories(c)) > 1]
    states = find_states(ctx, operation.namespace, sorted({i for c in tied for i in tied_memories(c)}))
    back = {c.id for c in changes if c.target is Target.MEMORY and c.after is None}
    there = _existing_ties(ctx, operation.namespace, tied)

    def stays(change: Change) -> bool:
        memories = tied_memories(change)
        if len(memories) < 2:  # noqa: PLR2004  # it is about one memory
            return True
        if change.after is not None:
            is_gone = change.target is Target.LINK or not states.keys() >= memories
            return _tie(change) in there or not is_gone or (change.target is Target.LINK and change.before is not None)
        return states.keys() | back >= memories

    return (*filter(stays, (c for c in more if _tie(c) not in there)), *filter(stays, changes))


def _first_changes(ctx: Context, operation: Operation) -> Sequence[Change]:
    """Return what the operation changed at first that an undo took back; nothing where this is no such undo.

    Lines of what was erased since say nothing.
    """
    first, steps, find = operation, 0, operations_of(ctx, operation.namespace)
    while first.undoes is not None and (before := find(first.undoes)) is not None:
        first, steps = before, steps + 1
    lines = ctx.store.changes(first.namespace, first.id) if steps % 2 and first.undoes is None else ()
    return [c for c in lines if c.before is not None or c.after is not None]


def tied_memories(change: Change) -> set[str]:
    """Return the memories that a link, a conflict or a question ties; one or none for other rows."""
    row = change.after or change.before or {}
    if change.target is Target.LINK:
        return {change.id, row["other"]}
    if change.target is not Target.DOCUMENT or row["shelf"] not in _ASKED:
        return set()
    if row["shelf"] == Shelf.REVIEW and not row["name"].startswith(CONFLICT_WITH):
        return set()
    return {change.id, row["name"].removeprefix(CONFLICT_WITH)}


def _tie(change: Change) -> Tie:
    row = change.after or change.before or {}
    place = (row["kind"], row["other"]) if change.target is Target.LINK else (row.get("shelf", ""), row.get("name", ""))
    return change.target.value, change.id, str(place[0]), str(place[1])


def _existing_ties(ctx: Context, namespace: str, tied: Iterable[Change]) -> Collection[Tie]:
    found: set[Tie] = set()
    documents, others = set[str](), set[str]()
    for change in tied:
        if change.target is Target.LINK:
            others.add((change.after or change.before or {})["other"])
        else:
            documents.add(change.id)
    for other in sorted(others):
        links = ctx.store.links_to(namespace, other)
        found |= {(Target.LINK.value, i, str(kind), other) for i, kind, _ in links}
    for shelf in _ASKED:
        known = find_documents(ctx, namespace, shelf, sorted(documents))
        found |= {(Target.DOCUMENT.value, d.id, str(shelf), d.name) for d in known}
    return found
