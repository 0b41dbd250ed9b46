"""The PostgreSQL store: what operations ask of a store, over one server. See operations/ports.py for the contract."""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from psycopg.errors import UniqueViolation

from perdure.records.errors import StoreReadOnly
from perdure.records.instant import Instant
from perdure.records.lease import Lease
from perdure.records.memory import Record, State
from perdure.records.plan import Change, Plan, Target
from perdure.records.policy import RecallPolicy
from perdure.records.recall import Filters, Pool, Query
from perdure.records.report import Entry, Operation
from perdure.records.transaction_view import TransactionView
from perdure.records.vector import Vector
from perdure.stores.postgres import reading as read
from perdure.stores.postgres.approximate import build_index
from perdure.stores.postgres.checking import faults
from perdure.stores.postgres.inserting import insert_accesses
from perdure.stores.postgres.schema import Standing, examined
from perdure.stores.postgres.searching import PostgresSearch
from perdure.stores.postgres.server import Address, Server, Session
from perdure.stores.postgres.spaces import StoreSpaces
from perdure.stores.postgres.transaction_view import PostgresTransactionView
from perdure.stores.postgres.transfer import PostgresTransfer
from perdure.stores.postgres.writing import AppliedBefore, apply_plan, conflict_of
from perdure.stores.rows import change_of, content_digest, entry_of, operation_of, present
from perdure.stores.sql_store import SqlStore
from perdure.stores.statements import filter_parts
from perdure.stores.words import Stemmer

_TRIM_EVERY: Final = 20
"""The log of recalls is trimmed at every so many recalls of a process: it may be longer by as many for each process."""


