"""What the verbs about signals answer: decay and reinforcement, use, weakening, open questions."""

from __future__ import annotations

from dataclasses import dataclass

from perdure.records.json_record import JsonRecord
from perdure.records.outcome import Outcome, Written


@dataclass(frozen=True, slots=True)
class DecayedMemory:
    """A memory whose importance has decayed.

    Attributes:
        id: Which memory.
        content_preview: The beginning of what is shown of it.
        old_importance: Its base, 0 to 1: what it would be worth had no time passed.
        new_importance: What it is worth now.
        decay_factor: The share of the base that time and access leave, before the floor, 0 to 1.
        days_since_access: Whole days since the last access, or since creation.
        access_count: Accesses so far.
    """

    id: str
    content_preview: str
    old_importance: float
    new_importance: float
    decay_factor: float
    days_since_access: int
    access_count: int


@dataclass(frozen=True, slots=True)
class DecayResult(Written):
    """What decay has made of importance.

    Attributes:
        memories_analyzed: Visible memories that were looked at: all there are.
        memories_decayed: Those that are worth less than their base.
        avg_decay_factor: Mean factor of all that were looked at; 1 where there is none.
        decayed_memories: Those that are worth less, by namespace and age, oldest first.
        dry_run: Whether nothing was written.
        operations: Ids of the operations, for ``undo``.
    """

    memories_analyzed: int
    memories_decayed: int
    avg_decay_factor: float
    decayed_memories: list[DecayedMemory]
    dry_run: bool
    operations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReinforcedMemory:
    """A memory that was reinforced.

    Attributes:
        id: Which memory.
        content_preview: The beginning of what is shown of it.
        old_importance: Its current importance before, 0 to 1.
        new_importance: Its current importance right after.
        boost_applied: The difference; below 0 where a value was set that is lower.
    """

    id: str
    content_preview: str
    old_importance: float
    new_importance: float
    boost_applied: float


@dataclass(frozen=True, slots=True)
class ReinforceResult(Written):
    """What a reinforcement did.

    Attributes:
        memories_reinforced: How many.
        avg_boost: Mean of ``boost_applied``; 0 where none was reinforced.
        reinforced: In the order asked for.
        not_found: Ids of no visible memory, in the order asked for.
        operations: Ids of the operations, for ``undo``.
    """

    memories_reinforced: int
    avg_boost: float
    reinforced: list[ReinforcedMemory]
    not_found: list[str]
    operations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WeakenedMemory:
    """A memory whose strength was lowered by hand."""

    id: str
    content_preview: str
    old_strength: float
    new_strength: float


@dataclass(frozen=True, slots=True)
class WeakenResult(Written):
    """What a decay of strength by hand did.

    Attributes:
        memories_weakened: How many.
        avg_drop: Mean loss of strength, 0 or more; 0 where none was weakened.
        weakened: In the order asked for.
        not_found: Ids of no visible memory, in the order asked for.
        operations: Ids of the operations, for ``undo``.
    """

    memories_weakened: int
    avg_drop: float
    weakened: list[WeakenedMemory]
    not_found: list[str]
    operations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Used(Written):
    """What was made of the news that memories were helpful, wrong or unused.

    Attributes:
        outcome: As told.
        counted: Memories for which it counted now, in the order asked for.
        repeated: Memories for which it had been told already; it changed nothing.
        not_found: Ids of no visible memory, in the order asked for.
        operations: Ids of the operations, for ``undo``.
    """

    outcome: str
    counted: tuple[str, ...] = ()
    repeated: tuple[str, ...] = ()
    not_found: tuple[str, ...] = ()
    operations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Question(JsonRecord):
    """An open question to a person about one memory.

    Attributes:
        id: The memory.
        namespace: Where it is.
        question: What to ask: it names the day and the words.
        why: Why it is asked.
        since: When the question came up, as ``2026-11-21 09:30 UTC``.
        value_at_risk: value x (1 - confidence) now, 0 to 1.
        against: Facts that contradict it: ``both`` is an answer, too.
        same: The two predicates of which it is asked whether they are the same; then ``same`` is the answer.
    """

    id: str
    namespace: str
    question: str
    why: str
    since: str
    value_at_risk: float
    against: tuple[str, ...] = ()
    same: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Review(JsonRecord):
    """Open questions to a person, after an answer was written down if there was one.

    Attributes:
        questions: The highest value at risk first.
        answered: What the answer did; None if none was given.
    """

    questions: tuple[Question, ...]
    answered: Outcome | None = None

    @property
    def operation(self) -> str | None:
        """The operation of the answer, for ``undo``."""
        return None if self.answered is None else self.answered.operation

    @property
    def changed(self) -> bool:
        """Whether an answer changed anything."""
        return self.operation is not None
