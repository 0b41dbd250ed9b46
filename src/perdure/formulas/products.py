"""Products of vectors with each other that BLAS does not share out among threads: those spin for long afterwards."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from math import isqrt
from threading import Lock
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


_THREADS: Final = ("scipy_openblas_{}_num_threads64_", "openblas_{}_num_threads64_", "openblas_{}_num_threads")
"""What reads and sets how many threads OpenBLAS takes; numpy comes with the first."""
_alone: Final = Lock()


@contextmanager
def one_thread() -> Iterator[None]:
    """Have OpenBLAS take one thread meanwhile, in the whole process: for what cannot be done tile by tile.

    On two busy processors the eigenvectors of 384 directions took 1 to 2 s of processor time by threads, which spin
    while they wait for each other, and 0.03 s by one. Where numpy does without OpenBLAS nothing changes.
    """
    found = _thread_functions()
    if found is None:
        yield
        return
    read, write = found
    with _alone:
        threads = read()
        write(1)
        try:
            yield
        finally:
            write(threads)


@cache
def _thread_functions() -> tuple[Callable[[], int], Callable[[int], object]] | None:
    try:  # what numpy calls LAPACK from was linked to its BLAS
        library = ctypes.CDLL(np.linalg._umath_linalg.__file__)  # noqa: SLF001  # no public way leads there
    except (AttributeError, OSError):
        return None
    for name in _THREADS:
        read, write = (getattr(library, name.format(verb), None) for verb in ("get", "set"))
        if read is not None and write is not None:
            return read, write
    return None
