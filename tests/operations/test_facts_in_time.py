"""Two axes of time: when a fact was true (``as_of``), and when it was believed (``known_at``)."""

from __future__ import annotations

from datetime import timedelta

import pytest

from conftest import START, WORDS_ONLY

KNOWLEDGE = {**WORDS_ONLY, "preset": "knowledge"}


@pytest.fixture
def memory(opening, clock):
    """Day 0: Friday. Day 70, 12 March: a correction from 1 February on, which is day 31. Day 90: it is denied."""
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


@pytest.mark.parametrize(
    ("when", "expected"),
    [
        ({}, []),
        # what was true, as far as is known today: what was denied never was
        ({"as_of": day(-1)}, []),
        ({"as_of": day(0)}, ["Friday"]),
        ({"as_of": day(30)}, ["Friday"]),
        ({"as_of": day(31)}, []),
        # what was believed
        ({"known_at": day(-1)}, []),
        ({"known_at": day(20)}, ["Friday"]),
        ({"known_at": day(80)}, ["Thursday"]),
        ({"known_at": day(91)}, []),
        # what was believed then about another day
        ({"known_at": day(80), "as_of": day(45)}, ["Thursday"]),
        ({"known_at": day(80), "as_of": day(10)}, ["Friday"]),
        ({"known_at": day(20), "as_of": day(45)}, ["Friday"]),
    ],
)
def test_each_axis_answers_its_own_question(memory, when, expected):
    assert values(memory, **when) == expected


def test_a_timeline_has_both_axes(memory):
    friday, thursday = memory.timeline("gai media").facts
    assert (friday.value, friday.state, friday.valid_to) == ("Friday", "superseded", thursday.valid_from)
    assert (thursday.value, thursday.state, thursday.valid_to) == ("Thursday", "invalidated", thursday.valid_from)
    assert friday.believed_to == thursday.believed_from == "2026-03-12 00:00 UTC"
    assert thursday.believed_to == "2026-04-01 00:00 UTC"


def test_messages_are_as_they_were_stored(memory):
    def heard(**when):
        return len(memory.recall("Gai Media deliveries", kinds=["episode"], limit=20, touch=False, **when).hits)

    assert (heard(), heard(as_of=day(20)), heard(known_at=day(20)), heard(known_at=day(-1))) == (2, 1, 1, 0)
