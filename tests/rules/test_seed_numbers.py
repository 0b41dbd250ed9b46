"""The seeds' own numbers, each with its section in the test's id; where the design replaces a number, the design's.

Expected values are worked out by hand from the documents, not by the code under test.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from perdure.formulas.confidence import ConfidenceCurve, amplifier, reinforce_confidence
from perdure.formulas.importance import ImportanceCurve, boost
from perdure.formulas.strength import RetentionCurve
from perdure.formulas.value import ValueCurve, decay_mass, uniqueness
from perdure.records.memory import Kind, Scope, Status, Tier
from perdure.records.policy import Policy
from perdure.rules.lifecycle.signals import current_signals
from perdure.rules.lifecycle.trajectory import replay
from perdure.rules.policy_check import policy_from
from perdure.rules.validation.inputs import check_draft
from rules.builders import DAY, HOUR, START, born, state

SEED = policy_from({"preset": "tiered"})
DEFAULT = policy_from({})


def case(source: str, *values: object) -> object:
    return pytest.param(*values, id=source)


def importance(base: float, accesses: int, days: float, **keys: object) -> float:
    curve = ImportanceCurve(np.array([base]), np.array([float(accesses)]), **{"weight": 0.0, "floor": 0.0, **keys})  # type: ignore[arg-type]
    return float(curve.value(days)[0])


# --- decay of importance


@pytest.mark.behaviour("S1", "S2", "S3", "S4", "S5")
@pytest.mark.parametrize(
    ("shape", "base", "accesses", "days", "expected"),
    [
        # half-life 30 d, lengthened by (1 + base): at base 1 it is 60 days
        case("000-1.5-exponential-halves-at-the-half-life", "exponential", 1.0, 0, 60.0, 0.5),
        case("000-1.5-exponential-quarter-at-twice", "exponential", 1.0, 0, 120.0, 0.25),
        case("000-1.2-base-0.5-half-life-45", "exponential", 0.5, 0, 45.0, 0.25),
        case("000-1.2-one-access-adds-half", "exponential", 1.0, 1, 90.0, 0.5),
        case("000-1.2-two-accesses", "exponential", 1.0, 2, 135.0, 0.5),
        case("000-1.5-access-bonus-capped-at-20", "exponential", 1.0, 20, 60.0 * 1.5**20, 0.5),
        case("000-1.5-access-21-adds-nothing", "exponential", 1.0, 21, 60.0 * 1.5**20, 0.5),
        case("000-1.7-linear-half-at-the-half-life", "linear", 1.0, 0, 60.0, 0.5),
        case("000-1.7-linear-zero-at-twice", "linear", 1.0, 0, 120.0, 0.0),
        case("000-1.5-linear-stays-zero", "linear", 1.0, 0, 500.0, 0.0),
        case("000-1.5-step-full-before", "step", 1.0, 0, 59.999, 1.0),
        case("000-1.5-step-half-from-the-half-life", "step", 1.0, 0, 60.0, 0.5),
        case("000-1.5-step-half-before-twice", "step", 1.0, 0, 119.999, 0.5),
        case("000-1.5-step-quarter-from-twice", "step", 1.0, 0, 120.0, 0.25),
        case("000-1.5-step-quarter-for-ever", "step", 1.0, 0, 1e5, 0.25),
        case("000-1.5-untouched-at-age-0", "exponential", 0.7, 3, 0.0, 0.7),
    ],
)
def test_importance(shape, base, accesses, days, expected):
    assert importance(base, accesses, days, shape=shape) == pytest.approx(expected, abs=1e-9)


@pytest.mark.behaviour("S6", "S7", "S8")
@pytest.mark.parametrize(
    ("base", "accesses", "days", "weight", "floor", "expected"),
    [
        # the design: retention = time + w·s·(1 - time), so nothing is taken at age 0 (the seed took 30 %)
        case("design-3-blend-takes-nothing-at-age-0", 0.8, 0, 0.0, 0.3, 0.1, 0.8),
        case("design-3-equals-the-seed-at-weight-0", 1.0, 5, 60.0 * 1.5**5, 0.0, 0.1, 0.5),
        case("design-3-never-accessed-has-no-stability", 1.0, 0, 60.0, 0.3, 0.1, 0.5),
        case("design-3-99-accesses-are-fully-stable", 1.0, 99, 60.0 * 1.5**20, 0.3, 0.1, 0.5 + 0.3 * 0.5),
        case("design-3-9-accesses-are-half-stable", 1.0, 9, 60.0 * 1.5**9, 0.3, 0.0, 0.5 + 0.3 * 0.5 * 0.5),
        case("design-3-weight-1-and-stable-never-fades", 1.0, 99, 1e9, 1.0, 0.0, 1.0),
        case("000-1.3-floor-holds", 1.0, 0, 1e5, 0.0, 0.1, 0.1),
        case("000-1.3-floor-of-0.5-holds", 1.0, 0, 1e5, 0.0, 0.5, 0.5),
        case("design-3-the-floor-never-raises", 0.05, 0, 1e5, 0.0, 0.1, 0.05),
    ],
)
def test_importance_with_stability_and_floor(base, accesses, days, weight, floor, expected):
    assert importance(base, accesses, days, weight=weight, floor=floor) == pytest.approx(expected, abs=1e-9)


@pytest.mark.behaviour("S10")
@pytest.mark.parametrize(
    ("amount", "boosted", "diminishing", "cap", "expected"),
    [
        case("000-2.2-first-boost-is-whole", 0.1, 0.0, 0.9, 0.5, 0.1),
        case("000-2.2-second-is-0.9-of-it", 0.1, 0.1, 0.9, 0.5, 0.09),
        case("000-2.2-third-is-0.81-of-it", 0.1, 0.2, 0.9, 0.5, 0.081),
        case("000-2.2-the-day-has-0.05-left", 0.3, 0.45, 1.0, 0.5, 0.05),
        case("000-2.2-the-day-is-full", 0.3, 0.5, 0.9, 0.5, 0.0),
        case("000-2.2-over-full-is-not-negative", 0.3, 0.9, 0.9, 0.5, 0.0),
        case("design-3-off-in-the-presets", 0.02, 0.7, 1.0, 1.0, 0.02),
    ],
)
def test_boost(amount, boosted, diminishing, cap, expected):
    assert float(boost(amount, boosted, diminishing=diminishing, daily_cap=cap)) == pytest.approx(expected, abs=1e-12)


def recalled(base: float, times: int, policy: Policy, *, apart: int = 1000) -> float:
    memory = replace(born(policy), importance=base)
    accesses = [(START + apart * (i + 1), 1) for i in range(times)]
    return replay({"m": memory}, {"m": accesses}, START + apart * times, policy)[0].after.importance


@pytest.mark.behaviour("S11", "S12", "S13")
@pytest.mark.parametrize(
    ("base", "times", "policy", "expected"),
    [
        case("000-2.6-access-boost-0.02", 0.5, 1, SEED, 0.52),
        case("000-2.6-ten-accesses", 0.5, 10, SEED, 0.7),
        case("000-2.5-cap-at-the-maximum", 0.99, 3, SEED, 1.0),
        case("design-3-diminishing-0.9-in-balanced", 0.5, 2, DEFAULT, 0.52 + 0.02 * 0.9**0.2),
        case("field-trap-000-seven-quick-recalls-do-not-destroy", 0.5, 7, SEED, 0.64),
    ],
)
def test_importance_after_recalls(base, times, policy, expected):
    assert recalled(base, times, policy) == pytest.approx(expected, abs=1e-9)


@pytest.mark.behaviour("S14")
def test_the_cap_never_lowers_what_is_above_it():
    """Capped at max_importance but a cap never lowers."""
    policy = policy_from({"importance": {"maximum": 0.6}})
    assert recalled(0.9, 3, policy) == 0.9
    assert recalled(0.59, 3, policy) == pytest.approx(0.6)


@pytest.mark.behaviour("S15")
def test_boosts_of_one_day_stop_at_the_daily_cap_and_start_anew_the_next_day():
    """With the cap of 0.5 a day, here made small."""
    policy = policy_from({"importance": {"daily_cap": 0.05, "diminishing": 1.0}})
    assert recalled(0.3, 20, policy) == pytest.approx(0.35)
    assert recalled(0.3, 3, policy, apart=DAY) == pytest.approx(0.36)


@pytest.mark.behaviour("S16")
def test_six_runs_at_age_0_take_nothing():
    """field.md, trap in 000: six runs at age 0 took 0.8 to 0.1."""
    memory = replace(born(SEED), importance=0.8)
    for _ in range(6):
        memory = replay({"m": memory}, {}, START, SEED)[0].after
    assert memory.importance == 0.8
    assert current_signals([memory], SEED, START).importance[0] == pytest.approx(0.8)


@pytest.mark.behaviour("S9")
@pytest.mark.parametrize(
    ("key", "expected"),
    [
        case("000-1.6-half-life", "half_life_days", 30.0),
        case("000-1.6-function", "shape", "exponential"),
        case("000-1.6-floor", "floor", 0.1),
        case("000-1.3-access-weight", "access_weight", 0.3),
        case("000-2.6-max-importance", "maximum", 1.0),
        case("000-2.6-access-boost", "on_access", 0.02),
        case("000-2.6-default-boost", "boost", 0.1),
    ],
)
@pytest.mark.parametrize("policy", [SEED, DEFAULT], ids=["retention", "balanced"])
def test_importance_defaults(policy, key, expected):
    assert getattr(policy.importance, key) == expected


# --- confidence


@pytest.mark.behaviour("S17", "002-stage-6-decay")
@pytest.mark.parametrize(
    ("base", "rate", "days", "expected"),
    [
        case("002-fact-half-after-69.3-days", 0.8, 0.01, math.log(2) / 0.01, 0.4),
        case("002-fact-after-100-days", 1.0, 0.01, 100.0, math.exp(-1)),
        case("001-factor-0.95-a-day", 0.8, -math.log(0.95), 1.0, 0.76),
        case("001-factor-0.95-hides-after-24-days", 1.0, -math.log(0.95), 24.0, 0.95**24),
        case("design-3-no-rate-no-fading", 0.8, 0.0, 1e6, 0.8),
    ],
)
def test_confidence(base, rate, days, expected):
    curve = ConfidenceCurve(np.array([base]), np.array([rate]))
    assert float(curve.value(days)[0]) == pytest.approx(expected, rel=1e-12)


@pytest.mark.behaviour("S18")
@pytest.mark.parametrize(
    ("accesses", "expected"),
    [
        case("field-trap-001-amplifier-at-0", 0, 1.0),
        case("design-3-amplifier-at-1", 1, 1.0),
        case("design-3-amplifier-at-2", 2, 1.1812322),
        case("design-3-amplifier-at-10", 10, 3.0279307),
        case("design-3-amplifier-at-100", 100, 17.8406715),
    ],
)
def test_amplifier(accesses, expected):
    assert float(amplifier(accesses)) == pytest.approx(expected, rel=1e-6)


@pytest.mark.behaviour("S19")
@pytest.mark.parametrize(
    ("before", "count", "expected"),
    [
        case("design-3-first-confirmation", 0.70, 1, 0.85),
        case("design-3-second-reaches-the-cap", 0.85, 2, 0.95),
        case("002-third", 0.50, 3, 0.55),
        case("002-fourth", 0.50, 4, 0.52),
        case("002-tenth", 0.50, 10, 0.52),
        case("design-3-a-cap-never-lowers", 0.99, 5, 0.99),
    ],
)
def test_confirmation_of_a_fact(before, count, expected):
    assert float(reinforce_confidence(before, count)) == pytest.approx(expected)


@pytest.mark.behaviour("S20")
@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        case("design-2-note", Kind.NOTE, 0.8),
        case("design-2-episode", Kind.EPISODE, 1.0),
        case("design-5-explicit-fact", Kind.FACT, 0.7),
    ],
)
def test_confidence_at_birth(kind, expected):
    assert check_draft("words", policy=DEFAULT, now=START, kind=kind.value).confidence == expected


@pytest.mark.behaviour("S21")
@pytest.mark.parametrize(
    ("kind", "scope", "expected"),
    [
        case("001-long-term-fades-from-the-last-access", Kind.NOTE, Scope.LONG_TERM, 0.8 * 0.95**10),
        case("001-session-does-not-fade", Kind.NOTE, Scope.SESSION, 0.8),
        case("001-task-does-not-fade", Kind.NOTE, Scope.TASK, 0.8),
        case("002-facts-fade-from-validation", Kind.FACT, Scope.LONG_TERM, 0.8 * math.exp(-0.01 * 40)),
        case("design-3-facts-fade-in-every-scope", Kind.FACT, Scope.SESSION, 0.8 * math.exp(-0.01 * 40)),
    ],
)
def test_from_when_confidence_fades(kind, scope, expected):
    policy = policy_from({"confidence": {"daily_factor": 0.95}})
    memory = state(kind=kind, scope=scope, confidence=0.8, anchor_ms=START + 30 * DAY, access_count=1, created_ms=START)
    assert current_signals([memory], policy, START + 40 * DAY).confidence[0] == pytest.approx(expected)


@pytest.mark.behaviour("S22")
def test_validation_moves_the_truth_clock_and_access_does_not():
    """Only validation resets the truth clock."""
    fact = state(kind=Kind.FACT, confidence=0.8, anchor_ms=START + 39 * DAY, access_count=9)
    confirmed = replace(fact, validated_ms=START + 20 * DAY)
    late = START + 40 * DAY
    assert current_signals([fact], DEFAULT, late).confidence[0] == pytest.approx(0.8 * math.exp(-0.4))
    assert current_signals([confirmed], DEFAULT, late).confidence[0] == pytest.approx(0.8 * math.exp(-0.2))


# --- the forgetting curve


@pytest.mark.behaviour("S23")
@pytest.mark.parametrize(
    ("reinforcements", "days", "expected"),
    [
        # the published table: 1.3 %, 5.8 %, 15.0 %, 28.0 %, 42.8 %. The table's last digits are rough;
        # these follow from its own formula.
        case("004-2.2-row-0-at-30-days", 0, 30.0, 0.0138),
        case("004-2.2-row-1-at-30-days", 1, 30.0, 0.0574),
        case("004-2.2-row-2-at-30-days", 2, 30.0, 0.1489),
        case("004-2.2-row-3-at-30-days", 3, 30.0, 0.2809),
        case("004-2.2-row-4-at-30-days", 4, 30.0, 0.4289),
        case("004-2.1-1/e-after-7-days", 0, 7.0, 0.3679),
        case("004-2.1-1/e-after-10.5-days", 1, 10.5, 0.3679),
        case("004-2.2-strength-15.75", 2, 15.75, 0.3679),
        case("004-2.2-strength-23.6", 3, 23.625, 0.3679),
        case("004-2.2-strength-35.4", 4, 35.4375, 0.3679),
    ],
)
def test_retention(reinforcements, days, expected):
    curve = RetentionCurve(np.array([float(reinforcements)]))
    assert float(curve.value(days)[0]) == pytest.approx(expected, abs=6e-5)


@pytest.mark.behaviour("S24")
def test_a_review_is_suggested_below_one_half():
    """should_reinforce: threshold 0.5, reached after 7 ln 2 = 4.852 days."""
    assert SEED.retention.review_below == 0.5
    assert float(RetentionCurve(np.zeros(1)).crossing(0.5)[0]) == pytest.approx(4.852, abs=5e-4)


# --- value


def value(mass=0.0, unique=0.0, sure=0.0, days=0.0, confirmed=0) -> float:
    curve = ValueCurve(
        np.array([float(mass)]),
        np.array([float(unique)]),
        ConfidenceCurve(np.array([float(sure)]), np.zeros(1)),
        np.zeros(1),
        np.array([float(confirmed)]),
        np.zeros(1),
    )
    return float(curve.value(days)[0])


@pytest.mark.behaviour("S25")
@pytest.mark.parametrize(
    ("given", "expected"),
    [
        case("004-1.1-all-parts-full", {"mass": 20, "unique": 1, "sure": 1}, 1.0),
        case("004-1.1-nothing-but-recency", {}, 0.20),
        case("004-1.2-uniqueness-0.25", {"unique": 1}, 0.25 + 0.20),
        case("004-1.2-confidence-0.20", {"sure": 1}, 0.20 + 0.20),
        case("004-1.2-frequency-0.35", {"mass": 20}, 0.35 + 0.20),
        case("004-1.3-20-accesses-fill-frequency", {"mass": 40}, 0.35 + 0.20),
        case("004-1.3-10-accesses-fill-half", {"mass": 10}, 0.175 + 0.20),
        case("004-1.3-frequency-rate-0.05", {"mass": 10, "days": 20}, 0.175 * math.exp(-1) + 0.20 * math.exp(-2)),
        case("004-1.3-recency-rate-0.1", {"days": 10}, 0.20 * math.exp(-1)),
        case("004-1.3-reinforcement-0.1-each", {"days": 10, "confirmed": 5}, 0.20 * 1.5 * math.exp(-1)),
        case("004-1.3-recency-at-most-1", {"days": 1, "confirmed": 5}, 0.20),
        case("004-1.1-a-new-unique-note", {"unique": 1, "sure": 0.8}, 0.25 + 0.16 + 0.20),
    ],
)
def test_value(given, expected):
    assert value(**given) == pytest.approx(expected, abs=1e-12)


@pytest.mark.behaviour("S26")
@pytest.mark.parametrize(
    ("cosines", "expected"),
    [
        case("004-1.3-alone-is-unique", [], 1.0),
        case("004-1.3-mean-of-five", [0.5, 0.4, 0.3, 0.2, 0.1], 0.7),
        case("004-1.3-only-the-five-nearest", [0.5, 0.4, 0.3, 0.2, 0.1, -1.0, -1.0], 0.7),
        case("004-1.3-in-any-order", [0.1, 0.5, 0.3, -1.0, 0.2, 0.4], 0.7),
        case("004-1.3-fewer-than-five", [0.6, 0.2], 0.6),
        case("004-1.3-never-over-1", [-0.5, -0.5], 1.0),
        case("field-trap-004-a-copy-scores-0", [1.0], 0.0),
        case("design-3-an-exact-duplicate-scores-0", [1.0, 0.1, 0.1, 0.1, 0.1], 0.0),
    ],
)
def test_uniqueness(cosines, expected):
    assert uniqueness(cosines) == pytest.approx(expected)


@pytest.mark.behaviour("S27")
def test_the_access_counter_is_the_sum_over_the_history():
    """One number of state equals the seed's sum of e^(-0.05·age) over all accesses."""
    days = [0, 1, 4, 11, 30]
    mass = 0.0
    for i, day in enumerate(days):
        mass = float(decay_mass(mass, day - days[i - 1] if i else 0.0)) + 1.0
    assert mass == pytest.approx(sum(math.exp(-0.05 * (30 - day)) for day in days))


