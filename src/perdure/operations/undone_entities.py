"""People and things in an undo: whoever later facts name stays, and goes with the last that does."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Final

from perdure.operations.documents import find_documents, find_documents_named
from perdure.operations.identify import operations_of
from perdure.operations.ports import Context
from perdure.records.memory import Document, Shelf
from perdure.records.plan import Change, Row
from perdure.records.report import JournalEntry, Operation
from perdure.rules.document_edits import document_change

_NAMING: Final = (Shelf.ABOUT, Shelf.MENTION, Shelf.PROFILE)
"""Shelves whose documents have the id of an entity as their name."""
_DESCRIBING: Final = (Shelf.ENTITY, Shelf.ALIAS)
"""Shelves whose documents have it as their id."""
_BECAUSE: Final = "nothing else names it"


def with_entities(ctx: Context, operation: Operation, changes: Sequence[Change]) -> tuple[Change, ...]:
    """Return the changes that are to be taken back, without those that made an entity that something else names.

    An entity that an earlier undo left for what named it goes with the last of that, and comes back with any of it; one
    that is there again already is not brought back.
    """
    place = operation.namespace
    made = {c.id for c in changes if c.before is None and _shelf(c.after) == Shelf.ENTITY}
    back = {c.id for c in changes if c.after is None and _shelf(c.before) == Shelf.ENTITY}
    going = {(c.id, c.after["name"]) for c in changes if c.before is None and c.after and _shelf(c.after) in _NAMING}
    coming = {c.before["name"] for c in changes if c.after is None and c.before and _shelf(c.before) in _NAMING}
    left = {i for _, i in going} - made - coming
    left = {i for i in _existing(ctx, place, left) if _was_undone(ctx, place, i)}
    there = _existing(ctx, place, back | coming)
    named = coming | {d.name for d in _naming(ctx, place, made | left) if (d.id, d.name) not in going}

    def holds(change: Change) -> bool:
        if change.before is None:
            return change.id not in made & named or _shelf(change.after) not in _DESCRIBING
        return change.after is not None or change.id not in back & there or _shelf(change.before) not in _DESCRIBING

    return (
        *filter(holds, changes),
        *_made_before(ctx, place, left - named),
        *(change for i in sorted(coming - back - there) for change in _removals(ctx, place, i)),
    )


def _shelf(row: Row | None) -> Any:
    return None if row is None else row.get("shelf")


def _existing(ctx: Context, place: str, entities: Collection[str]) -> set[str]:
    return {d.id for d in find_documents(ctx, place, Shelf.ENTITY, sorted(entities), strict=True)}


def _naming(ctx: Context, place: str, entities: Collection[str]) -> Iterator[Document]:
    for shelf in _NAMING:
        yield from find_documents_named(ctx, place, shelf, sorted(entities), strict=True)


def _was_undone(ctx: Context, place: str, entity: str) -> bool:
    """Whether the operation that made an entity was taken back: what named it then kept it."""
    made = _lines(ctx, place, entity, removed=False)
    operation = operations_of(ctx, place)(made[-1].operation_id) if made else None
    return operation is not None and operation.undone_by is not None


def _lines(ctx: Context, place: str, entity: str, *, removed: bool) -> list[JournalEntry]:
    """Return the journal's lines of when an entity was made, or removed, the last one last."""
    lines = [(line, line.before, line.after) for line in ctx.store.journal(place, entity)]
    return [
        line
        for line, before, after in lines
        if (after is None if removed else before is None) and _shelf(before if removed else after) == Shelf.ENTITY
    ]


def _made_before(ctx: Context, place: str, entities: Iterable[str]) -> Iterator[Change]:
    """Yield changes that made entities which are there, so that taking them back removes these."""
    for shelf in _DESCRIBING:
        for d in find_documents(ctx, place, shelf, sorted(entities), strict=True):
            yield document_change(shelf, d.id, d.name, None, d.data, _BECAUSE)


def _removals(ctx: Context, place: str, entity: str) -> Iterator[Change]:
    """Yield the changes that removed an entity last, so that taking them back makes it again."""
    for line in _lines(ctx, place, entity, removed=True)[-1:]:
        for change in ctx.store.changes(place, line.operation_id):
            if change.id == entity and change.after is None and _shelf(change.before) in _DESCRIBING:
                yield change
