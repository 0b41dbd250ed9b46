"""Facts as a person sees them: what is believed, since when, and what was believed before."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import tzinfo
from typing import Final

from perdure.knowledge.extraction.entity_names import Names
from perdure.knowledge.operations.alias_index import names_of
from perdure.knowledge.operations.change_rates import known_rates
from perdure.knowledge.operations.doubted_facts import with_doubts
from perdure.knowledge.operations.entities import find_entity
from perdure.knowledge.operations.fact_recall import facts_of, open_conflicts, with_known_times, with_learned_rate
from perdure.knowledge.operations.fact_session import PredicateSynonyms
from perdure.knowledge.operations.ports import resources
from perdure.knowledge.records.facts import UNNAMED, Fact
from perdure.knowledge.records.results import FactLine, Timeline
from perdure.knowledge.rules.fact_explanation import explain_fact
from perdure.knowledge.rules.fact_records import BELIEVED, UPCOMING, FactState, fact_at, state_of
from perdure.knowledge.rules.given_claims import predicate_name
from perdure.knowledge.rules.over_words import FactWords, says_more
from perdure.operations.documents import (
    all_documents,
    derived_from,
    find_documents,
    find_records,
    find_states,
    pages,
    whose_words,
)
from perdure.operations.interruptions import interruptions
from perdure.operations.ports import Context
from perdure.operations.repeated_statements import newest
from perdure.records.instant import Instant, day_at, zone_text
from perdure.records.memory import SUPERSEDES, Document, MemoryItem, Record, Scope, Shelf, Status, Trust
from perdure.records.outcome import FactReasons, RestingFact, SayingMemory
from perdure.records.recall import Filters
from perdure.records.report import JournalEntry
from perdure.rules.document_edits import DocumentEdits
from perdure.rules.lifecycle.confirmation import confirmation_question, without_begun_day
from perdure.rules.lifecycle.signals import whole_memory_items
from perdure.rules.lifecycle.stale_facts import is_aging, is_unanswered, unconfirmed_since, validated_at
from perdure.rules.point_in_time import believed_until

SUBJECTS: Final = 5  # the facts of so many entities are read first, and then of twice as many each time

ALL: Final = Filters()
_SHOWN: Final = (*BELIEVED, UPCOMING)

# --- reading


def facts(
    ctx: Context, namespace: str, entity: str | None, predicate: str | None, *, past: bool, limit: int, then: Filters
) -> list[FactLine]:
    """Return facts, those that are believed first, then by entity, predicate and time; behind what interrupts them.

    Of ``then`` only ``as_of`` (what was true), ``known_at`` (what was believed) and the session that asks count: what
    belongs to another session is left out.
    """
    names = names_of(ctx, namespace)
    subject = None if entity is None else find_entity(ctx, names, entity, namespace)
    lessons = PredicateSynonyms(ctx, namespace, DocumentEdits())
    registry = resources(ctx).predicates
    called = () if predicate is None else (registry.name(predicate), predicate_name(predicate, registry))
    wanted, zone = frozenset(map(lessons.name, called)), ctx.policy.days.tz
    result: list[FactLine] = []
    held: set[str] = set()  # at the time that is asked about
    for some in _by_subject(ctx, namespace, names, subject, rest=past):
        chosen = {
            f.id: f
            for f in some
            if not wanted
            or f.predicate in wanted
            or any(name != UNNAMED and registry.akin(name, f.predicate) for name in wanted)
        }
        lines = fact_lines(ctx, namespace, list(chosen.values()), names, then)
        states = find_states(ctx, namespace, chosen) if then.looks_back else {}
        lines_at = [(line, line.state in _SHOWN) for line in lines]
        if then.looks_back:
            archived = [i for i, state in states.items() if state.status is Status.ARCHIVED]
            known = with_known_times(ctx, namespace, chosen, archived)
            lines_at = [s for f in lines if (s := fact_at(f, known[f.id], states[f.id], then, zone)) is not None]
            held |= {line.id for line, holds in lines_at if holds and line.state != UPCOMING}
        result += [line for line, holds in lines_at if past or holds]
        if len(result) >= limit and not past:
            break
    order = {state: place for place, states in enumerate((BELIEVED, (UPCOMING,))) for state in states}
    rank = {f.id: 0 if f.id in held else order.get(f.state, 2) for f in result}
    result.sort(key=lambda f: (rank[f.id], f.subject, f.predicate, bool(f.interrupted), f.valid_from, f.id))
    return result[:limit] if then.looks_back else with_doubts(ctx, namespace, result[:limit], then)


def _by_subject(ctx: Context, namespace: str, names: Names, subject: str | None, *, rest: bool) -> Iterator[list[Fact]]:
    """Yield the facts of one entity or of all, some entities at a time, in the order of their ids."""
    if subject is not None or rest:
        yield list(all_facts(ctx, namespace, names, subject))
        return
    ordered = sorted(set(map(names.current_entity, names.entities)))
    at, size = 0, SUBJECTS
    while at < len(ordered):
        yield list(facts_about(ctx, namespace, names, ordered[at : at + size]))
        at, size = at + size, size * 2


def timeline(ctx: Context, namespace: str, entity: str, then: Filters) -> Timeline:
    """Return what was true of an entity, and believed, in the order of time.

    When it was true goes by the days of the messages, when it was believed by the instants of learning: what is taken
    in later was believed by nobody before, and no belief ends before it begins.
    """
    names = names_of(ctx, namespace)
    subject = find_entity(ctx, names, entity, namespace)
    some = {fact.id: fact for fact in all_facts(ctx, namespace, names, subject)}
    lines = lines_known_at(ctx, namespace, some, names, then)
    lines = lines if then.known_at is not None else with_doubts(ctx, namespace, lines, then)
    lines.sort(key=lambda f: (f.valid_from, f.believed_from, f.id))
    return Timeline(subject, names.entity(subject).name, tuple(lines))


def lines_known_at(
    ctx: Context, namespace: str, some: Mapping[str, Fact], names: Names, then: Filters
) -> list[FactLine]:
    """Return facts as they are now, or as they looked by what was known at a time."""
    lines = fact_lines(ctx, namespace, list(some.values()), names, then)
    if then.known_at is None:
        return lines
    states, zone = find_states(ctx, namespace, some), ctx.policy.days.tz
    known, there = Filters(known_at=then.known_at), [f for f in lines if f.id in states]
    return [s[0] for f in there if (s := fact_at(f, some[f.id], states[f.id], known, zone))]


def all_facts(ctx: Context, namespace: str, names: Names, subject: str | None) -> Iterator[Fact]:
    """Yield facts, also those that were: of one entity (and of those that were merged into it) or of all."""
    if subject is not None:
        yield from facts_about(ctx, namespace, names, [subject])
        return
    yield from (Fact.from_data(d.id, d.data) for d in all_documents(ctx, namespace, Shelf.FACT))


def facts_about(ctx: Context, namespace: str, names: Names, subjects: Collection[str]) -> Iterator[Fact]:
    """Yield the facts, also those that were, of some entities and of those that were merged into them."""
    ids = set(subjects)
    family = ids.union(names.merged_into(ids))
    about = ctx.store.documents.find_named(namespace, Shelf.ABOUT, sorted(family))
    documents = find_documents(ctx, namespace, Shelf.FACT, sorted({d.id for d in about}))
    yield from (Fact.from_data(d.id, d.data) for d in documents)


def fact_lines(ctx: Context, namespace: str, some: Sequence[Fact], names: Names, seen: Filters = ALL) -> list[FactLine]:
    """Return facts as they are now, in the same order, without those that are gone or that who asks may not see."""
    now, rates = ctx.clock(), known_rates(ctx, namespace)
    lines: list[FactLine] = []
    for page in pages(some):
        ids = [f.id for f in page]
        found = whole_memory_items(ctx.store.get(namespace, ids), ctx.policy, now)
        memories = {m.id: m for m in found if seen.sees(m.scope, m.session)}
        rivals, (newer, older) = open_conflicts(ctx, namespace, ids), _successions(ctx, namespace, ids)
        interrupted = interruptions(ctx, namespace, ids, seen)
        asked = (f for f in page if f.id in memories and memories[f.id].aging)
        words = whose_words(ctx, namespace, {f.id: f.to_data() for f in asked})
        lines += [
            replace(
                _line(ctx, with_learned_rate(memories[f.id], f, rates, now), f, names, now, words.get(f.id, f.trust)),
                contested=tuple(rivals.get(f.id, ())),
                supersedes=tuple(older.get(f.id, ())),
                superseded_by=tuple(newer.get(f.id, ())) or _followers(f, now),
            )
            for f in (f for f in page if f.id in memories)
        ]
        lines = [replace(f, interrupted=interrupted[f.id], question="") if f.id in interrupted else f for f in lines]
    return lines


def _followers(fact: Fact, now: Instant) -> tuple[str, ...]:
    """Return the planned fact that has taken a fact's place by now, if one has."""
    return (fact.followed_by,) if fact.followed_by and fact.has_ended(now) else ()


