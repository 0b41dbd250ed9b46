"""Relating: hyperedges over two or more memories, made and read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from perdure.operations.documents import find_documents, write_documents
from perdure.operations.ports import Context
from perdure.operations.writing import read_record, retry
from perdure.records.consolidation_results import Edge, EdgeChange
from perdure.records.errors import InvalidInput, NotFound
from perdure.records.memory import Document, Shelf, Status
from perdure.rules.consolidation.edges import join_edge, read_edges


def relate(
    ctx: Context, members: Mapping[str, str], *, kind: str, weight: float, edge: str | None, namespace: str | None
) -> EdgeChange:
    """Join memories by an edge, or bring more into one that exists."""
    place = _place(ctx, members, namespace)
    name = ctx.ids(ctx.clock()) if edge is None else edge

    def attempt() -> EdgeChange:
        documents = ctx.store.documents.find_named(place, Shelf.EDGE, [name])
        changes = join_edge(name, members, documents, kind=kind, weight=weight)
        note = f"relate: {len(changes)} memories in {name}"
        return EdgeChange(name, write_documents(ctx, place, "relate", changes, note))

    return retry(attempt)


def _place(ctx: Context, members: Mapping[str, str], namespace: str | None) -> str:
    ids = list(members)
    if not ids:
        raise InvalidInput("An edge needs at least two memories.", remedy="Pass the ids of both.")
    place = read_record(ctx, ids[0], namespace).namespace
    existing = {record.id for record in ctx.store.get(place, ids)}
    for identity in ids:
        if identity not in existing:
            elsewhere = ctx.store.locate(identity)
            if elsewhere is not None and namespace is None:
                raise InvalidInput(
                    f"{identity} is in the namespace {elsewhere}, {ids[0]} in {place}.",
                    remedy="An edge can only link memories of the same namespace.",
                )
            raise NotFound(
                f"There is no memory {identity!r} in {place}.",
                remedy="Use an id that recall or list returned.",
            )
    return place


def edges(ctx: Context, identity: str) -> list[Edge]:
    """Return the edges of a memory, by id; members that are not visible are not shown."""
    place = read_record(ctx, identity).namespace
    documents = documents_around(ctx, place, [identity])
    ids = sorted({document.id for document in documents})
    states = ctx.store.states(place, ids)
    return read_edges(documents, (i for i, (state, _) in states.items() if state.status is Status.ACTIVE))


def documents_around(ctx: Context, namespace: str, ids: Sequence[str]) -> list[Document]:
    """Return all documents of the edges that some memories are in: also those of the other members."""
    names = {document.name for document in find_documents(ctx, namespace, Shelf.EDGE, ids)}
    return ctx.store.documents.find_named(namespace, Shelf.EDGE, sorted(names)) if names else []
