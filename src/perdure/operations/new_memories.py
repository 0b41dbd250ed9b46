"""New memories of any operation: embedded, placed among their neighbours, and stored with its other decisions."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from operator import itemgetter
from typing import Final

from perdure.operations.ports import Context
from perdure.operations.superseding import superseding_links
from perdure.records.collector import collector_waits
from perdure.records.errors import EmbedderError, SpaceMismatch
from perdure.records.memory import Draft, Record, Shelf, searchable
from perdure.records.store_rows import Neighbours
from perdure.records.vector import Vector
from perdure.rules.decisions import Decisions, faded_ids
from perdure.rules.insertion import NEAREST, PreparedDraft, earlier_in_batch, initial_states, insertions, new_record

_MOST_NEIGHBOURS: Final = 200  # looked at for uniqueness: the five nearest that stay are among them unless hundreds go
_WIDER: Final = 25  # looked at where some of the five nearest are due to be hidden
_cosine: Final = itemgetter(1)


def make_vectors(ctx: Context, drafts: Sequence[Draft]) -> list[Vector | None]:
    """Return the vectors of drafts. Where the embedder fails, or its vectors are of another space, there are none.

    A warning is given. What has no vector is stored all the same: words find it until ``reembed`` fills vectors in.
    """
    nothing: list[Vector | None] = [None] * len(drafts)
    if ctx.embedder is None or not drafts:
        return nothing
    try:
        vectors = ctx.embedder.embed([searchable(d.text, d.speaker) for d in drafts], purpose="document")
        ctx.store.add_space(ctx.embedder.space, activate=False)
    except (EmbedderError, SpaceMismatch) as error:
        ctx.warn(f"Stored without vectors, so only keyword search finds it: {error}")
        return nothing
    return list(vectors)


def insert(
    ctx: Context,
    decisions: Decisions,
    drafts: Sequence[Draft],
    *,
    ids: Sequence[str] | None = None,
    vectors: Sequence[Vector | None] | None = None,
    gone: Collection[str] = (),
    near: Neighbours | None = None,
) -> list[Record]:
    """Bring new memories into an operation, before everything else that it decides, and return them.

    Ids and vectors are made where none are given. Memories that are ``gone`` (the operation hides them) are nobody's
    neighbours. ``near`` are those of a single draft, where they are known.
    """
    found = make_vectors(ctx, drafts) if vectors is None else vectors
    with collector_waits(len(drafts)):
        prepared = prepare(ctx, decisions, drafts, ids=ids, vectors=found, gone=gone, near=near)
        states = initial_states(prepared, ctx.policy, decisions.now)
        place, op = decisions.namespace, decisions.plan_id
        records = [new_record(p, s, place, op) for p, s in zip(prepared, states, strict=True)]
        store_new(ctx, decisions, records, prepared)
    decisions.add(superseding_links(ctx, decisions.namespace, records, [p.vector for p in prepared]))
    return records


def prepare(
    ctx: Context,
    decisions: Decisions,
    drafts: Sequence[Draft],
    *,
    ids: Sequence[str] | None = None,
    vectors: Sequence[Vector | None] | None = None,
    gone: Collection[str] = (),
    near: Neighbours | None = None,
) -> list[PreparedDraft]:
    """Return drafts with ids, vectors and nearest earlier memories. Arguments as for ``insert``."""
    names = [ctx.ids(decisions.now) for _ in drafts] if ids is None else ids
    found = make_vectors(ctx, drafts) if vectors is None else vectors
    inside = earlier_in_batch(names, found)
    own = [vector for vector in found if vector is not None]
    stored = iter(_stored_neighbours(ctx, decisions, own, gone, near))
    result = []
    for draft, identity, vector, earlier in zip(drafts, names, found, inside, strict=True):
        before, hidden = next(stored) if vector is not None else ([], 0)
        nearest = sorted([*before, *earlier], key=_cosine, reverse=True) if earlier else before
        result.append(PreparedDraft(identity, draft, vector, tuple(nearest[:NEAREST]), hidden))
    return result


def store_new(ctx: Context, decisions: Decisions, records: Sequence[Record], prepared: Sequence[PreparedDraft]) -> None:
    """Store new memories before everything else that an operation decides."""
    decisions.neighbours |= {p.id: p.near for p in prepared}
    embedded = ctx.embedder is not None and any(p.vector is not None for p in prepared)
    space = ctx.embedder.space.name if ctx.embedder is not None and embedded else ""
    decisions.insert(records, insertions(records, prepared, ctx.policy, space))


def _stored_neighbours(
    ctx: Context, decisions: Decisions, vectors: Sequence[Vector], gone: Collection[str], near: Neighbours | None
) -> list[tuple[list[tuple[str, float]], int]]:
    """Return, for each vector, the (id, cosine) of the nearest stored memories, and how many as near do not count.

    Those the next sweep hides: a sweep before this operation would have. ``near`` are the nearest of a single vector,
    where they were read already and none is ``gone``.
    """
    left, found = frozenset[str](), list[Neighbours]()
    for most in (NEAREST, _WIDER) if vectors else ():
        if most == NEAREST and near is not None:
            found = [near]
        else:
            found = ctx.store.nearest(decisions.namespace, vectors, min(_MOST_NEIGHBOURS, most + len(gone)))
        due = {i for near in found for i, _, at in near if at is not None and at <= decisions.now}
        left = _faded_ids(ctx, decisions, sorted(due)) if due else left
        if not left:
            break
    result = []
    for every in found:
        stay = [(i, cosine) for i, cosine, _ in every if i not in left and i not in gone][:NEAREST]
        least = stay[-1][1] if stay else -1.0
        result.append((stay, sum(i in left and cosine >= least for i, cosine, _ in every) if left else 0))
    return result


def _faded_ids(ctx: Context, decisions: Decisions, ids: Sequence[str]) -> frozenset[str]:
    place, now = decisions.namespace, decisions.now
    states = {i: state for i, (state, _) in ctx.store.states(place, ids).items()}
    found = faded_ids(states, ctx.store.accesses(place, ids, now), ctx.policy, now)
    if not found or not ctx.policy.gates.canaries:
        return found
    # The recall gate is likely to hold back what has helped.
    outcomes = ctx.store.documents.find(place, Shelf.OUTCOME, sorted(found))
    return found - {document.id for document in outcomes if document.data.get("outcome") == "helpful"}
