"""The nearest memories of vectors: codes in memory say which may be near, whole vectors which are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from perdure.records.policy_recall import RecallPolicy
from perdure.records.store_rows import Neighbours
from perdure.records.vector import Vector
from perdure.stores.sqlite.index import SearchIndex
from perdure.stores.statements import Session

_CELLS_ABOVE: Final = RecallPolicy().cells_above
FEWEST: Final = 200  # memories whose whole vectors are compared with each: of fewer all, as on a server
_TOGETHER: Final = 512  # vectors


def nearest_memories(session: Session, index: SearchIndex, vectors: Sequence[Vector], limit: int) -> list[Neighbours]:
    """Return, for each vector, the nearest visible memories, nearest first."""
    compared = max(FEWEST, 10 * limit)
    found: list[Neighbours] = []
    for start in range(0, len(vectors), _TOGETHER):
        some = vectors[start : start + _TOGETHER]
        queries = np.frombuffer(b"".join(some), "<f4").reshape(len(some), -1)
        near = index.nearest_of_each(session, queries, compared, cells_above=_CELLS_ABOVE)
        found += _best(session, index, queries, near, limit)
    return found


def _best(
    session: Session, index: SearchIndex, queries: NDArray[np.float32], near: Sequence[NDArray[np.int64]], limit: int
) -> list[Neighbours]:
    resident, counts = index.resident, [len(positions) for positions in near]
    positions = np.concatenate(near)
    slots = resident.slots(session, index.rows(positions), positions)
    cosine = np.where(slots >= 0, resident.similarities_of_each(queries, slots, counts), np.float32(-1.0))
    query_of = np.repeat(np.arange(len(queries)), counts)
    kept_of, best_rows, values = _largest_cosines(query_of, cosine, index.rows(positions), limit)
    read = {row: (identity, due) for row, identity, due in session.rows("due_at", rows=[*dict.fromkeys(best_rows)])}
    found: list[Neighbours] = [[] for _ in queries]
    for query, row, value in zip(kept_of, best_rows, values, strict=True):
        if len(found[query]) < limit:
            identity, due = read[row]
            found[query].append((identity, value, due))
    return found


def _largest_cosines(
    query_of: NDArray[np.int64], cosine: NDArray[np.float32], rows: NDArray[np.int64], limit: int
) -> tuple[list[int], list[int], list[float]]:
    """Return (query, row, cosine) of at least the largest cosines of each query, largest first, ties as they come.

    All are [n]; ``query_of`` is the query of each, ascending.
    """
    if not len(query_of):  # all that are near are hidden
        return [], [], []
    counts = np.bincount(query_of)
    beside = np.arange(counts.max())[None] < counts[:, None]
    if beside.shape[1] > limit:
        table = np.full(beside.shape, np.float32(-2.0))
        table[beside] = cosine
        least = np.partition(table, -limit, axis=1)[:, -limit]
        large = cosine >= least[query_of]
        query_of, cosine, rows = query_of[large], cosine[large], rows[large]
    order = np.lexsort((-cosine, query_of))
    return query_of[order].tolist(), rows[order].tolist(), cosine[order].tolist()
