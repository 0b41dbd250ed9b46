"""Undoing what first told of somebody leaves them to what was learned of them later."""

from __future__ import annotations

import itertools

import pytest

import perdure
from conftest import WORDS_ONLY

HOME = {"subject": "Ana", "predicate": "home", "value": "Oslo"}
TEA = {"subject": "Ana", "predicate": "likes", "value": "tea"}
DOG = {"subject": "Ana", "predicate": "pet", "value": "a dog"}


@pytest.fixture
def memory():
    with perdure.open(":memory:", WORDS_ONLY) as opened:
        yield opened
        assert opened.check(full=True) == []


def known(memory):
    return {f.value for f in memory.facts()}, {e.name for e in memory.entities()}


def told(memory):
    return (
        memory.remember("Ana lives in Oslo.", facts=[HOME]).operation,
        memory.remember("Ana likes tea.", facts=[TEA]).operation,
    )


def test_later_facts_keep_whom_they_are_about(memory):
    first, _ = told(memory)
    memory.undo(first)
    assert known(memory) == ({"tea"}, {"Ana"})
    assert [f.value for f in memory.facts("Ana")] == ["tea"]
    assert memory.entity("Ana").name == "Ana"
    assert [h.memory.content for h in memory.recall("What does Ana like?").hits][:1] == ["Ana likes tea."]
    memory.remember("Ana has a dog.", facts=[DOG])
    assert {f.value for f in memory.facts("Ana")} == {"tea", "a dog"}


@pytest.mark.parametrize("order", [*itertools.permutations(range(3))])
def test_whoever_nothing_names_any_more_is_gone(memory, order):
    operations = [*told(memory), memory.remember("Ana has a dog.", facts=[DOG]).operation]
    for number in order:
        memory.undo(operations[number])
    assert known(memory) == (set(), set())


@pytest.mark.parametrize("order", [*itertools.permutations(range(2))])
@pytest.mark.parametrize("again", [*itertools.permutations(range(2))])
def test_what_is_done_again_brings_back_whom_it_is_about(memory, order, again):
    operations, values = told(memory), ("Oslo", "tea")
    undone = {number: memory.undo(operations[number]).operations[0] for number in order}
    there = set()
    for number in again:
        memory.undo(undone[number])
        there.add(values[number])
        assert known(memory) == (there, {"Ana"})


def test_names_learned_later_stay_with_whom_they_name(memory):
    first, _ = told(memory)
    memory.alias("Ana", "Anita")
    memory.undo(first)
    assert [f.value for f in memory.facts("Anita")] == ["tea"]
