"""What a caller claims as a fact, and why a fact is believed or not."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import NotRequired, TypedDict

from perdure.records.instant import Instant
from perdure.records.memory import Scope, Trust


class FactClaim(TypedDict):
    """One fact as a caller hands it over, in Python and as JSON.

    Keys:
        subject: Whom or what it is about, by name; ``user`` for the user.
        predicate: What about, in a few words: ``home``, ``works at``, ``eats``.
        value: The value alone: ``Berlin``, ``Friday``, ``12 kg``; a text or a number.
        denied: It is said not to be so ("does not eat pork").
        replaces: The value that no longer holds, or the id of a memory that says it; one of no memory is refused.
        valid_from: Since when it is true: a date, or a date and time with its zone; when it was said if left out. Of
            what begins later no fact is made; hand it over when it has begun.
        valid_to: Until when it is true, in the same forms; a date counts whole. Without an end if left out.
        quote: The words of the content that say so.
    """

    subject: str
    predicate: str
    value: str | float
    denied: NotRequired[bool]
    replaces: NotRequired[str]
    valid_from: NotRequired[str | datetime]
    valid_to: NotRequired[str | datetime]
    quote: NotRequired[str]


@dataclass(frozen=True, slots=True)
class GivenClaim:
    """A claim that was checked at the door. Its attributes are those of ``FactClaim``."""

    number: int  # its place in the call, from 1: messages name it so
    subject: str
    predicate: str
    value: str
    denied: bool = False
    replaces: str = ""  # empty if it names nothing
    valid_from: Instant | None = None
    valid_to: Instant | None = None
    quote: str = ""  # empty if it has none
    redacted: tuple[str, ...] = ()  # what was replaced in it before storing, secret by secret
    planned: bool = False  # it begins later, so that no fact is made of it


@dataclass(frozen=True, slots=True)
class HandedClaims:
    """Claims of one call, and where they come from."""

    claims: tuple[GivenClaim, ...]  # the claims
    memory: str | None  # the memory with the words that say so; None where there are none
    text: str  # its words
    at: Instant  # when it was said
    trust: Trust = Trust.USER  # whose word it is; it bounds how sure the claims are
    scope: Scope = Scope.LONG_TERM  # whose lifetime the memory shares
    session: str | None = None  # where it was said
    speaker: str | None = None  # who said it
    confidence: float | None = None  # how sure the caller is, 0 to 1; None for what a claim has by itself
    # memories that the call replaces: facts that rest on nothing else are no longer believed
    gone: tuple[str, ...] = ()
    keeps: tuple[str, ...] = ()  # facts that rest on those memories, and that are still true
    corrects: bool = False  # the claims say what holds now instead of what was believed
    item: int = 0  # the memory's place in a list of several, from 1; 0 for one alone. Faults name it


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