@pytest.mark.behaviour("S28")
def test_ages_are_not_floored_to_days():
    """Ages are continuous."""
    assert value(days=0.5) == pytest.approx(0.20 * math.exp(-0.05))
    assert float(RetentionCurve(np.zeros(1)).value(0.5)[0]) == pytest.approx(math.exp(-0.5 / 7))


# --- tiers


def moves(memory, hours: float, accesses=(), policy=SEED):
    """What became of its tier and status; shorter forms have tests of their own (test_compression_moves.py)."""
    trajectory = replay({"m": memory}, {"m": tuple(accesses)}, START + int(hours * HOUR), policy)[0]
    return [
        (s.state.tier.value if s.state.status is Status.ACTIVE else "archived", (s.at - START) / HOUR)
        for s in trajectory.transitions
        if not s.shrinks
    ]


def worth(target: float, tier: Tier, **fixed):
    """A memory of the retention preset whose value is ``target`` at START and hardly falls for a month.

    Uniqueness and confidence do not fade under that preset: 0.25 and 0.20 of the value; recency and then frequency add
    the rest.
    """
    steady = min(target, 0.45)
    rest = target - steady
    share = steady / 0.45
    old = 400 * DAY if rest == 0 else int(max(0.0, 10 * math.log(0.20 / rest)) * DAY)
    mass = max(0.0, rest - 0.20) / 0.35 * 20 if rest else 0.0
    return state(
        tier=tier,
        uniqueness=share,
        confidence=share,
        anchor_ms=fixed.pop("anchor_ms", START - old),
        access_mass=mass,
        created_ms=START - old,
        **fixed,
    )


