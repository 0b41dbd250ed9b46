"""Open questions to a person, the most valuable doubt first, and the answers that close them."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Literal

from perdure.operations.decisions import (
    HiddenBeside,
    begin,
    close_questions,
    hide_beside,
    outcome,
    read_visible,
    with_hidden,
    write,
)
from perdure.operations.documents import find_documents, find_states, pages, whose_words
from perdure.operations.interruptions import interruptions
from perdure.operations.ports import Context
from perdure.operations.writing import read_record, retry
from perdure.records.errors import InvalidInput, NotFound
from perdure.records.instant import DAY_MS, Instant, day_at, text_of
from perdure.records.memory import CONFLICT_WITH, Document, Kind, MemoryItem, Record, Shelf, Status, Trust
from perdure.records.outcome import Outcome
from perdure.records.plan import Change
from perdure.records.policy_knowledge import KnowledgePolicy
from perdure.records.report import Operation
from perdure.records.signal_results import Question
from perdure.rules.consolidation.report import DUPLICATE_OF, SIMILAR, link_of_similar
from perdure.rules.decisions import Decisions
from perdure.rules.lifecycle.confirmation import (
    ABOUT_ONESELF,
    USER,
    answers_to,
    clause_of,
    confirmation_question,
    contradiction_question,
    day_in_words,
    duplicate_question,
    without_begun_day,
)
from perdure.rules.lifecycle.reinforcement import validate_state
from perdure.rules.lifecycle.signals import current_signals, whole_memory_items
from perdure.rules.lifecycle.stale_facts import is_aging, validated_at
from perdure.rules.lifecycle.trajectory import count_accesses
from perdure.rules.source_trust import stored_trust

LONGEST: Final = 5000  # so many ageing facts are ranked
FEW: Final = 50  # so many of them are read at a time

ANSWERS: Final = frozenset({"settle", "confirm", "deny", "correct", "mute", "both", "same"})
"""Operations by which a person answers."""
_LOOKS: Final = (50, 2000)
"""Of the last operations so many are read for the answers of a day: few, and more where those are all of today."""

Answer = Literal["keep", "drop"]
Fact = Mapping[str, Any]  # what the document of a fact says


def review(ctx: Context, namespace: str, limit: int | None) -> list[Question]:
    """Return open questions, contradictions first, then the highest value at risk; hidden memories are not asked about.

    Asked about are memories with an open review, and facts that are ageing, but not those that have ended, in whose
    place another value holds for a time, or of which a person said: do not ask again, nor a person's own name, age and
    birthday.
    """
    now = ctx.clock()
    about, said = _open_names(ctx, namespace, now)
    questions: list[Question] = []
    for page in pages(_each_conflict_once(ctx, namespace, about, said)):
        facts = _facts(ctx, namespace, page)
        interrupted = interruptions(ctx, namespace, page)
        visible = [m for m in _visible(ctx, namespace, page, now) if m.id not in interrupted]
        reviews = _reviews(ctx, namespace, {m.id: about[m.id] for m in visible if not _is_never_asked(facts.get(m.id))})
        rivals = _rivals(ctx, namespace, [d.name for some in reviews.values() for d in some], now)
        facts |= _facts(ctx, namespace, [i for i in rivals if i not in facts])
        words = whose_words(ctx, namespace, facts)
        ended = {i for i, fact in facts.items() if _has_ended(fact, now)}  # which of two holds then is no question
        against = {i: m for i, m in rivals.items() if i not in ended}
        asked = [(m, {} if m.id in ended else against) for m in visible if m.id in reviews]
        questions += [q for m, others in asked if (q := _question(m, reviews[m.id], others, words)) is not None]
    most = left_today(ctx, namespace) if limit is None else limit
    stale = _aging_facts(ctx, namespace, now, about, most)
    words = whose_words(ctx, namespace, {m.id: fact for m, fact in stale if fact is not None})
    questions += [_stale_question(m, words, ctx.policy.knowledge) for m, _ in stale]
    questions += ctx.extension.questions(ctx, namespace, now)
    questions.sort(key=lambda q: (not q.against, -q.value_at_risk, q.id))
    return questions[:most]


def _each_conflict_once(
    ctx: Context, namespace: str, about: Mapping[str, Sequence[str]], facts: Mapping[str, Fact]
) -> list[str]:
    """Return the memories that have an open review without those of which every side is one of another one.

    Who answers that one answers both. ``about`` has memory -> the names of its reviews, ``facts`` what they say.
    """
    sides = {
        i: {i, *(n.removeprefix(CONFLICT_WITH) for n in names if n.startswith(CONFLICT_WITH))}
        for i, names in about.items()
    }
    states = find_states(ctx, namespace, sorted({*about}.union(*sides.values())))
    shown = {i for i, state in states.items() if state.status is Status.ACTIVE}
    asked = {i: sides[i] & shown for i in about if i in shown and not _is_never_asked(facts.get(i))}
    within: set[str] = set()
    for identity in sorted((i for i in asked if len(asked[i]) > 1), key=lambda i: (-len(asked[i]), i)):
        if identity not in within:
            others = asked[identity] - {identity}
            within |= {i for i in others if len(asked.get(i, ())) > 1 and asked[i] <= asked[identity]}
    return [i for i in asked if i not in within]


def _aging_facts(
    ctx: Context, namespace: str, now: Instant, excluded: Container[str], most: int
) -> list[tuple[MemoryItem, Fact | None]]:
    """Return the ageing facts with the highest value at risk that a person is willing to be asked about.

    Each comes with what it says, where it has a subject and a predicate. Of very many those are ranked that nobody has
    spoken of for longest.
    """
    policy = ctx.policy.knowledge
    before = now - int(policy.aging_days * DAY_MS)
    ids = ctx.store.unconfirmed_facts(namespace, before, policy.aging_reinforcements, LONGEST)
    stored = find_states(ctx, namespace, ids)
    waiting = ctx.store.accesses(namespace, list(stored), now)
    counted = count_accesses(list(stored.values()), [waiting.get(i, ()) for i in stored], ctx.policy)
    states = {i: s for i, s in zip(stored, counted, strict=True) if is_aging(s, ctx.policy, now)}
    sure = current_signals(list(states.values()), ctx.policy, now)
    risk = dict(zip(states, (sure.value * (1.0 - sure.confidence)).tolist(), strict=True))
    ranked = sorted((i for i in states if i not in excluded), key=lambda i: (-risk[i], i))
    found: list[tuple[MemoryItem, Fact | None]] = []
    for start in range(0, len(ranked), FEW):
        page = ranked[start : start + FEW]
        facts = _facts(ctx, namespace, page)
        over = {i for i, fact in facts.items() if _has_ended(fact, now)}
        over |= interruptions(ctx, namespace, page).keys()  # they hold again without being asked about
        asked = [i for i in page if i not in over and not _is_never_asked(facts.get(i), by_age=True)]
        records = ctx.store.get(namespace, asked)
        found += [(m, facts.get(m.id)) for m in _asked_items(ctx, records, now)]
        if len(found) >= most:
            break
    return found


def _trust(memory: MemoryItem, words: Mapping[str, Trust]) -> Trust:
    """Return whose word a memory is; ``words`` has that of facts. A note's is nobody's that is known."""
    trust = words.get(memory.id, stored_trust(memory.metadata))
    is_note = memory.id not in words and memory.kind is not Kind.EPISODE
    return Trust.ASSISTANT if is_note and trust is Trust.USER else trust


def _facts(ctx: Context, namespace: str, ids: Sequence[str]) -> dict[str, Fact]:
    """Return memory -> what it says as a fact, of those among some memories that have a subject and a predicate."""
    return {d.id: d.data for d in ctx.store.documents.find(namespace, Shelf.FACT, ids)}


def _is_never_asked(fact: Fact | None, *, by_age: bool = False) -> bool:
    """Whether a person said of a fact: do not ask again, or it says who that person is.

    Merely for its age nobody is asked whether something still does not hold.
    """
    if fact is None:
        return False
    return (by_age and bool(fact.get("denied"))) or bool(
        fact["asked_not"] or (fact["subject"] == USER and fact["predicate"] in ABOUT_ONESELF)
    )


def _has_ended(fact: Fact, now: Instant) -> bool:
    """Whether the day has come on which a fact was said to end, or on which what follows it begins."""
    return fact["valid_to_ms"] is not None and fact["valid_to_ms"] <= now


def left_today(ctx: Context, namespace: str) -> int:
    """Return how many questions may still be put to a person today: answers count, unless they were taken back."""
    today = text_of(ctx.clock()).partition(" ")[0]
    operations: list[Operation] = []
    for most in _LOOKS:
        operations = ctx.store.operations(namespace, most)
        if len(operations) < most or not operations[-1].at.startswith(today):
            break
    answered = sum(
        1
        for o in operations
        if o.at.startswith(today) and o.undone_by is None and (o.operation in ANSWERS or o.note.startswith("settle "))
    )
    return max(0, ctx.policy.knowledge.questions_per_day - answered)


def _stale_question(memory: MemoryItem, words: Mapping[str, Trust], policy: KnowledgePolicy) -> Question:
    confirmed_at = validated_at(memory.state)
    since = confirmed_at + int(policy.aging_days * DAY_MS)
    return Question(
        id=memory.id,
        namespace=memory.namespace,
        question=confirmation_question(memory, confirmed_at, _trust(memory, words)),
        why=f"not confirmed for {policy.aging_days:g} days",
        since=text_of(since),
        value_at_risk=memory.value * (1.0 - memory.confidence),
        answers=answers_to(is_fact=memory.id in words),
    )


def _open_names(ctx: Context, namespace: str, now: Instant) -> tuple[dict[str, list[str]], dict[str, Fact]]:
    """Return memory -> the names of its reviews, and what these and the other sides of conflicts say as facts.

    A conflict of which one side has ended is over, and left out.
    """
    about = ctx.store.documents.names(namespace, Shelf.REVIEW)
    sides = {n.removeprefix(CONFLICT_WITH) for names in about.values() for n in names if n.startswith(CONFLICT_WITH)}
    facts = {d.id: d.data for d in find_documents(ctx, namespace, Shelf.FACT, sorted({*about, *sides}))}
    over = {i for i, fact in facts.items() if fact["valid_to_ms"] is not None and fact["valid_to_ms"] <= now}

    def is_open(identity: str, name: str) -> bool:
        return not name.startswith(CONFLICT_WITH) or over.isdisjoint((identity, name.removeprefix(CONFLICT_WITH)))

    names_of = {i: [name for name in names if is_open(i, name)] for i, names in about.items()}
    return {i: names for i, names in names_of.items() if names}, facts


def _reviews(ctx: Context, namespace: str, names: Mapping[str, Container[str]]) -> dict[str, list[Document]]:
    """Return memory -> its open reviews, of some memories with the names of those that count."""
    about: dict[str, list[Document]] = {}
    for document in find_documents(ctx, namespace, Shelf.REVIEW, list(names)):
        if document.name in names[document.id]:
            about.setdefault(document.id, []).append(document)
    return about


def _rivals(ctx: Context, namespace: str, reviews: Iterable[str], now: Instant) -> dict[str, MemoryItem]:
    """Return the memories in view that those with an open review contradict or nearly repeat, by the reviews' names."""
    ids = sorted({other for name in reviews if (other := _other(name))})
    return {m.id: m for m in _visible(ctx, namespace, ids, now)}


