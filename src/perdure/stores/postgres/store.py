"""The PostgreSQL store: what operations ask of a store, over one server. See operations/store_protocol.py."""

from __future__ import annotations

import atexit
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar
from warnings import warn

from psycopg.errors import UniqueViolation

from perdure.records.damage import CheckScope, Fault
from perdure.records.deadline import note_written
from perdure.records.errors import DiskFull, IncompleteWarning, NotAllowed, StoreDamaged, StoreReadOnly, StoreTooNew
from perdure.records.instant import Instant
from perdure.records.plan import Plan, Row, Target
from perdure.records.policy_recall import RecallPolicy
from perdure.records.recall import Filters, Pool, Query
from perdure.records.store_rows import (
    Details,
    Lease,
    Neighbours,
    Purge,
    StoreHealth,
    StoreSize,
    TransactionView,
    Unwritable,
)
from perdure.records.vector import Space, Vector
from perdure.stores import reading
from perdure.stores.checking import journal_faults
from perdure.stores.plans import SqlTransactionView
from perdure.stores.postgres.checking import find_faults
from perdure.stores.postgres.distribution import tables
from perdure.stores.postgres.faults import node_unavailable
from perdure.stores.postgres.near_index import build_index
from perdure.stores.postgres.rebuilding import purge, rebuild, restore_schema, vacuum
from perdure.stores.postgres.schema import SchemaStatus, check_meta, check_schema
from perdure.stores.postgres.searching import PostgresSearch, SearchStatistics
from perdure.stores.postgres.server import Address, Server
from perdure.stores.postgres.session import PostgresSession
from perdure.stores.postgres.transfer import PostgresTransfer
from perdure.stores.postgres.writing import AlreadyApplied, apply_plan, conflict_of
from perdure.stores.rows import require_row
from perdure.stores.spaces import restore_spaces
from perdure.stores.sql_store import SqlStore
from perdure.stores.statements import Session
from perdure.stores.words import Stemmer

T = TypeVar("T")
_BY_ID: Final = frozenset(
    {"locate", "operation", "find_ids", "find_short_ids", "find_operations", "find_short_operations"}
)
"""Fan-outs that look for one thing: they must not say that there is none where nodes were left out."""

_BY_DUE: Final = frozenset({"due_namespaces", "overdue_namespaces", "count_due"})
"""Fan-outs that find by an instant what is due."""
_OPERATORS: Final = "The tables are shared with others: their operator compacts them."
_FULL_VACUUM: Final = (
    "The server uses the gaps again itself; to give them back to the disk, its operator runs VACUUM FULL journal"
    " (which locks the table) or pg_repack."
)
_MOST_NAMED: Final = 10  # memories whose vectors are damaged that one warning each is given of
_MOST_CACHED: Final = 1000  # namespaces whose statistics are remembered at once
_TRIM_EVERY: Final = 20
"""The log of recalls is trimmed at every so many recalls of a process, oftener where it is short: it may be longer by
as many for each process."""