@pytest.mark.behaviour("S29")
@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        # value at birth: 0.25·uniqueness + 0.20·confidence + 0.20
        case("004-6.1-hot-entry-by-message", {"near": (1.0,), "message": True}, Tier.HOT),
        case("004-5.1-else-warm", {}, Tier.WARM),
        case("004-6.1-warm-also-below-0.3", {"near": (1.0,)}, Tier.WARM),
    ],
)
def test_entry(entry, expected):
    assert born(SEED, confidence=0.0, **entry).tier is expected


@pytest.mark.behaviour("S30", "004-6.1-HOT-entry", "004-6.1-WARM-entry")
@pytest.mark.parametrize(
    ("threshold", "expected"),
    [
        case("004-6.1-score-at-0.65-enters-hot", 0.65, Tier.HOT),
        case("004-6.1-score-below-enters-warm", 0.66, Tier.WARM),
    ],
)
def test_hot_entry_is_inclusive(threshold, expected):
    """A unique memory of confidence 1 is born with value 0.65 (no accesses yet), so the threshold is moved to it."""
    policy = policy_from({"preset": "tiered", "tiers": {"hot_entry_value": threshold}})
    assert born(policy, confidence=1.0).tier is expected


@pytest.mark.behaviour("S31", "004-6.1-HOT-exit")
@pytest.mark.parametrize(
    ("value_", "accesses", "expected"),
    [
        case("004-6.1-hot-exit-after-24-hours-below-0.6-to-warm", 0.55, 0, [("warm", 24.0)]),
        case("004-5.2-hot-below-0.5-to-cold", 0.45, 0, [("cold", 24.0)]),
    ],
)
def test_hot_leaves_after_24_hours(value_, accesses, expected):
    memory = worth(value_, Tier.HOT, access_count=accesses)
    found = moves(memory, 25)
    assert [t for t, _ in found] == [t for t, _ in expected]
    assert [at for _, at in found] == pytest.approx([at for _, at in expected])


