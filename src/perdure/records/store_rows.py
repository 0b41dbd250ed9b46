"""What operations read from a store besides memories: leases, usage, sizes, canaries, an unfinished plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, Protocol, Self

from perdure.records.instant import Instant
from perdure.records.memory import Record, Tier
from perdure.records.policy_recall import RecallPolicy
from perdure.records.recall import Filters, Pool, Query
from perdure.records.vector import Vector

Neighbours = list[tuple[str, float, Instant | None]]
"""(id, cosine, when it next needs attention), nearest first; None where nothing is due or a gate holds it back."""


class Details(NamedTuple):
    """What a recall reads of memories that it may show."""

    records: list[Record]
    vectors: dict[str, Vector]
    links: list[tuple[str, str, str]]  # (id, kind, other) from or to one of them


@dataclass(frozen=True, slots=True)
class Lease:
    """Who keeps a namespace. Clocks differ between workers: what counts when writing is the epoch, never the time."""

    namespace: str  # which one
    owner: str  # the worker's name
    epoch: int  # how often the lease has changed hands; a write under an older epoch is refused
    until: Instant  # when others may take it, by the clock of whoever looks
    ttl: int  # milliseconds that it lasts from each write on

    def extend(self, now: Instant) -> Lease:
        """Return the lease as it is after a write at an instant."""
        return replace(self, until=max(self.until, now + self.ttl))


@dataclass(frozen=True, slots=True)
class Usage:
    """What a namespace takes."""

    memories: int = 0  # in view
    tokens: int = 0  # of what those show
    bytes: int = 0  # of the texts and metadata of all memories, also of those out of view

    def __add__(self, other: Self) -> Usage:
        return Usage(self.memories + other.memories, self.tokens + other.tokens, self.bytes + other.bytes)


@dataclass(frozen=True, slots=True)
class UpkeepState:
    """What is written down about the upkeep of one namespace."""

    namespace: str  # which
    vectors: int  # that it has
    tasks: Mapping[str, Mapping[str, Any]] | None  # task -> its last run; None where that cannot be read
    lacks: bool  # whether memories in view have no vector; False where that was not asked


class WaitingNamespace(NamedTuple):
    """A namespace where moves wait that were due."""

    namespace: str  # which
    overdue: Instant | None  # since when the first of them waits for a sweep
    held: Instant | None  # since when a gate holds the first of them back
    written: Instant | None  # when anything was written there last


class ImportanceRow(NamedTuple):
    """One visible memory."""

    id: str
    op: str  # the operation that last changed it
    tier: Tier | str
    pinned: bool | int
    importance: float  # base importance, accesses that wait not counted in
    access_count: int
    anchor_ms: Instant
    decayed: float | None  # importance as decay last wrote it down
    decayed_ms: Instant | None
    preview: str  # the beginning of what is shown of it


@dataclass(frozen=True, slots=True)
class Canary:
    """One question and what its answer must hold."""

    text: str  # the question
    source: str  # where it comes from, for people: ``golden query 3``, ``useful recall``
    expect: tuple[str, ...] = ()  # ids of memories, each of which is an answer
    contains: str = ""  # text that some answer must hold; empty if ids are named
    namespace: str = "default"  # where it is asked


@dataclass(frozen=True, slots=True)
class Answer:
    """One hit of a canary: the memory and the words that are shown of it."""

    id: str
    shown: str


@dataclass(frozen=True, slots=True)
class LostAnswer:
    """An answer that a canary had before a plan and has not after it."""

    canary: Canary  # which question
    answer: str  # the memory's id, or the words that no answer holds any more
    ids: tuple[str, ...]  # the memories that were this answer


class SearchView(Protocol):
    """Reads of one namespace."""

    def search(self, query: Query, filters: Filters, policy: RecallPolicy) -> Pool:
        """Return the candidates for a query."""

    def get(self, ids: Sequence[str]) -> list[Record]:
        """Return records in the order asked for; unknown ids are left out."""
        ...


class TransactionView(SearchView, Protocol):
    """Reads inside the transaction that writes a plan, as after it; what is read is gone if it is rolled back."""

    def version(self) -> int:
        """Return how many plans the namespace has seen, with this one."""
        ...

    def usage(self) -> Usage:
        """Count what the namespace takes."""
        ...


@dataclass(frozen=True, slots=True)
class Purge:
    """What a store says after it has removed what deleted rows left behind."""

    searched: int = 0  # how many passages of the erased texts were searched for
    # where one was still found: the namespace, empty for the whole store's files, and a sentence
    places: tuple[tuple[str, str], ...] = ()
    unreachable: tuple[str, ...] = ()  # what could not be searched or cleaned, one sentence each
    short: int = 0  # how many texts were not searched for: no piece of them tells them from others


@dataclass(frozen=True, slots=True)
class StoreSize:
    """What a store takes on disk."""

    bytes: int  # of the file, or of the tables and their indexes
    unused: int  # about how many of them compacting gives back; 0 where the store cannot say


@dataclass(frozen=True, slots=True)
class TrimmedPage:
    """What one transaction did."""

    last: str  # the last operation that was looked at; empty if there was none
    operations: int = 0  # how many lost their images
    damaged: int = 0  # how many were left as they are, because something about them is not as it was written
    end: bool = False  # whether no older operation is left


Unwritable = Literal["", "read-only", "full", "gone"]  # why a store takes no writes; empty where it does


@dataclass(frozen=True, slots=True)
class StoreHealth:
    """What a store says of itself when it is asked again."""

    schema: int  # number of its schema
    writable: bool  # as far as can be said without writing
