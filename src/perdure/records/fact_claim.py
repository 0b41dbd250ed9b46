"""A claim as a caller hands it over: who, what about, which value; what it replaces, since when, in which words."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import NotRequired, TypedDict

from perdure.records.instant import Instant
from perdure.records.memory import Scope
from perdure.records.trust import Trust


class FactClaim(TypedDict):
    """One fact as a caller hands it over, in Python and as JSON.

    Keys:
        subject: Whom or what it is about, by name; ``user`` for the user.
        predicate: What about, in a few words: ``home``, ``works at``, ``eats``.
        value: The value alone: ``Berlin``, ``Friday``, ``12 kg``; a text or a number.
        denied: It is said not to be so ("does not eat pork").
        replaces: The value that no longer holds, or the id of a memory that says it.
        valid_from: Since when it is true: a date, or a date and time with its zone; when it was said if left out.
        valid_to: Until when it is true; without an end if left out.
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
    corrects: bool = False  # the claims say what holds now instead of what was believed
    item: int = 0  # the memory's place in a list of several, from 1; 0 for one alone. Faults name it