@pytest.mark.behaviour("S32")
def test_hot_stays_while_its_value_is_0_6():
    """Hot leaves after 24 h with value < 0.6; otherwise it stays (the seed promoted it to warm)."""
    assert moves(worth(0.95, Tier.HOT, access_count=9), 23.9) == []
    assert moves(worth(0.95, Tier.HOT, access_count=9), 30) == []


@pytest.mark.behaviour("S33")
def test_hot_is_not_left_before_24_hours_however_low_the_value():
    assert moves(worth(0.05, Tier.HOT), 23.999) == []
    assert moves(worth(0.05, Tier.HOT), 24.0) == [("cold", 24.0)]


@pytest.mark.behaviour("S34", "004-6.1-WARM-exit", "004-6.1-COLD-entry")
@pytest.mark.parametrize(
    ("value_", "hours", "expected"),
    [
        case("004-6.1-warm-exit-below-0.3", 0.29, 1, ["cold"]),
        case("004-4.3-warm-keeps-from-0.3-on", 0.30, 167, []),
        case("004-6.1-warm-exit-after-7-days", 0.45, 168, ["cold"]),
        case("004-4.3-not-before-7-days", 0.45, 167.99, []),
    ],
)
def test_warm_to_cold(value_, hours, expected):
    assert [t for t, _ in moves(worth(value_, Tier.WARM), hours)] == expected


