"""What operations answer: sweeps, forecasts, statistics, histories, digests, extraction, forms, back-tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, ClassVar, Final

from perdure.records.instant import InstantText
from perdure.records.journal_growth import JournalGrowth
from perdure.records.json_record import JsonRecord
from perdure.records.outcome import WriteResult
from perdure.records.plan import Plan


@dataclass(frozen=True, slots=True)
class TierMove:
    """One move of one memory, made or foreseen."""

    id: str
    namespace: str
    at: InstantText
    move: str
    because: str


@dataclass(frozen=True, slots=True)
class HeldMoves:
    """Moves that a gate stopped in one namespace, and why."""

    namespace: str
    ids: tuple[str, ...]
    because: str


@dataclass(frozen=True, slots=True)
class SweepReport(WriteResult):
    """What a sweep did, or would do."""

    _computed: ClassVar[tuple[str, ...]] = ("tally", "changed")

    dry_run: bool  # whether nothing was written
    examined: int  # memories that were due or had been accessed
    moved: tuple[TierMove, ...]  # every move, in the order of its instant; of a forecast without details the first
    counted: int = 0  # accesses counted in
    held: tuple[HeldMoves, ...] = ()  # what gates stopped
    operations: tuple[str, ...] = ()  # ids of the operations, for ``undo``; empty for a dry run
    plans: tuple[Plan, ...] = ()  # the plans themselves, for a dry run
    overdue: int = 0  # of a forecast: moves whose instant has passed, which the next sweep makes
    # of a forecast: how often each kind of move falls on a day, for example {"2026-03-01": {"hot to warm": 12}}
    by_day: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    by_rule: Mapping[str, int] = field(default_factory=dict)  # of a forecast: how many moves each rule brings about
    left_out: int = 0  # of a forecast: moves that are counted, but not in ``moved``; ``details`` lists them

    @property
    def tally(self) -> dict[str, int]:
        """How often each kind of move occurs, for example ``{"hot to warm": 12}``."""
        if not self.by_day:
            return dict(sorted(Counter(one.move for one in self.moved).items()))
        return dict(sorted(sum(map(Counter, self.by_day.values()), Counter[str]()).items()))


@dataclass(frozen=True, slots=True)
class JournalEntry(JsonRecord):
    """One line of the journal: what an operation changed about one row, and why."""

    operation_id: str
    operation: str
    namespace: str
    at: InstantText
    target: str
    id: str
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None
    because: str
    policy: str = ""
    trimmed: bool = False  # older than the journal's horizon: what was before and after is not kept any more


NOTES: Final = frozenset({"policy", "session", "upkeep"})
"""Operations by which workers and hooks write something down for themselves."""


@dataclass(frozen=True, slots=True)
class Operation(JsonRecord):
    """One operation of the journal, without its changes."""

    id: str
    operation: str
    namespace: str
    at: InstantText
    changes: int
    hides: int
    note: str
    policy: str
    undoes: str | None
    undone_by: str | None
    actor: str | None = None  # who asked for it through the service

    @property
    def is_own(self) -> bool:
        """Whether it can be meant by "the last operation": no undo, not undone, no note of a worker or hook."""
        return self.undoes is None and self.undone_by is None and self.operation not in NOTES

    def may_be_last(self, find: Callable[[str], Operation | None]) -> bool:
        """Return whether "the last operation" can mean this one: an own one, or the redo of one (found by its id)."""
        if self.undoes is None or self.undone_by is not None:
            return self.is_own
        steps, before = 0, find(self.undoes)
        while before is not None and before.undoes is not None:
            steps, before = steps + 1, find(before.undoes)
        return before is not None and steps % 2 == 1


@dataclass(frozen=True, slots=True)
class ModelUse:
    """What a language model has cost since the store was opened, by this process."""

    calls: int = 0  # questions put to it, each with its retries
    failures: int = 0  # those that got no answer that fits
    tokens_in: int = 0  # tokens of the questions, as the server counts them; 0 where it tells none
    tokens_out: int = 0  # tokens of the answers, also of those that did not fit
    seconds: float = 0.0  # time spent waiting


@dataclass(frozen=True, slots=True)
class Size:
    """How much some memories are."""

    memories: int  # how many
    tokens: int  # tokens of what they show
    bytes: int  # of the text that they show, in UTF-8


@dataclass(frozen=True, slots=True)
class Stats(JsonRecord):
    """The state of a store or a namespace at an instant."""

    namespaces: int  # how many namespaces are counted
    memories: int  # visible memories
    tiers: Mapping[str, int]  # tier -> visible memories
    statuses: Mapping[str, int]  # status -> memories
    kinds: Mapping[str, int]  # kind -> visible memories
    value_percentiles: Mapping[str, float]  # ``p10``, ``p50``, ``p90`` of current value, over visible memories
    due_now: int  # memories whose next move has fallen due
    due_soon: int  # those that fall due within seven days
    # high-value memories that the next 30 days would archive: (id, value, when)
    at_risk: tuple[tuple[str, float, datetime], ...]
    review_suggested: int  # visible memories whose retention is below the policy's threshold
    # the most valuable of them: (id, retention)
    reviews: tuple[tuple[str, float], ...]
    without_vector: int  # visible memories that only words can find
    space: str | None  # the embedding space, or None
    sampled: int = 0  # how many memories the percentiles rest on
    model: ModelUse | None = None  # what the language model has cost, or None where none is configured
    unread: int = 0  # messages that the language model could not read yet; ``learn`` with their session reads them
    value_by_form: Mapping[str, float] = field(default_factory=dict)  # form -> mean value of the memories shown in it
    # memories with the accesses for the vault and nearly the value: (id, value, accesses)
    vault_candidates: tuple[tuple[str, float, int], ...] = ()
    fading: int = 0  # memories that would be archived within 30 days without further access, those held back left out
    about_to_fade: tuple[tuple[str, float, datetime], ...] = ()  # the first of them: (id, value, when)
    overdue_since: datetime | None = None  # since when a due move waits for a sweep, or None
    held: Mapping[str, int] = field(default_factory=dict)  # gate -> memories whose move it holds back
    held_first: tuple[
        tuple[str, datetime], ...
    ] = ()  # those held longest by the loss budget or recall gate: (id, since)
    questions: int = 0  # open questions to a person
    journal: JournalGrowth | None = None  # how the journal grows
    at: datetime = field(kw_only=True)  # the instant
    values: tuple[int, ...] = ()  # visible memories by value, in tenths from 0 to 1; beyond ``sampled`` an estimate
    # how much the visible memories are: ``tier``, ``kind``, ``form`` or ``age`` (less than a ``day``, ``week``, 30-day
    # ``month``, ``quarter`` or ``year``, or ``older``) -> group -> size. Beyond ``sampled`` memories all is an estimate
    # but how many a tier or a kind has
    sizes: Mapping[str, Mapping[str, Size]] = field(default_factory=dict)
    namespaces_sampled: int = 0  # namespaces that were looked into; beyond them there are only counts


@dataclass(frozen=True, slots=True)
class Alert(JsonRecord):
    """Something about a namespace that a person should see."""

    name: str  # the policy's key in [alerts] that has the threshold
    severity: str  # ``info``, ``warning`` or ``critical``
    namespace: str
    value: float  # what was found, in the key's unit
    threshold: float
    message: str
    ids: tuple[str, ...] = ()  # memories that it is about, the first twenty


@dataclass(frozen=True, slots=True)
class IngestResult(WriteResult):
    """What an ingest brought in."""

    added: int  # messages stored
    skipped: int  # messages that were there already
    sessions: tuple[str, ...] = ()  # sessions touched
    operations: tuple[str, ...] = field(default=())  # ids of the operations, for ``undo``
    used: int = 0  # hits of recalls that replies were found to have used, and that were marked helpful now
    echoes: int = 0  # replies that only repeat what was recalled, and were not stored
    empty: int = 0  # messages without any text, such as an assistant's calls of tools, which were passed over


@dataclass(frozen=True, slots=True)
class ReembedResult(WriteResult):
    """What was embedded again."""

    embedded: int  # memories that were given a vector
    space: str  # the space in which searches go on
    before: str  # the space in which they went before; empty if there was none
    operations: tuple[str, ...] = ()  # ids of the operations; ``undo`` refuses them


@dataclass(frozen=True, slots=True)
class MaintenanceRound(JsonRecord):
    """What one worker did in one round of upkeep."""

    owner: str  # the worker's name
    due: int  # namespaces in which something was due
    swept: int  # namespaces that this worker swept
    kept: int  # namespaces that another worker was keeping
    lost: int  # namespaces that another worker took over meanwhile
    examined: int  # as in ``SweepReport``, over all of them
    moves: int
    counted: int
    held: int
    failed: Mapping[str, str]  # namespace -> what went wrong there; the others were swept all the same


@dataclass(frozen=True, slots=True)
class TaskRun:
    """One run of a task of upkeep in one namespace."""

    namespace: str  # where
    task: str  # ``sweep``, ``report`` or ``backup``
    outcome: str  # ``done`` or ``failed``
    note: str  # what came of it, or what went wrong


@dataclass(frozen=True, slots=True)
class MaintenanceResult:
    """What one worker did in one round of upkeep by the schedule."""

    swept: MaintenanceRound  # the sweeps
    runs: tuple[TaskRun, ...]  # every run of a task that this worker began, in their order

    @property
    def failed(self) -> dict[str, str]:
        """Namespace -> what went wrong there."""
        return {**self.swept.failed, **{r.namespace: f"{r.task}: {r.note}" for r in self.runs if r.outcome == "failed"}}

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain JSON data."""
        return {**self.swept.to_dict(), "failed": self.failed, "runs": [asdict(run) for run in self.runs]}


