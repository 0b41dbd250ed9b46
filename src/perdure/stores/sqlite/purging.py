"""Removing what deleted rows leave in a file, and searching the file for passages of erased texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import apsw

from perdure.records.erasure import Purged
from perdure.stores.erasing import passages, places, rows_with
from perdure.stores.sqlite.connection import transaction, without_waiting
from perdure.stores.sqlite.session import SqliteSession, fetch_all, run

_CHUNK: Final = 1 << 22


@contextmanager
def overwriting(connection: apsw.Connection) -> Iterator[None]:
    """Have deleted content overwritten with zeros while the block runs."""
    before = connection.pragma("secure_delete")
    connection.pragma("secure_delete", 1)
    try:
        yield
    finally:
        connection.pragma("secure_delete", before)


def purge(connection: apsw.Connection, path: str, namespace: str, texts: Sequence[str]) -> Purged:
    """Drop derived data, empty the log of writes, and search; where words are left, write the file anew."""
    with overwriting(connection), transaction(connection):
        SqliteSession(connection, namespace).run("drop_codes")
        SqliteSession(connection, namespace).run("drop_cell_map")
        run(connection, "merge_words")
    wanted = passages(texts)
    known = rows_with(lambda name, **bindings: fetch_all(connection, name, bindings), wanted)
    free = [passage for passage in wanted if passage not in known]
    notes = [] if _checkpoint(connection) else [_BUSY.format(path=path)]
    found = _in_files(path, free)
    if found:
        try:
            connection.execute("VACUUM")
            notes = [] if _checkpoint(connection) else [_BUSY.format(path=path)]
            found = _in_files(path, free)
        except apsw.Error as error:
            notes.append(f"{path} could not be written anew ({error}); erase again when no other process uses it.")
    return Purged(len(wanted), (*places(known), *found), tuple(notes))


_BUSY: Final = "The log of writes of {path} could not be emptied while another process reads; erase again later."


def _checkpoint(connection: apsw.Connection) -> bool:
    """Write the log into the file and empty it; False where another process keeps it."""
    try:
        with without_waiting(connection):
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    except apsw.BusyError:
        return False
    return True


def _in_files(path: str, wanted: Sequence[str]) -> tuple[str, ...]:
    """Return where the file and its log hold one of some passages, one sentence each."""
    probes = [passage.encode("utf-8", "replace") for passage in wanted]
    files = (Path(path), Path(f"{path}-wal")) if path != ":memory:" else ()
    holding = [file for file in files if file.is_file() and _holds(file, probes)]
    return tuple(f"The file {file} holds words of an erased memory." for file in holding)


def _holds(file: Path, probes: Sequence[bytes]) -> bool:
    overlap = max((len(probe) for probe in probes), default=1) - 1
    with file.open("rb") as stream:
        rest = b""
        while chunk := stream.read(_CHUNK):
            block = rest + chunk
            if any(probe in block for probe in probes):
                return True
            rest = block[-overlap:] if overlap else b""
    return False
