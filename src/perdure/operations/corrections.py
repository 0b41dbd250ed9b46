"""What a later memory says is replaced is marked in an answer, and that one stands before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from perdure.operations.ports import Context
from perdure.records.instant import text_of
from perdure.records.memory import Kind, MemoryItem, Status
from perdure.records.recall import Filters, Hit, OverFact, Query
from perdure.rules.corrected_hits import corrections_first, may_correct
from perdure.rules.language.replaced_values import replaced_values
from perdure.rules.language.words import query_words
from perdure.rules.last_said import said_after
from perdure.rules.lifecycle.signals import memory_items

_LOOKED_UP: Final = 3  # so many of the best hits have their corrections looked up
_CANDIDATES: Final = 20  # among so many memories with words of theirs


def with_corrections(ctx: Context, namespace: str, hits: list[Hit], question: str) -> list[Hit]:
    """Return hits, those of which a later one names the value as replaced marked and behind it."""
    if not ctx.policy.knowledge.watch or not may_correct(hits):
        return hits
    return corrections_first(hits, question, ctx.store.vectors(namespace, [h.memory.id for h in hits]))


def with_unfound_corrections(
    ctx: Context, namespace: str, hits: Sequence[Hit], question: str, filters: Filters
) -> list[Hit]:
    """Return hits, before the best ones what names their value as replaced, though it has no word of the question."""
    best = [h for h in hits if h.memory.kind in (Kind.NOTE, Kind.EPISODE) and not h.updated_by][:_LOOKED_UP]
    words = tuple(dict.fromkeys(word for h in best for word in query_words(h.memory.content)))
    if not words or not ctx.policy.knowledge.watch:
        return list(hits)
    pool = ctx.store.search(namespace, Query(" ".join(words), words), filters, ctx.policy.recall.for_limit(_CANDIDATES))
    found = sorted(zip(pool.columns.ids, pool.columns.bm25, strict=True), key=lambda one: -one[1])[:_CANDIDATES]
    new = [i for i, _ in found if i not in {h.memory.id for h in hits}]
    records = [r for r in (ctx.store.get(namespace, new) if new else ()) if r.state.status is Status.ACTIVE]
    records = [r for r in records if replaced_values(r.content.text) and filters.sees(r.state.scope, r.content.session)]
    if not records:
        return list(hits)
    plain = Hit(best[0].memory, 0.0, {})
    more = [replace(plain, memory=m) for m in memory_items(records, ctx.policy, ctx.clock(), ctx.counted)]
    vectors = ctx.store.vectors(namespace, [h.memory.id for h in (*hits, *more)])
    shown = corrections_first([*hits, *more], question, vectors)
    correcting = {h.updated_by for h in shown}
    return [h for h in shown if h.memory.id not in new or h.memory.id in correcting]


def taken_back(ctx: Context, memory: MemoryItem, over: Sequence[OverFact]) -> tuple[OverFact, ...]:
    """Return what of a memory later ones take back by words alone, as an answer marks it, besides what its facts tell.

    Args:
        ctx: Store and policy.
        memory: The memory.
        over: What its facts tell of what holds no longer.
    """
    inside = Filters(isolated=True, inside=memory.session)
    hit = Hit(memory, 0.0, {}, over=tuple(over))
    shown = {h.memory.id: h for h in with_unfound_corrections(ctx, memory.namespace, [hit], "", inside)}
    own = shown[memory.id]
    if own.updated_by is None or any(fact.replaced_by == own.updated_by for fact in over):
        return own.over[len(over) :]
    since = text_of(said_after(shown[own.updated_by].memory.state, memory.state))
    return (OverFact(memory.id, memory.content, "replaced", since, own.updated_by),)
