"""What operations need from a store. Protocols only."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from perdure.operations.token_store import Tokens
from perdure.records.damage import CheckScope, Fault, JournalOrder, RepairSources
from perdure.records.instant import Instant
from perdure.records.memory import Document, Record, Shelf, State
from perdure.records.memory_preview import MemoryPreview
from perdure.records.plan import Change, Plan
from perdure.records.policy_recall import RecallPolicy
from perdure.records.recall import Filters, Pool, Query
from perdure.records.store_rows import (
    Details,
    ImportanceRow,
    Lease,
    Neighbours,
    Purge,
    StoreHealth,
    StoreSize,
    TransactionView,
    TrimmedPage,
    Unwritable,
    UpkeepState,
    Usage,
    WaitingNamespace,
)
from perdure.records.transfer import Cursor, Line
from perdure.records.vector import Space, Vector

if TYPE_CHECKING:
    from perdure.records.report import JournalEntry, Operation  # its many data classes take time to make

T = TypeVar("T")
Pairs = tuple[tuple[Instant, int], ...]  # (instant, times), oldest first


class RowTransfer(Protocol):
    """What copies a store row by row. Rows are plain data, the same in every store; each call is one transaction."""

    def spaces(self) -> list[tuple[Space, bool]]:
        """Return (space, whether searches use it), in the order in which they became known."""

    def count(self, namespace: str, part: str) -> int:
        """Return how many rows a part of a namespace has."""

    def read(self, namespace: str, part: str, after: Cursor | None, limit: int) -> list[tuple[Cursor, Line]]:
        """Return the next rows, at most so many and some 4 MB, in one order, by age if possible; none at the end."""

    def write(self, namespace: str, part: str, rows: Sequence[Line], before: int) -> None:
        """Append rows to a part that has so many, and bring everything that is derived from them up to date.

        Raises:
            ConflictError: A row is there already, or refers to a memory that is not.
        """


class Documents(Protocol):
    """Small JSON objects beside memories, each on a shelf under (id, name). One that is damaged is left out."""

    @property
    def strict(self) -> Documents:
        """The same for what decides what is written: a document that is damaged raises StoreDamaged, which names it."""

    def page(self, namespace: str, shelf: Shelf, after: tuple[str, str], limit: int) -> list[Document]:
        """Return the next documents of a shelf by (id, name); ``("", "")`` comes before the first."""

    def find(self, namespace: str, shelf: Shelf, ids: Sequence[str]) -> list[Document]:
        """Return the documents of a shelf about some memories, sessions or tasks, by (id, name)."""

    def find_named(self, namespace: str, shelf: Shelf, names: Sequence[str]) -> list[Document]:
        """Return the documents of a shelf that have one of some names, by (id, name)."""

    def names(self, namespace: str, shelf: Shelf) -> dict[str, list[str]]:
        """Return id -> the names of its documents on a shelf, in order; none of them is read."""

    def find_about(self, namespace: str, identity: str) -> list[Document]:
        """Return every document about one memory, session or task, by (shelf, name)."""


class Store(Protocol):
    """Where memories are kept. A method with a namespace reads or writes that one only; limits are counts of rows.

    Pages go on behind ``after``, the key of the last row seen; an empty page is the end. Instants are milliseconds
    since 1970 UTC. Errors of the file or the server are StoreError; the subclass says whose fault it is.
    """

    @property
    def read_only(self) -> bool:
        """Whether nothing can be written: no permission, or a replica."""

    @property
    def unwritable(self) -> Unwritable:
        """Why nothing can be written now: also where the last write of this process failed for want of space."""

    def health(self) -> StoreHealth:
        """Ask again which schema the store has and whether it can be written; StoreError where it cannot be used."""

    def clock(self, *, anew: bool) -> Instant | None:
        """Return what the server's clock says, asked ``anew`` or told before and gone on; None of a file."""

    @property
    def transfer(self) -> RowTransfer:
        """Copies the store row by row."""

    @property
    def documents(self) -> Documents:
        """Documents beside memories."""

    @property
    def tokens(self) -> Tokens:
        """The tokens of the service."""

    def viewing(self, namespace: str, work: Callable[[], T]) -> T:
        """Run work that only reads, little and of one namespace: where it is cheaper, all of one moment."""

    # --- writing

    def apply(
        self, plan: Plan, *, fence: Lease | None = None, check: Callable[[TransactionView], None] | None = None
    ) -> None:
        """Write a plan whole or not at all; durable on return. ``check`` looks before the commit, and may raise.

        Raises:
            ConflictError: The store is not as the plan's before-images say.
            LeaseLost: ``fence`` is given, and another worker holds the namespace.
            StoreReadOnly, StoreBusy, StoreUnavailable, DiskFull: Nothing was written.
        """

    def count(self, plan: Plan) -> None:
        """Append a recall's accesses to their log, without waiting for other writers or for the disk."""

    def take_lease(self, namespace: str, owner: str, now: Instant, ttl: int) -> Lease | None:
        """Take a namespace for ``ttl`` ms if it is free, expired or the owner's; None if another holds it."""

    def leases(self, now: Instant) -> list[Lease]:
        """Return the leases of all namespaces that hold at an instant."""

    def release_lease(self, lease: Lease) -> None:
        """Give a namespace back; no effect if another has taken it."""

    # --- memories

    def get(self, namespace: str, ids: Sequence[str]) -> list[Record]:
        """Return records in the order asked for; unknown ids are left out."""

    def glances(self, namespace: str, ids: Sequence[str]) -> list[MemoryPreview]:
        """Return the texts of memories and who may see them, as ``get`` returns records."""

    def locate(self, identity: str, covers: Callable[[str], bool] = bool) -> str | None:
        """Return the namespace that holds a memory; refuses an id that several hold which a caller reaches (covers)."""

    def find_ids(self, text: str, *, namespace: str | None = None, limit: int) -> list[str]:
        """Return the memory whose id is a text, else those whose id or short id begins with it, in order of ids.

        Looks in all namespaces for None. The case of hexadecimal digits does not matter; an unknown text gives [].
        """

    def list_records(
        self, namespace: str, filters: Filters, limit: int, before: tuple[Instant, str] | None
    ) -> list[Record]:
        """Return records that pass the filters, newest first; ``before`` is (created, id) of the last one seen."""

    def records_by_tier(self, namespace: str, filters: Filters, limit: int) -> list[Record]:
        """Return records that pass the filters: pinned first, then hot and vault, warm, cold; each newest first."""

    def sample_records(self, namespace: str, step: int, limit: int) -> list[Record]:
        """Return every ``step``-th active record."""

    def states(self, namespace: str, ids: Sequence[str]) -> dict[str, tuple[State, str]]:
        """Return id -> (state, id of the last operation), without content; unknown ids are left out."""

    def images(self, namespace: str, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Return id -> the whole row as an insert needs it: state, content, key, vector."""

    def accesses(self, namespace: str, ids: Sequence[str], until: Instant) -> dict[str, Pairs]:
        """Return id -> accesses up to an instant that no sweep has counted in; ids without any are left out."""

    def ids_of_texts(self, namespace: str, texts: Sequence[str]) -> list[str]:
        """Return memories whose text is one of these, up to case and white space, oldest first."""

    def known_and_near(self, namespace: str, text: str, vector: Vector, limit: int) -> tuple[list[str], Neighbours]:
        """Return what ``ids_of_texts`` and ``nearest`` return for one memory, read at once."""

    def ids_of_keys(self, namespace: str, keys: Sequence[str]) -> dict[str, str]:
        """Return idempotency key -> memory id, for those keys that were used."""

    def ids_of_task(self, namespace: str, task: str, after: str, limit: int) -> list[str]:
        """Return the next memories of a task by id."""

    def ids_of_session(self, namespace: str, session: str, after: str, limit: int) -> list[str]:
        """Return the next memories of a session by id."""

    def last_turn(self, namespace: str, session: str) -> int:
        """Return a session's last turn, -1 for none."""

    def all_ids(self, namespace: str, after: str, limit: int) -> list[str]:
        """Return the next memories by id, the hidden ones included."""

    def importance_rows(self, namespace: str, after: str, limit: int, width: int) -> list[ImportanceRow]:
        """Return the next active memories by id, each with the first ``width`` characters of what is shown of it."""

    def unconfirmed_facts(self, namespace: str, until: Instant, times: int, limit: int) -> list[str]:
        """Return active facts with fewer confirmations than ``times``, the last before ``until``: oldest first."""

    # --- links: (kind, other id, weight)

    def links(self, namespace: str, identity: str) -> list[tuple[str, str, float]]:
        """Return a memory's links in both directions: (kind, other id, weight)."""

    def links_to(self, namespace: str, identity: str) -> list[tuple[str, str, float]]:
        """Return the links that others have to a memory: (id, kind, weight)."""

    def links_at(self, namespace: str, ids: Sequence[str]) -> list[tuple[str, str, str]]:
        """Return all links from or to some memories: (id, kind, other)."""

    def links_of_kind(
        self, namespace: str, kind: str, after: tuple[str, str], limit: int
    ) -> list[tuple[str, str, float]]:
        """Return the next links of a kind, from the memory that has them: (id, other, weight), by (id, other)."""

    # --- maintenance

    def namespaces(self) -> list[str]:
        """Return all namespaces in order; without those on nodes that do not answer, see ``unreachable``."""

    @property
    def unreachable(self) -> tuple[str, ...]:
        """The nodes of a cluster that did not answer when all were last asked."""

    def due_namespaces(self, now: Instant, policy: str) -> list[tuple[str, str]]:
        """Return (namespace, policy of its last sweep) where something is due, or that policy is another one."""

    def overdue_namespaces(self, now: Instant) -> list[WaitingNamespace]:
        """Return where moves that were due by an instant wait, and since when, by one statement for all namespaces."""

    def upkeep_states(self, after: str, limit: int, *, lacking: bool) -> list[UpkeepState]:
        """Return what is written down about the upkeep of the next namespaces by name, by few statements for all.

        Args:
            after: The namespace before them; empty for none.
            limit: How many at most.
            lacking: Whether to look for memories without vectors.
        """

    def due_ids(
        self, namespace: str, now: Instant, after: tuple[Instant, int], limit: int, *, held: bool
    ) -> list[tuple[str, Instant, int]]:
        """Return the next memories that are due, either those held back or the others: (id, due, row), as ``after``."""

    def accessed_ids(self, namespace: str, now: Instant, after: str, limit: int) -> list[str]:
        """Return the next memories by id with accesses that no sweep has counted in."""

    def visible_count(self, namespace: str) -> int:
        """Return how many memories are active."""

    def visible_tokens(self, namespace: str) -> int:
        """Return the tokens of all active memories."""

    def usage(self, namespace: str) -> Usage:
        """Count what a namespace takes; all its texts are measured."""

    def stored_by_day(self, namespace: str, since: Instant) -> list[tuple[int, int]]:
        """Return (day, memories stored on it) since an instant; days are counted from 1970 UTC."""

    def gone_by_day(self, namespace: str, since: Instant) -> list[tuple[int, str, int]]:
        """Return (day, operation, memories that it took out of view) since an instant, by the date of the loss."""

    def shortened_by_day(self, namespace: str, since: Instant) -> list[tuple[int, int]]:
        """Return (day, memories that have had a shorter form since that day) since an instant."""

    def tally(self, namespace: str | None) -> list[tuple[str, str, str, str, int]]:
        """Return (namespace, kind, tier, status, count), of all namespaces for None."""

    def count_due(self, namespace: str | None, now: Instant) -> int:
        """Return how many memories are due by an instant, of all namespaces for None."""

    def count_changes(self, namespace: str | None, since: Instant) -> int:
        """Return how many changes the journal has taken in since an instant."""

    def erasures(self, namespace: str | None, since: Instant) -> list[tuple[str, str]]:
        """Return (namespace, operation) of what was erased since an instant, by whichever process."""

    def operations_ahead(self, namespace: str, now: Instant, most: int, of: str = "") -> list[tuple[str, str, Instant]]:
        """Return (id, name, instant) after an instant, of all but upkeep or those ``of`` undo, the latest first."""

    def events(self, namespace: str, day: Instant, week: Instant, most: int) -> list[tuple[str, int, int, int]]:
        """Return (what became of memories, 1 if they show less, 1 if since ``day``, count) by the newest lines."""

    def lacks_index(self, namespace: str, above: int) -> bool:
        """Whether searches of a namespace of so many vectors would be faster with an index that upkeep builds."""

    def optimize(self, namespace: str, at: Instant, cells_above: int) -> Mapping[str, int]:
        """Bring search structures up to date, from ``cells_above`` vectors on approximate ones; return counts."""

    def size(self) -> StoreSize:
        """Return what the store takes on disk; all of it may be looked at."""

    def compact(self) -> tuple[str, ...]:
        """Rewrite the store without its gaps, as far as it can itself, and return what to know besides.

        Raises:
            StoreReadOnly, StoreBusy, DiskFull: Nothing was done.
        """

    def check(self, scope: CheckScope, namespace: str | None = None) -> list[Fault]:
        """Return what is damaged; with a namespace only there, and only against its journal. Writers go on."""

    def unfinished(self) -> str:
        """Return which copy or import into the empty store has begun and not ended; empty for none."""

    def mark_unfinished(self, work: str) -> None:
        """Say that a copy or import has begun, or with an empty text that it has ended."""

    def repairs(self, namespace: str, ids: Sequence[str], operation: str, sources: RepairSources) -> list[Change]:
        """Return the changes, for ``operation`` to write, that make what a check found wrong what the journal says."""

    def journal_order(self, namespace: str) -> JournalOrder:
        """Return the operations of a namespace by number, and those that are not there and that lines name."""

    def restore_operation(self, namespace: str, number: int, row: Line, lines: Sequence[Line]) -> None:
        """Put an operation and its lines, as ``transfer`` reads them, in the place of what is damaged of them."""

    def rebuild(self, *, keep_texts: bool) -> None:
        """Rebuild what is derived from rows: search indexes, counts; drop triggers that are not ours.

        Texts and vectors without a memory are dropped, unless they are to be kept for memories that are restored.
        """

    def forget_texts(self, namespace: str) -> None:
        """Drop what this process keeps of texts of a namespace to be faster."""

    def purge(self, namespace: str, texts: Sequence[str], names: Sequence[str] = ()) -> Purge:
        """Remove what deleted rows left behind, names as well, and search for passages of the texts; may take long."""

    def close(self) -> None:
        """Write what waits, and close. Calling it twice is harmless."""

    # --- the journal

    def operation(self, identity: str, covers: Callable[[str], bool] = bool) -> Operation | None:
        """Return an operation; refuses an id that several namespaces have which a caller reaches (covers)."""

    def operations(self, namespace: str | None, limit: int, *, without: Collection[str] = ()) -> list[Operation]:
        """Return the newest operations first, of all namespaces for None; those of some names are left out."""

    def find_operations(self, text: str, limit: int, *, namespace: str | None = None) -> list[str]:
        """Return the operation with this id, else those whose id or short id begins so; of all namespaces for None."""

    def changes(self, namespace: str, operation: str) -> list[Change]:
        """Return what an operation changed, in its order."""

    def journal(self, namespace: str, identity: str) -> list[JournalEntry]:
        """Return the journal's lines about a memory, oldest first."""

    def trim_journal(self, namespace: str, until: Instant, after: str) -> TrimmedPage:
        """Take the images out of the next undamaged operations before an instant; ``after`` is the last one seen."""

    def journal_bytes(self, namespace: str) -> int:
        """Return how many characters the lines of a journal have; all of them are read."""

    def recalls(self, namespace: str, limit: int) -> list[tuple[str, Instant, str, tuple[str, ...]]]:
        """Return past recalls, newest first: (id, instant, query, ids of the hits)."""

    # --- searching

    def search(self, namespace: str, query: Query, filters: Filters, policy: RecallPolicy) -> Pool:
        """Return the candidates for a query that pass the filters."""

    def nearest(self, namespace: str, vectors: Sequence[Vector], limit: int) -> list[Neighbours]:
        """Return, for each vector, the nearest active memories, nearest first."""

    def vectors(self, namespace: str, ids: Sequence[str]) -> dict[str, Vector]:
        """Return id -> unit vector for those memories that have one in the active space."""

    def details(self, namespace: str, ids: Sequence[str]) -> Details:
        """Return what ``get``, ``vectors`` and ``links_at`` return, read at once."""

    def space(self) -> Space | None:
        """Return the embedding space that searches use, None before the first vector."""

    def add_space(self, space: Space, *, activate: bool) -> None:
        """Make a space known and the one that searches use; a no-op where it is so already.

        Raises:
            SpaceMismatch: ``activate`` is False, and another space is active: vectors of two spaces do not compare.
        """

    def prepare_space(self, space: Space, *, to_search: bool = False) -> None:
        """Make a space known, to be filled beside the active one; part of a server refuses what is ``to_search``."""

    def without_vector(self, namespace: str, space: Space, after: int, limit: int) -> list[tuple[int, str, str]]:
        """Return the next memories without a vector in a space: (row, id, searchable text); ``after`` is a row."""

    def count_without_vector(self, namespace: str | None) -> int:
        """Return how many active memories lack a vector in the active space, of all namespaces for None."""
