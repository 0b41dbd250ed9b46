"""A claim that contradicts several values: the ladder decides between it and each of them on its own."""

from __future__ import annotations

from datetime import timedelta

import pytest

from conftest import WORDS_ONLY, logical

FACTS = {**WORDS_ONLY, "preset": "facts"}
CITIES = ("Porto", "Graz", "Lyon", "Turku", "Basel", "Leeds", "Ghent")


@pytest.fixture
def said(opening, clock):
    """Return a memory in which the values of one attribute were said, one after the other; each with the days since."""

    def say(*values):
        memory = opening(FACTS)
        for days, city in values:
            clock.passes(days=days)
            fact = {"subject": "Tom", "predicate": "depot", "value": city}
            memory.remember(f"The depot of Tom is in {city}, day {clock():%d %b}.", facts=[fact])
        return memory

    return say


def believed(memory, entity="Tom"):
    return sorted(fact.value for fact in memory.facts(entity))


@pytest.mark.parametrize(("every", "open_sides"), [(1, 7), (3, 3), (5, 2), (6, 2), (7, 1)])
def test_of_a_value_that_changes_often_those_of_the_last_days_are_undecided(said, every, open_sides):
    memory = said(*((every, city) for city in CITIES))
    assert believed(memory) == sorted(CITIES[-open_sides:])
    assert len(memory.review()) == (open_sides > 1)


def test_what_was_said_a_day_ago_is_asked_about_though_the_surest_is_old(said):
    memory = said((0, "Porto"), (1, "Porto"), (1, "Porto"), (6, "Graz"), (1, "Lyon"))
    assert believed(memory) == ["Graz", "Lyon"]
    [question] = memory.review()
    assert [side.rpartition(" ")[2] for side in question.sides] == ["Lyon", "Graz"]


def test_the_surest_is_asked_about_where_it_was_said_again_and_the_others_are_old(said):
    assert believed(said((0, "Porto"), (1, "Graz"), (8, "Porto"), (1, "Lyon"))) == ["Lyon", "Porto"]


def test_why_tells_what_was_decided_beside_each_value(said):
    memory = said((0, "Porto"), (6, "Graz"), (2, "Lyon"))
    [newest] = [fact.id for fact in memory.facts("Tom") if fact.value == "Lyon"]
    told = {(c.other_value, c.strategy, c.outcome) for c in memory.why(newest).fact.conflicts}
    assert told == {("Porto", "trust_recent", "replaced"), ("Graz", "ask_user", "open")}


def test_to_take_back_what_decided_differently_beside_two_values_restores_both(said, clock, path):
    memory = said((0, "Porto"), (6, "Graz"))
    clock.passes(days=2)
    before = logical(path)
    fact = {"subject": "Tom", "predicate": "depot", "value": "Lyon"}
    made = memory.remember("The depot of Tom is in Lyon.", facts=[fact])
    assert believed(memory) == ["Graz", "Lyon"]
    assert [(each.content.rpartition(" ")[2], each.by_order) for each in made.facts.replaced] == [("Porto", True)]
    memory.undo(made)
    assert logical(path) == before


def test_what_was_said_before_one_of_two_values_by_a_week_yields_to_it_and_ends_nothing(said, clock):
    memory = said((10, "Porto"), (5, "Graz"))
    fact = {"subject": "Tom", "predicate": "depot", "value": "Lyon"}
    memory.remember("The depot of Tom is in Lyon.", facts=[fact], at=clock() - timedelta(days=8))
    assert believed(memory) == ["Graz", "Porto"]


def test_days_decide_beside_the_value_that_states_one_and_a_person_beside_the_other(opening, clock):
    memory = opening(FACTS)
    for city, begins in (("Porto", "2026-01-01"), ("Graz", None), ("Lyon", "2026-01-04")):
        clock.passes(days=1)
        fact = {"subject": "Tom", "predicate": "depot", "value": city, "valid_from": begins}
        memory.remember(f"The depot of Tom is in {city}.", facts=[{k: v for k, v in fact.items() if v}])
    assert believed(memory) == ["Graz", "Lyon"]


def test_messages_end_the_value_of_long_ago_and_ask_about_the_recent_one(opening, clock):
    memory = opening(FACTS)
    for days, words in (
        (0, "Remember, I live in Porto."),
        (57, "I live in Graz."),
        (3, "Remember, I live in Lyon."),
    ):
        clock.passes(days=days)
        memory.ingest([{"content": words, "at": clock().isoformat()}])
    assert believed(memory, "user") == ["Graz", "Lyon"]


def test_the_memory_file_names_the_newest_of_many_values_and_how_many_more(said):
    lines = [line for line in said(*((1, city) for city in CITIES)).digest().splitlines() if "undecided" in line]
    assert "(conflicts with Leeds, Basel, Turku and 3 more - undecided)" in lines[0]
    assert "(conflicts with Ghent, Leeds, Basel and 3 more - undecided)" in lines[-1]
