"""The score of a recall: words and meaning fused, then context that costs nothing.

Every normalisation uses the best candidate or a fixed anchor, never the worst candidate or a mean, so neither the
number of candidates nor the size of the store moves the scale. docs/explanation.md has the formula in one place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from perdure.formulas.curve import Array

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

AFTER_DAYS: Final = 7.0
"""What happened on a day is still talked about after it: in so many days that counts for a third."""
BEFORE_DAYS: Final = 1.0
LEAST_CLOSENESS: Final = 0.01


def idf(documents: Array, total: int) -> Array:
    """Return how rare words are, as FTS5's bm25 weighs them.

    Args:
        documents: How many memories hold each word (0 for an unknown one), shape [words].
        total: How many memories there are.
    """
    return np.asarray(np.maximum(np.log((total - documents + 0.5) / (documents + 0.5)), 1e-6), dtype=np.float64)


def fuse(cosine: Array | None, bm25: Array, share: float, anchor: float) -> tuple[Array, Array]:
    """Return the parts of meaning and of words; their sum lies between 0 and 1.

    Args:
        cosine: Cosine with the query, NaN where there is no vector, shape [n]; None where only words were searched.
        bm25: Lexical scores, 0 for no match, shape [n].
        share: Share of the words, 0 to 1.
        anchor: The best cosine counts as at least this, so that noise is not blown up.
    """
    top = float(bm25.max(initial=0.0))
    lexical = bm25 / top if top > 0.0 else np.zeros_like(bm25)
    if cosine is None:
        return np.zeros_like(lexical), lexical
    near = np.fmax(cosine, 0.0)  # which takes NaN for 0
    dense = near / max(float(near.max(initial=0.0)), anchor)
    return (1.0 - share) * dense, share * lexical


def context_parts(
    fused_score: Array, previous: Ints, following: Ints, session: Ints, *, answers: Bools, named: Bools, weight: float
) -> dict[str, Array]:
    """Return the parts that context adds, each as if it counted in full: neighbour turns, the session, the speaker.

    Args:
        fused_score: Fused scores, shape [n].
        previous: Index of the previous turn of the same session among the candidates, -1 for none.
        following: Index of the next one, -1 for none.
        session: Session numbers from 0, -1 for none.
        answers: Whether it answers a question asked in the previous turn by another speaker.
        named: Whether the query names its speaker.
        weight: So many times the previous turn counts for an answer.
    """
    before = np.where(previous >= 0, fused_score[previous], 0.0) * np.where(answers, weight, 1.0)
    after = np.where(following >= 0, fused_score[following], 0.0)
    best = np.zeros(int(session.max(initial=-1)) + 2)
    np.maximum.at(best, session, fused_score)  # index -1 collects those without a session
    return {
        "neighbour": np.maximum(before, after),
        "session": np.where(session >= 0, best[session], 0.0),
        "named": named.astype(np.float64),
    }


def dated_parts(said_at: Array, periods: Sequence[tuple[float, float]]) -> Array:
    """Return how close to some periods each memory was said: 1 inside one, less before and after it, 0 far away.

    Args:
        said_at: In days, shape [n].
        periods: The first instant and the end of each, in days.
    """
    closeness = np.zeros_like(said_at)
    for start, end in periods:
        before, after = np.maximum(start - said_at, 0.0), np.maximum(said_at - end, 0.0)
        closeness = np.maximum(closeness, np.exp(-before / BEFORE_DAYS - after / AFTER_DAYS))
    return np.where(closeness >= LEAST_CLOSENESS, closeness, 0.0)
