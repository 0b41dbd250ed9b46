"""FSRS-6 as an alternative retention curve: a power law whose stability each review moves, in continuous time.

Source: the wiki of open-spaced-repetition/fsrs4anki, "The Algorithm"
(https://github.com/open-spaced-repetition/fsrs4anki/wiki/The-Algorithm), section FSRS-6 and what it keeps of FSRS-5
and 4.5: default parameters, forgetting curve, initial state, difficulty, stability after recall, after a lapse and
after a review on the same day. The bounds of stability, and the bound of a lapse by S / exp(w17 * w18), are those of
the project's own implementations (py-fsrs, fsrs-rs). Two things differ from them: time is not rounded to whole days,
and "the same day" is less than 24 hours, not a date.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from perdure.formulas.curve import Array, ages

DEFAULT_WEIGHTS: Final = (
    *(0.212, 1.2931, 2.3065, 8.2956),  # 0-3: first stability, by grade
    *(6.4133, 0.8334, 3.0194, 0.001),  # 4-7: difficulty
    *(1.8722, 0.1666, 0.796),  # 8-10: stability after recall
    *(1.4835, 0.0614, 0.2629, 1.6483),  # 11-14: stability after a lapse
    *(0.6014, 1.8729),  # 15: penalty of "hard"; 16: bonus of "easy"
    *(0.5425, 0.0912, 0.0658),  # 17-19: stability after a review on the same day
    0.1542,  # 20: decay of the curve
)
"""The 21 published defaults of FSRS-6."""

AGAIN: Final = 1
HARD: Final = 2
GOOD: Final = 3
EASY: Final = 4

STABILITY_BOUNDS: Final = (0.001, 36_500.0)
DIFFICULTY_BOUNDS: Final = (1.0, 10.0)
RETENTION_AT_STABILITY: Final = 0.9

Grades = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class PowerRetentionCurve:
    """Retention of n memories as a function of days since the last review: R = (1 + f * t / S) ^ -decay."""

    stability: Array  # s, days after which retention is 0.9, above 0, shape [n]
    decay: float = DEFAULT_WEIGHTS[20]  # w20, 0.1 to 0.8; f = 0.9 ^ (-1 / decay) - 1 follows from it

    def _factor(self) -> float:
        return float(np.expm1(-np.log(RETENTION_AT_STABILITY) / self.decay))

    def value(self, days: ArrayLike) -> Array:
        """Return retention, above 0 to 1, shape [n]."""
        spent = self._factor() * ages(days) / self.stability
        return np.asarray(np.exp(-self.decay * np.log1p(spent)), dtype=np.float64)

    def crossing(self, threshold: ArrayLike) -> Array:
        """Return the age in days at which retention is first below the threshold, shape [n]."""
        goal = np.broadcast_to(np.asarray(threshold, dtype=np.float64), self.stability.shape)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            days = self.stability / self._factor() * np.expm1(-np.log(goal) / self.decay)
        return np.where(goal > 1.0, 0.0, np.where(goal <= 0.0, np.inf, np.maximum(days, 0.0)))


def first_review(grade: ArrayLike, weights: Sequence[float] = DEFAULT_WEIGHTS) -> tuple[Array, Array]:
    """Return stability in days (0.001 to 36,500) and difficulty (1 to 10) after the first review.

    Args:
        grade: 1 again, 2 hard, 3 good, 4 easy; what is outside counts as the nearest of them.
        weights: 21 numbers.
    """
    grades = _grades(grade)
    stability = np.take(np.asarray(weights, dtype=np.float64), grades - 1)
    return np.clip(stability, *STABILITY_BOUNDS), np.clip(_first_difficulty(grades, weights), *DIFFICULTY_BOUNDS)


def apply_review(
    stability: ArrayLike,
    difficulty: ArrayLike,
    days: ArrayLike,
    grade: ArrayLike,
    weights: Sequence[float] = DEFAULT_WEIGHTS,
) -> tuple[Array, Array]:
    """Return stability (0.001 to 36,500 days) and difficulty (1 to 10), shape [n], after one more review.

    A lapse ("again") never raises stability; any other grade never lowers it. A review less than a day after the last
    one follows the formula for the same day, which asks neither for retention nor for difficulty.

    Args:
        stability: Days, 0.001 to 36,500, shape [n]; taken to these bounds.
        difficulty: 1 to 10, shape [n]; taken to these bounds.
        days: Since the last review, fractions count, shape [n].
        grade: 1 again, 2 hard, 3 good, 4 easy, shape [n]; what is outside counts as the nearest of them.
        weights: 21 numbers.
    """
    old = np.clip(np.asarray(stability, dtype=np.float64), *STABILITY_BOUNDS)
    hardness = np.clip(np.asarray(difficulty, dtype=np.float64), *DIFFICULTY_BOUNDS)
    elapsed, grades = ages(days), _grades(grade)
    retention = PowerRetentionCurve(old, weights[20]).value(elapsed)
    recalled = _after_recall(old, hardness, retention, grades, weights)
    later = np.where(grades == AGAIN, _after_lapse(old, hardness, retention, weights), recalled)
    new = np.where(elapsed < 1.0, _same_day(old, grades, weights), later)
    return np.clip(new, *STABILITY_BOUNDS), _next_difficulty(hardness, grades, weights)


def _grades(grade: ArrayLike) -> Grades:
    return np.clip(np.asarray(grade, dtype=np.int64), AGAIN, EASY)


def _first_difficulty(grades: ArrayLike, w: Sequence[float]) -> Array:
    """D0(G) = w4 - exp(w5 * (G - 1)) + 1, before its bounds."""
    return np.asarray(w[4] - np.exp(w[5] * (np.asarray(grades) - 1.0)) + 1.0, dtype=np.float64)


def _next_difficulty(difficulty: Array, grades: Grades, w: Sequence[float]) -> Array:
    """Less change the nearer to 10 (linear damping), then a little of the way back to D0(easy), not yet bounded."""
    change = -w[6] * (grades - 3.0)
    damped = difficulty + change * (DIFFICULTY_BOUNDS[1] - difficulty) / 9.0
    reverted = w[7] * _first_difficulty(EASY, w) + (1.0 - w[7]) * damped
    return np.clip(reverted, *DIFFICULTY_BOUNDS)


def _after_recall(stability: Array, difficulty: Array, retention: Array, grades: Grades, w: Sequence[float]) -> Array:
    """S * (1 + e^w8 * (11 - D) * S^-w9 * (e^(w10 * (1 - R)) - 1), with a penalty for hard and a bonus for easy)."""
    extra = np.where(grades == HARD, w[15], np.where(grades == EASY, w[16], 1.0))
    gain = np.exp(w[8]) * (11.0 - difficulty) * stability ** -w[9] * np.expm1(w[10] * (1.0 - retention)) * extra
    return np.asarray(stability * (1.0 + gain), dtype=np.float64)


def _after_lapse(stability: Array, difficulty: Array, retention: Array, w: Sequence[float]) -> Array:
    """w11 * D^-w12 * ((S + 1)^w13 - 1) * e^(w14 * (1 - R)), at most S / e^(w17 * w18) and at most S."""
    kept = w[11] * difficulty ** -w[12] * ((stability + 1.0) ** w[13] - 1.0) * np.exp(w[14] * (1.0 - retention))
    return np.asarray(np.minimum(np.minimum(kept, stability / np.exp(w[17] * w[18])), stability), dtype=np.float64)


def _same_day(stability: Array, grades: Grades, w: Sequence[float]) -> Array:
    """S * e^(w17 * (G - 3 + w18)) * S^-w19: never lower, except after a lapse, and then never higher."""
    factor = np.exp(w[17] * (grades - 3.0 + w[18])) * stability ** -w[19]
    bounded = np.where(grades == AGAIN, np.minimum(factor, 1.0), np.maximum(factor, 1.0))
    return np.asarray(stability * bounded, dtype=np.float64)
