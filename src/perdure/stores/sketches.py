"""A few numbers of each vector, in memory: the likely neighbours of many vectors at once, by products of matrices.

A sketch is where a vector lies along the 63 directions in which the vectors of the namespace differ most, and how long
what is left of it is. Two vectors that are nearly the same leave nearly the same, so half the product of the lengths
is added to the product of what is kept. That estimates cosines better than signs do, for a fifth of the time; but
directions have to be found first, so this pays for many vectors, and one is looked for by its signs (stores/codes.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from perdure.formulas.products import one_thread
from perdure.stores.codes import Float32s, Int8s, lengths_of
from perdure.stores.shortlist import Mask, Positions

FITTED: Final = 4096  # vectors, at most, by which directions are chosen

_TILE: Final = 64
"""Rows and columns of each product, and numbers of a sketch: OpenBLAS shares a product of more than 64 x 64 x 64
multiplications out among threads, and those spin for long afterwards."""
_BLOCK: Final = 16  # tiles of rows at once
_ROWS: Final = _BLOCK * _TILE
_QUERIES: Final = 8 * _TILE  # at once: their products with a block are two megabytes
_LIKELY: Final = 72  # rows that are expected to be above a query's limit
_FEWEST: Final = 24  # where there are fewer, the query's limit was too high
_LOWER: Final = 4  # then so many times as many are looked for
_ALONE: Final = 8  # fewer queries are compared with all rows by themselves
_LEAST_SAMPLE: Final = 1024
_SAMPLED: Final = 16  # one row in so many tells where limits are
_POSITION: Final = (1 << 32) - 1
_REST_WEIGHT: Final = np.float32(0.5)
"""Share of the product of what two vectors leave that counts. Of 14,000 vectors of sentences it finds the five nearest
of 0.992 among a hundred likely ones; 0.976 without it, 0.990 with all of it."""

Tiles = NDArray[np.float32]


class Sketches:
    """Sketches of vectors at positions 0 .. n-1, appended only; 64 bytes each.

    Args:
        sample: int8 [s, d], vectors by which directions are chosen.
        expected: Rows to reserve.
    """

    def __init__(self, sample: Int8s, expected: int = 0) -> None:
        unit = _unit(sample)
        with one_thread():
            axes = np.linalg.eigh(unit.T @ unit)[1][:, 1 - _TILE :].astype(np.float32)
        self._axes: Float32s = np.zeros((-(-len(axes) // _TILE) * _TILE, _TILE), np.float32)
        self._axes[: len(axes), : axes.shape[1]] = axes
        largest = np.abs(self._features(unit)).max(axis=0, initial=0.0)
        # A later vector may lie a little further out than all of the sample.
        self._steps: Float32s = np.where(largest > 0, largest * np.float32(1.25 / 127), np.float32(1))
        self._rows = np.zeros((-(-max(expected, 1) // _ROWS) * _ROWS, _TILE), np.int8)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self._rows.nbytes

    def extend(self, vectors: Int8s) -> None:
        """Append vectors, int8 [m, d]: the first gets position ``len(self)``."""
        end = self._count + len(vectors)
        if end > len(self._rows):
            grown = np.zeros((-(-max(end, 2 * self._count) // _ROWS) * _ROWS, _TILE), np.int8)
            grown[: self._count] = self._rows[: self._count]
            self._rows = grown
        for start in range(0, len(vectors), _QUERIES):
            features = self._features(_unit(vectors[start : start + _QUERIES]))
            features /= self._steps
            at = self._count + start
            self._rows[at : at + len(features)] = np.rint(np.clip(features, -127, 127, out=features), out=features)
        self._count = end

    def likely(self, queries: Float32s, mask: Mask | None) -> Iterator[Positions]:
        """Yield for each query its likely neighbours, some 72, by position; all rows where there are few.

        The vectors are float32 [q, d]; rows whose ``mask``, bool [n], is False are left out.
        """
        allowed = np.arange(self._count) if mask is None else np.flatnonzero(mask)
        if len(allowed) <= _LIKELY:
            yield from [allowed] * len(queries)
            return
        step = min(max(len(allowed) // _LEAST_SAMPLE, 1), _SAMPLED)
        sample, place = self._rows[allowed[::step]], _LIKELY // step
        room = np.empty((-(-min(len(queries), _QUERIES) // _TILE), _BLOCK, _TILE, _TILE), np.float32)
        for start in range(0, len(queries), _QUERIES):
            batch = self._features(queries[start : start + _QUERIES]) * self._steps
            batch[:, -1] *= _REST_WEIGHT
            yield from self._search(batch, sample, place, mask, room)

    def _search(self, queries: Float32s, sample: Int8s, place: int, mask: Mask | None, room: Tiles) -> list[Positions]:
        """Return the rows above the limit of each query; where those are too few, above a lower one."""
        tiles = _tiles(queries)
        some = room[: len(tiles)]
        found = self._rows_above(tiles, _limits(tiles, sample, place, some), mask, some)[: len(queries)]
        few = [query for query, rows in enumerate(found) if len(rows) < _FEWEST]
        if len(few) < _ALONE or _LOWER * place > len(sample):
            again = [self._best_rows(queries[query], mask) for query in few]
        else:
            again = self._search(queries[few], sample, _LOWER * place, mask, room)
        for query, rows in zip(few, again, strict=True):
            found[query] = rows
        return found

    def _features(self, vectors: Float32s) -> Float32s:
        """Return the numbers that sketches are made of, [n, 64]."""
        found = _project(vectors, self._axes)
        found[:, -1] = np.sqrt(np.maximum(np.vecdot(vectors, vectors) - np.vecdot(found, found), 0))
        return found

    def _rows_above(self, tiles: Tiles, limits: Tiles, mask: Mask | None, room: Tiles) -> list[Positions]:
        """Return for each query of some tiles the rows above its limit."""
        above, keys, columns = np.empty(room.shape, np.bool_), [], _columns_of_block()
        for start in range(0, self._count, _ROWS):
            np.matmul(tiles, _columns(self._rows[start : start + _ROWS], columns), out=room)
            np.greater(room, limits, out=above)
            at = np.flatnonzero(above)
            tile, row = at // (_ROWS * _TILE), at // (_TILE * _TILE) % _BLOCK * _TILE + at % _TILE + start
            inside = row < self._count
            if mask is not None:
                inside[inside] = mask[row[inside]]
            keys.append(((tile * _TILE + at // _TILE % _TILE) << 32 | row)[inside])
        whole = np.sort(np.concatenate(keys))
        ends = np.searchsorted(whole, np.arange(1, len(tiles) * _TILE + 1) << 32).tolist()
        rows = whole & _POSITION
        return [rows[begin:end] for begin, end in zip([0, *ends[:-1]], ends, strict=True)]

    def _best_rows(self, query: Float32s, mask: Mask | None) -> Positions:
        products = np.concatenate(
            [
                np.vecdot(self._rows[at : min(at + _ROWS, self._count)].astype(np.float32), query)
                for at in range(0, self._count, _ROWS)
            ]
        )
        if mask is not None:
            products[~mask] = -np.inf
        return np.sort(np.argpartition(-products, _LIKELY - 1)[:_LIKELY])


def _limits(tiles: Tiles, sample: Int8s, place: int, room: Tiles) -> Tiles:
    """Return for each query of some tiles the product that so many rows of a sample reach, a little less."""
    products = np.empty((len(tiles) * _TILE, -(-len(sample) // _TILE) * _TILE), np.float32)
    block = _columns_of_block()
    for start in range(0, len(sample), _ROWS):
        columns = _columns(sample[start : start + _ROWS], block)
        some = room[:, : columns.shape[1]]
        np.matmul(tiles, columns, out=some)
        width = columns.shape[1] * _TILE
        products[:, start : start + width] = some.transpose(0, 2, 1, 3).reshape(len(products), width)
    products = products[:, : len(sample)]
    products.partition(len(sample) - place, axis=1)
    limits = np.nextafter(products[:, len(sample) - place], np.float32(-np.inf))
    limits[~products.any(axis=1)] = np.inf  # what fills the last tile up asks for nothing
    found: Tiles = limits.reshape(len(tiles), 1, _TILE, 1)
    return found


def _project(vectors: Float32s, axes: Float32s) -> Float32s:
    """Return where vectors [n, d] lie along axes [d or more, 64]."""
    parts = len(axes) // _TILE
    padded = np.pad(vectors, ((0, -len(vectors) % _TILE), (0, len(axes) - vectors.shape[1])))
    tiles = padded.reshape(-1, _TILE, parts, _TILE).transpose(0, 2, 1, 3)
    found: Float32s = np.matmul(tiles, axes.reshape(parts, _TILE, _TILE)).sum(axis=1)
    return found.reshape(-1, _TILE)[: len(vectors)]


def _columns_of_block() -> Tiles:
    return np.empty((1, _BLOCK, _TILE, _TILE), np.float32)


def _columns(rows: Int8s, block: Tiles) -> Tiles:
    """Return rows as the right sides of products, [1, tiles, 64, 64]; rows of zeros where they do not fill a tile.

    They are written into ``block``, each in one piece: products with what lies across take twice the time.
    """
    padded = rows if len(rows) % _TILE == 0 else np.pad(rows, ((0, -len(rows) % _TILE), (0, 0)))
    tiles = block[:, : len(padded) // _TILE]
    np.copyto(tiles, padded.reshape(1, -1, _TILE, _TILE).transpose(0, 1, 3, 2))
    return tiles


def _tiles(values: Float32s) -> Tiles:
    """Return rows of values in tiles of 64, [tiles, 1, 64, columns], filled up with zeros."""
    padded = np.pad(values, ((0, -len(values) % _TILE), (0, 0)))
    return padded.reshape(-1, 1, _TILE, values.shape[1])


def _unit(vectors: Int8s) -> Float32s:
    lengths = lengths_of(vectors)
    lengths[lengths == 0.0] = 1.0
    unit = vectors.astype(np.float32)
    unit /= lengths[:, None]
    return unit
