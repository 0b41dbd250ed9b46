"""The SQLite store: what operations ask of a store, over one file. See operations/ports.py for the contract."""

from __future__ import annotations

import atexit
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import apsw

from perdure.records.errors import StoreReadOnly
from perdure.records.instant import Instant
from perdure.records.lease import Lease
from perdure.records.memory import Record, State
from perdure.records.plan import Change, Plan
from perdure.records.policy import RecallPolicy
from perdure.records.recall import Filters, Pool, Query
from perdure.records.report import Entry, Operation
from perdure.records.transaction_view import TransactionView
from perdure.records.vector import Vector
from perdure.stores.rows import content_digest, operation_of
from perdure.stores.sql_store import SqlStore
from perdure.stores.sqlite import reading as read
from perdure.stores.sqlite import spaces
from perdure.stores.sqlite.checking import faults
from perdure.stores.sqlite.connection import open_file, snapshot, transaction, translated, unhurried
from perdure.stores.sqlite.index import save_cells, trained_cells
from perdure.stores.sqlite.searching import Searches
from perdure.stores.sqlite.transaction_view import SqliteTransactionView
from perdure.stores.sqlite.transfer import SqliteTransfer
from perdure.stores.sqlite.writing import apply_accesses, apply_plan


class SqliteStore(SqlStore, spaces.StoreSpaces):
    """Memories in one SQLite file that several processes may use at once. Safe to share between threads.

    Args:
        path: The file; created if it does not exist. ``:memory:`` keeps everything in this process.
        log_entries: Past recalls kept for each namespace.
    """

    def __init__(self, path: str, *, log_entries: int = 5000) -> None:
        self.path, self.log_entries = path, log_entries
        self._lock = threading.RLock()
        self._connection = open_file(path)
        self.read_only = self._connection.readonly("main")
        self._waiting: list[Plan] = []
        self._searches = Searches(self._connection)
        atexit.register(self.close)

    # --- writing

    def apply(
        self, plan: Plan, *, fence: Lease | None = None, check: Callable[[TransactionView], None] | None = None
    ) -> None:
        """Write a plan whole or not at all, durable when this returns; ``check`` looks before it is final.

        Raises:
            ConflictError: The store is not as the plan's before-images say.
            LeaseLost: ``fence`` is given, and the namespace has another keeper by now.
            StoreReadOnly, StoreBusy, DiskFull: The file could not be written; nothing was.
        """
        if self.read_only:
            raise StoreReadOnly(
                f"{self.path} was opened read-only.", remedy="Check the file's and the folder's permissions."
            )
        with self._use() as connection:
            with transaction(connection):
                apply_plan(connection, plan, fence)
                if check is not None:
                    self._checked(plan.namespace, check)
                written = self._count_waiting(connection)
            del self._waiting[:written]

    def _checked(self, namespace: str, check: Callable[[TransactionView], None]) -> None:
        self._searches.forget(namespace)
        try:
            check(SqliteTransactionView(self._connection, self._searches, namespace))
        finally:  # what the index has seen may be rolled back
            self._searches.forget(namespace)

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
            except apsw.Error:
                self._waiting.pop()
                with translated(self.path):
                    raise

    def flush(self) -> None:
        """Write accesses that are still waiting; waits for the lock if it must."""
        with self._use() as connection:
            if self._waiting:
                with transaction(connection):
                    written = self._count_waiting(connection)
                del self._waiting[:written]

    def _flush(self) -> None:
        # On the connection that reads: another one's commit would empty its page cache, which costs a recall 1 ms.
        with unhurried(self._connection), transaction(self._connection):
            written = self._count_waiting(self._connection)
        del self._waiting[:written]

    def _count_waiting(self, connection: apsw.Connection) -> int:
        """Write what waits, and return how many; they are forgotten only once the transaction is safe."""
        for plan in self._waiting:
            apply_accesses(connection, plan, self.log_entries)
        return len(self._waiting)

    # --- leases

    def take_lease(self, namespace: str, owner: str, now: Instant, ttl: int) -> Lease | None:
        """Take a namespace if nobody keeps it, its lease is over, or it is one's own; None if another keeps it."""
        key = {"namespace": namespace, "owner": owner, "now": now, "until": now + ttl}
        with self._use() as connection, transaction(connection):
            epoch = read.single(connection, "take_lease", key)
        return None if epoch is None else Lease(namespace, owner, int(epoch), now + ttl, ttl)

    def release_lease(self, lease: Lease) -> None:
        """Give a namespace back; nothing happens if another has taken it."""
        key = {"namespace": lease.namespace, "owner": lease.owner, "epoch": lease.epoch}
        with self._use() as connection, transaction(connection):
            read.run(connection, "release_lease", key)

    # --- reading records

    def get(self, namespace: str, ids: Sequence[str]) -> list[Record]:
        """Return records in the order asked for; unknown ids are left out."""
        with self._fresh() as connection:
            return read.records(connection, namespace, ids)

    def locate(self, identity: str) -> str | None:
        """Return the namespace that holds a memory."""
        with self._use() as connection:
            found = read.single(connection, "locate", {"id": identity})
        return None if found is None else str(found)

    def list_records(
        self, namespace: str, filters: Filters, limit: int, before: tuple[Instant, str] | None
    ) -> list[Record]:
        """Return records that pass the filters, newest first; ``before`` is the last one of the previous page."""
        with self._fresh() as connection:
            return read.listed(connection, namespace, filters, limit, before)

    def records_by_tier(self, namespace: str, filters: Filters, limit: int) -> list[Record]:
        """Return records that pass: hot, vault and pinned ones first, then warm, then cold; newest first."""
        with self._fresh() as connection:
            rows = read.filtered(connection, "at_hand", filters, {"namespace": namespace, "limit": limit})
            return read.records(connection, namespace, [i for (i,) in rows])

    def sample_records(self, namespace: str, step: int, limit: int) -> list[Record]:
        """Return every ``step``-th visible record, at most so many."""
        key = {"namespace": namespace, "step": step, "limit": limit}
        with self._fresh() as connection:
            return read.records(connection, namespace, [i for (i,) in read.run(connection, "sampled", key)])

    def records_due_for_archive(self, namespace: str, until: Instant, limit: int) -> list[Record]:
        """Return visible records in cold that fall due by an instant, soonest first: from cold, due means archived."""
        key = {"namespace": namespace, "until": until, "limit": limit}
        with self._fresh() as connection:
            return read.records(connection, namespace, [i for (i,) in read.run(connection, "fading", key)])

    def states(self, namespace: str, ids: Sequence[str]) -> dict[str, tuple[State, str]]:
        """Return id -> (state, last operation), without content."""
        with self._use() as connection:
            return read.states(connection, namespace, ids)

    def images(self, namespace: str, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Return id -> the whole row, as an insert would need it."""
        with self._use() as connection:
            return read.images(connection, namespace, ids, spaces.active_number(connection))

    def accesses(
        self, namespace: str, ids: Sequence[str], until: Instant
    ) -> dict[str, tuple[tuple[Instant, int], ...]]:
        """Return id -> accesses that no sweep has counted in."""
        with self._fresh() as connection:
            return read.accesses(connection, namespace, ids, until)

    def links(self, namespace: str, identity: str) -> list[tuple[str, str, float]]:
        """Return a memory's links in both directions: (kind, other id, weight)."""
        with self._use() as connection:
            return read.fetched(connection, "links_of", {"namespace": namespace, "id": identity})

    def links_to(self, namespace: str, identity: str) -> list[tuple[str, str, float]]:
        """Return the links that others have to a memory: (id, kind, weight)."""
        with self._use() as connection:
            found = read.fetched(connection, "links_to", {"namespace": namespace, "id": identity})
        return [(other, kind, weight) for other, kind, weight in found]

    def ids_of_texts(self, namespace: str, texts: Sequence[str]) -> list[str]:
        """Return memories whose text is one of these, up to case and white space, oldest first."""
        with self._use() as connection:
            key = {"namespace": namespace, "digests": json.dumps([content_digest(text) for text in texts])}
            return [i for (i,) in read.run(connection, "find_digests", key)]

    def ids_of_keys(self, namespace: str, keys: Sequence[str]) -> dict[str, str]:
        """Return idempotency key -> memory id for those keys that were used."""
        with self._use() as connection:
            found = ((k, read.single(connection, "find_key", {"namespace": namespace, "key": k})) for k in keys)
            return {k: i for k, i in found if i is not None}

    def last_turn(self, namespace: str, session: str) -> int:
        """Return a session's last turn, -1 for none."""
        with self._use() as connection:
            found = read.single(connection, "last_turn", {"namespace": namespace, "session": session})
        return -1 if found is None else int(found)

    # --- what is due

    def namespaces(self) -> list[str]:
        """Return all namespaces."""
        with self._use() as connection:
            return [n for (n,) in read.run(connection, "namespaces")]

    def due_namespaces(self, now: Instant, policy: str) -> list[tuple[str, str]]:
        """Return (namespace, policy it was last swept under) where something is due, or the policy has changed."""
        with self._fresh() as connection:
            return read.fetched(connection, "due_namespaces", {"now": now, "policy": policy})

    def due_ids(
        self, namespace: str, now: Instant, after: tuple[Instant, int], limit: int
    ) -> list[tuple[str, Instant, int]]:
        """Return the next memories whose due instant has come: (id, due, cursor)."""
        key = {"namespace": namespace, "now": now, "due": after[0], "row": after[1], "limit": limit}
        with self._use() as connection:
            return [(identity, due, row) for identity, due, row in read.fetched(connection, "due_ids", key)]

    def accessed_ids(self, namespace: str, now: Instant, after: str, limit: int) -> list[str]:
        """Return the next memories with accesses that no sweep has counted in."""
        with self._fresh() as connection:
            return [
                i
                for (i,) in read.run(
                    connection, "accessed_ids", {"namespace": namespace, "now": now, "after": after, "limit": limit}
                )
            ]

    def all_ids(self, namespace: str, after: str, limit: int) -> list[str]:
        """Return the next memories of a namespace by id."""
        with self._use() as connection:
            return [
                i for (i,) in read.run(connection, "all_ids", {"namespace": namespace, "after": after, "limit": limit})
            ]

    def visible_count(self, namespace: str) -> int:
        """Return how many memories of a namespace are active."""
        with self._use() as connection:
            return int(read.single(connection, "visible_count", {"namespace": namespace}))

    def hidden_since(self, namespace: str, since: Instant) -> int:
        """Return how many memories were hidden by operations since an instant that were not undone."""
        with self._use() as connection:
            return int(read.single(connection, "hidden_since", {"namespace": namespace, "since": since}))

    # --- journal

    def operation(self, identity: str) -> Operation | None:
        """Return one operation, wherever it is."""
        with self._use() as connection:
            row = read.run(connection, "operation", {"id": identity}).fetchone()
        return None if row is None else operation_of(row)

    def operations(self, namespace: str | None, limit: int) -> list[Operation]:
        """Return the newest operations first."""
        with self._use() as connection:
            rows = read.fetched(connection, "operations", {"namespace": namespace, "limit": limit})
        return [operation_of(row) for row in rows]

    def changes(self, namespace: str, operation: str) -> list[Change]:
        """Return what an operation changed, as the journal tells it."""
        with self._use() as connection:
            return read.journal_changes(connection, namespace, operation)

    def journal(self, namespace: str, identity: str) -> list[Entry]:
        """Return what the journal says about a memory, oldest first."""
        with self._use() as connection:
            return read.journal_of(connection, namespace, identity)

    def recalls(self, namespace: str, limit: int) -> list[tuple[str, Instant, str, tuple[str, ...]]]:
        """Return past recalls, newest first."""
        with self._fresh() as connection:
            return read.recalls(connection, namespace, limit)

    # --- searching

    def search(self, namespace: str, query: Query, filters: Filters, policy: RecallPolicy) -> Pool:
        """Return the candidates for a query."""
        with self._use() as connection, snapshot(connection):
            return self._searches.pool(namespace, query, filters, policy)

    def nearest(self, namespace: str, vectors: Sequence[Vector], limit: int) -> list[list[tuple[str, float]]]:
        """Return, for each vector, (id, cosine) of the nearest visible memories."""
        with self._use() as connection, snapshot(connection):
            return [self._searches.nearest(namespace, vector, limit) for vector in vectors]

    def vectors(self, namespace: str, ids: Sequence[str]) -> dict[str, Vector]:
        """Return id -> unit vector for those memories that have one in the active space."""
        with self._use():
            return self._searches.vectors(namespace, ids)

    # --- upkeep of the file

    def tally(self, namespace: str | None) -> list[tuple[str, str, str, str, int]]:
        """Return (namespace, kind, tier, status, count)."""
        with self._use() as connection:
            return read.fetched(connection, "tally", {"namespace": namespace})

    def count_due(self, namespace: str | None, now: Instant) -> int:
        """Return how many memories are due by an instant."""
        with self._use() as connection:
            return int(read.single(connection, "count_due", {"namespace": namespace, "now": now}))

    def optimize(self, namespace: str, at: Instant, cells_above: int) -> Mapping[str, int]:
        """Bring search structures up to date: cells for a large namespace, FTS segments merged. Derived data only.

        Training reads for a while and writes for a moment, so that other processes are not kept from writing.
        """
        with self._use() as connection:
            found = spaces.active_number(connection)
            vectors = int(read.single(connection, "vector_count", {"namespace": namespace}) or 0)
            trained = None
            if found is not None and vectors >= cells_above:
                trained = trained_cells(connection, namespace, found[0], at)
            with transaction(connection):
                if trained is not None and found is not None:
                    save_cells(connection, namespace, found[0], trained)
                    self._searches.forget(namespace)
                read.run(connection, "merge_words")
            connection.execute("PRAGMA optimize").fetchall()
        return {"vectors": vectors, "cells": 0 if trained is None else len(trained[0])}

    def check(self) -> list[str]:
        """Return what is wrong with the file; empty for a sound one."""
        with self._fresh() as connection:
            return faults(connection)

    def close(self) -> None:
        """Write what waits, and close the file. Calling it twice is harmless."""
        with self._lock:
            atexit.unregister(self.close)
            try:
                if self._waiting and not self.read_only:
                    self.flush()
            finally:
                self._connection.close()

    @property
    def transfer(self) -> SqliteTransfer:
        """What copies the file row by row."""
        return SqliteTransfer(self._fresh)

    @property
    def nbytes(self) -> int:
        """Bytes that search indexes hold in memory."""
        return self._searches.nbytes

    def _rows(self, namespace: str, name: str, /, **bindings: Any) -> list[tuple[Any, ...]]:
        with self._fresh() as connection:
            return read.rows(connection, namespace, name, **bindings)

    @contextmanager
    def _use(self) -> Iterator[apsw.Connection]:
        with self._lock, translated(self.path):
            yield self._connection

    @contextmanager
    def _fresh(self) -> Iterator[apsw.Connection]:
        """A connection whose reads see this store's own accesses, unless another process holds the lock just now."""
        with self._use() as connection:
            if self._waiting and not self.read_only:
                with suppress(apsw.Error):
                    self._flush()
            yield connection
