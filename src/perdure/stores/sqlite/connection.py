"""Opening the file: checks, pragmas, migrations."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import apsw

from perdure.records.deadline import is_over, may_wait, unlimited
from perdure.records.errors import (
    NotAStore,
    NotFound,
    PerdureError,
    StoreDamaged,
    StoreError,
    StoreReadOnly,
    StoreTooNew,
)
from perdure.records.installation import how_to_upgrade
from perdure.records.store_files import APPLICATION_ID
from perdure.stores.sqlite.alone import AloneConnection, check_log
from perdure.stores.sqlite.lines import add_functions, line_texts, plain_id
from perdure.stores.sqlite.refusals import BUSY_MS, cannot_be_opened, is_full, translate_errors
from perdure.stores.statements import Line, fill_filters, migrations, registry

OLDEST_SQLITE: Final = 3_051_003
"""Earlier versions can corrupt a WAL file that several processes write (the WAL-reset defect)."""

_DELAYS_MS: Final = (1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50)
"""How long SQLite waits between its first tries for a lock; then 100 ms each."""
_STEPS: Final = 20_000  # steps of SQLite between two looks at the clock: less than a millisecond
MEMORY: Final = ":memory:"


def open_file(path: str, *, create: bool = True) -> apsw.Connection:
    """Return a connection to a store, created or migrated if need be.

    Raises:
        NotFound: ``create`` is False, and the file is not there or empty.
        NotAStore: The file is no SQLite file, or another program's.
        StoreTooNew: A newer Perdure wrote it.
        StoreError: It cannot be opened.
    """
    if apsw.SQLITE_VERSION_NUMBER < OLDEST_SQLITE:
        raise StoreError(
            f"SQLite {apsw.sqlite_lib_version()} can damage a file that several processes write.",
            remedy="Install apsw 3.51.3 or newer.",
        )
    if path != MEMORY:
        _check_place(Path(path), create=create)
        if create:
            _create_for_owner(path)
    with translate_errors(path):
        try:
            return _ready(apsw.Connection(path), path)
        except (apsw.CorruptError, apsw.NotADBError) as error:
            raise cannot_be_opened(error, path) from error
        except (apsw.CantOpenError, apsw.ReadOnlyError):
            if os.access(Path(path).parent, os.W_OK) or not os.access(path, os.R_OK):
                raise
            return _ready(AloneConnection(path), path)
        except apsw.Error as error:
            if not is_full(error):
                raise
            check_log(path, is_full=True)
            if (alone := _readable(path)) is None:
                raise
            return alone


def _readable(path: str) -> apsw.Connection | None:
    """Return a connection that only reads, for a disk that has no room for the files beside the store's."""
    with suppress(PerdureError, apsw.Error):
        return _ready(AloneConnection(path, is_full=True), path)
    return None


def _ready(connection: apsw.Connection, path: str) -> apsw.Connection:
    """Return a connection to a store, brought to this version's schema where it can be written."""
    try:
        connection.set_busy_handler(_wait_for_lock)
        connection.set_progress_handler(is_over, _STEPS)  # a call whose time is over is ended within its statement
        _check_identity(connection, path)
        add_functions(connection)
        if not connection.readonly("main"):
            _set_up(connection)
        _prepare(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _check_place(path: Path, *, create: bool) -> None:
    try:
        folder, empty = path.is_dir(), not path.exists() or path.stat().st_size == 0
    except OSError as error:
        raise StoreError(f"{str(path)[:80]} is not a valid path ({error.strerror}).", remedy="Pass a file.") from error
    if folder:
        raise StoreError(f"{path} is a folder.", remedy="Pass a file, for example agent.db.")
    if empty and not create:
        raise NotFound(f"There is no store at {path}.", remedy="Check the path; storing a memory creates the store.")
    if path.is_file() and path.stat().st_size == 1:  # SQLite takes a file of one byte for an empty one
        raise NotAStore(f"{path} is not a SQLite file.", remedy="Choose another file; this one is unchanged.")
    if not path.parent.is_dir():
        raise StoreError(f"The folder {path.parent} does not exist.", remedy="Create it, or choose another folder.")


def _create_for_owner(path: str) -> None:
    """Make the file of a new store readable by its owner alone; SQLite gives its other files the same permissions."""
    with suppress(OSError):  # it is there, or cannot be made: SQLite says which
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))


