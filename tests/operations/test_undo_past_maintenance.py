"""What was recalled and swept since an operation does not keep anybody from undoing it."""

from __future__ import annotations

import pytest

import perdure
from conftest import logical
from perdure.records.errors import ConflictError

POLICY = {"embedder": {"model": "none"}}
HOME = {"subject": "Priya", "predicate": "home"}
OLD, NEW = ({**HOME, "value": value} for value in ("Leeds", "York"))
ASKED = ("Where does Priya live?", "When does the warehouse close?")
VERBS = {
    "update": lambda m, note: m.update(note, "Priya lives in York.", facts=[NEW]),
    "correct": lambda m, _: m.correct(m.facts("Priya")[0].id, "York"),
    "remember": lambda m, _: m.remember("Priya lives in York.", facts=[{**NEW, "replaces": "Leeds"}]),
    "pin": lambda m, note: m.pin(note),
    "move": lambda m, note: m.move(note, "hot", "wanted"),
    "reinforce": lambda m, note: m.reinforce([note], "set_value", 0.1),
    "confirm": lambda m, note: m.confirm(note),
}


@pytest.fixture
def memory(opening):
    return opening(POLICY)


@pytest.fixture
def note(memory):
    memory.remember("The warehouse closes at 18:30.")
    return memory.remember("Priya lives in Leeds.", facts=[OLD]).id


def used(memory, clock, days):
    """Ask and sweep as an agent's days do."""
    for _ in range(days):
        for question in ASKED:
            memory.recall(question)
        clock.passes(days=1)
        memory.sweep()


def believed(memory):
    return [fact.value for fact in memory.facts("Priya")]


@pytest.mark.parametrize("verb", VERBS)
def test_a_change_of_last_week_is_undone_and_done_again(memory, note, clock, path, verb):
    operation = VERBS[verb](memory, note).operation
    used(memory, clock, days=9)
    after = logical(path)
    undone = memory.undo(operation)
    assert (believed(memory), memory.get(note).pinned) == (["Leeds"], False)
    assert memory.get(note).content == "Priya lives in Leeds."
    clock.passes(minutes=1)
    memory.undo(undone.operation)
    assert logical(path) == after
    assert memory.check(full=True) == []


def test_the_next_sweep_ends_where_it_would_have_without_the_operation(memory, note, clock, tmp_path):
    """The accesses that earlier sweeps counted are counted again, each at its own time."""
    other = perdure.open(tmp_path / "other.db", POLICY, clock=clock)
    other.remember("The warehouse closes at 18:30.")
    same = other.remember("Priya lives in Leeds.", facts=[OLD]).id
    operation = memory.pin(note).operation
    for _ in range(9):
        for question in ASKED:
            for each in (memory, other):
                each.recall(question)
        clock.passes(days=1)
        for each in (memory, other):
            each.sweep()
    memory.undo(operation)
    clock.passes(days=20)
    for each in (memory, other):
        each.sweep()
    assert memory.get(note).state == other.get(same).state
    assert memory.get(note).access_count > 0
    other.close()


def test_what_maintenance_did_to_other_memories_stays(memory, note, clock):
    other = memory.remember("The relay listens on port 7443.").id
    operation = VERBS["update"](memory, note).operation
    memory.recall("Which port does the relay listen on?")
    used(memory, clock, days=9)
    before = memory.get(other)
    memory.undo(operation)
    assert memory.get(other) == before


def test_a_later_change_by_somebody_is_named_and_not_the_sweeps_around_it(memory, note, clock):
    operation = memory.move(note, "hot", "wanted").operation
    used(memory, clock, days=1)
    pinned = memory.pin(note).operation
    used(memory, clock, days=8)
    with pytest.raises(ConflictError) as refused:
        memory.undo(operation)
    assert refused.value.ids == (note,)
    assert pinned in str(refused.value)
    assert "sweep" not in str(refused.value)
    memory.undo(pinned)
    memory.undo(operation)
    assert (memory.get(note).pinned, memory.get(note).content) == (False, "Priya lives in Leeds.")
    assert memory.check(full=True) == []


def test_a_sweep_is_undone_past_the_next_one(opening, clock):
    memory = opening({**POLICY, "preset": "tiered"})
    note = memory.remember("The parcel for Leeds came late.", importance=0.1).id
    clock.passes(days=8)
    first = memory.sweep().operations[0]
    assert memory.get(note).tier == "cold"
    memory.recall("Did the parcel for Leeds come late?")
    clock.passes(days=1)
    memory.sweep()
    counted = memory.get(note).access_count
    memory.undo(first)
    assert memory.get(note).tier == "warm"
    memory.sweep()
    assert memory.get(note).access_count == counted == 1
    assert memory.check(full=True) == []