def _successions(ctx: Context, namespace: str, ids: Sequence[str]) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Return fact -> those that took its place, and fact -> those that it took the place of."""
    replaced = {(i, o) for i, kind, o in ctx.store.links_at(namespace, ids) if kind == SUPERSEDES}
    return _by_end(replaced, 1), _by_end(replaced, 0)


def _by_end(links: Iterable[tuple[str, str]], end: int) -> dict[str, list[str]]:
    """Return memory -> the other ends of its links, by the end (0 or 1) at which it stands, in order."""
    found: dict[str, list[str]] = {}
    for link in sorted(links):
        found.setdefault(link[end], []).append(link[1 - end])
    return found


def _line(ctx: Context, memory: MemoryItem, fact: Fact, names: Names, now: Instant, word: Trust) -> FactLine:
    state, policy, zone = memory.state, ctx.policy, ctx.policy.days.tz
    has_ended = fact.has_ended(now)
    over = state.status is Status.ACTIVE and has_ended
    shown = FactState.SUPERSEDED.value if over else state_of(state, policy, now).value
    aging = is_aging(state, policy, now) and not over
    asked = without_begun_day(memory, day_at(now, zone))
    subject = names.current_entity(fact.subject)
    return FactLine(
        id=memory.id,
        namespace=memory.namespace,
        subject=subject,
        name=names.entity(subject).name,
        predicate=fact.predicate,
        type=fact.type,
        value=fact.value.text,
        state=UPCOMING if shown in BELIEVED and fact.is_upcoming(now) else shown,
        confidence=memory.confidence,
        base=state.confidence,
        confirmations=state.reinforcements,
        learned=fact.learned.value,
        trust=fact.trust.value,
        valid_from=_when(fact.valid_from, zone),
        valid_to=_when(fact.valid_to, zone),
        believed_from=_when(state.recorded_ms, zone),
        believed_to=_when(believed_until(fact, state), zone),
        sources=tuple((s.memory, s.span.quote) for s in fact.sources),
        question=confirmation_question(asked, validated_at(state), word) if aging and not fact.denied else "",
        session="" if memory.scope is Scope.LONG_TERM else memory.session or "",
        denied=fact.denied,
        called=fact.called,
        unconfirmed_since=unconfirmed_since(state) if aging or (is_unanswered(state, policy) and not has_ended) else "",
    )


def _when(at: Instant | None, zone: tzinfo | None) -> str:
    return "" if at is None else zone_text(at, zone)


def resting_facts(
    ctx: Context, record: Record, *, alone: bool = True, hidden: Collection[str] = ()
) -> tuple[RestingFact, ...]:
    """Return the believed facts that a memory says, of them those that nothing else does unless ``alone`` is false.

    Beside a hidden memory others count while they are in view; beside one in view until they are superseded or denied.
    Those that are to be ``hidden`` with it do not count.
    """
    now, place = ctx.clock(), record.namespace
    told = list(_said_facts(ctx, record).values())
    sources = {s.memory for fact in told for s in fact.sources}
    states = find_states(ctx, place, sorted(sources | {fact.id for fact in told}))
    in_view = {i for i, state in states.items() if state.status is Status.ACTIVE}
    over = {i for i, state in states.items() if state.status in (Status.SUPERSEDED, Status.INVALIDATED)}
    others = (in_view if record.state.status is not Status.ACTIVE else sources - over) - {record.id, *hidden}
    current = [fact for fact in told if fact.id in in_view and not fact.has_ended(now)]
    resting = [fact.id for fact in current if not (alone and _has_source_in(fact, others))]
    return tuple(RestingFact(r.id, r.content.text) for r in find_records(ctx, place, resting))


def said_by(ctx: Context, record: Record) -> tuple[tuple[SayingMemory, ...], int]:
    """Return the newest notes and messages in view that say a fact, oldest first, and how many others do."""
    place = record.namespace
    found = list(find_documents(ctx, place, Shelf.FACT, [record.id]))
    if not found:
        return (), 0
    fact = Fact.from_data(record.id, found[0].data)
    records = find_records(ctx, place, sorted({s.memory for s in fact.sources}))
    saying = [r for r in records if r.state.status is Status.ACTIVE]
    words = FactWords.of(fact, record.content.text)
    return newest(saying, {r.id for r in saying if _says_more(ctx, r, [words])})


def saying_facts_of(ctx: Context, record: Record, others: Sequence[Record]) -> dict[str, bool]:
    """Return memory -> whether it says more, of those that say a fact of another one and are in view.

    These are the sources of its facts, and those of ``others`` of which a sentence has a value and whom that is said
    of. Nobody links messages to the facts that others hand over.
    """
    place = record.namespace
    if not (facts := _said_facts(ctx, record)):
        return {}
    texts = {r.id: r.content.text for r in find_records(ctx, place, sorted(facts))}
    words = [FactWords.of(fact, texts.get(i, "")) for i, fact in facts.items()]
    sources = {s.memory for fact in facts.values() for s in fact.sources} - {record.id}
    known = {r.id for r in others}
    rest = find_records(ctx, place, sorted(sources - known))
    saying = [r for r in others if r.id in sources or any(w.is_told_in(r.content.text) for w in words)]
    saying += [r for r in rest if r.state.status is Status.ACTIVE]
    return {r.id: _says_more(ctx, r, words) for r in saying}


def _said_facts(ctx: Context, record: Record) -> dict[str, Fact]:
    said = derived_from(ctx, record.namespace, [record.id]).get(record.id, [])
    return facts_of(ctx, record.namespace, sorted(said))


def _says_more(ctx: Context, record: Record, facts: Sequence[FactWords]) -> bool:
    """Return whether a memory says more than some facts, which are believed no longer."""
    return bool(resting_facts(ctx, record, alone=False)) or says_more(record.content.text, facts)


def _has_source_in(fact: Fact, memories: Collection[str]) -> bool:
    return any(source.memory in memories for source in fact.sources)


def fact_reasons(ctx: Context, memory: MemoryItem, history: Sequence[JournalEntry], now: Instant) -> FactReasons | None:
    """Return why a fact is believed or not; None of what is no fact."""
    documents, place = ctx.store.documents, memory.namespace
    stored = documents.find(place, Shelf.FACT, [memory.id])
    if not stored:
        return None
    fact = Fact.from_data(memory.id, stored[0].data)
    sources = ctx.store.get(place, list(dict.fromkeys(s.memory for s in fact.sources))) if fact.sources else []
    conflicts = [
        *documents.find(place, Shelf.CONFLICT, [memory.id]),
        *documents.find_named(place, Shelf.CONFLICT, [memory.id]),
    ]
    return explain_fact(
        memory,
        fact,
        sources={r.id: r for r in sources},
        history=history,
        conflicts=[_as_it_stands(ctx, place, c) for c in conflicts],
        checks=documents.find(place, Shelf.CHECK, [memory.id]),
        policy=ctx.policy,
        now=now,
    )


def _as_it_stands(ctx: Context, namespace: str, conflict: Document) -> Document:
    """Return a conflict that is open on paper as lapsed while one side of it is hidden."""
    sides = [conflict.id, conflict.name]
    if conflict.data.get("outcome") != "open" or open_conflicts(ctx, namespace, sides[:1]).get(sides[0], []).count(
        sides[1]
    ):
        return conflict
    return replace(conflict, data={**conflict.data, "outcome": "lapsed"})
