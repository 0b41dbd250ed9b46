"""Embedding spaces of a store: which are known, which one searches use, and who still lacks a vector."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager

import apsw

from perdure.records.errors import SpaceMismatch
from perdure.records.memory import searchable
from perdure.records.vector import Space
from perdure.stores.packing import unpacked
from perdure.stores.sqlite.connection import transaction
from perdure.stores.sqlite.reading import fetched, run, single


def active_number(connection: apsw.Connection) -> tuple[int, Space] | None:
    """Return the space that searches use, with its number; None before the first vector."""
    rows = fetched(connection, "active_space")
    return (int(rows[0][0]), Space(*rows[0][1:])) if rows else None


def active(connection: apsw.Connection) -> Space | None:
    """Return the space that searches use."""
    found = active_number(connection)
    return None if found is None else found[1]


def number(connection: apsw.Connection, space: Space) -> int:
    """Return a space's number, making it known if it is new."""
    known = single(connection, "space_of", {"name": space.name})
    if known is None:
        key = {"name": space.name, "model": space.model, "dimensions": space.dimensions, "version": space.version}
        run(connection, "insert_space", key)
        known = single(connection, "space_of", {"name": space.name})
    return int(known)


def add(connection: apsw.Connection, space: Space, *, activate: bool) -> None:
    """Make a space known and, if it is the first or ``activate`` says so, the one that searches use.

    Raises:
        SpaceMismatch: Another space is active, and ``activate`` is False.
    """
    before = active(connection)
    if before is not None and before != space and not activate:
        raise SpaceMismatch(
            f"The store's vectors are of {before.name}, these are of {space.name}.",
            remedy="Run `perdure reembed` to bring the store into the new space.",
        )
    run(connection, "activate_space", {"number": number(connection, space)})


def without_vector(
    connection: apsw.Connection, namespace: str, space: Space, after: int, limit: int
) -> list[tuple[int, str, str]]:
    """Return the next memories without a vector in a space: (cursor, id, searchable text)."""
    known = single(connection, "space_of", {"name": space.name})
    key = {"namespace": namespace, "space": -1 if known is None else known, "after": after, "limit": limit}
    rows = fetched(connection, "without_vector", key)
    return [(row, identity, searchable(unpacked(text, pack), speaker)) for row, identity, text, pack, speaker in rows]


def count_without_vector(connection: apsw.Connection, namespace: str | None) -> int:
    """Return how many active memories have no vector in the active space."""
    found = active_number(connection)
    key = {"namespace": namespace, "space": -1 if found is None else found[0]}
    return int(single(connection, "count_without_vector", key))


class StoreSpaces(ABC):
    """What a store over a file says about its embedding spaces."""

    @abstractmethod
    def _use(self) -> AbstractContextManager[apsw.Connection]: ...

    def space(self) -> Space | None:
        """Return the store's embedding space, None before the first vector."""
        with self._use() as connection:
            return active(connection)

    def add_space(self, space: Space, *, activate: bool) -> None:
        """Make an embedding space known, and the one that searches use if asked; a no-op where it is so already.

        Raises:
            SpaceMismatch: ``activate`` is False, and another space is active: its vectors and these cannot be compared.
        """
        with self._use() as connection:
            if active(connection) != space:
                with transaction(connection):
                    add(connection, space, activate=activate)

    def prepare_space(self, space: Space) -> None:
        """Make a space known beside the active one, so that it can be filled while searches go on in the old one."""
        with self._use() as connection, transaction(connection):
            number(connection, space)

    def without_vector(self, namespace: str, space: Space, after: int, limit: int) -> list[tuple[int, str, str]]:
        """Return the next memories without a vector in a space: (cursor, id, searchable text)."""
        with self._use() as connection:
            return without_vector(connection, namespace, space, after, limit)

    def count_without_vector(self, namespace: str | None) -> int:
        """Return how many active memories have no vector in the active space."""
        with self._use() as connection:
            return count_without_vector(connection, namespace)
