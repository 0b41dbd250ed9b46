"""Searching bytes for any number of words in one pass, so that how many there are hardly matters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

_WIDTHS: Final = (8, 4)
"""Bytes of a word's beginning by which the places to look at are chosen; shorter words are sought one by one."""
_BITS: Final = 20
_FACTOR: Final = np.uint64(0x9E3779B97F4A7C15)  # spreads what differs in any byte over the highest bits (Fibonacci)
_SHIFT: Final = np.uint64(64 - _BITS)


class ByteSearch:
    """Finds some words in bytes, each in small letters as far as it is of ASCII, whatever the case there.

    A word's beginning is a number, and a table says of each number whether a word may begin so: the table is asked for
    every place of the bytes at once. Of the few places that are left, the words of each length are compared.

    Args:
        words: What is sought; empty words are passed over.
    """

    def __init__(self, words: Iterable[bytes]) -> None:
        self._words = {word.lower() for word in words if word}
        self._short = sorted(word for word in self._words if len(word) < min(_WIDTHS))
        self._beginnings: dict[int, dict[bytes, list[int]]] = {width: {} for width in _WIDTHS}
        for word in self._words:
            width = next((width for width in _WIDTHS if len(word) >= width), 0)
            if width:
                self._beginnings[width].setdefault(word[:width], []).append(len(word))
        for beginnings in self._beginnings.values():
            for start, lengths in beginnings.items():
                beginnings[start] = sorted(set(lengths))
        self._tables = {width: _table(width, starts) for width, starts in self._beginnings.items() if starts}

    @property
    def longest(self) -> int:
        """Bytes of the longest word."""
        return max(map(len, self._words), default=0)

    def found_in(self, block: bytes) -> Iterator[tuple[int, bytes]]:
        """Yield where words stand, (place, word), in no order; of the shortest ones each is told of once."""
        block = block.lower()
        for word in self._short:
            if (at := block.find(word)) >= 0:
                yield at, word
        for width, table in self._tables.items():
            beginnings = self._beginnings[width]
            for at in _places(block, width, table):
                for length in beginnings.get(block[at : at + width], ()):
                    if (word := block[at : at + length]) in self._words:
                        yield at, word


def _numbers(data: bytes, width: int, offset: int = 0) -> npt.NDArray[np.uint64]:
    count = max(0, len(data) - offset) // width
    numbers = np.frombuffer(data, f"<u{width}", count, min(offset, len(data))).astype(np.uint64, copy=False)
    return (numbers * _FACTOR) >> _SHIFT


def _table(width: int, starts: Iterable[bytes]) -> npt.NDArray[np.bool_]:
    table = np.zeros(1 << _BITS, np.bool_)
    table[_numbers(b"".join(starts), width)] = True
    return table


def _places(block: bytes, width: int, table: npt.NDArray[np.bool_]) -> Iterator[int]:
    for offset in range(min(width, len(block))):
        yield from (np.flatnonzero(table[_numbers(block, width, offset)]) * width + offset).tolist()