@dataclass(frozen=True, slots=True)
class Digest(JsonRecord):
    """A rendered digest."""

    text: str  # Markdown between two marker lines
    ids: tuple[str, ...]  # the memories in it, in order, and those that its questions are about
    tokens: int  # so many tokens it has at most, whichever common tokenizer counts them
    profile: str  # the budget that applied
    asks: bool = False  # whether there are questions among it that a person should be asked


@dataclass(frozen=True, slots=True)
class ExtractedMemory:
    """A candidate that was found in a text."""

    content: str  # what is, or would be, remembered
    confidence: float  # how likely it is worth it, 0 to 1
    # why it was found: decision, definition, important, solution, error, explicit, pattern, keywords, or model
    pattern_matched: str
    start_pos: int  # where the match starts in the text, in characters; ``text[start_pos:end_pos]`` holds the content
    end_pos: int  # where it ends
    stored: bool  # false if it repeats what is known
    memory_id: str | None  # the memory, if it was stored


@dataclass(frozen=True, slots=True)
class ExtractResult(WriteResult):
    """What was extracted from a text."""

    candidates_found: int  # all that reached the least confidence, also those beyond ``extract.max_candidates``
    memories_created: int  # those that were stored
    deduplicated_count: int  # those that repeat what is known, or one another
    extractions: list[ExtractedMemory]  # those that were considered, in the order of the text: the most confident ones
    operations: tuple[str, ...] = field(default=())  # ids of the operations, for ``undo``


