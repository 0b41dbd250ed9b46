"""Days that facts are handed over with: when they begin, how long they last, and what is still to come."""

from datetime import UTC, date, datetime

import pytest

from conftest import WORDS_ONLY

FREEZE = {"subject": "main", "predicate": "freeze", "value": "on"}


@pytest.fixture
def memory(opening, clock):
    clock.now = datetime(2026, 1, 5, 20, tzinfo=UTC)
    return opening(WORDS_ONLY)


@pytest.mark.parametrize("end", ["2026-01-20", date(2026, 1, 20)])
def test_the_last_day_counts_whole(memory, clock, end):
    memory.remember("The freeze lasts until 20 January.", facts=[{**FREEZE, "valid_to": end}])
    clock.now = datetime(2026, 1, 20, 23, 59, tzinfo=UTC)
    (fact,) = memory.facts("main")
    assert fact.valid_to[:10] == "2026-01-20"
    clock.now = datetime(2026, 1, 21, tzinfo=UTC)
    assert memory.facts("main") == []


def test_a_time_is_taken_as_it_is(memory, clock):
    memory.learn(claims=[{**FREEZE, "valid_to": "2026-01-20T00:00Z"}])
    clock.now = datetime(2026, 1, 20, tzinfo=UTC)
    assert memory.facts("main") == []


def test_what_ended_yesterday_is_over_and_what_ends_today_is_not(memory):
    memory.learn(claims=[{**FREEZE, "valid_to": "2026-01-04"}, {**FREEZE, "subject": "dev", "valid_to": "2026-01-05"}])
    assert [f.name for f in memory.facts()] == ["dev"]


def test_one_value_may_end_on_the_day_on_which_the_next_begins(memory):
    one = {**FREEZE, "predicate": "branch", "valid_from": "2024-01-01", "valid_to": "2025-05-01"}
    memory.learn(claims=[one, {**one, "value": "off", "valid_from": "2025-05-01", "valid_to": None}])
    assert [f.value for f in memory.facts("main")] == ["off"]


@pytest.mark.parametrize(("zone", "state"), [("Asia/Tokyo", "active"), ("UTC", "upcoming"), ("Etc/GMT+9", "upcoming")])
def test_a_day_has_begun_as_soon_as_it_has_in_the_policy_s_zone(opening, clock, zone, state):
    clock.now = datetime(2026, 1, 5, 20, tzinfo=UTC)
    memory = opening({**WORDS_ONLY, "days": {"zone": zone}})
    memory.learn(claims=[{**FREEZE, "valid_from": "2026-01-06"}])  # it is 5 in the morning in Tokyo
    (fact,) = memory.facts("main")
    assert (fact.valid_from[:10], fact.state) == ("2026-01-06", state)
    for subject, late in (("dev", "2026-01-07"), ("test", "2026-01-06T00:00Z")):
        memory.learn(claims=[{**FREEZE, "subject": subject, "valid_from": late}])
        assert [f.state for f in memory.facts(subject)] == ["upcoming"]
