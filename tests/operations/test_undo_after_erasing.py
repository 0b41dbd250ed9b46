"""An undo that could bring nothing back, because it was erased, is refused; one that still can is done."""

from __future__ import annotations

import pytest

from conftest import WORDS_ONLY
from perdure.records.errors import InvalidInput

HOME = {"subject": "Priya", "predicate": "home"}
LEEDS, YORK = "Priya lives in Leeds.", "Priya lives in York."
CHANGES = {
    "update": lambda m, note: m.update(note, YORK, facts=[{**HOME, "value": "York"}]),
    "update of words": lambda m, note: m.update(note, YORK),
    "correct of the note": lambda m, note: m.correct(note, YORK),
    "correct of the fact": lambda m, _: m.correct(m.facts("Priya")[0].id, "York"),
    "replaces": lambda m, note: m.remember(YORK, facts=[{**HOME, "value": "York"}], replaces=[note]),
}


@pytest.fixture
def memory(opening):
    return opening(WORDS_ONLY)


def told(memory, *, facts=True):
    return memory.remember(LEEDS, facts=[{**HOME, "value": "Leeds"}] if facts else []).id


def erase(memory, identity):
    asked = memory.erase([identity], reason="asked to")
    memory.erase([identity], reason="asked to", confirm=asked.confirm, dry_run=False)


def contents(memory):
    return {m.content for m in memory.list(include_archived=True)}


@pytest.mark.parametrize("change", CHANGES)
def test_what_took_the_place_of_something_erased_stays(memory, change):
    note = told(memory, facts=change == "correct of the fact" or "of" not in change)
    changed = CHANGES[change](memory, note).operation
    erase(memory, note)
    before = contents(memory)
    assert before
    with pytest.raises(InvalidInput, match=r"replaced was erased for good.*Nothing was written"):
        memory.undo(changed)
    assert contents(memory) == before
    assert memory.check(full=True) == []


def test_what_was_not_erased_comes_back(memory):
    first, second = told(memory), memory.remember("Priya has a cat.").id
    moved = {**HOME, "value": "York"}
    changed = memory.remember("Priya moved to York with her cat.", facts=[moved], replaces=[first, second]).operation
    erase(memory, first)
    there = contents(memory)
    back = memory.undo(changed)
    assert contents(memory) == {"Priya has a cat."}
    memory.undo(back.operation)  # it ended with a KeyError: the change had tied two facts, of which one was erased
    assert contents(memory) == there
    assert [f.value for f in memory.facts("Priya")] == ["York"]
    assert memory.check(full=True) == []


def test_what_took_nothing_s_place_is_removed(memory):
    note = told(memory)
    later = memory.remember("Priya has a cat.").operation
    erase(memory, note)
    memory.undo(later)
    assert contents(memory) == set()
