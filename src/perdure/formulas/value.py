"""Value: what a memory is worth keeping at hand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import exp
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from perdure.formulas.confidence import ConfidenceCurve
from perdure.formulas.curve import FEW, Array, Parts, ages, crossing_of_sum, first_below

UNIQUENESS_NEIGHBOURS: Final = 5
DUPLICATE_COSINE: Final = 0.9995
FULL_MASS: Final = 20.0
MASS_RATE: Final = 0.05
RECENCY_RATE: Final = 0.1
RECENCY_GAIN: Final = 0.1


@dataclass(frozen=True, slots=True)
class ValueCurve:
    """Value of n memories as a function of days since the last access (or creation)."""

    mass: Array  # exponentially decayed access counter as of age 0, shape [n]
    uniqueness: Array  # 0 (a copy) to 1 (nothing like it), shape [n]
    confidence: ConfidenceCurve  # the confidence curve of the same memories
    confidence_lag: Array  # days that confidence is older than the last access; negative if validated since, shape [n]
    reinforcements: Array  # shape [n]
    importance: Array  # its base, 0 to 1: what was said is worth the same however old it is, shape [n]
    # shares of frequency, uniqueness, confidence, recency and importance; they sum to 1
    weights: tuple[float, float, float, float, float] = (0.35, 0.25, 0.20, 0.20, 0.0)
    mass_rate: float = MASS_RATE  # loss per day of the access counter
    full_mass: float = FULL_MASS  # the counter at which frequency is 1
    recency_rate: float = RECENCY_RATE  # loss per day of recency
    recency_gain: float = RECENCY_GAIN  # what each reinforcement adds to recency

    def parts(self, days: ArrayLike) -> dict[str, Array]:
        """Return the parts, each 0 to 1 before its weight, shape [n]."""
        d = ages(days)
        frequency, confidence, recency = self._falling_parts(d)
        return {
            "frequency": frequency,
            "uniqueness": np.broadcast_to(self.uniqueness, d.shape) if d.shape else self.uniqueness,
            "confidence": confidence,
            "recency": recency,
            "importance": np.broadcast_to(self.importance, d.shape) if d.shape else self.importance,
        }

    def _falling_parts(self, d: Array) -> tuple[Array, Array, Array]:
        return (
            np.minimum(1.0, self.mass * np.exp(-self.mass_rate * d) / self.full_mass),
            self.confidence.value(d + self.confidence_lag),
            np.minimum(1.0, np.exp(-self.recency_rate * d) * (1.0 + self.recency_gain * self.reinforcements)),
        )

    def value(self, days: ArrayLike) -> Array:
        """Return value, 0 to 1, shape [n]."""
        (frequency, confidence, recency), weights = self._falling_parts(ages(days)), self.weights
        parts = (frequency, self.uniqueness, confidence, recency, self.importance)
        first, *others = (weight * part for weight, part in zip(weights, parts, strict=True))
        return np.asarray(sum(others, start=first), dtype=np.float64)

    def _column(self) -> ValueCurve:
        """The same memories as a column, so that each can be tried at many ages at once."""
        return ValueCurve(
            self.mass[:, None],
            self.uniqueness[:, None],
            ConfidenceCurve(self.confidence.base[:, None], self.confidence.rate[:, None]),
            self.confidence_lag[:, None],
            self.reinforcements[:, None],
            self.importance[:, None],
            self.weights,
            self.mass_rate,
            self.full_mass,
            self.recency_rate,
            self.recency_gain,
        )

    def crossing(self, threshold: ArrayLike) -> Array:
        """Return the age in days at which value is first below the threshold, shape [n].

        A sum of exponentials has no closed inverse, so the crossing is searched, exact to the millisecond.
        """
        count = self.mass.shape[0]
        guess = self._guess_crossings(np.broadcast_to(threshold, (count,)).tolist()) if count <= FEW else None
        return first_below(self._column().value, threshold, count, guess)

    def _guess_crossings(self, thresholds: Sequence[float]) -> list[float]:
        """Return about where value crosses thresholds: for few memories numbers cost less than arrays."""
        alone, worth = self.uniqueness.tolist(), self.importance.tolist()
        lasting = [self.weights[1] * a + self.weights[4] * b for a, b in zip(alone, worth, strict=True)]
        columns = (self.mass, self.confidence.base, self.confidence.rate, self.confidence_lag, self.reinforcements)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return [
            crossing_of_sum(self._sum_of(*row), threshold - rest)
            for row, threshold, rest in zip(rows, thresholds, lasting, strict=True)
        ]

    def _sum_of(self, mass: float, base: float, rate: float, lag: float, reinforcements: float) -> Parts:
        of_frequency, _, of_confidence, of_recency, _ = self.weights
        return (
            (of_frequency, of_frequency * mass / self.full_mass, self.mass_rate),
            (of_confidence, of_confidence * base * exp(-rate * max(lag, 0.0)), rate),
            (of_recency, of_recency * (1.0 + self.recency_gain * reinforcements), self.recency_rate),
        )


def value_at_start(
    mass: float, uniqueness: float, confidence: float, importance: float, weights: Sequence[float]
) -> float:
    """Return the value of one memory at age 0, as :class:`ValueCurve` gives it; its recency is whole."""
    frequency = min(1.0, mass / FULL_MASS)
    of_frequency, of_uniqueness, of_confidence, of_recency, of_importance = weights
    value = of_frequency * frequency + of_uniqueness * uniqueness + of_confidence * confidence
    return value + of_recency + of_importance * importance


def uniqueness(cosines: Iterable[float]) -> float:
    """Return 1 - mean cosine to the five nearest other memories: 1 for a memory alone, 0 for a copy of another one.

    Args:
        cosines: Cosines to other memories, any number; the five highest count.
    """
    near = sorted(cosines, reverse=True)[:UNIQUENESS_NEIGHBOURS]
    if not near:
        return 1.0
    if near[0] >= DUPLICATE_COSINE:
        return 0.0
    return min(1.0, max(0.0, 1.0 - sum(near) / len(near)))


def decay_mass(mass: ArrayLike, days: ArrayLike, rate: float = 0.05) -> Array:
    """Return the access counter after some days without access: mass * exp(-rate * days)."""
    return np.asarray(np.asarray(mass, dtype=np.float64) * np.exp(-rate * ages(days)), dtype=np.float64)
