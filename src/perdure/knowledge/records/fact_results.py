"""What the verbs about facts answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from perdure.knowledge.records.facts import value_text
from perdure.records.json_record import JsonRecord
from perdure.records.outcome import KnownPredicates, RelatedMemory, Written
from perdure.records.plan import Plan


@dataclass(frozen=True, slots=True)
class Learnt(Written):
    """What messages taught; ``reason`` says why they taught nothing."""

    _computed: ClassVar[tuple[str, ...]] = ("changed", "reason")

    messages: int = 0  # messages that were read
    created: tuple[str, ...] = ()  # ids of the facts that are new, those that were not believed at once too
    reinforced: tuple[str, ...] = ()  # ids of the facts that were said again or confirmed
    retired: tuple[str, ...] = ()  # ids of the facts that were replaced, ended or denied
    asked: tuple[str, ...] = ()  # ids of the facts that a person is asked about
    entities: tuple[str, ...] = ()  # ids of the entities that are new
    waiting: int = 0  # messages of these sessions that the language model could not read yet
    operations: tuple[str, ...] = ()  # ids of the operations, for ``undo``
    related: tuple[RelatedMemory, ...] = ()  # earlier memories about the same things as facts that were handed over
    predicates: tuple[KnownPredicates, ...] = ()  # what else is known of those whom such facts are about

    @property
    def reason(self) -> str:
        """Why nothing was learned; empty where something was, or where a language model has yet to read."""
        if self.created or self.reinforced or self.retired or self.asked or self.waiting:
            return ""
        if not self.messages:
            return "These messages have been learned from before."
        return f"No fact was found in {self.messages:,} messages; facts can be handed over with claims."

    def joined(self, other: Learnt) -> Learnt:
        """Return this and another, in order."""

        def both(mine: tuple[str, ...], theirs: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(dict.fromkeys((*mine, *theirs)))

        return Learnt(
            self.messages + other.messages,
            both(self.created, other.created),
            both(self.reinforced, other.reinforced),
            both(self.retired, other.retired),
            both(self.asked, other.asked),
            both(self.entities, other.entities),
            self.waiting + other.waiting,
            self.operations + other.operations,
        )


@dataclass(frozen=True, slots=True)
class FactLine(JsonRecord):
    """One fact, as it is now."""

    id: str  # the memory
    namespace: str  # where it is
    subject: str  # the entity's id
    name: str  # the entity's name
    predicate: str  # in normal form
    type: str  # sort of predicate
    value: str  # as it was said
    state: str  # active, aging, superseded, invalidated or archived
    confidence: float  # now, 0 to 1
    base: float  # without the passage of time
    confirmations: int  # how often it was said or confirmed
    learned: str  # how it was learned at first
    trust: str  # whose word it is
    valid_from: str  # since when it is true, as far as is known
    valid_to: str  # until when it was
    believed_from: str  # when it was stored
    believed_to: str  # when it was no longer believed
    supersedes: tuple[str, ...] = ()  # the facts that it replaced
    superseded_by: tuple[str, ...] = ()  # the facts that replaced it
    contested: tuple[str, ...] = ()  # the facts that it is in open conflict with
    sources: tuple[tuple[str, str], ...] = ()  # (memory, quote) of where it was said, oldest first
    question: str = ""  # what to ask a person, if it is ageing
    session: str = ""  # the session that alone sees it; empty if all do
    denied: bool = False  # the value is said not to hold: "eat: not pork"
    # of what nobody has confirmed for long the day on which somebody last did: ``2026-11-21``
    unconfirmed_since: str = ""

    @property
    def shown_value(self) -> str:
        """The value as people are told it."""
        return value_text(self.value, denied=self.denied)


@dataclass(frozen=True, slots=True)
class Timeline(JsonRecord):
    """What was true of an entity, and believed, in the order of time."""

    entity: str  # the entity's id
    name: str  # its name
    facts: tuple[FactLine, ...] = field(default_factory=tuple)  # oldest first by when they began to be true


@dataclass(frozen=True, slots=True)
class EntitySummary(JsonRecord):
    """What is known of an entity, summed up."""

    id: str  # the memory; empty in a preview
    entity: str  # the entity's id
    text: str  # what it says; how sure it is, it says in words as of its day
    # predicate -> value, confidence when it was made, and the ids of the memories that say so; ``contested_by`` has the
    # other values of an open conflict
    key_facts: Mapping[str, Mapping[str, Any]]
    sources: tuple[str, ...]  # everything that it stands for


@dataclass(frozen=True, slots=True)
class Summaries(Written):
    """The summaries that were due."""

    made: tuple[EntitySummary, ...] = ()  # one for each entity, by its id
    dry_run: bool = False  # whether nothing was written
    operations: tuple[str, ...] = ()  # ids of the operations, for ``undo``
    plans: tuple[Plan, ...] = ()  # the plans, for a dry run
    reason: str = ""  # why none was made; empty where one was
