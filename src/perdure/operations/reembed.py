"""Filling in missing vectors, or moving a store into another embedding space, in batches that can be resumed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from perdure.operations.embedder_space import space_of
from perdure.operations.extension import TaskResult
from perdure.operations.ports import Context, PackedEmbedder, Progress
from perdure.operations.superseding import superseding_links
from perdure.operations.transfer import all_namespaces
from perdure.records.errors import EmbedderError
from perdure.records.installation import how_to_install
from perdure.records.plan import Change, Plan, Target
from perdure.records.report import ReembedResult
from perdure.records.vector import Space

REEMBED: Final = "reembed"  # the operation
BATCH: Final = 256
AT_ONCE: Final = 20_000  # vectors of one run of maintenance; the rest is made at the next


def reembed(ctx: Context, *, progress: Progress | None = None) -> ReembedResult:
    """Give every memory a vector of the embedder's space, and search in that space once all have one.

    Until then searches go on in the old space. Interrupting is safe: the next run goes on where this one stopped.
    """
    if ctx.embedder is None:
        raise EmbedderError(
            "No embedder is available to make vectors.",
            remedy=f"{how_to_install('local')} Or set one in the policy ([embedder]).",
        )
    space = space_of(ctx.embedder)
    before = ctx.store.space()
    moving = before is not None and before.name != space.name
    ctx.store.prepare_space(space, to_search=True)
    if before is None:  # nothing is searched yet, and statements are compared with what has a vector
        ctx.store.add_space(space, activate=False)
    places = all_namespaces(ctx.store)  # each must have its vectors before searches change over
    embedded, total, operations = 0, 0, list[str]()
    for namespace in places:
        for plan in _fill(ctx, ctx.embedder, namespace, space, REEMBED, moving=moving):
            operations.append(plan.id)
            embedded += _count_vectors(plan)
            if progress is not None:
                total = total or sum(count for *_, count in ctx.store.tally(None))
                progress(embedded, max(total, embedded))
    ctx.store.add_space(space, activate=True)
    return ReembedResult(embedded, space.name, before.name if before is not None else "", tuple(operations))


def _fill(
    ctx: Context, embedder: PackedEmbedder, namespace: str, space: Space, operation: str, *, moving: bool
) -> Iterator[Plan]:
    """Give the memories of a namespace that lack one a vector, and yield each plan that was applied.

    Statements are compared with earlier ones, but where vectors only move from one space into another.
    """
    after = 0
    while rows := ctx.store.without_vector(namespace, space, after, BATCH):
        after = rows[-1][0]
        vectors = embedder.embed([text for _, _, text in rows], purpose="document")
        now, because = ctx.clock(), f"embedded in {space.name}"
        changes = tuple(
            Change(Target.VECTOR, identity, None, {"space": space.name, "vector": vector}, because)
            for (_, identity, _), vector in zip(rows, vectors, strict=True)
        )
        if not moving:
            records = {r.id: r for r in ctx.store.get(namespace, [identity for _, identity, _ in rows])}
            known = [(records[i], v) for (_, i, _), v in zip(rows, vectors, strict=True) if i in records]
            changes += tuple(superseding_links(ctx, namespace, [r for r, _ in known], [v for _, v in known]))
        note = f"{operation}: {len(vectors)} vectors"
        plan = Plan(ctx.ids(now), operation, namespace, now, changes, ctx.policy.version, note)
        ctx.store.apply(plan)
        yield plan


def _count_vectors(plan: Plan) -> int:
    return sum(change.target is Target.VECTOR for change in plan.changes)


def embed_waiting(ctx: Context, namespace: str) -> TaskResult:
    """Give what was stored without a vector one of the space that searches use; another space needs ``reembed``."""
    if ctx.embedder is None:
        return "no embedder", {}
    space = space_of(ctx.embedder)
    active = ctx.store.space()
    if active is not None and active.name != space.name:
        return f"searches use {active.name}, the embedder makes {space.name}: run `perdure reembed`", {"embedded": 0}
    ctx.store.add_space(space, activate=False)
    count = 0
    for plan in _fill(ctx, ctx.embedder, namespace, space, "embed", moving=False):
        count += _count_vectors(plan)
        if count >= AT_ONCE:
            break
    return f"{count} vectors made", {"embedded": count}
