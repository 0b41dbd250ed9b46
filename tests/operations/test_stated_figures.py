"""The figures that a memory and the reasons of its moves state are those of the formulas."""

import re
from math import exp

import pytest

from conftest import bare_fact

FACT = "The office is in Lyon."


def test_confidence_in_a_value_counts_from_the_confirmation_and_recency_from_the_last_access(memory, clock):
    fact = bare_fact(memory, FACT).id
    clock.passes(days=80)
    memory.confirm(fact)
    clock.passes(days=20)
    found = memory.get(fact)
    assert found.confidence == pytest.approx(0.72 * exp(-0.01 * 20), abs=1e-3)
    assert found.value == pytest.approx(0.15 + 0.2 * 0.7 + 0.2 * found.confidence, abs=1e-3)


def test_a_reason_states_the_confidence_since_the_confirmation(memory, clock):
    fact = bare_fact(memory, FACT).id
    clock.passes(days=80)
    memory.confirm(fact)
    clock.passes(days=400)
    reasons = [moved.because for moved in memory.sweep().moved if moved.id == fact]
    stated = re.search(r"confidence (\d\.\d+)", reasons[-1])
    assert float(stated[1]) == pytest.approx(0.72 * exp(-0.01 * 180), abs=1e-3)


@pytest.mark.parametrize(("recalls", "tier"), [(2, "warm"), (3, "hot")])
def test_three_accesses_of_one_instant_are_a_burst(memory, clock, recalls, tier):
    note = memory.remember(FACT).id
    for _ in range(recalls):
        memory.recall("office Lyon")
    clock.passes(hours=1)
    memory.sweep()
    assert memory.get(note).tier == tier


def test_what_is_forgotten_states_the_strength_at_which_it_was(opening, clock):
    memory = opening({"embedder": {"model": "none"}, "archive": {"rule": "strength"}})
    note = memory.remember(FACT, importance=0.0).id
    memory.reinforce([note], "additive", 0.1)
    clock.passes(days=50)
    (reason,) = (moved.because for moved in memory.sweep().moved if "strength" in moved.because)
    strength, threshold = map(float, re.search(r"strength (\d\.\d+), threshold (\d\.\d+)", reason).groups())
    assert strength == pytest.approx(threshold, abs=1e-3)
    assert 0 < threshold < 0.2
