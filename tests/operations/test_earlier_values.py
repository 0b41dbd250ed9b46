"""A question that asks for the past is answered with what a fact took the place of, beside what holds now."""

import pytest

from conftest import WORDS_ONLY

HOME = {"subject": "Lena", "predicate": "home", "value": "Berlin"}


@pytest.fixture
def memory(opening):
    return opening(WORDS_ONLY)


@pytest.fixture
def moved(memory, clock):
    """Lena moved from Berlin to Munich and on to Ghent."""
    memory.remember("Lena lives in Berlin.", facts=[HOME])
    for place, old in (("Munich", "Berlin"), ("Ghent", "Munich")):
        clock.passes(days=30)
        memory.remember(f"Lena lives in {place} now.", facts=[{**HOME, "value": place, "replaces": old}])
    clock.passes(days=1)
    return memory


def earlier(found):
    return {fact.content.rpartition(" ")[2] for hit in found.hits for fact in hit.earlier}


@pytest.mark.parametrize(
    "question",
    ["Where did Lena live before?", "What was Lena's previous home?", "Wo wohnte Lena vorher, was war ihr home?"],
)
def test_who_asks_for_the_past_is_told_what_held_before(moved, question):
    found = moved.recall(question)
    assert earlier(found) == {"Berlin", "Munich"}
    (fact,) = (hit for hit in found.hits if hit.earlier)
    assert fact.memory.kind == "fact"
    assert "Ghent" in fact.memory.content
    assert [one.over for one in fact.earlier] == ["replaced", "replaced"]
    assert fact.earlier[0].content.endswith("Munich"), "the newest first"


def test_the_prompt_hook_tells_it_as_well(moved):
    shown = moved.agent.beside("Where did Lena live before?", "a-session", "default")
    assert 'before: "home: Munich" (replaced 2026-' in shown
    assert 'before: "home: Berlin"' in shown


def test_who_asks_what_holds_is_told_that_alone(moved):
    assert not earlier(moved.recall("Where does Lena live?"))


def test_what_was_never_so_is_no_earlier_value(memory, clock):
    memory.remember("Lena lives in Berlin.", facts=[HOME])
    (wrong,) = (fact.id for fact in memory.facts("Lena"))
    memory.deny(wrong)
    clock.passes(days=1)
    memory.remember("Lena lives in Bergen.", facts=[{**HOME, "value": "Bergen"}])
    assert not earlier(memory.recall("Where did Lena live before?"))


def test_what_only_a_session_may_see_is_no_earlier_value_for_others(opening, clock):
    memory = opening({**WORDS_ONLY, "preset": "facts"})
    memory.ingest(
        [{"role": "user", "content": "Remember, Gai Media prefers Friday deliveries."}], session="own", scope="session"
    )
    (friday,) = memory.facts(inside="own")
    clock.passes(days=1)
    ended = {"subject": "Gai Media", "predicate": friday.predicate, "value": "Friday", "valid_to": "2026-01-02"}
    memory.ingest(
        [{"role": "user", "content": "Gai Media prefers Monday deliveries, not Friday deliveries."}],
        session="own",
        scope="session",
    )
    memory.remember("Gai Media takes Tuesday deliveries.", facts=[{**ended, "value": "Tuesday", "valid_to": None}])
    clock.passes(days=1)
    question = "Which deliveries did Gai Media prefer before?"
    assert any(hit.earlier for hit in memory.recall(question, inside="own").hits)
    assert not earlier(memory.recall(question))


def test_no_value_of_another_predicate_or_person_is_named(moved, clock):
    moved.remember("Lena works at Arup.", facts=[{"subject": "Lena", "predicate": "employer", "value": "Arup"}])
    moved.remember("Ole lives in Oslo.", facts=[{**HOME, "subject": "Ole", "value": "Oslo"}])
    clock.passes(days=1)
    moved.remember("Ole lives in Turku now.", facts=[{**HOME, "subject": "Ole", "value": "Turku", "replaces": "Oslo"}])
    (fact,) = (h for h in moved.recall("Where did Lena live before?").hits if h.earlier and "Ghent" in h.memory.content)
    assert {one.content for one in fact.earlier} == {"home: Munich", "home: Berlin"}
