"""Vectors as one bit per dimension, in memory: find a few hundred likely neighbours, to be rescored from the file.

A code keeps the sign of each dimension. The Hamming distance of two codes estimates the angle of their vectors, at
a thirty-second of the memory; :func:`similarities` over the int8 rows of the candidates then gives the cosine.

Two threads may use one :class:`Codes` when one of them only reads: an append never moves or rewrites a row that a
reader can already see.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from perdure.stores.shortlist import Distances, Mask, Positions, Shortlist, closest, likely_limit

Bits: TypeAlias = npt.NDArray[np.uint64]
Float32s: TypeAlias = npt.NDArray[np.float32]
Int8s: TypeAlias = npt.NDArray[np.int8]

BLOCK: Final = 8192
"""Rows measured at once. Below 8,192 numpy copies the broadcast word through its iterator's buffer (half the speed);
above, the temporaries (0.25 MB) leave the smaller second-level caches."""

_FIRST_BLOCK: Final = 256  # rows reserved by the first append: a namespace of ten memories costs 12 kB, not 400

_SPARSE: Final = 8
"""A mask that leaves fewer than one row in this many is gathered: a gathered row costs five to eight scanned ones."""

_ROWS_AT_ONCE: Final = 4096
"""Rows converted at once by the functions over vectors: bounds their temporaries to a few megabytes."""
_GROUP: Final = 3  # words whose set bits are added as uint8: 3 x 64 = 192 fits, 4 x 64 = 256 does not


def quantize(vectors: Float32s) -> Int8s:
    """Round vectors, float32 [n, d], to int8, each by its own scale: its largest magnitude becomes 127, zero stays.

    The scale is not kept, because cosine does not depend on it. At 384 dimensions a cosine typically moves by 0.0002,
    so only rows closer to each other than that, seen from the query, can change places.

    Raises:
        ValueError: Not two-dimensional, or a value is not finite.
    """
    _check_matrix(vectors)
    out = np.empty(vectors.shape, np.int8)
    for start in range(0, len(vectors), _ROWS_AT_ONCE):
        rows = np.asarray(vectors[start : start + _ROWS_AT_ONCE], np.float32)
        largest = np.abs(rows).max(axis=1, keepdims=True, initial=0.0)
        if not np.isfinite(largest).all():
            raise ValueError("a vector has a value that is not finite")
        # Divide before multiplying: 127 / largest overflows where the largest magnitude is denormal.
        largest[largest == 0.0] = 1.0
        out[start : start + _ROWS_AT_ONCE] = np.rint(rows / largest * np.float32(127.0))
    return out


def encode(vectors: Float32s | Int8s) -> Bits:
    """Pack the signs of each vector: bit i of the row is set when value i is above zero.

    Encode what is stored (the int8 row) wherever the code must be reproducible: a tiny positive value that rounds to
    zero has its bit set in the code of the float32 row only.

    Args:
        vectors: float32 or int8 [n, d].

    Returns:
        uint64 [n, ceil(d / 64)], little endian, bit 0 first; bits past d are zero.
    """
    _check_matrix(vectors)
    rows, dimensions = vectors.shape
    octets = np.zeros((rows, _words(dimensions) * 8), np.uint8)
    for start in range(0, rows, _ROWS_AT_ONCE):
        signs = vectors[start : start + _ROWS_AT_ONCE] > 0
        octets[start : start + _ROWS_AT_ONCE, : (dimensions + 7) // 8] = np.packbits(signs, axis=1, bitorder="little")
    # Codes are stored in files that move between machines, so the byte order is part of the format.
    return octets.view("<u8").astype(np.uint64, copy=False)


def telling_bits(codes: Bits) -> float:
    """How many bits tell codes apart: twice what nine pairs in ten differ in at least.

    Args:
        codes: uint64 [n, W], two or more; time and memory grow with the square of n.

    Returns:
        Some 0.9 d for directions in no order; 0 where a third of the vectors have the same signs.
    """
    distances = np.bitwise_count(codes[:, None] ^ codes[None]).sum(axis=2, dtype=np.uint16)
    return 2.0 * float(np.quantile(distances[np.triu_indices(len(codes), 1)], 0.1))


def lengths_of(quantized: Int8s) -> Float32s:
    """Euclidean length of each int8 row, float32 [m]."""
    out = np.empty(len(quantized), np.float32)
    for start in range(0, len(quantized), _ROWS_AT_ONCE):
        rows = quantized[start : start + _ROWS_AT_ONCE].astype(np.float32)
        # vecdot makes one small BLAS call per row, which never starts threads; a matrix product would.
        out[start : start + _ROWS_AT_ONCE] = np.sqrt(np.vecdot(rows, rows))
    return out


def similarities(query: Float32s, quantized: Int8s, lengths: Float32s | None = None) -> Float32s:
    """Cosine of the query with each int8 row, float32 [m]; 0 where the row or the query is a zero vector.

    Args:
        query: float32 [d], any length but zero.
        quantized: int8 [m, d].
        lengths: What :func:`lengths_of` says of the rows, float32 [m], where it is known.
    """
    _check_matrix(quantized)
    if query.shape != (quantized.shape[1],):
        raise ValueError(f"the query has shape {query.shape}, the rows have {quantized.shape[1]} dimensions")
    query = np.asarray(query, np.float32)
    norm = np.sqrt(np.vecdot(query, query))
    both = (lengths_of(quantized) if lengths is None else lengths) * norm
    both[both == 0.0] = np.inf
    out = np.empty(len(quantized), np.float32)
    for start in range(0, len(quantized), _ROWS_AT_ONCE):
        some = slice(start, start + _ROWS_AT_ONCE)
        np.vecdot(quantized[some].astype(np.float32), query, out=out[some])
    out /= both
    return np.minimum(np.maximum(out, np.float32(-1.0)), np.float32(1.0))


class Codes:
    """Codes at positions 0 .. n-1, appended only; the owner removes a row with a mask.

    Rows are stored word by word inside blocks, uint64 [blocks, W, rows per block], so that a scan works on long runs of
    the same word. Memory: W * 8 bytes per row, 48 MB for a million rows of 384 dimensions, and at worst half as much
    again reserved after a growth (reserved, not touched, where the system maps pages lazily). ``dimensions`` are 1 to
    65,472, so that a distance fits 16 bits. Whoever loads many rows knows how many are ``expected``: without it the
    retired smaller copies can stay in the allocator's heap, 50 MB after a million rows.
    """

    def __init__(self, dimensions: int, expected: int = 0) -> None:
        if not 1 <= dimensions <= 65_472:  # noqa: PLR2004 - documented above: 1,023 words of 64 bits
            raise ValueError(f"dimensions must be from 1 to 65472, not {dimensions}")
        self.dimensions: Final = dimensions
        self.words: Final = _words(dimensions)
        self._blocks: Bits = np.empty((1, self.words, _FIRST_BLOCK), np.uint64)
        self._blocks = self._reserve(expected)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def nbytes(self) -> int:
        """Bytes reserved for codes."""
        return self._blocks.nbytes

    def extend(self, codes: Bits) -> None:
        """Append rows, uint64 [m, W]: row 0 of ``codes`` gets position ``len(self)``."""
        if codes.ndim != 2 or codes.shape[1] != self.words or codes.dtype.kind != "u" or codes.itemsize != 8:  # noqa: PLR2004 - axes, bytes
            raise ValueError(f"expected uint64 [m, {self.words}], not {codes.dtype} {list(codes.shape)}")
        blocks = self._reserve(self._count + len(codes))
        width = blocks.shape[2]
        at = written = 0
        while written < len(codes):
            block, at = divmod(self._count + written, width)
            rows = min(width - at, len(codes) - written)
            blocks[block, :, at : at + rows] = codes[written : written + rows].T
            written += rows
        # The storage before the count: a reader takes the count first, and must find that many rows.
        self._blocks = blocks
        self._count += written

    def nearest(self, code: Bits, k: int, *, mask: Mask | None = None) -> Positions:
        """The k rows with the smallest Hamming distance to ``code``.

        Args:
            code: uint64 [W].
            k: How many at most, 0 or more.
            mask: bool [n]; rows that are False are never returned.

        Returns:
            int64 [<= k] positions by ascending distance, ties by position. Fewer when fewer rows are left.
        """
        count = self._count
        self._check(code, k, mask, count)
        if mask is not None and np.count_nonzero(mask) * _SPARSE < count:
            return self.nearest_among(code, np.flatnonzero(mask), k)
        blocks = self._blocks
        width = blocks.shape[2]
        meter = DistanceMeter(min(width, BLOCK))
        shortlist = Shortlist(k, 64 * self.words)
        for block, start in enumerate(range(0, count if k else 0, width)):
            stop = min(start + width, count)
            distances = meter.measure(blocks[block, :, : stop - start], code)
            allowed = None if mask is None else mask[start:stop]
            if not start:
                shortlist.limit = min(shortlist.limit, likely_limit(distances, k, allowed))
            close = distances < shortlist.limit
            if allowed is not None:
                close &= allowed
            inside = close.nonzero()[0]
            if inside.size:
                shortlist.add(inside + start, distances[inside])
        return shortlist.positions()

    def nearest_among(self, code: Bits, positions: Positions, k: int, mask: Mask | None = None) -> Positions:
        """As :meth:`nearest`, over some of the rows: those of a few cells, or those that a filter left.

        A row costs five to eight times what it costs in a scan: for more than an eighth of the rows, a mask is faster.

        Args:
            code: uint64 [W].
            positions: int64 [m], each from 0 to n-1 and at most once, in any order.
            k: How many at most, 0 or more.
            mask: bool [n] over all rows; rows that are False are never returned.
        """
        count = self._count
        self._check(code, k, mask, count)
        blocks = self._blocks
        _check_positions(positions, count)
        if mask is not None:
            positions = positions[mask[positions]]
        meter = DistanceMeter(min(len(positions), BLOCK))
        distances = np.empty(len(positions), np.uint16)
        for start in range(0, len(positions), BLOCK):
            some = positions[start : start + BLOCK]
            distances[start : start + BLOCK] = meter.measure(_gather(blocks, some), code)
        return closest(positions, distances, k)

    def blocks(self) -> Iterator[tuple[int, Bits]]:
        """Yield (position of the first row, codes uint64 [W, m]) of all rows; the first block is never smaller."""
        count, blocks = self._count, self._blocks
        width = blocks.shape[2]
        for block, start in enumerate(range(0, count, width)):
            yield start, blocks[block, :, : min(width, count - start)]

    def take(self, positions: Positions) -> Bits:
        """The codes at these positions, int64 [m], each from 0 to n-1: uint64 [m, W], a copy."""
        count = self._count
        _check_positions(positions, count)
        return np.ascontiguousarray(_gather(self._blocks, positions).T)

    def _reserve(self, rows: int) -> Bits:
        """Storage for at least ``rows`` rows that holds the present ones: the same, or a larger copy."""
        old = self._blocks
        count, _, width = old.shape
        if rows <= count * width:
            return old
        new_width = min(BLOCK, 1 << (rows - 1).bit_length())
        # Exactly what is asked, so that a load wastes nothing; half as much again, so that small appends are O(1).
        new_count = max(-(-rows // new_width), count + count // 2 if width == BLOCK else 1)
        new = np.empty((new_count, self.words, new_width), np.uint64)
        # A block narrower than BLOCK is the only one, so its rows begin the first block of the copy.
        new[:count, :, :width] = old
        return new

    def _check(self, code: Bits, k: int, mask: Mask | None, count: int) -> None:
        if code.shape != (self.words,) or code.dtype != np.uint64:
            raise ValueError(f"expected a code of uint64 [{self.words}], not {code.dtype} {list(code.shape)}")
        if k < 0:
            raise ValueError(f"k must not be negative: {k}")
        if mask is not None and (mask.shape != (count,) or mask.dtype != np.bool_):
            raise ValueError(f"expected a mask of bool [{count}], not {mask.dtype} {list(mask.shape)}")


def _gather(blocks: Bits, positions: Positions) -> Bits:
    """Codes uint64 [W, m] at checked positions."""
    _, words, width = blocks.shape
    out = np.empty((words, len(positions)), np.uint64)
    if not len(positions):
        return out
    block, inside = np.divmod(positions.astype(np.int64, copy=False), width)
    index = block * (words * width) + inside
    flat = blocks.reshape(-1)
    for word in range(words):
        # The positions are checked; with mode="raise" take() would write through a second buffer.
        np.take(flat, index, out=out[word], mode="clip")
        index += width
    return out


def _words(dimensions: int) -> int:
    return (dimensions + 63) // 64


def _check_matrix(vectors: Float32s | Int8s) -> None:
    if vectors.ndim != 2 or vectors.shape[1] == 0:  # noqa: PLR2004 - rows and dimensions
        raise ValueError(f"expected vectors of shape [n, d], not {list(vectors.shape)}")


def _check_positions(positions: Positions, count: int) -> None:
    if positions.ndim != 1 or positions.dtype.kind not in "iu":
        raise ValueError(f"expected positions of int64 [m], not {positions.dtype} {list(positions.shape)}")
    if len(positions) and (int(positions.min()) < 0 or int(positions.max()) >= count):
        raise IndexError(f"positions must be from 0 to {count - 1}")


class DistanceMeter:
    """Measures blocks of at most so many rows."""

    def __init__(self, rows: int) -> None:
        self._differing = np.empty((_GROUP, rows), np.uint64)
        self._counts = np.empty((_GROUP, rows), np.uint8)
        self._partial = np.empty(rows, np.uint8)
        self._total = np.empty(rows, np.uint16)

    def measure(self, block: Bits, code: Bits, out: Distances | None = None) -> Distances:
        """Return the distances of columns to a code, uint16 [m].

        Args:
            block: uint64 [W, m].
            code: uint64 [W].
            out: Where they are put; else they are valid until the next call.
        """
        words, rows = block.shape
        partial, total, column = self._partial[:rows], self._total[:rows] if out is None else out, code[:, None]
        for first in range(0, words, _GROUP):
            group = block[first : first + _GROUP]
            differing, counts = self._differing[: len(group), :rows], self._counts[: len(group), :rows]
            np.bitwise_xor(group, column[first : first + _GROUP], out=differing)
            np.bitwise_count(differing, out=counts)
            np.add.reduce(counts, axis=0, dtype=np.uint8, out=partial)
            if first:
                np.add(total, partial, out=total)
            else:
                np.copyto(total, partial)
        return total
