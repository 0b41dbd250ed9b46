"""New memories that stand for others: embedded, placed among their neighbours, and ready to be stored with a plan."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from perdure.operations.ports import Context
from perdure.records.errors import PerdureError
from perdure.records.memory import Record, searchable
from perdure.records.new_memory import Draft
from perdure.records.vector import Vector
from perdure.rules.consolidation.merge_plan import Decisions
from perdure.rules.insertion import NEAREST, Newborn, birth_plan, newborn_states, record_of

_MOST_NEIGHBOURS: Final = 200
"""Looked at for uniqueness: the five nearest that stay are among them unless hundreds go."""


def newborns(
    ctx: Context, drafts: Sequence[Draft], ids: Sequence[str], namespace: str, gone: Collection[str]
) -> list[Newborn]:
    """Return drafts with their vectors and nearest neighbours, those left out that the same plan hides.

    Without an embedder, or where it fails, they are stored without vectors, and the person is told: words find them
    until ``reembed`` fills them in.

    Args:
        ctx: Store, embedder.
        drafts: What is to be stored.
        ids: Their ids, in the same order.
        namespace: Where to.
        gone: Memories that the plan hides.
    """
    vectors = _vectors(ctx, drafts)
    known = [v for v in vectors if v is not None]
    most = min(_MOST_NEIGHBOURS, NEAREST + len(gone))
    around = iter(ctx.store.nearest(namespace, known, most) if known else ())
    result = []
    for identity, draft, vector in zip(ids, drafts, vectors, strict=True):
        near = [] if vector is None else [pair for pair in next(around) if pair[0] not in gone]
        result.append(Newborn(identity, draft, vector, tuple(near[:NEAREST])))
    return result


def brought_in(ctx: Context, decisions: Decisions, drafts: Sequence[Draft], namespace: str, verb: str) -> list[Record]:
    """Bring new memories into a plan, before everything else that it decides, and return them.

    Args:
        ctx: Store, policy, ids, embedder.
        decisions: The plan in the making.
        drafts: What is to be stored.
        namespace: Where to.
        verb: The operation's.
    """
    ids = [ctx.ids(decisions.now) for _ in drafts]
    born = newborns(ctx, drafts, ids, namespace, ())
    states = newborn_states(born, ctx.policy, decisions.now)
    records = [record_of(n, s, namespace, decisions.plan_id) for n, s in zip(born, states, strict=True)]
    plan = birth_plan(
        records,
        born,
        plan_id=decisions.plan_id,
        operation=verb,
        namespace=namespace,
        at=decisions.now,
        policy=ctx.policy,
        space=space_of(ctx, born),
    )
    decisions.bring_in(plan.changes)
    return records


def space_of(ctx: Context, born: Sequence[Newborn]) -> str | None:
    """Return the name of the space that their vectors belong to; None where there are none."""
    if ctx.embedder is None or not any(n.vector for n in born):
        return None
    return ctx.embedder.space.name


def _vectors(ctx: Context, drafts: Sequence[Draft]) -> list[Vector | None]:
    nothing: list[Vector | None] = [None] * len(drafts)
    space = ctx.store.space()
    if not drafts or space is None:
        return nothing
    trouble = "there is no embedder"
    if ctx.embedder is not None:
        try:
            vectors = ctx.embedder.embed([searchable(d.text, d.speaker) for d in drafts], purpose="document")
            if ctx.embedder.space == space:
                return list(vectors)
            trouble = f"the embedder makes vectors of {ctx.embedder.space.name}, the store has {space.name}"
        except PerdureError as error:
            trouble = str(error)
    ctx.warn(f"New summaries are stored without vectors, so that only words will find them: {trouble}")
    return nothing
