"""Hamming distances of codes to one code, with temporaries that are allocated once."""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from perdure.stores.shortlist import Distances

Bits: TypeAlias = npt.NDArray[np.uint64]
_GROUP: Final = 3  # words whose set bits are added as uint8: 3 x 64 = 192 fits, 4 x 64 = 256 does not


class Meter:
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
