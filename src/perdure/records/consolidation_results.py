"""What verbs about several memories answer: consolidation, hyperedges, tasks, promotion, the end of a session."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from perdure.records.instant import InstantText
from perdure.records.json_record import JsonRecord
from perdure.records.outcome import WriteResult
from perdure.records.plan import Plan
from perdure.records.report import SweepReport


@dataclass(frozen=True, slots=True)
class ConsolidationGroup(JsonRecord):
    """Memories that become one, or stay apart although they are alike."""

    representative_id: str  # the memory that stands for the others; where contents are merged, the new one's id
    member_ids: tuple[str, ...]  # all of them, the representative too where it is one of them
    avg_similarity: float  # mean combined likeness of the pairs that were compared, 0 to 1
    action_taken: str  # "merged", "preview" (a dry run would merge them), or "kept" (nothing of it may be merged)
    label: str = ""  # the label of the weakest pair: merge, review, link or keep


@dataclass(frozen=True, slots=True)
class LabelledPair(JsonRecord):
    """Two memories that are alike, and what becomes of them: merge, review (a person is asked), link or keep."""

    a: str
    b: str
    similarity: float
    label: str


@dataclass(frozen=True, slots=True)
class UnmergedPair(JsonRecord):
    """Two memories that are alike and yet stay apart, and why."""

    a: str
    b: str
    because: str


@dataclass(frozen=True, slots=True)
class ConsolidateResult(WriteResult):
    """What a consolidation did, or would do."""

    groups_found: int  # connected groups over pairs that reach the threshold, all of them
    memories_merged: int  # memories that went into others; they are hidden as ``consolidated``
    memories_deleted: int  # always 0: nothing is deleted
    # what became of groups, the most similar first; a group in which not every pair reaches the threshold may appear in
    # several parts. Those that are kept apart come besides the ``max_groups`` that are merged
    groups: tuple[ConsolidationGroup, ...]
    dry_run: bool  # whether nothing was written
    labels: Mapping[str, int] = field(default_factory=dict)  # label -> pairs that have it, of all pairs that were found
    pairs: tuple[LabelledPair, ...] = ()  # the pairs of the groups above, and those to be linked or reviewed
    refusals: tuple[UnmergedPair, ...] = ()  # memories that stay apart although they are alike, and the reason
    left: tuple[str, ...] = ()  # members of the groups above that no merge takes up
    examined: int = 0  # visible memories that were compared
    without_vector: int = 0  # those of them without a vector: compared by equal words only
    exact: bool = True  # whether every pair was compared; otherwise only those near each other
    notes: tuple[str, ...] = ()  # what waits for a person, and what was limited: groups or pairs left for the next run
    plans: tuple[Plan, ...] = ()  # the plan, for a dry run
    operations: tuple[str, ...] = ()  # ids of the operations, for ``undo``


@dataclass(frozen=True, slots=True)
class Edge(JsonRecord):
    """A hyperedge: two or more memories that belong together."""

    id: str  # its id
    kind: str  # what joins them
    weight: float  # how strongly, above 0, at most 10
    members: Mapping[str, str]  # visible member -> its role, which may be empty


@dataclass(frozen=True, slots=True)
class EdgeChange(WriteResult):
    """What joining memories wrote."""

    edge: str  # the edge's id
    operations: tuple[str, ...] = ()  # ids of the operations, for ``undo``


@dataclass(frozen=True, slots=True)
class TaskResult(WriteResult):
    """What became of a task's memories when it was completed."""

    merged_count: int  # redundant memories that went into others
    promoted_count: int  # memories that left task scope
    edges_strengthened: int  # hyperedges whose weight rose
    task: str = ""  # the task
    promoted: tuple[str, ...] = ()  # their ids
    merged: Mapping[str, str] = field(default_factory=dict)  # memory that went -> memory that stands for it
    long_term: tuple[str, ...] = ()  # those of ``promoted`` that have no session and so went to long term
    refusals: tuple[UnmergedPair, ...] = ()  # related memories that are alike and yet stay apart, and the reason
    dry_run: bool = False  # whether nothing was written
    plans: tuple[Plan, ...] = ()  # the plan, for a dry run
    operations: tuple[str, ...] = ()  # ids of the operations, for ``undo``


@dataclass(frozen=True, slots=True)
class CrystallizedSummary(JsonRecord):
    """A summary that stands for connected memories."""

    id: str  # the summary's id; in a preview the one it gets if the preview's plan is applied
    content: str  # its words
    members: tuple[str, ...]  # what it stands for
    confidence: float  # the mean of theirs, 0 to 1


@dataclass(frozen=True, slots=True)
class PromotionResult(WriteResult):
    """What was, or would be, promoted from a session to long term."""

    promoted_count: int  # memories that go to long term
    crystallized_count: int  # summaries made of connected ones
    session: str = ""  # the session
    confirmed: bool = False  # whether it was done; otherwise this is a preview
    threshold: float = 0.0  # confidence that was needed
    median: float = 0.0  # of the session's uses; more are needed where any is used more
    promoted: tuple[str, ...] = ()  # ids
    summaries: tuple[CrystallizedSummary, ...] = ()  # the summaries
    plans: tuple[Plan, ...] = ()  # the plan, for a preview
    operations: tuple[str, ...] = ()  # ids of the operations, for ``undo``


@dataclass(frozen=True, slots=True)
class SessionResult(WriteResult):
    """What the end of a session did."""

    session: str  # the session
    ended_at: InstantText  # when it ended: the first time, if it had ended and nothing came since
    anew: bool  # whether this call ended it; False where there was nothing to do
    tasks: tuple[TaskResult, ...] = ()  # tasks that were still open
    promotion: PromotionResult | None = None  # what went to long term; None where there was nothing to do
    report: SweepReport | None = None  # the sweep that followed; None where there was nothing to do
    operations: tuple[str, ...] = ()  # ids of all operations, for ``undo``
