"""What is known as facts: who said what about whom, when it was true, when it was believed, and how sure it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from perdure.records.instant import Instant
from perdure.records.trust import Trust


class EventType(StrEnum):
    """What a message does."""

    QUESTION = "question"
    STATEMENT = "statement"
    COMMAND = "command"
    CORRECTION = "correction"
    CONFIRMATION = "confirmation"


class Learned(StrEnum):
    """How a fact came to be known; it decides the confidence at birth."""

    EXPLICIT = "explicit"
    """Asked to be remembered, or told in so many words."""
    PREFERENCE = "preference"
    STATEMENT = "statement"
    """Said in passing: somebody's word about themselves, or "X is Y"."""
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
    """The object of a fact.

    Attributes:
        text: As it was said, without what surrounds it: ``Friday``, ``$1,350``, ``NET 30``.
        kind: What sort it is.
        norm: Its normal form: two values are equal where their normal forms are.
        number: The number, of kind NUMBER.
        unit: The number's unit in its normal form, or empty: ``usd``, ``ms``, ``word/week``.
        at: The instant, of kind DATE: the beginning of the day that was meant.
    """

    text: str
    kind: ValueKind
    norm: str
    number: float | None = None
    unit: str = ""
    at: Instant | None = None

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
    """Where in a message something was said.

    Attributes:
        start: First character in the message's text.
        end: One past the last.
        quote: The words: ``text[start:end]``.
    """

    start: int
    end: int
    quote: str


@dataclass(frozen=True, slots=True)
class Claim:
    """One thing that a message says, found by rules or by a model: a fact to be, or a change of one.

    Attributes:
        subject: As said: ``Gai Media``, ``they``, ``I``, ``my project``; resolved to an entity later.
        predicate: In normal form, words joined by ``_``: ``delivery_day_preference``.
        type: Sort of predicate: ``preference``, ``contact``, ``measure`` ...
        value: What is claimed; None where a claim only denies (``they no longer smoke``: value smoke, denied).
        learned: How it was said.
        confidence: 0 to 1.
        span: Where it was said.
        old: The value that it says was true before (``switched from A to B``, ``not Friday``), if it says so.
        denied: The value is said not to hold, or no longer.
        many: The predicate may have several values at once.
        valid_from: Since when it is true, where the message says so.
        valid_to: Until when it is true, where that is said.
    """

    subject: str
    predicate: str
    type: str
    value: Value
    learned: Learned
    confidence: float
    span: Span
    old: Value | None = None
    denied: bool = False
    many: bool = False
    valid_from: Instant | None = None
    valid_to: Instant | None = None


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
    """Somebody or something that facts are about.

    Attributes:
        id: Canonical, readable and unique in its namespace: ``gai-media``.
        name: As it is written in answers.
        type: ``person``, ``organisation``, ``thing`` ... or empty.
        aliases: Normal forms of its names -> as written; its own name is one of them.
        merged_into: The entity that stands for it since a merge.
    """

    id: str
    name: str
    type: str = ""
    aliases: Mapping[str, str] = field(default_factory=dict)
    merged_into: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the entity as plain JSON data."""
        return {**asdict(self), "aliases": dict(self.aliases)}


@dataclass(frozen=True, slots=True)
class Fact:
    """What is believed, or was, about one entity: the knowledge beside a memory of kind fact.

    The memory holds confidence, counts, status and words; this holds what they are about. Validity and belief are two
    axes: ``valid_*`` is when it was true, the memory's ``recorded_ms`` and ``retired`` is when it was believed.

    Attributes:
        id: The memory.
        subject: The entity's id.
        predicate: In normal form.
        type: Sort of predicate.
        value: The object.
        learned: How it was learned at first.
        sources: Where it was said, oldest first.
        many: The predicate may have several values at once.
        trust: The least trusted of its sources.
        valid_from: When it began to be true, as far as is known: else when it was said.
        valid_to: When it ceased to be true.
        retired: When it was no longer believed: the instant at which that was learned, as ``recorded_ms`` is the one
            at which the fact was. The days of the messages are ``valid_*``.
        asked_not: A person said: do not ask again.
        denied: The value is said not to hold: "does not eat pork".
    """

    id: str
    subject: str
    predicate: str
    type: str
    value: Value
    learned: Learned
    sources: tuple[Source, ...] = ()
    many: bool = False
    trust: Trust = Trust.USER
    valid_from: Instant | None = None
    valid_to: Instant | None = None
    retired: Instant | None = None
    asked_not: bool = False
    denied: bool = False

    @property
    def shown_value(self) -> str:
        """The value as people are told it."""
        return value_text(self.value.text, denied=self.denied)

    @property
    def key(self) -> str:
        """What it is about, as documents are named: facts of one key agree, conflict or follow each other."""
        return fact_key(self.subject, self.predicate)

    def has_ended(self, at: Instant) -> bool:
        """Whether the day on which it was said to cease to be true has come."""
        return self.valid_to is not None and self.valid_to <= at

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
            learned=Learned(data["learned"]),
            sources=tuple(Source.from_dict(s) for s in data["sources"]),
            many=data["many"],
            trust=Trust(data["trust"]),
            valid_from=data["valid_from_ms"],
            valid_to=data["valid_to_ms"],
            retired=data["retired_ms"],
            asked_not=data["asked_not"],
            denied=data.get("denied", False),
        )


def value_text(value: str, *, denied: bool) -> str:
    """Return a value as people are told it: one that is denied with "not" before it."""
    return f"not {value}" if denied else value


def fact_key(subject: str, predicate: str) -> str:
    """Return the name of the documents of facts about one predicate of one entity."""
    return f"{subject}|{predicate}"
