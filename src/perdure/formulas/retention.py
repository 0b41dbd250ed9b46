"""Retention: the chance that a memory would still be recalled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from perdure.formulas.curve import Array, ages

LARGEST_EXPONENT: Final = 700.0  # it keeps growth ** n inside float64; a strength of 1e100 days is for ever either way


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
