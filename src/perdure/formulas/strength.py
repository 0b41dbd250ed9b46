"""Strength: how activated a memory is, and retention: the chance that it would still be recalled.

Strength falls towards a target that itself falls, both from one anchor: the last event that changed the state. What is
stored is never rewritten by time, so it makes no difference how often, or when, strength is read.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from perdure.formulas.curve import Array, ages, first_below

DAY_SECONDS: Final = 86_400.0
LEAST_IMPORTANCE_SCALE: Final = 0.2
_MIDDLE: Final = 0.5  # the importance at which neither reinforcement nor the forgetting threshold is adjusted
LARGEST_EXPONENT: Final = 700.0  # it keeps growth ** n inside float64; a strength of 1e100 days is for ever either way


@dataclass(frozen=True, slots=True)
class Parameters:
    """The parameters of strength, each one number for all memories or one for each of them, shape [n]."""

    baseline: Array | float  # strength without reinforcement at importance 0, 0 to 1
    passive_half_life: Array | float  # seconds in which half the gap between strength and target closes, above 0
    reinforcement_half_life: Array | float  # seconds in which half the level is lost, above 0
    # seconds in which a memory without use loses a further half of its level; infinity is off
    staleness_half_life: Array | float
    # the most that strength may fall in the first cycle, and in each cycle's time after it
    max_decay_per_cycle: Array | float
    # manual decay may lower strength by this many times ``max_decay_per_cycle`` a call
    manual_multiplier: Array | float
    unit: Array | float  # level for each unit of a reinforcement or of a manual decay
    forgetting_threshold: Array | float  # strength at or below which a memory of importance 0.5 is forgotten
    minimum: Array | float  # the lowest baseline
    maximum: Array | float  # the highest strength
    importance_weight: Array | float  # what importance 1 adds to the baseline, 0 or more
    scale: Array | float  # level at which 1 - 1/e of the way from baseline to maximum is reached, above 0
    reinforcement_importance_weight: Array | float  # how much importance scales a reinforcement
    max_level: Array | float  # the highest level
    max_step: Array | float  # the most that one reinforcement may add to strength
    forgetting_importance_weight: Array | float  # how far importance lowers the forgetting threshold, 0 or more
    floor: Array | float  # the lowest forgetting threshold
    cycle_seconds: float = 3600.0  # the cycle of ``max_decay_per_cycle``


@dataclass(frozen=True, slots=True)
class StrengthCurve:
    """Strength of n memories as a function of days since their state last changed."""

    strength: Array  # strength at age 0, 0 to the maximum, shape [n]
    level: Array  # reinforcement energy at age 0, 0 to the highest level, shape [n]
    importance: Array  # 0 to 1, shape [n]
    parameters: Parameters  # one set for all, or one for each memory

    def level_at(self, days: ArrayLike) -> Array:
        """Return the level after some days without use: halved every half-life, of reinforcement and of staleness."""
        keys, seconds = self.parameters, ages(days) * DAY_SECONDS
        halvings = seconds / keys.reinforcement_half_life + seconds / keys.staleness_half_life
        return np.asarray(self.level * np.exp2(-halvings), dtype=np.float64)

    def baseline(self) -> Array:
        """Return the strength that decay tends to, shape [n]: baseline + importance * weight, within the bounds."""
        return _baseline(self.importance, self.parameters)

    def target(self, days: ArrayLike) -> Array:
        """Return the strength that the level is worth at an age, shape [n]; it only falls."""
        return _target(self.level_at(days), self.importance, self.parameters)

    def value(self, days: ArrayLike) -> Array:
        """Return strength, shape [n]; it only falls, and never below the target.

        max(target, strength - min((strength - target) * (1 - 2^(-t / half-life)), max_decay * max(1, t / cycle))).
        A strength below its target (a reinforcement whose gain was capped) stays until the target has sunk to it.
        """
        keys, seconds, target = self.parameters, ages(days) * DAY_SECONDS, self.target(days)
        closed = np.maximum(self.strength - target, 0.0) * (1.0 - np.exp2(-seconds / keys.passive_half_life))
        allowed = keys.max_decay_per_cycle * np.maximum(1.0, seconds / keys.cycle_seconds)
        return np.minimum(self.strength, np.maximum(target, self.strength - np.minimum(closed, allowed)))

    def threshold(self) -> Array:
        """Return the strength at or below which each memory is forgotten, shape [n]; lower for important ones."""
        keys = self.parameters
        adjustment = (_MIDDLE - self.importance) * keys.forgetting_importance_weight
        return _clamp(keys.floor, keys.maximum, keys.forgetting_threshold + adjustment)

    def crossing(self, threshold: ArrayLike) -> Array:
        """Return the age in days at which strength is first below the threshold, shape [n].

        A sum of exponentials under a cap has no closed inverse, so the crossing is searched, exact to the millisecond.
        """
        return first_below(self._column().value, threshold, self.strength.shape[0])

    def forgotten_age(self) -> Array:
        """Return the age in days at which each memory is first forgotten, shape [n]; infinity for never.

        The test is inclusive, a crossing is not: at or below a number is below the next larger one.
        """
        return self.crossing(np.nextafter(self.threshold(), np.inf))

    def _column(self) -> StrengthCurve:
        """The same memories as a column, so that each can be tried at many ages at once."""
        keys = self.parameters
        names = [f.name for f in fields(Parameters) if f.name != "cycle_seconds"]
        columns: dict[str, Any] = {name: np.asarray(getattr(keys, name), dtype=np.float64)[..., None] for name in names}
        return StrengthCurve(
            self.strength[:, None], self.level[:, None], self.importance[:, None], replace(keys, **columns)
        )


def reinforce_strength(
    strength: ArrayLike, level: ArrayLike, importance: ArrayLike, amount: ArrayLike, parameters: Parameters
) -> tuple[Array, Array]:
    """Return strength and level, shape [n], after a reinforcement, to be stored with a new anchor.

    The level rises by amount * unit * max(0.2, 1 + (importance - 0.5) * weight), at most to its bound. Strength rises
    to what that level is worth, by at most ``max_step``. A cap never lowers what is above it already.

    Args:
        strength: Strength now (not at the anchor), 0 to the maximum, shape [n].
        level: Level now, shape [n].
        importance: 0 to 1, shape [n].
        amount: How much to strengthen, 0 or more; below 0 counts as 0.
        parameters: As for the curve.
    """
    old, energy, keys = _floats(strength), _floats(level), parameters
    weighted = 1.0 + (_floats(importance) - _MIDDLE) * keys.reinforcement_importance_weight
    added = np.maximum(_floats(amount), 0.0) * keys.unit * np.maximum(LEAST_IMPORTANCE_SCALE, weighted)
    filled = np.maximum(energy, np.minimum(energy + added, keys.max_level))
    goal = np.minimum(_target(filled, importance, keys), old + keys.max_step)
    return np.maximum(old, goal), _floats(filled)


def decay_by_hand(
    strength: ArrayLike, level: ArrayLike, importance: ArrayLike, amount: ArrayLike, parameters: Parameters
) -> tuple[Array, Array]:
    """Return strength and level after a decay by hand.

    The level loses amount * unit, at most all of it. Strength goes to what that level is worth at once, without waiting
    for the half-life, by at most ``max_decay_per_cycle * manual_multiplier``. It never rises, and never sinks below
    the baseline. An amount of 0 takes no level but still brings strength to its target.

    It takes and returns what :func:`reinforce_strength` does.
    """
    old, keys = _floats(strength), parameters
    left = np.maximum(_floats(level) - np.maximum(_floats(amount), 0.0) * keys.unit, 0.0)
    lowest = old - keys.max_decay_per_cycle * keys.manual_multiplier
    return np.minimum(old, np.maximum(_target(left, importance, keys), lowest)), _floats(left)


def never_forgotten_from(parameters: Parameters) -> Array:
    """Return the importance above which a memory is never forgotten, because its baseline is over its threshold.

    It holds for a strength that begins at or over the baseline: decay, by time or by hand, ends at the baseline. With
    the default columns it is 0.27 (task), 0.30 (session) and 0.12 (long term).

    Returns:
        Importance, 0 to 1, shape [n] (or one number for parameters without n); infinity where no importance is enough.
    """
    keys = parameters
    per_importance, relief = _floats(keys.importance_weight), _floats(keys.forgetting_importance_weight)
    # The threshold at importance 0, before its bounds; from there it falls by `relief` for each unit of importance.
    strictest = keys.forgetting_threshold + _MIDDLE * relief
    # Baseline > threshold where the larger of its two parts is over both parts of the threshold, and the threshold is
    # under the maximum, which is where both are cut off.
    over_floor = _importance_above(_floats(keys.floor - keys.baseline), per_importance)
    over_floor = np.where(np.asarray(keys.minimum) > keys.floor, -np.inf, over_floor)
    over_threshold = np.minimum(
        _importance_above(_floats(strictest - keys.minimum), relief),
        _importance_above(_floats(strictest - keys.baseline), per_importance + relief),
    )
    under_maximum = _importance_above(_floats(strictest - keys.maximum), relief)
    least = np.maximum(np.maximum(over_floor, over_threshold), under_maximum)
    possible = (np.asarray(keys.floor) < keys.maximum) & (least < 1.0)
    return np.where(possible, np.maximum(least, 0.0), np.inf)


def _floats(number: ArrayLike) -> Array:
    return np.asarray(number, dtype=np.float64)


def _clamp(low: ArrayLike, high: ArrayLike, number: ArrayLike) -> Array:
    """The number within bounds; where the bounds contradict each other, the upper one wins."""
    return _floats(np.minimum(high, np.maximum(low, number)))


def _baseline(importance: ArrayLike, keys: Parameters) -> Array:
    return _clamp(keys.minimum, keys.maximum, keys.baseline + _floats(importance) * keys.importance_weight)


def _target(level: Array, importance: ArrayLike, keys: Parameters) -> Array:
    """What a level is worth: baseline + (maximum - baseline) * (1 - exp(-level / scale))."""
    low = _baseline(importance, keys)
    ratio = -np.expm1(-_clamp(0.0, keys.max_level, level) / keys.scale)
    return _floats(low + (keys.maximum - low) * ratio)


def _importance_above(missing: Array, rate: Array) -> Array:
    """The importance x above which rate * x > missing, for a rate of 0 or more; all (-inf) or none (inf) at rate 0."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where(rate > 0.0, missing / rate, np.where(missing < 0.0, -np.inf, np.inf))


@dataclass(frozen=True, slots=True)
class RetentionCurve:
    """Retention of n memories as a function of days since the last access."""

    reinforcements: Array  # how often each was confirmed useful, shape [n]
    strength_days: float = 7.0  # days after which an unreinforced memory keeps 1/e
    growth: float = 1.5  # factor on the strength for each reinforcement

    def _strength(self) -> Array:
        exponent = np.minimum(self.reinforcements * np.log(self.growth), LARGEST_EXPONENT)
        return np.asarray(self.strength_days * np.exp(exponent), dtype=np.float64)

    def value(self, days: ArrayLike) -> Array:
        """Return R = exp(-days / S) with S = strength_days * growth ** reinforcements, shape [n]."""
        return np.asarray(np.exp(-ages(days) / self._strength()), dtype=np.float64)

    def crossing(self, threshold: ArrayLike) -> Array:
        """Return the age in days at which retention is first below the threshold, shape [n]."""
        goal = np.broadcast_to(np.asarray(threshold, dtype=np.float64), self.reinforcements.shape)
        with np.errstate(divide="ignore"):
            days = -np.log(goal) * self._strength()
        return np.where(goal > 1.0, 0.0, np.where(goal <= 0.0, np.inf, np.maximum(days, 0.0)))
