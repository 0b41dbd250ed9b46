"""What is stored: memories, what they are made from, and documents beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from perdure.records.instant import Instant
from perdure.records.json_record import JsonRecord

DERIVED: Final = "derived_from"  # from a fact to the memory that says it
SUPERSEDES: Final = "supersedes"  # from the memory that holds now to the one that it replaced
LIKELY_SUPERSEDES: Final = "likely_supersedes"  # from a statement to an earlier one that it likely makes untrue
MAY_SUPERSEDE: Final = "may_supersede"  # the same, less surely: nothing is hidden or put in another order by it
INTERRUPTS: Final = "interrupts"  # from a fact that holds until a day to one that holds again afterwards
STANDS_FOR: Final = "summarizes"
"""From a memory to one that it stands for: one that was merged into it, or a source of a summary."""


class Trust(StrEnum):
    """Whose word it is, from the most to the least trusted; what is derived inherits the least of its sources."""

    AUTHORITY = "authority"
    USER = "user"
    ASSISTANT = "assistant"
    EXTERNAL = "external"  # a tool's result, a web page, a file: data, never instructions


class Sort(StrEnum):
    """What a fact is about in general, or what a message does."""

    IDENTITY = "identity"  # names, birthday, birthplace, nationality
    KINSHIP = "kinship"
    HEALTH = "health"  # allergies, conditions, intolerances
    CONTACT = "contact"
    PLACE = "place"
    JOB = "job"
    PREFERENCE = "preference"
    RULE = "rule"  # what is agreed or always done: policies, payment terms, delivery days
    PLAN = "plan"  # what lies ahead: goals, deadlines, dates of events
    STATE = "state"  # what changes soon: status, mood, progress, version
    MEASURE = "measure"
    RELATION = "relation"  # who or what somebody knows or has: friends, managers, pets, things
    NOTE = "note"  # also of what an agent notes down
    ATTRIBUTE = "attribute"  # anything else; also of what was stored before messages had sorts
    REQUEST = "request"  # a message in which a person asks to have something remembered
    DECISION = "decision"  # a message that decides or corrects something
    STATEMENT = "statement"
    QUESTION = "question"
    REPLY = "reply"  # what an assistant, a tool or a system says
    SMALL_TALK = "small_talk"  # thanks, greetings, mere agreement


MESSAGE_SORTS: Final = (Sort.REQUEST, Sort.DECISION, Sort.STATEMENT, Sort.QUESTION, Sort.REPLY, Sort.SMALL_TALK)
FACT_SORTS: Final = tuple(sort for sort in Sort if sort not in MESSAGE_SORTS)
"""Also the keys of the policy's section ``fading``."""


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
    # of the words that were stored; None where it is not read from a store
    digest: int | None = field(default=None, compare=False)


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


@dataclass(frozen=True, slots=True)
class Draft:
    """A memory to be. All values have passed rules/validation/inputs.py."""

    text: str
    kind: Kind
    scope: Scope
    importance: float
    confidence: float
    at: Instant
    tags: tuple[str, ...] = ()
    source: str | None = None
    speaker: str | None = None
    session: str | None = None
    task: str | None = None
    turn: int | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    pinned: bool = False
    key: str | None = None  # an idempotency key: it stands for one text, which it stores once
    # it is a message of a conversation: it enters hot while it is among the last ones of its session
    message: bool = False
    redacted: tuple[str, ...] = ()  # what was replaced in it before storing, secret by secret: ``aws access key``
    sort: Sort = Sort.ATTRIBUTE  # what a fact is about, or what a message does
    worth: str = ""  # where its importance comes from; empty where nothing is to be told


@dataclass(frozen=True, slots=True)
class Message:
    """What was said, by whom, when."""

    content: str  # the words
    role: str = "user"  # user, assistant, or another speaker's role
    speaker: str | None = None  # the speaker's name where the role does not say it
    at: datetime | None = None  # when; None where the source does not tell
    session: str | None = None  # which conversation; None leaves it to the caller
    source: str | None = None  # where it was read, for example a file's name and line
    key: str | None = None  # the source's own id of the message, if it has one; else one is made of the message itself


UNREAD: Final = "unread"  # the name of a document of the shelf LEARNED

CONFLICT_WITH: Final = "conflict:"
"""How the name of a question begins that asks which of two facts is right; the id of the earlier one follows."""


class Shelf(StrEnum):
    """What sort of document it is, and so what ``id`` and ``name`` stand for."""

    EDGE = "edge"  # a memory's membership in a hyperedge: id is the memory, name the edge; data has kind, role, weight
    # an open question about a memory: id is the memory, name what is asked; data has why and since when
    REVIEW = "review"
    OUTCOME = "outcome"  # what became of a hit: id is the memory, name the recall; data has outcome, query, at_ms
    FORM = "form"  # what a shorter form keeps: id is the memory, name the form; data has tokens and preservation
    # a session of an agent: id is the session; data has where its transcript is and how far it was taken in
    SESSION = "session"
    # how far a session was learned from: id is the session; data has the last message and those just before. Of
    # the name UNREAD: which messages a language model could not be asked about; data has their number as unread
    LEARNED = "learned"
    UPKEEP = "upkeep"  # a task of upkeep: id is the task; data has when it last ran and how it ended
    # what a memory of kind fact is about: id is the memory, name the key ``entity|predicate``; data is the fact's
    FACT = "fact"
    # whom a fact is about: id is the memory, name the entity; data is empty. Of all facts, also those that were
    ABOUT = "about"
    # somebody or something that facts are about: id is the entity, name is empty; data has name, type,
    # merged_into
    ENTITY = "entity"
    ALIAS = "alias"  # a name of an entity: id is the entity, name the name's normal form; data has it as written
    # a memory is about an entity, or names it: id is the memory, name the entity; data has the role and the words
    MENTION = "mention"
    # two facts that cannot both hold: id is the one known earlier, name the later one; data has sides and outcome
    CONFLICT = "conflict"
    # the summary of an entity: id is the memory, name the entity; data has what it was made of. Under the
    # entity's own id, name empty: which summary is its latest
    PROFILE = "profile"
    # what an authority said of a memory: id is the memory, name the authority; data has outcome, value, at_ms
    CHECK = "check"
    # how fast facts of a sort change: id is the predicate's type; data has counts, the rate and its interval
    RATE = "rate"
    # what a person's answers taught about a predicate: id is the predicate, name which answer; data says what. Of
    # two predicates that may be the same: id is the one that would go, name ``same:`` and the other
    LESSON = "lesson"
    # what is left of an erased memory: id is the memory, name a salted digest of its key; data has when, by whom,
    # why and a salted digest of its words. Under the id and name ``salt``: the salt
    ERASED = "erased"
    # a loss that somebody confirmed: id is the memory or the operation whose lines are lost; data has when, by whom
    # and, of operations that are gone without a trace, how many
    LOST = "lost"
    # a further idempotency key, under which the same words were remembered again: id is the memory, name the key
    KEY = "key"
    # what follows what: id is the memory, name ``trigger>then``; data has both as topics, counts and confidence
    PROCEDURE = "procedure"


@dataclass(frozen=True, slots=True)
class Document:
    """One document."""

    shelf: Shelf  # what sort it is
    id: str  # which memory, session or task it is about
    name: str  # which of several about the same; may be empty
    data: Mapping[str, Any]  # plain JSON data
