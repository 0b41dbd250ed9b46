"""What memories say that holds no longer, and what stands in its place: looked up for all of them at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from perdure.knowledge.records.facts import Fact
from perdure.knowledge.rules.over_facts import FactContext, OutdatedFacts, is_gone, over_in, what_is_over, with_plans
from perdure.knowledge.rules.over_words import FactWords
from perdure.operations.documents import (
    derived_from,
    find_documents,
    find_documents_named,
    find_records,
    find_states,
    successors,
)
from perdure.operations.ports import Context
from perdure.records.instant import Instant
from perdure.records.memory import Document, Record, Shelf
from perdure.records.recall import Filters, OutdatedFact

NOW: Final = Filters()
_MOST_EARLIER: Final = 5  # values of one fact; its timeline has all


def over_facts(ctx: Context, namespace: str, memories: Sequence[str], then: Filters = NOW) -> dict[str, OutdatedFacts]:
    """Return memory -> what of its facts holds no longer, or did not at another time, of those that say facts.

    A fact that was over when it was told ("until March he was ill") is no reason to doubt the memory that says so.
    """
    by_memory = derived_from(ctx, namespace, memories)
    ids = sorted({fact for some in by_memory.values() for fact in some})
    facts, now = _facts(find_documents(ctx, namespace, Shelf.FACT, ids)), ctx.clock()
    gone = [fact for fact in facts.values() if is_gone(fact, then, now)]
    over, told_as_past = what_is_over(gone, _beside(ctx, namespace, gone, now)) if gone else ({}, set())
    marked = [memory for memory, some in by_memory.items() if not over.keys().isdisjoint(some)]
    said = {i for memory in marked for i in by_memory[memory] if i in facts}
    texts = {r.id: r.content.text for r in find_records(ctx, namespace, sorted({*marked, *said}))}
    words = {i: FactWords.of(facts[i], texts.get(i, "")) for i in said}
    zone = ctx.policy.days.tz
    own = {i: [facts[f] for f in some if f in facts] for i, some in by_memory.items()}
    return {
        i: with_plans(over_in(texts.get(i, ""), some, over, told_as_past, words), own[i], then.asked_at(now), zone)
        for i, some in by_memory.items()
    }


def replaced_facts(ctx: Context, namespace: str, believed: Iterable[str]) -> dict[str, tuple[Fact, OutdatedFact]]:
    """Return the facts that others replaced, of what some believed ones tell, each with what is to be said of it."""
    keys = sorted({fact.key for fact in _facts(find_documents(ctx, namespace, Shelf.FACT, sorted(believed))).values()})
    known, now = _facts(find_documents_named(ctx, namespace, Shelf.FACT, keys)), ctx.clock()
    gone = [fact for fact in known.values() if is_gone(fact, NOW, now) and not fact.denied]
    over, _ = what_is_over(gone, _beside(ctx, namespace, gone, now)) if gone else ({}, None)
    return {i: (known[i], told) for i, told in over.items() if told.replaced_by}


def _beside(ctx: Context, namespace: str, gone: Sequence[Fact], now: Instant) -> FactContext:
    """Look up what is known beside facts that may hold no longer."""
    later = successors(ctx, namespace, [fact.id for fact in gone])
    known = _facts(find_documents_named(ctx, namespace, Shelf.FACT, sorted({fact.key for fact in gone})))
    known |= _facts(find_documents(ctx, namespace, Shelf.FACT, sorted(set(later.values()) - known.keys())))
    return FactContext(
        known, find_states(ctx, namespace, sorted({*known, *later.values()})), later, now, ctx.policy.days.tz
    )


def _facts(documents: Iterable[Document]) -> dict[str, Fact]:
    return {d.id: Fact.from_data(d.id, d.data) for d in documents}


def over_of(ctx: Context, record: Record) -> tuple[OutdatedFact, ...]:
    """Return what holds no longer of the facts that a memory says, newest first, or of itself where it is a fact."""
    place = record.namespace
    own = _facts(find_documents(ctx, place, Shelf.FACT, [record.id]))
    if not own:
        said = over_facts(ctx, place, [record.id]).get(record.id)
        return () if said is None else said.facts
    now = ctx.clock()
    gone = [fact for fact in own.values() if is_gone(fact, NOW, now)]
    over, _ = what_is_over(gone, _beside(ctx, place, gone, now)) if gone else ({}, set())
    return tuple(over.values())


def earlier_facts(
    ctx: Context, namespace: str, memories: Sequence[str], sees: Filters
) -> dict[str, tuple[OutdatedFact, ...]]:
    """Return memory -> what held before the facts that it is or says, the newest first.

    Of a fact and a note that says it the fact has them. What is not for the caller to see is left out.
    """
    by_memory = {i: (i, *found) for i, found in derived_from(ctx, namespace, memories).items()}
    ids = sorted({*memories, *(fact for some in by_memory.values() for fact in some)})
    facts, now = _facts(find_documents(ctx, namespace, Shelf.FACT, ids)), ctx.clock()
    holding = {i: fact.key for i, fact in facts.items() if not is_gone(fact, NOW, now)}
    held = _held_before(ctx, namespace, set(holding.values()), sees)
    earlier: dict[str, tuple[OutdatedFact, ...]] = {}
    for memory in sorted(memories, key=lambda i: i not in holding):
        keys = dict.fromkeys(holding[i] for i in by_memory.get(memory, (memory,)) if i in holding)
        earlier[memory] = tuple(one for key in keys for one in held.pop(key, ()))[:_MOST_EARLIER]
    return earlier


def _held_before(ctx: Context, namespace: str, keys: set[str], sees: Filters) -> dict[str, list[OutdatedFact]]:
    """Return whom and what facts were about -> what held of it, the newest first; what was denied never did."""
    facts, now = _facts(find_documents_named(ctx, namespace, Shelf.FACT, sorted(keys))), ctx.clock()
    gone = [fact for fact in facts.values() if is_gone(fact, NOW, now)]
    over, _ = what_is_over(gone, _beside(ctx, namespace, gone, now)) if gone else ({}, None)
    held: dict[str, list[OutdatedFact]] = {}
    for record in sorted(find_records(ctx, namespace, sorted(over)), key=lambda r: r.id, reverse=True):
        if over[record.id].over != "denied" and sees.sees(record.state.scope, record.content.session):
            held.setdefault(facts[record.id].key, []).append(over[record.id])
    return held