@pytest.mark.behaviour("S35", "004-4.1-WARM")
def test_an_access_keeps_a_warm_memory_warm_for_another_7_days():
    """7 days in tier with no access."""
    found = moves(worth(0.45, Tier.WARM), 400, [(START + 100 * HOUR, 1)])
    assert found[0] == ("cold", 268.0)


@pytest.mark.behaviour("S36")
@pytest.mark.parametrize(
    ("gaps", "expected"),
    [
        case("004-5.1-three-in-4-hours", (0, 2, 4), ["hot"]),
        case("004-4.3-three-in-a-little-more", (0, 2, 4.01), []),
        case("004-4.3-two-are-not-enough", (0, 1), []),
        case("004-5.1-the-last-three-count", (0, 10, 11, 12), ["hot"]),
    ],
)
def test_a_burst_lifts_warm_to_hot(gaps, expected):
    start = START + HOUR
    found = moves(worth(0.3, Tier.WARM), 14, [(start + int(g * HOUR), 1) for g in gaps])
    assert [t for t, _ in found] == expected


@pytest.mark.behaviour("S37", "S38", "004-6.1-ARCHIVE-entry")
@pytest.mark.parametrize(
    ("mass", "accesses", "expected"),
    [
        # at an access, age 0: 0.35·mass/20 + 0.25 + 0.20 + 0.20 = 0.65 + 0.0175·mass
        case("004-5.2-warm-to-hot-at-0.75", 4.72, 1, ["hot"]),
        case("004-5.2-not-below-0.75", 4.70, 1, []),
        case("004-6.1-vault-at-0.8-and-5-accesses", 7.58, 4, ["vault"]),
        case("004-6.1-vault-needs-5-accesses", 7.58, 3, ["hot"]),
        case("004-6.1-vault-needs-0.8", 7.56, 40, ["hot"]),
        case("design-4-vault-is-asked-first", 19.0, 40, ["vault"]),
    ],
)
def test_an_access_lifts_by_value(mass, accesses, expected):
    memory = state(
        tier=Tier.WARM, uniqueness=1.0, confidence=1.0, access_mass=mass, access_count=accesses, created_ms=START - DAY
    )
    assert [t for t, _ in moves(memory, 0.0001, [(START, 1)])] == expected


