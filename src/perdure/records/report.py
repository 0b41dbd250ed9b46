"""What operations answer: sweeps, forecasts, statistics, histories. Plain frozen data with ``to_dict``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, Final

from perdure.records.fact_reasons import FactReasons
from perdure.records.json_record import JsonRecord
from perdure.records.outcome import Written
from perdure.records.plan import Plan


@dataclass(frozen=True, slots=True)
class TierMove:
    """One move of one memory, made or foreseen."""

    id: str
    namespace: str
    at: str
    move: str
    because: str


@dataclass(frozen=True, slots=True)
class Held:
    """Moves that a gate stopped in one namespace, and why."""

    namespace: str
    ids: tuple[str, ...]
    because: str


@dataclass(frozen=True, slots=True)
class Report(Written):
    """What a sweep did, or would do.

    Attributes:
        dry_run: Whether nothing was written.
        examined: Memories that were due or had been accessed.
        moved: Every move, in the order of its instant.
        counted: Accesses counted in.
        held: What gates stopped.
        operations: Ids of the operations, for ``undo``; empty for a dry run.
        plans: The plans themselves, for a dry run.
    """

    _computed: ClassVar[tuple[str, ...]] = ("tally", "changed")

    dry_run: bool
    examined: int
    moved: tuple[TierMove, ...]
    counted: int = 0
    held: tuple[Held, ...] = ()
    operations: tuple[str, ...] = ()
    plans: tuple[Plan, ...] = ()

    @property
    def tally(self) -> dict[str, int]:
        """How often each kind of move occurred, for example ``{"hot to warm": 12}``."""
        counts: dict[str, int] = {}
        for move in self.moved:
            counts[move.move] = counts.get(move.move, 0) + 1
        return dict(sorted(counts.items()))


@dataclass(frozen=True, slots=True)
class Entry(JsonRecord):
    """One line of the journal: what an operation changed about one row, and why."""

    operation_id: str
    operation: str
    namespace: str
    at: str
    target: str
    id: str
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None
    because: str
    policy: str = ""


_NOTES: Final = frozenset({"policy", "session", "upkeep"})
"""Operations by which workers and hooks write something down for themselves."""


@dataclass(frozen=True, slots=True)
class Operation(JsonRecord):
    """One operation of the journal, without its changes."""

    id: str
    operation: str
    namespace: str
    at: str
    changes: int
    hides: int
    note: str
    policy: str
    undoes: str | None
    undone_by: str | None

    @property
    def is_own(self) -> bool:
        """Whether it can be meant by "the last operation": no undo, not undone, no note of a worker or hook."""
        return self.undoes is None and self.undone_by is None and self.operation not in _NOTES


@dataclass(frozen=True, slots=True)
class Explanation(JsonRecord):
    """Why a memory is as it is: its signals taken apart, its history, and what will happen next.

    Attributes:
        id: The memory.
        summary: A few sentences for people.
        signals: Signal -> how it comes about, in words and numbers.
        value_parts: Part of value -> its share.
        history: Journal entries about it, oldest first.
        next_move: What falls due next and when, or why nothing will.
        links: Other memories it is linked to: (kind, id, weight). A kind that leads here ends in ``_by`` or ``_of``.
        says: Its words, as they are shown now.
        fact: Of a fact: what it rests on, what made it surer, what contradicts it, what comes next.
    """

    id: str
    summary: str
    signals: Mapping[str, str]
    value_parts: Mapping[str, float]
    history: tuple[Entry, ...]
    next_move: str
    links: tuple[tuple[str, str, float], ...] = ()
    fact: FactReasons | None = None
    says: str = ""


@dataclass(frozen=True, slots=True)
class ModelUse:
    """What a language model has cost since the store was opened, by this process.

    Attributes:
        calls: Questions put to it, each with its retries.
        failures: Those that got no answer that fits.
        tokens_in: Tokens of the questions, as the server counts them; 0 where it tells none.
        tokens_out: Tokens of the answers, also of those that did not fit.
        seconds: Time spent waiting.
    """

    calls: int = 0
    failures: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Stats(JsonRecord):
    """The state of a store or a namespace at an instant.

    Attributes:
        namespaces: How many namespaces are counted.
        memories: Visible memories.
        tiers: Tier -> visible memories.
        statuses: Status -> memories.
        kinds: Kind -> visible memories.
        value_percentiles: ``p10``, ``p50``, ``p90`` of current value, over visible memories.
        due_now: Memories whose next move has fallen due.
        due_soon: Those that fall due within seven days.
        at_risk: High-value memories that the next 30 days would archive: (id, value, when).
        review_suggested: Visible memories whose retention is below the policy's threshold.
        without_vector: Visible memories that only words can find.
        space: The embedding space, or None.
        sampled: How many memories the percentiles rest on.
        model: What the language model has cost, or None where none is configured.
        unread: Messages that the language model could not read yet; ``learn`` with their session reads them.
    """

    namespaces: int
    memories: int
    tiers: Mapping[str, int]
    statuses: Mapping[str, int]
    kinds: Mapping[str, int]
    value_percentiles: Mapping[str, float]
    due_now: int
    due_soon: int
    at_risk: tuple[tuple[str, float, str], ...]
    review_suggested: int
    without_vector: int
    space: str | None
    sampled: int = 0
    model: ModelUse | None = None
    unread: int = 0


@dataclass(frozen=True, slots=True)
class Ingested(Written):
    """What an ingest brought in.

    Attributes:
        added: Messages stored.
        skipped: Messages that were there already.
        sessions: Sessions touched.
        operations: Ids of the operations, for ``undo``.
        used: Hits of recalls that replies were found to have used, and that were marked helpful now.
        echoes: Replies that only repeat what was recalled, and were not stored.
    """

    added: int
    skipped: int
    sessions: tuple[str, ...] = ()
    operations: tuple[str, ...] = field(default=())
    used: int = 0
    echoes: int = 0


@dataclass(frozen=True, slots=True)
class Reembedded(Written):
    """What was embedded anew.

    Attributes:
        embedded: Memories that were given a vector.
        space: The space in which searches go on.
        before: The space in which they went before; empty if there was none.
        operations: Ids of the operations, for ``undo``.
    """

    embedded: int
    space: str
    before: str
    operations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Maintained(JsonRecord):
    """What one worker did in one round of upkeep.

    Attributes:
        owner: The worker's name.
        due: Namespaces in which something was due.
        swept: Namespaces that this worker swept.
        kept: Namespaces that another worker was keeping.
        lost: Namespaces that another worker took over meanwhile.
        examined, moves, counted, held: As in ``Report``, over all of them.
        failed: Namespace -> what went wrong there; the others were swept all the same.
    """

    owner: str
    due: int
    swept: int
    kept: int
    lost: int
    examined: int
    moves: int
    counted: int
    held: int
    failed: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a task of upkeep in one namespace.

    Attributes:
        namespace: Where.
        task: ``sweep``, ``report`` or ``backup``.
        outcome: ``done`` or ``failed``.
        note: What came of it, or what went wrong.
    """

    namespace: str
    task: str
    outcome: str
    note: str


@dataclass(frozen=True, slots=True)
class Upkept:
    """What one worker did in one round of upkeep by the schedule.

    Attributes:
        swept: The sweeps.
        runs: Every run of a task that this worker began, in their order.
    """

    swept: Maintained
    runs: tuple[Run, ...]

    @property
    def failed(self) -> dict[str, str]:
        """Namespace -> what went wrong there."""
        return {**self.swept.failed, **{r.namespace: f"{r.task}: {r.note}" for r in self.runs if r.outcome == "failed"}}

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain JSON data."""
        return {**self.swept.to_dict(), "failed": self.failed, "runs": [asdict(run) for run in self.runs]}
