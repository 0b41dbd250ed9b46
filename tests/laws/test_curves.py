"""Laws that every curve obeys: importance in its three shapes, confidence, retention and value."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from laws.memories import LAW
from perdure.formulas.confidence import Confidence, amplifier, reinforced
from perdure.formulas.curve import HORIZON_DAYS, NEVER, Curve, due_instants
from perdure.formulas.importance import Importance, boost
from perdure.formulas.retention import Retention
from perdure.formulas.value import Value, faded_mass, uniqueness

MS: Final = 1 / 86_400_000.0
ROUNDING: Final = 1e-9
"""What float64 may lose in a few operations on numbers near 1; far below any threshold's last digit."""

Rows = list[dict[str, float]]
shares = st.one_of(st.just(0.0), st.floats(1e-6, 1.0))
rows = st.lists(
    st.fixed_dictionaries(
        {
            "base": shares,
            "accesses": st.integers(0, 200).map(float),
            "rate": st.one_of(st.just(0.0), st.floats(1e-6, 1.0)),
            "mass": st.floats(0.0, 60.0),
            "uniqueness": st.floats(0.0, 1.0),
            "lag": st.floats(-300.0, 300.0),
            "reinforcements": st.integers(0, 12).map(float),
        }
    ),
    min_size=1,
    max_size=3,
)
settings_ = st.fixed_dictionaries(
    {"half_life": st.floats(1.0, 365.0), "weight": st.floats(0.0, 1.0), "floor": st.floats(0.0, 0.5)}
)
days = st.one_of(st.floats(0.0, 3.0), st.floats(0.0, 4000.0))
thresholds = st.one_of(st.just(0.0), st.floats(1e-6, 1.1))


def column(data: Rows, name: str) -> np.ndarray:
    return np.array([row[name] for row in data])


def importance(shape: str) -> Callable[[Rows, dict[str, float]], Curve]:
    return lambda data, keys: Importance(column(data, "base"), column(data, "accesses"), shape=shape, **keys)  # type: ignore[arg-type]


def confidence(data: Rows, _: dict[str, float]) -> Confidence:
    return Confidence(column(data, "base"), column(data, "rate"))


def retention(data: Rows, _: dict[str, float]) -> Retention:
    return Retention(column(data, "reinforcements"))


def value(data: Rows, keys: dict[str, float]) -> Value:
    return Value(
        column(data, "mass"),
        column(data, "uniqueness"),
        confidence(data, keys),
        column(data, "lag"),
        column(data, "reinforcements"),
    )


CURVES: Final = {
    "importance-exponential": importance("exponential"),
    "importance-linear": importance("linear"),
    "importance-step": importance("step"),
    "confidence": confidence,
    "retention": retention,
    "value": value,
}
curves = pytest.mark.parametrize("make", CURVES.values(), ids=CURVES.keys())


@curves
@LAW
@given(data=rows, keys=settings_, age=days)
def test_a_curve_stays_between_0_and_1(make, data, keys, age):
    current = make(data, keys).value(age)
    assert np.all(current >= 0.0)
    assert np.all(current <= 1.0 + ROUNDING)


@curves
@LAW
@given(data=rows, keys=settings_, age=days, later=days)
def test_a_curve_never_rises_with_time(make, data, keys, age, later):
    curve = make(data, keys)
    assert np.all(curve.value(age + later) <= curve.value(age) + ROUNDING)


@curves
@LAW
@given(data=rows, keys=settings_, age=days)
def test_decay_never_lifts_a_signal_above_where_it_began(make, data, keys, age):
    curve = make(data, keys)
    assert np.all(curve.value(age) <= curve.value(0.0) + ROUNDING)


@pytest.mark.parametrize("name", [n for n in CURVES if n not in ("retention", "value")])
@LAW
@given(data=rows, keys=settings_, age=days)
def test_a_signal_is_its_base_at_age_0_and_never_above_it(name, data, keys, age):
    curve, base = CURVES[name](data, keys), column(data, "base")
    assert curve.value(0.0) == pytest.approx(base, abs=ROUNDING)
    assert np.all(curve.value(age) <= base + ROUNDING)


