"""What a memory is: its kinds, its three axes, its stored state and the view a caller gets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from perdure.records.instant import Instant
from perdure.records.json_record import JsonRecord
from perdure.records.sort import Sort

ROLES: Final = frozenset({"user", "assistant", "ai", "system", "bot", "tool", "human"})
"""Speakers that are roles, not names: they are not written into the text that is searched."""


def searchable(text: str, speaker: str | None) -> str:
    """Return the text that is embedded and indexed: a person's name goes before the words, a role does not."""
    if speaker and speaker.lower() not in ROLES:
        return f"{speaker}: {text}"
    return text


class Kind(StrEnum):
    """What sort of thing a memory is."""

    NOTE = "note"
    EPISODE = "episode"
    FACT = "fact"
    PROCEDURE = "procedure"
    SUMMARY = "summary"


class Scope(StrEnum):
    """Whose lifetime a memory shares."""

    TASK = "task"
    SESSION = "session"
    LONG_TERM = "long_term"


class Tier(StrEnum):
    """How close at hand a memory is."""

    HOT = "hot"
    WARM = "warm"
    COLD = "cold"
    VAULT = "vault"


class Status(StrEnum):
    """Whether a memory is still believed and shown."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    INVALIDATED = "invalidated"
    CONSOLIDATED = "consolidated"
    ARCHIVED = "archived"


class Form(StrEnum):
    """How much of a memory's text is shown, from the fullest form to the barest."""

    FULL = "full"
    SUMMARY = "summary"
    KEYWORDS = "keywords"
    EMBEDDING = "embedding"


@dataclass(frozen=True, slots=True)
class State:
    """The numbers that are stored about a memory: undecayed bases, counters and anchor instants.

    Nothing here changes merely because time passed. Current signals are computed from it (rules/lifecycle/signals.py).
    Instants are milliseconds since 1970 UTC.
    """

    kind: Kind
    scope: Scope
    tier: Tier
    status: Status
    pinned: bool
    importance: float  # base importance, 0 to 1
    confidence: float  # base confidence, 0 to 1
    uniqueness: float  # 1 - mean cosine to the five nearest other memories, 0 to 1; 1 for a memory alone
    created_ms: Instant  # when it happened or was said
    recorded_ms: Instant  # when it was stored
    anchor_ms: Instant  # where ages start: the last access, else creation, else the last restore
    access_count: int = 0
    access_mass: float = 0.0  # exponentially decayed access counter as of ``anchor_ms``
    tier_accesses: int = 0  # accesses since the memory entered its tier
    accessed_ms: Instant | None = None  # the last access; the anchor may be later, for example a restore
    access2_ms: Instant | None = None  # the last access but one, for bursts
    access3_ms: Instant | None = None  # the last access but two
    reinforcements: int = 0
    boosted: float = 0.0  # importance added on the day ``boost_day``, for the daily cap
    boost_day: int = -1  # days since 1970 of the last boost
    validated_ms: Instant | None = None
    tier_ms: Instant = 0  # since when it has been in its tier
    status_ms: Instant = 0  # since when it has had its status
    due_ms: Instant | None = None  # when it next needs attention; None for never
    held: bool = False  # a gate stopped its next move; it waits for the next change of its namespace
    strength: float = 0.3  # activation as of ``strength_ms``, 0 to 1
    level: float = 0.0  # reinforcement energy as of ``strength_ms``
    strength_ms: Instant = 0  # where strength and level start to fall: birth, the last reinforcement, the last restore
    stability: float = 2.3065  # days until the chance of recall is 0.9, under the FSRS curve
    difficulty: float = 2.118103970459016  # 1 (easy) to 10, under the FSRS curve
    form: Form = Form.FULL  # how much of the text is shown
    form_ms: Instant = 0  # since when it has had its form
    firm: bool = False  # the meaning guard refused a shorter form; it is not tried again
    tokens: int = 0  # tokens of the text that is shown
    # importance as ``decay`` last wrote it down; a record for readers, no base of anything
    decayed: float | None = None
    decayed_ms: Instant | None = None  # when that was
    # what a fact is about in general, which decides how fast the fact fades, or what a message does
    sort: Sort = Sort.ATTRIBUTE


@dataclass(frozen=True, slots=True)
class Content:
    """The words of a memory and where they come from. Kept apart from State, which sweeps read by the thousand."""

    text: str
    tags: tuple[str, ...] = ()
    source: str | None = None
    speaker: str | None = None
    session: str | None = None
    task: str | None = None
    turn: int | None = None  # position within the session, from 0; neighbours are turn - 1 and turn + 1
    metadata: Mapping[str, Any] = field(default_factory=dict)
    shown: str | None = None  # what is shown instead of the text, where the memory is not in its full form


@dataclass(frozen=True, slots=True)
class Record:
    """A memory as the store holds it: identity, state, content and the operation that last changed it."""

    namespace: str
    id: str
    state: State
    content: Content
    op: str = ""  # the operation that last changed it
    # (instant, times) that no sweep has counted into the state yet, oldest first
    accesses: tuple[tuple[Instant, int], ...] = ()


@dataclass(frozen=True, slots=True)
class MemoryItem(JsonRecord):
    """A memory as a caller sees it: signals are current at the time of reading, bases are in ``state``."""

    id: str
    namespace: str
    kind: Kind
    content: str
    tags: tuple[str, ...]
    source: str | None
    speaker: str | None
    session: str | None
    task: str | None
    metadata: Mapping[str, Any]
    scope: Scope
    tier: Tier
    status: Status
    pinned: bool
    created_at: datetime
    recorded_at: datetime
    importance: float
    confidence: float
    strength: float
    retention: float
    value: float
    form: Form
    tokens: int
    access_count: int
    due_at: datetime | None
    aging: bool  # a fact that nobody has confirmed for long: it is asked about
    state: State
