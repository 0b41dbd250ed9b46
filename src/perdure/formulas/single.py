"""Value and confidence of one memory in plain numbers, as the curves of value.py and confidence.py give them of many.

An array costs by the call: the next move of one memory took a millisecond of calls for a few dozen numbers. The laws
compare both.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, exp, inf, log
from typing import Final

from perdure.formulas.curve import DAY_MS, HORIZON_DAYS, Parts, crossing_of_sum
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