@dataclass(frozen=True, slots=True)
class BudgetChange:
    """One memory that shows less, or is set aside."""

    id: str
    move: str


@dataclass(frozen=True, slots=True)
class FitResult(WriteResult):
    """What keeping a namespace within a budget did, or would do."""

    _computed: ClassVar[tuple[str, ...]] = ("tally", "changed")

    namespace: str  # which one
    budget: int  # tokens that may be visible
    before: int  # tokens that were visible
    # tokens that are visible then, for a dry run those that would be; above the budget where what is exempt, or a gate,
    # leaves too little
    after: int
    refitted: tuple[BudgetChange, ...]  # what shows less, and what is set aside
    dry_run: bool  # whether nothing was written
    held: str = ""  # why a gate stopped some of it, and how much; empty if none did
    plans: tuple[Plan, ...] = ()  # the plans, for a dry run
    operations: tuple[str, ...] = ()  # ids of the operations, for ``undo``

    @property
    def tally(self) -> dict[str, int]:
        """How often each kind of change occurred, for example ``{"full to summary": 12}``."""
        return dict(sorted(Counter(one.move for one in self.refitted).items()))


@dataclass(frozen=True, slots=True)
class FormFigures:
    """What one form keeps, over all memories that show it."""

    memories: int  # how many
    tokens: int  # tokens that they show
    whole: int  # tokens of their whole texts
    ratio: float  # how many times shorter, all together
    preservation: float | None  # mean cosine between form and whole text; None if none was measured
    efficiency: float | None  # ratio times preservation


@dataclass(frozen=True, slots=True)
class CompressionReport(JsonRecord):
    """What compression saves and keeps in a namespace."""

    namespace: str  # which one
    visible_tokens: int  # tokens that recall may return now
    forms: Mapping[str, FormFigures]  # form -> what it keeps
    queries: int  # past recalls that were asked again
    precision: float  # mean share of today's hits that were hits then
    recall: float  # mean share of the hits then that are hits today
    f1: float  # their harmonic mean


@dataclass(frozen=True, slots=True)
class PolicyOutcome:
    """How a namespace would have lived under one policy."""

    policy: str  # the policy's version
    preset: str  # its preset
    visible: int  # memories that would be in view now
    hidden: int  # those that it would have hidden by now
    shortened: int  # those that would be in view in a shorter form
    moved: int  # those that would have changed their tier at least once
    tokens: int  # tokens in view
    missing: int  # past hits that would have been hidden when they were asked for
    short: int  # past hits that would have been shown in a shorter form
    # share of the hits in view that were found useful, over recalls of which that was told; None where it never was
    precision: float | None
    recall: float | None  # share of the useful hits that would have been in view; None as above


@dataclass(frozen=True, slots=True)
class MissedHit:
    """A past hit that would have been missing."""

    recall: str  # the entry of the recall log
    at: InstantText  # when it was asked
    query: str  # what was asked
    id: str  # the memory
    useful: bool  # whether it was found useful then
    because: str  # by which rule it would have been hidden, and when


@dataclass(frozen=True, slots=True)
class BacktestResult(JsonRecord):
    """What the recall log says about another policy."""

    namespace: str  # where
    recalls: int  # recalls that were replayed
    hits: int  # their hits that are still stored
    useful: int  # those that were found useful
    now: PolicyOutcome  # how it would have been under the policy in force, replayed in the same way: the yardstick
    other: PolicyOutcome  # how it would have been under the other policy
    # past hits that the other policy would have hidden and the policy in force would not, newest first
    lost: tuple[MissedHit, ...]
    notes: tuple[str, ...] = ()  # what a reader should know
