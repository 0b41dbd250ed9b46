"""Facts of a session that is promoted meet those of long term, as if they had been learned there."""

from __future__ import annotations

import pytest

from conftest import WORDS_ONLY, logical

KNOWLEDGE = {**WORDS_ONLY, "preset": "facts"}
DELIVERIES = "Remember that Gai Media prefers {} deliveries."


@pytest.fixture
def memory(opening):
    return opening(KNOWLEDGE)


@pytest.fixture
def say(memory, clock):
    def each(*texts, session, scope="long_term"):
        for text in texts:
            clock.passes(minutes=1)
            memory.ingest([{"content": text, "at": clock().isoformat()}], session=session, scope=scope)

    return each


@pytest.fixture
def aside(say):
    """Say something that only its session sees."""
    return lambda *texts: say(*texts, session="aside", scope="session")


def promoted(memory):
    return memory.promote("aside", threshold=0.1, confirm=True)


def told(memory, entity="Gai Media"):
    """(value, state, contested) of everything that was ever known."""
    return sorted((f.value, f.state, bool(f.contested)) for f in memory.facts(entity, past=True, inside="aside"))


def of(memory, value, scope=None):
    found = [f for f in memory.facts(past=True, inside="aside") if f.value == value]
    if scope is not None:
        found = [f for f in found if memory.get(f.id, include_archived=True).scope == scope]
    (one,) = found
    return one


@pytest.mark.behaviour("BE38")
def test_facts_of_promoted_messages_are_promoted_with_them_however_sure_they_are(memory, aside):
    aside(DELIVERIES.format("Friday"), "My dentist is Dr Huang.")
    assert memory.facts() == []
    sure = {f.value: f.confidence for f in memory.facts(inside="aside")}
    assert max(sure.values()) < memory.policy.tasks.promotion_confidence
    done = memory.promote("aside", confirm=True)
    assert {f.value for f in memory.facts()} == sure.keys()
    assert "what says it is promoted" in memory.history(memory.facts()[0].id)[-1].because
    memory.undo(done.operations[-1])
    assert memory.facts() == []


def test_what_contradicts_long_term_is_asked_about(memory, say, aside):
    say(DELIVERIES.format("Friday"), session="s1")
    aside(DELIVERIES.format("Monday"))
    assert told(memory) == [("Friday", "active", False), ("Monday", "active", False)]
    assert memory.review() == []
    promoted(memory)
    assert told(memory) == [("Friday", "active", True), ("Monday", "active", True)]
    (question,) = memory.review()
    monday = of(memory, "Monday")
    assert question.id == monday.id
    assert question.against == (of(memory, "Friday").id,)
    assert memory.get(monday.id).scope == "long_term"


@pytest.mark.behaviour("BE39")
def test_what_long_term_says_already_is_confirmed_there_once_for_each_message(memory, say, aside):
    say(DELIVERIES.format("Friday"), session="s1")
    aside(DELIVERIES.format("Friday"), "Remember, Gai Media prefers Friday deliveries.")
    assert len(told(memory)) == 2
    done = promoted(memory)
    kept = of(memory, "Friday", "long_term")
    assert (kept.confirmations, len(kept.sources), kept.state) == (3, 3, "active")
    assert kept.base == pytest.approx(0.7 + 0.15 + 0.10)
    gone = of(memory, "Friday", "session")
    assert (gone.state, gone.superseded_by) == ("superseded", (kept.id,))
    assert memory.get(gone.id, include_archived=True).status == "consolidated"
    assert gone.id not in done.promoted
    again = promoted(memory)
    assert gone.id not in again.promoted
    assert of(memory, "Friday", "long_term").confirmations == 3


@pytest.mark.behaviour("BE40")
def test_a_correction_in_the_session_replaces_what_long_term_says(memory, say, aside, clock):
    say(DELIVERIES.format("Friday"), session="s1")
    clock.passes(days=1)
    aside(DELIVERIES.format("Tuesday"), "Actually, Gai Media prefers Monday deliveries, not Tuesday.")
    promoted(memory)
    friday, monday = of(memory, "Friday"), of(memory, "Monday")
    assert (friday.state, monday.state) == ("superseded", "active")
    assert monday.supersedes
    assert friday.superseded_by == (monday.id,)
    assert memory.review() == []


@pytest.mark.behaviour("BE41")
def test_what_long_term_heard_later_stays_and_what_loses_stays_in_its_session(memory, say, aside, clock):
    aside(DELIVERIES.format("Monday"))
    clock.passes(days=8)
    say(DELIVERIES.format("Friday"), session="s1")
    done = promoted(memory)
    monday, friday = of(memory, "Monday"), of(memory, "Friday")
    assert (friday.state, friday.supersedes) == ("active", (monday.id,))
    assert (monday.state, monday.superseded_by) == ("superseded", (friday.id,))
    assert monday.id not in done.promoted
    assert memory.get(monday.id, include_archived=True).scope == "session"
    assert [c.strategy for c in memory.why(monday.id).fact.conflicts] == ["trust_recent"]


def test_what_is_new_and_what_adds_is_promoted_and_nobody_is_asked(memory, say, aside):
    say("I like tennis.", session="s1")
    aside("I like golf.", "Remember that Ursa Foods prefers Monday deliveries.")
    promoted(memory)
    assert told(memory, "user") == [("golf", "active", False), ("tennis", "active", False)]
    assert told(memory, "Ursa Foods") == [("Monday", "active", False)]
    assert memory.review() == []
    assert memory.get(of(memory, "Monday").id).scope == "long_term"


def test_what_long_term_had_forgotten_comes_back(memory, say, aside, clock):
    say(DELIVERIES.format("Friday"), session="s1")
    clock.passes(days=200)
    memory.sweep()
    aside(DELIVERIES.format("Friday"))
    promoted(memory)
    kept = of(memory, "Friday", "long_term")
    assert (kept.state, kept.confirmations) == ("active", 2)
    assert memory.get(of(memory, "Friday", "session").id, include_archived=True).status == "consolidated"


def test_two_of_one_session_are_not_compared_twice(memory, aside, clock):
    aside(DELIVERIES.format("Friday"))
    clock.passes(days=1)
    aside(DELIVERIES.format("Monday"))
    before = told(memory)
    assert before == [("Friday", "active", True), ("Monday", "active", True)]
    promoted(memory)
    assert told(memory) == before
    assert len(memory.review()) == 1


@pytest.mark.behaviour("BE42")
@pytest.mark.parametrize("day", ["Friday", "Monday"])
def test_a_promotion_is_taken_back_row_for_row(memory, say, aside, path, day):
    say(DELIVERIES.format("Friday"), session="s1")
    aside(DELIVERIES.format(day), "I like golf.")
    before = logical(path)
    memory.promote("aside", threshold=0.1)
    assert logical(path) == before
    (operation,) = promoted(memory).operations
    assert logical(path) != before
    memory.undo(operation)
    assert logical(path) == before
    assert memory.check() == []


def test_the_end_of_a_session_does_the_same(opening, clock):
    memory = opening({**KNOWLEDGE, "tasks": {"promotion_confidence": 0.1}})
    for day, session, scope in (("Friday", "s1", "long_term"), ("Monday", "aside", "session")):
        clock.passes(minutes=1)
        message = {"content": DELIVERIES.format(day), "at": clock().isoformat()}
        memory.ingest([message], session=session, scope=scope)
    memory.end_session("aside")
    assert told(memory) == [("Friday", "active", True), ("Monday", "active", True)]
