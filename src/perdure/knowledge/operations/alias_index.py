"""The names of a namespace, kept between batches: what was learned since is read off the journal (decision 16)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from perdure.knowledge.extraction.entity_names import Names
from perdure.knowledge.operations.ports import resources
from perdure.operations.documents import all_documents
from perdure.operations.ports import Context
from perdure.records.memory import Document, Shelf
from perdure.records.plan import Target
from perdure.records.report import Operation

NAMESPACES: Final = 16  # of so many the names are kept; the one that was kept first goes first
_RECENT: Final = 64  # so many of the last operations are looked at for what is new
_FEW: Final = 200  # so many changes are never more than reading all names would be
_LEARNING: Final = frozenset({"learn", "remember", "update", "alias"})  # verbs that bring new names
MANY: Final = 40  # fewer names are read each time: that is as quick as to look what is new


def names_of(ctx: Context, namespace: str) -> Names:
    """Return the names of a namespace as they are now, whoever changed them; they are the caller's own to add to.

    What was learned is added to what is kept; after a merge, an undo or where a name was taken away all are read again.
    """
    kept = resources(ctx).names.get(namespace)
    if kept is None and len((few := _read(ctx, namespace)).entities) < MANY:
        return few
    if kept is not None and [o.id for o in ctx.store.operations(namespace, 1)] == [kept[0]]:
        return kept[1].copy()
    last = ctx.store.operations(namespace, _RECENT)  # first: what comes while names are read is read again later
    if not last:
        return _read(ctx, namespace)
    new = None if kept is None else _learned_since(ctx, namespace, kept, last)
    if kept is None or new is None:
        names = _read(ctx, namespace)
    else:
        names = kept[1].copy() if new else kept[1]
        names.learn(*([d for d in new if d.shelf is shelf] for shelf in (Shelf.ENTITY, Shelf.ALIAS)))
    if namespace not in resources(ctx).names and len(resources(ctx).names) >= NAMESPACES:
        resources(ctx).names.pop(next(iter(resources(ctx).names), ""), None)
    resources(ctx).names[namespace] = (last[0].id, names)
    return names.copy()


def _read(ctx: Context, namespace: str) -> Names:
    return Names(all_documents(ctx, namespace, Shelf.ENTITY), all_documents(ctx, namespace, Shelf.ALIAS))


def _learned_since(
    ctx: Context, namespace: str, kept: tuple[str, Names], last: Sequence[Operation]
) -> list[Document] | None:
    """Return the names that were learned since; None where they must be read again."""
    ids = [operation.id for operation in last]
    if kept[0] not in ids:
        return None
    new = last[: ids.index(kept[0])]
    if sum(operation.changes for operation in new) > max(_FEW, len(kept[1].entities)):
        return None
    found: list[Document] = []
    for operation in reversed(new):
        for document, learned in _name_changes(ctx, namespace, operation):
            if not learned or document.id in kept[1].homeless:
                return None
            found.append(document)
    return found


def _name_changes(ctx: Context, namespace: str, operation: Operation) -> Iterator[tuple[Document, bool]]:
    """Yield the documents of names that an operation changed, and whether it learned them."""
    for change in ctx.store.changes(namespace, operation.id):
        if change.trimmed and change.target is Target.DOCUMENT:  # older than the horizon: the names are read again
            yield Document(Shelf.ENTITY, change.id, "", {}), False
            continue
        row = change.after or change.before
        if row is None:  # it was erased: a name may be gone
            yield Document(Shelf.ENTITY, change.id, "", {}), False
            continue
        if change.target is Target.DOCUMENT and row["shelf"] in (Shelf.ENTITY, Shelf.ALIAS):
            learned = operation.operation in _LEARNING and change.before is None
            yield Document(Shelf(row["shelf"]), change.id, row["name"], row["data"]), learned
