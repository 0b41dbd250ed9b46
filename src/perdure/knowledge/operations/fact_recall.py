"""What a recall needs to know of facts and procedures: about whom it names, what is asked, what follows what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from perdure.knowledge.extraction.entity_names import names_in
from perdure.knowledge.operations.change_rates import known_rates
from perdure.knowledge.operations.ports import resources
from perdure.knowledge.operations.stale_sources import outdated_messages, outdated_notes
from perdure.knowledge.records.authority import Sight
from perdure.knowledge.records.facts import Fact
from perdure.knowledge.rules.fact_states import learned_confidence
from perdure.knowledge.rules.procedures import Procedure
from perdure.operations.documents import all_documents, find_documents
from perdure.operations.ports import Context
from perdure.records.instant import Instant
from perdure.records.memory import Kind, MemoryItem, Scope, Shelf, State, Status
from perdure.records.recall import Filters, Hit
from perdure.rules.lifecycle.confirmation import confirmation_question
from perdure.rules.lifecycle.stale_facts import validated_at
from perdure.rules.presentation import facts_first

_MOST_FACTS: Final = 200  # facts about those whom a question names that are looked at


def facts_of_named(ctx: Context, namespace: str, text: str, filters: Filters) -> dict[str, str]:
    """Return id -> words of the facts that are believed about those whom a question names by a known name.

    Of very many only those learned last are looked at. A question that is limited otherwise than by kind and
    confidence is left to the searches.
    """
    wanted = replace(filters, kinds=(), min_confidence=0.0, isolated=False, inside=None)
    if wanted != Filters() or (filters.kinds and Kind.FACT not in filters.kinds):
        return {}
    forms = names_in(text)
    known = ctx.store.documents.find_named(namespace, Shelf.ALIAS, forms) if forms else []
    entities = sorted({d.id for d in known})
    about = ctx.store.documents.find_named(namespace, Shelf.ABOUT, entities) if entities else []
    ids = sorted({d.id for d in about})[-_MOST_FACTS:]
    states = ctx.store.states(namespace, ids) if ids else {}
    believed = [i for i in ids if i in states and _is_open(states[i][0])]
    return {r.id: r.content.text for r in ctx.store.get(namespace, believed)}


def _is_open(state: State) -> bool:
    """Whether a fact is believed, and for all to see."""
    return state.status is Status.ACTIVE and state.scope is Scope.LONG_TERM


def mark_facts(ctx: Context, namespace: str, hits: list[Hit]) -> list[Hit]:
    """Return hits, the facts among them with how sure they are, what is to be asked, and what contradicts them."""
    if ctx.policy.knowledge.learn != "off":
        shown = {h.memory.id for h in hits if h.memory.kind is Kind.FACT}
        since = outdated_messages(ctx, namespace, [h.memory.id for h in hits if h.memory.kind is Kind.EPISODE], shown)
        since |= outdated_notes(ctx, namespace, [h.memory for h in hits if h.memory.kind is Kind.NOTE])
        hits = facts_first([replace(h, updated_by=h.updated_by or since.get(h.memory.id)) for h in hits])
    if resources(ctx).witnesses:
        hits = _mark_citations(ctx, namespace, hits)
    ids = [h.memory.id for h in hits if h.memory.kind is Kind.FACT]
    if not ids:
        return hits
    documents = ctx.store.documents
    known = {d.id: Fact.from_data(d.id, d.data) for d in documents.find(namespace, Shelf.FACT, ids)}
    rivals = open_conflicts(ctx, namespace, ids)
    rates, now = known_rates(ctx, namespace), ctx.clock()
    return [
        _mark_fact(h, known.get(h.memory.id), rivals.get(h.memory.id, []), rates, now) if h.memory.id in ids else h
        for h in hits
    ]


def _mark_citations(ctx: Context, namespace: str, hits: list[Hit]) -> list[Hit]:
    """Return hits; those that cite what has moved or is gone with what the working tree showed when last looked at."""
    checks = ctx.store.documents.find(namespace, Shelf.CHECK, [h.memory.id for h in hits])
    gone = {
        d.id: f"When {d.name} was last looked at: {d.data['evidence']}. Is it still right?"
        for d in checks
        if d.name in resources(ctx).witnesses and d.data.get("outcome") in (Sight.MOVED, Sight.STALE)
    }
    return [replace(h, question=h.question or gone.get(h.memory.id, "")) for h in hits]


def _mark_fact(hit: Hit, fact: Fact | None, rivals: list[str], rates: dict[str, float], now: Instant) -> Hit:
    memory = hit.memory if fact is None else with_learned_rate(hit.memory, fact, rates, now)
    asked = memory.aging and not (fact is not None and fact.asked_not)
    return replace(
        hit,
        memory=memory,
        question=confirmation_question(memory, validated_at(memory.state)) if asked else hit.question,
        contested_with=tuple(dict.fromkeys((*hit.contested_with, *rivals))),
    )


def with_learned_rate(memory: MemoryItem, fact: Fact, rates: dict[str, float], now: Instant) -> MemoryItem:
    """Return a fact as sure as it is by what was learned about how fast facts of its sort change."""
    sure = learned_confidence(memory.state, fact.type, rates, now, otherwise=memory.confidence)
    return memory if sure == memory.confidence else replace(memory, confidence=sure)


def open_conflicts(ctx: Context, namespace: str, ids: Sequence[str], *, settled: bool = False) -> dict[str, list[str]]:
    """Return fact -> those that it is in open conflict with; a conflict rests while one side is hidden.

    With ``settled`` also those that it was in conflict with.
    """
    documents = ctx.store.documents
    conflicts = [*documents.find(namespace, Shelf.CONFLICT, ids), *documents.find_named(namespace, Shelf.CONFLICT, ids)]
    found: dict[str, list[str]] = {}
    pairs = list(dict.fromkeys((d.id, d.name) for d in conflicts if settled or d.data.get("outcome") == "open"))
    if not settled:
        states = ctx.store.states(namespace, sorted({i for pair in pairs for i in pair})) if pairs else {}
        believed = {i for i, (state, _) in states.items() if state.status is Status.ACTIVE}
        pairs = [pair for pair in pairs if believed.issuperset(pair)]
    for older, newer in pairs:
        found.setdefault(older, []).append(newer)
        found.setdefault(newer, []).append(older)
    return found


def source_messages(ctx: Context, namespace: str, hits: Sequence[Hit]) -> dict[str, frozenset[str]]:
    """Return fact -> the messages that say it, of the facts among some hits."""
    facts = [h.memory.id for h in hits if h.memory.kind is Kind.FACT]
    told = ctx.store.documents.find(namespace, Shelf.FACT, facts) if facts else []
    return {d.id: frozenset(s["memory"] for s in d.data["sources"]) for d in told}


def facts_of(ctx: Context, namespace: str, memories: Sequence[str]) -> dict[str, Fact]:
    """Return memory -> the fact that it holds, of those that were learned."""
    told = find_documents(ctx, namespace, Shelf.FACT, memories)
    return {d.id: Fact.from_data(d.id, d.data) for d in told}


def known_procedures(ctx: Context, namespace: str) -> list[Procedure]:
    """Return the procedures of a namespace that hold and are in view: what ``widen`` takes."""
    found = {d.id: Procedure.from_document(d) for d in all_documents(ctx, namespace, Shelf.PROCEDURE)}
    states = ctx.store.states(namespace, list(found)) if found else {}
    seen = [p for i, p in found.items() if i in states and states[i][0].status is Status.ACTIVE]
    return [replace(p, retired=False) for p in seen]  # whoever restores one vouches for it
