"""The nearest memories of vectors: codes in memory say which may be near, whole vectors which are."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Final

import numpy as np
from numpy.typing import NDArray

from perdure.records.policy_recall import RecallPolicy
from perdure.records.vector import Vector
from perdure.stores.sqlite.index import SearchIndex
from perdure.stores.statements import Session

_CELLS_ABOVE: Final = RecallPolicy().cells_above
FEWEST: Final = 50  # memories whose whole vectors are compared with each
_TOGETHER: Final = 10_000  # memories that are read from the file at once


def nearest_memories(
    session: Session, index: SearchIndex, vectors: Sequence[Vector], limit: int
) -> list[list[tuple[str, float]]]:
    """Return, for each vector, (id, cosine) of the nearest visible memories, nearest first."""
    compared = max(FEWEST, 10 * limit)
    step = max(1, _TOGETHER // compared)
    found: list[list[tuple[str, float]]] = []
    for start in range(0, len(vectors), step):
        some = vectors[start : start + step]
        queries = np.frombuffer(b"".join(some), "<f4").reshape(len(some), -1)
        near = index.nearest_of_each(queries, compared, cells_above=_CELLS_ABOVE)
        if len({len(positions) for positions in near}) == 1:
            found += _best(session, index, queries, np.array(near, np.int64), limit)
        else:  # cells of few rows: each is compared by itself
            for query, positions in zip(queries, near, strict=True):
                found += _best(session, index, query[None], positions[None], limit)
    return found


def _best(
    session: Session, index: SearchIndex, queries: NDArray[np.float32], near: NDArray[np.int64], limit: int
) -> list[list[tuple[str, float]]]:
    """Return the best of positions [q, n] for queries [q, d]."""
    kept, rows = index.resident, index.rows(near)
    slots = kept.slots(session, rows.ravel(), near.ravel()).reshape(near.shape)
    cosine = np.where(slots >= 0, kept.similarities_of_each(queries, slots), np.float32(-1.0))
    each, best = np.arange(len(rows))[:, None], np.argsort(-cosine, axis=1, kind="stable")[:, :limit]
    chosen, values = rows[each, best].tolist(), cosine[each, best].tolist()
    known = kept.narrow(session, dict.fromkeys(chain.from_iterable(chosen)))
    return [
        [(known[row][1], value) for row, value in zip(*pair, strict=True)] for pair in zip(chosen, values, strict=True)
    ]
