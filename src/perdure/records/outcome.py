"""What a verb that writes did to one memory, and facts claimed with it: nothing has to be guessed afterwards."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar, NotRequired, TypedDict

from perdure.records.instant import Instant, InstantText
from perdure.records.json_record import JsonRecord
from perdure.records.memory import MemoryItem, Scope, Trust


class WriteResult(JsonRecord):
    """A result that says what it wrote: the ids of its operations, oldest first; none where nothing was written."""

    __slots__ = ()
    _computed: ClassVar[tuple[str, ...]] = ("changed",)
    operations: tuple[str, ...]

    @property
    def operation(self) -> str | None:
        """The last operation; None where nothing was written."""
        return self.operations[-1] if self.operations else None

    @property
    def changed(self) -> bool:
        """Whether anything was written."""
        return bool(self.operations)


@dataclass(frozen=True, slots=True)
class RestingFact(JsonRecord):
    """A fact that a memory says that is hidden now."""

    id: str  # its id
    content: str  # what it says


@dataclass(frozen=True, slots=True)
class SayingMemory(JsonRecord):
    """A note or message that says a fact, or what another memory says."""

    id: str  # its id
    content: str  # its first words
    says_more: bool  # whether it says more than that, so that forgetting it takes that along


@dataclass(frozen=True, slots=True)
class Outcome(JsonRecord):
    """What a verb did to one memory."""

    _computed: ClassVar[tuple[str, ...]] = ("changed",)
    _merged: ClassVar[tuple[str, ...]] = ("memory",)

    memory: MemoryItem  # the memory as it now is
    operation: str | None  # the operation that ``undo`` takes back; None where nothing was written
    # of a memory that was forgotten: the facts that were hidden with it, because they rest on nothing else in view
    hidden_facts: tuple[RestingFact, ...] = field(default=(), kw_only=True)
    # of a note that was forgotten or denied: the messages in which the same person says its words and nothing else,
    # oldest first; they were hidden with it
    hidden_messages: tuple[SayingMemory, ...] = field(default=(), kw_only=True)
    # of a memory that is hidden now: the facts that are still believed and that nothing in view says; of one that was
    # forgotten: those of its facts that stay, because other memories say them or they are pinned
    still_believed: tuple[RestingFact, ...] = field(default=(), kw_only=True)
    # of a memory that is hidden now: the facts that it, or a fact of it, had taken the place of because it was newer or
    # surer, and that are believed again
    believed_again: tuple[RestingFact, ...] = field(default=(), kw_only=True)
    # of a fact that was forgotten: the newest three notes and messages that say it and are still shown; of a memory
    # that was forgotten or denied: those that say its facts, or nearly its words
    said_by: tuple[SayingMemory, ...] = field(default=(), kw_only=True)
    said_by_more: int = field(default=0, kw_only=True)  # how many others there are
    # of a memory that was confirmed or remembered again: what is in view of the later statements, or took the place of
    # one, whose links called it untrue until then
    links_removed_from: tuple[str, ...] = field(default=(), kw_only=True)
    # of a memory that was remembered again: those whose links called it untrue, and that it likely makes untrue now
    links_turned_round: tuple[str, ...] = field(default=(), kw_only=True)

    @property
    def id(self) -> str:
        """The id of the memory."""
        return self.memory.id

    @property
    def changed(self) -> bool:
        """Whether anything was written."""
        return self.operation is not None


@dataclass(frozen=True, slots=True)
class ReplacedFact(JsonRecord):
    """A fact that a call took out of belief."""

    id: str  # its id
    content: str  # what it says
    # the fact that took its place, else the memory that took that of all that said it; empty where none did
    by: str = ""
    # whether that one took its place only because it is newer or surer: ``both`` of this one believes both
    by_order: bool = False


@dataclass(frozen=True, slots=True)
class MatchedName(JsonRecord):
    """A name that was taken for that of somebody or something known, because it is like it."""

    name: str  # as it was handed over
    taken_for: str  # what it was taken for


@dataclass(frozen=True, slots=True)
class RelatedMemory(JsonRecord):
    """An earlier memory that may be about the same thing."""

    id: str  # its id
    created_at: str  # the day on which it happened: ``2026-11-21``
    content: str  # its first 100 characters


@dataclass(frozen=True, slots=True)
class ClaimResult(JsonRecord):
    """What became of the facts that were handed over, as ids of facts."""

    created: tuple[str, ...] = ()  # those that are new
    reinforced: tuple[str, ...] = ()  # those that were known already
    retired: tuple[str, ...] = ()  # those that are no longer believed
    # those that a person is asked about: something contradicts them, and neither is clearly right
    asked: tuple[str, ...] = ()
    replaced: tuple[ReplacedFact, ...] = ()  # those that are no longer believed, in words
    planned: tuple[str, ...] = ()  # those that begin later, in words: they hold from then on, and not before
    unknown: tuple[str, ...] = ()  # what ``replaces`` of a fact names, and nothing is known of
    # the notes of which nothing is believed any longer, besides those that the call names as replaced
    superseded: tuple[RelatedMemory, ...] = ()
    taken: tuple[MatchedName, ...] = ()  # names of subjects that were taken for others; ``split_entity`` parts them


@dataclass(frozen=True, slots=True)
class KnownPredicates(JsonRecord):
    """What is known about somebody or something that a call named."""

    subject: str  # its name
    predicates: tuple[str, ...]  # what facts about it are about; the same thing should be called the same
    # (new, known) predicates that may mean the same: whoever means the known one says so by its name
    near: tuple[tuple[str, str], ...] = ()
    # what is still believed beside a new value of a predicate that may have several: replace what no longer holds
    kept_beside: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RememberResult(Outcome):
    """What was stored, and what the caller may want to compare it with."""

    facts: ClaimResult = field(default_factory=ClaimResult)  # what became of the facts that were handed over
    # at most three earlier memories that may be about the same thing: ``update`` those that no longer hold
    related: tuple[RelatedMemory, ...] = ()
    # what is known of those whom the facts are about, besides what was handed over
    predicates: tuple[KnownPredicates, ...] = ()


def operations_of(outcomes: Iterable[Outcome]) -> tuple[str, ...]:
    """Return the operations of some outcomes, each once, in their order."""
    return tuple(dict.fromkeys(o.operation for o in outcomes if o.operation is not None))


class FactClaim(TypedDict):
    """One fact as a caller hands it over, in Python and as JSON.

    Keys:
        subject: Whom or what it is about, by name; ``user`` for the user.
        predicate: What about, in a few words: ``home``, ``works at``, ``eats``.
        value: The value alone: ``Berlin``, ``Friday``, ``12 kg``; a text or a number.
        denied: It is said not to be so ("does not eat pork").
        replaces: The value that no longer holds, or the id of a memory that says it; one of no memory is refused.
        valid_from: Since when it is true: a date, or a date and time with its zone; when it was said if left out. On
            a day to come it is upcoming until then, and what it takes the place of holds until then.
        valid_to: Until when it is true, in the same forms; without an end if left out. What it contradicts holds again
            afterwards, unless ``replaces`` names it. Of both, a date counts whole, in the policy's ``days.zone``.
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
    planned: bool = False  # it begins later


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
class SupportingQuote:
    """Words that a fact rests on."""

    memory: str  # the memory that holds the message
    start: int  # where in its text: ``text[start:end]``
    end: int
    quote: str  # the words, as they were taken
    at: InstantText  # when they were said; empty where that memory is gone
    speaker: str  # who said them, where that is known
    found: bool  # whether they stand there still


