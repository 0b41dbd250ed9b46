"""The seam that every decaying signal fits: a value at an age, and the age at which it falls below a threshold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import exp
from typing import Final, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

DAY_MS: Final = 86_400_000.0
HORIZON_DAYS: Final = 36_525.0  # a hundred years: what has not happened by then counts as never

FEW: Final = 16
_STEPS: Final = 60  # as many as halving the horizon to a millisecond takes, and some
_CLOSE: Final = 1e-10  # days; a hundredth of a millisecond
_FLAT: Final = 1e-30  # a slope per day that tells nothing
Parts = Sequence[tuple[float, float, float]]
"""(most, start, rate) of each part of a sum: min(most, start * exp(-rate * age))."""
_SOME: Final = 256


class Curve(Protocol):
    """A signal of n memories as a function of age alone; between events it only falls."""

    def value(self, days: ArrayLike) -> Array:
        """Return the signal at ages in days, shape [n] (or [n, k] for ages of shape [n, k])."""

    def crossing(self, threshold: ArrayLike) -> Array:
        """Return the age in days, shape [n], at which the signal is first below the threshold.

        0 where it already is at age 0, infinity where it never will be.
        """


def ages(days: ArrayLike) -> Array:
    """Return ages as float64, with negative ones (a clock that stepped back) counted as 0."""
    return np.maximum(np.asarray(days, dtype=np.float64), 0.0)


def first_below(
    falling: Callable[[Array], Array], threshold: ArrayLike, count: int, guess: Sequence[float] | None = None
) -> Array:
    """Return the first whole millisecond, as days, at which a falling function is below its threshold.

    A search over integers, exact to the millisecond for any falling function. For few memories the remaining span is
    split into 64 parts at a time, because the calls cost more than the numbers; for many it is halved.

    Args:
        falling: Ages in days, shape [n, k], to values of the same shape; never rises along an axis.
        threshold: One threshold, or one for each memory, shape [n].
        count: n.
        guess: Ages in days, shape [n], at which it may be. A right one saves the search, a wrong one costs a look.

    Returns:
        Ages in days, shape [n]; 0 where the value at age 0 is below already, infinity beyond 100 years.
    """
    bound = np.broadcast_to(np.asarray(threshold, dtype=np.float64), (count,))[:, None]
    high = np.full(count, np.ceil(HORIZON_DAYS * DAY_MS))  # always below, once checked
    near = high[:, None] if guess is None else _ages_around(np.array(guess), high)
    below = falling(near / DAY_MS) < bound
    reached = below[:, -1]
    # Always at or above the threshold; -1 ms stands for "before it was born". What is never reached is not searched.
    low = np.where(reached, -1.0, high - 1.0)
    if guess is not None:
        found, rows = below.argmax(axis=1), np.arange(count)
        low = np.where(reached & (found > 0), near[rows, found - 1], low)
        high = np.where(reached, near[rows, found], high)
    branches = 64 if count <= FEW else 8 if count <= _SOME else 2
    steps = np.arange(1, branches) / branches
    rows = np.arange(count)
    while (high - low > 1.0).any():
        probes = np.floor(low[:, None] + (high - low)[:, None] * steps)
        probes = np.minimum(np.maximum(probes, (low + 1.0)[:, None]), high[:, None])  # clip() costs three times as much
        below = falling(probes / DAY_MS) < bound
        first = below.argmax(axis=1)
        found = below.any(axis=1)
        new_high = np.where(found, probes[rows, first], high)
        previous = np.where(first > 0, probes[rows, np.maximum(first - 1, 0)], low)
        low = np.where(found, previous, probes[:, -1])
        low = np.minimum(low, new_high - 1.0)
        high = new_high
    return np.where(reached, high / DAY_MS, np.inf)


def _ages_around(guess: Array, high: Array) -> Array:
    """Return ages in milliseconds around a guess, the last one ``high``, shape [n, 5]."""
    at = np.minimum(np.ceil(guess * DAY_MS), high - 2.0)
    return np.stack([np.maximum(at - 2.0, 0.0), np.maximum(at - 1.0, 0.0), np.maximum(at, 0.0), at + 1.0, high], axis=1)


def crossing_of_sum(parts: Parts, threshold: float) -> float:
    """Return about the age at which a sum of falling parts falls below a threshold, at most the horizon.

    Newton's steps, each kept between an age at which the sum is above and one at which it is below.
    """
    low, high, age = 0.0, HORIZON_DAYS, 0.0
    if _sum_and_slope(parts, low)[0] < threshold:
        return low
    if _sum_and_slope(parts, high)[0] >= threshold:
        return high
    for _ in range(_STEPS):
        above, slope = _sum_and_slope(parts, age)
        above -= threshold
        low, high = (age, high) if above >= 0.0 else (low, age)
        following = age + above / slope if slope > _FLAT else high
        if abs(following - age) < _CLOSE:
            break
        age = following if low < following < high else (low + high) / 2.0
    return age


def _sum_and_slope(parts: Parts, age: float) -> tuple[float, float]:
    total = slope = 0.0
    for most, start, rate in parts:
        part = start * exp(-rate * age)
        if part < most:
            total += part
            slope += rate * part
        else:
            total += most
    return total, slope


def due_instants(anchor_ms: ArrayLike, days: ArrayLike) -> NDArray[np.int64]:
    """Return instants in whole milliseconds at which crossings have certainly happened (rounded up, plus 1).

    Args:
        anchor_ms: Where the ages start, shape [n].
        days: Crossing ages in days, shape [n]; infinity for never.

    Returns:
        int64 instants, shape [n]; ``NEVER`` where the age is infinite.
    """
    days_ = np.asarray(days, dtype=np.float64)
    finite = np.isfinite(days_) & (days_ <= HORIZON_DAYS)
    span = np.where(finite, np.ceil(np.where(finite, days_, 0.0) * DAY_MS) + 1.0, 0.0).astype(np.int64)
    return np.where(finite, np.asarray(anchor_ms, dtype=np.int64) + span, NEVER)


NEVER: Final = np.int64(2**62)
