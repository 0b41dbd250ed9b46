"""Statements with days that are taken in after later ones: the timeline is that of the order of the days."""

from __future__ import annotations

from datetime import timedelta
from itertools import permutations

import pytest

from conftest import WORDS_ONLY, logical

HISTORIES = ["A0 B20 A30", "A0 A10 B30", "A0 B20 B30", "A0 B20 A40 B60", "A0 B20 C40 A60"]
ORDERS = [(history, order) for history in HISTORIES for order in permutations(history.split())]


@pytest.fixture
def say(opening, clock):
    """Return how to say a value of a day ("A20") in a memory of 100 days later."""
    memory, begin = opening(WORDS_ONLY), clock()
    clock.passes(days=100)

    def one(said):
        value, days = said[0], int(said[1:])
        fact = {"subject": "depot", "predicate": "city", "value": value}
        return memory.remember(f"On day {days} the depot was in {value}.", facts=[fact], at=begin + timedelta(days))

    one.memory, one.on = memory, lambda days: begin + timedelta(days, hours=1)
    return one


def held(say, history):
    """Return the values that held after each of some statements, and long after the last."""
    days = sorted(int(said[1:]) for said in history.split())
    return [[f.value for f in say.memory.facts("depot", as_of=say.on(day))] for day in (*days, days[-1] + 30)]


def expected(history):
    values = [[said[0]] for said in history.split()]
    return [*values, values[-1]]


@pytest.mark.parametrize(("history", "order"), ORDERS[::3])
def test_a_history_ends_in_the_same_timeline_in_whatever_order_it_is_taken_in(say, history, order):
    for said in order:
        say(said)
    assert held(say, history) == expected(history)
    assert say.memory.review() == []
    assert say.memory.check() == []


def test_a_statement_between_two_of_one_value_is_three_rows_of_the_timeline(say):
    for said in ("A0", "A30", "B20"):
        say(said)
    rows = say.memory.timeline("depot").facts
    assert [(row.value, row.valid_from[:10], row.valid_to[:10]) for row in rows] == [
        ("A", "2026-01-01", "2026-01-21"),
        ("B", "2026-01-21", "2026-01-31"),
        ("A", "2026-01-31", ""),
    ]


@pytest.mark.parametrize("order", [("A0", "A30", "B20"), ("B20", "A30", "A0"), ("A0", "A40", "B60", "B20")])
def test_to_take_a_late_statement_back_leaves_all_as_it_was(say, order, path):
    *before, late = order
    for said in before:
        say(said)
    as_it_was = logical(path)
    done = say(late)
    assert logical(path) != as_it_was
    say.memory.undo(done)
    assert logical(path) == as_it_was


def test_days_that_somebody_stated_are_not_moved_by_an_earlier_statement(say):
    fact = {"subject": "depot", "predicate": "city", "value": "A", "valid_from": "2026-02-20"}
    say.memory.remember("The depot has been in A since 20 February.", facts=[fact])
    say("A10")
    assert [fact.valid_from[:10] for fact in say.memory.facts("depot")] == ["2026-02-20"]


@pytest.mark.parametrize("value", ["A", "B", "C"])
def test_what_a_stranger_says_of_an_earlier_day_moves_nothing_that_the_user_said(say, value):
    def rows():
        told = [f for f in say.memory.facts("depot", past=True) if f.trust == "user"]
        return sorted((f.value, f.valid_from, f.valid_to) for f in told)

    for said in ("A10", "A30", "B50"):
        say(said)
    before = rows()
    fact = {"subject": "depot", "predicate": "city", "value": value}
    for day in (2, 20, 40):
        words = f"The page of day {day} says the depot is in {value}."
        say.memory.remember(words, facts=[fact], at=say.on(day), source="https://example.com/depot")
    assert rows() == before
