"""What a recall needs to know of facts and procedures: about whom it names, what is asked, what follows what."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Final

from perdure.knowledge.extraction.entity_names import names_in
from perdure.knowledge.extraction.references import USER
from perdure.knowledge.operations.change_rates import known_rates
from perdure.knowledge.operations.forgotten import with_forgotten
from perdure.knowledge.operations.interrupted_facts import interrupted_by_memory
from perdure.knowledge.operations.over_facts import over_facts
from perdure.knowledge.operations.ports import resources
from perdure.knowledge.operations.replaced_talk import over_talk
from perdure.knowledge.records.authority import CitationState
from perdure.knowledge.records.facts import Fact
from perdure.knowledge.rules.fact_records import learned_confidence, with_bounded_starts
from perdure.knowledge.rules.over_facts import OutdatedFacts, settled_between
from perdure.knowledge.rules.procedures import Procedure
from perdure.operations.documents import (
    all_documents,
    find_documents,
    find_documents_named,
    find_states,
    pages,
    successors,
    whose_words,
)
from perdure.operations.ports import Context
from perdure.records.instant import Instant, day_at
from perdure.records.memory import STANDS_FOR, Form, Kind, MemoryItem, Scope, Shelf, State, Status, Trust
from perdure.records.recall import Filters, Hit
from perdure.rules.lifecycle.confirmation import answers_to, confirmation_question, without_begun_day
from perdure.rules.lifecycle.digest_lines import LONGEST_LINE
from perdure.rules.lifecycle.stale_facts import validated_at
from perdure.rules.presentation import believed_first, facts_first
from perdure.rules.source_trust import stored_trust

_MOST_SAID: Final = 1000  # facts, those learned last, whose words notes are held against
_TAKEN_BACK: Final = (Status.SUPERSEDED, Status.INVALIDATED)
_WORD: Final = re.compile(r"\w+")


def outdated_messages(ctx: Context, namespace: str, messages: Sequence[str]) -> dict[str, str]:
    """Return message or note -> what stands in the place of what it said, where none of its facts holds any longer.

    That is the newer fact; the message's own, no longer believed, where nothing took its place.
    """
    return {m: over.instead for m, over in over_facts(ctx, namespace, messages).items() if over.is_whole}


def hidden_beside(known: Mapping[str, OutdatedFacts], notes: Sequence[MemoryItem], shown: Collection[str]) -> set[str]:
    """Return the notes that are over, or of which only facts hold that are ``shown``, and the facts that others say.

    So what still holds is shown once: in the words of its note, or where these say more that is over, as a fact. A note
    that is too long to be shown whole, or of which something is over, hides none of its facts.
    """
    own = {note.id: known[note.id] for note in notes if note.id in known}
    brief = {note.id for note in notes if len(note.content) <= LONGEST_LINE}
    hidden = {
        note for note, over in own.items() if over.is_whole or (over.is_told and over.current_facts <= set(shown))
    }
    return hidden | {fact for note, over in own.items() if note in brief and not over.facts for fact in over.says}


def outdated_notes(ctx: Context, namespace: str, notes: Sequence[MemoryItem]) -> dict[str, str]:
    """Return note -> what stands in the place of what it says, where a fact of its words is not believed any longer.

    A note that holds the words of a fact that is believed is not among them. The facts of a session are left to it.
    """
    forms = sorted({form for note in notes for form in names_in(note.content)})
    documents = ctx.store.documents
    known = documents.find_named(namespace, Shelf.ALIAS, forms) if forms else []
    about = documents.find_named(namespace, Shelf.ABOUT, sorted({USER, *(d.id for d in known)})) if notes else []
    facts = documents.find(namespace, Shelf.FACT, sorted({d.id for d in about})[-_MOST_SAID:]) if about else []
    said, now = [Fact.from_data(d.id, d.data) for d in facts], ctx.clock()
    holding = {fact.id for fact in said if fact.retired is None and not fact.has_ended(now)}
    quotes = [(_words(source.span.quote), fact.id) for fact in said for source in fact.sources]
    last: dict[str, str] = {}
    for note in notes:
        words = _words(note.content)
        quoted = {fact for quote, fact in quotes if quote in words}
        if quoted and holding.isdisjoint(quoted):
            last[note.id] = max(quoted)
    found = _in_their_places(ctx, namespace, last)
    states = ctx.store.states(namespace, sorted(set(found.values()))) if found else {}
    shared = {i for i, (state, _) in states.items() if state.scope is Scope.LONG_TERM}
    return {note: fact for note, fact in found.items() if fact in shared}


def outdated_summaries(ctx: Context, namespace: str, summaries: Sequence[str]) -> dict[str, str]:
    """Return summary -> what stands in the place of something that it sums up and that no longer holds.

    Its text was made of all that it sums up, so it is over with the first of them, until it is rewritten.
    """
    sources: dict[str, set[str]] = {}
    for page in pages(summaries):
        own = set(page)
        for summary, kind, other in ctx.store.links_at(namespace, page):
            if kind == STANDS_FOR and summary in own:
                sources.setdefault(other, set()).add(summary)
    states, now = find_states(ctx, namespace, sorted(sources)), ctx.clock()
    over = {i for i, state in states.items() if state.status in _TAKEN_BACK}
    facts = [i for i, state in states.items() if state.kind is Kind.FACT and i not in over]
    over |= {i for i, fact in facts_of(ctx, namespace, facts).items() if fact.has_ended(now)}
    newest = {summary: source for source in sorted(over) for summary in sources[source]}
    return _in_their_places(ctx, namespace, newest)


def _words(text: str) -> str:
    return f" {' '.join(_WORD.findall(text.casefold()))} "


def _in_their_places(ctx: Context, namespace: str, last: Mapping[str, str]) -> dict[str, str]:
    """Return memory -> what took the place of the one that is given for it."""
    later = successors(ctx, namespace, last.values()) if last else {}
    return {memory: later[gone] for memory, gone in last.items()}


_MOST_FACTS: Final = 200  # facts about those whom a question names that are looked at


def facts_of_named(ctx: Context, namespace: str, text: str, filters: Filters) -> dict[str, str]:
    """Return id -> words of the facts that are believed about those whom a question names by a known name.

    Of very many only those learned last are looked at. A question that is limited otherwise than by kind and
    confidence is left to the searches.
    """
    others = replace(filters, kinds=(), min_confidence=0.0, isolated=False, inside=None)
    if others != Filters() or (filters.kinds and Kind.FACT not in filters.kinds):
        return {}
    ids = _ids_named_in(ctx, namespace, names_in(text))
    states = ctx.store.states(namespace, ids) if ids else {}
    believed = [i for i in ids if i in states and _is_open(states[i][0])]
    return {r.id: r.content.text for r in ctx.store.get(namespace, believed)}


def _ids_about(ctx: Context, namespace: str, messages: Sequence[MemoryItem]) -> list[str]:
    """Return the facts, those learned last, about those whom short messages name, whether or not they are believed."""
    texts = [m.content for m in messages if len(m.content) <= LONGEST_LINE]
    return _ids_named_in(ctx, namespace, sorted({form for text in texts for form in names_in(text)}))


def _ids_named_in(ctx: Context, namespace: str, forms: Sequence[str]) -> list[str]:
    known = ctx.store.documents.find_named(namespace, Shelf.ALIAS, forms) if forms else []
    entities = sorted({d.id for d in known})
    about = ctx.store.documents.find_named(namespace, Shelf.ABOUT, entities) if entities else []
    return sorted({d.id for d in about})[-_MOST_FACTS:]


def _is_open(state: State) -> bool:
    """Whether a fact is believed, and for all to see."""
    return state.status is Status.ACTIVE and state.scope is Scope.LONG_TERM


def mark_facts(ctx: Context, namespace: str, hits: list[Hit], filters: Filters) -> list[Hit]:
    """Return hits, the facts among them with how sure they are, what is to be asked, and what contradicts them.

    A summary of something that is over is left out, unless another time is asked about.
    """
    summaries = [] if filters.looks_back else [h.memory.id for h in hits if h.memory.kind is Kind.SUMMARY]
    over = outdated_summaries(ctx, namespace, summaries) if summaries else {}
    hits = [h for h in hits if h.memory.id not in over]
    says: dict[str, frozenset[str]] = {}
    if _may_be_over(ctx, namespace, hits):
        hits, says = _mark_over(ctx, namespace, hits, filters)
    hits = _mark_conflicts(ctx, namespace, hits, {} if filters.looks_back else says, filters.then)
    hits = _mark_interrupted(ctx, namespace, hits, says, filters)
    if resources(ctx).witnesses:
        hits = _mark_citations(ctx, namespace, hits)
    ids = [h.memory.id for h in hits if h.memory.kind is Kind.FACT]
    if not ids:
        return hits
    documents = ctx.store.documents
    stored = {d.id: d.data for d in documents.find(namespace, Shelf.FACT, ids)}
    known = {i: Fact.from_data(i, data) for i, data in stored.items()}
    aging = {h.memory.id for h in hits if h.memory.aging}
    words = whose_words(ctx, namespace, {i: data for i, data in stored.items() if i in aging})
    rates, now = known_rates(ctx, namespace), ctx.clock()
    today = day_at(now, ctx.policy.days.tz)
    short = [h.memory.id for h in hits if h.memory.id in ids and h.memory.aging and h.memory.form is not Form.FULL]
    whole = {r.id: r.content.text for r in ctx.store.get(namespace, short)} if short else {}
    texts = {m.id: replace(m, content=whole.get(m.id, m.content)) for m in (h.memory for h in hits)}
    asked = {i: without_begun_day(texts[i], today).content for i in ids}
    return [
        _mark_fact(h, known.get(i), rates, now, asked[i], words.get(i)) if i in ids else h
        for h in hits
        for i in (h.memory.id,)
    ]


def _mark_over(
    ctx: Context, namespace: str, hits: list[Hit], then: Filters
) -> tuple[list[Hit], dict[str, frozenset[str]]]:
    """Return hits, notes and messages with what of them holds no longer, and facts before what they took the place of.

    What took the place of a part of a message stands before it, too. Such a message counts as updated if it says no
    more than its facts, which are known. Beside the hits: note or message -> the facts that it says.
    """
    facts = {h.memory.id for h in hits if h.memory.kind is Kind.FACT}
    notes = [h.memory for h in hits if h.memory.kind is Kind.NOTE]
    messages = [h.memory for h in hits if h.memory.kind is Kind.EPISODE]
    over = over_facts(ctx, namespace, [m.id for m in (*messages, *notes)], then)
    if not then.looks_back:
        talk = [m for m in messages if m.id not in over]
        believed = facts.union(*(said.current_facts | said.later_facts for said in over.values()))
        over |= over_talk(ctx, namespace, talk, believed.union(_ids_about(ctx, namespace, talk)))
    whole = {i: o.instead for i, o in over.items() if o.is_whole}
    if _learns(ctx):
        whole |= outdated_notes(ctx, namespace, [note for note in notes if note.id not in over])
    partly = {m.id: f.replaced_by for m in messages if m.id in over for f in over[m.id].facts if f.replaced_by in facts}
    since, said = {**partly, **whole}, {i: o.facts for i, o in over.items()}
    marked = [
        replace(h, updated_by=since.get(h.memory.id), over=said.get(h.memory.id, ())) if over or whole else h
        for h in hits
    ]
    if plans := {i: o for i, o in over.items() if o.begins}:
        marked = [_mark_plan(h, plans, over) for h in marked]
    ordered = facts_first(believed_first(marked, settled_between(over, whole, [h.memory.id for h in hits])))
    says_more = partly.keys() - whole.keys() - {i for i in partly if over[i].is_told}
    hits = [replace(h, updated_by=None) if h.memory.id in says_more else h for h in ordered]
    return hits, {i: o.says for i, o in over.items()}


def _mark_interrupted(
    ctx: Context, namespace: str, hits: list[Hit], says: Mapping[str, Collection[str]], then: Filters
) -> list[Hit]:
    """Return hits, the facts and what says them with what of them is interrupted."""
    own = {h.memory.id: (h.memory.id,) if h.memory.kind is Kind.FACT else says.get(h.memory.id, ()) for h in hits}
    found = interrupted_by_memory(ctx, namespace, own, then)
    return [replace(h, interrupted=found[h.memory.id]) if h.memory.id in found else h for h in hits]


def _mark_plan(hit: Hit, plans: Mapping[str, OutdatedFacts], over: Mapping[str, OutdatedFacts]) -> Hit:
    """Return a hit with the day on which what it says begins; what begins later is no newer word about others."""
    if (own := plans.get(hit.memory.id)) is None:
        newer, differs = (tuple(i for i in ids if i not in plans) for ids in (hit.newer, hit.differs))
        return replace(hit, newer=newer, differs=differs)
    until = (i for i, o in over.items() if not o.until.isdisjoint(own.says) and i != hit.memory.id)
    return replace(hit, upcoming=own.begins, older=tuple(dict.fromkeys((*hit.older, *until))))


def _mark_conflicts(
    ctx: Context, namespace: str, hits: list[Hit], says: Mapping[str, frozenset[str]], then: Instant | None
) -> list[Hit]:
    """Return hits with what they are in open conflict with: another hit that says so, or a fact that is no hit.

    ``says`` has note or message -> the facts that it says.
    """
    facts = {hit.memory.id: frozenset([hit.memory.id]) for hit in hits if hit.memory.kind is Kind.FACT}
    rivals = open_conflicts(ctx, namespace, sorted({*facts}.union(*says.values())), at=then)
    if not rivals:
        return hits
    notes = _notes_by_fact(hits, says)
    marked: list[Hit] = []
    for hit in hits:
        is_fact = hit.memory.id in facts
        own = sorted((facts if is_fact else says).get(hit.memory.id, ()))
        against = dict.fromkeys(i for fact in own for i in rivals.get(fact, ()))
        others = (i for r in against for i in ([r] if is_fact and r in facts else notes.get(r, [r])))
        marked.append(replace(hit, contested_with=tuple(dict.fromkeys((*hit.contested_with, *others)))))
    return marked


def _notes_by_fact(hits: Sequence[Hit], says: Mapping[str, frozenset[str]]) -> dict[str, list[str]]:
    """Return fact -> the notes and messages among hits that say it, of those that hold."""
    found: dict[str, list[str]] = {}
    for hit in hits:
        for fact in () if hit.updated_by else says.get(hit.memory.id, ()):
            found.setdefault(fact, []).append(hit.memory.id)
    return found


def _may_be_over(ctx: Context, namespace: str, hits: Sequence[Hit]) -> bool:
    """Whether there are facts; a policy that learns none asked before it came here."""
    has_facts = not _learns(ctx) or any(h.memory.kind is Kind.FACT for h in hits)
    return has_facts or bool(ctx.store.documents.page(namespace, Shelf.FACT, ("", ""), 1))


def _learns(ctx: Context) -> bool:
    return ctx.policy.knowledge.learn != "off"


def _mark_citations(ctx: Context, namespace: str, hits: list[Hit]) -> list[Hit]:
    """Return hits; those that cite what has moved or is gone with what the working tree showed when last looked at."""
    checks = ctx.store.documents.find(namespace, Shelf.CHECK, [h.memory.id for h in hits])
    questions = {
        d.id: f"When {d.name} was last looked at: {d.data['evidence']}. Is it still right?"
        for d in checks
        if d.name in resources(ctx).witnesses and d.data.get("outcome") in (CitationState.MOVED, CitationState.STALE)
    }
    answers = answers_to(is_fact=False)
    return [
        replace(h, question=questions[h.memory.id], answers=answers) if h.memory.id in questions else h for h in hits
    ]


def _mark_fact(
    hit: Hit, fact: Fact | None, rates: dict[str, float], now: Instant, asked: str, word: Trust | None
) -> Hit:
    """Return a fact that was found with what is known of it; a person is ``asked`` about its whole text."""
    memory = hit.memory if fact is None else with_learned_rate(hit.memory, fact, rates, now)
    if fact is not None and fact.has_ended(now):  # nobody need confirm it
        memory = replace(memory, aging=False)
    is_asked = memory.aging and not (hit.interrupted or (fact is not None and (fact.asked_not or fact.denied)))
    question = hit.question
    if is_asked:
        trust = stored_trust(memory.metadata) if word is None else word
        question = confirmation_question(replace(memory, content=asked), validated_at(memory.state), trust)
    answers = answers_to(is_fact=fact is not None, is_contested=bool(hit.contested_with)) if question else ()
    return replace(hit, memory=memory, question=question, answers=answers)


def with_learned_rate(memory: MemoryItem, fact: Fact, rates: dict[str, float], now: Instant) -> MemoryItem:
    """Return a fact as sure as it is by what was learned about how fast facts of its sort change."""
    sure = learned_confidence(memory.state, fact.type, rates, now, otherwise=memory.confidence)
    return memory if sure == memory.confidence else replace(memory, confidence=sure)


def open_conflicts(
    ctx: Context, namespace: str, ids: Sequence[str], *, settled: bool = False, at: Instant | None = None
) -> dict[str, list[str]]:
    """Return fact -> those that it is in open conflict with; a conflict rests while one side is hidden, or has ended.

    With ``settled`` also those that it was in conflict with. What has ended is counted ``at`` an instant, or now.
    """
    documents = ctx.store.documents
    conflicts = [*documents.find(namespace, Shelf.CONFLICT, ids), *documents.find_named(namespace, Shelf.CONFLICT, ids)]
    found: dict[str, list[str]] = {}
    pairs = list(dict.fromkeys((d.id, d.name) for d in conflicts if settled or d.data.get("outcome") == "open"))
    if not settled:
        believed = _believed(ctx, namespace, {i for pair in pairs for i in pair}, at) if pairs else set()
        pairs = [pair for pair in pairs if believed.issuperset(pair)]
    for older, newer in pairs:
        found.setdefault(older, []).append(newer)
        found.setdefault(newer, []).append(older)
    return found


def _believed(ctx: Context, namespace: str, ids: Collection[str], at: Instant | None) -> set[str]:
    """Return those of some facts that are in view and have not ended at an instant, or now."""
    then, states = ctx.clock() if at is None else at, ctx.store.states(namespace, sorted(ids))
    shown = sorted(i for i, (state, _) in states.items() if state.status is Status.ACTIVE)
    return set(shown) - {i for i, fact in facts_of(ctx, namespace, shown).items() if fact.has_ended(then)}


def rival_values(ctx: Context, namespace: str, says: Mapping[str, Collection[str]]) -> dict[str, tuple[str, ...]]:
    """Return memory -> the values of what its facts are in open conflict with, the newest first.

    ``says`` has memory -> its facts.
    """
    rivals = open_conflicts(ctx, namespace, sorted({fact for some in says.values() for fact in some})) if says else {}
    known = facts_of(ctx, namespace, sorted({i for others in rivals.values() for i in others}))
    against = {i: sorted({o for f in facts for o in rivals.get(f, ())}, reverse=True) for i, facts in says.items()}
    values = {i: tuple(dict.fromkeys(known[o].shown_value for o in some if o in known)) for i, some in against.items()}
    return {i: some for i, some in values.items() if some}


def source_messages(ctx: Context, namespace: str, hits: Sequence[Hit]) -> dict[str, frozenset[str]]:
    """Return fact -> the messages that say it, of the facts among some hits."""
    facts = [h.memory.id for h in hits if h.memory.kind is Kind.FACT]
    documents = ctx.store.documents.find(namespace, Shelf.FACT, facts) if facts else []
    return {d.id: frozenset(s["memory"] for s in d.data["sources"]) for d in documents}


def facts_of(ctx: Context, namespace: str, memories: Sequence[str]) -> dict[str, Fact]:
    """Return memory -> the fact that it holds, of those that were learned."""
    documents = find_documents(ctx, namespace, Shelf.FACT, memories)
    return {d.id: Fact.from_data(d.id, d.data) for d in documents}


def with_known_times(
    ctx: Context, namespace: str, facts: Mapping[str, Fact], archived: Collection[str]
) -> dict[str, Fact]:
    """Return facts with what others of the same tell of their time.

    Of those that were over when they were told, without a start, that is what bounds it; of those that are
    ``archived``, whether a person put them away, and since when something else holds instead.
    """
    bounded = [f for f in facts.values() if f.retired is not None and f.valid_from == f.valid_to is not None]
    keys = {f.key for f in (*bounded, *(facts[i] for i in archived if i in facts))}
    if not keys:
        return dict(facts)
    named = find_documents_named(ctx, namespace, Shelf.FACT, sorted(keys))
    beside = [Fact.from_data(d.id, d.data) for d in named]
    states = find_states(ctx, namespace, sorted({*facts, *(f.id for f in beside)}))
    return with_forgotten(ctx, namespace, with_bounded_starts(facts, beside, states), states)


def known_procedures(ctx: Context, namespace: str) -> list[Procedure]:
    """Return the procedures of a namespace that hold and are in view: what ``widen`` takes."""
    found = {d.id: Procedure.from_document(d) for d in all_documents(ctx, namespace, Shelf.PROCEDURE)}
    states = ctx.store.states(namespace, list(found)) if found else {}
    active = [p for i, p in found.items() if i in states and states[i][0].status is Status.ACTIVE]
    return [replace(p, retired=False) for p in active]  # whoever restores one vouches for it
