"""All pairs of similar vectors: exactly, or through cells where there are very many.

The exact way is a plain product in blocks above the diagonal. Cheaper exact filters were weighed and left out: bounds
from a few leading dimensions hold back nothing where vectors spread over many, and 50,000 rows take seconds as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32] | NDArray[np.int8]
Rows = NDArray[np.float32]
Places = NDArray[np.int32]

EXACT_UP_TO: Final = 50_000
PROBES: Final = 8
MOST_PAIRS: Final = 5_000_000  # pairs kept: 12 bytes each, about four times that while they are sorted

_LEFT: Final = 2048
_RIGHT: Final = 4096  # rows multiplied at once: the product and its comparison take 40 MB

_MARGIN: Final = 1e-5  # a product of matrices may round a cosine differently from block to block, by far less than this

_STEP: Final = 16384.0
"""Rows that are equal to 1 / 16384 in every component are copies: one text embedded twice differs by less."""

_ROUNDS: Final = 4
_SAMPLE: Final = 64  # rows of the sample for each cell


@dataclass(frozen=True, slots=True)
class SimilarPairs:
    """Pairs of similar rows, i < j, each once, sorted by (i, j)."""

    i: Places  # int32 [p]
    j: Places  # int32 [p]
    cosine: NDArray[np.float32]  # float32 [p], at most 1
    # int32 [n], the first row that is a copy of each (itself where there is none). A copy is paired with its first
    # alone: whatever the first is similar to, the copy is similar to as well
    first: Places
    # from this cosine on the pairs are complete (as far as ``exact`` says). It is above the one that was asked for only
    # where there were more pairs than may be kept: then the most similar ones are here
    threshold: float
    exact: bool  # whether every pair was compared; otherwise only pairs that share a cell

    def __len__(self) -> int:
        return len(self.i)


def similar_pairs(
    vectors: Vectors, threshold: float, *, exact_up_to: int = EXACT_UP_TO, probes: int = PROBES, most: int = MOST_PAIRS
) -> SimilarPairs:
    """Return all pairs of rows whose cosine reaches the threshold.

    The same input gives the same output; in the exact case its order does not matter. Zero rows are like nothing.
    Memory: a float32 copy of the vectors, 100 MB, and the pairs.

    Args:
        vectors: float32 or int8 [n, d], of any length.
        threshold: Least cosine, above 0, at most 1.
        exact_up_to: Up to so many different rows all pairs are compared; above, those that share one of the cells.
        probes: Cells nearest to a row in which its partners are looked for, above ``exact_up_to``.
        most: Pairs kept besides those of copies.

    Raises:
        ValueError: The vectors are no finite matrix, or a number is out of its range.
    """
    if not 0.0 < threshold <= 1.0 or probes < 1 or most < 1:
        raise ValueError(f"threshold {threshold} (0 to 1], probes {probes} (1 or more), most {most} (1 or more)")
    rows, lengths = _unit_rows(vectors)
    first = _first_copies(rows)
    own = np.flatnonzero((first == np.arange(len(first))) & (lengths > 0.0)).astype(np.int32)
    found = _FoundPairs(threshold, most)
    if len(own) < len(rows):
        rows = rows[own]
    exact = len(own) <= exact_up_to
    if exact:
        _compare_all(rows, found)
    else:
        _compare_in_cells(rows, probes, found)
    i, j, cosine, reached = found.scored_pairs(rows)
    copies = np.flatnonzero((first != np.arange(len(first))) & (lengths > 0.0)).astype(np.int32)
    i, j = np.concatenate([own[i], first[copies]]), np.concatenate([own[j], copies])
    cosine = np.concatenate([cosine, np.ones(len(copies), np.float32)])
    order = np.argsort(i.astype(np.int64) * len(first) + j)
    return SimilarPairs(i[order], j[order], cosine[order], first, reached, exact)


def cosines(vectors: Vectors, i: NDArray[np.integer], j: NDArray[np.integer]) -> NDArray[np.float32]:
    """Return the cosines of rows i and j [p] of float32 or int8 vectors [n, d], float32 [p]; 0 where a row is zero."""
    used, places = np.unique(np.concatenate([i, j]), return_inverse=True)
    rows, _ = _unit_rows(vectors[used])
    return _row_cosines(rows, places[: len(i)], places[len(i) :])


def _row_cosines(rows: Rows, i: NDArray[np.integer], j: NDArray[np.integer]) -> NDArray[np.float32]:
    """Cosines of unit rows, each pair by itself: the same whatever else is asked with it."""
    out = np.empty(len(i), np.float32)
    for start in range(0, len(i), _LEFT):
        part = slice(start, start + _LEFT)
        out[part] = np.vecdot(rows[i[part]], rows[j[part]])
    return np.minimum(out, np.float32(1.0))


def _unit_rows(vectors: Vectors) -> tuple[Rows, NDArray[np.float32]]:
    """A float32 copy with rows of length 1 (zero rows stay zero), and the lengths."""
    if vectors.ndim != 2:  # noqa: PLR2004 - rows and dimensions
        raise ValueError(f"expected vectors of shape [n, d], not {list(vectors.shape)}")
    rows = vectors.astype(np.float32)
    # By its largest magnitude first: the square of a very long or very short vector is no float32.
    for divisor in (np.maximum(rows.max(axis=1, initial=0.0), -rows.min(axis=1, initial=0.0)), None):
        scale = np.sqrt(np.vecdot(rows, rows)) if divisor is None else divisor
        if not np.isfinite(scale).all():
            raise ValueError("a vector has a value that is not finite")
        rows /= np.where(scale > 0.0, scale, np.float32(1.0))[:, None]
    return rows, scale


def _first_copies(rows: Rows) -> Places:
    """The first row that each row is a copy of, int32 [n]."""
    seen: dict[bytes, int] = {}
    first = np.empty(len(rows), np.int32)
    for start in range(0, len(rows), _RIGHT):
        rounded = np.rint(rows[start : start + _RIGHT] * np.float32(_STEP)).astype(np.int16)
        for place, row in enumerate(rounded, start):
            first[place] = seen.setdefault(blake2b(row.tobytes(), digest_size=16).digest(), place)
    return first


class _FoundPairs:
    """Pairs as they are found; where they are too many, the least similar go and the threshold rises."""

    def __init__(self, threshold: float, most: int) -> None:
        self._threshold, self._most, self._count = threshold, most, 0
        self._parts: list[tuple[Places, Places, NDArray[np.float32]]] = []
        self.floor = np.float32(threshold - _MARGIN)

    def add(self, i: Places, j: Places, cosine: NDArray[np.float32]) -> None:
        """Take in pairs of unit rows, i != j, each once."""
        self._parts.append((np.minimum(i, j), np.maximum(i, j), cosine))
        self._count += len(i)
        if self._count > self._most + self._most // 4:
            self._thin()

    def _join(self) -> tuple[Places, Places, NDArray[np.float32]]:
        if not self._parts:
            return np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.float32)
        i, j, cosine = (np.concatenate(column) for column in zip(*self._parts, strict=True))
        return i, j, cosine

    def _thin(self) -> None:
        i, j, cosine = self._join()
        spare = len(cosine) - self._most
        # Strictly above: pairs that tie with the first one to go must go with it, or the floor would be no promise.
        self.floor = np.nextafter(np.partition(cosine, spare - 1)[spare - 1], np.float32(2.0))
        kept = cosine >= self.floor
        self._parts = [(i[kept], j[kept], cosine[kept])]
        self._count = int(kept.sum())

    def scored_pairs(self, rows: Rows) -> tuple[Places, Places, NDArray[np.float32], float]:
        """The pairs with their own cosines, and the cosine from which on they are complete."""
        if self._count > self._most:
            self._thin()
        i, j, _ = self._join()
        raised = self.floor > np.float32(self._threshold - _MARGIN)
        reached = float(self.floor) + _MARGIN if raised else self._threshold
        cosine = _row_cosines(rows, i, j)
        kept = cosine >= np.float32(reached)
        return i[kept], j[kept], cosine[kept], reached


class _Products:
    """Products of blocks of rows in one place of memory, and which of their values reach a floor."""

    def __init__(self) -> None:
        self._values = np.empty(_LEFT * _RIGHT, np.float32)
        self._over = np.empty(_LEFT * _RIGHT, np.bool_)

    def pairs_reaching(self, left: Rows, right: Rows, floor: np.float32) -> tuple[Places, Places, NDArray[np.float32]]:
        """Rows of the left, rows of the right, and their product, where it is at least the floor."""
        size = len(left) * len(right)
        values, over = self._values[:size], self._over[:size]
        np.matmul(left, right.T, out=values.reshape(len(left), len(right)))
        flat = np.flatnonzero(np.greater_equal(values, floor, out=over))
        a, b = np.divmod(flat.astype(np.int32), np.int32(len(right)))
        return a, b, values[flat]


def _compare_all(rows: Rows, found: _FoundPairs) -> None:
    """Compare all pairs of unit rows: the blocks on and above the diagonal."""
    products = _Products()
    for start in range(0, len(rows), _LEFT):
        left = rows[start : start + _LEFT]
        for other in range(start, len(rows), _RIGHT):
            a, b, cosine = products.pairs_reaching(left, rows[other : other + _RIGHT], found.floor)
            a, b = a + np.int32(start), b + np.int32(other)
            above = a < b
            found.add(a[above], b[above], cosine[above])


def _compare_in_cells(rows: Rows, probes: int, found: _FoundPairs) -> None:
    centres = _centres(rows, max(1, round(np.sqrt(len(rows)))))
    near = _nearest(rows, centres, min(probes, len(centres)))
    home = near[:, 0]
    visits = np.argsort(near.ravel(), kind="stable")
    edges = np.searchsorted(near.ravel()[visits], np.arange(len(centres) + 1))
    products = _Products()
    for cell in range(len(centres)):
        visitors = (visits[edges[cell] : edges[cell + 1]] // near.shape[1]).astype(np.int32)
        members = visitors[home[visitors] == cell]
        for start in range(0, len(visitors), _LEFT):
            some = visitors[start : start + _LEFT]
            left = rows[some]
            for other in range(0, len(members), _RIGHT):
                others = members[other : other + _RIGHT]
                a, b, cosine = products.pairs_reaching(left, rows[others], found.floor)
                a, b = some[a], others[b]
                new = _not_found_elsewhere(a, b, cell, near)
                found.add(a[new], b[new], cosine[new])


def _not_found_elsewhere(visitor: Places, member: Places, cell: int, near: Places) -> NDArray[np.bool_]:
    """Whether a visitor and a member of a cell are to be counted here: each pair is, once."""
    home = near[visitor, 0]
    # The member may visit the visitor's own cell as well; the lower cell of the two counts the pair.
    back = (home < cell) & (near[member] == home[:, None]).any(axis=1)
    return np.where(home == cell, visitor < member, ~back)


def _nearest(rows: Rows, centres: Rows, count: int) -> Places:
    """The nearest cells of each row, nearest first, int32 [n, count]."""
    out = np.empty((len(rows), count), np.int32)
    for start in range(0, len(rows), _LEFT):
        products = rows[start : start + _LEFT] @ centres.T
        some = np.argpartition(-products, count - 1, axis=1)[:, :count]
        order = np.argsort(-np.take_along_axis(products, some, axis=1), axis=1, kind="stable")
        out[start : start + _LEFT] = np.take_along_axis(some, order, axis=1)
    return out


def _centres(rows: Rows, count: int) -> Rows:
    """Centres of cells by spherical k-means on evenly spaced rows: no randomness, so the same rows, the same cells."""
    sample = rows[np.linspace(0, len(rows) - 1, min(len(rows), _SAMPLE * count)).astype(np.int64)]
    centres = sample[np.linspace(0, len(sample) - 1, count).astype(np.int64)]
    for _ in range(_ROUNDS):
        nearest = _nearest(sample, centres, 1)[:, 0]
        order = np.argsort(nearest, kind="stable")
        used, starts = np.unique(nearest[order], return_index=True)
        moved = centres.copy()  # a centre without rows stays where it is: it costs nothing
        moved[used] = np.add.reduceat(sample[order], starts, axis=0)
        centres, _ = _unit_rows(moved)
    return centres
