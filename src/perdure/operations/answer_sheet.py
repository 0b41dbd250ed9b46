"""Answer sheets: everything that is known about one question, and how far it may be relied on."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from perdure.operations.facts import every, lines
from perdure.operations.names import names_of
from perdure.operations.ports import Context
from perdure.operations.recall import recall
from perdure.records.document import Shelf
from perdure.records.instant import text_of
from perdure.records.memory import Kind, Memory, Record, Scope
from perdure.records.recall import Filters
from perdure.records.results_answers import AnswerSheet, Quoted, Statement
from perdure.records.results_facts import FactLine
from perdure.rules.answer_sheets import missing, stems, within
from perdure.rules.fact_states import FactState
from perdure.rules.naming import Names, names_in
from perdure.rules.words import query_words

HITS: Final = 12
BUDGET: Final = 1000
_BELIEVED: Final = (FactState.ACTIVE.value, FactState.AGING.value)


@dataclass(frozen=True, slots=True)
class _Found:
    """What was found about a question: other memories best first, facts, and whom the question names."""

    memories: list[Memory]
    facts: list[FactLine]
    past: list[FactLine]
    named: list[str]
    records: dict[str, Record]


def answer_sheet(ctx: Context, namespace: str, query: str, budget: int | None) -> AnswerSheet:
    """Return what is known about a question. Reading it is no access.

    The same store, question and instant give the same sheet.

    Args:
        ctx: Store, policy, clock, embedder, counter of tokens.
        namespace: Where.
        query: The question.
        budget: Most tokens of the text; 1,000 if None.
    """
    names = names_of(ctx, namespace)
    found = _found(ctx, namespace, query, names)
    told = {f.id: _statement(f, found.records) for f in (*found.facts, *found.past)}
    rivals = _groups(found.facts)
    contested = {i for group in rivals for i in group}
    plain = [f for f in found.facts if f.id not in contested]
    quoted = {quote.memory for s in told.values() for quote in s.sources}
    sheet = AnswerSheet(
        query,
        namespace,
        known=tuple(told[f.id] for f in plain if not f.question),
        aging=tuple(told[f.id] for f in plain if f.question),
        contested=tuple(tuple(told[i] for i in group) for group in rivals),
        outdated=tuple(told[f.id] for f in found.past),
        memories=tuple(_memory(m) for m in found.memories if m.id not in quoted),
        unknown=_unknown(query, found, names),
    )
    return within(sheet, BUDGET if budget is None else budget, ctx.tokens)


def _found(ctx: Context, namespace: str, query: str, names: Names) -> _Found:
    found = recall(ctx, query, namespace, HITS, Filters(isolated=True), touch=False).hits
    hits = [h.memory for h in found if not h.updated_by]  # what a later message says otherwise is no answer
    about = ctx.store.around.documents_of(namespace, Shelf.ABOUT, [m.id for m in hits if m.kind is Kind.FACT])
    forms = names_in(query)
    known = ctx.store.around.documents_named(namespace, Shelf.ALIAS, forms) if forms else []
    named = sorted({names.standing(d.id) for d in known})
    lines_ = _shared(ctx, namespace, names, sorted({names.standing(d.name) for d in about} | set(named)))
    asked = stems(query) - stems(" ".join(d.name for d in known))
    asked |= stems(" ".join(ctx.predicates.asked(query_words(query))))
    facts = _believed(lines_, [m.id for m in hits], asked)
    keys = {(f.subject, f.predicate) for f in facts}
    past = [f for f in lines_ if f.state not in _BELIEVED and ((f.subject, f.predicate) in keys or _is_about(f, asked))]
    past.sort(key=lambda f: (f.believed_to, f.valid_from, f.id), reverse=True)
    shown = {f.id for f in (*facts, *past)}
    sources = sorted({memory for f in (*facts, *past) for memory, _ in f.sources})
    records = {r.id: r for r in ctx.store.get(namespace, sources)} if sources else {}
    return _Found([m for m in hits if m.id not in shown], facts, past, named, records)


def _shared(ctx: Context, namespace: str, names: Names, subjects: Sequence[str]) -> list[FactLine]:
    """Return the facts about some entities that everybody may see; those of a session are left to it."""
    chosen = [fact for subject in subjects for fact in every(ctx, namespace, names, subject)]
    states = ctx.store.states(namespace, [f.id for f in chosen]) if chosen else {}
    seen = [f for f in chosen if f.id in states and states[f.id][0].scope is Scope.LONG_TERM]
    return lines(ctx, namespace, seen, names)


def _believed(some: Sequence[FactLine], hits: Sequence[str], asked: Collection[str]) -> list[FactLine]:
    """Return the facts that answer, in the order of the hits, each with what contradicts it.

    A fact may stand behind the message that says it, and so not be a hit: its own words show that it answers.
    """
    rank = {identity: place for place, identity in enumerate(hits)}
    believed = [f for f in some if f.state in _BELIEVED]
    rivals = {i for f in believed if f.id in rank for i in f.contested}
    chosen = [f for f in believed if f.id in rank or f.id in rivals or _is_about(f, asked)]
    return sorted(chosen, key=lambda f: (rank.get(f.id, len(rank)), f.id))


def _is_about(fact: FactLine, asked: Collection[str]) -> bool:
    """Whether a fact holds a word of the question, other than the name of whom it is about."""
    return not stems(f"{fact.predicate.replace('_', ' ')} {fact.value}").isdisjoint(asked)


def _groups(facts: Sequence[FactLine]) -> list[list[str]]:
    """Return the facts that are in open conflict, those that hang together as one group, in their order."""
    groups: list[list[str]] = []
    believed = {f.id for f in facts}
    for fact in facts:
        sides = [fact.id, *(i for i in fact.contested if i in believed)]
        if len(sides) == 1:
            continue
        joined = [g for g in groups if not set(g).isdisjoint(sides)]
        groups = [g for g in groups if g not in joined]
        groups.append(list(dict.fromkeys([i for g in joined for i in g] + sides)))
    return groups


def _statement(f: FactLine, records: Mapping[str, Record]) -> Statement:
    return Statement(
        id=f.id,
        kind=Kind.FACT.value,
        says=f"{f.name}: {f.predicate.replace('_', ' ')}: {f.value}",
        confidence=f.confidence,
        state=f.state,
        since=_day(f.valid_from),
        until=_day(f.valid_to),
        retired=_day(f.believed_to),
        sources=tuple(_quote(memory, words, records) for memory, words in f.sources),
        replaced_by=f.superseded_by,
        question=f.question,
    )


def _quote(memory: str, words: str, records: Mapping[str, Record]) -> Quoted:
    record = records.get(memory)
    if record is None:
        return Quoted(memory, "", "", words)
    return Quoted(memory, _day(text_of(record.state.created_ms)), record.content.speaker or "", words)


def _memory(m: Memory) -> Statement:
    day = _day(text_of(m.state.created_ms))
    source = Quoted(m.id, day, m.speaker or "", m.content)
    return Statement(m.id, m.kind.value, m.content, m.confidence, m.status.value, day, sources=(source,))


def _unknown(query: str, found: _Found, names: Names) -> tuple[str, ...]:
    told = [m.content for m in found.memories]
    told += [f"{f.name} {f.predicate.replace('_', ' ')} {f.value}" for f in (*found.facts, *found.past)]
    told += [words for f in (*found.facts, *found.past) for _, words in f.sources]
    if not told:
        return ("Nothing that is stored is about this question. Do not guess.",)
    bare = set(found.named) - {f.subject for f in found.facts}
    sentences = [f"No fact is believed that answers this about {names.entity(i).name}." for i in sorted(bare)]
    if words := missing(query, told):
        sentences.append(f"Nothing above holds the words: {', '.join(words)}.")
    return tuple(sentences)


def _day(moment: str) -> str:
    return moment.partition(" ")[0]
