"""Accesses that were read once, and go on as recalls append to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from perdure.records.instant import Instant

Pairs = tuple[tuple[Instant, int], ...]  # (instant, times) of accesses, oldest first
_LONG: Final = 8  # accesses of a memory that cost more to read again than to keep
_MOST_ACCESSES: Final = 100_000  # that are kept, in about 10 MB


class KeptAccesses:
    """Accesses that no sweep has counted in yet, of the memories that have many.

    Without it each recall of a memory would read all accesses since the last sweep again, and cost more than the one
    before. It belongs to one namespace and holds for as long as the answers of ``Unchanged`` do.
    """

    def __init__(self) -> None:
        self._pairs: dict[str, Pairs] = {}
        self._size = 0

    def find(self, ids: Sequence[str]) -> dict[str, Pairs]:
        """Return id -> accesses of those ids that are kept."""
        return {i: self._pairs[i] for i in ids if i in self._pairs}

    def keep(self, found: Mapping[str, Pairs]) -> None:
        """Keep what was read, where it is long."""
        for identity, pairs in found.items():
            if len(pairs) >= _LONG:
                self._pairs[identity] = pairs
                self._size += len(pairs)
        if self._size > _MOST_ACCESSES:
            self._pairs, self._size = {}, 0

    def append(self, identity: str, at: Instant, times: int) -> None:
        """Add an access that was written; one that is not the last in time is left to be read again."""
        pairs = self._pairs.pop(identity, None)
        if pairs is not None and pairs[-1][0] < at:
            self._pairs[identity] = (*pairs, (at, times))
            self._size += 1
