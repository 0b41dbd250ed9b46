"""Confidence: how likely a memory is true."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from perdure.formulas.curve import Array, ages

REINFORCEMENT_LADDER: Final = (0.15, 0.10, 0.05, 0.02)
REINFORCEMENT_CAP: Final = 0.95


@dataclass(frozen=True, slots=True)
class ConfidenceCurve:
    """Confidence of n memories as a function of days since validation (facts) or last access (others)."""

    base: Array  # undecayed confidence, 0 to 1, shape [n]
    rate: Array  # loss per day (lambda), already divided by the access amplifier; 0 where it does not decay, shape [n]

    def value(self, days: ArrayLike) -> Array:
        """Return current confidence: base * exp(-rate * days)."""
        return np.asarray(self.base * np.exp(-self.rate * ages(days)), dtype=np.float64)

    def crossing(self, threshold: ArrayLike) -> Array:
        """Return the age in days at which confidence is first below the threshold, shape [n]."""
        goal = np.broadcast_to(np.asarray(threshold, dtype=np.float64), self.base.shape)
        with np.errstate(divide="ignore", invalid="ignore"):
            days = np.log(self.base / goal) / self.rate
        never = (goal <= 0.0) | (self.rate <= 0.0)
        return np.where(goal > self.base, 0.0, np.where(never, np.inf, np.maximum(days, 0.0)))


def amplifier(accesses: ArrayLike) -> Array:
    """Return a = max(1, n / (1 + ln n)) with n = max(1, accesses): more access, slower decay."""
    n = np.maximum(1.0, np.asarray(accesses, dtype=np.float64))
    return np.maximum(1.0, n / (1.0 + np.log(n)))


def reinforce_confidence(confidence: ArrayLike, reinforcements: ArrayLike) -> Array:
    """Return a fact's confidence after one more confirmation: plus 0.15, 0.10, 0.05, then 0.02, at most 0.95.

    Args:
        confidence: Base confidence before, 0 to 1.
        reinforcements: How many confirmations there were before this one (1 for a fact stated once).
    """
    before = np.asarray(confidence, dtype=np.float64)
    step = np.clip(np.asarray(reinforcements, dtype=np.int64) - 1, 0, len(REINFORCEMENT_LADDER) - 1)
    raised = np.minimum(REINFORCEMENT_CAP, before + np.take(REINFORCEMENT_LADDER, step))
    return np.asarray(np.maximum(before, raised), dtype=np.float64)
