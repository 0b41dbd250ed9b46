"""Two axes of time: when a fact was true (``as_of``), and when it was believed (``known_at``)."""

from __future__ import annotations

from datetime import timedelta

import pytest

from conftest import START, WORDS_ONLY

KNOWLEDGE = {**WORDS_ONLY, "preset": "facts"}


@pytest.fixture
def memory(opening, clock):
    """Day 0: Friday. Day 70, 12 March: a correction from 1 February on, which is day 31. Day 90: it is denied.

    So what it alone had displaced is believed again from day 90 on, and holds from day 31 on.
    """
    memory = opening(KNOWLEDGE)

    def said(text):
        memory.ingest([{"content": text, "at": clock().isoformat()}], session=f"day {(clock() - START).days}")

    said("Remember, Gai Media prefers Friday deliveries")
    clock.passes(days=70)
    said("Actually, Gai Media switched to Thursday deliveries last month")
    clock.passes(days=20)
    memory.deny(memory.facts("Gai Media")[0].id, "they told Ann")
    return memory


def values(memory, **when):
    hits = memory.recall(
        "Which delivery day does Gai Media prefer?", limit=20, kinds=["fact"], touch=False, **when
    ).hits
    return [h.memory.content.rpartition(": ")[2] for h in hits]


def day(number):
    return START + timedelta(days=number)


@pytest.mark.behaviour("KW1")
@pytest.mark.parametrize(
    ("when", "expected"),
    [
        ({}, ["Friday"]),
        # what was true, as far as is known today: what was denied never was
        ({"as_of": day(-1)}, []),
        ({"as_of": day(0)}, ["Friday"]),
        ({"as_of": day(30)}, ["Friday"]),
        ({"as_of": day(31)}, ["Friday"]),
        # what was believed
        ({"known_at": day(-1)}, []),
        ({"known_at": day(20)}, ["Friday"]),
        ({"known_at": day(80)}, ["Thursday"]),
        ({"known_at": day(91)}, ["Friday"]),
        # what was believed then about another day
        ({"known_at": day(80), "as_of": day(45)}, ["Thursday"]),
        ({"known_at": day(80), "as_of": day(10)}, ["Friday"]),
        ({"known_at": day(20), "as_of": day(45)}, ["Friday"]),
    ],
)
def test_each_axis_answers_its_own_question(memory, when, expected):
    assert values(memory, **when) == expected


def test_a_timeline_has_both_axes(memory):
    friday, thursday, again = memory.timeline("gai media").facts
    assert (friday.value, friday.state, friday.valid_to) == ("Friday", "superseded", thursday.valid_from)
    assert (thursday.value, thursday.state, thursday.valid_to) == ("Thursday", "invalidated", thursday.valid_from)
    assert friday.believed_to == thursday.believed_from == "2026-03-12 00:00 UTC"
    assert thursday.believed_to == again.believed_from == "2026-04-01 00:00 UTC"
    assert (again.value, again.state, again.valid_from, again.valid_to) == ("Friday", "active", friday.valid_to, "")


def test_messages_are_as_they_were_stored(memory):
    def heard(**when):
        return len(memory.recall("Gai Media deliveries", kinds=["episode"], limit=20, touch=False, **when).hits)

    assert (heard(), heard(as_of=day(20)), heard(known_at=day(20)), heard(known_at=day(-1))) == (2, 1, 1, 0)


@pytest.fixture
def imported(opening, clock):
    """Day 0, live: NET30. Day 300: talk of days 10 and 80 is taken in, Friday first and then Thursday, and NET60."""
    memory = opening(KNOWLEDGE)
    take_in(memory, (0, "Remember, Gai Media's payment terms are NET30."))
    clock.passes(days=300)
    take_in(
        memory,
        (10, "Remember, Gai Media prefers Friday deliveries."),
        (80, "Actually, Gai Media switched to Thursday deliveries."),
        (90, "Actually, Gai Media's payment terms are NET60."),
    )
    return memory


def take_in(memory, *turns):
    memory.ingest([{"content": text, "at": day(n).isoformat()} for n, text in turns], session=f"s{turns[0][0]}")


@pytest.mark.behaviour("KN81")
def test_what_is_taken_in_later_was_believed_by_nobody_before(imported):
    """Belief runs from the instant of learning to that of unlearning; the messages' days are when it was true."""
    line = {f.value: f for f in imported.timeline("Gai Media").facts}
    stored = "2026-10-28 00:00 UTC"  # day 300
    true = {value: (f.valid_from[:10], f.valid_to[:10]) for value, f in line.items()}
    assert true == {
        "NET30": ("2026-01-01", "2026-04-01"),
        "Friday": ("2026-01-11", "2026-03-22"),
        "Thursday": ("2026-03-22", ""),
        "NET60": ("2026-04-01", ""),
    }
    believed = {value: (f.believed_from, f.believed_to) for value, f in line.items()}
    assert believed == {
        "NET30": ("2026-01-01 00:00 UTC", stored),
        "Friday": (stored, stored),
        "Thursday": (stored, ""),
        "NET60": (stored, ""),
    }
    assert list(line) == ["NET30", "Friday", "Thursday", "NET60"]  # in the order in which they were true
    told = imported.why(line["Friday"].id).fact
    assert (told.believed_from, told.believed_to) == (stored, stored)


