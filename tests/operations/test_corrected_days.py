"""The same value told again with other days: the later word's days hold, and what was believed before stays known."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from conftest import WORDS_ONLY, logical

LEAVE = {"subject": "Lena", "predicate": "status", "value": "on leave"}
LEAD = {"subject": "on-call", "predicate": "lead"}


def at(month, day):
    return datetime(2026, month, day, 9, tzinfo=UTC)


@pytest.fixture
def memory(opening, clock):
    clock.now = at(11, 3)
    return opening(WORDS_ONLY)


def days(memory, subject="Lena", **when):
    return [(f.value, f.valid_from[5:10], f.valid_to[5:10]) for f in memory.facts(subject, **when)]


def leave(begin, end):
    return {**LEAVE, "valid_from": begin and f"2026-11-{begin}", "valid_to": end and f"2026-11-{end}"}


HANDING = {
    "remember": lambda memory, claim: memory.remember("Word came from Lena again.", facts=[claim]),
    "learn": lambda memory, claim: memory.learn(claims=[claim]),
    "update": lambda memory, claim: memory.update(memory.list(kinds=["note"])[0].id, "Lena wrote.", facts=[claim]),
}


@pytest.mark.parametrize("handing", HANDING)
@pytest.mark.parametrize(
    ("first", "then", "holds"),
    [
        (("02", "20"), ("02", "06"), []),
        (("02", "06"), ("02", "20"), [("on leave", "11-02", "11-20")]),
        (("02", None), (None, "06"), []),
        (("03", "20"), ("02", "20"), [("on leave", "11-02", "11-20")]),
        (("02", "20"), (None, None), [("on leave", "11-02", "11-20")]),
    ],
)
def test_the_later_days_hold_and_the_earlier_stay_known(memory, clock, path, handing, first, then, holds):
    memory.remember("Lena is on leave.", facts=[leave(*first)])
    clock.now = at(11, 4)
    before, believed = logical(path), days(memory)
    clock.now = at(11, 5)
    done = HANDING[handing](memory, leave(*then))
    clock.now = at(11, 10)
    assert days(memory) == holds
    assert [h.memory.content for h in memory.recall("Is Lena on leave?", kinds=["fact"], touch=False).hits] == [
        "Lena: status: on leave (until 2026-11-20)" for _ in holds
    ]
    assert days(memory, known_at=at(11, 4)) == believed
    assert len(days(memory, as_of=at(11, 5))) == 1
    memory.undo(memory.history()[0].id if handing == "learn" else done.operation)
    assert logical(path) == before


@pytest.mark.parametrize(
    ("named", "begin"),
    [("", "2026-10-10"), *((named, begin) for named in ("value", "id") for begin in ("2026-10-20", "2026-10-10"))],
)
def test_a_wrong_first_day_is_put_right_with_the_last_day_of_what_came_before(memory, clock, path, named, begin):
    memory.remember("Ravi leads.", facts=[{**LEAD, "value": "Ravi", "valid_from": "2026-10-01"}])
    clock.passes(days=1)
    noor = {**LEAD, "value": "Noor", "valid_from": "2026-10-15"}
    memory.remember("Since 15 October Noor leads.", facts=[noor])
    (fact,), before = memory.facts("on-call"), logical(path)
    clock.passes(days=1)
    replaces = {"value": "Noor", "id": fact.id}.get(named)
    done = memory.remember("Noor began on another day.", facts=[{**noor, "valid_from": begin, "replaces": replaces}])
    assert days(memory, "on-call") == [("Noor", begin[5:], "")]
    for day in (9, 12, 17, 21):
        leads = "Ravi" if day < int(begin[8:]) else "Noor"
        assert [f.value for f in memory.facts("on-call", as_of=at(10, day))] == [leads]
    assert "days were corrected" in " ".join(e.because for e in memory.history(fact.id))
    told = {f.id: f for f in memory.timeline("on-call").facts}
    assert told[fact.id].superseded_by == (memory.facts("on-call")[0].id,)
    memory.undo(done.operation)
    assert logical(path) == before


LEEDS = {"subject": "Omar", "predicate": "home", "value": "Leeds"}


def in_update(memory, claim):
    return memory.update(memory.list(kinds=["note"])[0].id, "Omar came to Leeds later.", facts=[claim])


@pytest.mark.parametrize("handing", ["remember", "learn"])
@pytest.mark.parametrize("first", ["2024-01-01", None])
def test_a_value_that_is_said_again_with_a_later_day_is_confirmed_and_keeps_its_start(
    memory, clock, path, handing, first
):
    memory.remember("Omar lives in Leeds.", facts=[{**LEEDS, "valid_from": first}])
    (known,), before = memory.facts("Omar"), logical(path)
    clock.passes(days=40)
    done = HANDING[handing](memory, {**LEEDS, "valid_from": "2026-12-13"})
    (fact,) = memory.facts("Omar", past=True)
    assert (fact.id, fact.state, fact.valid_from, fact.confirmations) == (known.id, "active", known.valid_from, 2)
    for day in (datetime(2025, 1, 1, tzinfo=UTC), at(12, 1)):
        known_then = [f.value for f in memory.facts("Omar", as_of=day)]
        assert known_then == (["Leeds"] if first or day == at(12, 1) else [])
        assert ("never true" in memory.answer_sheet("Where did Omar live?", as_of=day).text) is False
    assert [t.id for t in memory.timeline("Omar").facts] == [known.id]
    memory.undo(memory.history()[0].id if handing == "learn" else done.operation)
    assert logical(path) == before


def test_a_later_day_with_an_end_keeps_the_start_as_well(memory, clock):
    memory.remember("Omar lives in Leeds.", facts=[{**LEEDS, "valid_from": "2024-01-01"}])
    clock.passes(days=4)
    memory.remember("Until Christmas.", facts=[{**LEEDS, "valid_from": "2026-11-07", "valid_to": "2026-12-24"}])
    assert [(f.valid_from[:10], f.valid_to[:10]) for f in memory.facts("Omar")] == [("2024-01-01", "2026-12-24")]


@pytest.mark.parametrize(
    "told",
    [
        in_update,
        lambda memory, claim: memory.learn(claims=[{**claim, "replaces": "Leeds"}]),
        lambda memory, claim: memory.learn(claims=[{**claim, "replaces": memory.facts("Omar")[0].id}]),
    ],
    ids=["update", "by value", "by id"],
)
def test_a_later_start_corrects_where_it_is_said_to(memory, clock, told):
    memory.remember("Omar lives in Leeds.", facts=[{**LEEDS, "valid_from": "2024-01-01"}])
    clock.passes(days=4)
    told(memory, {**LEEDS, "valid_from": "2025-06-01"})
    assert [f.valid_from[:10] for f in memory.facts("Omar")] == ["2025-06-01"]


def test_a_plan_that_has_begun_is_confirmed_by_the_day_of_the_talk_and_moved_by_another(memory, clock):
    leads = {**LEAD, "value": "Noor", "valid_from": "2026-11-10"}
    memory.learn(claims=[leads])
    clock.now = at(11, 20)
    memory.learn(claims=[{**leads, "valid_from": "2026-11-20"}])
    assert days(memory, "on-call") == [("Noor", "11-10", "")]
    memory.learn(claims=[{**leads, "valid_from": "2026-11-12"}])
    assert days(memory, "on-call") == [("Noor", "11-10", "")]


ENDS = {
    "deny": lambda memory: memory.deny(memory.facts("Lena")[0].id),
    "correct": lambda memory: memory.correct(memory.facts("Lena")[0].id, "at work"),
    "replace": lambda memory: memory.learn(claims=[{**LEAVE, "value": "at work", "replaces": "on leave"}]),
    "end": lambda memory: memory.learn(claims=[leave(None, "04")]),
    "update": lambda memory: memory.update(memory.list(kinds=["note"])[0].id, "Lena is back."),
}


@pytest.mark.parametrize("how", ENDS)
def test_what_was_known_before_a_fact_went_has_the_last_day_that_was_told(memory, clock, how):
    memory.remember("Lena is on leave.", facts=[leave("02", "20")])
    clock.now = at(11, 5)
    ENDS[how](memory)
    clock.now = at(11, 10)
    assert days(memory, known_at=at(11, 4)) == [("on leave", "11-02", "11-20")]
    assert days(memory, known_at=at(11, 4), as_of=at(11, 19)) == [("on leave", "11-02", "11-20")]
    assert days(memory, known_at=at(11, 4), as_of=at(11, 22)) == []
    told = {"kinds": ["fact"], "touch": False, "known_at": at(11, 4)}
    assert [h.memory.content for h in memory.recall("Lena leave", as_of=at(11, 19), **told).hits] == [
        "Lena: status: on leave (until 2026-11-20)"
    ]
    assert memory.recall("Lena leave", as_of=at(11, 22), **told).hits == ()


@pytest.mark.parametrize("claim", [leave("02", "06"), leave("01", "02")])
def test_days_are_not_corrected_by_one_who_is_less_trusted(memory, claim):
    memory.remember("Lena is on leave.", facts=[leave("02", "20")])
    memory.remember("A page says so.", facts=[claim], source="https://example.com/lena")
    assert days(memory) == [("on leave", "11-02", "11-20")]


def test_what_has_ended_is_told_of_another_time_or_with_another_end(memory, clock):
    memory.remember("Lena is on leave.", facts=[leave("02", "06")])
    clock.now = at(11, 10)
    memory.remember("Lena is on leave again.", facts=[leave("09", "20")])
    assert days(memory) == [("on leave", "11-09", "11-20")]
    assert days(memory, as_of=at(11, 5)) == [("on leave", "11-02", "11-06")]
    memory.remember("She was away from the eighth on.", facts=[leave("08", "20")])
    clock.now = at(11, 25)
    memory.remember("She came back on the nineteenth.", facts=[leave("08", "18")])
    assert days(memory, as_of=at(11, 19)) == []
    assert days(memory, as_of=at(11, 17)) == [("on leave", "11-08", "11-18")]


def test_a_conflict_stays_open_when_the_days_of_a_side_are_corrected(memory, clock):
    memory.remember("Ravi leads.", facts=[{**LEAD, "value": "Ravi"}])
    memory.remember("Noor leads.", facts=[{**LEAD, "value": "Noor"}])
    clock.passes(days=1)
    memory.remember("Noor leads since October.", facts=[{**LEAD, "value": "Noor", "valid_from": "2026-10-15"}])
    assert [(f.value, bool(f.contested)) for f in memory.facts("on-call")] == [("Noor", True), ("Ravi", True)]
    (question,) = memory.review()
    assert "Which holds?" in question.question


HOME = {"subject": "Lena", "predicate": "home", "value": "Porto"}
UNTIL = {
    "over when told": {"valid_from": "2026-01-05", "valid_to": "2026-11-20"},
    "over when told, since nobody knows": {"valid_to": "2026-11-20"},
    "told while it held": {"valid_from": "2026-01-05"},
}


@pytest.mark.parametrize("end", ["2026-11-10", "2026-11-23"])
@pytest.mark.parametrize("first", UNTIL)
def test_a_last_day_that_is_over_gives_way_to_a_later_word(memory, clock, path, first, end):
    clock.now = at(11, 3 if "held" in first else 24)
    memory.remember("Lena was in Porto.", facts=[{**HOME, **UNTIL[first]}])
    clock.now = at(11, 25)
    memory.learn(claims=[{**HOME, "valid_to": "2026-11-20"}])
    before = logical(path)
    clock.now = at(11, 26)
    done = memory.remember("It was until another day.", facts=[{**HOME, "valid_to": end}])
    told = [f for f in memory.timeline("Lena").facts if f.state == "superseded"]
    assert [f.valid_to[:10] for f in told] == [end]
    assert told[0].valid_from[:10] == ("2026-01-05" if "valid_from" in UNTIL[first] else end)
    assert memory.facts("Lena") == []
    again = memory.learn(claims=[{**HOME, "valid_to": end}])
    assert (again.created, again.reinforced) == ((), (told[0].id,))
    memory.undo(memory.history()[0].id)
    memory.undo(done.operation)
    assert logical(path) == before


def test_the_days_of_another_time_or_by_one_less_trusted_leave_the_past_as_it_was(memory, clock):
    clock.now = at(11, 25)
    memory.learn(claims=[{**HOME, "valid_from": "2026-01-05", "valid_to": "2026-11-20"}])
    memory.learn(claims=[{**HOME, "valid_from": "2019-01-01", "valid_to": "2020-01-01"}])
    clock.now = at(11, 26)
    memory.remember("A page says so.", facts=[{**HOME, "valid_to": "2026-11-10"}], source="https://example.com/lena")
    assert [f.valid_to[:10] for f in memory.timeline("Lena").facts] == ["2020-01-01", "2026-11-20"]
    memory.learn(claims=[{**HOME, "valid_to": "2019-12-01"}])
    assert [f.valid_to[:10] for f in memory.timeline("Lena").facts if f.state == "superseded"] == [
        "2019-12-01",
        "2026-11-20",
    ]


def test_what_was_over_before_a_day_that_nobody_knows_can_be_put_right(memory, clock, path):
    clock.now = at(11, 25)
    memory.remember("Lena lived in Porto until the twentieth.", facts=[{**HOME, "valid_to": "2026-11-20"}])
    before = logical(path)
    clock.now = at(11, 26)
    porto = memory.timeline("Lena").facts[0].id
    memory.correct(porto, "Braga")
    assert {f.value: f.state for f in memory.timeline("Lena").facts} == {"Braga": "superseded", "Porto": "invalidated"}
    memory.undo(memory.history()[0].id)
    memory.deny(porto)
    memory.undo(memory.history()[0].id)
    assert logical(path) == before


@pytest.mark.parametrize("since", [None, "2015-01-01"])
def test_an_earlier_time_of_a_value_says_nothing_of_what_holds(memory, clock, path, since):
    memory.remember("Lena lives in Porto.", facts=[{**HOME, "valid_from": since}])
    clock.now, before = at(11, 5), logical(path)
    before_that = {**HOME, "valid_from": "2001-01-01", "valid_to": "2004-01-01"}
    done = memory.remember("She lived there before.", facts=[before_that])
    assert [f.value for f in memory.facts("Lena")] == ["Porto"]
    assert [f.value for f in memory.facts("Lena", as_of=datetime(2003, 1, 1, tzinfo=UTC))] == ["Porto"]
    assert memory.facts("Lena", as_of=datetime(2005, 1, 1, tzinfo=UTC)) == []
    memory.undo(done.operation)
    assert logical(path) == before


@pytest.mark.parametrize("said", ["Jonas war bis 15. Oktober im Urlaub.", "Jonas was away until Oct. 15."])
def test_a_note_whose_day_was_corrected_leaves_no_part_of_itself_as_current(memory, said):
    away = {"subject": "Jonas", "predicate": "Status", "value": "Urlaub" if "Urlaub" in said else "away"}
    memory.remember(said, facts=[{**away, "valid_to": "2026-10-15"}])
    memory.remember("Later: the tenth it was.", facts=[{**away, "valid_to": "2026-10-10"}])
    assert said[:10] not in memory.digest()
