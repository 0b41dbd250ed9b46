"""Work on a whole file: what deleted rows leave removed, the file without gaps."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Final

import apsw

from perdure.records.errors import DiskFull, StoreBusy
from perdure.records.store_rows import Purge, StoreSize
from perdure.stores.byte_search import ByteSearch
from perdure.stores.erased_texts import as_bytes, find_in_rows, holds_bytes, passages
from perdure.stores.sqlite.connection import MEMORY, SqliteSession, fetch_value, run, transaction, without_waiting
from perdure.stores.sqlite.refusals import translate_errors

_FAST: Final = 2  # how ``secure_delete`` is told where it is FAST


@contextmanager
def overwriting(connection: apsw.Connection) -> Iterator[None]:
    """Have deleted content overwritten with zeros while the block runs."""
    before = connection.pragma("secure_delete")
    connection.pragma("secure_delete", 1)
    try:
        yield
    finally:
        # 2 tells that it is FAST, but as a value it is taken for ON
        connection.pragma("secure_delete", "FAST" if before == _FAST else before)


def purge(connection: apsw.Connection, path: str, namespace: str, texts: Sequence[str], names: Sequence[str]) -> Purge:
    """Drop derived data, empty the log of writes, and search; where words are left, write the file anew.

    A page keeps copies of rows that were moved inside it. A name may also stand in another word: the file is written
    anew all the same, and what it holds then stands in rows.
    """
    with overwriting(connection), transaction(connection):
        SqliteSession(connection, namespace).run("clear_segments")
        SqliteSession(connection, namespace).run("clear_cells")
        run(connection, "merge_words")
        _overwrite_free_pages(connection)
    phrases, short = passages(texts)
    rows = find_in_rows(lambda name: run(connection, name), phrases, texts)
    free = ByteSearch({as_bytes(phrase) for phrase in phrases} - rows.held)
    notes = [] if _checkpoint(connection) else [_BUSY.format(path=path)]
    found = _in_files(path, free)
    if found or _in_files(path, ByteSearch(map(as_bytes, names))):
        try:
            connection.execute("VACUUM")
            notes = [] if _checkpoint(connection) else [_BUSY.format(path=path)]
            found = _in_files(path, free)
        except apsw.Error as error:
            notes.append(f"{path} could not be written anew ({error}); erase again when no other process uses it.")
    places = (*rows.sentences(), *(("", sentence) for sentence in found))
    return Purge(len(phrases), places, tuple(notes), short)


_LARGEST_FILLING: Final = 1 << 26  # bytes of zeros that are written at once


def _overwrite_free_pages(connection: apsw.Connection) -> None:
    """Fill the pages that earlier deletes left free with zeros: the words of an index and vectors are not searched for.

    Deleted content is overwritten where it lies, but a page that becomes free stays as it was.
    """
    if not connection.pragma("freelist_count"):
        return
    usable = connection.pragma("page_size") - 4  # a page of a large value begins with the number of the next one
    run(connection, "create_filling")
    while free := connection.pragma("freelist_count"):
        run(connection, "fill", {"size": min(free * usable, _LARGEST_FILLING)})
    run(connection, "drop_filling")


_KEPT_SECONDS: Final = 1.0
_BUSY: Final = "The log of writes of {path} could not be emptied while another process reads; erase again later."


def _checkpoint(connection: apsw.Connection) -> bool:
    """Write the log into the file and empty it; False where another process keeps it for more than a second."""
    deadline = monotonic() + _KEPT_SECONDS
    while True:
        try:
            with without_waiting(connection):
                connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        except apsw.BusyError:  # where another process writes its log into the file, the library does not wait
            if monotonic() > deadline:
                return False
            sleep(0.02)
        else:
            return True


def _in_files(path: str, search: ByteSearch) -> tuple[str, ...]:
    """Return where the file and its log hold one of some words, one sentence each."""
    files = (Path(path), Path(f"{path}-wal")) if path != ":memory:" else ()
    holding = [file for file in files if file.is_file() and holds_bytes(file, search)]
    return tuple(f"The file {file} holds words of an erased memory." for file in holding)


_FULL: Final = 0.12  # share of a file that stays unused in its pages when it has just been written anew
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
    or none is. The connection goes on being used for reading; only a store in memory is written with it.

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
                remedy="Run `perdure compact --apply` again when no other process is writing.",
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
    for place, needed in ((folder, 2 * size), (temporary, size)):
        if shutil.disk_usage(place).free < needed:
            raise DiskFull(
                f"Compacting {path} needs {needed / 1e6:,.0f} MB free in {place}; nothing was done.",
                remedy="Free some space, or set SQLITE_TMPDIR and TMPDIR to a folder with more.",
            )
