"""Chance: how likely it is that something is seen so often by accident, and which of many findings are none."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from perdure.formulas.curve import Array


def at_least(seen: int, of: int, probability: float) -> float:
    """Return the probability of so many successes or more.

    Where the probability is the mean of several that differ, this is an upper bound from one success above the mean on
    (Hoeffding 1956).

    Args:
        seen: Successes, 0 or more.
        of: Trials.
        probability: Of one success, 0 to 1.
    """
    if seen <= 0:
        return 1.0
    if seen > of or probability <= 0.0:
        return 0.0
    if probability >= 1.0:
        return 1.0
    yes, no = math.log(probability), math.log1p(-probability)
    terms = [math.lgamma(of + 1) - math.lgamma(k + 1) - math.lgamma(of - k + 1) + k * yes + (of - k) * no
             for k in range(seen, of + 1)]  # fmt: skip
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

    Args:
        chances: How likely each is by accident, 0 to 1, shape [n].
        level: The share, 0 to 1.
    """
    p: Array = np.asarray(chances, dtype=np.float64)
    n = p.shape[0]
    ordered = np.sort(p)
    below = np.flatnonzero(ordered <= level * np.arange(1, n + 1) / max(1, n))
    bound = ordered[below[-1]] if below.size else -1.0
    return p <= bound