def _other(review: str) -> str:
    """Return the memory that the reviewed one contradicts or nearly repeats; "" where there is none."""
    for prefix in (CONFLICT_WITH, DUPLICATE_OF):
        if review.startswith(prefix):
            return review.removeprefix(prefix)
    return ""


def _visible(ctx: Context, namespace: str, ids: Sequence[str], now: Instant) -> list[MemoryItem]:
    """Return those of some memories that are in view, with the whole texts that a person is asked about."""
    return _asked_items(ctx, read_visible(ctx, namespace, ids) if ids else [], now)


def _asked_items(ctx: Context, records: Sequence[Record], now: Instant) -> list[MemoryItem]:
    return [without_begun_day(m, day_at(now, ctx.policy.days.tz)) for m in whole_memory_items(records, ctx.policy, now)]


def _question(
    memory: MemoryItem, about: Sequence[Document], rivals: Mapping[str, MemoryItem], words: Mapping[str, Trust]
) -> Question | None:
    """Return the question about a memory; None where what it contradicted or repeated is not in view any longer."""
    documents = [d for d in about if not (other := _other(d.name)) or other in rivals]
    if not documents:
        return None
    against = [rivals[_other(d.name)] for d in documents if d.name.startswith(CONFLICT_WITH)]
    trust = {m.id: _trust(m, words) for m in (memory, *against)}
    since = min(int(d.data.get("since_ms", memory.state.recorded_ms)) for d in documents)
    which = next((f"{d.data['why']}: which?" for d in documents if d.name.startswith("which:")), "Is it right?")
    noted = f"On {day_in_words(memory.state.created_ms)} I noted: {clause_of(memory)}. {which}"
    if all(d.name.startswith(DUPLICATE_OF) for d in documents):
        noted = duplicate_question(memory, [rivals[_other(d.name)] for d in documents])
    return Question(
        id=memory.id,
        namespace=memory.namespace,
        question=contradiction_question([memory, *against], trust) if against else noted,
        why="; ".join(dict.fromkeys(str(d.data.get("why", d.name)) for d in documents)),
        since=text_of(since),
        value_at_risk=memory.value * (1.0 - memory.confidence),
        against=tuple(m.id for m in against),
        sides=tuple(clause_of(m) for m in (memory, *against)) if against else (),
        answers=answers_to(is_fact=memory.id in words, is_contested=bool(against), is_open=True),
    )


