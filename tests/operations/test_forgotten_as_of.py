"""What a person forgot answers no question of what was true; what was known before it was forgotten still has it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

import perdure
from conftest import WORDS_ONLY

START = datetime(2026, 3, 1, 9, tzinfo=UTC)
ASKED = "What is the shoe size of Tom?"
SIZE = {"subject": "Tom", "predicate": "shoe size", "value": "43"}
DAYS = (0.5, 5, 20)  # while it was believed, and after it was forgotten
FOREVER = {"knowledge": {"aging_days": 30, "unanswered_days": 10}}


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
    with perdure.open(":memory:", {**WORDS_ONLY, **FOREVER}, clock=watch) as opened:
        yield opened


def answers(memory, **then):
    """Return what facts, recall and answer sheets say, each of which must say the same."""
    told = {f.value for f in memory.facts("Tom", **then)}
    recalled = {h.memory.content.rpartition(" ")[2].strip(".") for h in memory.recall(ASKED, touch=False, **then).hits}
    sheet = memory.answer_sheet(ASKED, **then)
    known = {e.says.rpartition(" ")[2] for part in (sheet.known, sheet.aging, sheet.outdated) for e in part}
    assert told == recalled == known
    return told


def forgotten(memory, watch, at=10):
    note = memory.remember("Tom's shoe size is 43.", facts=[SIZE])
    watch.now = day(at)
    done = memory.forget(note.id, "it was never so")
    watch.now = day(at + 10)
    return note, done


def test_the_fact_of_a_forgotten_note_was_true_on_no_day(memory, watch):
    forgotten(memory, watch)
    assert [answers(memory, as_of=day(n)) for n in DAYS] == [set()] * 3
    assert answers(memory, as_of=day(5), known_at=day(15)) == set()
    assert answers(memory, known_at=day(15)) == set()


def test_what_was_known_before_it_was_forgotten_still_has_it(memory, watch):
    forgotten(memory, watch)
    assert answers(memory, known_at=day(5)) == answers(memory, known_at=day(5), as_of=day(5)) == {"43"}


def test_a_fact_that_is_forgotten_itself_was_true_on_no_day(memory, watch):
    memory.remember("Tom's shoe size is 43.", facts=[SIZE])
    watch.now = day(10)
    for fact in memory.facts("Tom"):
        memory.forget(fact.id)
    assert memory.facts("Tom", as_of=day(5)) == []
    assert "archived" in {f.state for f in memory.facts("Tom", past=True, as_of=day(5))}


def test_it_was_true_again_once_it_is_brought_back(memory, watch):
    note, _ = forgotten(memory, watch)
    memory.restore(note.id)
    assert answers(memory, as_of=day(5)) == {"43"}


def test_it_is_forgotten_again_where_an_undo_is_undone(memory, watch):
    _, done = forgotten(memory, watch)
    back = memory.undo(done.operation)
    assert answers(memory, as_of=day(5)) == {"43"}
    memory.undo(back.operation)
    assert answers(memory, as_of=day(5)) == set()


def test_it_stays_forgotten_where_the_journal_keeps_no_more_than_who_and_why(watch):
    horizon = {"journal": {"horizon_days": 30}}
    with perdure.open(":memory:", {**WORDS_ONLY, **FOREVER, **horizon}, clock=watch) as memory:
        note, _ = forgotten(memory, watch)
        watch.now = day(100)
        memory.upkeep("worker", eager=True)
        assert all(entry.trimmed for entry in memory.history(note.id) if entry.target == "memory")
        assert memory.facts("Tom", as_of=day(5)) == []


def test_what_only_faded_was_true_all_the_same(memory, watch):
    memory.remember("Tom's shoe size is 43.", facts=[SIZE])
    watch.now = day(500)
    memory.maintain("here")
    (fact,) = memory.facts("Tom", past=True)
    assert fact.state == "archived"
    assert [f.value for f in memory.facts("Tom", as_of=day(5))] == ["43"]


def test_what_was_forgotten_after_nobody_confirmed_it_for_long_is_on_no_answer_sheet(memory, watch):
    forgotten(memory, watch, at=100)
    sheet = memory.answer_sheet(ASKED)
    assert "43" not in sheet.text
    assert "43" not in memory.answer_sheet(ASKED, as_of=day(5)).text
