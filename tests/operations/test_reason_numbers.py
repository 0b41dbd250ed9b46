"""Numbers that a move states and that decide it, worked out by hand: facts with two clocks, bursts, strength."""

from __future__ import annotations

import re
from math import exp

import pytest

from conftest import WORDS_ONLY, bare_fact
from perdure.formulas.value import uniqueness

CROWD = 20
"""More memories than are computed one by one: their numbers are computed as arrays."""
BORN_SURE = 0.8
"""The confidence of a fact that somebody just states."""


@pytest.fixture(scope="module")
def store():
    """What is counted here does not depend on the store."""
    return "sqlite"


@pytest.fixture
def fact(opening, clock):
    """A store, and a fact in it that nothing else is like, so that its uniqueness is 1."""
    memory = opening({**WORDS_ONLY, "preset": "facts"})
    return memory, bare_fact(memory, "the deploy is on tuesday", confidence=BORN_SURE).id


def worth(*, sure, idle_days, accesses=0.0, reinforcements=1):
    """Value by its formula: a fact nothing is like, idle since its last access or its birth."""
    recency = min(1.0, exp(-0.1 * idle_days) * (1 + 0.1 * reinforcements))
    return 0.35 * min(1.0, accesses / 20) + 0.25 + 0.20 * sure + 0.20 * recency


@pytest.mark.behaviour("B31")
def test_a_confirmed_fact_is_worth_what_its_truth_clock_says(fact, clock):
    """Confirmed on day 80 and never accessed: confidence counts from day 80, recency from birth."""
    memory, kept = fact
    clock.passes(days=80)
    memory.confirm(kept)
    clock.passes(days=10)
    sure = (BORN_SURE * 1.0 + 0.02) * exp(-0.01 * 10)
    found = memory.get(kept)
    assert found.confidence == pytest.approx(sure)
    assert found.value == pytest.approx(worth(sure=sure, idle_days=90, reinforcements=2))


@pytest.mark.behaviour("B31")
def test_a_confirmed_fact_is_worth_the_same_among_many(fact, clock):
    memory, kept = fact
    memory.remember_many([f"Room {n} has {n} chairs." for n in range(CROWD)])
    clock.passes(days=80)
    memory.confirm(kept)
    clock.passes(days=10)
    alone, among = memory.get(kept), {m.id: m for m in memory.list(limit=100)}[kept]
    assert (among.value, among.confidence) == pytest.approx((alone.value, alone.confidence))
    assert among.confidence == pytest.approx((BORN_SURE + 0.02) * exp(-0.01 * 10))


@pytest.mark.behaviour("B31")
def test_an_accessed_fact_is_no_surer_for_it(fact, clock):
    """Accessed on day 60 and not confirmed: confidence still counts from birth, recency from day 60."""
    memory, kept = fact
    clock.passes(days=60)
    memory.recall("when is the deploy", limit=1)
    memory.sweep()
    clock.passes(days=10)
    sure = BORN_SURE * exp(-0.01 * 70)
    found = memory.get(kept)
    assert found.confidence == pytest.approx(sure)
    assert found.value == pytest.approx(worth(sure=sure, idle_days=10, accesses=exp(-0.05 * 10)))


@pytest.mark.behaviour("B33")
def test_the_confidence_in_a_reason_counts_from_the_validation(fact, clock):
    """Accessed on day 60, never confirmed, archived on day 180: the reason states the confidence of 180 days."""
    memory, _ = fact
    clock.passes(days=60)
    memory.recall("when is the deploy", limit=1)
    memory.sweep()
    clock.passes(days=140)
    (moved,) = [m for m in memory.sweep().moved if m.move.endswith("archived")]
    assert "90 + 90 days" in moved.because
    assert f"(confidence {BORN_SURE * exp(-0.01 * 180):.3f})" in moved.because


