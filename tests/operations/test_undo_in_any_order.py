"""Operations on facts that contradict each other are undone and redone in any order, and nothing is left unasked."""

from __future__ import annotations

import pytest

from conftest import WORDS_ONLY, logical
from perdure.records.errors import ConflictError

PORT = {"subject": "alpha", "predicate": "port"}
ORDERS = [((0, 1), (0, 1)), ((0, 1), (1, 0)), ((1, 0), (0, 1)), ((1, 0), (1, 0))]
CHANGES = {
    "update": lambda memory, note: memory.update(note, "It listens on port 9.", facts=[{**PORT, "value": "9"}]),
    "correct": lambda memory, _: memory.correct(memory.facts("alpha")[0].id, "9"),
    "deny": lambda memory, _: memory.deny(memory.facts("alpha")[0].id),
}


@pytest.fixture
def memory(opening):
    return opening(WORDS_ONLY)


def ports(memory):
    return sorted((f.value, bool(f.contested)) for f in memory.facts("alpha"))


def told_and_contradicted(memory, clock, change):
    note = memory.remember("Alpha listens on port 1.", facts=[{**PORT, "value": "1"}]).id
    clock.passes(days=1)
    changed = CHANGES[change](memory, note).operation
    clock.passes(days=1)
    later = memory.remember("Somebody says port 3.", facts=[{**PORT, "value": "3"}]).operation
    clock.passes(days=1)
    return changed, later


@pytest.mark.parametrize("change", CHANGES)
def test_what_comes_back_beside_another_value_is_asked_about(memory, clock, path, change):
    changed, _ = told_and_contradicted(memory, clock, change)
    before = logical(path)
    undone = memory.undo(changed)
    assert ports(memory) == [("1", True), ("3", True)]
    (question,) = memory.review()
    assert "port is 1" in question.question
    assert "port is 3" in question.question
    memory.undo(undone.operations[0])
    assert logical(path) == before


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize(("order", "again"), ORDERS)
def test_two_contradicting_operations_are_undone_and_redone_in_any_order(memory, clock, path, change, order, again):
    memory.remember("Beta is a host.")
    empty = logical(path)
    operations = told_and_contradicted(memory, clock, change)
    first = memory.history()[-2].id
    before, asked = ports(memory), [q.question for q in memory.review()]
    undone = {i: memory.undo(operations[i]).operations[0] for i in order}
    assert ports(memory) == [("1", False)]
    redone = [memory.undo(undone[i]).operations[0] for i in again]
    assert (ports(memory), [q.question for q in memory.review()]) == (before, asked)
    for operation in (*redone[::-1], first):
        memory.undo(operation)
    assert logical(path) == empty


def test_a_refusal_names_what_is_to_be_undone_first(memory):
    told = memory.remember("Alpha listens on port 1.", facts=[{**PORT, "value": "1"}])
    confirmed = memory.confirm(memory.facts("alpha")[0].id)
    with pytest.raises(ConflictError) as refused:
        memory.undo(told.operation)
    assert confirmed.operation in str(refused.value)
    assert told.operation not in str(refused.value)
    memory.undo(confirmed.operation)
    memory.undo(told.operation)
    assert memory.list() == []
