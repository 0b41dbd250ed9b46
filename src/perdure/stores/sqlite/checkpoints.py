"""What follows a file's commits: checkpoints of its log, beside the calls, and that it takes writes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from typing import Final

import apsw

from perdure.records.store_rows import Unwritable

PAGES: Final = 2000  # a log of more pages is written into the file, in a thread of its own
MOST_PAGES: Final = 4 * PAGES  # from here on the call that made the log so long does it
_BUSY_MS: Final = 100


class Checkpoints:
    """Writes the log into the file whenever it has grown, and remembers that a write was refused until one is done.

    A checkpoint waits for the disk twice: 40 ms, which a recall would spend while others wait for it. The thread ends
    with its checkpoint.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._lock = threading.Lock()  # held while a checkpoint runs
        self.refused: Unwritable = ""  # why the last write was refused

    def note(self, error: BaseException) -> None:
        """Remember that a write was refused, until one is committed."""
        if isinstance(error, apsw.FullError | apsw.IOError):
            self.refused = "full"
        elif isinstance(error, apsw.ReadOnlyError):
            self.refused = "read-only"

    def watch(self, connection: apsw.Connection) -> None:
        """Look at the log's length after each commit of a connection, in place of SQLite's own checkpoints."""
        connection.set_wal_hook(self._on_commit)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Wait for a checkpoint that runs, and begin none for the length of a block."""
        with self._lock:
            yield

    def _on_commit(self, connection: apsw.Connection, name: str, pages: int) -> int:
        self.refused = ""
        if pages >= MOST_PAGES:
            with suppress(apsw.Error):  # the commit is done; the next one tries again
                connection.wal_checkpoint(name)
        elif pages >= PAGES and not self._lock.locked():
            threading.Thread(target=self._run, name="perdure-checkpoint", daemon=True).start()
        return apsw.SQLITE_OK

    def _run(self) -> None:
        """Write most of the log without a lock, then what has come meanwhile, so that the log begins anew."""
        if not self._lock.acquire(blocking=False):
            return
        try:
            with suppress(apsw.Error), closing(_open(self._path)) as own:
                own.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
                own.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_FULL)
        finally:
            self._lock.release()


def _open(path: str) -> apsw.Connection:
    connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
    connection.set_busy_timeout(_BUSY_MS)
    connection.pragma("user_version")  # the library sees the log with the first read only
    return connection