def settle(ctx: Context, identity: str, verdict: Answer, reason: str | None) -> Outcome:
    """Close the questions about a memory: ``keep`` validates it, ``drop`` archives it (a fact: invalidates it)."""

    def attempt() -> Outcome:
        record = read_record(ctx, identity)
        suffix = f": {reason}" if reason else ""
        closed = close_questions(ctx, record, f"a person answered {verdict}{suffix}")
        if not closed:
            raise NotFound(f"There is no open question about {identity}.", remedy="`review` lists the open ones.")
        if (learned := ctx.extension.answer(ctx, record, verdict, reason)) is not None:
            return learned
        decisions = begin(ctx, record.namespace, ctx.clock())
        decisions.admit([record])
        _decide(decisions, record, verdict, suffix)
        because = "a person said is not right"
        gone = hide_beside(ctx, decisions, identity, because) if verdict == "drop" else HiddenBeside()
        decisions.add(closed)
        decisions.add(_kept_beside(ctx, record, closed) if verdict == "keep" else [])
        operation = "settle" if verdict == "keep" else "archive"  # what a person hides is no loss of upkeep
        written = write(ctx, decisions, operation, f"settle {identity}: {verdict}{suffix}")
        done = outcome(ctx, decisions.result(identity), written)
        return with_hidden(ctx, done, gone) if verdict == "drop" else done

    return retry(attempt)


