"""What no longer holds is no longer believed, whatever words told it; and relatives told by name."""

from __future__ import annotations

import pytest

from conftest import WORDS_ONLY

KNOWLEDGE = {**WORDS_ONLY, "preset": "facts"}


@pytest.fixture
def memory(opening):
    return opening(KNOWLEDGE)


@pytest.fixture
def say(memory, clock):
    def one_by_one(*texts):
        for text in texts:
            clock.passes(days=1)
            memory.ingest([{"content": text, "role": "user", "at": clock().isoformat()}], session="s1")

    return one_by_one


def believed(memory, entity="user"):
    return {(f.predicate, f.value) for f in memory.facts(entity)}


@pytest.mark.behaviour("CL23")
@pytest.mark.parametrize(
    ("before", "ending"),
    [
        *(
            (said, "I no longer drink tea. I prefer coffee now.")
            for said in (
                "I prefer tea.",
                "I like tea.",
                "Remember that I drink tea.",
            )
        ),
        ("My favourite drink is tea.", "I no longer drink tea."),
        ("Remember that I eat meat.", "I stopped eating meat."),
        ("I love horror movies.", "I don't like horror movies any more."),
        ("I like smoking.", "I gave up smoking."),
        ("Remember that I smoke cigarettes.", "I gave up smoking."),
        ("Remember that we use Netflix.", "We no longer use Netflix."),
        ("Remember that I work at Globex.", "I no longer work at Globex."),
        ("I live in Lyon.", "I no longer live in Lyon."),
        ("I'm vegetarian.", "I'm no longer vegetarian."),
        ("Remember that I use pip.", "I use uv instead of pip."),
    ],
)
def test_a_message_that_something_ended_ends_what_was_said_before(memory, say, before, ending):
    say(before, "I like jazz.")
    ((predicate, value),) = believed(memory) - {("like", "jazz")}
    say(ending)
    assert (predicate, value) not in believed(memory)
    assert ("like", "jazz") in believed(memory)
    (old,) = [f for f in memory.facts("user", past=True) if (f.predicate, f.value) == (predicate, value)]
    assert old.state == "superseded"  # it was true until then
    assert old.valid_to > old.valid_from


@pytest.mark.behaviour("CL24")
@pytest.mark.parametrize(
    "ending",
    [
        "Gai Media stopped Friday deliveries.",
        "Gai Media has ended its Friday deliveries.",
        "Gai Media doesn't want Friday deliveries any more.",
        "They no longer want deliveries on Fridays.",
    ],
)
def test_a_day_of_deliveries_ends_however_it_is_told(memory, say, ending):
    say("Remember, Gai Media prefers Friday deliveries.")
    (day,) = memory.facts("Gai Media")
    say(ending)
    assert memory.facts("Gai Media") == []
    (past,) = memory.facts("Gai Media", past=True)
    assert (past.id, past.state) == (day.id, "superseded")


@pytest.mark.parametrize(
    "told",
    ["I no longer drink green tea.", "I never stopped drinking tea.", "Did I stop drinking tea?", "If I gave up tea"],
)
def test_what_did_not_end_stays(memory, say, told):
    say("Remember that I drink tea.", told)
    assert ("drink", "tea") in believed(memory)


@pytest.mark.behaviour("EN24")
def test_a_relative_is_an_entity_by_name_and_a_fact_of_whoever_speaks(memory, say):
    say("My sister Rita loves tea.", "My brother Tom lives in Berlin.", "Remember that Rita lives in Lyon.")
    assert {e.name for e in memory.entities()} == {"user", "Rita", "Tom", "Berlin", "Lyon"}
    assert believed(memory, "Rita") == {("like", "tea"), ("home", "Lyon")}
    assert believed(memory) == {("sister_name", "Rita"), ("brother_name", "Tom")}


def test_a_second_sister_is_one_more_and_another_husband_is_a_question(memory, say):
    say("My sister Rita called.", "My sister Ann called.", "My husband Mark called.", "My husband Paul called.")
    assert {("sister_name", "Rita"), ("sister_name", "Ann")} <= believed(memory)
    contested = {f.value for f in memory.facts("user") if f.contested}
    assert contested == {"Mark", "Paul"}
