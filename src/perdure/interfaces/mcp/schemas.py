"""The output schemas of the tools. Compact: no stored state, which ``why`` puts into words.

TypedDicts, because they cost the start time no more than models do and their values are plain data.
"""

from __future__ import annotations

from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict


class Found(TypedDict):
    """One hit. ``updated_by``: a later message says otherwise. ``contested_with``: contradicts these; ask a person."""

    id: str
    content: str
    truncated: bool
    score: float
    parts: dict[str, float]
    created_at: str
    kind: str
    tier: str
    tags: list[str]
    confidence: float
    speaker: str | None
    status: str
    form: str
    updated_by: str | None
    contested_with: list[str]
    aging: bool
    question: str


class Recalled(TypedDict):
    """The answer to a question; ``used`` takes ``recall_id``, which is null where the recall was no access.

    A fact that is ``aging`` has the question for the person; ``answered`` has what the person was asked just now.
    """

    recall_id: str | None
    nothing_known: bool
    hits: list[Found]
    note: str
    answered: NotRequired[list[dict[str, str]]]


class Kept(TypedDict):
    """One memory, briefly."""

    id: str
    namespace: str
    content: str
    truncated: bool
    kind: str
    tier: str
    status: str
    pinned: bool
    tags: list[str]
    created_at: str
    importance: float
    confidence: float
    value: float


class Whole(Kept):
    """One memory, everything but its stored state."""

    form: str
    scope: str
    source: str | None
    speaker: str | None
    session: str | None
    task: str | None
    metadata: dict[str, Any]
    recorded_at: str
    due_at: str | None
    retention: float
    strength: float
    access_count: int


class Decided(TypedDict):
    """A memory after a decision about it; ``operation_id`` is what undo takes, null where nothing was written."""

    id: str
    status: str
    tier: str
    pinned: bool
    operation_id: str | None


class Happened(TypedDict):
    """One journal entry about one memory."""

    operation_id: str
    operation: str
    at: str
    because: str


class Linked(TypedDict):
    """A link to another memory."""

    kind: str
    id: str
    weight: float


class Explained(TypedDict):
    """Why a memory is as it is; of a fact also sources, changes of confidence, conflicts, checks and what is next."""

    id: str
    summary: str
    next_move: str
    signals: dict[str, str]
    value_parts: dict[str, float]
    links: list[Linked]
    history: list[Happened]
    history_total: int
    fact: dict[str, Any] | None


class Move(TypedDict):
    """One move, made or foreseen."""

    id: str
    namespace: str
    at: str
    move: str
    because: str


class Stopped(TypedDict):
    """Moves that a safety gate stopped."""

    namespace: str
    count: int
    because: str


class Swept(TypedDict):
    """What a sweep did or would do; ``moved`` lists the first fifty."""

    dry_run: bool
    examined: int
    moved_total: int
    tally: dict[str, int]
    moved: list[Move]
    held: list[Stopped]
    operations: list[str]


class Undone(TypedDict):
    """An undo, which is an operation itself."""

    operation_id: str
    undoes: str
    namespace: str
    changes: int
    note: str


class Risk(TypedDict):
    """A valuable memory that is about to be archived."""

    id: str
    value: float
    at: str


class ModelUse(TypedDict):
    """What a language model has cost since the server started."""

    calls: int
    failures: int
    tokens_in: int
    tokens_out: int
    seconds: float


class Counts(TypedDict):
    """The state of a store."""

    namespaces: int
    memories: int
    tiers: dict[str, int]
    statuses: dict[str, int]
    kinds: dict[str, int]
    value_percentiles: dict[str, float]
    due_now: int
    due_soon: int
    at_risk: list[Risk]
    review_suggested: int
    without_vector: int
    space: str | None
    sampled: int
    model: ModelUse | None


class Digested(TypedDict):
    """MEMORY.md and how its length was counted."""

    text: str
    ids: list[str]
    tokens: int
    tokens_exact: bool
    profile: str


class Listed(TypedDict):
    """A page of memories; pass ``next_before`` as ``before`` for the next page."""

    memories: list[Kept]
    next_before: str | None


class Absent(TypedDict):
    """Why a memory was not in an answer."""

    id: str
    kept_out_by: str
    explanation: str
    rank: int | None
    parts: dict[str, float]


class Ran(TypedDict):
    """One operation of the store."""

    operation_id: str
    operation: str
    namespace: str
    at: str
    changes: int
    note: str
    undone_by: str | None


class Told(TypedDict):
    """A memory's journal, or the newest operations."""

    entries: list[Happened]
    operations: list[Ran]


class TakenIn(TypedDict):
    """What an ingest brought in."""

    added: int
    skipped: int
    sessions: list[str]
    operations: list[str]


class Checked(TypedDict):
    """What is wrong with the store's file."""

    sound: bool
    faults: list[str]


class Said(TypedDict):
    """One message of a conversation, as ``ingest`` takes it."""

    content: Annotated[str, Field(min_length=1)]
    role: NotRequired[Annotated[str, Field(description="user, assistant or another role.")]]
    speaker: NotRequired[Annotated[str, Field(description="The speaker's name.")]]
    at: NotRequired[Annotated[str, Field(description="When it was said: ISO 8601 with zone.")]]
    session: NotRequired[Annotated[str, Field(description="Which conversation.")]]
