"""Backing up a store's file while others write to it, and putting a backup in its place. Both verify before they name.

The copy is made with SQLite's online backup inside one read transaction, so that it is one moment of the store. It
grows under a name of its own, is checked there, flushed, and renamed: under the target's name there is never half of
it. A backup needs no ``-wal`` file beside it and can be read where nothing may be written.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeVar

import apsw

from perdure.records.damage import WHOLE
from perdure.records.errors import (
    REPAIR,
    DiskFull,
    InvalidInput,
    NotAStore,
    NotFound,
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreReadOnly,
    StoreTooNew,
)
from perdure.records.growing_file import growing_path
from perdure.records.installation import how_to_upgrade
from perdure.records.store_files import APPLICATION_ID, SIDE_FILES, refuse_replaced_store
from perdure.records.wording import argument
from perdure.stores.sqlite.alone import check_log
from perdure.stores.sqlite.checking import find_faults
from perdure.stores.sqlite.connection import SqliteSession, fetch_all, fetch_value, snapshot
from perdure.stores.sqlite.kept_copies import BEFORE_RESTORE, free_name
from perdure.stores.sqlite.lines import add_functions
from perdure.stores.sqlite.refusals import BUSY_MS, is_full, translate_errors
from perdure.stores.statements import Session, migrations

T = TypeVar("T")
_PAGES: Final = 2048  # pages that are copied at once
_ALONE_MS: Final = 2000  # how long a restore waits for others to close the store that it replaces
_NO_RIGHT: Final = (errno.EACCES, errno.EPERM, errno.EROFS)
_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@dataclass(frozen=True, slots=True)
class CopiedStore:
    """A store that was copied whole."""

    path: Path  # where to
    memories: int  # how many, the archived ones included
    operations: int  # of the journal
    size: int  # of the file, in bytes
    kept: Path | None = None  # where the store is now that was there before; None if there was none


def backup(source: apsw.Connection | str | os.PathLike[str], target: Path, *, overwrite: bool = False) -> CopiedStore:
    """Write a verified copy of a store as it is at one moment; others may read and write meanwhile.

    Raises:
        NotFound, NotAStore, StoreTooNew: The source is no store that this version knows.
        StoreDamaged: The copy does not pass the checks, so the store itself is damaged. The target is as it was.
        InvalidInput: The target is there already, is the store itself, or is a store in use.
        DiskFull, StoreReadOnly: The target cannot be written.
    """
    _refuse_itself(source.filename if isinstance(source, apsw.Connection) else source, target)
    _check_target(target, overwrite=overwrite, stale=False)
    if isinstance(source, apsw.Connection):
        return _backed_up(source, source.filename, target, overwrite=overwrite)
    place = Path(source)
    with _open_as_is(place, apsw.SQLITE_OPEN_READWRITE) as connection:
        return _backed_up(connection, str(place), target, overwrite=overwrite)


def _backed_up(source: apsw.Connection, name: str, target: Path, *, overwrite: bool) -> CopiedStore:
    like = Path(name) if name else None
    with translate_errors(name or "The store"):
        _check_identity(source, name)
    with _new_file(target) as growing:
        copied = _copy_moment(source, name or "The store", growing, target)
        copy_permissions(growing, like)
        _check_target(target, overwrite=overwrite, stale=False)
        growing.replace(target)
    return copied


def _refuse_itself(source: str | os.PathLike[str], target: Path) -> None:
    with suppress(FileNotFoundError):
        if source and target.samefile(source):
            raise InvalidInput(f"{target} is the store itself.", remedy="Choose another file.")


def copy_as_it_is(source: Path, target: Path) -> None:
    """Copy one moment of a store, of any schema that we know, unchecked; nothing beside it changes.

    Raises:
        NotFound, NotAStore, StoreTooNew: The source is no store that this version knows.
        StoreDamaged, DiskFull: It cannot be read, or the copy not written.
    """
    with (
        _open_as_is(source, apsw.SQLITE_OPEN_READONLY) as connection,
        closing(apsw.Connection(str(target))) as copy,
        copy.backup("main", connection, "main") as going,
    ):
        while not going.done:
            going.step(_PAGES)


def backup_filled(fill: Callable[[Path], None], name: str, target: Path, *, overwrite: bool = False) -> CopiedStore:
    """Write a backup of a store that is no file: a file that is filled, checked as any other, and only then named.

    ``fill`` brings the store's rows into an empty file.

    Raises:
        StoreDamaged: What was filled in does not pass the checks, so the store itself is damaged.
        InvalidInput, DiskFull, StoreReadOnly: The target cannot be written.
    """
    _check_target(target, overwrite=overwrite, stale=False)
    with _new_file(target) as growing:
        fill(growing)
        copied = _verify_copy(growing, name, target, None)
        _check_target(target, overwrite=overwrite, stale=False)
        growing.replace(target)
    return copied


def restore_backup(source: Path, target: Path, *, overwrite: bool = False) -> CopiedStore:
    """Put a verified copy of a backup where a store is wanted. The backup is not changed.

    Args:
        source: The backup.
        target: The store's file.
        overwrite: Replace a store that is there. Nothing else may use it. It is kept beside the new one, as
            ``NAME.before-restore`` or, where that is taken, with a number behind.

    Raises:
        NotFound, NotAStore, StoreTooNew: The source is no backup that this version knows.
        StoreDamaged: The backup does not pass the checks.
        StoreBusy: Another process uses the store that would be replaced.
        InvalidInput: The target is there already, or is the backup itself.
        DiskFull, StoreReadOnly: The target cannot be written.
    """
    if not source.is_file():
        raise NotFound(f"There is no backup at {source}.", remedy="Check the path.")
    _check_target(target, overwrite=overwrite, stale=True)
    if target.exists() and target.samefile(source):
        raise InvalidInput(f"{target} is the backup itself.", remedy="Pass the store's file.")
    with _new_file(target) as growing:
        with _open_as_is(source, apsw.SQLITE_OPEN_READONLY) as connection:
            copied = _copy_moment(connection, str(source), growing, target)
        copy_permissions(growing, target if target.exists() else source)
        _check_target(target, overwrite=overwrite, stale=True)
        kept = _set_aside(target)
        growing.replace(target)
    return replace(copied, kept=kept)


@contextmanager
def _open_as_is(path: Path, flags: int) -> Iterator[apsw.Connection]:
    """Open a store as it is: nothing is made, migrated or switched."""
    if not path.is_file():
        raise NotFound(f"There is no store at {path}.", remedy="Check the path.")
    name = str(path)
    # A file alone is read without the files that SQLite would else leave beside it, also from a read-only disk.
    if flags == apsw.SQLITE_OPEN_READONLY and not any(Path(name + end).exists() for end in SIDE_FILES):
        name, flags = path.absolute().as_uri() + "?immutable=1", flags | apsw.SQLITE_OPEN_URI
    with translate_errors(str(path)), closing(apsw.Connection(name, flags=flags)) as connection:
        connection.set_busy_timeout(BUSY_MS)
        add_functions(connection)
        try:
            _check_identity(connection, str(path))
        except (apsw.FullError, apsw.IOError, apsw.CantOpenError, apsw.ReadOnlyError) as error:
            if is_full(error) or not os.access(path.parent, os.W_OK):
                check_log(str(path), is_full=is_full(error))
            raise
        yield connection


def _check_identity(connection: apsw.Connection, path: str) -> None:
    if connection.pragma("application_id") != APPLICATION_ID:
        raise NotAStore(f"{path} is not a Perdure store.", remedy="Choose another file; this one is unchanged.")
    found, newest = connection.pragma("user_version"), migrations("sqlite")[-1][0]
    if found > newest:
        raise StoreTooNew(
            f"{path} has schema {found}; this Perdure supports up to {newest}.",
            remedy=f"{how_to_upgrade()}.",
        )


def _copy_moment(source: apsw.Connection, name: str, growing: Path, target: Path) -> CopiedStore:
    """Copy one moment of a store into a new file, check it there, and flush it."""
    with translate_errors(name), snapshot(source):
        expected = _counts(source)  # also begins the read transaction that the copy runs in
        with _telling_full_disk(target), closing(apsw.Connection(str(growing))) as copy:
            copy.execute("PRAGMA synchronous = OFF")  # flushed once, when it is whole
            with copy.backup("main", source, "main") as going:
                while not going.done:
                    going.step(_PAGES)
    return _verify_copy(growing, name, target, expected)


@contextmanager
def _telling_full_disk(target: Path) -> Iterator[None]:
    """Name the file that grows where its disk is full or fails: others would name the store."""
    try:
        yield
    except (apsw.FullError, apsw.IOError) as error:
        if isinstance(error, apsw.FullError) or getattr(error, "extendedresult", 0) == apsw.SQLITE_IOERR_WRITE:
            raise _disk_full(target) from error
        raise StoreError(
            f"{target} could not be read or written ({error}). What was written of it was removed.",
            remedy="Check the disks of both files, or choose another folder.",
        ) from error


def _disk_full(target: Path) -> DiskFull:
    return DiskFull(
        f"{target} could not be written: the disk of {target.parent}, or a quota or a limit on it, is full. What was "
        "written of it was removed.",
        remedy="Free some space there, or choose another folder.",
    )


def _verify_copy(growing: Path, name: str, target: Path, expected: tuple[int, int] | None) -> CopiedStore:
    """Check a copy whole and flush it; ``expected`` is how many memories and operations the store has, if known."""
    with translate_errors(name), _telling_full_disk(target), closing(apsw.Connection(str(growing))) as copy:
        add_functions(copy)
        copy.execute("PRAGMA journal_mode = DELETE")
        copy.execute("PRAGMA trusted_schema = OFF")
        found = _faults(copy)
        counts = (0, 0) if found else _counts(copy)
        if not found and expected not in (None, counts):
            found = [f"the copy has {counts} memories and operations, the store {expected}."]
    if found:
        raise StoreDamaged(f"{name} is damaged: {' '.join(found[:5])} Nothing was written.", remedy=REPAIR)
    _flush(growing)
    return CopiedStore(target, *counts, size=growing.stat().st_size)


def _counts(connection: apsw.Connection) -> tuple[int, int]:
    """Return (memories, operations)."""
    memories = sum(row[-1] for row in fetch_all(connection, "tally"))
    places = [n for (n,) in fetch_all(connection, "namespaces")]
    return memories, sum(int(fetch_value(connection, "size_of_operation", {"namespace": n})) for n in places)


def _faults(connection: apsw.Connection) -> list[str]:
    """Return what is wrong with a store of any schema that we know; it is left as it is.

    The checks are about the newest schema: an older store is migrated for them, and the transaction taken back.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = connection.pragma("user_version")
        for number, sql in migrations("sqlite"):
            if number > version:
                connection.execute(sql)

        def read(namespace: str, work: Callable[[Session], T]) -> T:
            return work(SqliteSession(connection, namespace))

        return [str(fault) for fault in find_faults(connection, read, WHOLE)]
    except (apsw.FullError, apsw.IOError):
        raise
    except apsw.Error as error:  # the file is ours alone: nothing but damage is left
        return [f"SQLite: {error}."]
    finally:
        with suppress(apsw.Error):
            connection.execute("ROLLBACK")


