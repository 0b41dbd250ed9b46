"""The SQLite store: what operations ask of a store, over one file. See operations/store_protocol.py."""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from time import monotonic
from typing import Any, Final, TypeVar

import apsw

from perdure.records.damage import CheckScope, Fault
from perdure.records.deadline import note_written
from perdure.records.errors import DiskFull, PerdureError, StoreReadOnly, StoreTooNew
from perdure.records.instant import Instant
from perdure.records.memory import Record, Shelf
from perdure.records.plan import Plan, Target
from perdure.records.policy_recall import RecallPolicy
from perdure.records.recall import Filters, Pool, Query
from perdure.records.store_rows import Lease, Neighbours, Purge, StoreHealth, StoreSize, TransactionView, Unwritable
from perdure.records.vector import Space, Vector
from perdure.stores import reading
from perdure.stores.plans import SqlTransactionView
from perdure.stores.reading import KeptAccesses, SqlDocuments
from perdure.stores.sql_store import SqlStore
from perdure.stores.sqlite.checkpoints import Checkpoints
from perdure.stores.sqlite.compacting import compact_file, file_size, purge
from perdure.stores.sqlite.connection import (
    MEMORY,
    SqliteSession,
    check_version,
    fetch_all,
    json_list,
    open_file,
    snapshot,
    takes_writes,
    transaction,
    without_waiting,
)
from perdure.stores.sqlite.locked_connection import LockedConnection, flush_at_last, writing
from perdure.stores.sqlite.opened_file import OpenedFile
from perdure.stores.sqlite.query_cache import QueryResultCache
from perdure.stores.sqlite.refusals import MORE_ROOM, NO_ACCESS, translate_errors
from perdure.stores.sqlite.searching import Searches
from perdure.stores.sqlite.transfer import SqliteTransfer
from perdure.stores.sqlite.writing import append_accesses, apply_plan
from perdure.stores.statements import Session

T = TypeVar("T")
MOST_FILLED: Final = 10_000  # shelves with documents that are remembered
_ACCESSES: Final = "accesses"
READ_ONLY_SECONDS: Final = 1.0  # how long it holds that a file takes no writes


