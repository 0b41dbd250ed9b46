"""Laws that every curve obeys: importance in its three shapes, confidence, both retentions, value and strength.

Below them: laws of single formulas. What belongs to strength alone is in test_strength.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from laws.memories import LAW
from perdure.formulas.confidence import ConfidenceCurve, amplifier, reinforce_confidence
from perdure.formulas.curve import HORIZON_DAYS, NEVER, Curve, due_instants
from perdure.formulas.fsrs import DEFAULT_WEIGHTS, PowerRetentionCurve, apply_review, first_review
from perdure.formulas.importance import ImportanceCurve, boost
from perdure.formulas.single import SingleValue, amplifier_of_one, confidence_crossing
from perdure.formulas.strength import Parameters, RetentionCurve, StrengthCurve
from perdure.formulas.value import ValueCurve, decay_mass, uniqueness

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
    return lambda data, keys: ImportanceCurve(column(data, "base"), column(data, "accesses"), shape=shape, **keys)  # type: ignore[arg-type]


def confidence(data: Rows, _: dict[str, float]) -> ConfidenceCurve:
    return ConfidenceCurve(column(data, "base"), column(data, "rate"))


def retention(data: Rows, _: dict[str, float]) -> RetentionCurve:
    return RetentionCurve(column(data, "reinforcements"))


def value(data: Rows, keys: dict[str, float]) -> ValueCurve:
    return ValueCurve(
        column(data, "mass"),
        column(data, "uniqueness"),
        confidence(data, keys),
        column(data, "lag"),
        column(data, "reinforcements"),
        column(data, "base"),
        (0.35, 0.25 * (1.0 - keys.get("weight", 0.0)), 0.20, 0.20, 0.25 * keys.get("weight", 0.0)),
    )


def power_retention(data: Rows, _: dict[str, float]) -> PowerRetentionCurve:
    return PowerRetentionCurve(np.clip(column(data, "mass") ** 3, 0.001, 36_500.0))


def strength(data: Rows, keys: dict[str, float]) -> StrengthCurve:
    """Half-lives from seconds to years, differing by memory; caps that bind and caps that do not."""
    seconds = keys["half_life"] * 10.0 ** (column(data, "accesses") % 6)
    parameters = Parameters(
        baseline=keys["floor"],
        passive_half_life=seconds,
        reinforcement_half_life=seconds * (0.1 + column(data, "reinforcements")),
        staleness_half_life=np.where(column(data, "lag") < 0.0, np.inf, 7200.0),
        max_decay_per_cycle=0.001 + 0.3 * keys["weight"],
        manual_multiplier=3.0,
        unit=1.0,
        forgetting_threshold=0.1,
        minimum=0.02,
        maximum=1.0,
        importance_weight=0.25,
        scale=3.0,
        reinforcement_importance_weight=0.6,
        max_level=12.0,
        max_step=0.25,
        forgetting_importance_weight=0.08,
        floor=0.02,
    )
    return StrengthCurve(column(data, "base"), column(data, "mass") / 4.0, column(data, "uniqueness"), parameters)


CURVES: Final = {
    "importance-exponential": importance("exponential"),
    "importance-linear": importance("linear"),
    "importance-step": importance("step"),
    "confidence": confidence,
    "retention": retention,
    "power-retention": power_retention,
    "value": value,
    "strength": strength,
}
curves = pytest.mark.parametrize("make", CURVES.values(), ids=CURVES.keys())


@pytest.mark.behaviour("A1")
@curves
@LAW
@given(data=rows, keys=settings_, age=days)
def test_a_curve_stays_between_0_and_1(make, data, keys, age):
    current = make(data, keys).value(age)
    assert np.all(current >= 0.0)
    assert np.all(current <= 1.0 + ROUNDING)


@pytest.mark.behaviour("A2")
@curves
@LAW
@given(data=rows, keys=settings_, age=days, later=days)
def test_a_curve_never_rises_with_time(make, data, keys, age, later):
    curve = make(data, keys)
    assert np.all(curve.value(age + later) <= curve.value(age) + ROUNDING)


@pytest.mark.behaviour("A3", "SG68")
@curves
@LAW
@given(data=rows, keys=settings_, age=days)
def test_decay_never_lifts_a_signal_above_where_it_began(make, data, keys, age):
    curve = make(data, keys)
    assert np.all(curve.value(age) <= curve.value(0.0) + ROUNDING)


@pytest.mark.behaviour("A4")
@pytest.mark.parametrize("name", [n for n in CURVES if n not in ("retention", "power-retention", "value")])
@LAW
@given(data=rows, keys=settings_, age=days)
def test_a_signal_is_its_base_at_age_0_and_never_above_it(name, data, keys, age):
    curve, base = CURVES[name](data, keys), column(data, "base")
    assert curve.value(0.0) == pytest.approx(base, abs=ROUNDING)
    assert np.all(curve.value(age) <= base + ROUNDING)


@pytest.mark.behaviour("A5")
@curves
@LAW
@given(data=rows, keys=settings_, age=days)
def test_negative_ages_count_as_0(make, data, keys, age):
    curve = make(data, keys)
    assert np.array_equal(curve.value(-age), curve.value(0.0))


@pytest.mark.behaviour("A6")
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


@pytest.mark.behaviour("A7")
@curves
@LAW
@given(data=rows, keys=settings_, threshold=thresholds)
def test_what_is_never_crossed_is_not_below_after_a_hundred_years(make, data, keys, threshold):
    curve = make(data, keys)
    never = ~(curve.crossing(threshold) <= HORIZON_DAYS)
    assert np.all(curve.value(HORIZON_DAYS)[never] >= threshold - ROUNDING)


@pytest.mark.behaviour("A8")
@curves
@LAW
@given(data=rows, keys=settings_, threshold=thresholds)
def test_what_is_below_from_the_start_crosses_at_0(make, data, keys, threshold):
    curve = make(data, keys)
    below = curve.value(0.0) < threshold - ROUNDING
    assert np.all(curve.crossing(threshold)[below] == 0.0)


@pytest.mark.behaviour("A9")
@curves
@LAW
@given(data=rows, keys=settings_, high=thresholds, low=thresholds)
def test_a_lower_threshold_is_never_crossed_earlier(make, data, keys, high, low):
    curve = make(data, keys)
    assert np.all(curve.crossing(min(high, low)) >= curve.crossing(max(high, low)) - MS)


@pytest.mark.behaviour("A10")
@curves
@LAW
@given(data=rows, keys=settings_, age=days, threshold=thresholds)
def test_many_at_once_are_the_same_as_one_by_one(make, data, keys, age, threshold):
    together, crossings = make(data, keys).value(age), make(data, keys).crossing(threshold)
    for i, row in enumerate(data):
        alone = make([row], keys)
        assert float(alone.value(age)[0]) == pytest.approx(float(together[i]), rel=1e-12, abs=1e-300)
        assert float(alone.crossing(threshold)[0]) == pytest.approx(float(crossings[i]), rel=1e-12, abs=1.1 * MS)


@pytest.mark.behaviour("A11")
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


@pytest.mark.behaviour("A6")
def test_the_crossing_of_value_follows_the_rates_that_it_was_given():
    row = {"mass": 3.0, "uniqueness": 0.4, "base": 0.8, "rate": 0.02, "lag": 4.0, "reinforcements": 1.0, "accesses": 0}
    curve = replace(value([row] * 20, {}), mass_rate=0.2, full_mass=7.0, recency_rate=0.013, recency_gain=0.31)
    at = curve.crossing(0.3)
    assert np.all((at > 1.0) & np.isfinite(at))
    assert np.all(curve.value(at - 2 * MS) >= 0.3 - ROUNDING)
    assert np.all(curve.value(at + 2 * MS) <= 0.3 + ROUNDING)


@pytest.mark.behaviour("A12")
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


@pytest.mark.behaviour("A23")
@pytest.mark.parametrize("name", ["importance-exponential", "importance-linear", "importance-step"])
def test_a_tiny_base_crosses_at_0_without_a_warning(name):
    tiny = {"base": 5e-324, "accesses": 0.0, "rate": 0.1}
    keys = {"half_life": 30.0, "weight": 0.3, "floor": 0.0}
    assert float(CURVES[name]([tiny], keys).crossing(0.5)[0]) == 0.0


@pytest.mark.behaviour("A15")
@LAW
@given(accesses=st.integers(0, 10_000), more=st.integers(0, 1000))
def test_more_access_never_makes_confidence_decay_faster(accesses, more):
    assert float(amplifier(accesses + more)) >= float(amplifier(accesses)) >= 1.0


@pytest.mark.behaviour("A16")
@pytest.mark.parametrize("shape", ["exponential", "linear", "step"])
@LAW
@given(data=rows, keys=settings_, age=days, more=st.integers(1, 50))
def test_more_access_never_lowers_importance(shape, data, keys, age, more):
    used = [{**row, "accesses": row["accesses"] + more} for row in data]
    curve = importance(shape)
    assert np.all(curve(used, keys).value(age) >= curve(data, keys).value(age) - ROUNDING)


@pytest.mark.behaviour("A17")
@LAW
@given(data=rows, age=days, more=st.integers(1, 10))
def test_more_reinforcement_never_lowers_retention(data, age, more):
    confirmed = [{**row, "reinforcements": row["reinforcements"] + more} for row in data]
    assert np.all(retention(confirmed, {}).value(age) >= retention(data, {}).value(age))


@pytest.mark.behaviour("A18")
@LAW
@given(data=rows, keys=settings_, age=days)
def test_the_floor_never_lifts_a_base_below_it(data, keys, age):
    current = importance("exponential")(data, keys).value(age)
    lower = column(data, "base") <= keys["floor"]
    assert np.array_equal(current[lower], column(data, "base")[lower])
    assert np.all(current[~lower] >= keys["floor"])


@pytest.mark.behaviour("A19")
@LAW
@given(before=st.floats(0.0, 1.0), count=st.integers(0, 100))
def test_a_confirmation_never_lowers_a_fact_and_never_lifts_it_over_the_cap(before, count):
    after = float(reinforce_confidence(before, count))
    assert before <= after <= max(0.95, before)


@pytest.mark.behaviour("A20")
@LAW
@given(st.floats(0.0, 1.0), st.floats(0.0, 3.0), st.floats(0.1, 1.0), st.floats(0.01, 1.0))
def test_a_boost_is_never_negative_and_a_day_never_adds_more_than_its_cap(amount, boosted, diminishing, cap):
    worth = float(boost(amount, boosted, diminishing=diminishing, daily_cap=cap))
    assert 0.0 <= worth <= amount
    assert boosted + worth <= max(cap, boosted) + ROUNDING


@pytest.mark.behaviour("A21")
@LAW
@given(st.floats(0.0, 1e6), days, days)
def test_the_access_counter_fades_alike_in_one_step_and_in_two(mass, first, second):
    assert float(decay_mass(decay_mass(mass, first), second)) == pytest.approx(float(decay_mass(mass, first + second)))


@pytest.mark.behaviour("A22")
@LAW
@given(st.lists(st.floats(-1.0, 1.0), max_size=12))
def test_uniqueness_stays_between_0_and_1_and_a_further_likeness_never_raises_it(cosines):
    score = uniqueness(cosines)
    assert 0.0 <= score <= 1.0
    closer = max(cosines, default=0.0)
    assert uniqueness([*cosines, max(closer, 0.0)]) <= score + ROUNDING


@pytest.mark.behaviour("A13")
@LAW
@given(anchor=st.integers(-(10**12), 10**13), age=st.floats(0.0, HORIZON_DAYS))
def test_a_due_instant_lies_after_the_crossing_but_by_less_than_three_milliseconds(anchor, age):
    due = int(due_instants([anchor], [age])[0])
    assert age / MS < due - anchor < age / MS + 3


@pytest.mark.behaviour("A14")
@pytest.mark.parametrize("age", [math.inf, HORIZON_DAYS + 1, 1e300])
def test_what_happens_after_a_hundred_years_is_never_due(age):
    assert int(due_instants([0], [age])[0]) == int(NEVER)


grades = st.integers(1, 4)
stabilities = st.one_of(st.floats(0.001, 1.0), st.floats(0.001, 36_500.0))
difficulties = st.floats(1.0, 10.0)


@pytest.mark.behaviour("F01")
@pytest.mark.parametrize("stability", [0.001, 1.0, 36_500.0])
@pytest.mark.parametrize("decay", [0.1, DEFAULT_WEIGHTS[20], 0.5, 0.8])
def test_after_as_many_days_as_its_stability_a_memory_keeps_nine_tenths(stability, decay):
    curve = PowerRetentionCurve(np.array([stability]), decay)
    assert float(curve.value(stability)[0]) == pytest.approx(0.9, rel=1e-12)
    assert float(curve.crossing(0.9)[0]) == pytest.approx(stability, rel=1e-12)


@pytest.mark.behaviour("F02")
def test_the_power_law_with_decay_a_half_has_factor_19_by_81():
    # 0.9^-2 - 1 = 19/81; retention is a half where 1 + 19/81 * t/S = 4, that is t = 3 * 81/19 * S
    curve = PowerRetentionCurve(np.array([10.0]), 0.5)
    assert float(curve.crossing(0.5)[0]) == pytest.approx(30 * 81 / 19, rel=1e-12)
    assert float(curve.value(30 * 81 / 19)[0]) == pytest.approx(0.5, rel=1e-12)


@pytest.mark.behaviour("F03")
@LAW
@given(data=rows, age=days, factor=st.floats(1.0, 50.0))
def test_a_more_stable_memory_never_keeps_less(data, age, factor):
    curve = power_retention(data, {})
    assert np.all(PowerRetentionCurve(curve.stability * factor).value(age) >= curve.value(age) - ROUNDING)


@pytest.mark.behaviour("F04")
def test_a_first_review_gives_the_published_stability_and_difficulty():
    stability, difficulty = first_review([1, 2, 3, 4])
    assert stability.tolist() == [0.212, 1.2931, 2.3065, 8.2956]
    # 7.4133 - e^(0.8334 * (G - 1)): 1, 2.30113, 5.29520, and 12.185, which leaves less than 1
    assert difficulty == pytest.approx([6.4133, 5.11217, 2.11810, 1.0], abs=1e-5)


@pytest.mark.behaviour("F05")
@pytest.mark.parametrize(
    ("weights", "expected"),
    [(DEFAULT_WEIGHTS, 53.62691), ((*DEFAULT_WEIGHTS[:17], 0.0, 0.0, 0.0, DEFAULT_WEIGHTS[20]), 53.335106)],
    ids=["defaults", "without-the-same-day-step"],
)
def test_a_history_ends_where_the_published_implementations_end(weights, expected):
    # test_memory_state of fsrs-rs, test_memo_state of py-fsrs
    stability, difficulty = first_review(1, weights)
    for elapsed in (0, 1, 3, 8, 21):
        stability, difficulty = apply_review(stability, difficulty, elapsed, 3, weights)
    assert float(stability) == pytest.approx(expected, abs=1e-4)
    assert float(difficulty) == pytest.approx(6.3574867, abs=1e-4)


@pytest.mark.behaviour("F06")
@pytest.mark.parametrize(
    ("grade", "expected"),
    [
        # S = 1, D = 5, after 1 day (R = 0.9): e^1.8722 * 6 * (e^0.0796 - 1) = 6.502585 * 6 * 0.0828540 = 3.232590
        (3, 1 + 3.232590),
        (2, 1 + 3.232590 * 0.6014),
        (4, 1 + 3.232590 * 1.8729),
        # 1.4835 * 5^-0.0614 * (2^0.2629 - 1) * e^0.16483 = 1.4835 * 0.905914 * 0.199889 * 1.179193
        (1, 0.316776),
    ],
)
def test_a_review_after_a_day_follows_the_published_formulas(grade, expected):
    assert float(apply_review(1.0, 5.0, 1.0, grade)[0]) == pytest.approx(expected, abs=1e-5)


@pytest.mark.behaviour("F07")
@pytest.mark.parametrize(
    ("grade", "before", "expected"),
    [
        (3, 1.0, 1.050720),  # e^(0.5425 * 0.0912)
        (4, 1.0, 1.807557),  # e^(0.5425 * 1.0912)
        (1, 1.0, 0.355047),  # e^(0.5425 * -1.9088)
        (2, 1.0, 1.0),  # e^(0.5425 * -0.9088) is below 1
        (3, 100.0, 100.0),  # 1.05072 * 100^-0.0658 is below 1
    ],
)
def test_a_review_on_the_same_day_follows_the_short_term_formula(grade, before, expected):
    assert float(apply_review(before, 5.0, 0.5, grade)[0]) == pytest.approx(expected, abs=1e-5)


@pytest.mark.behaviour("F08")
@pytest.mark.parametrize(
    ("grade", "before", "expected"),
    [
        # a thousandth of the way from there to D0(4) = 7.4133 - e^2.5002 = -4.771630
        (3, 5.0, 4.990228),
        (1, 5.0, 8.341762),  # 5 + 6.0388 * 5/9 = 8.354889
        (4, 5.0, 3.314461),  # 5 - 3.0194 * 5/9 = 3.322556
        (1, 10.0, 9.985228),  # at 10 nothing is added
        (4, 1.0, 1.0),
    ],
)
def test_difficulty_moves_less_the_nearer_it_is_to_10_and_reverts_to_easy(grade, before, expected):
    assert float(apply_review(10.0, before, 5.0, grade)[1]) == pytest.approx(expected, abs=1e-5)


@pytest.mark.behaviour("F09")
@pytest.mark.parametrize(
    ("changed", "elapsed", "expected"),
    [
        # long forgotten and easy: the formula would say 0.015, but S / e^(0.5425 * 0.0912) is the most
        ({}, 1000.0, 0.009517),
        ({18: -1.0}, 1000.0, 0.01),  # that bound would be over S
        ({19: 0.8}, 0.0, 0.01),  # on the same day: 0.355047 * 0.01^-0.8 would be 14 times S
    ],
)
def test_a_lapse_of_an_unstable_memory_is_bounded_by_what_it_was(changed, elapsed, expected):
    weights = [changed.get(i, weight) for i, weight in enumerate(DEFAULT_WEIGHTS)]
    assert float(apply_review(0.01, 1.0, elapsed, 1, weights)[0]) == pytest.approx(expected, abs=1e-6)


@pytest.mark.behaviour("F10")
@LAW
@given(before=stabilities, difficulty=difficulties, elapsed=days, grade=grades)
def test_a_lapse_never_raises_stability_and_a_recall_never_lowers_it(before, difficulty, elapsed, grade):
    after, harder = apply_review(before, difficulty, elapsed, grade)
    assert 0.001 <= after <= 36_500.0
    assert 1.0 <= harder <= 10.0
    assert after <= before if grade == 1 else after >= before


@pytest.mark.behaviour("F11")
@LAW
@given(before=stabilities, difficulty=difficulties, elapsed=days)
def test_a_better_grade_never_gives_less_stability_or_more_difficulty(before, difficulty, elapsed):
    stability, harder = apply_review([before] * 4, [difficulty] * 4, [elapsed] * 4, [1, 2, 3, 4])
    assert np.all(np.diff(stability) >= 0.0)
    assert np.all(np.diff(harder) <= 0.0)


@pytest.mark.behaviour("F12")
@LAW
@given(st.lists(st.tuples(stabilities, difficulties, days, grades), min_size=1, max_size=20))
def test_reviews_at_once_are_the_same_as_one_by_one(reviews):
    together = apply_review(*(np.array(part) for part in zip(*reviews, strict=True)))
    for i, review in enumerate(reviews):
        alone = apply_review(*review)
        assert [float(part[i]) for part in together] == pytest.approx([float(part) for part in alone], rel=1e-12)


@pytest.mark.behaviour("A35")
@LAW
@given(data=rows, age=days, threshold=thresholds)
def test_the_numbers_of_one_memory_are_those_of_arrays(data, age, threshold):
    one, sure = data[0], ConfidenceCurve(column(data, "base"), column(data, "rate"))
    shares_ = (0.2, 0.15, 0.2, 0.15, 0.3)
    many = ValueCurve(
        *(column(data, "mass"), column(data, "uniqueness"), sure, column(data, "lag"), column(data, "reinforcements")),
        importance=column(data, "base"),
        weights=shares_,
    )
    single = SingleValue(
        *(one["mass"], one["uniqueness"], (one["base"], one["rate"]), one["lag"], one["reinforcements"], one["base"]),
        shares_,
    )
    assert single.value(age) == pytest.approx(many.value(age)[0], abs=1e-12)
    assert amplifier_of_one(int(one["accesses"])) == pytest.approx(amplifier(one["accesses"]).item(), abs=1e-12)
    fallen = confidence_crossing(one["base"], one["rate"], threshold)
    assert fallen == pytest.approx(sure.crossing(threshold)[0].item(), rel=1e-12)
    crossed, expected = single.crossing(threshold), many.crossing(threshold)[0].item()
    if crossed != pytest.approx(expected, abs=1.5 * MS):  # so flat that rounding decides when it is below
        assert single.value(min(crossed, HORIZON_DAYS)) == pytest.approx(threshold, abs=1e-12)
        assert single.value(min(expected, HORIZON_DAYS)) == pytest.approx(threshold, abs=1e-12)
