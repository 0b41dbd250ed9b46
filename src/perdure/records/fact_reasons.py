"""Why a fact is believed or not: what it rests on, what made it surer, what contradicts it, and what comes next.

May live here: frozen data. May not: how any of it is found.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Said:
    """Words that a fact rests on.

    Attributes:
        memory: The memory that holds the message.
        start, end: Where in its text: ``text[start:end]``.
        quote: The words, as they were taken.
        at: When they were said; empty where that memory is gone.
        speaker: Who said them, where that is known.
        found: Whether they stand there still.
    """

    memory: str
    start: int
    end: int
    quote: str
    at: str
    speaker: str
    found: bool


@dataclass(frozen=True, slots=True)
class Surer:
    """One change of a fact's confidence.

    Attributes:
        at: When.
        operation_id: What ``undo`` takes.
        before: Confidence before, without the passage of time; None at birth.
        after: Confidence after.
        because: The cause, as the journal has it.
    """

    at: str
    operation_id: str
    before: float | None
    after: float
    because: str


@dataclass(frozen=True, slots=True)
class Clash:
    """A conflict with another fact.

    Attributes:
        with_id: The other fact.
        value, confidence: Of this fact, when they met.
        other_value, other_confidence: Of the other one.
        strategy: How it was decided.
        outcome: What came of it; ``open`` while nobody has said which is right.
        at: When they met.
        told: How it was decided and what came of it, in words.
    """

    with_id: str
    value: str
    confidence: float
    other_value: str
    other_confidence: float
    strategy: str
    outcome: str
    at: str
    told: str = ""


@dataclass(frozen=True, slots=True)
class Checked:
    """What an authority said of a fact.

    Attributes:
        authority: Its name.
        outcome: As the check wrote it down.
        value: What the authority has; empty if nothing.
        at: When it was asked.
    """

    authority: str
    outcome: str
    value: str
    at: str


@dataclass(frozen=True, slots=True)
class FactReasons:
    """Why a fact is believed or not.

    Attributes:
        says: It in words.
        state: active, aging, superseded, invalidated or archived.
        learned: How it was learned at first, in words.
        trust: Whose word it is: that of its least trusted source.
        valid_from, valid_to: Since when and until when it is true; empty where that is open.
        believed_from, believed_to: Since when and until when it was believed.
        sources: What it rests on, oldest first.
        confidence: Each change of it, oldest first.
        conflicts: With which facts, oldest first.
        checks: What authorities said, oldest first.
        next: What will happen next, and when, in sentences.
    """

    says: str
    state: str
    learned: str
    trust: str
    valid_from: str
    valid_to: str
    believed_from: str
    believed_to: str
    sources: tuple[Said, ...]
    confidence: tuple[Surer, ...]
    conflicts: tuple[Clash, ...]
    checks: tuple[Checked, ...]
    next: tuple[str, ...]
