"""A store's connection for the length of a call, and what waits to be written at the end of the last one."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sized
from contextlib import contextmanager, nullcontext
from itertools import count
from time import sleep
from typing import TYPE_CHECKING, Final

import apsw

from perdure.records.deadline import deadline_error, seconds_left, unlimited, within
from perdure.records.errors import DeadlineExceeded, StoreBusy, UncountedWarning
from perdure.stores.sqlite.compacting import overwriting
from perdure.stores.sqlite.connection import begin_at_once, pause_before
from perdure.stores.sqlite.refusals import BUSY_MS, translate_errors

if TYPE_CHECKING:
    from perdure.stores.sqlite.store import SqliteStore

_CLOSING_SECONDS: Final = 0.5  # how long a store that is closed waits for a lock to count its last recalls


class LockedConnection:
    """The connection of a store under its lock, its errors ours. A recall asks for it a dozen times."""

    __slots__ = ("_errors", "_store")

    def __init__(self, store: SqliteStore) -> None:
        self._store, self._errors = store, translate_errors(store.path)

    def __enter__(self) -> apsw.Connection:
        """Wait for the lock, as long as the call may take."""
        timeout = seconds_left()  # a thread of this process may hold it for long
        if not self._store._lock.acquire(timeout=-1 if timeout is None else timeout):  # noqa: SLF001  # of its package
            raise deadline_error()
        return self._store._connection  # noqa: SLF001  # as above

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Release the lock; remember what kept a write from being done."""
        self._store._lock.release()  # noqa: SLF001  # as above
        if error is not None:
            self._store._commits.note(error)  # noqa: SLF001  # as above
        self._errors.__exit__(kind, error, trace)


@contextmanager
def writing(use: LockedConnection, *, erases: bool = False) -> Iterator[apsw.Connection]:
    """The connection in a write transaction, which the block ends; of one that ``erases`` what it deletes is zeroed.

    Who waits for another process that writes lets others of this one read meanwhile.
    """
    for tries in count():
        with use as connection, overwriting(connection) if erases else nullcontext():
            try:
                begin_at_once(connection)
            except apsw.BusyError:
                pause = pause_before(tries)
                if pause is None:
                    raise
            else:
                yield connection
                return
        sleep(pause)


def flush_at_last(path: str, flush: Callable[[], None], waiting: Sized) -> None:
    """Write the accesses that wait; their answers were given, so a lock is waited for briefly, and a loss is told."""
    try:
        with unlimited(), within(BUSY_MS / 1000, waits=_CLOSING_SECONDS):
            flush()
    except (StoreBusy, DeadlineExceeded):
        many = "1 recall was" if len(waiting) == 1 else f"{len(waiting):,} recalls were"
        told = f"{path} is being written by another process: {many} not counted; `used` will not know them."
        warnings.warn(told, UncountedWarning, stacklevel=3)
