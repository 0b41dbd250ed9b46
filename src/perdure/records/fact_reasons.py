"""Why a fact is believed or not: what it rests on, what made it surer, what contradicts it, and what comes next."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Said:
    """Words that a fact rests on."""

    memory: str  # the memory that holds the message
    start: int  # where in its text: ``text[start:end]``
    end: int
    quote: str  # the words, as they were taken
    at: str  # when they were said; empty where that memory is gone
    speaker: str  # who said them, where that is known
    found: bool  # whether they stand there still


@dataclass(frozen=True, slots=True)
class Surer:
    """One change of a fact's confidence."""

    at: str  # when
    operation_id: str  # what ``undo`` takes
    before: float | None  # confidence before, without the passage of time; None at birth
    after: float  # confidence after
    because: str  # the cause, as the journal has it


@dataclass(frozen=True, slots=True)
class Clash:
    """A conflict with another fact."""

    with_id: str  # the other fact
    value: str  # of this fact, when they met
    confidence: float
    other_value: str  # of the other one
    other_confidence: float
    strategy: str  # how it was decided
    outcome: str  # what came of it; ``open`` while nobody has said which is right
    at: str  # when they met
    told: str = ""  # how it was decided and what came of it, in words


@dataclass(frozen=True, slots=True)
class Checked:
    """What an authority said of a fact."""

    authority: str  # its name
    outcome: str  # as the check wrote it down
    value: str  # what the authority has; empty if nothing
    at: str  # when it was asked


@dataclass(frozen=True, slots=True)
class FactReasons:
    """Why a fact is believed or not."""

    says: str  # it in words
    state: str  # active, aging, superseded, invalidated or archived
    learned: str  # how it was learned at first, in words
    trust: str  # whose word it is: that of its least trusted source
    valid_from: str  # since when and until when it is true; empty where that is open
    valid_to: str
    believed_from: str  # since when and until when it was believed
    believed_to: str
    sources: tuple[Said, ...]  # what it rests on, oldest first
    confidence: tuple[Surer, ...]  # each change of it, oldest first
    conflicts: tuple[Clash, ...]  # with which facts, oldest first
    checks: tuple[Checked, ...]  # what authorities said, oldest first
    next: tuple[str, ...]  # what will happen next, and when, in sentences
