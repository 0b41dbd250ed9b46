"""Writing a file anew without its gaps, in place: a killed process leaves it as it was before."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Final

import apsw

from perdure.records.compact_result import StoreSize
from perdure.records.errors import DiskFull, StoreBusy
from perdure.stores.sqlite.connection import MEMORY, translate_errors
from perdure.stores.sqlite.session import fetch_value

_FULL: Final = 0.12
"""Share of a file that stays unused in its pages when it has just been written anew."""
_BUSY_MS: Final = 5000  # how long compacting waits for another process that writes
_SPARE: Final = 10_000_000  # bytes that must stay free besides


def file_size(connection: apsw.Connection) -> StoreSize:
    """Return how large a file is, and about how much of it compacting gives back; every page is looked at."""
    page = connection.pragma("page_size")
    size, free = connection.pragma("page_count") * page, connection.pragma("freelist_count") * page
    gaps = int(fetch_value(connection, "unused_bytes")) - _FULL * (size - free)
    return StoreSize(size, free + max(0, int(gaps)))


def compact_file(path: str, connection: apsw.Connection) -> tuple[str, ...]:
    """Write a file anew and return what to know besides.

    Others go on reading, and wait with writing. The new pages go through the log of writes, so that they are all there
    or none is.

    Args:
        path: The file.
        connection: Of this process, which goes on being used for reading; only a store in memory is written with it.

    Raises:
        DiskFull: There is not room for the copy; nothing was done.
        StoreBusy: Another process was writing; nothing was done.
    """
    if path == MEMORY:
        connection.execute("VACUUM")
        return ()
    _check_room(path, connection)
    with translate_errors(path), closing(apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)) as own:
        own.set_busy_timeout(_BUSY_MS)
        own.execute("PRAGMA synchronous = FULL")
        own.execute("PRAGMA temp_store = FILE")  # the copy is as large as the store
        try:
            own.execute("VACUUM")
        except (apsw.BusyError, apsw.LockedError) as error:
            raise StoreBusy(
                f"Another process was writing to {path}; nothing was done.",
                remedy="Run `perdure compact --apply` again when nobody writes.",
            ) from error
        return _shorten(own, path)


def _shorten(connection: apsw.Connection, path: str) -> tuple[str, ...]:
    """Fold the log into the file, which then gets shorter."""
    try:
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    except apsw.BusyError:
        return (f"Another process is reading: {path} gets shorter when it has ended.",)
    return ()


def _check_room(path: str, connection: apsw.Connection) -> None:
    size = connection.pragma("page_count") * connection.pragma("page_size") + _SPARE
    folder, temporary = Path(path).resolve().parent, Path(tempfile.gettempdir())
    # The log grows by the whole file beside it, and the copy lies with the system's temporary files.
    for place, wanted in ((folder, 2 * size), (temporary, size)):
        if shutil.disk_usage(place).free < wanted:
            raise DiskFull(
                f"Compacting {path} needs {wanted / 1e6:,.0f} MB free in {place}; nothing was done.",
                remedy="Free some space, or set SQLITE_TMPDIR and TMPDIR to a folder with more.",
            )
