"""Answer sheets: everything that is known about one question, and how far it may be relied on."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from perdure.knowledge.extraction.dates import MONTHS
from perdure.knowledge.extraction.entity_names import Names, names_in, normal_name
from perdure.knowledge.extraction.references import USER
from perdure.knowledge.languages import WORDS
from perdure.knowledge.operations.alias_index import names_of
from perdure.knowledge.operations.doubted_facts import doubts_of
from perdure.knowledge.operations.entity_summaries import SOURCE as SUMMARIZED
from perdure.knowledge.operations.fact_recall import open_conflicts, outdated_messages
from perdure.knowledge.operations.facts import fact_lines, facts_about
from perdure.knowledge.operations.forgotten import with_forgotten
from perdure.knowledge.operations.ports import resources
from perdure.knowledge.records.results import AnswerSheet, FactLine, SheetEntry, SheetQuote
from perdure.knowledge.rules.answer_sheets import fit_sheet
from perdure.knowledge.rules.fact_answers import (
    ANSWERS,
    SheetQuestion,
    answers,
    behind_interrupting,
    cosines,
    missing_words,
    names_one,
    outdated_facts,
    parse_question,
    relevance,
    says_more,
    select_facts,
    with_successors,
)
from perdure.knowledge.rules.fact_records import FactState, fact_at, fact_text, with_bounded_starts, word_of
from perdure.knowledge.rules.set_phrases import without_set_phrases
from perdure.operations.corrections import with_unfound_corrections
from perdure.operations.documents import derived_from, find_documents, find_documents_named, find_records, find_states
from perdure.operations.forgotten_memories import is_forgotten
from perdure.operations.ports import Context
from perdure.operations.recall import embed_query, recall
from perdure.operations.undone_since import undone_since
from perdure.records.instant import text_of
from perdure.records.memory import Kind, MemoryItem, Record, Scope, Shelf, Status
from perdure.records.recall import Filters, Hit
from perdure.rules.language.words import query_words
from perdure.rules.last_said import said_at
from perdure.rules.lifecycle.confirmation import FEW

HITS: Final = 12
BUDGET: Final = 1000
LIKENESS: Final = 0.3  # what the cosine of a fact with the question counts beside the question's words that it holds


@dataclass(frozen=True, slots=True)
class _Found:
    """What was found about a question: other memories best first, and facts that hold, and of the past."""

    question: SheetQuestion
    memories: list[MemoryItem]
    facts: list[FactLine]
    past: list[FactLine]
    records: dict[str, Record]
    held: dict[str, float]
    doubts: dict[str, list[Record]]  # fact -> the statements that put it in doubt, oldest first
    looks_back: bool

    @property
    def shown_facts(self) -> list[FactLine]:
        """All facts on the sheet."""
        return [*self.facts, *self.past]

    def quotable(self, fact: FactLine) -> list[tuple[str, str]]:
        """Return the memories that say a fact, each with the words, without those that are not in view.

        What was superseded is quoted where the fact is out of date as well, or another time is asked about.
        """
        hidden = {Status.ARCHIVED, Status.INVALIDATED}
        if fact in self.facts and not self.looks_back:
            hidden.add(Status.SUPERSEDED)
        return [
            (m, words)
            for m, words in fact.sources
            if m not in self.records or self.records[m].state.status not in hidden
        ]


def answer_sheet(ctx: Context, namespace: str, query: str, budget: int | None, filters: Filters) -> AnswerSheet:
    """Return what is known about a question, at most ``budget`` tokens of it; does not count as an access.

    The same store, question and instant give the same sheet. Of the filters only ``as_of`` and ``known_at`` count.
    """
    then = Filters(isolated=True, as_of=filters.as_of, known_at=filters.known_at)
    search = _Search(ctx, namespace, names_of(ctx, namespace), then)
    found = search.gather(query)
    words = {f.id: word_of(f.trust, _operations_of(ctx, namespace, f.id)) for f in found.shown_facts if not f.sources}
    entries = {f.id: _entry(f, found.quotable(f), found.records, words.get(f.id, "")) for f in found.shown_facts}
    entries |= {i: replace(entries[i], later=_quotes(some)) for i, some in found.doubts.items()}
    rivals = _groups(found.facts)
    against = {i for group in rivals for i in group}
    told = [_newest(group, entries) for group in rivals]
    in_doubt = {*found.doubts, *(f.id for f in found.facts if f.interrupted)}
    doubted = [f.id for f in found.facts if f.id in in_doubt - against]
    plain = [f for f in found.facts if f.id not in against and f.id not in in_doubt]
    quoted = [quote for entry in entries.values() for quote in (*entry.sources, *entry.later)]
    words = {q.memory: " | ".join(other.words for other in quoted if other.memory == q.memory) for q in quoted}
    sheet = AnswerSheet(
        query,
        namespace,
        known=tuple(entries[f.id] for f in plain if not f.unconfirmed_since),
        aging=tuple(entries[f.id] for f in plain if f.unconfirmed_since),
        doubted=tuple(entries[i] for i in doubted),
        contested=tuple(tuple(entries[i] for i in group) for group in told),
        contested_more=tuple(len(group) - len(some) for group, some in zip(rivals, told, strict=True)),
        outdated=tuple(entries[f.id] for f in found.past),
        memories=tuple(_memory(m) for m in found.memories if says_more(m.content, words.get(m.id), found.question)),
        unknown=(*_unknown(ctx, found, search.names), *_undone(ctx, namespace, then)),
        as_of="" if then.as_of is None else text_of(then.as_of),
        known_at="" if then.known_at is None else text_of(then.known_at),
    )
    return fit_sheet(sheet, BUDGET if budget is None else budget, ctx.tokens, _opening_section(sheet, found))


def _undone(ctx: Context, namespace: str, then: Filters) -> tuple[str, ...]:
    undone = undone_since(ctx, namespace, then.known_at)
    return (f"{undone[:1].upper()}{undone[1:]}.",) if undone else ()


def _opening_section(sheet: AnswerSheet, found: _Found) -> str:
    """Return the section that answers: that of the best fact."""
    best = found.facts[0].id if found.facts else ""
    if best in {i for group in _groups(found.facts) for i in group}:
        return "contested"
    return next((name for name in ("doubted", "aging") if any(s.id == best for s in getattr(sheet, name))), "known")


# --- finding


@dataclass(frozen=True, slots=True)
class _Search:
    """Looks for what is known about a question, as of ``then``."""

    ctx: Context
    namespace: str
    names: Names
    then: Filters

    def gather(self, query: str) -> _Found:
        """Return what belongs on the sheet of a question."""
        answer, question = self._hits(query), self._question(query)
        hits = [h.memory for h in answer]
        documents = self.ctx.store.documents
        near = self._facts_near(hits)
        about = documents.find(self.namespace, Shelf.ABOUT, near)
        holding, over = self._shared_facts(sorted({self.names.current_entity(d.name) for d in about} | question.named))
        names = query_words(" ".join(question.forms)) if question.strict else ()
        meaning_of = resources(self.ctx).predicates.asked_predicates
        words = {w: meaning_of([w]) for w in query_words(question.query) if w not in names}
        held = relevance(holding, over, words, question.speaker)
        alike = self._alike(query, held)
        held = {i: h + LIKENESS * alike.get(i, 0.0) for i, h in held.items()}
        facts = select_facts(holding, near, question, held)
        facts = behind_interrupting(facts, holding)
        facts, past = with_successors(facts, outdated_facts(over, facts, question), holding, over)
        sources = sorted({memory for f in (*facts, *past) for memory, _ in f.sources})
        records = {r.id: r for r in find_records(self.ctx, self.namespace, sources)}
        fact_ids = {d.id for d in about} | {f.id for f in (*holding, *over)}  # a fact that is left out is no memory
        memories = self._not_of_others([m for m in hits if m.id not in fact_ids], question)
        doubts = {} if self.then.looks_back else self._doubts(answer, facts)
        return _Found(question, memories, facts, past, records, held, doubts, self.then.looks_back)

    def _doubts(self, hits: Sequence[Hit], facts: Sequence[FactLine]) -> dict[str, list[Record]]:
        """Return fact -> the statements in view that put it in doubt, oldest first, of those that have any."""
        ids = {f.id for f in facts}
        pairs = {(later, h.memory.id) for h in hits if h.memory.id in ids for later in h.newer}
        listed = doubts_of(self.ctx, self.namespace, facts, self.then)
        pairs |= {(later, fact) for fact, some in listed.items() for later in some}
        pairs -= {(later, f.id) for f in facts if f.interrupted for later in f.interrupted.by}
        later = find_records(self.ctx, self.namespace, sorted({i for i, _ in pairs}))
        seen = [r for r in later if r.state.status is Status.ACTIVE and self.then.sees(r.state.scope, None)]
        seen.sort(key=lambda r: (said_at(r.state), r.id))
        found = {fact: [r for r in seen if (r.id, fact) in pairs] for fact in ids}
        return {fact: some for fact, some in found.items() if some}

    def _hits(self, query: str) -> list[Hit]:
        """Return what a recall finds, without what is out of date and without summaries of entities.

        What a later message says otherwise is no answer; asked about another time, it may be just that. What sums up an
        entity stands on the sheet itself, with its current confidence.
        """
        found: Sequence[Hit] = recall(self.ctx, query, self.namespace, HITS, self.then, touch=False).hits
        if not self.then.looks_back and any(h.memory.kind is Kind.FACT for h in found):
            found = with_unfound_corrections(self.ctx, self.namespace, found, query, self.then)
        outdated = self._outdated_messages(found) if not self.then.looks_back else frozenset[str]()
        hits = [h for h in found if h.memory.id not in outdated]
        return [h for h in hits if (h.memory.kind, h.memory.source) != (Kind.SUMMARY, SUMMARIZED)]

    def _facts_near(self, hits: Sequence[MemoryItem]) -> list[str]:
        """Return the facts that a recall found, and those of the messages that it found, best first."""
        by_message = derived_from(self.ctx, self.namespace, [m.id for m in hits])
        near = [i for m in hits for i in ([m.id] if m.kind is Kind.FACT else by_message.get(m.id, ()))]
        return list(dict.fromkeys(near))

    def _alike(self, query: str, facts: Collection[str]) -> dict[str, float]:
        vector = embed_query(self.ctx, query)[0].vector
        if vector is None or not facts:
            return {}
        return cosines(vector, self.ctx.store.vectors(self.namespace, list(facts)))

    def _outdated_messages(self, hits: Sequence[Hit]) -> frozenset[str]:
        """Return the messages of which nothing holds any longer; one with a fact that still holds may answer."""
        facts = {h.memory.id for h in hits if h.memory.kind is Kind.FACT}
        partly = [h.memory.id for h in hits if h.updated_by in facts]
        still = set(partly) - outdated_messages(self.ctx, self.namespace, partly).keys()
        return frozenset(h.memory.id for h in hits if h.updated_by and h.memory.id not in still)

    def _question(self, query: str) -> SheetQuestion:
        names = self.names
        known = find_documents_named(self.ctx, self.namespace, Shelf.ALIAS, names_in(query))
        called: dict[str, set[str]] = {names.current_entity(d.id): set() for d in known}
        for form, ids in names.known.items():
            for entity in called.keys() & set(map(names.current_entity, ids)):
                called[entity].add(form)
        user = names.current_entity(USER) if USER in names.entities else None
        return parse_question(without_set_phrases(query), called, user, resources(self.ctx).predicates.asked_predicates)

    def _shared_facts(self, subjects: Sequence[str]) -> tuple[list[FactLine], list[FactLine]]:
        """Return the facts about some entities that hold, and those that do not any longer.

        Only what everybody may see: the facts of a session are left to it.
        """
        ctx, place = self.ctx, self.namespace
        some = {fact.id: fact for fact in facts_about(ctx, place, self.names, subjects)}
        states = find_states(ctx, place, some)
        shared = [f for i, f in some.items() if i in states and states[i].scope is Scope.LONG_TERM]
        known = some
        if self.then.looks_back:
            known = with_forgotten(ctx, place, with_bounded_starts(some, some.values(), states), states)
        holding: list[FactLine] = []
        over: list[FactLine] = []
        faded: list[FactLine] = []
        for line in fact_lines(ctx, place, shared, self.names, self.then):
            found = fact_at(line, known[line.id], states[line.id], self.then, ctx.policy.days.tz)
            if found is not None:
                archived = found[0].state == FactState.ARCHIVED
                (holding if found[1] else faded if archived else over).append(found[0])
        valid = [some[f.id] for f in holding]
        faded = [f for f in faded if not any(some[f.id].key == o.key and some[f.id].contradicts(o) for o in valid)]
        # What a person put away is shown no more.
        holding += [f for f in faded if f.unconfirmed_since and not is_forgotten(ctx, place, f.id)]
        if self.then.known_at is None or not holding:
            return holding, over
        # Two that were both believed then were in conflict then, whatever came of it.
        rivals = open_conflicts(ctx, place, [f.id for f in holding], settled=True)
        return [replace(f, contested=tuple(rivals.get(f.id, ()))) for f in holding], over

    def _not_of_others(self, memories: Sequence[MemoryItem], question: SheetQuestion) -> list[MemoryItem]:
        """Return memories, where the question names somebody without those that only say something about others."""
        rest = [m.id for m in memories if not _is_about(m, question)] if question.strict else []
        by_message = derived_from(self.ctx, self.namespace, rest)
        facts = {fact for some in by_message.values() for fact in some}
        about = find_documents(self.ctx, self.namespace, Shelf.ABOUT, sorted(facts))
        own = {d.id for d in about if self.names.current_entity(d.name) in question.named}
        return [m for m in memories if m.id not in by_message or not own.isdisjoint(by_message[m.id])]


def _is_about(memory: MemoryItem, question: SheetQuestion) -> bool:
    return normal_name(memory.speaker or "") in question.forms or names_one(memory.content, question)


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


def _newest(group: Sequence[str], entries: Mapping[str, SheetEntry]) -> list[str]:
    """Return the sides of a conflict in their order; of very many the newest, the newest last."""
    if len(group) <= FEW:
        return list(group)
    return sorted(group, key=lambda i: (entries[i].since, i))[-FEW:]


def _operations_of(ctx: Context, namespace: str, identity: str) -> set[str]:
    return {entry.operation for entry in ctx.store.journal(namespace, identity)}


def _entry(f: FactLine, quotable: Sequence[tuple[str, str]], records: Mapping[str, Record], word_of: str) -> SheetEntry:
    told_as_past = f.state == FactState.SUPERSEDED and f.believed_from == f.believed_to and not f.superseded_by
    only_end = f.valid_from == f.valid_to and _day(f.valid_to) < _day(f.believed_from)
    return SheetEntry(
        id=f.id,
        kind=Kind.FACT.value,
        says=fact_text(f.name, f.shown_predicate, f.value, denied=f.denied),
        confidence=f.confidence,
        state=f.state,
        since="" if only_end else _day(f.valid_from),
        until=_day(f.valid_to),
        retired="" if told_as_past else _day(f.believed_to),
        sources=tuple(_quote(memory, words, records) for memory, words in quotable),
        replaced_by=f.superseded_by,
        question=f.question,
        unconfirmed_since=f.unconfirmed_since,
        word_of=word_of,
        interrupted=f.interrupted,
    )


def _quote(memory: str, words: str, records: Mapping[str, Record]) -> SheetQuote:
    record = records.get(memory)
    if record is None:
        return SheetQuote(memory, "", "", words)
    return SheetQuote(memory, _day(text_of(record.state.created_ms)), record.content.speaker or "", words)


def _quotes(records: Sequence[Record]) -> tuple[SheetQuote, ...]:
    known = {r.id: r for r in records}
    return tuple(_quote(r.id, r.content.text, known) for r in records)


def _memory(m: MemoryItem) -> SheetEntry:
    day = _day(text_of(m.state.created_ms))
    source = SheetQuote(m.id, day, m.speaker or "", m.content)
    return SheetEntry(m.id, m.kind.value, m.content, m.confidence, m.status.value, day, sources=(source,))


def _unknown(ctx: Context, found: _Found, names: Names) -> tuple[str, ...]:
    """Return what is not known, in sentences: about whom nothing answers, and which words nothing covers."""
    question, meaning_of = found.question, resources(ctx).predicates.asked_predicates
    texts = [t for m in found.memories for t in (m.content, m.speaker or "", _calendar(m.state.created_ms))]
    texts += [
        f"{f.name} {f.predicate.replace('_', ' ')} {f.value} {_calendar_of(f.valid_from)}" for f in found.shown_facts
    ]
    texts += [words for f in found.shown_facts for _, words in found.quotable(f)]
    sentences = [_nothing_sure(names.entity(e).name, e, found.facts) for e in _unanswered_entities(found, names)]
    if not texts:
        then = (
            "answers this question for the time that is asked about" if found.looks_back else "is about this question"
        )
        summary = " ".join(sentences) or f"Nothing that is stored {then}."
        return (f"{summary} Do not guess.",)
    if words := missing_words(question, texts, found.shown_facts, meaning_of):
        sentences.append(f"Nothing above holds the words: {', '.join(words)}.")
    return tuple(sentences)


def _unanswered_entities(found: _Found, names: Names) -> list[str]:
    """Return the named entities about whom no fact is sure to answer; who is only named is asked about as a whole."""
    question = found.question
    answering = [f for f in found.facts if found.held[f.id] >= ANSWERS or answers(f, question)]
    if not question.strict or any(names_one(f.value, question) for f in answering):
        return []
    known = answering if question.words else found.facts
    subjects = {f.subject for f in known}
    called = {normal_name(f.name) for f in known}
    missing = question.named - subjects
    return sorted(e for e in missing if not any(_calls(n, names.entity(e).name, question) for n in called))


def _calls(whole: str, name: str, question: SheetQuestion) -> bool:
    """Whether a name in the question is a part of another's whole one: it stands there, or only has a title more."""
    part = normal_name(name)
    if f" {part} " not in f" {whole} ":
        return False
    return whole in question.forms or {*whole.split()} <= {*part.split(), *WORDS["titles"]}


def _nothing_sure(name: str, entity: str, facts: Sequence[FactLine]) -> str:
    """Return the sentence about an entity of which no fact is sure to answer; what is on the sheet yet may."""
    if any(f.subject == entity for f in facts):
        return f"What is known about {name} may not answer this."
    return f"No fact is believed that answers this about {name}."


def _calendar(at: int) -> str:
    return _calendar_of(text_of(at))


def _calendar_of(moment: str) -> str:
    """Return a day in words, as questions ask for it: "2023 december 8"."""
    year, _, rest = _day(moment).partition("-")
    month, _, day = rest.partition("-")
    return f"{year} {MONTHS[int(month) - 1]} {int(day)}" if day else ""


def _day(moment: str) -> str:
    return moment.partition(" ")[0]