def _check_target(target: Path, *, overwrite: bool, stale: bool) -> None:
    """Refuse a target before any work is done, and once more before it gets its name.

    If ``stale``, files that SQLite keeps beside a store may be there: they are set aside with it.
    """
    if target.is_dir():
        raise InvalidInput(f"{target} is a folder.", remedy="Pass a file.")
    if not target.parent.is_dir():
        raise InvalidInput(f"The folder {target.parent} does not exist.", remedy="Create it, or choose another folder.")
    if target.exists() and not overwrite:
        raise InvalidInput(f"{target} already exists.", remedy=f"Choose another file, or pass {argument('overwrite')}.")
    if not stale and any(Path(f"{target}{end}").exists() for end in SIDE_FILES):
        raise InvalidInput(f"{target} looks like a store in use.", remedy="Choose another file for the backup.")
    if not stale:
        refuse_replaced_store(target)


@contextmanager
def _new_file(target: Path) -> Iterator[Path]:
    """Give a name beside the target for a file to grow under; what is left there at the end is removed."""
    growing = growing_path(target)
    try:
        os.close(os.open(growing, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        yield growing
        _flush(target.parent)
    except OSError as error:
        if error.errno in _FULL:
            raise _disk_full(target) from error
        kind = StoreReadOnly if error.errno in _NO_RIGHT else DiskFull
        raise kind(
            f"{target} could not be written ({error.strerror}).", remedy="Check the folder and the space on the disk."
        ) from error
    finally:
        for end in ("", *SIDE_FILES):
            with suppress(OSError):
                Path(f"{growing}{end}").unlink()


def _set_aside(target: Path) -> Path | None:
    """Give a store that is replaced another name, with whatever lies beside it; return that name.

    A left-over ``-wal`` must not meet the new file: SQLite would write its pages into it.
    """
    suffixes = [end for end in ("", *SIDE_FILES) if Path(f"{target}{end}").exists()]
    if not suffixes:
        return None
    if "" in suffixes:
        _fold_wal_or_refuse(target)
    new_path = free_name(target, BEFORE_RESTORE)
    for end in suffixes:
        with suppress(FileNotFoundError):  # folded into the file just now
            _link_or_rename(Path(f"{target}{end}"), Path(f"{new_path}{end}"), keep=end == "")
    return new_path


def _link_or_rename(path: Path, name: Path, *, keep: bool) -> None:
    """Give a file a second name, so that it is never without the first until another file takes it; or rename it."""
    if keep:
        with suppress(OSError):  # some file systems know no second names
            name.hardlink_to(path)
            return
    path.replace(name)


def _fold_wal_or_refuse(target: Path) -> None:
    """Fold a store's ``-wal`` into its file, which works only where nobody else has it open."""
    with suppress(apsw.Error), closing(apsw.Connection(str(target), flags=apsw.SQLITE_OPEN_READWRITE)) as connection:
        connection.set_busy_timeout(_ALONE_MS)
        try:
            connection.execute("PRAGMA journal_mode = DELETE")
        except apsw.BusyError as error:
            raise StoreBusy(
                f"Another process is using {target}; nothing was changed.",
                remedy="Stop the processes that use it (MCP servers, workers), then restore again.",
            ) from error
        # Any other error: the store is damaged, which may be why a backup is wanted. It is kept as it is.


def copy_permissions(path: Path, like: Path | None) -> None:
    """Let those read a copy who may read what it stands for."""
    if like is not None:
        path.chmod(stat.S_IMODE(like.stat().st_mode))


def _flush(path: Path) -> None:
    """Make a file or a folder durable, where the system lets a folder be flushed."""
    if path.is_dir() and os.name != "posix":
        return
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    except OSError:
        if not path.is_dir():  # some file systems cannot flush a folder; the file itself is flushed
            raise
    finally:
        os.close(handle)
