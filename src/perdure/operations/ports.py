"""What operations need from the world: a store, an embedder, a clock, ids. Protocols only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from perdure.knowledge.extraction.entity_names import Names
from perdure.knowledge.extraction.predicates import Predicates
from perdure.knowledge.records.authority import Answer, Citation, Question, Sighting
from perdure.records.canary import Canary
from perdure.records.document import Document, Shelf
from perdure.records.importance_row import Gauge
from perdure.records.instant import Instant
from perdure.records.lease import Lease
from perdure.records.memory import Record, State
from perdure.records.plan import Change, Plan
from perdure.records.policy import Policy, RecallPolicy
from perdure.records.recall import Filters, Pool, Query
from perdure.records.report import Entry, Operation
from perdure.records.transaction_view import Glimpse
from perdure.records.transfer import Cursor, Line
from perdure.records.vector import Space, Vector

Clock = Callable[[], Instant]
Ids = Callable[[Instant], str]
"""An instant to a new UUIDv7; ids of one process never repeat or go backwards."""

Progress = Callable[[int, int], None]
"""(done, total)."""

Pairs = tuple[tuple[Instant, int], ...]
"""(instant, times), oldest first."""


class Embedder(Protocol):
    """Text to vectors of one space."""

    @property
    def space(self) -> Space:
        """The space that the vectors belong to."""
        ...

    def embed(self, texts: Sequence[str], *, purpose: Literal["query", "document"]) -> list[Vector]:
        """Return one unit vector for each text; raises EmbedderError."""
        ...


class Model(Protocol):
    """A language model that answers in JSON. Nothing needs one; what it says is data that is checked."""

    def ask(self, instruction: str, text: str, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return what it says about a text, as an object that fits a JSON Schema; raises ModelError."""
        ...


class Authority(Protocol):
    """Who knows better than a fact: a database. It reads, never writes, and never decides what becomes of a memory."""

    @property
    def name(self) -> str:
        """What it is called in answers."""
        ...

    def knows(self, predicate: str, namespace: str) -> bool:
        """Whether it answers for a predicate in a namespace."""
        ...

    def answers(self, questions: Sequence[Question]) -> list[Answer]:
        """Return an answer to each question, within a time for each; never raises: what fails is ``unreachable``."""
        ...


class Witness(Protocol):
    """Who sees whether what memories cite is there: a working tree."""

    @property
    def name(self) -> str:
        """What it is called in answers."""
        ...

    def covers(self, namespace: str) -> bool:
        """Whether memories of a namespace cite it."""
        ...

    def sight(self, cited: Sequence[Sequence[Citation]]) -> list[list[Sighting]]:
        """Return what became of what each of several memories cites; never raises."""
        ...


class Mover(Protocol):
    """What copies a store row by row. Rows are plain data, the same in every store; each call is one transaction."""

    def spaces(self) -> list[tuple[Space, bool]]:
        """Return (space, whether searches use it), in the order in which they became known."""
        ...

    def count(self, namespace: str, part: str) -> int:
        """Return how many rows a part of a namespace has."""
        ...

    def read(self, namespace: str, part: str, after: Cursor | None, limit: int) -> list[tuple[Cursor, Line]]:
        """Return the next rows, at most so many and not much more than 4 MB; none at the end.

        The order is always the same, and rows that come later in the life of a store come last where they can.
        """
        ...

    def write(self, namespace: str, part: str, rows: Sequence[Line], before: int) -> None:
        """Append rows to a part that has so many, and bring everything that is derived from them up to date.

        Raises:
            ConflictError: A row is there already, or refers to a memory that is not.
        """
        ...


class Around(Protocol):
    """What is around memories: documents on shelves, the memories of a task or session. Reads of one namespace."""

    def documents(self, namespace: str, shelf: Shelf, after: tuple[str, str], limit: int) -> list[Document]: ...
    def documents_of(self, namespace: str, shelf: Shelf, ids: Sequence[str]) -> list[Document]: ...
    def documents_named(self, namespace: str, shelf: Shelf, names: Sequence[str]) -> list[Document]: ...
    def documents_about(self, namespace: str, identity: str) -> list[Document]: ...
    def of_task(self, namespace: str, task: str, after: str, limit: int) -> list[str]: ...
    def of_session(self, namespace: str, session: str, after: str, limit: int) -> list[str]: ...
    def visible_tokens(self, namespace: str) -> int: ...
    def gauges(self, namespace: str, after: str, limit: int, width: int) -> list[Gauge]: ...
    def unsaid(self, namespace: str, until: Instant, times: int, limit: int) -> list[str]: ...
    def linked(self, namespace: str, kind: str, after: tuple[str, str], limit: int) -> list[tuple[str, str, float]]: ...