def _kept_beside(ctx: Context, record: Record, closed: Sequence[Change]) -> list[Change]:
    """Return the links to what a memory was said to repeat and is kept beside: no consolidation asks again."""
    linked = {other for kind, other, _ in ctx.store.links(record.namespace, record.id) if kind == SIMILAR}
    repeated = {str(c.before["name"]).removeprefix(DUPLICATE_OF): c.before["data"] for c in closed if c.before}
    because = "a person wants both"
    return [
        link_of_similar(record.id, other, float(data["similarity"]), because)
        for other, data in repeated.items()
        if "similarity" in data and other not in linked
    ]


def _decide(decisions: Decisions, record: Record, verdict: Answer, suffix: str) -> None:
    """Decide what a person's answer does to a memory: one that is hidden already stays as it is."""
    if record.state.status is not Status.ACTIVE:
        if verdict == "keep":
            raise InvalidInput(
                f"{record.id} is now {record.state.status} so it cannot be kept.", remedy="Use `restore` first."
            )
        return
    if verdict == "keep":
        validated = validate_state(decisions.states[record.id], decisions.now)
        state, because = validated.state, f"a person said it is right: {validated.because}"
    else:
        state = replace(decisions.states[record.id], status=Status.ARCHIVED, status_ms=decisions.now, held=False)
        because = f"archived: a person said it is not right{suffix}"
    decisions.change(record.id, state, "settled", because)
