"""What verbs about several memories answer: consolidation, hyperedges, tasks, promotion, the end of a session.

May live here: plain frozen data with ``to_dict``. May not: decisions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from perdure.records.json_record import JsonRecord
from perdure.records.outcome import Written
from perdure.records.plan import Plan
from perdure.records.report import Report


def _plain(value: Any) -> Any:
    """A result as plain JSON data; what has a ``to_dict`` of its own speaks for itself."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, tuple):
        return [_plain(v) for v in value]
    return dict(value) if isinstance(value, Mapping) else value


def _shallow(result: Any) -> dict[str, Any]:
    return {f.name: _plain(getattr(result, f.name)) for f in fields(result)}


@dataclass(frozen=True, slots=True)
class ConsolidationGroup(JsonRecord):
    """Memories that become one, or stay apart although they are alike.

    Attributes:
        representative_id: The memory that stands for the others; where contents are merged, the new one's id.
        member_ids: All of them, the representative too where it is one of them.
        avg_similarity: Mean combined likeness of the pairs that were compared, 0 to 1.
        action_taken: "merged", "preview" (a dry run would merge them), or "kept" (nothing of it may be merged).
        label: The label of the weakest pair: merge, review, link or keep.
    """

    representative_id: str
    member_ids: tuple[str, ...]
    avg_similarity: float
    action_taken: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class LabelledPair(JsonRecord):
    """Two memories that are alike, and their label: merge, review, link or keep."""

    a: str
    b: str
    similarity: float
    label: str


@dataclass(frozen=True, slots=True)
class Refused(JsonRecord):
    """Two memories that are alike and yet stay apart, and why."""

    a: str
    b: str
    because: str


@dataclass(frozen=True, slots=True)
class ConsolidateResult(Written):
    """What a consolidation did, or would do.

    Attributes:
        groups_found: Connected groups over pairs that reach the threshold, all of them.
        memories_merged: Memories that went into others; they are hidden as ``consolidated``.
        memories_deleted: Always 0: nothing is deleted.
        groups: What became of groups, the most similar first; a group in which not every pair reaches the threshold
            may appear in several parts. Those that are kept apart come besides the ``max_groups`` that are merged.
        dry_run: Whether nothing was written.
        labels: Label -> pairs that have it, of all pairs that were found.
        pairs: The pairs of the groups above, and those to be linked or reviewed.
        refusals: Memories that stay apart although they are alike, and the reason.
        left: Members of the groups above that no merge takes up.
        examined: Visible memories that were compared.
        without_vector: Those of them without a vector: compared by equal words only.
        exact: Whether every pair was compared; otherwise only those near each other.
        notes: What was limited: groups or pairs left for the next run.
        plans: The plan, for a dry run.
        operations: Ids of the operations, for ``undo``.
    """

    groups_found: int
    memories_merged: int
    memories_deleted: int
    groups: tuple[ConsolidationGroup, ...]
    dry_run: bool
    labels: Mapping[str, int] = field(default_factory=dict)
    pairs: tuple[LabelledPair, ...] = ()
    refusals: tuple[Refused, ...] = ()
    left: tuple[str, ...] = ()
    examined: int = 0
    without_vector: int = 0
    exact: bool = True
    notes: tuple[str, ...] = ()
    plans: tuple[Plan, ...] = ()
    operations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Edge(JsonRecord):
    """A hyperedge: two or more memories that belong together.

    Attributes:
        id: Its id.
        kind: What joins them.
        weight: How strongly, above 0, at most 10.
        members: Visible member -> its role, which may be empty.
    """

    id: str
    kind: str
    weight: float
    members: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class EdgeChange(Written):
    """What joining memories wrote.

    Attributes:
        edge: The edge's id.
        operations: Ids of the operations, for ``undo``.
    """

    edge: str
    operations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TaskResult(Written):
    """What became of a task's memories when it was completed.

    Attributes:
        merged_count: Redundant memories that went into others.
        promoted_count: Memories that left task scope.
        edges_strengthened: Hyperedges whose weight rose.
        task: The task.
        promoted: Their ids.
        merged: Memory that went -> memory that stands for it.
        long_term: Those of ``promoted`` that have no session and so went to long term.
        refusals: Related memories that are alike and yet stay apart, and the reason.
        dry_run: Whether nothing was written.
        plans: The plan, for a dry run.
        operations: Ids of the operations, for ``undo``.
    """

    merged_count: int
    promoted_count: int
    edges_strengthened: int
    task: str = ""
    promoted: tuple[str, ...] = ()
    merged: Mapping[str, str] = field(default_factory=dict)
    long_term: tuple[str, ...] = ()
    refusals: tuple[Refused, ...] = ()
    dry_run: bool = False
    plans: tuple[Plan, ...] = ()
    operations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Crystal(JsonRecord):
    """A summary that stands for connected memories.

    Attributes:
        id: The summary's id; in a preview the one it gets if the preview's plan is applied.
        content: Its words.
        members: What it stands for.
        confidence: The mean of theirs, 0 to 1.
    """

    id: str
    content: str
    members: tuple[str, ...]
    confidence: float


@dataclass(frozen=True, slots=True)
class PromotionResult(Written):
    """What was, or would be, promoted from a session to long term.

    Attributes:
        promoted_count: Memories that go to long term.
        crystallized_count: Summaries made of connected ones.
        session: The session.
        confirmed: Whether it was done; otherwise this is a preview.
        threshold: Confidence that was needed.
        median: Accesses that were needed: the median of the session's memories.
        promoted: Ids.
        summaries: The summaries.
        plans: The plan, for a preview.
        operations: Ids of the operations, for ``undo``.
    """

    promoted_count: int
    crystallized_count: int
    session: str = ""
    confirmed: bool = False
    threshold: float = 0.0
    median: float = 0.0
    promoted: tuple[str, ...] = ()
    summaries: tuple[Crystal, ...] = ()
    plans: tuple[Plan, ...] = ()
    operations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SessionResult(Written):
    """What the end of a session did.

    Attributes:
        session: The session.
        ended_at: When it ended, ISO 8601: the first time, if it had ended and nothing came since.
        anew: Whether this call ended it; False where there was nothing to do.
        tasks: Tasks that were still open.
        promotion: What went to long term; None where there was nothing to do.
        report: The sweep that followed; None where there was nothing to do.
        operations: Ids of all operations, for ``undo``.
    """

    session: str
    ended_at: str
    anew: bool
    tasks: tuple[TaskResult, ...] = ()
    promotion: PromotionResult | None = None
    report: Report | None = None
    operations: tuple[str, ...] = ()
