"""What holds of facts whatever is said, in whatever order: random conversations and answers, by rules alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, assume, given, settings

from laws.conftest import World
from laws.memories import LAW, SLOW_LAW
from laws.test_undo import snapshot
from perdure.compose import store_at
from perdure.knowledge.extension import predicates_from
from perdure.knowledge.records.results import FactLine
from perdure.records.errors import InvalidInput, NotFound
from perdure.records.memory import Shelf, State


@pytest.fixture(scope="module")
def store():
    """The laws are about rules; that stores agree is for their own tests."""
    return "sqlite"


POLICY: Final = {"preset": "facts"}
CAP: Final = 0.95
DEAD: Final = frozenset({"superseded", "invalidated"})
SHOWN: Final = frozenset({"active", "aging"})

_CUSTOMERS: Final = ("Gai Media", "Acme Corp", "Berta Lind")
_DAYS: Final = ("Monday", "Thursday", "Friday")
_CITIES: Final = ("Berlin", "Lyon")
_SPORTS: Final = ("tennis", "chess")

_OUTRIGHT: Final = [f"Remember that {c} prefers {d} deliveries." for c in _CUSTOMERS for d in _DAYS]
_PASSING: Final = [
    *(f"{c} prefers {d} deliveries." for c in _CUSTOMERS[:2] for d in _DAYS),
    *(f"I live in {c}." for c in _CITIES),
    *(f"I like {s}." for s in _SPORTS),
    "My budget is $500.",
    "My budget is $700.",
]
_CORRECTIONS: Final = [
    *(
        f"Actually, {c} prefers {d} deliveries, not {e}."
        for c in _CUSTOMERS[:2]
        for d in _DAYS
        for e in _DAYS
        if d != e
    ),
    *(f"Actually, they prefer {d}, not Friday" for d in _DAYS[:2]),
    *(f"Actually, they switched to {d} deliveries last month" for d in _DAYS),
    *(f"I moved to {c}." for c in _CITIES),
    "My budget increased to $700.",
    "No, Thursday.",
]
_ENDINGS: Final = [
    *(f"{c} no longer prefers {d} deliveries." for c in _CUSTOMERS[:2] for d in _DAYS),
    *(f"I no longer live in {c}." for c in _CITIES),
    "I stopped playing tennis.",
    "That's wrong.",
    "No.",
]
_YES: Final = [
    "Yes.",
    "Yes, that's correct",
    "Yes, Friday works",
    "Yes, they still prefer Thursday deliveries.",
    "Yes, please",
]
_ASSISTANT: Final = [
    *(f"I have a note that {c} prefers {d} deliveries - is that still accurate?" for c in _CUSTOMERS for d in _DAYS),
    "They prefer Friday deliveries. Next Friday is January 16.",
    "Is Thursday or Friday right?",
]
_IDLE: Final = [
    "Hello there, nothing new today.",
    "What's the status of Gai Media's order?",
    "They asked about the invoice.",
]


@dataclass(frozen=True, slots=True)
class Turn:
    """One message: where, who, what, and how many minutes after the one before."""

    session: str
    role: str
    text: str
    later: int


_PERSON: Final = st.one_of(*map(st.sampled_from, (_OUTRIGHT, _OUTRIGHT, _PASSING, _CORRECTIONS, _ENDINGS, _YES, _IDLE)))
_LATER: Final = st.sampled_from([1, 1, 5, 24 * 60, 8 * 24 * 60])
_SAID: Final = st.one_of(
    st.tuples(st.just("user"), _PERSON),
    st.tuples(st.just("user"), _PERSON),
    st.tuples(st.just("assistant"), st.sampled_from(_ASSISTANT)),
)
TURNS: Final = st.builds(lambda s, said, later: Turn(s, *said, later), st.sampled_from("ab"), _SAID, _LATER)
TALKS: Final = st.lists(TURNS, min_size=1, max_size=7)
ANSWERS: Final = ("confirm", "deny", "correct", "mute", "settle", "both", "archive", "restore")
ACTS: Final = st.one_of(
    st.tuples(st.just("talk"), TALKS),
    st.tuples(st.just("talk"), TALKS),
    st.tuples(st.sampled_from(ANSWERS), st.integers(0, 8)),
    st.tuples(st.sampled_from(["summarize", "sweep", "recall"]), st.just(0)),
    st.tuples(st.just("wait"), st.sampled_from([1, 30, 95, 200])),
)


def timed(each: World, talk: Sequence[Turn]) -> list[dict[str, str]]:
    """The turns as messages; the clock stands at the last one."""
    messages = []
    for turn in talk:
        each.clock.forward(minutes=turn.later)
        messages.append(
            {"content": turn.text, "role": turn.role, "session": turn.session, "at": each.clock().isoformat()}
        )
    return messages


def every(each: World) -> list[FactLine]:
    return each.memory.facts(past=True, limit=1000)


def act(each: World, name: str, more: Any) -> None:
    """Do one thing; answers go to the fact of a number, if there is one that can be answered."""
    memory = each.memory
    if name == "talk":
        memory.ingest(timed(each, more))
    elif name == "wait":
        each.clock.forward(days=more)
    elif name == "recall":
        memory.recall("When does Gai Media want deliveries?")
    elif name not in ANSWERS:
        getattr(memory, name)()
    elif known := every(each):
        fact = known[more % len(known)]
        given_too = {
            "correct": ("Tuesday" if more % 2 else "Friday",),
            "settle": (("keep", "drop")[more % 2],),
            "archive": ("in the way",),
        }
        try:
            getattr(memory, name)(fact.id, *given_too.get(name, ()))
        except (InvalidInput, NotFound):
            assert fact.state not in SHOWN or name in {"correct", "settle", "both", "restore"}, (
                f"{name} of {fact} was refused"
            )


# --- the laws


def is_single(fact: FactLine) -> bool:
    return not predicates_from({}, "").row(fact.predicate).many


def holds_of_chains(known: Mapping[str, FactLine]) -> None:
    for fact in known.values():
        for newer in fact.superseded_by:
            assert fact.id in known[newer].supersedes
        for older in fact.supersedes:
            assert fact.id in known[older].superseded_by
            assert known[older].state in DEAD, f"{fact} stands in the place of what is {known[older].state}"
        ends, seen = [fact], set()
        while ends:
            at = ends.pop()
            assert at.id not in seen or at.id != fact.id, f"{fact} leads back to itself"
            if at.id in seen:
                continue
            seen.add(at.id)
            ends += [known[i] for i in at.superseded_by]
            if not at.superseded_by:
                assert at.state != "superseded" or at.valid_to, f"{at} was replaced by nothing, and did not end"


def kept_beside(each: World) -> set[frozenset[str]]:
    """Pairs of which a person said that both hold."""
    with store_at(each.path) as store:
        found = store.documents.page("default", Shelf.CONFLICT, ("", ""), 1000)
    return {frozenset((d.id, d.name)) for d in found if d.data["outcome"] == "both"}


def contradict(one: FactLine, other: FactLine) -> bool:
    """Whether two values of a predicate that has one cannot both hold: what is denied contradicts its value only."""
    if one.denied or other.denied:
        values = {f.value.removeprefix("not ").lower() if f.denied else f.value.lower() for f in (one, other)}
        return one.denied != other.denied and len(values) == 1
    return True


def holds_of_values(each: World, known: Mapping[str, FactLine]) -> None:
    beside = kept_beside(each)
    by: dict[tuple[str, str], list[FactLine]] = {}
    for fact in known.values():
        assert 0.0 <= fact.base <= CAP
        assert 0.0 <= fact.confidence <= fact.base
        assert (fact.state in SHOWN | {"archived"}) == (not fact.believed_to), fact
        if fact.state in SHOWN:
            by.setdefault((fact.subject, fact.predicate), []).append(fact)
    for facts in by.values():
        assert len({f.value.lower() for f in facts}) == len(facts), f"one value twice: {facts}"
        for fact in facts if is_single(facts[0]) else ():
            rivals = [f for f in facts if f is not fact and contradict(f, fact)]
            others = {f.id for f in rivals if frozenset((f.id, fact.id)) not in beside}
            assert others <= set(fact.contested), f"two values, and nobody is asked: {facts}"


def holds_of_surfaces(each: World, known: Mapping[str, FactLine]) -> None:
    memory = each.memory
    dead = {f.id for f in known.values() if f.state not in SHOWN}
    seen = (
        {m.id for m in memory.list(limit=1000)}
        | {q.id for q in memory.review(limit=1000)}
        | {f.id for f in memory.facts()}
    )
    for query in ("When does Gai Media want deliveries?", "Where do I live?", "Friday Thursday Monday deliveries"):
        seen |= {h.memory.id for h in memory.recall(query, limit=50, touch=False).hits}
    assert not seen & dead
    shown = memory.digest(budget_tokens=4000)
    alive = {f"{f.name}: {f.predicate.replace('_', ' ')}: {f.value}" for f in known.values() if f.state in SHOWN}
    for fact in known.values():
        text = f"{fact.name}: {fact.predicate.replace('_', ' ')}: {fact.value}"
        assert text in alive or text not in shown
    assert dead <= {m.id for m in memory.list(limit=1000, include_archived=True)}


def holds_of_the_journal(each: World, known: Mapping[str, FactLine]) -> None:
    """The journal of each fact, played from its birth, ends as what is stored."""
    with store_at(each.path) as store:
        states = store.states("default", list(known))
        facts = {d.id: dict(d.data) for d in store.documents.find("default", Shelf.FACT, list(known))}
    for identity in known:
        row: dict[str, Any] = {}
        document: Any = None
        for entry in each.memory.history(identity):
            if entry.target == "memory":
                assert all(row.get(k) == v for k, v in (entry.before or {}).items() if k in row and k != "held")
                row |= entry.after or {}
            elif entry.target == "document" and "fact" in {(x or {}).get("shelf") for x in (entry.before, entry.after)}:
                document = (entry.after or {}).get("data")
        state, _ = states[identity]
        told = {f.name for f in fields(State)} & row.keys() - {"held"}
        assert {n: row[n] for n in told} == {n: getattr(state, n) for n in told}
        assert document == facts[identity]


def lawful(each: World, before: Mapping[str, FactLine]) -> dict[str, FactLine]:
    """Check every law, and return the facts as they are now."""
    known = {f.id: f for f in every(each)}
    for identity, fact in before.items():
        assert identity in known
        assert fact.state not in DEAD or known[identity].state == fact.state, f"{fact} became {known[identity].state}"
    holds_of_chains(known)
    holds_of_values(each, known)
    holds_of_surfaces(each, known)
    return known


@pytest.mark.behaviour("BE12")
@settings(SLOW_LAW, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(acts=st.lists(ACTS, min_size=2, max_size=8))
def test_the_laws_hold_after_every_act(world: Callable[..., World], acts):
    each = world(POLICY)
    known: dict[str, FactLine] = {}
    for name, more in acts:
        act(each, name, more)
        known = lawful(each, known)
    holds_of_the_journal(each, known)
    assert each.memory.check() == []


def told(each: World) -> list[tuple[object, ...]]:
    """What is known, without ids."""
    return sorted(
        (f.subject, f.predicate, f.value, f.state, round(f.base, 9), f.confirmations, f.valid_from, f.valid_to)
        for f in every(each)
    )


@pytest.mark.behaviour("BE13")
@settings(SLOW_LAW, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(talk=st.lists(TURNS, min_size=2, max_size=14), cut=st.integers(1, 13))
def test_one_batch_one_by_one_in_two_parts_or_twice_give_the_same_facts(world: Callable[..., World], talk, cut):
    batch, single, parts = world(POLICY), world(POLICY), world(POLICY)
    messages = timed(batch, talk)
    for other in (single, parts):
        other.clock.now = batch.clock.now
    batch.memory.ingest(messages)
    for message in messages:
        single.memory.ingest([message])
    for part in filter(None, (messages[:cut], messages[cut:])):
        parts.memory.ingest(part)
    expected = told(batch)
    assert told(single) == expected
    assert told(parts) == expected
    batch.memory.ingest(messages)
    batch.memory.learn(sorted({turn.session for turn in talk}))
    assert told(batch) == expected


@pytest.mark.behaviour("BE14")
@settings(SLOW_LAW, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(acts=st.lists(ACTS, min_size=1, max_size=4), talk=TALKS)
def test_an_ingest_is_taken_back_row_for_row_and_done_again(world: Callable[..., World], acts, talk):
    each = world(POLICY)
    for name, more in acts:
        act(each, name, more)
    messages = timed(each, talk)
    known = {o.id for o in each.memory.history(limit=1000)}
    before = snapshot(each)
    report = each.memory.ingest(messages)
    after = snapshot(each)
    made = [o.id for o in each.memory.history(limit=1000) if o.id not in known]  # newest first
    assert set(report.operations) <= set(made)
    undos = [each.memory.undo(operation).operation for operation in made]
    assert snapshot(each) == before
    for undo in reversed(undos):
        each.memory.undo(undo)
    assert snapshot(each) == after
    assert each.memory.check() == []


_NOTES: Final = st.lists(
    st.tuples(st.sampled_from(_CUSTOMERS), st.sampled_from(_DAYS)),
    min_size=1,
    max_size=3,
    unique_by=lambda note: note[0],
)


@pytest.mark.behaviour("BE15")
@settings(LAW, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    notes=_NOTES,
    asked=st.integers(0, 2),
    days=st.sampled_from([0, 3, 100]),
    ready=st.booleans(),
    yes=st.sampled_from(
        ["Yes.", "Yes", "yep, that's right", "Yes, that's correct", "Correct.", "Yes, they still do.", "repeated"]
    ),
)
def test_a_yes_validates_the_one_fact_that_was_asked_about(world: Callable[..., World], notes, asked, days, ready, yes):
    each = world(POLICY)
    name, day = notes[asked % len(notes)]
    for customer, other in notes:
        act(each, "talk", [Turn("a", "user", f"Remember that {customer} prefers {other} deliveries.", 1)])
    each.clock.forward(days=days)
    before = {f.id: f for f in every(each)}
    (meant,) = (f for f in before.values() if f.name == name)
    assume(not ready or meant.question)
    question = (
        meant.question if ready else f"I have a note that {name} prefers {day} deliveries - is that still accurate?"
    )
    answer = f"Yes, they still prefer {day} deliveries." if yes == "repeated" else yes
    act(each, "talk", [Turn("b", "assistant", question, 1), Turn("b", "user", answer, 1)])
    after = {f.id: f for f in every(each)}
    changed = {
        i for i in before if before[i].confirmations != after[i].confirmations or before[i].base != after[i].base
    }
    assert changed == {meant.id}
    assert after[meant.id].confirmations == 2  # said, and confirmed
    assert after.keys() == before.keys()


@pytest.mark.behaviour("BE16")
@settings(SLOW_LAW, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(talk=TALKS, yes=st.sampled_from(_YES))
def test_a_yes_confirms_at_most_one_memory(world: Callable[..., World], talk, yes):
    each = world(POLICY)
    act(each, "talk", talk)
    before = {f.id: f for f in every(each)}
    act(each, "talk", [Turn(talk[-1].session, "user", yes, 1)])
    after = {f.id: f for f in every(each)}
    confirmed = [i for i in before if after[i].confirmations > before[i].confirmations]
    assert len(confirmed) <= 1
    assert all(after[i].confirmations == before[i].confirmations + 1 for i in confirmed)