@pytest.mark.behaviour("S39", "004-4.1-COLD")
@pytest.mark.parametrize(
    ("mass", "accesses", "expected"),
    [
        case("004-5.2-cold-accessed-to-warm", 0.0, 1, ["warm"]),
        case("004-5.2-cold-to-vault", 8.0, 5, ["vault"]),
        case("design-4-cold-woken-then-hot-by-value", 6.0, 2, ["warm", "hot"]),
    ],
)
def test_cold_rises(mass, accesses, expected):
    memory = state(
        tier=Tier.COLD, uniqueness=1.0, confidence=1.0, access_mass=mass, access_count=accesses, created_ms=START - DAY
    )
    assert [t for t, _ in moves(memory, 0.0001, [(START, 1)])] == expected


@pytest.mark.behaviour("S40", "004-6.1-COLD-exit")
@pytest.mark.parametrize(
    ("value_", "days", "accesses", "expected"),
    [
        case("004-6.1-cold-exit-30-days-below-0.1", 0.05, 30.001, 0, ["archived"]),
        case("004-5.2-not-before-30-days", 0.05, 29.999, 0, []),
        case("004-5.2-not-from-0.1-on", 0.10, 400, 0, []),
        case("004-4.4-not-if-ever-accessed", 0.05, 400, 1, []),
    ],
)
def test_cold_to_archived(value_, days, accesses, expected):
    """What others delete is archived: nothing is deleted by maintenance."""
    memory = worth(value_, Tier.COLD, access_count=accesses)
    assert [t for t, _ in moves(memory, days * 24)] == expected