@pytest.mark.behaviour("KN82")
@pytest.mark.parametrize(
    ("when", "expected"),
    [
        ({"known_at": 200}, ["NET30"]),  # days after the message that ends it, and before anybody heard of that
        ({"known_at": 299, "as_of": 120}, ["NET30"]),
        ({"known_at": 300}, ["NET60", "Thursday"]),
        ({"as_of": 50}, ["Friday", "NET30"]),
        ({"as_of": 85}, ["NET30", "Thursday"]),
        ({"as_of": 120}, ["NET60", "Thursday"]),
    ],
)
def test_what_was_known_before_talk_was_taken_in_is_what_recall_says(imported, when, expected):
    hits = imported.recall(
        "Which deliveries and payment terms has Gai Media?",
        limit=20,
        kinds=["fact"],
        touch=False,
        **{name: day(number) for name, number in when.items()},
    ).hits
    assert sorted(h.memory.content.rpartition(": ")[2] for h in hits) == expected


@pytest.mark.behaviour("KN90")
@pytest.mark.parametrize(
    ("when", "known", "outdated"),
    [
        ({}, ["Friday"], ["Thursday"]),
        ({"as_of": -1}, [], []),
        ({"as_of": 10}, ["Friday"], []),
        ({"as_of": 45}, ["Friday"], ["Thursday"]),  # what was denied never was
        ({"known_at": -1}, [], []),
        ({"known_at": 20}, ["Friday"], []),
        ({"known_at": 80}, ["Thursday"], ["Friday"]),
        ({"known_at": 91}, ["Friday"], ["Thursday"]),
        ({"known_at": 80, "as_of": 45}, ["Thursday"], ["Friday"]),
        ({"known_at": 80, "as_of": 10}, ["Friday"], []),
        ({"known_at": 20, "as_of": 45}, ["Friday"], []),
    ],
)
def test_an_answer_sheet_looks_back_on_both_axes(memory, when, known, outdated):
    sheet = memory.answer_sheet(
        "Which delivery day does Gai Media prefer?", **{name: day(number) for name, number in when.items()}
    )
    told = [[s.says.rpartition(": ")[2] for s in some] for some in (sheet.known, sheet.outdated)]
    assert [told[0], sorted(told[1])] == [known, outdated]
    assert (sheet.aging, sheet.contested) == ((), ())
    assert [bool(sheet.as_of), bool(sheet.known_at)] == ["as_of" in when, "known_at" in when]
    if when.get("known_at") == 20:
        assert "Thursday" not in sheet.text  # nobody had heard of it
        assert sheet.known[0].until == ""
        assert "what was known on 2026-01-21" in sheet.text


def test_what_was_contested_then_is_contested_on_a_sheet_of_then(opening, clock):
    memory = opening(KNOWLEDGE)
    take_in(memory, (0, "Remember, Gai Media prefers Friday deliveries."))
    clock.passes(days=1)
    take_in(memory, (1, "Remember, Gai Media prefers Monday deliveries."))
    clock.passes(days=9)
    memory.confirm(next(f.id for f in memory.facts("Gai Media") if f.value == "Monday"))
    question = "Which delivery day does Gai Media prefer?"
    assert memory.answer_sheet(question).contested == ()
    assert memory.answer_sheet(question, known_at=day(0.5)).contested == ()
    ((*sides,),) = memory.answer_sheet(question, known_at=day(5)).contested
    assert sorted(s.says.rpartition(": ")[2] for s in sides) == ["Friday", "Monday"]


@pytest.mark.behaviour("KN91")
@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (-1, []),
        (20, [("Friday", "active", False)]),
        (80, [("Friday", "superseded", True), ("Thursday", "active", False)]),
        (91, [("Friday", "superseded", True), ("Thursday", "invalidated", True), ("Friday", "active", False)]),
    ],
)
def test_a_timeline_as_it_was_known(memory, number, expected):
    told = memory.timeline("Gai Media", known_at=day(number)).facts
    assert [(f.value, f.state, bool(f.valid_to)) for f in told] == expected


def test_a_fact_that_was_archived_later_was_known_until_then(opening, clock):
    memory = opening(KNOWLEDGE)
    memory.remember("Mia moved.", facts=[{"subject": "Mia", "predicate": "home", "value": "Oslo"}])
    (fact,) = memory.facts("Mia")
    clock.passes(days=10)
    memory.archive(fact.id, "she asked")
    assert memory.facts("Mia") == []
    assert [f.value for f in memory.facts("Mia", known_at=day(5))] == ["Oslo"]
    assert memory.facts("Mia", known_at=day(11)) == []
