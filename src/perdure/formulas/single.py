"""The signals of one memory in plain numbers, as the curves of the other modules give them of many.

An array costs by the call: the next move of one memory took a millisecond of calls for a few dozen numbers. The laws
compare both.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, exp, expm1, inf, log, log1p
from typing import Any, Final, cast

from perdure.formulas.curve import DAY_MS, HORIZON_DAYS, Parts, crossing_of_sum
from perdure.formulas.fsrs import RETENTION_AT_STABILITY
from perdure.formulas.importance import ACCESS_BONUS, ACCESS_CAP, FIRST_STEP, SECOND_STEP, ImportanceCurve
from perdure.formulas.strength import DAY_SECONDS, LARGEST_EXPONENT, Parameters
from perdure.formulas.value import FULL_MASS, MASS_RATE, RECENCY_GAIN, RECENCY_RATE

_HORIZON_MS: Final = ceil(HORIZON_DAYS * DAY_MS)


class SingleValue:
    """Value of one memory as a function of days since the last access (or creation).

    Args:
        mass: Exponentially decayed access counter as of age 0.
        uniqueness: 0 (a copy) to 1 (nothing like it).
        confidence: (base, rate) of its confidence, as :class:`~perdure.formulas.confidence.ConfidenceCurve` has them.
        lag: Days that confidence is older than the last access; negative if validated since.
        reinforcements: How often it was confirmed.
        importance: Its base, 0 to 1.
        weights: Shares of frequency, uniqueness, confidence, recency and importance.
    """

    __slots__ = ("_alone", "_confidence", "_importance", "_lag", "_mass", "_reinforcements", "_weights")

    def __init__(
        self,
        mass: float,
        uniqueness: float,
        confidence: tuple[float, float],
        lag: float,
        reinforcements: float,
        importance: float,
        weights: tuple[float, float, float, float, float],
    ) -> None:
        self._mass, self._alone, self._confidence, self._lag = mass, uniqueness, confidence, lag
        self._reinforcements, self._importance, self._weights = reinforcements, importance, weights

    def value(self, days: float) -> float:
        """Return value, 0 to 1."""
        age = max(days, 0.0)
        (base, rate), (of_mass, of_alone, of_confidence, of_recency, of_importance) = self._confidence, self._weights
        frequency = min(1.0, self._mass * exp(-MASS_RATE * age) / FULL_MASS)
        recency = min(1.0, exp(-RECENCY_RATE * age) * (1.0 + RECENCY_GAIN * self._reinforcements))
        sure = base * exp(-rate * max(age + self._lag, 0.0))
        falling = of_mass * frequency + of_alone * self._alone + of_confidence * sure
        return falling + of_recency * recency + of_importance * self._importance

    def crossing(self, threshold: float) -> float:
        """Return the age in days at which value is first below the threshold; infinity beyond 100 years."""
        lasting = self._weights[1] * self._alone + self._weights[4] * self._importance
        return first_below_of_one(self.value, threshold, crossing_of_sum(self._parts(), threshold - lasting))

    def _parts(self) -> Parts:
        of_frequency, _, of_confidence, of_recency, _ = self._weights
        base, rate = self._confidence
        return (
            (of_frequency, of_frequency * self._mass / FULL_MASS, MASS_RATE),
            (of_confidence, of_confidence * base * exp(-rate * max(self._lag, 0.0)), rate),
            (of_recency, of_recency * (1.0 + RECENCY_GAIN * self._reinforcements), RECENCY_RATE),
        )


def confidence_crossing(base: float, rate: float, threshold: float) -> float:
    """Return the age in days at which base * exp(-rate * days) is first below the threshold; infinity for never."""
    if threshold > base:
        return 0.0
    if threshold <= 0.0 or rate <= 0.0:
        return inf
    return max(log(base / threshold) / rate, 0.0)


def amplifier_of_one(accesses: int) -> float:
    """Return max(1, n / (1 + ln n)) with n = max(1, accesses): more access, slower decay."""
    n = max(1.0, float(accesses))
    return max(1.0, n / (1.0 + log(n)))


def importance_of_one(curve: ImportanceCurve, base: float, accesses: int, days: float) -> float:
    """Return current importance, 0 to 1.

    Args:
        curve: Half-life, weight, floor and shape; its arrays are not looked at.
        base: Undecayed importance, 0 to 1.
        accesses: How often it was accessed.
        days: Since the last access, 0 or more.
    """
    half_life: float = curve.half_life * ACCESS_BONUS ** float(min(accesses, ACCESS_CAP)) * (1.0 + base)
    if curve.shape == "exponential":
        time = 2.0 ** (-days / half_life)
    elif curve.shape == "linear":
        time = max(0.0, 1.0 - days / (2.0 * half_life))
    else:
        time = 1.0 if days < half_life else FIRST_STEP if days < 2.0 * half_life else SECOND_STEP
    kept = curve.weight * min(1.0, log1p(accesses) / log(100.0))
    return float(min(base, max(curve.floor, base * (time + kept * (1.0 - time)))))


def strength_of_one(keys: Parameters, strength: float, level: float, importance: float, days: float) -> float:
    """Return current strength, 0 to the maximum.

    Args:
        keys: One number each.
        strength: At age 0.
        level: Reinforcement energy at age 0.
        importance: 0 to 1.
        days: Since its state last changed, 0 or more.
    """
    p = cast("Any", keys)
    seconds = days * DAY_SECONDS
    left = level * 2.0 ** -(seconds / p.reinforcement_half_life + seconds / p.staleness_half_life)
    low = min(p.maximum, max(p.minimum, p.baseline + importance * p.importance_weight))
    target = low + (p.maximum - low) * -expm1(-min(p.max_level, max(0.0, left)) / p.scale)
    closed = max(strength - target, 0.0) * (1.0 - 2.0 ** (-seconds / p.passive_half_life))
    allowed = p.max_decay_per_cycle * max(1.0, seconds / p.cycle_seconds)
    return float(min(strength, max(target, strength - min(closed, allowed))))


def retention_of_one(reinforcements: float, strength_days: float, growth: float, days: float) -> float:
    """Return retention, above 0 to 1, after some days without access, by the exponential curve."""
    return exp(-days / (strength_days * exp(min(reinforcements * log(growth), LARGEST_EXPONENT))))


def power_retention_of_one(stability: float, decay: float, days: float) -> float:
    """Return retention, above 0 to 1, after some days without access, by the power law."""
    factor = expm1(-log(RETENTION_AT_STABILITY) / decay)
    return exp(-decay * log1p(factor * days / stability))


def first_below_of_one(falling: Callable[[float], float], threshold: float, guess: float) -> float:
    """Return the first whole millisecond, as days, at which a falling function is below its threshold.

    Args:
        falling: Age in days to a value; never rises.
        threshold: What it falls below.
        guess: Age in days at which it may be. A right one saves the search.

    Returns:
        Age in days; 0 where the value at age 0 is below already, infinity beyond 100 years.
    """
    if not falling(_HORIZON_MS / DAY_MS) < threshold:
        return inf
    low, high = -1, _HORIZON_MS  # at or above the threshold at low, where -1 stands for "before it was born"
    at = min(ceil(guess * DAY_MS), _HORIZON_MS)
    for probe in (at, at - 1, at + 1):
        if low < probe < high:
            low, high = (low, probe) if falling(probe / DAY_MS) < threshold else (probe, high)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if falling(middle / DAY_MS) < threshold else (middle, high)
    return high / DAY_MS
