"""What the verbs about signals answer: decay and reinforcement, use, weakening, open questions."""

from __future__ import annotations

from dataclasses import dataclass

from perdure.records.instant import InstantText
from perdure.records.json_record import JsonRecord
from perdure.records.outcome import Outcome, WriteResult


@dataclass(frozen=True, slots=True)
class DecayedMemory:
    """A memory whose importance has decayed."""

    id: str  # which memory
    content_preview: str  # the beginning of what is shown of it
    old_importance: float  # its base, 0 to 1: what it would be worth had no time passed
    new_importance: float  # what it is worth now
    decay_factor: float  # the share of the base that time and access leave, before the floor, 0 to 1
    days_since_access: int  # whole days since the last access, or since creation
    access_count: int  # accesses so far


@dataclass(frozen=True, slots=True)
class DecayResult(WriteResult):
    """What decay has made of importance."""

    memories_analyzed: int  # visible memories that were looked at: all there are
    memories_decayed: int  # those that are worth less than their base
    avg_decay_factor: float  # mean factor of all that were looked at; 1 where there is none
    decayed_memories: list[DecayedMemory]  # those that are worth less, by namespace and age, oldest first
    dry_run: bool  # whether nothing was written
    operations: tuple[str, ...] = ()  # ids of the operations, for ``undo``


@dataclass(frozen=True, slots=True)
class ReinforcedMemory:
    """A memory that was reinforced."""

    id: str  # which memory
    content_preview: str  # the beginning of what is shown of it
    old_importance: float  # its current importance before, 0 to 1
    new_importance: float  # its current importance right after
    boost_applied: float  # the difference; below 0 where a value was set that is lower


@dataclass(frozen=True, slots=True)
class ReinforceResult(WriteResult):
    """What a reinforcement did."""

    memories_reinforced: int  # how many
    avg_boost: float  # mean of ``boost_applied``; 0 where none was reinforced
    reinforced: list[ReinforcedMemory]  # in the order asked for
    not_found: list[str]  # ids of no visible memory, in the order asked for
    operations: tuple[str, ...] = ()  # ids of the operations, for ``undo``


@dataclass(frozen=True, slots=True)
class StrengthChange:
    """A memory whose strength was changed by hand."""

    id: str
    content_preview: str
    old_strength: float
    new_strength: float


@dataclass(frozen=True, slots=True)
class StrengthenResult(WriteResult):
    """What a reinforcement of strength by hand did."""

    memories_strengthened: int  # how many
    avg_gain: float  # mean gain of strength, 0 or more; 0 where none was strengthened
    strengthened: list[StrengthChange]  # in the order asked for
    not_found: list[str]  # ids of no visible memory, in the order asked for
    operations: tuple[str, ...] = ()  # ids of the operations, for ``undo``


@dataclass(frozen=True, slots=True)
class WeakenResult(WriteResult):
    """What a decay of strength by hand did."""

    memories_weakened: int  # how many
    avg_drop: float  # mean loss of strength, 0 or more; 0 where none was weakened
    weakened: list[StrengthChange]  # in the order asked for
    not_found: list[str]  # ids of no visible memory, in the order asked for
    operations: tuple[str, ...] = ()  # ids of the operations, for ``undo``


@dataclass(frozen=True, slots=True)
class UseResult(WriteResult):
    """What was made of the news that memories were helpful, wrong or unused."""

    outcome: str  # as told
    counted: tuple[str, ...] = ()  # memories for which it counted now, in the order asked for
    repeated: tuple[str, ...] = ()  # memories for which it had been told already; it changed nothing
    not_found: tuple[str, ...] = ()  # ids of no visible memory, in the order asked for
    operations: tuple[str, ...] = ()  # ids of the operations, for ``undo``
    note: str = ""  # what the caller should know: that no recall of that id returned some of them, and unknown ids


@dataclass(frozen=True, slots=True)
class Question(JsonRecord):
    """An open question to a person about one memory."""

    id: str  # the memory
    namespace: str  # where it is
    question: str  # what to ask: it names the day and the words
    why: str  # why it is asked
    since: InstantText  # when the question came up, as ``2026-11-21 09:30 UTC``
    value_at_risk: float  # value x (1 - confidence) now, 0 to 1
    against: tuple[str, ...] = ()  # facts that contradict it
    sides: tuple[str, ...] = ()  # of a conflict: what the memory says, which ``confirm`` makes hold, then each rival
    same: tuple[str, ...] = ()  # the two predicates of which it is asked whether they are the same
    answers: tuple[str, ...] = ()  # the verdicts that ``review`` takes as an answer; ``correct`` with a value


@dataclass(frozen=True, slots=True)
class Review(JsonRecord):
    """Open questions to a person, after an answer was written down if there was one."""

    questions: tuple[Question, ...]  # the highest value at risk first
    answered: Outcome | None = None  # what the answer did; None if none was given

    @property
    def operation(self) -> str | None:
        """The operation of the answer, for ``undo``."""
        return None if self.answered is None else self.answered.operation

    @property
    def changed(self) -> bool:
        """Whether an answer changed anything."""
        return self.operation is not None
