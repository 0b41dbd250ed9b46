"""How likely a store answers a question, and how likely each hit does: logistic models of what a recall computes.

Both are fitted on questions with known answers: training/relevance.py, docs/decisions/0028-relevance.md.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np

from perdure.formulas.curve import Array


class AnswerWeights(NamedTuple):
    """What each signal adds to the log odds that a store answers a question."""

    base: float
    cosine: float
    coverage: float
    unknown: float
    unknown_names: float
    compared: float


class HitWeights(NamedTuple):
    """What each signal adds to the log odds that a hit answers a question that the store answers."""

    base: float
    cosine: float
    log_rank: float
    words: float
    behind_best: float
    coverage: float
    above_mean: float


ANSWER: Final = AnswerWeights(-0.97, 17.2, 4.34, -0.63, -3.04, -1.99)
ANSWER_BY_WORDS: Final = AnswerWeights(0.06, 0.0, 8.21, -1.42, -2.22, -0.44)
HIT: Final = HitWeights(-2.51, 0.84, 0.01, 0.5, 0.83, -0.34, 6.39)
HIT_BY_WORDS: Final = HitWeights(-0.64, 0.0, -0.39, -1.59, 2.58, 1.12, 2.03)
PAGE: Final = 10  # a score is compared with the mean of the best so many, where what is missing counts as 0


def answer_chance(cosine: float | None, coverage: float, unknown: float, unknown_names: float, compared: int) -> float:
    """Return the chance that a store answers a question, 0 to 1, at even odds before anything is known.

    The best of many unrelated cosines is higher than the best of few: it grows as the square root of twice the
    logarithm of their number, as the greatest of so many normal values does.

    Args:
        cosine: The best cosine with the question, -1 to 1; None where only words were searched.
        coverage: The largest share of the question's words, weighted by rarity, that one memory holds, 0 to 1.
        unknown: The share, weighted likewise, of its words that no memory holds, 0 to 1.
        unknown_names: The share of the names in it that no memory holds, 0 to 1.
        compared: How many memories were compared with it, 1 or more.
    """
    weights = ANSWER_BY_WORDS if cosine is None else ANSWER
    return _chance(
        weights.base
        + weights.cosine * (cosine or 0.0)
        + weights.coverage * coverage
        + weights.unknown * unknown
        + weights.unknown_names * unknown_names
        + weights.compared * math.sqrt(2.0 * math.log(max(compared, 1)))
    )


def hit_chances(scores: Array, cosines: Array | None, words: Array, coverage: float) -> Array:
    """Return for each hit the chance that it answers a question that the store answers, 0 to 1, shape [n].

    Args:
        scores: Best first, shape [n].
        cosines: With the question, 0 for a hit without a vector, shape [n]; None where only words were searched.
        words: The part of each score that comes from words, shape [n].
        coverage: As for ``answer_chance``.
    """
    if not len(scores):
        return np.zeros(0)
    weights = HIT_BY_WORDS if cosines is None else HIT
    logit = (
        weights.base
        + weights.cosine * (0.0 if cosines is None else cosines)
        + weights.log_rank * np.log(np.arange(1, len(scores) + 1))
        + weights.words * words
        + weights.behind_best * (scores - scores[0])
        + weights.coverage * coverage
        + weights.above_mean * (scores - scores[:PAGE].sum() / PAGE)
    )
    return np.asarray(1.0 / (1.0 + np.exp(-logit)), dtype=np.float64)


def _chance(logit: float) -> float:
    return 1.0 / (1.0 + math.exp(-logit)) if logit >= 0 else 1.0 - 1.0 / (1.0 + math.exp(logit))
