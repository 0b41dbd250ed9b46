"""What searches have read of the rows of one namespace, kept in memory: vectors, narrow columns, places in sessions.

All of it is derived, and most of it never changes: a row keeps its vector, its id, its session, its turn and its
speaker. What does change is reported by the change feed of the namespace; see :meth:`Resident.forget`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

import numpy as np
from numpy.typing import NDArray

from perdure.stores.codes import lengths_of, similarities
from perdure.stores.search import Narrow
from perdure.stores.sqlite.attributes import tags_of
from perdure.stores.statements import Session

Positions = NDArray[np.int64]
MOST: Final = 50_000  # of so many rows narrow columns are kept, then it begins anew: some 20 MB
MOST_VECTORS: Final = 1 << 17
"""So many vectors are kept, then it begins anew: 50 MB; storing memories by the hundred reads them all."""
_FIRST: Final = 256
_UNREAD: Final = -1
_NAMES: Final = 16
_STEMS: Final = 100_000  # of texts that are kept: some 9 MB
_NO_TAGS: Final = frozenset[str]()


class Resident:
    """Vectors by their position in the index, the rest by its row in the file; each is read once, until it changes."""

    def __init__(self, space: int, dimensions: int) -> None:
        self.space = space
        self._slots = np.full(_FIRST, _UNREAD, np.int32)
        """Position in the index -> where its vector is kept."""
        self._used = 0
        self._matrix = np.empty((_FIRST, dimensions), np.int8)
        self._lengths = np.empty(_FIRST, np.float32)
        self._narrow: dict[int, Narrow] = {}
        self._rows: dict[str, int] = {}
        self._tags: dict[int, frozenset[str]] = {}
        self._holding: dict[str, dict[int, bool]] = {}
        self._stems: dict[int, frozenset[str]] = {}
        self._stem_count = 0
        self._places: dict[tuple[str, int], int | None] = {}
        self.has_absent = False
        """Whether places are kept at which no row may be."""

    @property
    def nbytes(self) -> int:
        """Bytes that the vectors hold."""
        return self._matrix.nbytes + self._lengths.nbytes + self._slots.nbytes

    def slots(self, session: Session, rows: Positions, positions: Positions) -> NDArray[np.int32]:
        """Return where the vectors of some rows are kept, and read those that are not; -1 for a row that has none.

        ``rows`` are in the file, ``positions`` the same in the index, both int64 [n].
        """
        self._reserve(positions)
        slots = self._slots[positions]
        unread = slots == _UNREAD
        if unread.any():
            places = dict(zip(rows[unread].tolist(), positions[unread].tolist(), strict=True))
            if self._used + len(places) > MOST_VECTORS:
                self._slots.fill(_UNREAD)
                self._used = 0
                places = dict(zip(rows.tolist(), positions.tolist(), strict=True))
            read = session.rows("vectors_at", space=self.space, rows=list(places))
            found = [(row, data) for row, data in read if len(data) == self._matrix.shape[1]]  # others are damaged
            data = np.frombuffer(b"".join(data for _, data in found), np.int8)
            self._keep(np.array([places[row] for row, _ in found], np.int64), data)
            slots = self._slots[positions]
        return slots

    def vectors(self, slots: NDArray[np.int32]) -> NDArray[np.int8]:
        """Return vectors by where they are kept, int8 [n, d]."""
        return self._matrix[slots]

    def similarities(self, query: NDArray[np.float32], slots: NDArray[np.int32]) -> NDArray[np.float32]:
        """Return the cosines of a query with vectors by where they are kept, float32 [n]."""
        return similarities(query, self._matrix[slots], self._lengths[slots])

    def similarities_of_each(
        self, queries: NDArray[np.float32], slots: NDArray[np.int32], counts: Sequence[int]
    ) -> NDArray[np.float32]:
        """Return the cosines of queries [q, d] with vectors of their own, one query's after another's, float32 [n].

        Args:
            queries: float32 [q, d].
            slots: Where the vectors are kept, int32 [n].
            counts: How many of them belong to each query.
        """
        found = np.empty(len(slots), np.float32)
        start = 0
        for query, count in zip(queries, counts, strict=True):
            some = slots[start : start + count]
            vectors = self._matrix.take(some, axis=0, mode="clip").astype(np.float32)
            np.vecdot(vectors, query, out=found[start : start + count])
            start += count
        both = self._lengths[slots] * np.repeat(np.sqrt(np.vecdot(queries, queries)), counts)
        both[both == 0.0] = np.inf
        found /= both
        return np.clip(found, -1.0, 1.0, out=found)

    def keep(self, positions: Positions, vectors: NDArray[np.int8]) -> None:
        """Keep vectors that were just read anyway, int8 [n, d]; where they are too many, none."""
        if len(positions) > MOST_VECTORS:
            return
        self._reserve(positions)
        if self._used + len(positions) > MOST_VECTORS:
            self._slots.fill(_UNREAD)
            self._used = 0
        self._keep(positions, vectors)

    def _reserve(self, positions: Positions) -> None:
        if len(positions) and (most := int(positions.max())) >= len(self._slots):
            grown = np.full(max(most + 1, 2 * len(self._slots)), _UNREAD, np.int32)
            grown[: len(self._slots)] = self._slots
            self._slots = grown

    def _keep(self, positions: Positions, vectors: NDArray[np.int8]) -> None:
        if not len(positions):
            return
        count, end = self._used, self._used + len(positions)
        if end > len(self._matrix):
            larger = np.empty((max(end, 2 * len(self._matrix)), self._matrix.shape[1]), np.int8)
            larger[:count] = self._matrix[:count]
            self._matrix, self._lengths = larger, np.resize(self._lengths, len(larger))
        self._matrix[count:end] = vectors.reshape(len(positions), -1)
        self._lengths[count:end] = lengths_of(self._matrix[count:end])
        self._slots[positions] = np.arange(count, end)
        self._used = end

    def narrow(self, session: Session, rows: Iterable[int]) -> dict[int, Narrow]:
        """Return row -> its narrow columns, whatever its status."""
        row_list = list(rows)
        found = {row: values for row in row_list if (values := self._narrow.get(row)) is not None}
        if len(found) < len(row_list):
            missing = [row for row in row_list if row not in found]
            if len(self._narrow) + len(missing) > MOST:
                self._narrow, self._rows = {}, {}
                self._take(found.values())
            self._take(session.rows("narrow", (), rows=missing))
            found = {row: self._narrow[row] for row in row_list if row in self._narrow}
        return found

    def _take(self, found: Iterable[Narrow]) -> None:
        for values in found:
            self._narrow[values[0]] = values
            self._rows[values[1]] = values[0]

    def rows_tagged(self, session: Session, rows: Iterable[int], tags: AbstractSet[str]) -> set[int]:
        """Return those of some rows that have all of some tags."""
        row_list = list(rows)
        missing = [row for row in row_list if row not in self._tags]
        if missing:
            if len(self._tags) + len(missing) > MOST:
                self._tags, missing = {}, row_list
            read = session.rows("tags_at", rows=missing)
            self._tags.update((row, _NO_TAGS if text == "[]" else frozenset(tags_of(text))) for row, text in read)
        return {row for row in row_list if tags <= self._tags.get(row, _NO_TAGS)}

    def rows_holding_name(self, name: str) -> dict[int, bool]:
        """Return row -> whether its words hold a name, of rows that were looked at; what is put there is kept."""
        if name not in self._holding and len(self._holding) >= _NAMES:
            del self._holding[next(iter(self._holding))]
        holders = self._holding.setdefault(name, {})
        if len(holders) > MOST:
            holders.clear()
        return holders

    def stems(
        self, rows: Sequence[int], read: Callable[[Sequence[int]], Mapping[int, frozenset[str]]]
    ) -> dict[int, frozenset[str]]:
        """Return row -> the stems of its text, in the order of the rows; ``read`` returns those of others."""
        missing = [row for row in rows if row not in self._stems]
        if missing:
            found = read(missing)
            self._stem_count += sum(map(len, found.values()))
            if self._stem_count > _STEMS:
                cached = {row: self._stems[row] for row in rows if row in self._stems}
                self._stems, self._stem_count = cached, sum(map(len, [*cached.values(), *found.values()]))
            self._stems.update(found)
        return {row: self._stems[row] for row in rows if row in self._stems}

    def rows_of(self, ids: Iterable[str]) -> dict[str, int | None]:
        """Return id -> row of some memories; None of one that was not read yet, or has changed since."""
        return {identity: self._rows.get(identity) for identity in ids}

    def beside(self, session: Session, places: Sequence[tuple[str, int]]) -> list[int]:
        """Return the rows at some places (session, turn)."""
        missing = [place for place in places if place not in self._places]
        if missing:
            if len(self._places) + len(missing) > MOST:
                self._places, missing = {}, list(places)
            self._places.update(dict.fromkeys(missing))
            self.has_absent = True
            found = session.rows("beside", (), places=missing)
            self._take(found)
            self._places.update(((values[2], values[3]), values[0]) for values in found)
        return [row for row in map(self._places.__getitem__, places) if row is not None]

    def forget(self, changed: Sequence[int], positions: Positions | None) -> None:
        """Forget rows that were changed or are gone, and the places where no row was: there may be one now.

        Without ``positions`` one may be in the index twice: then all vectors go.
        """
        if positions is None:
            self._slots.fill(_UNREAD)
        else:
            self._slots[positions[positions < len(self._slots)]] = _UNREAD
        for row in changed:
            self._tags.pop(row, None)
            self._stem_count -= len(self._stems.pop(row, ()))
            for holders in self._holding.values():
                holders.pop(row, None)
            if (values := self._narrow.pop(row, None)) is not None:
                self._rows.pop(values[1], None)
        self._places = {place: row for place, row in self._places.items() if row in self._narrow}
        self.has_absent = False
