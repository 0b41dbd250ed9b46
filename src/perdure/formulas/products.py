"""Products of vectors with each other that BLAS does not share out among threads: those spin for long afterwards."""

from __future__ import annotations

from math import isqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

Float32s = NDArray[np.float32]
_ALONE: Final = 1 << 18  # multiplications that OpenBLAS does not share out among threads


def products_with_earlier(rows: Float32s) -> Float32s:
    """Return the products of the rows [n, d] with each other, [n, n]; those with later rows may be missing: 0.

    They are made tile by tile, since one product of all would start threads.
    """
    count, dimensions = rows.shape
    tile = max(1, isqrt(_ALONE // dimensions))
    if count <= tile:
        return rows @ rows.T
    found = np.zeros((count, count), np.float32)
    for row in range(0, count, tile):
        some = rows[row : row + tile]
        for other in range(0, row + 1, tile):
            np.matmul(some, rows[other : other + tile].T, out=found[row : row + tile, other : other + tile])
    return found


def products_with_one(rows: Float32s, one: Float32s) -> Float32s:
    """Return the products of rows [n, d] with one vector [d], [n]: each is a small call, which starts no threads."""
    found: Float32s = np.vecdot(rows, one)
    return found