def _check_identity(connection: apsw.Connection, path: str) -> None:
    with snapshot(connection):  # another process may be making the same store just now
        identity = connection.pragma("application_id")
        empty = connection.execute(registry("sqlite")["schema_size"].sql).get == 0
        found = connection.pragma("user_version")
    if identity != APPLICATION_ID and not empty:
        raise NotAStore(f"{path} is another program's database.", remedy="Choose another file; this one is unchanged.")
    if empty and connection.readonly("main"):
        raise StoreReadOnly(
            f"{path} is empty and cannot be written.", remedy="Check the file's and the folder's permissions."
        )
    _refuse_newer(found, path)
    newest = migrations("sqlite")[-1][0]
    if found < newest and connection.readonly("main"):
        raise StoreReadOnly(
            f"{path} has schema {found} and must be migrated to {newest}, but cannot be written.",
            remedy="Open it once with write permission.",
        )


def check_version(connection: apsw.Connection, path: str) -> None:
    """Check that the file is still one that this version can use: another process may have migrated it."""
    _refuse_newer(connection.pragma("user_version"), path)


def _refuse_newer(found: int, path: str) -> None:
    newest = migrations("sqlite")[-1][0]
    if found > newest:
        raise StoreTooNew(
            f"{path} has schema {found}; this Perdure supports up to {newest}.",
            remedy=f"{how_to_upgrade()}; the file is unchanged.",
        )


def _set_up(connection: apsw.Connection) -> None:
    """Switch to WAL and run the migrations that are missing; several processes may try at once."""
    for attempt in range(200):
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            break
        except apsw.BusyError:  # the switch does not wait for the busy timeout
            if attempt == 199:  # noqa: PLR2004  # the last attempt
                raise
            time.sleep(0.02)
    newest = migrations("sqlite")[-1][0]
    if connection.pragma("user_version") == newest:
        return
    with transaction(connection):
        found = connection.pragma("user_version")  # another process may have been faster
        for number, sql in migrations("sqlite"):
            if number > found:
                _migrate(connection, number, sql)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")


def _migrate(connection: apsw.Connection, number: int, sql: str) -> None:
    try:
        connection.execute(sql)
    except (apsw.SQLError, apsw.ConstraintError) as error:
        raise StoreDamaged(
            f"The file is not of the schema that it names: it cannot be migrated to {number} ({error}).",
            remedy="Restore a backup; the file is unchanged.",
        ) from error
    connection.execute(f"PRAGMA user_version = {number}")


def _prepare(connection: apsw.Connection) -> None:
    for pragma in (
        "synchronous = FULL",
        "temp_store = MEMORY",
        "cache_size = -16384",
        "trusted_schema = OFF",
        "wal_autocheckpoint = 2000",
        "secure_delete = FAST",  # what is deleted is overwritten within its page, so that it is gone where it is erased
    ):
        connection.execute(f"PRAGMA {pragma}").fetchall()
    # Else SQLite plans a statement anew whenever a value is bound that might decide whether a partial index serves:
    # each time, that is; reading three memories took 124 microseconds, of which planning 99.
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)


def pause_before(tries: int) -> float | None:
    """Return after how many seconds another process's lock is tried again; None where the call may wait no longer."""
    waited = sum(_DELAYS_MS[:tries]) + 100 * max(0, tries - len(_DELAYS_MS))
    if waited >= BUSY_MS or not may_wait(waited / 1000):
        return None
    return (_DELAYS_MS[tries] if tries < len(_DELAYS_MS) else 100) / 1000


def _wait_for_lock(tries: int) -> bool:
    """Wait a little for another process's lock; False where its time is over, or the call may not wait."""
    if (pause := pause_before(tries)) is None:
        return False
    time.sleep(pause)
    return True


