"""The days from which and until which something holds are those of the policy's zone, wherever they are shown."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from conftest import WORDS_ONLY
from perdure.interfaces.http.decoding import decode_value
from perdure.knowledge.records.results import FactLine

ZONES = ["Pacific/Kiritimati", "America/Los_Angeles"]
PLAN = {"subject": "Lumen", "predicate": "plan"}
SILVER = {**PLAN, "value": "Silver", "valid_from": "2026-01-01", "valid_to": "2026-03-31"}
GOLD = {**PLAN, "value": "Gold", "valid_from": "2026-04-01"}
EVE, FIRST = (3, 31), (4, 1)


@pytest.fixture(params=ZONES)
def zone(request):
    return ZoneInfo(request.param)


@pytest.fixture
def memory(opening, clock, zone):
    clock.now = datetime(2026, 3, 1, 9, tzinfo=UTC)
    return opening({**WORDS_ONLY, "days": {"zone": zone.key}})


def holding(memory, **when):
    return [f.value for f in memory.facts("Lumen", **when) if f.state != "upcoming"]


def hours(zone):
    """Return moments of 31 March and 1 April there, each with what holds."""
    yield from ((datetime(2026, *EVE, hour, 59, 59, tzinfo=zone), "Silver") for hour in (0, 8, 16, 23))
    yield from ((datetime(2026, *FIRST, hour, 0, tzinfo=zone), "Gold") for hour in (0, 8, 16, 23))


def test_between_a_last_day_and_the_first_of_what_follows_there_is_neither_a_gap_nor_an_overlap(memory, clock, zone):
    memory.remember("Lumen is on Silver until 31 March.", facts=[SILVER])
    memory.remember("Lumen is on Gold from 1 April.", facts=[GOLD])
    for clock.now, value in hours(zone):
        assert holding(memory) == [value]
        sheet = memory.answer_sheet("Which plan is Lumen on?")
        assert [e.says for e in sheet.known if e.state != "upcoming"] == [f"Lumen: plan: {value}"]
        hits = memory.recall("Which plan is Lumen on?", kinds=["note"], touch=False).hits
        assert [value in h.memory.content for h in hits if not (h.over or h.upcoming)] == [True]
    for at, value in hours(zone):
        assert holding(memory, as_of=at) == [value]


def test_a_plan_is_shown_with_its_day_until_that_has_come(memory, clock, zone):
    memory.remember("Lumen is on Silver.", facts=[{**PLAN, "value": "Silver", "valid_from": "2026-01-01"}])
    done = memory.remember("Lumen will be on Gold.", facts=[GOLD])
    assert done.facts.planned == ("Lumen: plan: Gold (from 2026-04-01)",)
    for clock.now, value in hours(zone):
        upcoming = [f.valid_from[:10] for f in memory.facts("Lumen") if f.state == "upcoming"]
        hits = {h.memory.id: h.upcoming for h in memory.recall("Which plan is Lumen on?", touch=False).hits}
        marked = "(from 2026-04-01)" in str(memory.digest())
        day = "2026-04-01" if value == "Silver" else ""
        assert (holding(memory), upcoming, hits[done.id], marked) == ([value], [day] * bool(day), day, bool(day))
    (old,) = (f for f in memory.facts("Lumen", past=True) if f.value == "Silver")
    (new,) = memory.facts("Lumen")
    assert (old.valid_from[:10], old.valid_to[:10], new.valid_from[:10]) == ("2026-01-01", "2026-04-01", "2026-04-01")
    begin = datetime(2026, *FIRST, tzinfo=zone)
    assert new.to_dict()["valid_from"] == begin.isoformat(timespec="milliseconds")
    assert decode_value(FactLine, new.to_dict()) == new
    assert memory.why(new.id).fact.valid_from == new.valid_from
    sheet = memory.answer_sheet("Which plan is Lumen on?")
    assert [(e.says, e.since) for e in sheet.known] == [("Lumen: plan: Gold", "2026-04-01")]


def test_the_day_on_which_something_is_said_is_no_other_start(memory, clock, zone):
    clock.now = datetime(2026, 3, 5, 18, tzinfo=zone)
    memory.learn(claims=[{**PLAN, "value": "Silver"}])
    clock.passes(hours=2)
    memory.learn(claims=[{**PLAN, "value": "Silver", "valid_from": "2026-03-05"}])
    assert [(f.value, f.valid_from[:10]) for f in memory.facts("Lumen", past=True)] == [("Silver", "2026-03-05")]


def test_what_is_learned_from_talk_begins_with_its_first_day_there(opening, elsewhere, clock, zone):
    clock.now = datetime(2026, 3, 20, 20, tzinfo=zone)
    memory = opening({**WORDS_ONLY, "preset": "facts", "days": {"zone": zone.key}}, at=elsewhere())
    memory.ingest([{"role": "user", "content": "I have lived in Lyon since 10 March 2026."}], session="s1")
    assert [(f.value, f.valid_from[:10]) for f in memory.facts()] == [("Lyon", "2026-03-10")]
    begin = datetime(2026, 3, 10, tzinfo=zone)
    assert memory.facts(as_of=begin - timedelta(seconds=1)) == []
    assert [f.value for f in memory.facts(as_of=begin)] == ["Lyon"]


def test_what_ended_is_told_with_its_day_there(memory, clock, zone):
    done = memory.remember("Lumen is on Silver until 31 March.", facts=[SILVER])
    clock.now = datetime(2026, *FIRST, tzinfo=zone) + timedelta(hours=1)
    (hit,) = memory.recall("Which plan is Lumen on?", kinds=["note"], touch=False).hits
    assert hit.memory.id == done.id
    assert [(fact.over, fact.since[:10]) for fact in hit.over] == [("ended", "2026-03-31")]