class SqliteStore(SqlStore):
    """Memories in one SQLite file that several processes may use at once. Safe to share between threads.

    ``:memory:`` keeps everything in this process. ``log_entries`` past recalls are kept for each namespace.

    Raises:
        NotFound: ``create`` is False, and there is no such file.
    """

    deletes_lines = True

    def __init__(self, path: str, *, log_entries: int = 5000, create: bool = True) -> None:
        self.path, self.log_entries = path, log_entries
        self._lock, self._using = threading.RLock(), LockedConnection(self)
        self._commits = Checkpoints(path)
        self._connect(open_file(path, create=create))
        self._read_only = self._connection.readonly("main")
        self._looked = monotonic()  # when it was last seen that the file takes no writes
        self._waiting: list[Plan] = []
        self._filled: set[tuple[str, Shelf]] = set()
        atexit.register(self.close)

    def _connect(self, connection: apsw.Connection) -> None:
        self._connection, self._unchanged = connection, QueryResultCache(connection)
        self._file = OpenedFile(self.path)
        self._commits.watch(connection)
        self._searches = Searches(connection, self._unchanged)

    @property
    def read_only(self) -> bool:
        """Whether the file takes no writes. One that was opened so is opened anew now and then."""
        if self._read_only and monotonic() - self._looked >= READ_ONLY_SECONDS:
            self._open_again()
        return self._read_only

    @property
    def unwritable(self) -> Unwritable:
        """Why the file takes no writes now: it is gone or read-only, or the last write of this process was refused."""
        if not self._file.is_there:
            return "gone"
        if self.read_only:
            return "full" if self._is_full else "read-only"
        return self._commits.refused

    @property
    def _is_full(self) -> bool:
        return bool(getattr(self._connection, "is_full", False))

    def _open_again(self) -> None:
        """Open the file anew; what it was opened with serves on where it still takes no writes."""
        with self._lock, suppress(PerdureError):
            if not self._read_only or self._connection.in_transaction:
                return
            self._looked = monotonic()
            probe = open_file(self.path, create=False)
            is_writable = not probe.readonly("main")
            probe.close()
            if is_writable or getattr(self._connection, "is_outdated", False):
                self._connection.close()  # before: connections of a process share what maps the log, as it was opened
                self._connect(open_file(self.path, create=False))
                self._read_only = not takes_writes(self._connection)

    # --- writing

    def _check_writable(self) -> None:
        if self.read_only and self._is_full:
            raise DiskFull(f"{self.path} could not be written: its disk is full.", remedy=MORE_ROOM)
        if self.read_only:
            raise StoreReadOnly(f"{self.path} was opened read-only.", remedy=NO_ACCESS)
        self._file.check()

    def apply(
        self, plan: Plan, *, fence: Lease | None = None, check: Callable[[TransactionView], None] | None = None
    ) -> None:
        self._check_writable()
        with self.documents.naming_damage(plan), writing(self._using, erases=plan.erasure is not None) as connection:
            before = self._unchanged.current_state()
            with self._searches.inside(plan.namespace) as pool, transaction(connection, begun=True):
                check_version(connection, self.path)
                session = SqliteSession(connection, plan.namespace)
                apply_plan(session, plan, fence)
                if check is not None:
                    check(SqlTransactionView(session, plan.namespace, pool))
                written = self._append_waiting(connection)
            note_written(plan.id)
            if not any(c.target is Target.ACCESS or (c.target is Target.MEMORY and not c.after) for c in plan.changes):
                self._unchanged.keep_only((plan.namespace, _ACCESSES), before)
            self._remove_waiting(written)

    def count(self, plan: Plan) -> None:
        """Append a recall's accesses without waiting: while another process writes, they are kept for the next call."""
        if self.read_only:
            return
        with self._lock:
            self._waiting.append(plan)
            try:
                self._flush()
            except apsw.BusyError:
                return
            except apsw.Error as error:
                self._waiting.pop()
                self._commits.note(error)
                with translate_errors(self.path):
                    raise

    def flush(self) -> None:
        """Write accesses that are still waiting; waits for the lock if it must."""
        if self._waiting:
            with writing(self._using) as connection:
                self._write_waiting(connection)

    def _flush(self) -> None:
        # On the connection that reads: another one's commit would empty its page cache, which costs a recall 1 ms.
        with without_waiting(self._connection):
            self._connection.execute("BEGIN IMMEDIATE")
            self._write_waiting(self._connection)

    def _write_waiting(self, connection: apsw.Connection) -> None:
        """Write what waits in a transaction that has begun; nothing where the file is one that a newer version made."""
        with transaction(connection, begun=True):
            try:
                check_version(connection, self.path)
            except StoreTooNew:
                self._waiting.clear()
            written = self._append_waiting(connection)
        self._remove_waiting(written)

    def _append_waiting(self, connection: apsw.Connection) -> int:
        """Write what waits, and return how many; they are forgotten only once the transaction is safe."""
        with self._unchanged.counting_accesses():
            for plan in self._waiting:
                append_accesses(SqliteSession(connection, plan.namespace), plan, self.log_entries)
        return len(self._waiting)

    def _remove_waiting(self, written: int) -> None:
        for plan in self._waiting[:written]:
            accesses = self._kept_accesses(plan.namespace)
            for change in plan.changes:
                if change.target is Target.ACCESS and change.after is not None:
                    accesses.append(change.id, change.after["at_ms"], change.after["times"])
        del self._waiting[:written]

    def _kept_accesses(self, namespace: str) -> KeptAccesses:
        return self._unchanged.get((namespace, _ACCESSES), KeptAccesses)

    def get(self, namespace: str, ids: Sequence[str]) -> list[Record]:
        if not ids:
            return []
        with self._flushed_connection() as connection, snapshot(connection):
            kept = self._kept_accesses(namespace), self._unchanged.get((namespace, "records"), dict[str, Record])
            return reading.records(SqliteSession(connection, namespace), namespace, ids, *kept)  # of the same snapshot

    # --- searching

    def search(self, namespace: str, query: Query, filters: Filters, policy: RecallPolicy) -> Pool:
        with self._use() as connection, snapshot(connection):
            return self._searches.pool(namespace, query, filters, policy)

    def nearest(self, namespace: str, vectors: Sequence[Vector], limit: int) -> list[Neighbours]:
        with self._use() as connection, snapshot(connection):
            return self._searches.nearest(namespace, vectors, limit)

    def vectors(self, namespace: str, ids: Sequence[str]) -> dict[str, Vector]:
        with self._use():
            return self._searches.vectors(namespace, ids)

    def space(self) -> Space | None:
        with self._use():
            found = self._searches.space()
        return None if found is None else found[1]

    # --- documents

    @property
    def documents(self) -> SqlDocuments:
        return SqlDocuments(self._rows, self._has_none)

    def _has_none(self, namespace: str, shelf: Shelf) -> bool:
        """Whether a shelf of a namespace is empty, as most are: each recall asks five of them about its hits.

        One that had documents is asked, whatever has become of them.
        """
        if (namespace, shelf) in self._filled:
            return False
        with self._use() as connection:
            key = {"namespace": namespace, "shelf": shelf.value, "id": "", "name": "", "limit": 1}
            empty = self._unchanged.get((namespace, shelf), lambda: not fetch_all(connection, "documents", key))
        if not empty:
            if len(self._filled) >= MOST_FILLED:
                self._filled.clear()
            self._filled.add((namespace, shelf))
        return empty

    def clock(self, *, anew: bool) -> Instant | None:  # noqa: ARG002  # the protocol's
        return None  # a file has none

    def viewing(self, namespace: str, work: Callable[[], T]) -> T:  # noqa: ARG002  # a file opens nothing for a read
        return work()

    # --- upkeep of the file

    def optimize(self, namespace: str, at: Instant, cells_above: int) -> Mapping[str, int]:
        """Bring search structures up to date: cells for a large namespace, FTS segments merged. Derived data only.

        Training reads for a while and writes for a moment, so that other processes are not kept from writing.
        """
        with self._use():
            return self._searches.optimize(namespace, at, cells_above)

    def size(self) -> StoreSize:
        with self._use() as connection:
            return file_size(connection)

    def compact(self) -> tuple[str, ...]:
        """Write the file anew without gaps; threads of this process go on reading meanwhile."""
        self._check_writable()
        self.flush()
        with self._commits.paused():
            return compact_file(self.path, self._connection)

    def check(self, scope: CheckScope, namespace: str | None = None) -> list[Fault]:
        if namespace is not None:
            from perdure.stores.checking import journal_faults  # noqa: PLC0415  # only where it is used

            return list(journal_faults(self._view, namespace, scope))
        from perdure.stores.sqlite.checking import find_faults  # noqa: PLC0415  # only where it is used

        with self._own_connection() as connection:
            return list(find_faults(connection, self._view, scope))

    def rebuild(self, *, keep_texts: bool) -> None:
        self._check_writable()
        from perdure.stores.sqlite.rebuilding import rebuild  # noqa: PLC0415  # only where it is used

        with self._use() as connection:
            rebuild(connection, keep_texts=keep_texts)
            self._connect(connection)

    def _view(self, namespace: str, work: Callable[[Session], T]) -> T:
        with self._flushed_connection() as connection, snapshot(connection):
            return work(SqliteSession(connection, namespace))

    def health(self) -> StoreHealth:
        """Read the schema's number, so that a file that is gone or damaged says so."""
        writable = not self.unwritable
        self._file.check()
        with self._use() as connection:
            check_version(connection, self.path)
            return StoreHealth(connection.pragma("user_version"), writable)

    def forget_texts(self, namespace: str) -> None:
        with self._use():
            self._searches.forget_texts(namespace)

    def purge(self, namespace: str, texts: Sequence[str], names: Sequence[str] = ()) -> Purge:
        """Remove what deleted rows left in the file and its log, and search both for the erased words."""
        self.flush()
        with self._use() as connection, self._commits.paused():
            self._searches.forget(namespace)
            return purge(connection, self.path, namespace, texts, names)

    def close(self) -> None:
        with self._lock:
            atexit.unregister(self.close)
            try:
                if self._waiting and not self._read_only:
                    flush_at_last(self.path, self.flush, self._waiting)
            finally:
                with self._commits.paused():
                    self._connection.close()

    @property
    def transfer(self) -> SqliteTransfer:
        return SqliteTransfer(self._rows, self._global, self._flushed_connection, self._check_writable)

    @property
    def nbytes(self) -> int:
        """Bytes that search indexes hold in memory."""
        return self._searches.nbytes

    # --- how statements are run

    def _read(self, namespace: str, work: Callable[[Session], T]) -> T:
        with self._flushed_connection() as connection:
            return work(SqliteSession(connection, namespace))

    def _write(self, namespace: str, work: Callable[[Session], T]) -> T:
        self._check_writable()
        with writing(self._using) as connection, transaction(connection, begun=True):
            check_version(connection, self.path)
            return work(SqliteSession(connection, namespace))

    def _rewrite_journal(self, namespace: str, work: Callable[[Session], T]) -> T:
        return self._write(namespace, work)

    def _admin(self, work: Callable[[Session], T]) -> T:
        return self._write("", work)

    def _everywhere(self, name: str, /, **bindings: Any) -> list[tuple[Any, ...]]:
        with self._flushed_connection() as connection:
            return fetch_all(connection, name, bindings)

    def _global(self, name: str, /, **bindings: Any) -> list[tuple[Any, ...]]:
        return self._everywhere(name, **bindings)

    def _newest_operations(self, limit: int, without: list[str]) -> list[tuple[Any, ...]]:
        return self._everywhere("operations", limit=limit, without=json_list(without))

    def _use(self) -> LockedConnection:
        return self._using

    @contextmanager
    def _own_connection(self) -> Iterator[apsw.Connection]:
        """A connection that no other call waits for; the store's own where a file cannot be opened twice."""
        with self._flushed_connection() as own:
            if self.path == MEMORY or self._read_only or own.in_transaction:
                yield own
                return
        with translate_errors(self.path), closing(open_file(self.path, create=False)) as connection:
            yield connection

    @contextmanager
    def _flushed_connection(self) -> Iterator[apsw.Connection]:
        """A connection whose reads see this store's own accesses, unless another process holds the lock just now."""
        with self._use() as connection:
            if self._waiting and not self._read_only and not connection.in_transaction:
                with suppress(apsw.Error):
                    self._flush()
            yield connection
