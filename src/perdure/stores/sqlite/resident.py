"""What searches have read of the rows of one namespace, kept in memory: vectors, narrow columns, places in sessions.

All of it is derived, and most of it never changes: a row keeps its vector, its id, its session, its turn and its
speaker. What does change is told by the change feed of the namespace; see :meth:`Resident.forget`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from perdure.stores.search import Narrow
from perdure.stores.session import Session

MOST: Final = 50_000
"""So many rows are kept, then it begins anew: some 40 MB."""
_FIRST: Final = 256


class Resident:
    """Rows by their address in the file; each is read once, until it changes."""

    def __init__(self, space: int, dimensions: int) -> None:
        self.space = space
        self._slots: dict[int, int] = {}
        self._matrix = np.empty((_FIRST, dimensions), np.int8)
        self._narrow: dict[int, Narrow] = {}
        self._places: dict[tuple[str, int], int | None] = {}

    @property
    def nbytes(self) -> int:
        """Bytes that the vectors hold."""
        return self._matrix.nbytes

    def vectors(self, session: Session, rows: Sequence[int]) -> tuple[list[int], NDArray[np.int8]]:
        """Return those rows that have a vector, and their vectors, int8 [n, d]."""
        missing = [row for row in rows if row not in self._slots]
        if missing:
            if len(self._slots) + len(missing) > MOST:
                self._slots, missing = {}, list(rows)
            self._keep(session.rows("vectors_at", space=self.space, rows=missing))
        found = [row for row in rows if row in self._slots]
        return found, self._matrix[[self._slots[row] for row in found]]

    def _keep(self, found: Sequence[tuple[int, bytes]]) -> None:
        count = len(self._slots)
        end = count + len(found)
        if end > len(self._matrix):
            larger = np.empty((max(end, 2 * len(self._matrix)), self._matrix.shape[1]), np.int8)
            larger[:count] = self._matrix[:count]
            self._matrix = larger
        for slot, (row, data) in enumerate(found, count):
            self._matrix[slot] = np.frombuffer(data, np.int8)
            self._slots[row] = slot

    def narrow(self, session: Session, rows: Iterable[int]) -> dict[int, Narrow]:
        """Return row -> its narrow columns, whatever its status."""
        wanted = list(rows)
        missing = [row for row in wanted if row not in self._narrow]
        if missing:
            if len(self._narrow) + len(missing) > MOST:
                self._narrow, missing = {}, wanted
            self._narrow.update((values[0], values) for values in session.rows("narrow", (), rows=missing))
        return {row: self._narrow[row] for row in wanted if row in self._narrow}

    def beside(self, session: Session, places: Sequence[tuple[str, int]]) -> list[int]:
        """Return the rows at some places (session, turn)."""
        missing = [place for place in places if place not in self._places]
        if missing:
            if len(self._places) + len(missing) > MOST:
                self._places, missing = {}, list(places)
            self._places.update(dict.fromkeys(missing))
            for values in session.rows("beside", (), places=missing):
                self._narrow[values[0]] = values
                self._places[values[2], values[3]] = values[0]
        return [row for place in places if (row := self._places[place]) is not None]

    def forget(self, changed: Iterable[int]) -> None:
        """Forget rows that were changed or are gone, and the places where no row was: there may be one now."""
        for row in changed:
            self._narrow.pop(row, None)
        gone = {row for row in self._places.values() if row not in self._narrow}
        self._places = {place: row for place, row in self._places.items() if row not in gone and row is not None}
