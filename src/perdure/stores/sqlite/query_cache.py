"""What was read from a file, kept until anything but accesses is written to it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeVar

import apsw

T = TypeVar("T")
_MOST: Final = 1000  # answers that are kept
_VERSION: Final = "PRAGMA data_version"  # one number, which the commits of all other connections change


class QueryResultCache:
    """Keeps answers of statements that a recall would ask each time, for as long as nobody has written to the file.

    One pragma says whether another connection has, of this process or of another one, and a counter whether this one
    has. Accesses are not counted: what is kept must not depend on them. Its methods run under the store's lock.
    """

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._state: tuple[Any, int] | None = None
        self._of_accesses = 0
        self._kept: dict[Hashable, Any] = {}

    def get(self, key: Hashable, read: Callable[[], T]) -> T:
        """Return what ``read`` says, or said when the file was as it is now."""
        if self._connection.txn_state() == apsw.SQLITE_TXN_WRITE:  # what is read now may be rolled back
            return read()
        state = self.current_state()
        if state != self._state or len(self._kept) >= _MOST:
            self._kept = {}
            self._state = state
        if key not in self._kept:
            self._kept[key] = read()
        found: T = self._kept[key]
        return found

    def current_state(self) -> tuple[Any, int]:
        """Return what changes with every commit: of other connections, and of this one."""
        return self._connection.execute(_VERSION).get, self._connection.total_changes() - self._of_accesses

    def keep_only(self, key: Hashable, before: tuple[Any, int]) -> None:
        """After a commit of this connection that did not touch it, keep one answer.

        What was kept when the file was not as it was ``before`` that commit, or if another connection wrote meanwhile,
        may be out of date: an earlier commit of this connection may have touched it.
        """
        state = self.current_state()
        if before == self._state and state[0] == before[0] and key in self._kept:
            self._kept, self._state = {key: self._kept[key]}, state

    def forget(self) -> None:
        """Keep nothing of what was read."""
        self._kept = {}

    @contextmanager
    def counting_accesses(self) -> Iterator[None]:
        """Leave out what is written inside: accesses and the log of recalls."""
        before = self._connection.total_changes()
        try:
            yield
        finally:
            self._of_accesses += self._connection.total_changes() - before
