"""What was over when it was told, and nobody said since when it held: it held up to its end, on any day before."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from conftest import WORDS_ONLY, Clock

SAID = datetime(2026, 9, 7, 9, tzinfo=UTC)
ASKED = "Who is mayor of Alpdorf?"


@pytest.fixture
def clock():
    return Clock(SAID)


@pytest.fixture
def memory(opening):
    return opening(WORDS_ONLY)


def tell(memory, text, value, **days):
    memory.remember(text, facts=[{"subject": "Alpdorf", "predicate": "mayor", "value": value, **days}])


def on(year, month=1, day=1):
    return datetime(year, month, day, 12, tzinfo=UTC)


def values(memory, at):
    recalled = [h.memory.content for h in memory.recall(ASKED, as_of=at, kinds=["fact"], touch=False).hits]
    listed = [f.value for f in memory.facts("Alpdorf", as_of=at)]
    assert sorted(text.rpartition(": ")[2] for text in recalled) == sorted(listed)
    return listed


def test_it_answers_for_any_day_before_its_end(memory):
    tell(memory, "Bruno was mayor until 1 September 2026.", "Bruno", valid_to="2026-09-01")
    assert values(memory, on(2026, 8, 15)) == ["Bruno"]
    assert values(memory, on(2019)) == ["Bruno"]
    assert values(memory, on(2026, 9, 2)) == []
    assert memory.facts("Alpdorf") == []
    sheet = memory.answer_sheet(ASKED, as_of=on(2026, 8, 15))
    assert [(entry.says, entry.since, entry.until) for entry in sheet.known] == [
        ("Alpdorf: mayor: Bruno", "", "2026-09-01")
    ]


def test_what_is_believed_now_is_of_now_alone(memory):
    tell(memory, "Bruno was mayor until 1 September 2026.", "Bruno", valid_to="2026-09-01")
    tell(memory, "Carla is mayor since 2 September 2026.", "Carla", valid_from="2026-09-02")
    assert [f.value for f in memory.facts("Alpdorf")] == ["Carla"]
    assert values(memory, on(2026, 8, 15)) == ["Bruno"]
    assert values(memory, on(2026, 9, 5)) == ["Carla"]
    assert memory.review() == []


def test_another_value_that_ended_earlier_bounds_it(memory):
    tell(memory, "Bruno was mayor until 1 September 2026.", "Bruno", valid_to="2026-09-01")
    tell(memory, "Anna was mayor from 2010 to 2018.", "Anna", valid_from="2010-01-01", valid_to="2018-12-31")
    assert values(memory, on(2015)) == ["Anna"]
    assert values(memory, on(2020)) == ["Bruno"]
    assert values(memory, on(2005)) == []


def test_what_was_said_to_be_wrong_bounds_nothing_and_holds_at_no_time(memory):
    tell(memory, "Bruno was mayor until 1 September 2026.", "Bruno", valid_to="2026-09-01")
    tell(memory, "Anna was mayor until 31 December 2018.", "Anna", valid_to="2018-12-31")
    (wrong,) = (f.id for f in memory.facts("Alpdorf", past=True) if f.value == "Anna")
    memory.deny(wrong)
    assert values(memory, on(2015)) == ["Bruno"]


def test_a_value_that_was_replaced_as_it_began_held_on_no_day_before(memory, clock):
    tell(memory, "Bruno is mayor since 1 March 2026.", "Bruno", valid_from="2026-03-01")
    clock.passes(days=1)
    tell(memory, "Not Bruno: Carla is mayor since 1 March.", "Carla", valid_from="2026-03-01", replaces="Bruno")
    assert values(memory, on(2026, 2, 1)) == []
    assert values(memory, on(2026, 4, 1)) == ["Carla"]


def test_the_timeline_says_only_until_when(memory):
    from perdure.interfaces.views.knowledge import true_period

    tell(memory, "Bruno was mayor until 1 September 2026.", "Bruno", valid_to="2026-09-01")
    (line,) = memory.timeline("Alpdorf").facts
    assert true_period(line) == "until 2026-09-01"
