"""What a store over SQL does the same way in every dialect. A dialect says how its statements are run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from perdure.records.damage import JournalOrder, RepairSources
from perdure.records.deadline import unlimited
from perdure.records.digests import content_digests
from perdure.records.instant import Instant
from perdure.records.memory import Record, State, searchable
from perdure.records.memory_preview import MemoryPreview
from perdure.records.plan import Change
from perdure.records.recall import Filters
from perdure.records.store_rows import (
    Details,
    ImportanceRow,
    Lease,
    Neighbours,
    TrimmedPage,
    UpkeepState,
    Usage,
    WaitingNamespace,
)
from perdure.records.transfer import Line
from perdure.records.vector import Space, Vector
from perdure.stores import reading
from perdure.stores.packing import unpack_text
from perdure.stores.reading import Pairs, SqlDocuments
from perdure.stores.repairing import put_operation, row_repairs
from perdure.stores.rows import change_of, entry_of, json_value, operation_of
from perdure.stores.spaces import add_space, prepare_space
from perdure.stores.statements import Session, filter_parts
from perdure.stores.tokens import SqlTokens
from perdure.stores.trimming import trim_page

if TYPE_CHECKING:
    from perdure.records.report import JournalEntry, Operation  # its many data classes take time to make

T = TypeVar("T")
_UNFINISHED: Final = "unfinished:"
_NO_SPACE: Final = -1  # no space has this number


class SqlStore(ABC):
    """Reads and small writes with named statements. See operations/store_protocol.py for what each method returns."""

    log_entries: int  # past recalls kept for each namespace; 0 keeps none
    prefix: str = ""  # of namespaces in the database; callers never see it
    deletes_lines: bool = False  # of the journal; no policy of a server lets anybody

    @property
    def unreachable(self) -> tuple[str, ...]:
        return ()

    # --- how statements are run

    @abstractmethod
    def _read(self, namespace: str, work: Callable[[Session], T]) -> T:
        """Run reads of one namespace; they see this store's own accesses."""

    def _read_once(self, namespace: str, work: Callable[[Session], T]) -> T:
        """Run reads of one namespace that do not need each other's answers."""
        return self._read(namespace, work)

    @abstractmethod
    def _write(self, namespace: str, work: Callable[[Session], T]) -> T:
        """Run a transaction that writes to one namespace."""

    @abstractmethod
    def _admin(self, work: Callable[[Session], T]) -> T:
        """Run a transaction that writes what belongs to no namespace."""

    @abstractmethod
    def _global(self, name: str, /, **bindings: Any) -> list[tuple[Any, ...]]:
        """Return all rows of a statement about what belongs to no namespace."""

    @abstractmethod
    def _everywhere(self, name: str, /, **bindings: Any) -> list[tuple[Any, ...]]:
        """Return all rows of a fan-out."""

    def _rows(self, namespace: str, name: str, /, **bindings: Any) -> list[tuple[Any, ...]]:
        return self._read_once(namespace, lambda s: s.rows(name, **bindings))

    def _ids(self, namespace: str, name: str, /, **bindings: Any) -> list[str]:
        return [values[0] for values in self._rows(namespace, name, **bindings)]

    def _number(self, namespace: str, name: str, /, **bindings: Any) -> int:
        return int(self._rows(namespace, name, **bindings)[0][0])

    def _total(self, namespace: str | None, name: str, /, **bindings: Any) -> int:
        if namespace is not None:
            return self._number(namespace, f"{name}_of", **bindings)
        return sum(int(n) for (n,) in self._everywhere(name, **bindings))

    def _records(
        self, namespace: str, name: str, parts: tuple[str, ...] | None = None, /, **bindings: Any
    ) -> list[Record]:
        return self._read(
            namespace, lambda s: reading.records(s, namespace, [i for (i,) in s.rows(name, parts, **bindings)])
        )

    def _plain(self, place: str) -> str:
        return place.removeprefix(self.prefix)

    # --- leases

    def take_lease(self, namespace: str, owner: str, now: Instant, ttl: int) -> Lease | None:
        epoch = self._write(namespace, lambda s: s.value("take_lease", owner=owner, now=now, until=now + ttl))
        return None if epoch is None else Lease(namespace, owner, int(epoch), now + ttl, ttl)

    def leases(self, now: Instant) -> list[Lease]:
        rows = self._everywhere("leases", now=now)
        return [Lease(self._plain(place), owner, epoch, until, 0) for place, owner, epoch, until in rows]

    def release_lease(self, lease: Lease) -> None:
        with unlimited():  # a call whose time is over must not keep the namespace from others
            self._write(lease.namespace, lambda s: s.run("release_lease", owner=lease.owner, epoch=lease.epoch))

    # --- memories

    def get(self, namespace: str, ids: Sequence[str]) -> list[Record]:
        return self._read_once(namespace, lambda s: reading.records(s, namespace, ids)) if ids else []

    def glances(self, namespace: str, ids: Sequence[str]) -> list[MemoryPreview]:
        return self._read_once(namespace, lambda s: reading.glances(s, namespace, ids)) if ids else []

    def locate(self, identity: str, covers: Callable[[str], bool] = bool) -> str | None:
        places = [self._plain(place) for (place,) in self._everywhere("locate", id=identity)]
        return reading.first_reached(f"memory {identity}", {place: place for place in places}, covers)

    def find_ids(self, text: str, *, namespace: str | None = None, limit: int) -> list[str]:
        return reading.find_by_start(text, ("find_ids", "find_short_ids"), self._row_reader(namespace), limit)

    def _row_reader(self, namespace: str | None) -> Callable[..., list[tuple[Any, ...]]]:
        """Return what runs a statement in one namespace, or in all."""
        if namespace is None:
            return self._everywhere
        return lambda name, /, **bindings: self._rows(namespace, f"{name}_of", **bindings)

    def list_records(
        self, namespace: str, filters: Filters, limit: int, before: tuple[Instant, str] | None
    ) -> list[Record]:
        parts, bindings = filter_parts(filters)
        if before is not None:
            parts, bindings = (*parts, "filter_before"), {**bindings, "before_ms": before[0], "before_id": before[1]}
        return self._records(namespace, "list_records", parts, limit=limit, **bindings)

    def records_by_tier(self, namespace: str, filters: Filters, limit: int) -> list[Record]:
        parts, bindings = filter_parts(filters)
        return self._records(namespace, "records_by_tier", parts, limit=limit, **bindings)

    def sample_records(self, namespace: str, step: int, limit: int) -> list[Record]:
        return self._records(namespace, "sample_records", step=step, limit=limit)

    def states(self, namespace: str, ids: Sequence[str]) -> dict[str, tuple[State, str]]:
        return self._read_once(namespace, lambda s: reading.states(s, ids))

    def images(self, namespace: str, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        return self._read(namespace, lambda s: reading.images(s, namespace, ids))

    def accesses(self, namespace: str, ids: Sequence[str], until: Instant) -> dict[str, Pairs]:
        return self._read_once(namespace, lambda s: reading.accesses(s, ids, until))

    def ids_of_texts(self, namespace: str, texts: Sequence[str]) -> list[str]:
        return self._ids(namespace, "find_digests", digests=list({d for text in texts for d in content_digests(text)}))

    def ids_of_keys(self, namespace: str, keys: Sequence[str]) -> dict[str, str]:
        return dict(self._rows(namespace, "find_all_keys", keys=list(keys))) if keys else {}

    def ids_of_task(self, namespace: str, task: str, after: str, limit: int) -> list[str]:
        return self._ids(namespace, "ids_of_task", task=task, after=after, limit=limit)

    def ids_of_session(self, namespace: str, session: str, after: str, limit: int) -> list[str]:
        return self._ids(namespace, "ids_of_session", session=session, after=after, limit=limit)

    def last_turn(self, namespace: str, session: str) -> int:
        rows = self._rows(namespace, "last_turn", session=session)
        return int(rows[0][0]) if rows else -1

    def all_ids(self, namespace: str, after: str, limit: int) -> list[str]:
        return self._ids(namespace, "all_ids", after=after, limit=limit)

    def importance_rows(self, namespace: str, after: str, limit: int, width: int) -> list[ImportanceRow]:
        rows = self._rows(namespace, "importance_rows", after=after, limit=limit, width=width)
        return [ImportanceRow._make(values) for values in rows]

    def unconfirmed_facts(self, namespace: str, until: Instant, times: int, limit: int) -> list[str]:
        return self._ids(namespace, "unconfirmed_facts", until=until, times=times, limit=limit)

    # --- links

    def links(self, namespace: str, identity: str) -> list[tuple[str, str, float]]:
        return [(kind, other, weight) for kind, other, weight in self._rows(namespace, "links_of", id=identity)]

    def links_to(self, namespace: str, identity: str) -> list[tuple[str, str, float]]:
        return [(other, kind, weight) for other, kind, weight in self._rows(namespace, "links_to", id=identity)]

    def links_at(self, namespace: str, ids: Sequence[str]) -> list[tuple[str, str, str]]:
        return [(identity, kind, other) for identity, kind, other in self._rows(namespace, "links_at", ids=list(ids))]

    def links_of_kind(
        self, namespace: str, kind: str, after: tuple[str, str], limit: int
    ) -> list[tuple[str, str, float]]:
        key = {"kind": kind, "id_after": after[0], "other_after": after[1], "limit": limit}
        return [(identity, other, weight) for identity, other, weight in self._rows(namespace, "links_of_kind", **key)]

    # --- maintenance

    def namespaces(self) -> list[str]:
        return sorted(self._plain(n) for (n,) in self._everywhere("namespaces"))

    def due_namespaces(self, now: Instant, policy: str) -> list[tuple[str, str]]:
        found = self._everywhere("due_namespaces", now=now, policy=policy)
        return sorted((self._plain(n), known) for n, known in found)

    def overdue_namespaces(self, now: Instant) -> list[WaitingNamespace]:
        found = self._everywhere("overdue_namespaces", now=now)
        return sorted(WaitingNamespace(self._plain(n), *since) for n, *since in found)

    def upkeep_states(self, after: str, limit: int, *, lacking: bool) -> list[UpkeepState]:
        found = reading.tasks_by_place(self._everywhere("upkeep_states", after=self.prefix + after, limit=limit))
        places = sorted(found)[:limit]  # of several servers each has told of so many
        lack = self._without_vectors(self.prefix + after, places[-1]) if places and lacking else set()
        return [UpkeepState(self._plain(place), *found[place], place in lack) for place in places]

    def _without_vectors(self, after: str, last: str) -> set[str]:
        """Return the places between two, the second included, with memories that have no vector."""
        space = self._global("active_space")
        number = space[0][0] if space else _NO_SPACE
        return {place for (place,) in self._everywhere("places_without_vector", after=after, last=last, space=number)}

    def due_ids(
        self, namespace: str, now: Instant, after: tuple[Instant, int], limit: int, *, held: bool
    ) -> list[tuple[str, Instant, int]]:
        bindings = {"now": now, "due": after[0], "row": after[1], "limit": limit}
        return [(i, due, row) for i, due, row in self._rows(namespace, "held_ids" if held else "due_ids", **bindings)]

    def accessed_ids(self, namespace: str, now: Instant, after: str, limit: int) -> list[str]:
        return self._ids(namespace, "accessed_ids", now=now, after=after, limit=limit)

    def visible_count(self, namespace: str) -> int:
        return self._number(namespace, "visible_count")

    def visible_tokens(self, namespace: str) -> int:
        return self._number(namespace, "visible_tokens")

    def usage(self, namespace: str) -> Usage:
        return self._read(namespace, reading.usage)

    def stored_by_day(self, namespace: str, since: Instant) -> list[tuple[int, int]]:
        return [(day, many) for day, many in self._rows(namespace, "stored_by_day", since=since)]

    def gone_by_day(self, namespace: str, since: Instant) -> list[tuple[int, str, int]]:
        return [(day, name, many) for day, name, many in self._rows(namespace, "gone_by_day", since=since)]

    def shortened_by_day(self, namespace: str, since: Instant) -> list[tuple[int, int]]:
        return [(day, many) for day, many in self._rows(namespace, "shortened_by_day", since=since)]

    def tally(self, namespace: str | None) -> list[tuple[str, str, str, str, int]]:
        rows = self._everywhere("tally") if namespace is None else self._rows(namespace, "tally_of")
        return [(self._plain(n), kind, tier, status, count) for n, kind, tier, status, count in rows]

    def count_due(self, namespace: str | None, now: Instant) -> int:
        return self._total(namespace, "count_due", now=now)

    def count_changes(self, namespace: str | None, since: Instant) -> int:
        return self._total(namespace, "count_changes", since=since)

    def erasures(self, namespace: str | None, since: Instant) -> list[tuple[str, str]]:
        rows = self._row_reader(namespace)("erasures", first=f"{since >> 16:08x}-{since & 0xFFFF:04x}")
        return [(self._plain(n), identity) for n, identity in rows]

    def operations_ahead(self, namespace: str, now: Instant, most: int, of: str = "") -> list[tuple[str, str, Instant]]:
        return [(i, n, t) for i, n, t in self._rows(namespace, f"{of or 'operation'}s_ahead", now=now, limit=most)]

    def events(self, namespace: str, day: Instant, week: Instant, most: int) -> list[tuple[str, int, int, int]]:
        rows = self._rows(namespace, "events", day=day, week=week, most=most)
        return [(kind, shorter, recent, many) for kind, shorter, recent, many in rows]

    # --- copies that are not finished

    def unfinished(self) -> str:
        rows = self._global("meta", key=_UNFINISHED + self.prefix)
        return str(rows[0][0]) if rows else ""

    def mark_unfinished(self, work: str) -> None:
        key = _UNFINISHED + self.prefix
        self._admin(lambda s: s.run("set_meta", key=key, value=work) if work else s.run("clear_meta", key=key))

    # --- damage, and the journal

    def repairs(self, namespace: str, ids: Sequence[str], operation: str, sources: RepairSources) -> list[Change]:
        return self._read(namespace, lambda s: row_repairs(s, namespace, ids, operation, sources))

    def journal_order(self, namespace: str) -> JournalOrder:
        return JournalOrder(self._rows(namespace, "operations_in_order"), self._ids(namespace, "unnamed_operations"))

    def restore_operation(self, namespace: str, number: int, row: Line, lines: Sequence[Line]) -> None:
        work = partial(put_operation, number=number, row=row, lines=lines, deletes=self.deletes_lines)
        self._rewrite_journal(namespace, work)

    @abstractmethod
    def _rewrite_journal(self, namespace: str, work: Callable[[Session], T]) -> T:
        """Run a transaction that changes lines of the journal; nobody else writes to the namespace meanwhile."""

    def trim_journal(self, namespace: str, until: Instant, after: str) -> TrimmedPage:
        return self._rewrite_journal(namespace, lambda s: trim_page(s, namespace, until, after))

    def journal_bytes(self, namespace: str) -> int:
        return self._number(namespace, "bytes_of_journal")

    def operation(self, identity: str, covers: Callable[[str], bool] = bool) -> Operation | None:
        found = [self._operation(row) for row in self._everywhere("operation", id=identity)]
        return reading.first_reached(f"operation {identity}", {one.namespace: one for one in found}, covers)

    def operations(self, namespace: str | None, limit: int, *, without: Collection[str] = ()) -> list[Operation]:
        names = sorted(without)
        if namespace is None:
            return [self._operation(row) for row in self._newest_operations(limit, names)]
        return [self._operation(row) for row in self._rows(namespace, "operations_of", limit=limit, without=names)]

    def find_operations(self, text: str, limit: int, *, namespace: str | None = None) -> list[str]:
        return reading.find_by_start(
            text, ("find_operations", "find_short_operations"), self._row_reader(namespace), limit
        )

    @abstractmethod
    def _newest_operations(self, limit: int, without: list[str]) -> list[tuple[Any, ...]]:
        """Return the rows of the newest operations of all namespaces, newest first, but those of some names."""

    def _operation(self, row: Sequence[Any]) -> Operation:
        return operation_of((self._plain(row[0]), *row[1:]))

    def changes(self, namespace: str, operation: str) -> list[Change]:
        return [change_of(row) for row in self._rows(namespace, "journal_of_operation", operation=operation)]

    def journal(self, namespace: str, identity: str) -> list[JournalEntry]:
        return [entry_of((*r[:2], namespace, *r[3:])) for r in self._rows(namespace, "journal_of_memory", id=identity)]

    def recalls(self, namespace: str, limit: int) -> list[tuple[str, Instant, str, tuple[str, ...]]]:
        most = min(limit, self.log_entries) if self.log_entries else limit  # what is not trimmed yet is not shown
        rows = self._rows(namespace, "recalls", limit=most)
        return [(identity, at, query, tuple(json_value(hits))) for identity, at, query, hits in rows]

    # --- vectors and their spaces

    def vectors(self, namespace: str, ids: Sequence[str]) -> dict[str, Vector]:
        return self._read_once(namespace, lambda s: reading.vectors(s, namespace, ids)) if ids else {}

    def details(self, namespace: str, ids: Sequence[str]) -> Details:
        return Details(self.get(namespace, ids), self.vectors(namespace, ids), self.links_at(namespace, ids))

    @abstractmethod
    def nearest(self, namespace: str, vectors: Sequence[Vector], limit: int) -> list[Neighbours]:
        """Return what ``Store.nearest`` returns."""

    def known_and_near(self, namespace: str, text: str, vector: Vector, limit: int) -> tuple[list[str], Neighbours]:
        return self.ids_of_texts(namespace, [text]), self.nearest(namespace, [vector], limit)[0]

    def space(self) -> Space | None:
        found = self._global("active_space")
        return Space(*found[0][1:]) if found else None

    def add_space(self, space: Space, *, activate: bool) -> None:
        if self.space() != space:
            self._admin(lambda s: add_space(s, space, activate=activate))

    def prepare_space(self, space: Space, *, to_search: bool = False) -> None:  # noqa: ARG002  # a server's part refuses it
        self._admin(lambda s: prepare_space(s, space))

    def without_vector(self, namespace: str, space: Space, after: int, limit: int) -> list[tuple[int, str, str]]:
        existing = self._global("space_of", name=space.name)
        number = existing[0][0] if existing else _NO_SPACE
        rows = self._rows(namespace, "without_vector", space=number, after=after, limit=limit)
        return [
            (row, identity, searchable(unpack_text(text, pack), speaker)) for row, identity, text, pack, speaker in rows
        ]

    def count_without_vector(self, namespace: str | None) -> int:
        found = self._global("active_space")
        return self._total(namespace, "count_without_vector", space=found[0][0] if found else _NO_SPACE)

    def lacks_index(self, namespace: str, above: int) -> bool:  # noqa: ARG002  # the protocol's
        return False  # a file's is made when somebody asks for it

    # --- documents

    @property
    def documents(self) -> SqlDocuments:
        return SqlDocuments(self._rows)

    # --- tokens

    @property
    def tokens(self) -> SqlTokens:
        return SqlTokens(self._global, self._admin, self.prefix)
