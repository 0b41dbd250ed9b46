"""What a later memory says is replaced is marked in an answer, and that one stands before it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final, NamedTuple

from perdure.operations.ports import Context
from perdure.operations.superseding import Links, resting_on
from perdure.records.instant import day_at, text_of
from perdure.records.memory import Kind, MemoryItem, Record, Status
from perdure.records.recall import Filters, Hit, OutdatedFact, Query
from perdure.rules.corrected_hits import corrections_first, may_correct
from perdure.rules.language.replaced_values import replaced_values
from perdure.rules.language.words import query_words
from perdure.rules.last_said import said_after
from perdure.rules.lifecycle.signals import memory_items

_LOOKED_UP: Final = 3  # so many of the best hits have their corrections looked up
_AS_LIKELY: Final = 0.5  # that are so likely to answer, as a share of the likeliest
_CANDIDATES: Final = 20  # among so many memories with words of theirs


def with_corrections(
    ctx: Context,
    namespace: str,
    hits: list[Hit],
    question: str,
    known: Mapping[str, Links] = MappingProxyType({}),
) -> list[Hit]:
    """Return hits, those of which a later one names the value as replaced marked and behind it.

    ``known`` has the links of those hits whose links were read before.
    """
    if not ctx.policy.knowledge.watch or not may_correct(hits):
        return hits
    facts = {h.memory.id for h in hits if h.memory.kind is Kind.FACT}
    sources = resting_on({link for i in facts for link in known.get(i, ())}, facts)
    vectors = ctx.store.vectors(namespace, [h.memory.id for h in hits])
    return corrections_first(hits, question, vectors, sources, today=day_at(ctx.clock(), ctx.policy.days.tz))


def with_unfound_corrections(
    ctx: Context,
    namespace: str,
    hits: Sequence[Hit],
    question: str,
    filters: Filters,
    sources: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> list[Hit]:
    """Return hits, before the best ones what names their value as replaced, though it has no word of the question.

    What takes back a part of one stands behind it. ``sources`` has fact -> those of the hits that say it.
    """
    likely = _AS_LIKELY * max((h.relevance for h in hits), default=0.0)
    best = [h for h in hits if h.memory.kind in (Kind.NOTE, Kind.EPISODE) and not h.updated_by][:_LOOKED_UP]
    best += [h for h in hits if h.memory.kind is Kind.FACT][:_LOOKED_UP]
    best = [h for h in best if h.relevance >= likely]
    records = _corrections_of_hits(ctx, namespace, best, filters) if ctx.policy.knowledge.watch else []
    known = {h.memory.id for h in hits}
    records = [r for r in records if r.id not in known]
    if not records and not may_correct(hits):
        return list(hits)
    plain = Hit(hits[0].memory, 0.0, {})
    more = [replace(plain, memory=m) for m in memory_items(records, ctx.policy, ctx.clock(), ctx.counted)]
    vectors = ctx.store.vectors(namespace, [h.memory.id for h in (*hits, *more)])
    shown = corrections_first([*hits, *more], question, vectors, sources, today=day_at(ctx.clock(), ctx.policy.days.tz))
    return _brought_in(shown, {h.memory.id for h in more})


def _corrections_of_hits(ctx: Context, namespace: str, hits: Sequence[Hit], filters: Filters) -> list[Record]:
    """Return what names a value as replaced and has words of some hits."""
    words = tuple(dict.fromkeys(word for h in hits for word in query_words(h.memory.content)))
    if not words:
        return []
    pool = ctx.store.search(namespace, Query(" ".join(words), words), filters, ctx.policy.recall.for_limit(_CANDIDATES))
    found = sorted(zip(pool.columns.ids, pool.columns.bm25, strict=True), key=lambda one: -one[1])[:_CANDIDATES]
    records = ctx.store.get(namespace, [i for i, _ in found]) if found else ()
    return [
        r
        for r in records
        if r.state.status is Status.ACTIVE
        and replaced_values(r.content.text)
        and filters.sees(r.state.scope, r.content.session)
    ]


def _brought_in(hits: Sequence[Hit], new: Collection[str]) -> list[Hit]:
    """Return hits, of the new ones those that correct another one: as good an answer as that one, and beside it."""
    own = [h for h in hits if h.memory.id not in new]
    whole = {h.updated_by: h for h in reversed(own) if h.updated_by in new}
    partly = {o.replaced_by: h for h in reversed(own) for o in h.over if o.replaced_by in new}
    whole |= {i: h for h in reversed(own) if h.memory.kind is Kind.FACT for i in h.newer if i in new}
    shown: list[Hit] = []
    for hit in hits:
        identity = hit.memory.id
        if identity not in new:
            shown.append(hit)
            shown += [_like(h, hit) for h in hits if partly.get(h.memory.id) is hit and h.memory.id not in whole]
        elif identity in whole:
            shown.append(_like(hit, whole[identity]))
    return shown


def _like(hit: Hit, other: Hit) -> Hit:
    return replace(hit, score=other.score, parts=other.parts, cosine=other.cosine, relevance=other.relevance)


class Retractions(NamedTuple):
    """What later statements take back of a memory by their words alone."""

    over: tuple[OutdatedFact, ...]  # what of it, as an answer marks it, besides what its facts tell
    newer: tuple[MemoryItem, ...]  # of a fact, those that name its value as replaced


def taken_back(
    ctx: Context, memory: MemoryItem, over: Sequence[OutdatedFact], sources: Sequence[MemoryItem] = ()
) -> Retractions:
    """Return what of a memory later ones take back by words alone.

    Args:
        ctx: Store and policy.
        memory: The memory.
        over: What its facts tell of what holds no longer.
        sources: Where it is a fact, the notes and messages that say it.
    """
    inside = Filters(isolated=True, inside=memory.session)
    hits = [Hit(memory, 0.0, {}, over=tuple(over)), *(Hit(source, 0.0, {}) for source in sources)]
    says = {memory.id: [source.id for source in sources]}
    shown = {h.memory.id: h for h in with_unfound_corrections(ctx, memory.namespace, hits, "", inside, says)}
    own = shown[memory.id]
    if memory.kind is Kind.FACT:
        return Retractions(own.over[len(over) :], tuple(shown[i].memory for i in own.newer if i in shown))
    if own.updated_by is None or any(fact.replaced_by == own.updated_by for fact in over):
        return Retractions(own.over[len(over) :], ())
    since = text_of(said_after(shown[own.updated_by].memory.state, memory.state))
    return Retractions((OutdatedFact(memory.id, memory.content, "replaced", since, own.updated_by),), ())
