"""Survival: how fast things of one sort change, learned from those that changed and those that have not yet.

A change comes at a constant rate; what has not changed is censored: it has lasted at least so long. With a Gamma prior
the rate is Gamma distributed. The mean of the observed changes alone would be too short, and the rate too
high, because facts that never changed would not count.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from perdure.formulas.curve import HORIZON_DAYS, Array

EXPECTED_CONFIDENCE: Final = 0.4
"""What is left of a fact's confidence when its change is expected: 0.916 is -ln 0.4."""
VALIDATE_AT: Final = 0.5
"""A fact should be asked about after this share of its expected life."""

_LOSS: Final = -math.log(EXPECTED_CONFIDENCE)
_LARGE: Final = 1e5
"""From this shape on Wilson and Hilferty's approximation is used as it is: better than 1e-7 where it is asked for."""
_TINY: Final = 1e-300
_ROUNDS: Final = 200
_EPSILON: Final = 1e-15
_NORMAL: Final = NormalDist()


def change_rate(changes: ArrayLike, exposure: ArrayLike, prior_changes: float, prior_exposure: float) -> Array:
    """Return the mean of the rate of change: (prior changes + changes) / (prior exposure + exposure), shape [n].

    Args:
        changes: Changes that were seen, 0 or more, shape [n].
        exposure: Days during which they would have been seen, over all that was watched, 0 or more, shape [n].
        prior_changes: Changes that the prior is worth, above 0.
        prior_exposure: Days that the prior is worth, above 0.

    Returns:
        Changes a day.
    """
    seen, days = np.asarray(changes, dtype=np.float64), np.asarray(exposure, dtype=np.float64)
    return np.asarray((prior_changes + seen) / (prior_exposure + days), dtype=np.float64)


def interval(
    changes: ArrayLike, exposure: ArrayLike, prior_changes: float, prior_exposure: float, mass: float = 0.9
) -> tuple[Array, Array]:
    """Return the ends of the credible interval of the rate of change, each of shape [n].

    Args:
        changes: As :func:`change_rate`.
        exposure: As :func:`change_rate`.
        prior_changes: As :func:`change_rate`.
        prior_exposure: As :func:`change_rate`.
        mass: How much of the probability lies inside, 0 to 1, ends excluded; equal tails are left out.
    """
    shape = prior_changes + np.asarray(changes, dtype=np.float64)
    scale = prior_exposure + np.asarray(exposure, dtype=np.float64)
    tail = (1.0 - mass) / 2.0
    return gamma_quantile(tail, shape) / scale, gamma_quantile(1.0 - tail, shape) / scale


def decay_rate(rate: ArrayLike) -> Array:
    """Return the loss of confidence a day for a rate of change, so that 0.4 is left at the expected change."""
    return np.asarray(_LOSS * np.asarray(rate, dtype=np.float64), dtype=np.float64)


def validation_days(rate: ArrayLike) -> Array:
    """Return after how many days a fact should be validated: half of its expected life, a hundred years at most."""
    rates = np.asarray(rate, dtype=np.float64)
    with np.errstate(divide="ignore"):
        return np.minimum(VALIDATE_AT / rates, HORIZON_DAYS)


def prior_exposure(rate: float, prior_changes: float) -> float:
    """Return the days that a prior is worth whose mean gives a decay rate.

    Args:
        rate: Loss of confidence a day, 0 or more; 0 counts as one change in a hundred years.
        prior_changes: Changes that the prior is worth, above 0.
    """
    return prior_changes / max(rate / _LOSS, 1.0 / HORIZON_DAYS)


def gamma_below(x: ArrayLike, shape: ArrayLike) -> Array:
    """Return the probability that a Gamma variable of scale 1 is at most x: the regularised lower incomplete gamma.

    By its series below shape + 1 and by its continued fraction above, as every textbook has it.

    Args:
        x: 0 or more.
        shape: Above 0.
    """
    return np.asarray(np.vectorize(_below, otypes=[np.float64])(x, shape), dtype=np.float64)


def gamma_quantile(p: ArrayLike, shape: ArrayLike) -> Array:
    """Return what a Gamma variable of scale 1 is below with a probability.

    Wilson and Hilferty's approximation, made exact by Newton's method that never leaves what brackets the answer.

    Args:
        p: The probability, between 0 and 1.
        shape: Above 0.
    """
    return np.asarray(np.vectorize(_quantile, otypes=[np.float64])(p, shape), dtype=np.float64)


def _below(x: float, shape: float) -> float:
    if x <= 0.0:
        return 0.0
    front = math.exp(shape * math.log(x) - x - math.lgamma(shape))
    return front * _series(x, shape) if x < shape + 1.0 else 1.0 - front * _fraction(x, shape)


def _series(x: float, shape: float) -> float:
    term = total = 1.0 / shape
    above = shape
    while term > total * _EPSILON:
        above += 1.0
        term *= x / above
        total += term
    return total


def _fraction(x: float, shape: float) -> float:
    """The continued fraction of the upper tail, by Lentz's method."""
    b = x + 1.0 - shape
    c, d = 1.0 / _TINY, 1.0 / b
    result, turn = d, 1.0
    step = 0.0
    while abs(step - 1.0) > _EPSILON and turn < _LARGE:
        a = -turn * (turn - shape)
        b += 2.0
        d = 1.0 / (a * d + b or _TINY)
        c = b + a / c or _TINY
        step = d * c
        result *= step
        turn += 1.0
    return result


def _quantile(p: float, shape: float) -> float:
    start = shape * (1.0 - 1.0 / (9.0 * shape) + _NORMAL.inv_cdf(p) / (3.0 * math.sqrt(shape))) ** 3
    if shape >= _LARGE:
        return start
    low, high = 0.0, math.inf
    x = start if start > 0.0 else math.exp((math.log(p) + math.lgamma(shape + 1.0)) / shape)  # the series' first term
    for _ in range(_ROUNDS):
        over = _below(x, shape) - p
        low, high = (low, x) if over > 0.0 else (x, high)
        density = math.exp((shape - 1.0) * math.log(x) - x - math.lgamma(shape)) if x > 0.0 else 0.0
        step = over / density if density > 0.0 else math.inf
        nearer = x - step
        if not low < nearer < high:
            nearer = 2.0 * x if math.isinf(high) else (low + high) / 2.0
        if abs(nearer - x) <= _EPSILON * x or nearer in (low, high):
            return nearer
        x = nearer
    return x