@pytest.mark.behaviour("B32")
@pytest.mark.parametrize(
    ("needed", "reads", "tier"),
    [
        pytest.param(3, [(1, 2)], "warm", id="two of one instant"),
        pytest.param(3, [(1, 3)], "hot", id="three of one instant"),
        pytest.param(3, [(1, 4)], "hot", id="four of one instant"),
        pytest.param(3, [(0, 1), (5, 2)], "warm", id="two of one instant, long after another"),
        pytest.param(3, [(1, 1), (5, 2)], "hot", id="two of one instant, four hours after another"),
        pytest.param(3, [(1, 2), (5, 1)], "hot", id="one, four hours after two of one instant"),
        pytest.param(3, [(1, 1), (4, 1), (7, 1)], "warm", id="three in six hours"),
        pytest.param(2, [(1, 1), (6, 1)], "warm", id="two in five hours where two are enough"),
        pytest.param(2, [(1, 2)], "hot", id="two of one instant where two are enough"),
    ],
)
def test_accesses_of_one_instant_are_a_burst(opening, clock, needed, reads, tier):
    """So many accesses within four hours bring a warm memory to hot, and several may fall on one instant."""
    only_confidence = {"frequency": 0.0, "uniqueness": 0.0, "confidence": 1.0, "recency": 0.0, "importance": 0.0}
    memory = opening({**WORDS_ONLY, "value": only_confidence, "tiers": {"burst_accesses": needed}})
    kept = memory.remember("the deploy is on tuesday", confidence=0.5)
    passed = 0
    for hour, times in reads:
        clock.passes(hours=hour - passed)
        passed = hour
        for _ in range(times):
            memory.recall("deploy", limit=1)
    memory.sweep()
    assert memory.get(kept.id).tier == tier


@pytest.mark.behaviour("B32")
@pytest.mark.parametrize(("reads", "tier"), [(2, "warm"), (3, "hot")])
def test_accesses_of_one_instant_are_a_burst_of_many_memories_too(opening, clock, reads, tier):
    only_confidence = {"frequency": 0.0, "uniqueness": 0.0, "confidence": 1.0, "recency": 0.0, "importance": 0.0}
    memory = opening({**WORDS_ONLY, "value": only_confidence, "tiers": {"burst_accesses": 3}})
    memory.remember_many([{"content": f"deploy of part {n}", "confidence": 0.5} for n in range(CROWD)])
    clock.passes(hours=1)
    for _ in range(reads):
        memory.recall("deploy", limit=CROWD)
    memory.sweep()
    assert [m.tier for m in memory.list(limit=100)] == [tier] * CROWD


@pytest.mark.behaviour("B33")
def test_a_forgotten_memory_states_the_strength_at_which_it_was_forgotten(opening, clock):
    """Strength falls through the threshold, so at that instant it is the threshold; days later it is well below."""
    memory = opening({**WORDS_ONLY, "preset": "activation"})
    kept = memory.remember("the deploy is on tuesday", importance=0.0)
    clock.passes(days=400)
    (moved,) = [m for m in memory.sweep().moved if m.move.endswith("archived")]
    strength, threshold = map(float, re.search(r"\(strength ([\d.]+), threshold ([\d.]+)\)$", moved.because).groups())
    assert strength == threshold
    assert memory.get(kept.id, include_archived=True).strength < threshold - 0.01


def test_accesses_in_a_tier_count_from_its_last_move(opening, clock):
    memory = opening(WORDS_ONLY)
    kept = memory.remember("the deploy is on tuesday", confidence=0.5).memory
    counts = [kept.state.tier_accesses]
    for _ in range(4):
        clock.passes(hours=1)
        memory.recall("deploy", limit=1)
        memory.sweep()
        counts.append(memory.get(kept.id).state.tier_accesses)
    assert memory.get(kept.id).tier == "hot"  # by the burst of the third access
    assert counts == [0, 1, 2, 0, 1]


@pytest.mark.parametrize(("cosine", "unique"), [(0.9995, 0.0), (0.9994, pytest.approx(0.0006))])
def test_from_a_cosine_of_0_9995_on_a_memory_is_a_copy(cosine, unique):
    assert uniqueness([cosine]) == unique
