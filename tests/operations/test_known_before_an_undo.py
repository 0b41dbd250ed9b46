"""An answer of what was known on a day says where something that was in force then was undone since."""

from __future__ import annotations

import pytest

from conftest import WORDS_ONLY

HOME = {"subject": "Priya", "predicate": "home"}
ASKED = "Where does Priya live?"
CHANGES = {
    "update": lambda m, note: m.update(note, "Priya lives in York.", facts=[{**HOME, "value": "York"}]),
    "correct": lambda m, _: m.correct(m.facts("Priya")[0].id, "York"),
    "remember": lambda m, _: m.remember("Priya lives in Hull.", facts=[{**HOME, "value": "Hull"}]),
    "deny": lambda m, _: m.deny(m.facts("Priya")[0].id),
    "archive": lambda m, note: m.forget(note),
}


@pytest.fixture
def memory(opening):
    return opening(WORDS_ONLY)


def notes(memory, **then):
    """Return what recall says beside an answer and what an answer sheet says that is not known."""
    return memory.recall(ASKED, touch=False, **then).note, " ".join(memory.answer_sheet(ASKED, **then).unknown)


@pytest.mark.parametrize("change", CHANGES)
def test_what_was_undone_since_is_named(memory, clock, change):
    note = memory.remember("Priya lives in Leeds.", facts=[{**HOME, "value": "Leeds"}]).id
    clock.passes(days=1)
    before = clock()
    clock.passes(days=1)
    changed = CHANGES[change](memory, note).operation
    clock.passes(days=2)
    between = clock()
    clock.passes(days=2)
    undone = memory.undo(changed)
    clock.passes(days=1)
    told = f"{change} of 2026-01-03 00:00 UTC was undone on 2026-01-07 00:00 UTC"[1:]
    for said in notes(memory, known_at=between):
        assert told in said
    for then in ({}, {"known_at": before}, {"known_at": clock()}, {"as_of": between}):
        assert not any("undone" in said for said in notes(memory, **then))
    memory.undo(undone.operation)  # it is in force again, as it was then
    assert not any("undone" in said for said in notes(memory, known_at=between))


def test_of_several_the_latest_is_named(memory, clock):
    memory.remember("Priya lives in Leeds.", facts=[{**HOME, "value": "Leeds"}])
    done = [memory.remember(f"Priya has {n} cats.").operation for n in range(2, 5)]
    clock.passes(days=1)
    between = clock()
    clock.passes(days=1)
    for operation in done:
        memory.undo(operation)
    said, sheet = notes(memory, known_at=between)
    assert "3 operations that were in force then were undone since" in said
    assert "3 operations that were in force then were undone since" in sheet
    memory.remember("Priya has a cat.", namespace="other")
    assert memory.recall("Priya", "other", known_at=between, touch=False).note.count("undone") == 0