@curves
@LAW
@given(data=rows, keys=settings_, age=days)
def test_negative_ages_count_as_0(make, data, keys, age):
    curve = make(data, keys)
    assert np.array_equal(curve.value(-age), curve.value(0.0))


@curves
@LAW
@given(data=rows, keys=settings_, threshold=thresholds)
def test_the_crossing_time_inverts_the_curve(make, data, keys, threshold):
    curve = make(data, keys)
    crossing = curve.crossing(threshold)
    at = np.where(np.isfinite(crossing), crossing, 0.0)
    begun, just_before = curve.value(0.0), curve.value(np.maximum(at - 2 * MS, 0.0))
    just_after = curve.value(at + 2 * MS)
    for i, age in enumerate(crossing.tolist()):
        if age == 0.0:
            assert just_after[i] <= threshold + ROUNDING
        elif math.isfinite(age):
            assert begun[i] >= threshold - ROUNDING
            assert just_before[i] >= threshold - ROUNDING
            assert just_after[i] <= threshold + ROUNDING


@curves
@LAW
@given(data=rows, keys=settings_, threshold=thresholds)
def test_what_is_never_crossed_is_not_below_after_a_hundred_years(make, data, keys, threshold):
    curve = make(data, keys)
    never = ~(curve.crossing(threshold) <= HORIZON_DAYS)
    assert np.all(curve.value(HORIZON_DAYS)[never] >= threshold - ROUNDING)


@curves
@LAW
@given(data=rows, keys=settings_, threshold=thresholds)
def test_what_is_below_from_the_start_crosses_at_0(make, data, keys, threshold):
    curve = make(data, keys)
    below = curve.value(0.0) < threshold - ROUNDING
    assert np.all(curve.crossing(threshold)[below] == 0.0)


@curves
@LAW
@given(data=rows, keys=settings_, high=thresholds, low=thresholds)
def test_a_lower_threshold_is_never_crossed_earlier(make, data, keys, high, low):
    curve = make(data, keys)
    assert np.all(curve.crossing(min(high, low)) >= curve.crossing(max(high, low)) - MS)


@curves
@LAW
@given(data=rows, keys=settings_, age=days, threshold=thresholds)
def test_many_at_once_are_the_same_as_one_by_one(make, data, keys, age, threshold):
    together, crossings = make(data, keys).value(age), make(data, keys).crossing(threshold)
    for i, row in enumerate(data):
        alone = make([row], keys)
        assert float(alone.value(age)[0]) == pytest.approx(float(together[i]), rel=1e-12, abs=1e-300)
        assert float(alone.crossing(threshold)[0]) == pytest.approx(float(crossings[i]), rel=1e-12, abs=1.1 * MS)


@pytest.mark.parametrize("count", [1, 16, 17, 256, 257, 900])
def test_the_crossing_of_value_does_not_depend_on_how_many_are_searched_at_once(count):
    draw = np.random.default_rng(7)
    one = {"mass": 3.0, "uniqueness": 0.4, "base": 0.8, "rate": 0.02, "lag": 4.0, "reinforcements": 1.0, "accesses": 0}
    others = [
        {k: float(draw.uniform(0, 1)) for k in ("mass", "uniqueness", "base", "rate", "lag", "reinforcements")}
        for _ in range(count - 1)
    ]
    crossing = value([*others, one], {}).crossing(0.3)[-1]
    assert crossing == pytest.approx(float(value([one], {}).crossing(0.3)[0]), abs=1.1 * MS)


@curves
@pytest.mark.parametrize("age", [0.0, 1e-9, 36_525.0, 1e6])
def test_extreme_inputs_give_finite_numbers(make, age):
    extreme: Rows = [
        {
            "base": base,
            "accesses": 1e6,
            "rate": rate,
            "mass": 1e6,
            "uniqueness": 1.0,
            "lag": lag,
            "reinforcements": 1e4,
        }
        for base in (0.0, 1e-9, 1.0)
        for rate in (0.0, 1.0)
        for lag in (-1e6, 1e6)
    ]
    curve = make(extreme, {"half_life": 1.0, "weight": 1.0, "floor": 0.0})
    current = curve.value(age)
    assert np.all(np.isfinite(current))
    assert np.all((current >= 0.0) & (current <= 1.0 + ROUNDING))
    for threshold in (0.0, 0.01, 0.5, 1.0):
        assert not np.any(np.isnan(curve.crossing(threshold)))


