"""Importance: how much a memory matters."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np
from numpy.typing import ArrayLike

from perdure.formulas.curve import Array, ages

Shape = Literal["exponential", "linear", "step"]

ACCESS_BONUS: Final = 1.5
ACCESS_CAP: Final = 20
DIMINISHING_UNIT: Final = 0.1
FIRST_STEP: Final = 0.5
SECOND_STEP: Final = 0.25
_HALVINGS: Final = 60  # enough to end at neighbouring numbers


@dataclass(frozen=True, slots=True)
class ImportanceCurve:
    """Importance of n memories as a function of days since the last access (or creation)."""

    base: Array  # undecayed importance, 0 to 1, shape [n]
    accesses: Array  # access counts, shape [n]
    half_life: float = 30.0  # days, before access and importance lengthen it
    weight: float = 0.3  # how much of the loss access stability gives back, 0 to 1
    floor: float = 0.1  # the curve does not sink below this, 0 to 0.5; it never lifts a base that is lower
    shape: Shape = "exponential"  # exponential, linear or step

    def _half_life(self) -> Array:
        bonus = ACCESS_BONUS ** np.minimum(self.accesses, ACCESS_CAP)
        return np.asarray(self.half_life * bonus * (1.0 + self.base), dtype=np.float64)

    def stability_share(self) -> Array:
        """The share of the loss that stability gives back: w * min(1, ln(1+n) / ln 100)."""
        stability = np.minimum(1.0, np.log1p(self.accesses) / np.log(100.0))
        return np.asarray(self.weight * stability, dtype=np.float64)

    def factor(self, days: ArrayLike) -> Array:
        """Return the share of the base that remains before the floor, shape [n]: time + w*s*(1 - time)."""
        d, h = ages(days), self._half_life()
        if self.shape == "exponential":
            time = np.exp2(-d / h)
        elif self.shape == "linear":
            time = np.maximum(0.0, 1.0 - d / (2.0 * h))
        else:
            time = np.where(d < h, 1.0, np.where(d < 2.0 * h, FIRST_STEP, SECOND_STEP))
        kept = self.stability_share()
        return np.asarray(time + kept * (1.0 - time), dtype=np.float64)

    def value(self, days: ArrayLike) -> Array:
        """Return current importance, shape [n]: min(base, max(floor, base * factor))."""
        return np.minimum(self.base, np.maximum(self.floor, self.base * self.factor(days)))

    def crossing(self, threshold: ArrayLike) -> Array:
        """Return the age in days at which importance is first below the threshold, shape [n]."""
        goal = np.broadcast_to(np.asarray(threshold, dtype=np.float64), self.base.shape)
        kept, h = self.stability_share(), self._half_life()
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            time = (goal / self.base - kept) / (1.0 - kept)
            if self.shape == "exponential":
                days = -h * np.log2(time)
            elif self.shape == "linear":
                days = 2.0 * h * (1.0 - time)
            else:
                days = np.where(time > FIRST_STEP, h, np.where(time > SECOND_STEP, 2.0 * h, np.inf))
        never = (goal <= np.minimum(self.floor, self.base)) | ~(time > 0.0)
        return np.where(goal > self.base, 0.0, np.where(never, np.inf, days))

    def worth_then(self, goal: ArrayLike, days: ArrayLike, highest: ArrayLike) -> Array:
        """Return the least base, shape [n], that is worth the goal at an age; ``highest`` where none below it is.

        A larger base is worth more at every age and has a longer half-life, so the base is searched by halving.

        Args:
            goal: Importance wanted at that age, shape [n].
            days: The age.
            highest: The largest base allowed, 0 to 1, shape [n].
        """
        low, high = np.zeros_like(self.base), np.broadcast_to(np.asarray(highest, np.float64), self.base.shape).copy()
        target = np.asarray(goal, dtype=np.float64)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2.0
            enough = replace(self, base=middle).value(days) >= target
            low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        return high


def boost(amount: ArrayLike, boosted: ArrayLike, *, diminishing: float, daily_cap: float) -> Array:
    """Return what a boost is worth after what was added already on the same day.

    Args:
        amount: The boost asked for, 0 to 1.
        boosted: What was added earlier on the day.
        diminishing: Factor for every 0.1 added already; 1 switches it off.
        daily_cap: The most that one day may add; infinity switches it off.

    Returns:
        amount * diminishing ** (boosted / 0.1), at most what the cap leaves, never negative.
    """
    worth = np.asarray(amount, dtype=np.float64) * diminishing ** (np.asarray(boosted) / DIMINISHING_UNIT)
    return np.maximum(0.0, np.minimum(worth, daily_cap - np.asarray(boosted, dtype=np.float64)))
