"""How likely the later of two hits should stand first, and how likely they say otherwise of one thing: logistic models.

Both are fitted on labelled pairs: training/changes.py, docs/decisions/0020-updates.md.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from perdure.formulas.curve import Array


class PairSignals(NamedTuple):
    """What is known of two hits of one answer, and in the same order what each adds to the log odds."""

    cosine: float  # of the two, -1 to 1; 0 where there are no vectors
    first: float  # log(1 + place) of the better one by score, its place counted from 0
    last: float  # the same of the other one
    asked: float  # the larger of their cosines with the question; 0 where there are no vectors
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


ORDER: Final = PairModel(-3.99, PairSignals(0.84, -0.81, -2.36, 3.79, 2.86, 0.72, -0.16, 2.81, -1.86, 0.00))
ORDER_BY_WORDS: Final = PairModel(-0.47, PairSignals(0.00, -1.01, -2.35, 0.00, 3.41, 0.75, -0.31, 2.98, -1.79, 0.00))
"""Whether the later one answers in the place of the earlier one; ``BY_WORDS`` where there are no vectors."""
DIFFERENCE: Final = PairModel(-0.33, PairSignals(4.45, -0.26, -1.24, 1.41, 2.33, 0.93, -1.08, 3.91, -3.64, 4.67))
DIFFERENCE_BY_WORDS: Final = PairModel(
    2.65, PairSignals(0.00, -0.36, -1.44, 0.00, 2.94, 0.94, -0.98, 4.91, -3.28, 4.80)
)
"""Whether the two say otherwise of one thing."""


def pair_chances(model: PairModel, signals: Array) -> Array:
    """Return the chance of each pair, 0 to 1, shape [n].

    Args:
        model: One of the models below.
        signals: The rows of ``PairSignals``, shape [n, 10].
    """
    odds: Array = model.base + signals @ np.asarray(model.weights, dtype=np.float64)
    return 1.0 / (1.0 + np.exp(-odds))
