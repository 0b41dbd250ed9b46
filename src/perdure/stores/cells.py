"""Cells: vectors grouped by the nearest of a few thousand centres, so that a recall reads a few cells, not all rows.

Worth its training above about 300,000 rows in one namespace; below, the scan of all codes is as fast and exact.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final, Self, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from perdure.stores.codes import Float32s, Int8s
    from perdure.stores.shortlist import Positions

CellNumbers: TypeAlias = npt.NDArray[np.uint16]

DEFAULT_PROBES: Final = 64
"""Cells read per recall unless the owner has tuned it on its own vectors (benchmarks/codes_scan.py prints a table)."""

_ROUNDS: Final = 6
"""Rounds of training: 100,000 rows into 2,048 cells then take about 11 s on one core (the budget is 20 s)."""

_PRODUCT_BYTES: Final = 32 << 20
"""Bytes of the similarities computed at once in training and assignment; the rows beside them take less."""

_TAIL: Final = 4096
"""Appended rows that :class:`CellLists` leaves unsorted at least: looking through them takes microseconds."""

_HEADER: Final = struct.Struct("<8sII")
_MAGIC: Final = b"PDCELLS1"


class Cells:
    """Centres of cells, unit float32 [count, d].

    Args:
        centres: float32 [count, d], 1 to 65,536 of them.
    """

    def __init__(self, centres: Float32s) -> None:
        if centres.ndim != 2 or centres.shape[1] == 0 or not 1 <= len(centres) <= 1 << 16:  # noqa: PLR2004 - axes
            raise ValueError(f"expected 1 to 65536 centres of shape [count, d], not {list(centres.shape)}")
        self.centres: Final[Float32s] = np.ascontiguousarray(centres, np.float32)

    def __len__(self) -> int:
        return len(self.centres)

    @classmethod
    def train(cls, sample: Float32s | Int8s, count: int, seed: int) -> Self:
        """Find centres by spherical k-means: the same sample, count, seed and BLAS give the same centres.

        Takes about 2 s per 10^11 of ``s * d * count`` and round on one core. Memory beside the sample: about 100 MB
        and three times the centres.

        Args:
            sample: float32 or int8 [s, d]; fifty rows per cell or more are enough.
            count: Cells wanted, from 1 to 65,536 and at most ``s``.
            seed: Chooses the rows that the centres start from.
        """
        if sample.ndim != 2 or not 1 <= count <= min(len(sample), 1 << 16):  # noqa: PLR2004 - rows and dimensions
            raise ValueError(f"cannot make {count} cells from a sample of shape {list(sample.shape)}")
        picks = np.random.default_rng(seed).choice(len(sample), count, replace=False)
        cells = cls(_unit(sample[np.sort(picks)]))
        for _ in range(_ROUNDS):
            cells = cls(cells._moved_centres(sample))
        return cells

    def assign(self, vectors: Float32s | Int8s) -> CellNumbers:
        """The nearest cell of each vector, float32 or int8 [n, d], by cosine, uint16 [n]; the lower number on a tie."""
        self._check(vectors.shape[1:])
        out = np.empty(len(vectors), np.uint16)
        for rows in self._blocks(len(vectors)):
            # A row's length does not change which centre is nearest, so it is left as it is.
            out[rows] = (vectors[rows].astype(np.float32, copy=False) @ self.centres.T).argmax(axis=1)
        return out

    def probe(self, query: Float32s, probes: int = DEFAULT_PROBES) -> CellNumbers:
        """The ``probes`` cells nearest to a query, float32 [d], or all: uint16, nearest first, ties by number."""
        self._check(query.shape)
        if probes < 1:
            raise ValueError(f"probes must be 1 or more, not {probes}")
        # vecdot makes one small BLAS call per row, which never starts threads; a matrix product would.
        away = -np.vecdot(self.centres, np.asarray(query, np.float32))
        near = np.arange(len(away))
        if probes < len(away):
            near = np.flatnonzero(away <= np.partition(away, probes - 1)[probes - 1])
        return near[np.argsort(away[near], kind="stable")[:probes]].astype(np.uint16)

    def to_bytes(self) -> bytes:
        """The centres as bytes, the same on every machine: magic, count, d, then float32 little endian."""
        values: bytes = self.centres.astype("<f4", copy=False).tobytes()
        return _HEADER.pack(_MAGIC, *self.centres.shape) + values

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Read what :meth:`to_bytes` wrote."""
        if len(data) < _HEADER.size:
            raise ValueError(f"{len(data)} bytes are too few for cells")
        magic, count, dimensions = _HEADER.unpack_from(data)
        if magic != _MAGIC or len(data) != _HEADER.size + 4 * count * dimensions:
            raise ValueError("these bytes are not cells, or they are cut short")
        values = np.frombuffer(data, "<f4", offset=_HEADER.size).astype(np.float32)
        return cls(values.reshape(count, dimensions))

    def _moved_centres(self, sample: Float32s | Int8s) -> Float32s:
        """One round: each centre moves to the mean direction of its rows; an empty one to a badly placed row."""
        sums = np.zeros_like(self.centres)
        sizes = np.zeros(len(self.centres), np.int64)
        fit = np.empty(len(sample), np.float32)
        for rows in self._blocks(len(sample)):
            vectors = _unit(sample[rows])
            products = vectors @ self.centres.T
            nearest = products.argmax(axis=1)
            fit[rows] = np.take_along_axis(products, nearest[:, None], axis=1)[:, 0]
            order = np.argsort(nearest, kind="stable")
            found, first, size = np.unique(nearest[order], return_index=True, return_counts=True)
            sums[found] += np.add.reduceat(vectors[order], first, axis=0)
            sizes[found] += size
        empty = np.flatnonzero(sizes == 0)
        sums[empty] = _unit(sample[np.argsort(fit, kind="stable")[: len(empty)]])
        return _unit(sums)

    def _blocks(self, rows: int) -> list[slice]:
        size = max(256, _PRODUCT_BYTES // (4 * max(self.centres.shape)))
        return [slice(start, start + size) for start in range(0, rows, size)]

    def _check(self, shape: tuple[int, ...]) -> None:
        if shape != self.centres.shape[1:]:
            raise ValueError(f"expected {self.centres.shape[1]} dimensions, not {list(shape)}")


class CellLists:
    """Which rows are in which cell; rows are appended, never moved (the owner's mask removes them).

    Sorted lists plus an unsorted tail of recent rows, so that an append costs O(1) amortised: the tail is sorted in
    when it outgrows a sixteenth of the rows. Memory: 6 to 8 bytes per row.

    Args:
        assignment: uint16 [n], the cell of each position.
        count: Number of cells.
    """

    def __init__(self, assignment: CellNumbers, count: int) -> None:
        self._count: Final = count
        self._cells: CellNumbers = np.empty(0, np.uint16)
        self._rows = 0
        # One attribute for both, so that a reader in another thread never sees one without the other.
        self._lists: tuple[npt.NDArray[np.int32], Positions] = np.empty(0, np.int32), np.zeros(count + 1, np.int64)
        self.extend(assignment)

    def __len__(self) -> int:
        return self._rows

    @property
    def nbytes(self) -> int:
        """Bytes reserved for the lists."""
        return self._cells.nbytes + sum(part.nbytes for part in self._lists)

    def extend(self, assignment: CellNumbers) -> None:
        """Append rows by the cells that they are in, uint16 [m]: the first gets position ``len(self)``."""
        if len(assignment) and not 0 <= int(assignment.min()) <= int(assignment.max()) < self._count:
            raise ValueError(f"cell numbers must be from 0 to {self._count - 1}")
        rows = self._rows + len(assignment)
        if rows > len(self._cells):
            grown = np.empty(max(rows, len(self._cells) + len(self._cells) // 4, 256), np.uint16)
            grown[: self._rows] = self._cells[: self._rows]
            self._cells = grown
        self._cells[self._rows : rows] = assignment
        self._rows = rows
        if rows - len(self._lists[0]) > max(_TAIL, rows // 16):
            self._sort()

    def positions(self, cells: CellNumbers) -> Positions:
        """The rows in cells, uint16 [p], each once: int64 [m], each once; ascending inside a cell, not overall."""
        rows_by_cell, starts = self._lists
        mask = np.zeros(self._count, np.bool_)
        mask[cells] = True
        bounds = zip(starts[cells].tolist(), starts[1:][cells].tolist(), strict=True)
        pieces: list[npt.NDArray[np.int32]] = [rows_by_cell[start:stop] for start, stop in bounds]
        # The count before the array: an append replaces the array by a longer one first.
        rows = self._rows
        recent = np.flatnonzero(mask[self._cells[len(rows_by_cell) : rows]]) + len(rows_by_cell)
        return np.concatenate([*pieces, recent], dtype=np.int64)

    def _sort(self) -> None:
        cells = self._cells[: self._rows]
        # A stable sort of 16-bit numbers is a radix sort: linear, and positions stay ascending inside a cell.
        rows_by_cell = np.argsort(cells, kind="stable").astype(np.int32)
        self._lists = rows_by_cell, np.concatenate(([0], np.cumsum(np.bincount(cells, minlength=self._count))))


def _unit(vectors: Float32s | Int8s) -> Float32s:
    """A float32 copy with rows of length 1; zero rows stay zero."""
    rows = vectors.astype(np.float32)
    lengths = np.sqrt(np.vecdot(rows, rows))[:, None]
    lengths[lengths == 0.0] = 1.0
    rows /= lengths
    return rows
