"""A question and its answer as data: filters, hits with their score parts, and the pool that ranking works on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from perdure.records.instant import Instant, InstantText
from perdure.records.json_record import JsonRecord
from perdure.records.memory import Kind, MemoryItem, Scope, Status
from perdure.records.vector import Vector


@dataclass(frozen=True, slots=True)
class Filters:
    """What a recall is limited to; None and empty mean no limit."""

    kinds: tuple[Kind, ...] = ()  # any of these kinds
    scopes: tuple[Scope, ...] = ()  # any of these scopes
    tags: tuple[str, ...] = ()  # all of these tags
    session: str | None = None  # this session only
    entity: str | None = None  # memories whose words hold this name
    since: Instant | None = None  # happened at or after
    until: Instant | None = None  # happened before
    # what was true then: facts that were valid, whenever they were learned; else what was stored, not replaced yet
    as_of: Instant | None = None
    known_at: Instant | None = None  # what was known then: stored by then, and not hidden before
    min_confidence: float = 0.0  # current confidence at least this
    min_relevance: float = 0.0  # chance that it answers at least this; only a question has one
    include_archived: bool = False  # also memories whose status is not active
    isolated: bool = False  # memories of task and session scope are seen only inside their session
    inside: str | None = None  # the session that asks; where it is None, the one that ``session`` names

    @property
    def seen_inside(self) -> str | None:
        """The session whose own memories may be seen besides what is shared."""
        return self.session if self.inside is None else self.inside

    def sees(self, scope: Scope, session: str | None) -> bool:
        """Return whether who asks may see a memory of a scope and a session."""
        return not self.isolated or scope is Scope.LONG_TERM or (session is not None and session == self.seen_inside)

    @property
    def looks_back(self) -> bool:
        """Whether it asks about another time than now: what is hidden by now may be an answer."""
        return self.then is not None

    @property
    def then(self) -> Instant | None:
        """The other time that it asks about, the earlier one of two; None where it asks about now."""
        return min((at for at in (self.as_of, self.known_at) if at is not None), default=None)

    def asked_at(self, now: Instant) -> Instant:
        """Return the time that a question is about: days that it names are counted from there."""
        return now if self.as_of is None else self.as_of

    def statuses(self) -> tuple[Status, ...]:
        """Return the statuses that may be shown."""
        return tuple(Status) if self.include_archived else (Status.ACTIVE,)


@dataclass(frozen=True, slots=True)
class Query:
    """A query as the searches take it."""

    text: str  # as asked
    words: tuple[str, ...]  # its discriminating words, lower case, each once, in order (rules/language/words.py)
    vector: Vector | None = None  # its embedding in the store's space, or None for words only
    names: frozenset[str] = frozenset()  # those of its words that are probably names


class Candidate(NamedTuple):
    """One memory that a search brought up, with its raw signals."""

    id: str
    cosine: float | None  # cosine with the query; None where it has no vector
    bm25: float  # lexical score, higher is better; 0 where no word matched
    session: str | None
    turn: int | None
    speaker: str | None
    asks: bool  # its words hold a question mark
    said_at: Instant


class CandidateColumns(NamedTuple):
    """The fields of many candidates, each in the same order: ranking works on these, and makes no object for each."""

    ids: tuple[str, ...] = ()
    cosines: tuple[float | None, ...] = ()
    bm25: tuple[float, ...] = ()
    sessions: tuple[str | None, ...] = ()
    turns: tuple[int | None, ...] = ()
    speakers: tuple[str | None, ...] = ()
    asks: tuple[bool, ...] = ()
    said_at: tuple[Instant, ...] = ()

    @classmethod
    def of(cls, candidates: Iterable[Candidate]) -> CandidateColumns:
        """Return the columns of some candidates."""
        return cls(*zip(*candidates, strict=True))


class RankedCandidate(NamedTuple):
    """A candidate with its score parts, before signals."""

    id: str
    score: float  # the sum of the parts
    parts: Mapping[str, float]
    cosine: float | None
    relevance: float = 0.0  # the chance that it answers the question, 0 to 1


@dataclass(frozen=True, slots=True)
class Pool:
    """What the searches brought up, before ranking."""

    columns: CandidateColumns  # of the candidates, in no particular order
    coverage: float  # the largest share of the query's words, weighted by rarity, that one memory holds, 0 to 1
    most_words: int  # the most words of the query that one memory holds
    vectors: bool  # whether the vector search took part
    unknown: float = 0.0  # the share of the query's words, weighted by rarity, that no memory holds, 0 to 1
    unknown_names: float = 0.0  # the share of its names that no memory holds, 0 to 1
    compared: int = 1  # how many memories were compared with the query
    respelt: tuple[str, ...] = ()  # words of it that no memory holds, searched in the nearest known spelling
    absent: tuple[str, ...] = ()  # its names and numbers that no memory holds, lower case
    best_cosine: float | None = field(init=False, compare=False)
    """The cosine of the nearest memory; None where only words were searched."""

    def __post_init__(self) -> None:
        """Look once for what ranking asks for several times."""
        found = [cosine for cosine in self.columns.cosines if cosine is not None] if self.vectors else []
        object.__setattr__(self, "best_cosine", max(found, default=None))

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """The candidates one by one."""
        return tuple(map(Candidate._make, zip(*self.columns, strict=True)))


@dataclass(frozen=True, slots=True)
class OutdatedFact(JsonRecord):
    """Something that a memory says and that holds no longer."""

    id: str  # the fact; the memory itself where a later text names its value
    # what it says: "database host: db-7"; with whom it is about where the memory is, or may be, about several things
    content: str
    over: str  # why: "ended" (it held until then), "denied" or "replaced"
    since: InstantText  # when it ended, was denied or was replaced
    replaced_by: str | None = None  # what is believed in its place


@dataclass(frozen=True, slots=True)
class Interruption(JsonRecord):
    """That another value holds in the place of a fact for a time, after which that fact holds again."""

    since: str  # the day on which it began, as an ISO date
    holds_again: str  # the first day on which the fact holds again; empty where it ends before
    by: tuple[str, ...] = ()  # the facts that hold in its place, the one that began last first
    content: str = ""  # of a note that says more: which of it is interrupted, "deploys: owner: Ada"; else empty

    @property
    def days(self) -> str:
        """How it is told wherever the fact is shown."""
        again = f", holds again from {self.holds_again}" if self.holds_again else ""
        return f"interrupted since {self.since}{again}"


@dataclass(frozen=True, slots=True)
class TextCaveats:
    """Where a text says what holds no longer, or may not hold, for who shows it as current."""

    left_out: tuple[tuple[int, int], ...] = ()  # the sentences that say it, in characters; others remain
    remarks: tuple[str, ...] = ()  # what it says besides that is over: "database host: db-7"
    against: tuple[str, ...] = ()  # of a fact: the values that it is in open conflict with
    doubted: bool = False  # a later statement likely makes it untrue; nobody has decided
    interrupted: tuple[Interruption, ...] = ()  # what it says that holds again later
    begins: str = ""  # the day from which what it says holds, as its facts have it, where that is to come: an ISO date


@dataclass(frozen=True, slots=True)
class OutdatedMemories:
    """What is not to be shown as current among some memories."""

    hidden: frozenset[str] = frozenset()  # what no longer holds, and facts that a note says as well
    over: Mapping[str, TextCaveats] = field(default_factory=dict)  # memory -> what of it holds no longer


@dataclass(frozen=True, slots=True)
class Hit(JsonRecord):
    """One answer: the memory and what its score is made of."""

    memory: MemoryItem  # the memory, with signals at the time of the recall
    score: float  # the sum of ``parts``
    parts: Mapping[str, float]  # score part -> what it adds
    cosine: float | None = None  # cosine with the query, or None without a vector
    relevance: float = 0.0  # the chance that it answers the query, 0 to 1, estimated from the whole answer
    # what to ask a person about it: it is a stale fact, or a working tree no longer has what it cites; else empty
    question: str = ""
    answers: tuple[str, ...] = ()  # the verdicts by which ``review`` takes a person's answer to it
    # the memory that took the place of what this one says, as its facts were decided; its own fact where none did
    updated_by: str | None = None
    contested_with: tuple[str, ...] = ()  # the facts that it contradicts, or that contradict it
    # hits about the same thing that were said later, the newest first; nobody has decided which one holds
    newer: tuple[str, ...] = ()
    older: tuple[str, ...] = ()  # those that were said earlier, the newest first
    differs: tuple[str, ...] = ()  # those of both that give other numbers, or deny what it says
    # what it says that holds no longer, the newest first; where that is all of it, ``updated_by`` is set, too
    over: tuple[OutdatedFact, ...] = ()
    # if the question asks for the past: what held before the facts that it is or says, the newest first
    earlier: tuple[OutdatedFact, ...] = ()
    ended: str = ""  # the last day on which it says that it holds ("until Friday"), where that is over: ``2026-11-20``
    upcoming: str = ""  # the day on which what it says begins to hold, as its facts have it, if not yet: ``2027-01-01``
    interrupted: tuple[Interruption, ...] = ()  # in whose place another value holds for a time: it, or what it says


@dataclass(frozen=True, slots=True)
class Recall(JsonRecord):
    """The answer to one query."""

    query: str  # as asked
    hits: tuple[Hit, ...]  # best first
    nothing_known: bool  # true when nothing stored is related; hits are empty then
    note: str = ""  # what the caller should know, for example that only words were searched
    recall_id: str = ""  # the entry in the recall log, for ``used``; empty if none was made, or for a reader

    @property
    def id(self) -> str:
        """The same as ``recall_id``."""
        return self.recall_id


@dataclass(frozen=True, slots=True)
class Absence(JsonRecord):
    """Why a memory was not in an answer: the first test that kept it out, and the numbers behind it."""

    id: str
    query: str
    kept_out_by: str
    explanation: str
    rank: int | None = None
    parts: Mapping[str, float] = field(default_factory=dict)
