"""What is known as facts: who said what about whom, when it was true, when it was believed, and how sure it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, Final, Protocol

from perdure.records.instant import Instant
from perdure.records.maker import copy_with
from perdure.records.memory import Sort, Trust

UNNAMED: Final = "value"
"""The predicate of a correction that names none ("I meant Thursday, not Friday"): the fact is found by its ``old``."""


@dataclass(frozen=True, slots=True)
class Predicate:
    """What is known of a predicate."""

    sort: Sort = Sort.ATTRIBUTE  # what its facts are about in general
    many: bool = False  # several values hold at once: a hobby adds, an address supersedes


class Predicates(Protocol):
    """Names of predicates and what is known of them; ``rules/predicate_registry.py`` has the registry."""

    def name(self, words: str) -> str:
        """Return the normal form of a predicate."""

    def row(self, name: str) -> Predicate:
        """Return what is known of a predicate in normal form."""

    def has(self, name: str) -> bool:
        """Whether a table names a predicate in normal form, or its last words."""

    def asked_predicates(self, words: Iterable[str]) -> frozenset[str]:
        """Return the words of the predicates that a question may mean."""

    def akin(self, one: str, other: str) -> bool:
        """Return whether two predicates may be about the same."""


class EventType(StrEnum):
    """What a message does."""

    QUESTION = "question"
    STATEMENT = "statement"
    COMMAND = "command"
    CORRECTION = "correction"
    CONFIRMATION = "confirmation"


class FactOrigin(StrEnum):
    """How a fact came to be known; it decides the confidence at birth."""

    EXPLICIT = "explicit"  # asked to be remembered, or said in so many words
    PREFERENCE = "preference"
    STATEMENT = "statement"  # said in passing: somebody's word about themselves, or "X is Y"
    CORRECTION = "correction"
    MODEL = "model"
    AUTHORITY = "authority"


class ValueKind(StrEnum):
    """What sort of value a fact has."""

    TEXT = "text"
    NUMBER = "number"
    DATE = "date"
    BOOLEAN = "boolean"


@dataclass(frozen=True, slots=True)
class Value:
    """The object of a fact."""

    text: str  # as it was said, without what surrounds it: ``Friday``, ``$1,350``, ``NET 30``
    kind: ValueKind  # what sort it is
    norm: str  # its normal form: two values are equal where their normal forms are
    number: float | None = None  # the number, of kind NUMBER
    unit: str = ""  # the number's unit in its normal form, or empty: ``usd``, ``ms``, ``word/week``
    at: Instant | None = None  # the instant, of kind DATE: the beginning of the day that was meant

    def to_dict(self) -> dict[str, Any]:
        """Return the value as plain JSON data, without what is empty."""
        every = {name: getattr(self, name) for name in self.__slots__}
        return {k: v for k, v in every.items() if v is not None and v != ""}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Value:
        """Return the value that ``to_dict`` described."""
        return cls(**{**data, "kind": ValueKind(data["kind"])})


@dataclass(frozen=True, slots=True)
class Span:
    """Where in a message something was said."""

    start: int  # first character in the message's text
    end: int  # one past the last
    quote: str  # the words: ``text[start:end]``


@dataclass(frozen=True, slots=True)
class Claim:
    """One thing that a message says, found by rules or by a model: a fact to be, or a change of one."""

    subject: str  # as said: ``Gai Media``, ``they``, ``I``, ``my project``; resolved to an entity later
    predicate: str  # in normal form, words joined by ``_``: ``delivery_day_preference``
    type: str  # sort of predicate: ``preference``, ``contact``, ``measure`` ...
    value: Value  # what is claimed; None where a claim only denies (``they no longer smoke``: value smoke, denied)
    learned: FactOrigin  # how it was said
    confidence: float  # 0 to 1
    span: Span  # where it was said
    # the value that it says was true before (``switched from A to B``, ``not Friday``), if it says so
    old: Value | None = None
    denied: bool = False  # the value is said not to hold, or no longer
    many: bool = False  # the predicate may have several values at once
    valid_from: Instant | None = None  # since when it is true, where the message says so
    valid_to: Instant | None = None  # until when it is true, where that is said
    called: str = ""  # the words for its predicate that are shown; empty where these are those of its name
    planned: bool = False  # ``valid_from`` was still to come when it was said

    def under(self, predicate: str) -> Claim:
        """Return the claim under a predicate, which is shown by its own words where it is another."""
        return self if predicate == self.predicate else copy_with(self, predicate=predicate, called="")


@dataclass(frozen=True, slots=True)
class Source:
    """Where a fact was said: the memory that holds the message, and the place in it."""

    memory: str
    span: Span

    def to_dict(self) -> dict[str, Any]:
        """Return the source as plain JSON data."""
        return {"memory": self.memory, **asdict(self.span)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Source:
        """Return the source that ``to_dict`` described."""
        return cls(data["memory"], Span(data["start"], data["end"], data["quote"]))


@dataclass(frozen=True, slots=True)
class Entity:
    """Somebody or something that facts are about."""

    id: str  # canonical, readable and unique in its namespace: ``gai-media``
    name: str  # as it is written in answers
    type: str = ""  # ``person``, ``organisation``, ``thing`` ... or empty
    # normal forms of its names -> as written; its own name is one of them
    aliases: Mapping[str, str] = field(default_factory=dict)
    merged_into: str | None = None  # the entity that stands for it since a merge

    def to_dict(self) -> dict[str, Any]:
        """Return the entity as plain JSON data."""
        return {**asdict(self), "aliases": dict(self.aliases)}


@dataclass(frozen=True, slots=True)
class Fact:
    """What is believed, or was, about one entity: the knowledge beside a memory of kind fact.

    The memory holds confidence, counts, status and words; this holds what they are about. Validity and belief are two
    axes: ``valid_*`` is when it was true, the memory's ``recorded_ms`` and ``retired`` is when it was believed.
    """

    id: str  # the memory
    subject: str  # the entity's id
    predicate: str  # in normal form
    type: str  # sort of predicate
    value: Value  # the object
    learned: FactOrigin  # how it was learned at first
    sources: tuple[Source, ...] = ()  # where it was said, oldest first
    many: bool = False  # the predicate may have several values at once
    trust: Trust = Trust.USER  # the least trusted of its sources
    valid_from: Instant | None = None  # when it began to be true, as far as is known: else when it was said
    valid_to: Instant | None = None  # when it ceased to be true
    # when it was no longer believed: the instant at which that was learned, as ``recorded_ms`` is the one at which the
    # fact was. The days of the messages are ``valid_*``
    retired: Instant | None = None
    asked_not: bool = False  # a person said: do not ask again
    denied: bool = False  # the value is said not to hold: "does not eat pork"
    called: str = ""  # the words for its predicate that are shown; empty where these are those of its name
    # the last day that was told of it before it was no longer believed, or before what follows it was planned
    told_to: Instant | None = None
    planned: bool = False  # ``valid_from`` was still to come when it was said: it holds from that instant on
    followed_by: str = ""  # the planned fact that takes its place on ``valid_to``
    # of one that faded: since when another that is believed now holds instead. It is not stored
    given_way: Instant | None = None
    forgotten: bool = False  # a person put it away: it is no answer of any time. It is not stored

    @property
    def shown_value(self) -> str:
        """The value as it is shown to people."""
        return value_text(self.value.text, denied=self.denied)

    @property
    def shown_predicate(self) -> str:
        """What it is about, as it is shown to people."""
        return self.called or self.predicate.replace("_", " ")

    @property
    def key(self) -> str:
        """What it is about, as documents are named: facts of one key agree, conflict or follow each other."""
        return fact_key(self.subject, self.predicate)

    def has_ended(self, at: Instant) -> bool:
        """Whether the day on which it was said to cease to be true has come."""
        return self.valid_to is not None and self.valid_to <= at

    def ends_before(self, other: Fact) -> bool:
        """Whether it was said to hold until a day on which another fact still holds, as far as is known."""
        stated = self.told_to if self.followed_by else self.valid_to
        return stated is not None and (other.valid_to is None or stated < other.valid_to)

    def is_upcoming(self, at: Instant) -> bool:
        """Whether it was planned, and the day on which it begins to hold has not come."""
        return self.planned and self.valid_from is not None and at < self.valid_from

    def holds(self, at: Instant) -> bool:
        """Whether it is believed, has begun and has not ended."""
        return self.retired is None and not self.has_ended(at) and not self.is_upcoming(at)

    def contradicts(self, other: Fact) -> bool:
        """Whether it and another fact of its key cannot both hold."""
        same = self.value.norm == other.value.norm
        if self.denied or other.denied:
            return same and self.denied != other.denied
        return not same and not (self.many and other.many)

    def to_data(self) -> dict[str, Any]:
        """Return what its document holds."""
        return {
            "subject": self.subject,
            "predicate": self.predicate,
            "type": self.type,
            "value": self.value.to_dict(),
            "learned": self.learned.value,
            "sources": [source.to_dict() for source in self.sources],
            "many": self.many,
            "trust": self.trust.value,
            "valid_from_ms": self.valid_from,
            "valid_to_ms": self.valid_to,
            "retired_ms": self.retired,
            "asked_not": self.asked_not,
            **({"denied": True} if self.denied else {}),
            **({"called": self.called} if self.called else {}),
            **({} if self.told_to is None else {"told_to_ms": self.told_to}),
            **({"planned": True} if self.planned else {}),
            **({"followed_by": self.followed_by} if self.followed_by else {}),
        }

    @classmethod
    def from_data(cls, identity: str, data: Mapping[str, Any]) -> Fact:
        """Return the fact that a document describes."""
        return cls(
            id=identity,
            subject=data["subject"],
            predicate=data["predicate"],
            type=data["type"],
            value=Value.from_dict(data["value"]),
            learned=FactOrigin(data["learned"]),
            sources=tuple(Source.from_dict(s) for s in data["sources"]),
            many=data["many"],
            trust=Trust(data["trust"]),
            valid_from=data["valid_from_ms"],
            valid_to=data["valid_to_ms"],
            retired=data["retired_ms"],
            asked_not=data["asked_not"],
            denied=data.get("denied", False),
            called=data.get("called", ""),
            told_to=data.get("told_to_ms"),
            planned=data.get("planned", False),
            followed_by=data.get("followed_by", ""),
        )


def value_text(value: str, *, denied: bool) -> str:
    """Return a value as it is shown to people: one that is denied with "not" before it."""
    return f"not {value}" if denied else value


def fact_key(subject: str, predicate: str) -> str:
    """Return the name of the documents of facts about one predicate of one entity."""
    return f"{subject}|{predicate}"
