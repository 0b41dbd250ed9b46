"""How likely something is seen so often by accident, and how fast things of one sort change."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from perdure.formulas.curve import HORIZON_DAYS, Array


def at_least(successes: int, trials: int, probability: float) -> float:
    """Return the probability of so many successes or more in some trials, each with a probability of 0 to 1.

    Where the probability is the mean of several that differ, this is an upper bound from one success above the mean on
    (Hoeffding 1956).
    """
    if successes <= 0:
        return 1.0
    if successes > trials or probability <= 0.0:
        return 0.0
    if probability >= 1.0:
        return 1.0
    yes, no = math.log(probability), math.log1p(-probability)
    terms = [math.lgamma(trials + 1) - math.lgamma(k + 1) - math.lgamma(trials - k + 1) + k * yes + (trials - k) * no
             for k in range(successes, trials + 1)]  # fmt: skip
    return min(1.0, math.fsum(math.exp(term) for term in terms))


def follows_within(length: int, reach: int) -> float:
    """Return the probability that of two places of a random order the second is 1 to ``reach`` after the first.

    Args:
        length: Places, 2 or more for a probability above 0.
        reach: How far after, 1 or more.
    """
    if length < 2:  # noqa: PLR2004  # one place has none after it
        return 0.0
    steps = range(1, min(reach, length - 1) + 1)
    return sum(length - step for step in steps) / (length * (length - 1))


def discoveries(chances: ArrayLike, level: float) -> NDArray[np.bool_]:
    """Return which of many findings are kept, so that at most a share of those kept is accident.

    Benjamini and Hochberg's procedure (1995). Where all are accidents, it keeps any with a probability of ``level``.
    ``chances``, shape [n], are how likely each is by accident; they and ``level`` are 0 to 1.
    """
    p: Array = np.asarray(chances, dtype=np.float64)
    n = p.shape[0]
    ordered = np.sort(p)
    below = np.flatnonzero(ordered <= level * np.arange(1, n + 1) / max(1, n))
    bound = ordered[below[-1]] if below.size else -1.0
    return p <= bound


EXPECTED_CONFIDENCE: Final = 0.4  # what is left of a fact's confidence when its change is expected: 0.916 is -ln 0.4
VALIDATE_AT: Final = 0.5  # a fact should be asked about after this share of its expected life

_LOSS: Final = -math.log(EXPECTED_CONFIDENCE)
_LARGE: Final = 500
"""From so many changes on Wilson and Hilferty's approximation is used as it is: it is better than 1e-5 there."""
_HALVINGS: Final = 60


def prior_days(rate: float) -> float:
    """Return the days that a prior of one change is worth whose mean gives a loss of confidence a day, 0 or more."""
    return 1.0 / max(rate / _LOSS, 1.0 / HORIZON_DAYS)


def change_rate(changes: int, days: float, prior: float) -> float:
    """Return the mean of the rate of change, in changes a day.

    Args:
        changes: Changes that were seen, 0 or more.
        days: Days during which they would have been seen, over all that was watched, 0 or more.
        prior: Days that the prior is worth, above 0.
    """
    return (1 + changes) / (prior + days)


def interval(changes: int, days: float, prior: float, mass: float = 0.9) -> tuple[float, float]:
    """Return the ends of the credible interval of the rate of change that holds ``mass`` of the probability."""
    tail = (1.0 - mass) / 2.0
    low, high = gamma_quantile(tail, 1 + changes), gamma_quantile(1.0 - tail, 1 + changes)
    return low / (prior + days), high / (prior + days)


def decay_rate(rate: float) -> float:
    """Return the loss of confidence a day for a rate of change, so that 0.4 is left at the expected change."""
    return _LOSS * rate


def validation_days(rate: float) -> float:
    """Return after how many days a fact should be validated: half of its expected life, a hundred years at most."""
    return min(VALIDATE_AT / rate, HORIZON_DAYS) if rate > 0.0 else HORIZON_DAYS


def gamma_quantile(p: float, shape: int) -> float:
    """Return what a Gamma variable of scale 1 and a whole shape is below with a probability between 0 and 1."""
    normal = NormalDist().inv_cdf(p)
    about = shape * (1.0 - 1.0 / (9.0 * shape) + normal / (3.0 * math.sqrt(shape))) ** 3
    if shape >= _LARGE:
        return about
    low, high = 0.0, 2.0 * max(about, shape)
    while gamma_below(high, shape) < p:
        high *= 2.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if gamma_below(middle, shape) < p else (low, middle)
    return high


def gamma_below(x: float, shape: int) -> float:
    """Return the probability that it is at most x, above 0: that of a Poisson count of ``shape`` or more."""
    return 1.0 - math.fsum(math.exp(i * math.log(x) - x - math.lgamma(i + 1)) for i in range(shape))
