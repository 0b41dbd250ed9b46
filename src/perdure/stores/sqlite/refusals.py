"""SQLite's errors as ours, which say whose fault it is and what to do."""

from __future__ import annotations

import shlex
import struct
from pathlib import Path
from typing import Final

import apsw

from perdure.records.deadline import deadline_error, is_over
from perdure.records.errors import (
    BUG,
    REPAIR,
    DiskFull,
    NotAStore,
    PerdureError,
    StoreBusy,
    StoreClosed,
    StoreDamaged,
    StoreError,
    StoreReadOnly,
    StoreUnavailable,
)
from perdure.stores.rows import unreadable

BUSY_MS: Final = 30_000


class translate_errors:  # noqa: N801  # a context manager, named as what it does
    """Turn SQLite's errors into ours, which say whose fault it is and what to do. A recall enters it a dozen times."""

    __slots__ = ("path",)

    def __init__(self, path: str) -> None:
        self.path = path

    def __enter__(self) -> None:
        """Nothing is to be done."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Raise ours instead."""
        if isinstance(error, apsw.InterruptError | apsw.BusyError) and is_over():
            raise deadline_error() from error
        if isinstance(error, apsw.Error):
            raise _own_error(error, self.path) from error
        if isinstance(error, UnicodeDecodeError):
            raise unreadable(f"A text in {self.path}", error) from error


_GO_BACK: Final = "`perdure restore-backup FILE --force` puts a backup in its place, and keeps this file beside it."
_HEADER: Final = struct.Struct(">16xH10xI")  # bytes of a page, and how many pages there are
_LARGEST: Final = 65_536  # bytes of a page, written as 1


def cannot_be_opened(error: apsw.Error, path: str) -> PerdureError:
    """Return the error for a damaged file that SQLite does not open, so that nothing can check or repair its rows."""
    if isinstance(error, apsw.NotADBError):
        remedy = f"Choose another file; this one is unchanged. If it was a store, its beginning is damaged: {_GO_BACK}"
        return NotAStore(f"{path} is not a SQLite file.", remedy=remedy)
    length, found = _told_length(path), Path(path).stat().st_size
    if found >= length:
        return StoreDamaged(f"{path} is damaged so that it cannot be opened ({error}).", remedy=_GO_BACK)
    refilled = f"`truncate -s {length} {shlex.quote(path)}` and then `perdure repair --apply` bring what the rest holds"
    return StoreDamaged(
        f"{path} has lost its end: {found} of {length} bytes are there.",
        remedy=f"{_GO_BACK} Without a backup, {refilled} (copy the file away first).",
    )


def _told_length(path: str) -> int:
    """Return how many bytes a file has by its own header."""
    with Path(path).open("rb") as file:
        found = _HEADER.unpack(file.read(_HEADER.size).ljust(_HEADER.size, b"\0"))
    size, pages = map(int, found)
    return (_LARGEST if size == 1 else size) * pages


MORE_ROOM: Final = "Free some space or raise the quota, then try again."
NO_ACCESS: Final = "Check the file's and the folder's permissions."
_GONE: Final = ("no such table", "no such column", "vtable constructor failed", "malformed JSON")
"""How SQLite begins where something is missing that each of our statements was tested with, or a value is none."""
_OURS: Final[tuple[tuple[tuple[type[apsw.Error], ...], type[PerdureError], str, str], ...]] = (
    (
        (apsw.BusyError, apsw.LockedError),
        StoreBusy,
        f"{{path}} was locked by another process for {BUSY_MS // 1000} s.",
        "Try again; nothing was written.",
    ),
    ((apsw.ConnectionClosedError,), StoreClosed, "The store was closed.", "Open it again."),
    ((apsw.NotADBError,), NotAStore, "{path} is not a SQLite file.", "Choose another file; this one is unchanged."),
    (
        (apsw.CorruptError,),
        StoreDamaged,
        "{path} is damaged ({text}).",
        "Stop writing, copy the file away, and restore a backup; `perdure check` shows details.",
    ),
    (
        (apsw.FullError,),
        DiskFull,
        "{path} could not be written ({text}); the transaction was rolled back.",
        MORE_ROOM,
    ),
    (
        (apsw.IOError,),
        StoreUnavailable,
        "The disk of {path} failed ({text}); nothing was written.",
        "Check the disk and the system's log, then run `perdure check`.",
    ),
    (
        (apsw.ReadOnlyError, apsw.PermissionsError, apsw.AuthError),
        StoreReadOnly,
        "{path} cannot be written ({text}).",
        NO_ACCESS,
    ),
    ((apsw.CantOpenError,), StoreError, "{path} cannot be opened ({text}).", NO_ACCESS),
    (
        (apsw.Error,),
        StoreError,
        "SQLite refused a statement on {path}: {text}.",
        f"{BUG} Nothing was written.",
    ),
)
"""SQLite's errors -> ours, the message, what to do. The first row that fits applies."""
_NO_ROOM: Final = frozenset(
    (apsw.SQLITE_IOERR_WRITE, apsw.SQLITE_IOERR_FSYNC, apsw.SQLITE_IOERR_SHMSIZE, apsw.SQLITE_IOERR_TRUNCATE)
)
"""What SQLite says where a quota, a limit of files' sizes or a disk that is told late leaves no room to write."""


def _own_error(error: apsw.Error, path: str) -> PerdureError:
    text = str(error) or type(error).__name__
    if isinstance(error, apsw.SQLError) and text.startswith(_GONE):
        return StoreDamaged(f"{path} is damaged ({text}).", remedy=REPAIR)
    fails = apsw.FullError() if is_full(error) else error
    _, ours, message, remedy = next(row for row in _OURS if isinstance(fails, row[0]))
    return ours(message.format(path=path, text=text), remedy=remedy)


def is_full(error: apsw.Error) -> bool:
    """Whether the disk, a quota or a limit of files' sizes has no room to write."""
    return isinstance(error, apsw.FullError) or getattr(error, "extendedresult", 0) in _NO_ROOM
