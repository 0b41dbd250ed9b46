"""How likely the later of two hits should stand first, and how likely they say otherwise of one thing: logistic models.

Both are fitted on labelled pairs: training/changes.py, docs/decisions/0020-updates.md.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np

from perdure.formulas.curve import Array


class PairSignals(NamedTuple):
    """What is known of two hits of one answer, and in the same order what each adds to the log odds.

    The one marked (*) adds nothing: it says whether the later one may stand first at all (rules/presentation.py).
    """

    cosine: float  # of the two, -1 to 1; 0 where there are no vectors
    first: float  # log(1 + place) of the better one by score, its place counted from 0
    last: float  # the same of the other one
    asked: float  # the larger of their cosines with the question; 0 where there are no vectors
    missing: float  # the share of the question's words, by rarity, that the earlier one alone holds, 0 to 1 (*)
    cover: float  # the share of the question's words, weighted by rarity, that both hold, 0 to 1
    changes: float  # words of the later one that say that something has changed, 2 at most
    length: float  # log(1 + characters) of the shorter one
    differ: float  # how alike the words are around two figures that differ, 0 to 1
    agree: float  # how alike the words are around two figures that are the same, 0 to 1
    denial: float  # how much of what one says was never the other says, 0 to 1


class PairModel(NamedTuple):
    """A logistic model of pairs."""

    base: float
    weights: PairSignals


ORDER: Final = PairModel(-0.60, PairSignals(0.00, -1.01, -2.34, 0.00, 0.00, 3.40, 0.80, -0.30, 2.99, -1.79, 0.00))
"""Whether the later one answers in the place of the earlier one. Vectors tell nothing of that beside the words."""
DIFFERENCE: Final = PairModel(0.77, PairSignals(4.54, -0.13, -1.05, 1.32, 0.00, 2.51, 0.76, -1.21, 2.32, -3.24, 3.43))
DIFFERENCE_BY_WORDS: Final = PairModel(
    3.55, PairSignals(0.00, -0.17, -1.12, 0.00, 0.00, 3.64, 0.70, -1.16, 3.13, -2.89, 3.70)
)
"""Whether the two say otherwise of one thing, where they give other figures or one denies what the other says."""


def pair_chances(model: PairModel, signals: Array) -> Array:
    """Return the chance of each pair, 0 to 1, shape [n].

    Args:
        model: One of the models below.
        signals: The rows of ``PairSignals``, shape [n, 11].
    """
    if not len(signals):
        return np.zeros(0)
    odds: Array = model.base + signals @ _array(model.weights)
    return 1.0 / (1.0 + np.exp(-odds))


@lru_cache(maxsize=8)
def _array(weights: PairSignals) -> Array:
    return np.array(weights, dtype=np.float64)
