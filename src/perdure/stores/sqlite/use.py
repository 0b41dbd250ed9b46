"""A store's connection for the length of a call."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw

from perdure.records.deadline import exceeded, seconds_left
from perdure.stores.sqlite.connection import translate_errors

if TYPE_CHECKING:
    from perdure.stores.sqlite.store import SqliteStore


class Use:
    """The connection of a store under its lock, its errors ours. A recall asks for it a dozen times."""

    __slots__ = ("_errors", "_store")

    def __init__(self, store: SqliteStore) -> None:
        self._store, self._errors = store, translate_errors(store.path)

    def __enter__(self) -> apsw.Connection:
        """Wait for the lock, as long as the call may take."""
        timeout = seconds_left()  # a thread of this process may hold it for long
        if not self._store._lock.acquire(timeout=-1 if timeout is None else timeout):  # noqa: SLF001  # of its package
            raise exceeded()
        return self._store._connection  # noqa: SLF001  # as above

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Release the lock; remember what kept a write from being done."""
        self._store._lock.release()  # noqa: SLF001  # as above
        if error is not None:
            self._store._commits.note(error)  # noqa: SLF001  # as above
        self._errors.__exit__(kind, error, trace)