@contextmanager
def without_waiting(connection: apsw.Connection) -> Iterator[None]:
    """Write without waiting for a lock and without a flush of its own: for counting accesses."""
    connection.set_busy_timeout(0)
    connection.execute("PRAGMA synchronous = NORMAL")
    try:
        yield
    finally:
        connection.execute("PRAGMA synchronous = FULL")
        connection.set_busy_handler(_wait_for_lock)


def begin_at_once(connection: apsw.Connection) -> None:
    """Begin a write transaction; fails where another process writes."""
    connection.set_busy_timeout(0)
    try:
        connection.execute("BEGIN IMMEDIATE")
    finally:
        connection.set_busy_handler(_wait_for_lock)


@contextmanager
def transaction(connection: apsw.Connection, *, begun: bool = False) -> Iterator[None]:
    """Run a write transaction: the lock is taken at once, and everything is rolled back on any error."""
    if not begun:
        connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        with unlimited():  # else it may be told as ended although it was written
            connection.execute("COMMIT")
    except BaseException:
        with unlimited():
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        raise


def takes_writes(connection: apsw.Connection) -> bool:
    """Whether a connection may write: the file may be writable while its log is not."""
    if connection.readonly("main"):
        return False
    connection.set_busy_timeout(0)
    try:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("ROLLBACK")
    except apsw.ReadOnlyError:
        return False
    except apsw.BusyError:  # somebody writes
        return True
    else:
        return True
    finally:
        connection.set_busy_handler(_wait_for_lock)


class snapshot:  # noqa: N801  # a context manager, named as what it does
    """Run several reads on one consistent view of the file. A recall enters it several times."""

    __slots__ = ("connection",)

    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection

    def __enter__(self) -> None:
        """Begin."""
        self.connection.execute("BEGIN")

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """End; there is nothing to roll back."""
        if self.connection.in_transaction:
            self.connection.execute("COMMIT")


_encoded: Final = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":")).encode
"""One encoder for all lists: making it costs as much as encoding ten ids."""


def json_list(values: Iterable[Any]) -> str:
    """Return values as a statement binds a list of them: one text, however many they are."""
    return _encoded(list(values))


def run(connection: apsw.Connection, name: str, bindings: Any = ()) -> apsw.Cursor:
    """Run a named statement."""
    return connection.execute(registry("sqlite")[name].sql, bindings)


def run_many(connection: apsw.Connection, name: str, bindings: Iterable[Any]) -> None:
    """Run a named statement once for each of many bindings."""
    connection.executemany(registry("sqlite")[name].sql, bindings)


def fetch_all(connection: apsw.Connection, name: str, bindings: Any = ()) -> list[tuple[Any, ...]]:
    """Return all rows of a named statement."""
    return run(connection, name, bindings).fetchall()


def fetch_value(connection: apsw.Connection, name: str, bindings: Any = ()) -> Any:
    """Return the one value of a named statement, None where there is no row."""
    return run(connection, name, bindings).get


class SqliteSession:
    """Statements in one namespace of a file. See stores/statements.py."""

    __slots__ = ("connection", "namespace")

    def __init__(self, connection: apsw.Connection, namespace: str) -> None:
        self.connection, self.namespace = connection, namespace

    def run(self, name: str, parts: tuple[str, ...] | None = None, /, **bindings: Any) -> apsw.Cursor:
        text = registry("sqlite")[name].sql if parts is None else fill_filters("sqlite", name, parts)
        for key, value in bindings.items():
            if isinstance(value, list):
                bindings[key] = _encoded(value)
        bindings["namespace"] = self.namespace
        return self.connection.execute(text, bindings)

    def rows(self, name: str, parts: tuple[str, ...] | None = None, /, **bindings: Any) -> list[tuple[Any, ...]]:
        return self.run(name, parts, **bindings).fetchall()

    def lines(self, name: str, /, **bindings: Any) -> list[Line]:
        return [
            (operation, target, plain_id(identity), *line_texts(data, operation))
            for operation, target, identity, data in self.run(name, **bindings)
        ]

    def several(self, *calls: tuple[str, dict[str, Any]]) -> list[list[tuple[Any, ...]]]:
        return [self.rows(name, **bindings) for name, bindings in calls]

    def value(self, name: str, /, **bindings: Any) -> Any:
        return self.run(name, **bindings).get