class PostgresStore(SqlStore):
    """Memories on a PostgreSQL server that many processes and machines may use at once. Safe to share between threads.

    ``log_entries`` past recalls are kept for each namespace. ``server`` has connections to use instead of new ones.

    Raises:
        StoreTooOld: The tables are missing or old; the error names the command to run.
        StoreTooNew: A newer Perdure made them.
        StoreUnavailable, StoreDenied: The server cannot be reached, or refuses.
    """

    def __init__(self, address: Address, *, log_entries: int = 5000, server: Server | None = None) -> None:
        self.address, self.prefix, self.log_entries = address, address.prefix, log_entries
        self.schema: SchemaStatus = check_schema(address)
        self._replica = self.schema.read_only
        self._refused: Unwritable = ""  # why the last write was refused
        self._server = server or Server(address)
        self._stemmer = Stemmer()
        self._counted = 0
        self._meta: Sequence[tuple[Any, ...]] = ()  # what the last search read of the schema
        self._told = 0  # what the server's clock said, less this machine's monotonic one, in milliseconds
        self._statistics: dict[str, SearchStatistics] = {}  # of a namespace, as they last were: a guess
        self._lock = threading.Lock()
        atexit.register(self.close)

    @property
    def read_only(self) -> bool:
        """Whether the server takes no writes now; a replica is asked again each time, because it may be promoted."""
        if self._replica:
            self._replica = bool(self._server.admin(lambda s: s.rows("server_status"), reading=True)[0][0])
        return self._replica

    @property
    def unwritable(self) -> Unwritable:
        """Why the server takes no writes now: it is read-only, or it refused the last write of this process."""
        return "read-only" if self.read_only else self._refused

    def health(self) -> StoreHealth:
        """Look at the tables over a new connection, as a new process would; it fails at once where there is none."""
        found = check_schema(self.address)
        return StoreHealth(found.version, not found.read_only and self._refused != "full")

    def clock(self, *, anew: bool) -> Instant | None:
        if anew or not self._told:
            self._told = int(self._global("server_clock")[0][0]) - int(1000 * time.monotonic())
        return self._told + int(1000 * time.monotonic())

    def viewing(self, namespace: str, work: Callable[[], T]) -> T:
        return self._server.viewing(namespace, work)

    # --- writing

    def apply(
        self, plan: Plan, *, fence: Lease | None = None, check: Callable[[TransactionView], None] | None = None
    ) -> None:
        if self.read_only:
            raise StoreReadOnly(f"{self.address.shown} is read-only.", remedy="Use the primary's URL.")

        def work(session: PostgresSession, again: bool) -> None:  # the server calls it by position
            apply_plan(session, plan, self._stemmer, fence, again=again)
            if check is not None:
                check(SqlTransactionView(session, plan.namespace, self._pool_of(session)))

        with self.documents.naming_damage(plan):
            try:
                self._write_noted(plan.namespace, work)
            except AlreadyApplied:
                return
            except UniqueViolation as error:
                raise conflict_of(error, plan) from error
        note_written(plan.id)

    def count(self, plan: Plan) -> None:
        """Append a recall's accesses without waiting for the disk or for a writer of the namespace.

        What its search has read says whether a newer version lets this one write: asking again would be a round trip.
        """
        try:
            check_meta(self._meta)
        except StoreTooNew:
            return
        if self.read_only:
            return
        with self._lock:
            self._counted += 1
            trim = self._counted % min(_TRIM_EVERY, self.log_entries // 8 + 1) == 0
        self._write_noted(plan.namespace, lambda s, again: self._count(s, plan, again=again, trim=trim), flush=False)

    def _count(self, session: PostgresSession, plan: Plan, *, again: bool, trim: bool) -> None:
        logged = [c for c in plan.changes if c.target is Target.RECALL and c.after and self.log_entries]
        for change in logged:
            row = require_row(change.after)
            bindings = {"id": change.id, "at_ms": row["at_ms"], "query": row["query"], "hits": list(row["hits"])}
            if not again:
                session.run("insert_recall", **bindings)
            elif session.changed_rows("insert_recall", **bindings) == 0:
                return  # an earlier try was committed after all
        if again and not logged:
            return  # nothing tells whether it was counted: once at most
        accesses: list[Row] = [{**require_row(c.after), "id": c.id} for c in plan.changes if c.target is Target.ACCESS]
        if accesses:
            session.run_rows("insert_access", accesses)
        if logged and trim:
            session.run("trim_recalls", kept=self.log_entries)

    # --- searching

    def search(self, namespace: str, query: Query, filters: Filters, policy: RecallPolicy) -> Pool:
        try:
            return self._server.read(namespace, lambda s: self._pool_of(s)(query, filters, policy))
        except StoreDamaged:
            if query.vector is None or not self._warn_of_vectors(namespace):
                raise
            return self.search(namespace, replace(query, vector=None), filters, policy)

    def _warn_of_vectors(self, namespace: str) -> bool:
        """Warn of vectors of a wrong size, which no other can be compared with; False where there are none."""
        ids = self._ids(namespace, "wrong_vectors", limit=_MOST_NAMED)
        reading.warn_of_vectors(namespace, ids)
        return bool(ids)

    def _pool_of(self, session: PostgresSession) -> Callable[[Query, Filters, RecallPolicy], Pool]:
        def pool(query: Query, filters: Filters, policy: RecallPolicy) -> Pool:
            search = PostgresSearch(session, policy, self._stemmer)
            found = search.pool(query, filters)
            self._meta = search.meta
            return found

        return pool

    def details(self, namespace: str, ids: Sequence[str]) -> Details:
        return self._read_once(namespace, lambda s: reading.details(s, namespace, ids))

    def nearest(self, namespace: str, vectors: Sequence[Vector], limit: int) -> list[Neighbours]:
        return self._nearest(namespace, vectors, limit)[1] if vectors else []

    def known_and_near(self, namespace: str, text: str, vector: Vector, limit: int) -> tuple[list[str], Neighbours]:
        known, (near,) = self._nearest(namespace, [vector], limit, [text])
        return known, near

    def _nearest(
        self, namespace: str, vectors: Sequence[Vector], limit: int, texts: Sequence[str] = ()
    ) -> tuple[list[str], list[Neighbours]]:
        statistics = self._statistics.get(namespace, SearchStatistics())
        try:
            known, found, now = self._server.read(
                namespace,
                lambda s: PostgresSearch(s, RecallPolicy(), self._stemmer).nearest(vectors, limit, statistics, texts),
                once=True,
            )
        except StoreDamaged:
            if not self._warn_of_vectors(namespace):
                raise
            return self.ids_of_texts(namespace, texts) if texts else [], [[] for _ in vectors]
        if len(self._statistics) > _MOST_CACHED:
            self._statistics = {}
        self._statistics[namespace] = now
        return known, found

    def prepare_space(self, space: Space, *, to_search: bool = False) -> None:
        if to_search and self.prefix and self.space() not in (None, space):
            raise NotAllowed(
                f"This would change the vectors of the whole server, not only those below {self.prefix!r}.",
                remedy="Open it with the embedder that the server's vectors are from; the server's operator changes "
                "that with `perdure reembed` and the address without namespace_prefix.",
            )
        super().prepare_space(space)

    def events(self, namespace: str, day: Instant, week: Instant, most: int) -> list[tuple[str, int, int, int]]:
        try:
            return super().events(namespace, day, week, most)
        except StoreDamaged:  # the server reads all lines or none
            reading.warn_of_journal(namespace)
            return []

    # --- upkeep of the server

    def optimize(self, namespace: str, at: Instant, cells_above: int) -> Mapping[str, int]:  # noqa: ARG002  # the protocol's
        """Give a large namespace an index for approximate search; smaller ones are searched exactly."""
        return build_index(self.address, self._server, namespace, cells_above)

    def lacks_index(self, namespace: str, above: int) -> bool:
        rows = self._rows(namespace, "search_statistics")
        found = SearchStatistics.of(rows)
        return found.space is not None and found.vectors >= above and not found.approximate

    def size(self) -> StoreSize:
        if self.prefix:
            return StoreSize(0, 0)
        sizes, _ = self._server.ask_nodes("size_on_nodes", tables=list(tables()), down=list(self.unreachable))
        here = () if sizes else self._global("size_of_tables")
        return StoreSize(sum(map(int, sizes)) + sum(int(size) for (size,) in here), 0)

    def compact(self) -> tuple[str, ...]:
        """Vacuum the tables, which blocks nobody; only an operator can give their gaps back to the disk."""
        if self.read_only:
            raise StoreReadOnly(f"{self.address.shown} is read-only.", remedy="Use the primary's URL.")
        return (_OPERATORS,) if self.prefix else (*vacuum(self.address, self._server), _FULL_VACUUM)

    def check(self, scope: CheckScope, namespace: str | None = None) -> list[Fault]:
        if namespace is not None:
            return list(journal_faults(self._server.read, namespace, scope))
        return list(find_faults(self._server, self.schema, self.namespaces, scope, self._stemmer))

    def rebuild(self, *, keep_texts: bool) -> None:
        """Make indexes of words and counts anew, after what is missing of the schema, or acts on it and is not ours."""
        restore_schema(self.address)
        self._admin(restore_spaces)
        rebuild(self._server, self.namespaces, self._stemmer, keep_texts=keep_texts)

    def forget_texts(self, namespace: str) -> None:
        """Return at once: the store has nothing of texts in this process."""

    def purge(self, namespace: str, texts: Sequence[str], names: Sequence[str] = ()) -> Purge:  # noqa: ARG002  # the protocol's
        """Vacuum the tables, and search them for passages of the erased texts."""
        return purge(self.address, self._server, texts)

    def close(self) -> None:
        atexit.unregister(self.close)
        self._server.close()

    @property
    def transfer(self) -> PostgresTransfer:
        return PostgresTransfer(self._rows, self._global, self._server, self._stemmer)

    @property
    def nbytes(self) -> int:
        """Bytes that search indexes hold in this process's memory: none."""
        return 0

    # --- how statements are run

    def _read(self, namespace: str, work: Callable[[Session], T]) -> T:
        return self._server.read(namespace, work)

    def _read_once(self, namespace: str, work: Callable[[Session], T]) -> T:
        return self._server.read(namespace, work, once=True)

    def _write(self, namespace: str, work: Callable[[Session], T]) -> T:
        return self._write_noted(namespace, lambda s, _: work(s))

    def _write_noted(self, namespace: str, work: Callable[[PostgresSession, bool], T], *, flush: bool = True) -> T:
        """Run a transaction that writes, and remember whether the server refused it for want of space or right."""
        try:
            found = self._server.write(namespace, work, flush=flush)
        except DiskFull:
            self._refused = "full"
            raise
        except StoreReadOnly:
            self._refused = "read-only"
            raise
        self._refused = ""
        return found

    def _rewrite_journal(self, namespace: str, work: Callable[[Session], T]) -> T:
        def rewrite(session: PostgresSession, _: bool) -> T:  # the server calls it by position
            session.rows("lock_namespace")
            session.set_local("perdure.erasing", "on")  # the one thing that the journal's policies let change a line
            return work(session)

        return self._server.write(namespace, rewrite)

    def _admin(self, work: Callable[[Session], T]) -> T:
        return self._server.admin(work)

    def _global(self, name: str, /, **bindings: Any) -> list[tuple[Any, ...]]:
        return self._server.admin(lambda s: s.rows(name, **bindings), reading=True)

    @property
    def unreachable(self) -> tuple[str, ...]:
        return self._server.unreachable

    def _everywhere(self, name: str, /, **bindings: Any) -> list[tuple[Any, ...]]:
        rows = self._server.everywhere(lambda s: self._rows_of(s, name, bindings), once=True)
        if missing := self._server.unreachable:
            if name in _BY_ID:
                if not rows:
                    raise node_unavailable(*missing)  # it may lie there
            else:
                text = f"Left out: the namespaces on {', '.join(missing)}, which cannot be reached."
                warn(text, IncompleteWarning, stacklevel=2)
        return rows

    def _rows_of(self, session: PostgresSession, name: str, bindings: dict[str, Any]) -> list[tuple[Any, ...]]:
        with session.together():
            if name in _BY_DUE:
                session.set_local("enable_seqscan", "off")  # prepared, it takes a third of all memories for due
            cursor = session.run(name, **bindings)
        return cursor.fetchall()

    def _newest_operations(self, limit: int, without: list[str]) -> list[tuple[Any, ...]]:
        """Return rows by their ids, but those of one namespace in the order in which they happened."""
        rows = self._everywhere("operations", limit=limit, without=without)
        happened: dict[str, list[tuple[Any, ...]]] = {}
        for row in sorted(rows, key=lambda row: int(row[-1])):
            happened.setdefault(row[0], []).append(row)
        newest = sorted(rows, key=lambda row: str(row[1]), reverse=True)
        return [happened[row[0]].pop()[:-1] for row in newest][:limit]
