"""The output schemas of the tools that steer memories' lives.

The first fields of ``decay``, ``reinforce``, ``extract`` and ``consolidate`` are exactly seed 000's, in its order; what
is added comes after them.
"""

from __future__ import annotations

from typing_extensions import TypedDict

from perdure.interfaces.mcp.schemas import Swept


class DecayedOne(TypedDict):
    """A memory whose importance has decayed."""

    id: str
    content_preview: str
    old_importance: float
    new_importance: float
    decay_factor: float
    days_since_access: int
    access_count: int


class Decayed(TypedDict):
    """What decay has made of importance; ``decayed_memories`` lists the first fifty, ``not_listed`` counts the rest."""

    memories_analyzed: int
    memories_decayed: int
    avg_decay_factor: float
    decayed_memories: list[DecayedOne]
    dry_run: bool
    not_listed: int


class ReinforcedOne(TypedDict):
    """A memory that was reinforced."""

    id: str
    content_preview: str
    old_importance: float
    new_importance: float
    boost_applied: float


class Reinforced(TypedDict):
    """What a reinforcement did."""

    memories_reinforced: int
    avg_boost: float
    reinforced: list[ReinforcedOne]
    not_found: list[str]


class WeakenedOne(TypedDict):
    """A memory whose strength was lowered."""

    id: str
    content_preview: str
    old_strength: float
    new_strength: float


class Weakened(TypedDict):
    """What weakening did."""

    memories_weakened: int
    avg_drop: float
    weakened: list[WeakenedOne]
    not_found: list[str]


class WasUsed(TypedDict):
    """For which memories an outcome counted, and for which it had been told already."""

    outcome: str
    counted: list[str]
    repeated: list[str]
    not_found: list[str]
    operations: list[str]


class OpenQuestion(TypedDict):
    """An open question to a person about one memory."""

    id: str
    namespace: str
    question: str
    why: str
    since: str
    value_at_risk: float
    against: list[str]
    same: list[str]


class Answered(TypedDict):
    """What a person was asked and answered just now."""

    id: str
    verdict: str
    outcome: str


class Questions(TypedDict):
    """Open questions, the highest value at risk first; ``answered`` has what the person was asked just now."""

    questions: list[OpenQuestion]
    answered: list[Answered]


class Refitted(TypedDict):
    """A memory that shows less, or is set aside."""

    id: str
    move: str


class Fitted(TypedDict):
    """What keeping a namespace within a budget did or would do; ``changed`` lists the first fifty."""

    namespace: str
    budget: int
    before: int
    after: int
    tally: dict[str, int]
    changed_total: int
    changed: list[Refitted]
    dry_run: bool
    held: str
    operations: list[str]


class FormFigures(TypedDict):
    """What one form keeps."""

    memories: int
    tokens: int
    whole: int
    ratio: float
    preservation: float | None
    efficiency: float | None


class Compressed(TypedDict):
    """What compression saves and keeps, and how past recalls are answered now."""

    namespace: str
    visible_tokens: int
    forms: dict[str, FormFigures]
    queries: int
    precision: float
    recall: float
    f1: float


class ExtractedOne(TypedDict):
    """A candidate that was found in a text."""

    content: str
    confidence: float
    pattern_matched: str
    start_pos: int
    end_pos: int
    stored: bool
    memory_id: str | None


class Extracted(TypedDict):
    """What was extracted from a text."""

    candidates_found: int
    memories_created: int
    deduplicated_count: int
    extractions: list[ExtractedOne]
    operations: list[str]


class Group(TypedDict):
    """A group of similar memories."""

    representative_id: str
    member_ids: list[str]
    avg_similarity: float
    action_taken: str
    label: str


class Refusal(TypedDict):
    """Two memories that are alike and yet stay apart, and why."""

    a: str
    b: str
    because: str


class Consolidated(TypedDict):
    """What a consolidation did or would do; ``refusals`` lists the first fifty."""

    groups_found: int
    memories_merged: int
    memories_deleted: int
    groups: list[Group]
    dry_run: bool
    labels: dict[str, int]
    refusals: list[Refusal]
    notes: list[str]
    operations: list[str]


class Related(TypedDict):
    """The edge that joins the memories."""

    edge: str


class EdgeOf(TypedDict):
    """An edge: memories that belong together, each with its role."""

    id: str
    kind: str
    weight: float
    members: dict[str, str]


class Edges(TypedDict):
    """The edges of a memory."""

    edges: list[EdgeOf]


class TaskDone(TypedDict):
    """What became of a task's memories; ``merged`` maps what went to what stands for it."""

    merged_count: int
    promoted_count: int
    edges_strengthened: int
    task: str
    promoted: list[str]
    merged: dict[str, str]
    long_term: list[str]
    refusals: list[Refusal]
    dry_run: bool
    operations: list[str]


class Crystal(TypedDict):
    """A summary that stands for connected memories."""

    id: str
    content: str
    members: list[str]
    confidence: float


class Promoted(TypedDict):
    """What was, or would be, promoted to long term."""

    promoted_count: int
    crystallized_count: int
    session: str
    confirmed: bool
    threshold: float
    median: float
    promoted: list[str]
    summaries: list[Crystal]
    operations: list[str]


class SessionDone(TypedDict):
    """What the end of a session did; ``anew`` is false where it had ended already."""

    session: str
    ended_at: str
    anew: bool
    tasks: list[TaskDone]
    promotion: Promoted | None
    report: Swept | None
    operations: list[str]