@pytest.mark.behaviour("S41")
def test_balanced_hides_only_on_low_confidence_and_low_value_and_cold():
    """Evidence of uselessness (low confidence *and* low value *and* cold)."""
    useless = state(tier=Tier.COLD, uniqueness=0.0, confidence=0.2)
    months = 24 * 90
    assert [t for t, _ in moves(useless, months, policy=DEFAULT)] == ["archived"]
    assert moves(replace(useless, confidence=0.8), months, policy=DEFAULT) == []
    assert moves(replace(useless, uniqueness=1.0), months, policy=DEFAULT) == []
    assert "archived" not in [t for t, _ in moves(replace(useless, tier=Tier.WARM), 24 * 29, policy=DEFAULT)]


@pytest.mark.behaviour("S42")
def test_a_fact_is_not_archived_by_fading():
    """Archive (001) is for what is long-term and not a fact."""
    policy = policy_from({"confidence": {"daily_factor": 0.5}, "archive": {"rule": "confidence"}})
    assert moves(state(kind=Kind.FACT, tier=Tier.COLD, confidence=0.2, reinforcements=3), 24 * 400, policy=policy) == []
    assert [t for t, _ in moves(state(tier=Tier.COLD, confidence=0.4), 24 * 2, policy=policy)] == ["archived"]


