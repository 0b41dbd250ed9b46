"""What the verbs about facts answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from perdure.knowledge.records.facts import value_text
from perdure.records.json_record import JsonRecord
from perdure.records.outcome import Written
from perdure.records.plan import Plan


@dataclass(frozen=True, slots=True)
class Learnt(Written):
    """What messages taught; ``reason`` says why they taught nothing.

    Attributes:
        messages: Messages that were read.
        created: Ids of the facts that are new, those that were not believed at once too.
        reinforced: Ids of the facts that were said again or confirmed.
        retired: Ids of the facts that were replaced, ended or denied.
        asked: Ids of the facts that a person is asked about.
        entities: Ids of the entities that are new.
        waiting: Messages of these sessions that the language model could not read yet.
        operations: Ids of the operations, for ``undo``.
    """

    _computed: ClassVar[tuple[str, ...]] = ("changed", "reason")

    messages: int = 0
    created: tuple[str, ...] = ()
    reinforced: tuple[str, ...] = ()
    retired: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    waiting: int = 0
    operations: tuple[str, ...] = ()

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
    """One fact, as it is now.

    Attributes:
        id: The memory.
        namespace: Where it is.
        subject: The entity's id.
        name: The entity's name.
        predicate: In normal form.
        type: Sort of predicate.
        value: As it was said.
        state: active, aging, superseded, invalidated or archived.
        confidence: Now, 0 to 1.
        base: Without the passage of time.
        confirmations: How often it was said or confirmed.
        learned: How it was learned at first.
        trust: Whose word it is.
        valid_from: Since when it is true, as far as is known.
        valid_to: Until when it was.
        believed_from: When it was stored.
        believed_to: When it was no longer believed.
        supersedes: The facts that it replaced.
        superseded_by: The facts that replaced it.
        contested: The facts that it is in open conflict with.
        sources: (memory, quote) of where it was said, oldest first.
        question: What to ask a person, if it is ageing.
        session: The session that alone sees it; empty if all do.
        denied: The value is said not to hold: "eat: not pork".
        unconfirmed_since: Of what nobody has confirmed for long the day on which somebody last did: ``2026-11-21``.
    """

    id: str
    namespace: str
    subject: str
    name: str
    predicate: str
    type: str
    value: str
    state: str
    confidence: float
    base: float
    confirmations: int
    learned: str
    trust: str
    valid_from: str
    valid_to: str
    believed_from: str
    believed_to: str
    supersedes: tuple[str, ...] = ()
    superseded_by: tuple[str, ...] = ()
    contested: tuple[str, ...] = ()
    sources: tuple[tuple[str, str], ...] = ()
    question: str = ""
    session: str = ""
    denied: bool = False
    unconfirmed_since: str = ""

    @property
    def shown_value(self) -> str:
        """The value as people are told it."""
        return value_text(self.value, denied=self.denied)


@dataclass(frozen=True, slots=True)
class Timeline(JsonRecord):
    """What was true of an entity, and believed, in the order of time.

    Attributes:
        entity: The entity's id.
        name: Its name.
        facts: Oldest first by when they began to be true.
    """

    entity: str
    name: str
    facts: tuple[FactLine, ...] = field(default_factory=tuple)


@dataclass(frozen=True, slots=True)
class EntitySummary(JsonRecord):
    """What is known of an entity, summed up.

    Attributes:
        id: The memory; empty in a preview.
        entity: The entity's id.
        text: What it says; how sure it is, it says in words as of its day.
        key_facts: Predicate -> value, confidence when it was made, and the ids of the memories that say so;
            ``contested_by`` has the other values of an open conflict.
        sources: Everything that it stands for.
    """

    id: str
    entity: str
    text: str
    key_facts: Mapping[str, Mapping[str, Any]]
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Summaries(Written):
    """The summaries that were due.

    Attributes:
        made: One for each entity, by its id.
        dry_run: Whether nothing was written.
        operations: Ids of the operations, for ``undo``.
        plans: The plans, for a dry run.
        reason: Why none was made; empty where one was.
    """

    made: tuple[EntitySummary, ...] = ()
    dry_run: bool = False
    operations: tuple[str, ...] = ()
    plans: tuple[Plan, ...] = ()
    reason: str = ""
