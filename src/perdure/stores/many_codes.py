"""The closest rows of many codes at once: what a call costs is shared, the answers are those of ``Codes.nearest``."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from perdure.stores.codes import BLOCK, Bits, Codes
from perdure.stores.hamming import Meter
from perdure.stores.shortlist import Mask, Positions

_TOGETHER: Final = 32  # codes: their distances to a block are half a megabyte
_FEW: Final = 4  # codes for which nothing is gained
_SPARSE: Final = 4  # a mask that leaves fewer than one row in so many: each code gathers its own
_SAMPLE: Final = 512  # rows of the first block from which it is guessed how near the nearest are
_LEAST: Final = 8  # rows of the sample that are nearer than the guess
_DISTANCE, _CODE = np.int64(32), np.int64(48)  # bits to the right of a key's distance and of its code; then its row
_POSITION: Final = (1 << 32) - 1
_ANY: Final = np.uint16((1 << 16) - 1)  # more than any distance

Keys = NDArray[np.int64]


def nearest_of_each(index: Codes, codes: Bits, k: int, mask: Mask | None = None) -> list[Positions]:
    """Return for each code the k rows with the smallest distances, ties by position, as ``Codes.nearest`` does.

    Args:
        index: The rows.
        codes: uint64 [q, W].
        k: How many at most, 0 or more.
        mask: bool [n]; rows that are False are never returned.
    """
    allowed = len(index) if mask is None else int(np.count_nonzero(mask))
    if len(codes) < _FEW or not 0 < k < allowed // 2 or allowed * _SPARSE < len(index):
        return [index.nearest(code, k, mask=mask) for code in codes]
    room = _Room(min(len(codes), _TOGETHER))
    found: list[Positions] = []
    for start in range(0, len(codes), _TOGETHER):
        found += _some(index, codes[start : start + _TOGETHER], k, mask, room)
    return found


class _Room:
    """Memory for the distances of codes to a block: asking the system for it anew costs as much as comparing them."""

    def __init__(self, codes: int) -> None:
        self.meter = Meter(BLOCK)
        self._distances = np.empty(codes * BLOCK, np.uint16)
        self._close = np.empty(codes * BLOCK, np.bool_)

    def distances(self, block: Bits, codes: Bits) -> NDArray[np.uint16]:
        """Return the distances of codes [q, W] to the columns of a block, [q, rows]."""
        rows = block.shape[1]
        found = self._distances[: len(codes) * rows].reshape(len(codes), rows)
        for code, out in zip(codes, found, strict=True):
            self.meter.measure(block, code, out)
        return found

    def below(
        self, distances: NDArray[np.uint16], limits: NDArray[np.uint16], start: int, allowed: Mask | None
    ) -> Keys:
        """Return what is closer than its code's limit, as numbers that sort by code, distance and position."""
        close = self._close[: distances.size].reshape(distances.shape)
        np.less(distances, limits[:, None], out=close)
        if allowed is not None:
            close &= allowed
        at = np.flatnonzero(close)
        code, row = np.divmod(at, distances.shape[1])
        keys: Keys = code << _CODE | distances.ravel()[at].astype(np.int64) << _DISTANCE | (row + start)
        return keys


def _some(index: Codes, codes: Bits, k: int, mask: Mask | None, room: _Room) -> list[Positions]:
    limits: NDArray[np.uint16] | None = None
    keys: list[Keys] = []
    for start, block in index.blocks():
        allowed = None if mask is None else mask[start : start + block.shape[1]]
        distances = room.distances(block, codes)
        if limits is None:
            limits = _guessed(distances, k)
            first, limits = _closest(np.sort(room.below(distances, limits, start, allowed)), k, limits)
            keys.append(first)  # of later rows only closer ones can be among the k
        else:
            keys.append(room.below(distances, limits, start, allowed))
    whole = np.sort(np.concatenate(keys))
    ends = _ends(whole, len(codes))
    parts = [whole[begin:end][:k] & _POSITION for begin, end in zip([0, *ends[:-1]], ends, strict=True)]
    # A guess that left too few is made good by itself.
    pairs = zip(parts, codes, strict=True)
    return [part if len(part) == k else index.nearest(code, k, mask=mask) for part, code in pairs]


def _guessed(distances: NDArray[np.uint16], k: int) -> NDArray[np.uint16]:
    """Return for each code a distance below which k rows of the first block probably are, and not many more."""
    step = max(distances.shape[1] // _SAMPLE, 1)
    sample = distances[:, ::step]
    place = max(_LEAST, 4 * k // step)
    if place > sample.shape[1] // 2:
        return np.full(len(distances), _ANY)
    guess: NDArray[np.uint16] = np.partition(sample, place, axis=1)[:, place] + np.uint16(1)
    return guess


def _closest(keys: Keys, k: int, limits: NDArray[np.uint16]) -> tuple[Keys, NDArray[np.uint16]]:
    """Return the keys of each code's k closest rows, of sorted keys, and the distance of its k-th closest.

    A code with fewer rows keeps its limit.
    """
    ends = _ends(keys, len(limits))
    starts = np.concatenate([[0], ends[:-1]])
    last = starts + k - 1
    known = last < ends
    least = limits.copy()
    least[known] = (keys[last[known]] >> _DISTANCE).astype(np.uint16)  # the code is cut off
    return keys[np.arange(len(keys)) - np.repeat(starts, ends - starts) < k], least


def _ends(keys: Keys, codes: int) -> NDArray[np.int64]:
    """Return where the keys of each code end."""
    return np.searchsorted(keys, np.arange(1, codes + 1) << _CODE)
