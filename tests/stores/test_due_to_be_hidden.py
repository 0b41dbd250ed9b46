"""What has fallen due to be hidden and waits for a sweep answers still; to what is stored it counts as hidden."""

from __future__ import annotations

from datetime import timedelta

import pytest

from conftest import HASHED, HashEmbedder

OLD, NEW = (
    "We decided to service the boiler in the cellar in May.",
    "We decided to service the boiler in the hall in May.",
)
FORGETFUL = {**HASHED, "preset": "activation"}


@pytest.fixture
def forgetful(opening, clock):
    """Open a store of whose one memory the strength is gone after ten days."""

    def make(**policy):
        memory = opening({**FORGETFUL, **policy}, HashEmbedder(), at=":memory:")
        memory.remember(OLD, importance=0.1)
        return memory

    return make


@pytest.fixture
def swept_and_not(forgetful, clock):
    """Two stores ten days later, of which the first is swept."""
    both = forgetful(), forgetful()
    clock.passes(days=10)
    assert [len(both[0].sweep().moved), [h.memory.content for h in both[1].recall(OLD, touch=False).hits]] == [1, [OLD]]
    return both


@pytest.mark.behaviour("LV10")
@pytest.mark.parametrize("asked", [False, True])
def test_a_new_memory_is_worth_as_much_before_the_sweep_as_after_it(swept_and_not, clock, asked):
    """Also where somebody was answered by what was due: it is hidden as of the instant at which it fell due."""
    for memory in swept_and_not if asked else ():
        memory.recall(OLD)
        clock.passes(seconds=5)
    swept, late = (memory.remember(NEW).memory for memory in swept_and_not)
    assert (late.value, late.state.due_ms) == (swept.value, swept.state.due_ms)
    assert "not counted: 1 near it, due to be hidden" in swept_and_not[1].why(late.id).history[0].because


def test_what_a_gate_holds_back_counts(forgetful, clock):
    held, fresh = forgetful(gates={"loss_share": 0.0, "loss_free_count": 0}), forgetful()
    beside = fresh.remember(NEW).memory.state.uniqueness
    clock.passes(days=10)
    assert held.sweep().held
    assert held.remember(NEW).memory.state.uniqueness == beside < 1


def test_what_was_due_when_it_was_stored_counts_until_a_sweep_so_that_an_import_is_as_one_by_one(opening, clock):
    notes = [{"content": text, "at": clock() - timedelta(days=400), "importance": 0.1} for text in (OLD, NEW)]
    at_once, singly = (opening(FORGETFUL, HashEmbedder(), at=":memory:") for _ in range(2))
    first, last = (m.memory.state.uniqueness for m in at_once.remember_many(notes))
    assert singly.remember(**notes[0]).memory.state.uniqueness == first
    clock.passes(seconds=5)
    assert singly.remember(**notes[1]).memory.state.uniqueness == pytest.approx(last, abs=0.001)  # cosines are rounded
    assert last < first


@pytest.mark.behaviour("LV10")
@pytest.mark.parametrize(
    "say",
    [
        lambda memory: memory.remember(OLD, importance=0.1),
        lambda memory: (memory.recall(OLD), memory.remember(OLD, importance=0.1)),
        lambda memory: memory.extract(OLD, namespace="default"),
        lambda memory: memory.extract(OLD.replace(" in May", ", May"), namespace="default", dedup_threshold=0.7),
    ],
    ids=["remembered", "remembered where it was found", "extracted", "extracted in other words"],
)
def test_what_is_said_again_before_the_sweep_stays(swept_and_not, clock, say):
    ends = []
    for memory in swept_and_not:
        say(memory)
    clock.passes(hours=1)
    for memory in swept_and_not:
        memory.sweep()
        ends.append([(m.content, m.status) for m in memory.list()])
    assert len(ends[0]) == 1
    assert ends[1] == ends[0]
