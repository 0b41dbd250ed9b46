"""A conflict of which one side has ended by its own last day is over: nothing is marked, and nobody is asked."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

import perdure
from conftest import Clock, opened

START = datetime(2026, 9, 1, 9, tzinfo=UTC)
SHORT, LONG = {"valid_to": "2026-09-04"}, {"valid_to": "2026-12-31"}
sides = pytest.mark.parametrize("days", [(SHORT, {}), (SHORT, LONG), (SHORT, SHORT)])


@pytest.fixture
def clock():
    return Clock(START)


@pytest.fixture
def memory(tmp_path, clock):
    with opened(tmp_path / "talk.db", clock=clock) as store:
        yield store


def tell(memory, value, days):
    claim: perdure.FactClaim = {"subject": "Priya", "predicate": "agent", "value": value, **days}
    return memory.remember(f"The agent of Priya is {value}.", facts=[claim])


@sides
def test_a_conflict_with_what_has_ended_is_over(memory, clock, days):
    for value, own in zip(("Kim", "Ole"), days, strict=True):
        tell(memory, value, own)
    assert len(memory.review()) == 1
    assert "undecided" in memory.digest()

    clock.passes(days=20)

    assert memory.review() == []
    assert "undecided" not in memory.digest()
    assert all(not fact.contested for fact in memory.facts())
    assert all(not hit.contested_with for hit in memory.recall("Who is the agent of Priya?").hits)


def test_an_earlier_time_has_the_conflict_still(memory, clock):
    tell(memory, "Kim", SHORT)
    tell(memory, "Ole", LONG)
    clock.passes(days=20)

    hits = memory.recall("agent of Priya", as_of=datetime(2026, 9, 2, 9, tzinfo=UTC)).hits

    assert any(hit.contested_with for hit in hits)


def test_those_that_hold_are_still_asked_about(memory, clock):
    tell(memory, "Ole", LONG)
    tell(memory, "Ida", LONG)
    tell(memory, "Kim", SHORT)
    clock.passes(days=20)

    (question,) = memory.review()

    assert "Ole" in question.question
    assert "Ida" in question.question
    assert "Kim" not in question.question