@pytest.mark.behaviour("S43")
@pytest.mark.parametrize("scope", [Scope.TASK, Scope.SESSION])
def test_only_long_term_memories_are_archived_for_low_confidence(scope):
    """The archive of the preset ``confidence-decay``."""
    policy = policy_from({"confidence": {"daily_factor": 0.5}, "archive": {"rule": "confidence"}})
    assert "archived" not in [t for t, _ in moves(state(scope=scope, confidence=0.1), 24 * 400, policy=policy)]


@pytest.mark.behaviour("S44")
@pytest.mark.parametrize(
    ("section", "key", "expected"),
    [
        case("004-6.1-hot-entry", "tiers", "hot_entry_value", 0.7),
        case("004-6.1-last-10-messages", "tiers", "hot_messages", 10),
        case("004-6.1-hot-24-hours", "tiers", "hot_hours", 24.0),
        case("004-6.1-hot-exit", "tiers", "hot_keep_value", 0.6),
        case("004-5.2-hot-to-warm", "tiers", "hot_to_warm_value", 0.5),
        case("004-5.2-warm-to-hot", "tiers", "warm_to_hot_value", 0.75),
        case("004-5.1-burst-count", "tiers", "burst_accesses", 3),
        case("004-5.1-burst-hours", "tiers", "burst_hours", 4.0),
        case("004-6.1-warm-exit-value", "tiers", "warm_keep_value", 0.3),
        case("004-6.1-warm-exit-days", "tiers", "warm_quiet_days", 7.0),
        case("004-6.1-vault-value", "tiers", "vault_value", 0.8),
        case("004-6.1-vault-accesses", "tiers", "vault_accesses", 5),
        case("004-6.1-cold-exit-value", "archive", "value_below", 0.1),
        case("004-6.1-cold-exit-days", "archive", "cold_days", 30.0),
        case("004-1.1-frequency", "value", "frequency", 0.35),
        case("004-1.1-uniqueness", "value", "uniqueness", 0.25),
        case("004-1.1-confidence", "value", "confidence", 0.20),
        case("004-1.1-recency", "value", "recency", 0.20),
        case("004-2.1-strength", "retention", "strength_days", 7.0),
        case("004-2.1-growth", "retention", "growth", 1.5),
        case("design-1D-loss-per-plan", "gates", "loss_share", 0.10),
        case("design-1D-loss-per-day", "gates", "loss_share_day", 0.20),
    ],
)
def test_the_retention_preset_holds_the_seeds_thresholds(section, key, expected):
    assert getattr(getattr(SEED, section), key) == expected