class Store(Protocol):
    """Where memories are kept. Every statement names one namespace unless it says otherwise."""

    @property
    def read_only(self) -> bool: ...

    @property
    def mover(self) -> Mover: ...
    @property
    def around(self) -> Around: ...
    def apply(
        self, plan: Plan, *, fence: Lease | None = None, check: Callable[[Glimpse], None] | None = None
    ) -> None: ...
    def count(self, plan: Plan) -> None: ...
    def take_lease(self, namespace: str, owner: str, now: Instant, ttl: int) -> Lease | None: ...
    def release_lease(self, lease: Lease) -> None: ...
    def get(self, namespace: str, ids: Sequence[str]) -> list[Record]: ...
    def locate(self, identity: str) -> str | None: ...
    def listed(
        self, namespace: str, filters: Filters, limit: int, before: tuple[Instant, str] | None
    ) -> list[Record]: ...
    def at_hand(self, namespace: str, filters: Filters, limit: int) -> list[Record]: ...
    def sampled(self, namespace: str, step: int, limit: int) -> list[Record]: ...
    def fading(self, namespace: str, until: Instant, limit: int) -> list[Record]: ...
    def states(self, namespace: str, ids: Sequence[str]) -> dict[str, tuple[State, str]]: ...
    def images(self, namespace: str, ids: Sequence[str]) -> dict[str, dict[str, Any]]: ...
    def accesses(self, namespace: str, ids: Sequence[str], until: Instant) -> dict[str, Pairs]: ...
    def links(self, namespace: str, identity: str) -> list[tuple[str, str, float]]: ...
    def links_to(self, namespace: str, identity: str) -> list[tuple[str, str, float]]: ...
    def by_digests(self, namespace: str, texts: Sequence[str]) -> list[str]: ...
    def by_keys(self, namespace: str, keys: Sequence[str]) -> dict[str, str]: ...
    def last_turn(self, namespace: str, session: str) -> int: ...
    def namespaces(self) -> list[str]: ...
    def due_namespaces(self, now: Instant, policy: str) -> list[tuple[str, str]]: ...
    def due(
        self, namespace: str, now: Instant, after: tuple[Instant, int], limit: int
    ) -> list[tuple[str, Instant, int]]: ...
    def accessed(self, namespace: str, now: Instant, after: str, limit: int) -> list[str]: ...
    def every(self, namespace: str, after: str, limit: int) -> list[str]: ...
    def visible_count(self, namespace: str) -> int: ...
    def hidden_since(self, namespace: str, since: Instant) -> int: ...
    def operation(self, identity: str) -> Operation | None: ...
    def operations(self, namespace: str | None, limit: int) -> list[Operation]: ...
    def changes(self, namespace: str, operation: str) -> list[Change]: ...
    def journal(self, namespace: str, identity: str) -> list[Entry]: ...
    def recalls(self, namespace: str, limit: int) -> list[tuple[str, Instant, str, tuple[str, ...]]]: ...
    def search(self, namespace: str, query: Query, filters: Filters, policy: RecallPolicy) -> Pool: ...
    def nearest(self, namespace: str, vectors: Sequence[Vector], limit: int) -> list[list[tuple[str, float]]]: ...
    def vectors(self, namespace: str, ids: Sequence[str]) -> dict[str, Vector]: ...
    def space(self) -> Space | None: ...
    def add_space(self, space: Space, *, activate: bool) -> None: ...
    def prepare_space(self, space: Space) -> None: ...
    def without_vector(self, namespace: str, space: Space, after: int, limit: int) -> list[tuple[int, str, str]]: ...
    def count_without_vector(self, namespace: str | None) -> int: ...
    def tally(self, namespace: str | None) -> list[tuple[str, str, str, str, int]]: ...
    def count_due(self, namespace: str | None, now: Instant) -> int: ...
    def optimize(self, namespace: str, at: Instant, cells_above: int) -> Mapping[str, int]: ...
    def check(self) -> list[str]: ...
    def close(self) -> None: ...


class Backups(Protocol):
    """Where backups are kept."""

    def write(self, namespace: str, at: Instant, lines: Iterable[Line]) -> str:
        """Write a backup, read it back and compare, and return where it is; the file appears only when it is whole.

        Raises:
            DiskFull, StoreError: It could not be written, or does not hold what was written.
        """
        ...


@dataclass(slots=True)
class Context:
    """What every operation is given.

    Attributes:
        store: Where memories are kept.
        policy: The policy in force.
        clock: Returns now.
        ids: Makes ids.
        embedder: Text to vectors, or None for words only.
        tokens: Counts a text's tokens; exact if ``tokens_exact``, else an estimate that errs high.
        warn: Tells the person something once, loudly (for example that the embedder is missing).
        golden: A person's own canaries (``gates.golden``).
        questions: (text, space) -> query, so that a canary's vector is made once.
        backups: Where backups go; None where the store has no place for them.
        model: A language model, or None; it is asked only where the policy says so.
        predicates: What is known of predicates: their names, their sorts (``knowledge.file``).
        crowded: Namespace -> (tokens, day) at which it could not be brought within the policy's budget.
        previews: What a caller asked to see -> a digest of what it would do.
        authorities: Name -> a database that knows better, in the order in which they decide.
        witnesses: Name -> a working tree that memories cite.
        directions: (space, predicate) -> the vector of its name.
        names: Namespace -> (the operation up to which they were read, its names).
    """

    store: Store
    policy: Policy
    clock: Clock
    ids: Ids
    embedder: Embedder | None
    tokens: Callable[[str], int]
    tokens_exact: bool
    warn: Callable[[str], None]
    golden: tuple[Canary, ...] = ()
    questions: dict[tuple[str, str], Query] = field(default_factory=dict)
    backups: Backups | None = None
    model: Model | None = None
    predicates: Predicates = field(default_factory=Predicates)
    previews: dict[object, str] = field(default_factory=dict)
    crowded: dict[str, tuple[int, int]] = field(default_factory=dict)
    authorities: Mapping[str, Authority] = field(default_factory=dict)
    witnesses: Mapping[str, Witness] = field(default_factory=dict)
    directions: dict[tuple[str, str], Vector] = field(default_factory=dict)
    names: dict[str, tuple[str, Names]] = field(default_factory=dict)