@pytest.mark.parametrize("name", ["importance-exponential", "importance-linear", "importance-step"])
def test_a_tiny_base_crosses_at_0_without_a_warning(name):
    tiny = {"base": 5e-324, "accesses": 0.0, "rate": 0.1}
    keys = {"half_life": 30.0, "weight": 0.3, "floor": 0.0}
    assert float(CURVES[name]([tiny], keys).crossing(0.5)[0]) == 0.0


@LAW
@given(accesses=st.integers(0, 10_000), more=st.integers(0, 1000))
def test_more_access_never_makes_confidence_decay_faster(accesses, more):
    assert float(amplifier(accesses + more)) >= float(amplifier(accesses)) >= 1.0


@pytest.mark.parametrize("shape", ["exponential", "linear", "step"])
@LAW
@given(data=rows, keys=settings_, age=days, more=st.integers(1, 50))
def test_more_access_never_lowers_importance(shape, data, keys, age, more):
    used = [{**row, "accesses": row["accesses"] + more} for row in data]
    curve = importance(shape)
    assert np.all(curve(used, keys).value(age) >= curve(data, keys).value(age) - ROUNDING)


@LAW
@given(data=rows, age=days, more=st.integers(1, 10))
def test_more_reinforcement_never_lowers_retention(data, age, more):
    confirmed = [{**row, "reinforcements": row["reinforcements"] + more} for row in data]
    assert np.all(retention(confirmed, {}).value(age) >= retention(data, {}).value(age))


@LAW
@given(data=rows, keys=settings_, age=days)
def test_the_floor_never_lifts_a_base_below_it(data, keys, age):
    current = importance("exponential")(data, keys).value(age)
    lower = column(data, "base") <= keys["floor"]
    assert np.array_equal(current[lower], column(data, "base")[lower])
    assert np.all(current[~lower] >= keys["floor"])


@LAW
@given(before=st.floats(0.0, 1.0), count=st.integers(0, 100))
def test_a_confirmation_never_lowers_a_fact_and_never_lifts_it_over_the_cap(before, count):
    after = float(reinforced(before, count))
    assert before <= after <= max(0.95, before)


@LAW
@given(st.floats(0.0, 1.0), st.floats(0.0, 3.0), st.floats(0.1, 1.0), st.floats(0.01, 1.0))
def test_a_boost_is_never_negative_and_a_day_never_adds_more_than_its_cap(amount, boosted, diminishing, cap):
    worth = float(boost(amount, boosted, diminishing=diminishing, daily_cap=cap))
    assert 0.0 <= worth <= amount
    assert boosted + worth <= max(cap, boosted) + ROUNDING


@LAW
@given(st.floats(0.0, 1e6), days, days)
def test_the_access_counter_fades_alike_in_one_step_and_in_two(mass, first, second):
    assert float(faded_mass(faded_mass(mass, first), second)) == pytest.approx(float(faded_mass(mass, first + second)))


@LAW
@given(st.lists(st.floats(-1.0, 1.0), max_size=12))
def test_uniqueness_stays_between_0_and_1_and_a_further_likeness_never_raises_it(cosines):
    score = uniqueness(cosines)
    assert 0.0 <= score <= 1.0
    closer = max(cosines, default=0.0)
    assert uniqueness([*cosines, max(closer, 0.0)]) <= score + ROUNDING


@LAW
@given(anchor=st.integers(-(10**12), 10**13), age=st.floats(0.0, HORIZON_DAYS))
def test_a_due_instant_lies_after_the_crossing_but_by_less_than_three_milliseconds(anchor, age):
    due = int(due_instants([anchor], [age])[0])
    assert age / MS < due - anchor < age / MS + 3


@pytest.mark.parametrize("age", [math.inf, HORIZON_DAYS + 1, 1e300])
def test_what_happens_after_a_hundred_years_is_never_due(age):
    assert int(due_instants([0], [age])[0]) == int(NEVER)
