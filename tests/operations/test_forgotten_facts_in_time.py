"""What was forgotten answers no question about a time for which something else is believed now."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

import perdure
from conftest import WORDS_ONLY

START = datetime(2026, 1, 1, tzinfo=UTC)
HOME = {"subject": "Ana", "predicate": "home"}
ASKED = "Where is the home of Ana?"


class Watch:
    """A clock that is moved by hand."""

    def __init__(self):
        self.now = START

    def __call__(self):
        return self.now


def day(number):
    return START + timedelta(days=number)


@pytest.fixture
def watch():
    return Watch()


@pytest.fixture
def memory(watch):
    with perdure.open(":memory:", WORDS_ONLY, clock=watch) as opened:
        yield opened


def tell(memory, watch, at, value):
    watch.now = day(at)
    return memory.learn(claims=[{**HOME, "value": value}]).created[0]


def forget(memory, watch, at, fact):
    watch.now = day(at)
    memory.forget(fact, "asked to")
    watch.now = day(at + 10)


def answers(memory, **then):
    """Return the values that facts, recall and the answer sheet give, which must be the same."""
    told = [f.value for f in memory.facts("Ana", **then)]
    recalled = sorted(h.memory.content.rpartition(" ")[2] for h in memory.recall(ASKED, **then).hits)
    known = sorted(e.says.rpartition(" ")[2] for e in memory.answer_sheet(ASKED, **then).known)
    assert (sorted(told), recalled) == (known, known)
    return told


def test_what_came_back_in_its_place_answers_alone(memory, watch):
    tell(memory, watch, 0, "Oslo")
    forget(memory, watch, 20, tell(memory, watch, 10, "Rome"))
    assert [answers(memory, as_of=day(n)) for n in (5, 12, 25)] == [["Oslo"]] * 3
    assert [answers(memory, known_at=day(n)) for n in (5, 12, 25)] == [["Oslo"], ["Rome"], ["Oslo"]]
    assert answers(memory, known_at=day(12), as_of=day(12)) == ["Rome"]
    assert {f.value: f.state for f in memory.facts("Ana", past=True)}["Rome"] == "archived"
    hits = memory.recall(ASKED, as_of=day(12), include_archived=True).hits
    assert {(h.memory.content, h.memory.status) for h in hits} >= {("Ana: home: Rome", "archived")}


def test_what_is_told_later_answers_alone_from_its_begin(memory, watch):
    forget(memory, watch, 20, tell(memory, watch, 10, "Rome"))
    tell(memory, watch, 40, "Paris")
    watch.now = day(60)
    assert answers(memory, as_of=day(50)) == ["Paris"]
    assert answers(memory, as_of=day(15)) == []  # nothing else is known of that time


def test_it_answers_again_where_it_is_brought_back(memory, watch):
    tell(memory, watch, 0, "Oslo")
    rome = tell(memory, watch, 10, "Rome")
    forget(memory, watch, 20, rome)
    memory.restore(rome)
    assert answers(memory, as_of=day(12)) == ["Rome"]