class PostgresStore(SqlStore, StoreSpaces):
    """Memories on a PostgreSQL server that many processes and machines may use at once. Safe to share between threads.

    Args:
        address: The server, and the prefix that is bound to its connections.
        log_entries: Past recalls kept for each namespace.
        server: Connections to use instead of new ones.

    Raises:
        StoreTooOld: The tables are missing or old; the error names the command to run.
        StoreTooNew: A newer Perdure made them.
        StoreUnavailable, StoreDenied: The server cannot be reached, or refuses.
    """

    def __init__(self, address: Address, *, log_entries: int = 5000, server: Server | None = None) -> None:
        self.address, self.log_entries = address, log_entries
        self.standing: Standing = examined(address)
        self._replica = self.standing.read_only
        self._server = server or Server(address)
        self._stemmer = Stemmer()
        self._counted = 0
        self._lock = threading.Lock()
        atexit.register(self.close)

    @property
    def read_only(self) -> bool:
        """Whether the server takes no writes now; a replica is asked again each time, because it may be promoted."""
        if self._replica:
            self._replica = bool(self._server.admin(lambda s: s.rows("standing_of_server"))[0][0])
        return self._replica

    # --- writing

    def apply(
        self, plan: Plan, *, fence: Lease | None = None, check: Callable[[TransactionView], None] | None = None
    ) -> None:
        """Write a plan whole or not at all, durable when this returns; ``check`` looks before it is final.

        Raises:
            ConflictError: The store is not as the plan's before-images say.
            LeaseLost: ``fence`` is given, and the namespace has another keeper by now.
            StoreReadOnly, StoreBusy, StoreUnavailable: The server could not be written; nothing was.
        """
        if self.read_only:
            raise StoreReadOnly(f"{self.address.shown} is read-only.", remedy="Name the primary in the URL.")

        def work(session: Session, again: bool) -> None:  # the server calls it by position
            apply_plan(session, plan, self._stemmer, fence, again=again)
            if check is not None:
                check(PostgresTransactionView(session, self._stemmer, plan.namespace))

        try:
            self._server.write(plan.namespace, work)
        except AppliedBefore:
            return
        except UniqueViolation as error:
            raise conflict_of(error, plan) from error

    def count(self, plan: Plan) -> None:
        """Append a recall's accesses without waiting for the disk or for a writer of the namespace."""
        if self.read_only:
            return
        with self._lock:
            self._counted += 1
            trim = self._counted % _TRIM_EVERY == 1
        self._server.write(plan.namespace, lambda s, again: self._count(s, plan, again=again, trim=trim), flush=False)

    def _count(self, session: Session, plan: Plan, *, again: bool, trim: bool) -> None:
        logged = [c for c in plan.changes if c.target is Target.RECALL and c.after and self.log_entries]
        for change in logged:
            row = present(change.after)
            bindings = {"id": change.id, "at": row["at_ms"], "query": row["query"], "hits": list(row["hits"])}
            if session.changed("insert_recall", **bindings) == 0:
                return  # an earlier try was committed after all
        if again and not logged:
            return  # nothing tells whether it was counted: once at most
        accesses = [c for c in plan.changes if c.target is Target.ACCESS]
        if accesses:
            insert_accesses(session, accesses)
        if logged and trim:
            session.run("trim_recalls", kept=self.log_entries)

    # --- leases

    def take_lease(self, namespace: str, owner: str, now: Instant, ttl: int) -> Lease | None:
        """Take a namespace if nobody keeps it, its lease is over, or it is one's own; None if another keeps it."""
        epoch = self._server.write(namespace, lambda s, _: s.value("take_lease", owner=owner, now=now, until=now + ttl))
        return None if epoch is None else Lease(namespace, owner, int(epoch), now + ttl, ttl)

    def release_lease(self, lease: Lease) -> None:
        """Give a namespace back; nothing happens if another has taken it."""
        self._server.write(
            lease.namespace, lambda s, _: s.changed("release_lease", owner=lease.owner, epoch=lease.epoch)
        )

    # --- reading records

    def get(self, namespace: str, ids: Sequence[str]) -> list[Record]:
        """Return records in the order asked for; unknown ids are left out."""
        return self._server.read(namespace, lambda s: read.records(s, namespace, ids)) if ids else []

    def locate(self, identity: str) -> str | None:
        """Return the namespace that holds a memory."""
        rows = self._server.everywhere(lambda s: s.rows("locate", id=identity))
        return self._own(rows[0][0]) if rows else None

    def list_records(
        self, namespace: str, filters: Filters, limit: int, before: tuple[Instant, str] | None
    ) -> list[Record]:
        """Return records that pass the filters, newest first; ``before`` is the last one of the previous page."""
        parts, bindings = filter_parts(filters)
        if before is not None:
            parts, bindings = (*parts, "before_page"), {**bindings, "before_ms": before[0], "before_id": before[1]}
        return self._records(namespace, "listed", parts, limit=limit, **bindings)

    def records_by_tier(self, namespace: str, filters: Filters, limit: int) -> list[Record]:
        """Return records that pass: hot, vault and pinned ones first, then warm, then cold; newest first."""
        parts, bindings = filter_parts(filters)
        return self._records(namespace, "at_hand", parts, limit=limit, **bindings)

    def sample_records(self, namespace: str, step: int, limit: int) -> list[Record]:
        """Return every ``step``-th visible record, at most so many."""
        return self._records(namespace, "sampled", step=step, limit=limit)

    def records_due_for_archive(self, namespace: str, until: Instant, limit: int) -> list[Record]:
        """Return visible records in cold that fall due by an instant, soonest first: from cold, due means archived."""
        return self._records(namespace, "fading", until=until, limit=limit)

    def _records(
        self, namespace: str, name: str, parts: tuple[str, ...] | None = None, **bindings: Any
    ) -> list[Record]:
        return self._server.read(
            namespace, lambda s: read.records(s, namespace, [i for (i,) in s.rows(name, parts, **bindings)])
        )

    def states(self, namespace: str, ids: Sequence[str]) -> dict[str, tuple[State, str]]:
        """Return id -> (state, last operation), without content."""
        return self._server.read(namespace, lambda s: read.states(s, ids))

    def images(self, namespace: str, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Return id -> the whole row, as an insert would need it."""
        return self._server.read(namespace, lambda s: read.images(s, namespace, ids))

    def accesses(self, namespace: str, ids: Sequence[str], until: Instant) -> dict[str, read.Pairs]:
        """Return id -> accesses that no sweep has counted in."""
        return self._server.read(namespace, lambda s: read.accesses(s, ids, until))

    def links(self, namespace: str, identity: str) -> list[tuple[str, str, float]]:
        """Return a memory's links in both directions: (kind, other id, weight)."""
        rows = self._rows(namespace, "links_of", id=identity)
        return [(kind, other, weight) for kind, other, weight in rows]

    def links_to(self, namespace: str, identity: str) -> list[tuple[str, str, float]]:
        """Return the links that others have to a memory: (id, kind, weight)."""
        rows = self._rows(namespace, "links_to", id=identity)
        return [(other, kind, weight) for other, kind, weight in rows]

    def ids_of_texts(self, namespace: str, texts: Sequence[str]) -> list[str]:
        """Return memories whose text is one of these, up to case and white space, oldest first."""
        digests = [content_digest(text) for text in texts]
        return [i for (i,) in self._rows(namespace, "find_digests", digests=digests)]

    def ids_of_keys(self, namespace: str, keys: Sequence[str]) -> dict[str, str]:
        """Return idempotency key -> memory id for those keys that were used."""
        return dict(self._rows(namespace, "find_keys", keys=list(keys))) if keys else {}

    def last_turn(self, namespace: str, session: str) -> int:
        """Return a session's last turn, -1 for none."""
        rows = self._rows(namespace, "last_turn", session=session)
        return int(rows[0][0]) if rows else -1

    # --- what is due

    def namespaces(self) -> list[str]:
        """Return all namespaces that have the connection's prefix, without it."""
        return sorted(self._own(n) for (n,) in self._server.everywhere(lambda s: s.rows("namespaces")))

    def due_namespaces(self, now: Instant, policy: str) -> list[tuple[str, str]]:
        """Return (namespace, policy it was last swept under) where something is due, or the policy has changed."""
        rows = self._server.everywhere(lambda s: s.rows("due_namespaces", now=now, policy=policy))
        return sorted((self._own(n), known) for n, known in rows)

    def due_ids(
        self, namespace: str, now: Instant, after: tuple[Instant, int], limit: int
    ) -> list[tuple[str, Instant, int]]:
        """Return the next memories whose due instant has come: (id, due, cursor)."""
        rows = self._rows(namespace, "due_ids", now=now, due=after[0], row=after[1], limit=limit)
        return [(identity, due, row) for identity, due, row in rows]

    def accessed_ids(self, namespace: str, now: Instant, after: str, limit: int) -> list[str]:
        """Return the next memories with accesses that no sweep has counted in."""
        return [i for (i,) in self._rows(namespace, "accessed_ids", now=now, after=after, limit=limit)]

    def all_ids(self, namespace: str, after: str, limit: int) -> list[str]:
        """Return the next memories of a namespace by id."""
        return [i for (i,) in self._rows(namespace, "all_ids", after=after, limit=limit)]

    def visible_count(self, namespace: str) -> int:
        """Return how many memories of a namespace are active."""
        return int(self._rows(namespace, "visible_count")[0][0])

    def hidden_since(self, namespace: str, since: Instant) -> int:
        """Return how many memories were hidden by operations since an instant that were not undone."""
        return int(self._rows(namespace, "hidden_since", since=since)[0][0])

    # --- journal

    def operation(self, identity: str) -> Operation | None:
        """Return one operation, wherever it is."""
        rows = self._server.everywhere(lambda s: s.rows("operation", id=identity))
        return self._operation(rows[0]) if rows else None

    def operations(self, namespace: str | None, limit: int) -> list[Operation]:
        """Return the newest operations first."""
        if namespace is not None:
            return [self._operation(row) for row in self._rows(namespace, "operations_of", limit=limit)]
        rows = self._server.everywhere(lambda s: s.rows("operations", limit=limit))
        return [self._operation(row[:-1]) for row in _newest(rows)[:limit]]

    def changes(self, namespace: str, operation: str) -> list[Change]:
        """Return what an operation changed, as the journal tells it."""
        return [change_of(row) for row in self._rows(namespace, "journal_of_operation", operation=operation)]

    def journal(self, namespace: str, identity: str) -> list[Entry]:
        """Return what the journal says about a memory, oldest first."""
        rows = self._rows(namespace, "journal_of_memory", id=identity)
        return [entry_of((*row[:2], namespace, *row[3:])) for row in rows]

    def recalls(self, namespace: str, limit: int) -> list[tuple[str, Instant, str, tuple[str, ...]]]:
        """Return past recalls, newest first."""
        kept = min(limit, self.log_entries) if self.log_entries else limit  # what is not trimmed yet is not shown
        rows = self._rows(namespace, "recalls", limit=kept)
        return [(identity, at, query, tuple(hits)) for identity, at, query, hits in rows]

    # --- searching

    def search(self, namespace: str, query: Query, filters: Filters, policy: RecallPolicy) -> Pool:
        """Return the candidates for a query."""
        return self._server.read(namespace, lambda s: PostgresSearch(s, policy, self._stemmer).pool(query, filters))

    def nearest(self, namespace: str, vectors: Sequence[Vector], limit: int) -> list[list[tuple[str, float]]]:
        """Return, for each vector, (id, cosine) of the nearest visible memories."""

        def each(session: Session) -> list[list[tuple[str, float]]]:
            search = PostgresSearch(session, RecallPolicy(), self._stemmer)
            return [search.nearest(vector, limit) for vector in vectors]

        return self._server.read(namespace, each)

    def vectors(self, namespace: str, ids: Sequence[str]) -> dict[str, Vector]:
        """Return id -> unit vector for those memories that have one in the active space."""
        return self._server.read(namespace, lambda s: read.vectors(s, ids)) if ids else {}

    # --- statistics and upkeep

    def count_without_vector(self, namespace: str | None) -> int:
        """Return how many active memories have no vector in the active space."""
        found = self._server.admin(read.active_space)
        return self._total("count_without_vector", namespace, space=-1 if found is None else found[0])

    def tally(self, namespace: str | None) -> list[tuple[str, str, str, str, int]]:
        """Return (namespace, kind, tier, status, count)."""
        if namespace is not None:
            rows = self._rows(namespace, "tally_of")
        else:
            rows = self._server.everywhere(lambda s: s.rows("tally"))
        return [(self._own(n), kind, tier, status, count) for n, kind, tier, status, count in rows]

    def count_due(self, namespace: str | None, now: Instant) -> int:
        """Return how many memories are due by an instant."""
        return self._total("count_due", namespace, now=now)

    def optimize(self, namespace: str, at: Instant, cells_above: int) -> Mapping[str, int]:  # noqa: ARG002  # the port's
        """Give a large namespace an index for approximate search; smaller ones are searched exactly."""
        return build_index(self.address, self._server, namespace, cells_above)

    def check(self) -> list[str]:
        """Return what is wrong with the server's tables; empty for sound ones."""
        return faults(self._server, self.standing)

    def close(self) -> None:
        """Close the connections. Calling it twice is harmless."""
        atexit.unregister(self.close)
        self._server.close()

    @property
    def transfer(self) -> PostgresTransfer:
        """What copies the store row by row."""
        return PostgresTransfer(self._server, self._stemmer)

    @property
    def nbytes(self) -> int:
        """Bytes that search indexes hold in this process's memory: none."""
        return 0

    # --- how it is asked

    def _rows(self, namespace: str, name: str, /, **bindings: Any) -> list[tuple[Any, ...]]:
        return self._server.read(namespace, lambda s: s.rows(name, **bindings))

    def _total(self, name: str, namespace: str | None, **bindings: Any) -> int:
        """One count of a namespace, or the sum over all servers."""
        if namespace is not None:
            return int(self._rows(namespace, f"{name}_of", **bindings)[0][0])
        return sum(int(n) for (n,) in self._server.everywhere(lambda s: s.rows(name, **bindings)))

    def _own(self, place: str) -> str:
        return str(place).removeprefix(self.address.prefix)

    def _operation(self, row: Sequence[Any]) -> Operation:
        return operation_of((self._own(row[0]), *row[1:]))


def _newest(rows: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Return operations newest first: by their ids, but those of one namespace in the order in which they happened."""
    listed = sorted(rows, key=lambda row: str(row[1]), reverse=True)
    happened: dict[str, list[tuple[Any, ...]]] = {}
    for row in sorted(rows, key=lambda row: int(row[-1])):
        happened.setdefault(row[0], []).append(row)
    return [happened[row[0]].pop() for row in listed]