@dataclass(frozen=True, slots=True)
class ConfidenceChange:
    """One change of a fact's confidence."""

    at: InstantText  # when
    operation_id: str  # what ``undo`` takes
    before: float | None  # confidence before, without the passage of time; None at birth
    after: float  # confidence after
    because: str  # the cause, as the journal has it


@dataclass(frozen=True, slots=True)
class FactConflict:
    """A conflict with another fact."""

    with_id: str  # the other fact
    value: str  # of this fact, when they met
    confidence: float
    other_value: str  # of the other one
    other_confidence: float
    strategy: str  # how it was decided
    outcome: str  # what came of it; ``open`` while nobody has said which is right
    at: InstantText  # when they met
    told: str = ""  # how it was decided and what came of it, in words


@dataclass(frozen=True, slots=True)
class AuthorityCheck:
    """What an authority said of a fact."""

    authority: str  # its name
    outcome: str  # as the check wrote it down
    value: str  # what the authority has; empty if nothing
    at: InstantText  # when it was asked


@dataclass(frozen=True, slots=True)
class FactReasons:
    """Why a fact is believed or not."""

    says: str  # it in words
    state: str  # active, aging, superseded, invalidated or archived
    learned: str  # how it was learned at first, in words
    trust: str  # whose word it is: that of its least trusted source
    valid_from: InstantText  # since when and until when it is true; empty where that is open
    valid_to: InstantText
    believed_from: InstantText  # since when and until when it was believed
    believed_to: InstantText
    sources: tuple[SupportingQuote, ...]  # what it rests on, oldest first
    confidence: tuple[ConfidenceChange, ...]  # each change of it, oldest first
    conflicts: tuple[FactConflict, ...]  # with which facts, oldest first
    checks: tuple[AuthorityCheck, ...]  # what authorities said, oldest first
    next: tuple[str, ...]  # what will happen next, and when, in sentences
