"""What searches have read of the rows of one namespace, kept in memory: vectors, narrow columns, places in sessions.

All of it is derived, and most of it never changes: a row keeps its vector, its id, its session, its turn and its
speaker. What does change is told by the change feed of the namespace; see :meth:`Resident.forget`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from perdure.stores.codes import lengths_of, similarities_of_each
from perdure.stores.search import Narrow
from perdure.stores.statements import Session

MOST: Final = 50_000
"""So many rows are kept, then it begins anew: some 40 MB."""
_FIRST: Final = 256


class Resident:
    """Rows by their address in the file; each is read once, until it changes."""

    def __init__(self, space: int, dimensions: int) -> None:
        self.space = space
        self._slots: dict[int, int] = {}
        self._used = 0
        self._matrix = np.empty((_FIRST, dimensions), np.int8)
        self._lengths = np.empty(_FIRST, np.float32)
        self._narrow: dict[int, Narrow] = {}
        self._rows: dict[str, int] = {}
        self._places: dict[tuple[str, int], int | None] = {}

    @property
    def nbytes(self) -> int:
        """Bytes that the vectors hold."""
        return self._matrix.nbytes + self._lengths.nbytes

    def vectors(self, session: Session, rows: Sequence[int]) -> tuple[list[int], NDArray[np.int8]]:
        """Return those rows that have a vector, and their vectors, int8 [n, d]."""
        self.read(session, rows)
        found = [row for row in rows if row in self._slots]
        return found, self._matrix[[self._slots[row] for row in found]]

    def cosines(self, queries: NDArray[np.float32], rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the cosines of queries [q, d] with rows of their own [q, n], which were read."""
        slots = list(map(self._slots.__getitem__, rows.ravel().tolist()))
        vectors = self._matrix[slots].reshape(*rows.shape, self._matrix.shape[1])  # rows may be none
        return similarities_of_each(queries, vectors, self._lengths[slots].reshape(rows.shape))

    def read(self, session: Session, rows: Sequence[int]) -> None:
        """Read the vectors of some rows, as far as they are not kept already."""
        missing = [row for row in rows if row not in self._slots]
        if missing:
            if self._used + len(missing) > MOST:
                self._slots, self._used, missing = {}, 0, list(rows)
            self._keep(session.rows("vectors_at", space=self.space, rows=missing))

    def _keep(self, found: Sequence[tuple[int, bytes]]) -> None:
        if not found:
            return
        count, end = self._used, self._used + len(found)
        if end > len(self._matrix):
            larger = np.empty((max(end, 2 * len(self._matrix)), self._matrix.shape[1]), np.int8)
            larger[:count] = self._matrix[:count]
            self._matrix, self._lengths = larger, np.resize(self._lengths, len(larger))
        self._matrix[count:end] = np.frombuffer(b"".join(data for _, data in found), np.int8).reshape(len(found), -1)
        self._lengths[count:end] = lengths_of(self._matrix[count:end])
        self._slots.update((row, slot) for slot, (row, _) in enumerate(found, count))
        self._used = end

    def narrow(self, session: Session, rows: Iterable[int]) -> dict[int, Narrow]:
        """Return row -> its narrow columns, whatever its status."""
        wanted = list(rows)
        missing = [row for row in wanted if row not in self._narrow]
        if missing:
            if len(self._narrow) + len(missing) > MOST:
                self._narrow, self._rows, missing = {}, {}, wanted
            self._take(session.rows("narrow", (), rows=missing))
        return {row: self._narrow[row] for row in wanted if row in self._narrow}

    def _take(self, found: Sequence[Narrow]) -> None:
        for values in found:
            self._narrow[values[0]] = values
            self._rows[values[1]] = values[0]

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
            found = session.rows("beside", (), places=missing)
            self._take(found)
            self._places.update(((values[2], values[3]), values[0]) for values in found)
        return [row for place in places if (row := self._places[place]) is not None]

    def forget(self, changed: Iterable[int]) -> None:
        """Forget rows that were changed or are gone, and the places where no row was: there may be one now."""
        for row in changed:
            self._slots.pop(row, None)
            if (values := self._narrow.pop(row, None)) is not None:
                self._rows.pop(values[1], None)
        gone = {row for row in self._places.values() if row not in self._narrow}
        self._places = {place: row for place, row in self._places.items() if row not in gone and row is not None}
