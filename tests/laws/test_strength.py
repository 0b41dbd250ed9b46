"""Laws of strength: time alone lowers it, by no more than allowed, and reading it changes nothing."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Final

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from laws.memories import LAW
from perdure.formulas.curve import HORIZON_DAYS, due_instants
from perdure.formulas.strength import Parameters, StrengthCurve, decay_by_hand, never_forgotten_from, reinforce_strength

MS: Final = 1 / 86_400_000.0
SECOND: Final = 1 / 86_400.0
ROUNDING: Final = 1e-9

Row = tuple[float, float, float]
rows = st.lists(st.tuples(st.floats(0.0, 1.0), st.floats(0.0, 12.0), st.floats(0.0, 1.0)), min_size=1, max_size=3)
half_lives = st.one_of(st.floats(1.0, 86_400.0), st.floats(1.0, 3e7))
parameters = st.builds(
    Parameters,
    baseline=st.floats(0.0, 0.5),
    passive_half_life=half_lives,
    reinforcement_half_life=half_lives,
    staleness_half_life=st.one_of(st.just(np.inf), half_lives),
    max_decay_per_cycle=st.one_of(st.just(1.0), st.floats(1e-4, 1.0)),
    manual_multiplier=st.floats(1.0, 5.0),
    unit=st.floats(0.1, 3.0),
    forgetting_threshold=st.floats(0.0, 0.5),
    minimum=st.floats(0.0, 0.1),
    maximum=st.floats(0.6, 1.0),
    importance_weight=st.one_of(st.just(0.0), st.floats(0.001, 1.0)),
    scale=st.floats(0.1, 10.0),
    reinforcement_importance_weight=st.floats(0.0, 2.0),
    max_level=st.floats(1.0, 20.0),
    max_step=st.floats(0.01, 1.0),
    forgetting_importance_weight=st.one_of(st.just(0.0), st.floats(0.001, 1.0)),
    floor=st.floats(0.0, 0.1),
)
days = st.one_of(st.floats(0.0, 0.2), st.floats(0.0, 30.0), st.floats(0.0, 4000.0))
amounts = st.one_of(st.just(0.0), st.floats(0.0, 20.0))


def memories(data: list[Row], keys: Parameters) -> StrengthCurve:
    """States in range: strength up to the maximum, level up to its bound."""
    strength, level, importance = (np.array(part) for part in zip(*data, strict=True))
    return StrengthCurve(np.minimum(strength, keys.maximum), np.minimum(level, keys.max_level), importance, keys)


def spread(keys: Parameters, count: int) -> Parameters:
    """The same parameters, one for each of n memories."""
    names = [f.name for f in fields(Parameters) if f.name != "cycle_seconds"]
    return replace(keys, **{name: np.full(count, getattr(keys, name)) for name in names})


def forgotten(curve, at):
    """Whether strength is at or below the forgetting threshold."""
    return curve.value(at) <= curve.threshold()


@pytest.mark.behaviour("A01")
@LAW
@given(data=rows, keys=parameters, age=days, reads=st.lists(days, max_size=6))
def test_when_and_how_often_strength_was_read_makes_no_difference(data, keys, age, reads):
    read, unread = memories(data, keys), memories(data, keys)
    for at in reads:
        read.value(at)
        read.forgotten_age()
    assert np.array_equal(read.value(age), unread.value(age))
    assert np.array_equal(read.level_at(age), unread.level_at(age))
    assert np.array_equal(read.strength, unread.strength)
    assert np.array_equal(read.level, unread.level)


@pytest.mark.behaviour("A02")
@LAW
@given(data=rows, keys=parameters, age=days)
def test_strength_stays_between_its_baseline_and_where_it_began(data, keys, age):
    curve = memories(data, keys)
    now = curve.value(age)
    assert np.all(now <= curve.strength)
    assert np.all(now >= np.minimum(curve.strength, curve.baseline()))
    assert np.all(now >= np.minimum(curve.strength, curve.target(age)))


@pytest.mark.behaviour("A03")
@LAW
@given(data=rows, keys=parameters, age=days)
def test_strength_below_its_target_stays_until_the_target_is_there(data, keys, age):
    curve = memories(data, keys)
    waiting = curve.strength <= curve.target(age)
    assert np.array_equal(curve.value(age)[waiting], curve.strength[waiting])


@pytest.mark.behaviour("A04")
@LAW
@given(data=rows, keys=parameters, age=days)
def test_no_more_is_lost_than_the_cycles_allow(data, keys, age):
    curve = memories(data, keys)
    allowed = keys.max_decay_per_cycle * max(1.0, age * 24.0)
    assert np.all(curve.strength - curve.value(age) <= allowed + ROUNDING)


@pytest.mark.behaviour("A05")
@LAW
@given(data=rows, keys=parameters, halvings=st.floats(0.0, 40.0))
def test_a_half_life_halves_the_gap_to_a_resting_target(data, keys, halvings):
    free = replace(keys, max_decay_per_cycle=1.0)  # no gap is over 1: the cap never binds
    curve = memories([(max(s, 0.6), 0.0, i) for s, _, i in data], free)
    assume(np.all(curve.strength >= curve.baseline()))
    left = curve.value(halvings * free.passive_half_life * SECOND) - curve.baseline()
    gap = (curve.strength - curve.baseline()) * 0.5**halvings
    assert left == pytest.approx(gap, abs=ROUNDING)


@pytest.mark.behaviour("A06")
@LAW
@given(data=rows, keys=parameters, age=days, more=st.floats(0.0, 12.0))
def test_more_level_never_leaves_less_strength(data, keys, age, more):
    higher = [(s, level + more, i) for s, level, i in data]
    assert np.all(memories(higher, keys).value(age) >= memories(data, keys).value(age) - ROUNDING)


@pytest.mark.behaviour("A07")
@LAW
@given(data=rows, keys=parameters, more=st.floats(0.0, 1.0))
def test_more_importance_is_never_forgotten_earlier(data, keys, more):
    weightier = [(s, level, min(1.0, i + more)) for s, level, i in data]
    assert np.all(memories(weightier, keys).forgotten_age() >= memories(data, keys).forgotten_age() - MS)


@pytest.mark.behaviour("A08")
@LAW
@given(data=rows, keys=parameters)
def test_what_falls_due_has_been_forgotten_and_was_not_shortly_before(data, keys):
    curve = memories(data, keys)
    forgetting = curve.forgotten_age()
    due = due_instants(np.zeros(len(data)), forgetting)
    never = ~np.isfinite(forgetting)
    at = np.where(never, HORIZON_DAYS, due * MS)
    before = np.maximum(np.where(never, HORIZON_DAYS, forgetting - 1.5 * MS), 0.0)
    assert np.array_equal(forgotten(curve, at), ~never)
    assert np.array_equal(forgotten(curve, before), forgotten(curve, 0.0))


@pytest.mark.behaviour("A09")
@LAW
@given(data=rows, keys=parameters, age=days)
def test_parameters_for_all_are_the_same_as_parameters_for_each(data, keys, age):
    shared, own = memories(data, keys), memories(data, keys)
    own = replace(own, parameters=spread(keys, len(data)))
    assert np.array_equal(shared.value(age), own.value(age))
    assert np.array_equal(shared.forgotten_age(), own.forgotten_age())
    assert np.array_equal(never_forgotten_from(own.parameters), np.full(len(data), never_forgotten_from(keys)))


@pytest.mark.behaviour("A24")
@LAW
@given(data=rows, keys=parameters, amount=amounts)
def test_a_reinforcement_never_lowers_and_stays_under_its_caps(data, keys, amount):
    old = memories(data, keys)
    strength, level = reinforce_strength(old.strength, old.level, old.importance, amount, keys)
    assert np.all(strength >= old.strength)
    assert np.all(strength <= np.minimum(keys.maximum, old.strength + keys.max_step) + ROUNDING)
    assert np.all(level >= old.level)
    assert np.all(level <= keys.max_level)


@pytest.mark.behaviour("A25")
@LAW
@given(data=rows, keys=parameters, amount=amounts, age=days)
def test_a_reinforced_memory_is_never_weaker_later_than_one_that_was_not(data, keys, amount, age):
    old = memories(data, keys)
    strength, level = reinforce_strength(old.strength, old.level, old.importance, amount, keys)
    assert np.all(StrengthCurve(strength, level, old.importance, keys).value(age) >= old.value(age) - ROUNDING)


@pytest.mark.behaviour("A26")
@LAW
@given(data=rows, keys=parameters, amount=amounts)
def test_decay_by_hand_never_raises_and_stays_under_its_cap(data, keys, amount):
    old = memories(data, keys)
    strength, level = decay_by_hand(old.strength, old.level, old.importance, amount, keys)
    lost = old.strength - strength
    assert np.all(lost >= 0.0)
    assert np.all(lost <= keys.max_decay_per_cycle * keys.manual_multiplier + ROUNDING)
    assert np.all(strength >= np.minimum(old.strength, old.baseline()))
    assert np.all((level >= 0.0) & (level <= old.level))


@pytest.mark.behaviour("A27")
@LAW
@given(data=rows, keys=parameters, amount=amounts)
def test_less_than_nothing_counts_as_nothing(data, keys, amount):
    old = memories(data, keys)
    state = (old.strength, old.level, old.importance)
    for change in (reinforce_strength, decay_by_hand):
        negative, nothing = change(*state, -amount, keys), change(*state, 0.0, keys)
        assert np.array_equal(negative[0], nothing[0])
        assert np.array_equal(negative[1], nothing[1])


@pytest.mark.behaviour("A28")
@LAW
@given(keys=parameters, importance=st.floats(0.0, 1.0))
def test_above_the_importance_that_is_never_forgotten_the_baseline_is_over_the_threshold(keys, importance):
    least = float(never_forgotten_from(keys))
    assume(abs(importance - least) > ROUNDING)
    curve = memories([(1.0, 0.0, importance)], keys)
    gap = float((curve.baseline() - curve.threshold())[0])
    assert gap > -ROUNDING if importance > least else gap <= ROUNDING
    assume(gap > ROUNDING and curve.strength[0] >= curve.baseline()[0])
    assert np.isinf(curve.forgotten_age()[0])


PLAIN: Final = Parameters(
    baseline=0.0,
    passive_half_life=86_400.0,
    reinforcement_half_life=86_400.0,
    staleness_half_life=np.inf,
    max_decay_per_cycle=1.0,
    manual_multiplier=1.0,
    unit=0.5,
    forgetting_threshold=0.0,
    minimum=0.0,
    maximum=1.0,
    importance_weight=0.1,
    scale=1.0,
    reinforcement_importance_weight=0.0,
    max_level=20.0,
    max_step=1.0,
    forgetting_importance_weight=0.0,
    floor=0.05,
)
BOUNDS: Final = {
    "half of the way to the floor": ({}, 0.5),
    "a lowest baseline on the floor is not over it": ({"minimum": 0.05}, 0.5),
    "a lowest baseline over the floor": ({"minimum": 0.06}, 0.0),
    "a floor at the highest strength": ({"floor": 1.0, "minimum": 1.0, "importance_weight": 10.0}, np.inf),
    "a baseline on the floor, whatever the importance": ({"baseline": 0.05, "importance_weight": 0.0}, np.inf),
    "no importance is over 1": ({"floor": 0.1}, np.inf),
    "a weight so small that the quotient is too large": ({"importance_weight": 1e-310}, np.inf),
}


@pytest.mark.behaviour("A07")
@pytest.mark.parametrize("case", BOUNDS)
def test_the_importance_that_is_never_forgotten_at_the_bounds(case):
    changed, expected = BOUNDS[case]
    keys = replace(PLAIN, **changed)
    assert float(never_forgotten_from(keys)) == expected
    if not changed:
        under_it, over_it = memories([(1.0, 0.0, 0.49), (1.0, 0.0, 0.51)], keys).forgotten_age()
        assert np.isinf(over_it)
        assert np.isfinite(under_it)


@pytest.mark.behaviour("A34")
@LAW
@given(data=rows, keys=parameters, amount=amounts)
def test_two_halves_of_a_decay_by_hand_take_the_level_of_the_whole(data, keys, amount):
    old = memories(data, keys)
    whole = decay_by_hand(old.strength, old.level, old.importance, amount, keys)[1]
    half = decay_by_hand(old.strength, old.level, old.importance, amount / 2.0, keys)
    assert decay_by_hand(half[0], half[1], old.importance, amount / 2.0, keys)[1] == pytest.approx(whole, abs=ROUNDING)
    assert whole == pytest.approx(np.maximum(old.level - amount * keys.unit, 0.0), abs=ROUNDING)
