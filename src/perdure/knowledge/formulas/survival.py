"""Survival: how fast things of one sort change, learned from those that changed and those that have not yet.

A change comes at a constant rate; what has not changed is censored: it has lasted at least so long. With a Gamma prior
that is worth one change the rate is Gamma distributed. The mean of the observed changes alone would be too short, and
the rate too high, because facts that never changed would not count.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Final

from perdure.formulas.curve import HORIZON_DAYS

EXPECTED_CONFIDENCE: Final = 0.4
"""What is left of a fact's confidence when its change is expected: 0.916 is -ln 0.4."""
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
