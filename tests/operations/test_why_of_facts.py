"""why of facts: the quoted message, each change of confidence with its cause, conflicts, checks, what is next."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from conftest import WORDS_ONLY
from perdure.records.instant import text_of, to_instant
from perdure.records.memory import Shelf
from perdure.records.plan import Change, Plan, Target

KNOWLEDGE = {**WORDS_ONLY, "preset": "facts"}


@pytest.fixture
def memory(opening):
    return opening(KNOWLEDGE)


def said(memory, clock, words, session="s1", role="user"):
    memory.ingest([{"content": words, "role": role, "at": clock().isoformat()}], session=session)
    clock.passes(minutes=2)


def friday(memory, clock):
    said(memory, clock, "Well. Remember, Gai Media prefers Friday deliveries.")
    (fact,) = memory.facts("Gai Media")
    return fact.id


def at(moment):
    return text_of(to_instant(moment))


@pytest.mark.behaviour("KN50")
def test_a_fact_is_traced_to_the_words_of_the_message(memory, clock):
    begun = clock()
    told = memory.why(friday(memory, clock)).fact
    (source,) = told.sources
    whole = memory.get(source.memory)
    assert whole.content == "Well. Remember, Gai Media prefers Friday deliveries."
    assert whole.content[source.start : source.end] == source.quote == "Gai Media prefers Friday deliveries"
    assert (source.found, source.speaker, source.at) == (True, "user", at(begun))
    assert (told.says, told.state, told.trust) == ("Gai Media: delivery day preference: Friday", "active", "user")
    assert told.learned == "was asked to be remembered"
    assert (told.valid_to, told.believed_to) == ("", "")


@pytest.mark.behaviour("KN51")
def test_each_change_of_confidence_has_its_cause_and_what_undoes_it(memory, clock):
    identity = friday(memory, clock)
    clock.passes(days=10)
    said(memory, clock, "Gai Media prefers Friday deliveries.", session="s2")
    clock.passes(days=10)
    memory.confirm(identity)
    born, again, confirmed = memory.why(identity).fact.confidence
    assert (born.before, born.after) == (None, 0.7)
    assert (again.before, again.after) == (0.7, pytest.approx(0.85))
    assert "said again" in again.because
    assert (confirmed.before, confirmed.after) == (again.after, pytest.approx(0.87))
    assert "a person confirmed it" in confirmed.because
    assert confirmed.at == at(clock())
    memory.undo(confirmed.operation_id)
    assert memory.get(identity).state.confidence == again.after
    assert len(memory.why(identity).fact.sources) == 2


@pytest.mark.behaviour("KN52")
def test_a_conflict_shows_both_sides_how_it_was_decided_and_what_came_of_it(memory, clock):
    was = friday(memory, clock)
    clock.passes(days=1)
    said(memory, clock, "Remember, Gai Media prefers Monday deliveries.", session="s2")
    (now,) = (f.id for f in memory.facts() if f.value == "Monday")
    (mine,), (theirs,) = memory.why(was).fact.conflicts, memory.why(now).fact.conflicts
    assert (mine.with_id, mine.value, mine.other_value) == (now, "Friday", "Monday")
    assert (theirs.with_id, theirs.value, theirs.other_value) == (was, "Monday", "Friday")
    assert (mine.confidence, mine.other_confidence) == (theirs.other_confidence, theirs.confidence)
    assert (mine.strategy, mine.outcome) == ("ask_user", "open")
    memory.confirm(now)
    assert memory.why(was).fact.conflicts[0].outcome == "answered"
    told = memory.why(was).fact
    assert (told.state, bool(told.valid_to), told.believed_to) == ("superseded", True, at(clock()))


@pytest.mark.behaviour("KN53")
def test_what_authorities_said_is_listed(memory, clock, raw_store):
    identity = friday(memory, clock)
    assert memory.why(identity).fact.checks == ()
    for n, (name, data) in enumerate(
        {"erp": {"outcome": "disagrees", "value": "Monday"}, "crm": {"outcome": "silent"}}.items()
    ):
        when = to_instant(clock() + timedelta(days=n))
        after = {"shelf": Shelf.CHECK, "name": name, "data": {**data, "at_ms": when}}
        raw_store.apply(Plan(name, "verify", "default", when, (Change(Target.DOCUMENT, identity, None, after),)))
    erp, crm = memory.why(identity).fact.checks
    assert (erp.authority, erp.outcome, erp.value, erp.at) == ("erp", "disagrees", "Monday", at(clock()))
    assert (crm.authority, crm.outcome, crm.value) == ("crm", "silent", "")


@pytest.mark.behaviour("KN54")
def test_what_comes_next_comes_when_it_was_said(memory, clock):
    identity = friday(memory, clock)
    ages, archived = memory.why(identity).fact.next
    assert ages.startswith("It ages at")
    clock.now = moment(ages)
    assert memory.facts()[0].state == "active"
    clock.passes(minutes=1)
    assert memory.facts()[0].state == "aging"
    since, same = memory.why(identity).fact.next
    assert since.startswith("It is ageing since")
    assert same == archived
    clock.now = moment(archived)
    memory.sweep()
    assert memory.facts()[0].state == "aging"
    clock.passes(minutes=1)
    memory.sweep()
    assert memory.facts(past=True)[0].state == "archived"
    assert "restores it" in memory.why(identity).fact.next[0]


def moment(sentence):
    """The instant that a sentence names, as the clock takes it."""
    day, time = sentence.split("2026-", 1)[1].split(" UTC")[0].split(" ")
    return datetime.fromisoformat(f"2026-{day}T{time}").replace(tzinfo=UTC)


@pytest.mark.behaviour("KN55")
def test_what_ends_the_ageing_is_told(memory, clock):
    identity = friday(memory, clock)
    memory.mute(identity)
    assert "nobody is asked" in memory.why(identity).fact.next[0]
    memory.pin(identity)
    assert "never archived, because it is pinned" in memory.why(identity).fact.next[1]
    for day in range(2):
        clock.passes(days=1)
        said(memory, clock, "Gai Media prefers Friday deliveries.", session=f"again {day}")
    (only,) = memory.why(identity).fact.next
    assert "It does not age" in only
    memory.deny(identity)
    assert memory.why(identity).fact.next == (
        "It is invalidated for good; undo of the operation that did it takes that back.",
    )
    assert memory.why(identity).next_move == "Next: nothing; it is invalidated and stays so unless that is undone."


@pytest.mark.behaviour("KN56")
def test_a_correction_by_a_person_has_no_message_and_says_so(memory, clock):
    now = memory.correct(friday(memory, clock), "Thursday")
    told = memory.why(now.id).fact
    assert (told.sources, told.learned) == ((), "was a correction")
    assert [c.strategy for c in told.conflicts] == ["trust_correction"]


@pytest.mark.behaviour("KN94")
def test_a_link_is_told_from_the_end_that_is_asked_about(memory, clock):
    """Who reads about the message hears what it is the source of; about the fact, what it is derived from."""
    fact = friday(memory, clock)
    (message,) = (m.id for m in memory.list(kinds=["episode"]))
    assert [(kind, other) for kind, other, _ in memory.why(fact).links] == [("derived_from", message)]
    assert [(kind, other) for kind, other, _ in memory.why(message).links] == [("source_of", fact)]
    now = memory.correct(fact, "Thursday")
    assert ("superseded_by", now.id) in [(kind, other) for kind, other, _ in memory.why(fact).links]
    assert memory.why(now.id).says == "Gai Media: delivery day preference: Thursday"


@pytest.mark.behaviour("KN95")
def test_how_a_conflict_was_decided_is_told_in_words(memory, clock):
    fact = friday(memory, clock)
    clock.passes(days=1)
    said(memory, clock, "Remember, Gai Media prefers Monday deliveries.", session="s2")
    assert [c.told for c in memory.why(fact).fact.conflicts] == ["nobody has said yet which is right"]
    memory.confirm(fact)
    assert [c.told for c in memory.why(fact).fact.conflicts] == ["it was answered since"]
    now = memory.correct(fact, "Thursday")
    for identity in (fact, now.id):
        assert memory.why(identity).fact.conflicts[-1].told == "a correction wins; Friday was replaced"
    (born,) = memory.why(now.id).fact.confidence
    assert (born.before, born.because) == (None, "it was a correction")


def test_what_is_no_fact_has_no_such_reasons(memory):
    kept = memory.remember("The office has no lift.")
    assert memory.why(kept.id).fact is None
    assert memory.why(kept.id).to_dict()["fact"] is None
