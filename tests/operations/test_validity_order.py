"""Facts that say since when they hold: the order of those days decides, whichever was said first."""

from datetime import UTC, datetime

import pytest

from conftest import WORDS_ONLY, logical

OSLO = {"subject": "Ana", "predicate": "home", "value": "Oslo", "valid_from": "2024-05-01"}
BERGEN = {**OSLO, "value": "Bergen", "valid_from": "2020-01-01"}
PARIS = {**OSLO, "value": "Paris", "valid_from": "2016-03-01"}


@pytest.fixture
def memory(opening):
    return opening(WORDS_ONLY)


def homes(memory, year):
    return [f.value for f in memory.facts("Ana", as_of=datetime(year, 7, 1, tzinfo=UTC))]


@pytest.mark.parametrize("days", [0, 10, 400])
def test_a_value_that_began_to_hold_earlier_is_over_and_the_current_one_stays(memory, clock, days):
    memory.remember("Ana lives in Oslo since May 2024.", facts=[OSLO])
    clock.passes(days=days)
    before = [f.to_dict() for f in memory.facts("Ana", past=True)]
    done = memory.remember("Ana moved to Bergen in 2020.", facts=[BERGEN])
    assert (done.facts.retired, done.facts.asked) == ((), ())
    assert [f.value for f in memory.facts("Ana")] == ["Oslo"]
    (bergen,) = [f for f in memory.facts("Ana", past=True) if f.value == "Bergen"]
    assert (bergen.valid_from, bergen.valid_to) == ("2020-01-01 00:00 UTC", "2024-05-01 00:00 UTC")
    assert (homes(memory, 2019), homes(memory, 2021), homes(memory, 2025)) == ([], ["Bergen"], ["Oslo"])
    assert "Ana lives in Oslo" in memory.digest()
    memory.undo(done.operation)
    assert [f.to_dict() for f in memory.facts("Ana", past=True)] == before


@pytest.mark.parametrize("told", [(OSLO, BERGEN, PARIS), (PARIS, OSLO, BERGEN), (BERGEN, PARIS, OSLO)])
def test_three_values_hold_one_after_the_other_in_whatever_order_they_are_told(memory, clock, told):
    for fact in told:
        memory.learn(claims=[fact])
        clock.passes(days=1)
    assert [f.value for f in memory.facts("Ana")] == ["Oslo"]
    assert [homes(memory, year) for year in (2018, 2021, 2025)] == [["Paris"], ["Bergen"], ["Oslo"]]
    (bergen,) = [f for f in memory.facts("Ana", past=True) if f.value == "Bergen"]
    assert "began to hold" in " ".join(c.told for c in memory.why(bergen.id).fact.conflicts)


def test_a_correction_wins_over_the_order_of_days(memory):
    first = memory.remember("Ana lives in Oslo since May 2024.", facts=[OSLO])
    memory.update(first.id, "Ana has lived in Bergen since 2020.", facts=[BERGEN])
    assert [f.value for f in memory.facts("Ana")] == ["Bergen"]
    memory.remember("Not Bergen: Paris, since 2016.", facts=[{**PARIS, "replaces": "Bergen"}])
    assert [f.value for f in memory.facts("Ana")] == ["Paris"]


def test_somebody_less_trusted_does_not_end_what_a_person_said(memory, clock):
    memory.remember("I live in Bergen since 2020.", facts=[BERGEN])
    clock.passes(days=10)
    memory.remember("Ana has lived in Oslo since May.", facts=[OSLO], source="https://example.org")
    assert [f.value for f in memory.facts("Ana")] == ["Bergen"]


def test_an_earlier_day_ends_nothing_whoever_says_it(memory, clock):
    memory.remember("I live in Oslo since May 2024.", facts=[OSLO])
    clock.passes(days=100)
    memory.remember("Ana has lived in Paris since 2016.", facts=[PARIS], source="https://example.org")
    assert [f.value for f in memory.facts("Ana")] == ["Oslo"]
    memory.remember("I moved to Bergen in 2020.", facts=[BERGEN])
    assert [f.value for f in memory.facts("Ana")] == ["Oslo"]
    assert [homes(memory, year) for year in (2018, 2021, 2025)] == [["Paris"], ["Bergen"], ["Oslo"]]


PORT = {"subject": "alpha", "predicate": "port"}
NOW_SAID = {
    "update": lambda memory, note: memory.update(note, "Alpha listens on port 9.", facts=[{**PORT, "value": "9"}]),
    "correct": lambda memory, _: memory.correct(memory.facts("alpha")[0].id, "9"),
    "remember": lambda memory, _: memory.remember("Port 9 now.", facts=[{**PORT, "value": "9", "replaces": "1"}]),
    "learn": lambda memory, _: memory.learn(claims=[{**PORT, "value": "9", "replaces": "1"}]),
}


@pytest.mark.parametrize("way", NOW_SAID)
def test_what_is_told_later_wins_though_the_clock_was_set_back(opening, clock, path, way):
    memory = opening(WORDS_ONLY)
    note = memory.remember("Alpha listens on port 1.", facts=[{**PORT, "value": "1"}])
    memory.recall("alpha port")
    before = logical(path)
    clock.passes(days=-100)
    NOW_SAID[way](memory, note.id)
    assert [f.value for f in memory.facts("alpha")] == ["9"]
    memory.undo(memory.history()[0].id)
    assert logical(path) == before
    NOW_SAID[way](memory, note.id)
    memory.recall("alpha port")
    assert memory.check(full=True) == []
    clock.passes(days=101)
    assert [(f.value, bool(f.contested)) for f in memory.facts("alpha")] == [("9", False)]
    assert memory.check(full=True) == []


def test_of_two_values_a_person_is_asked_though_the_clock_was_set_back(opening, clock):
    memory = opening(WORDS_ONLY)
    memory.remember("Alpha listens on port 1.", facts=[{**PORT, "value": "1"}])
    clock.passes(days=-100)
    memory.remember("Port 9.", facts=[{**PORT, "value": "9"}])
    assert [(f.value, bool(f.contested)) for f in memory.facts("alpha")] == [("9", True), ("1", True)]
    assert len(memory.review()) == 1
