"""What a verb that writes did to one memory: nothing has to be guessed from the journal afterwards."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import ClassVar

from perdure.records.json_record import JsonRecord
from perdure.records.memory import MemoryItem


class Written(JsonRecord):
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
class Outcome(JsonRecord):
    """What a verb did to one memory."""

    _computed: ClassVar[tuple[str, ...]] = ("changed",)
    _merged: ClassVar[tuple[str, ...]] = ("memory",)

    memory: MemoryItem  # the memory as it now is
    operation: str | None  # the operation that ``undo`` takes back; None where nothing was written
    # of a memory that was forgotten: the facts that were hidden with it, because nothing else in view says them
    hidden_facts: tuple[RestingFact, ...] = field(default=(), kw_only=True)
    # of a memory that is hidden now: the facts that are still believed and that nothing in view says; of one that was
    # forgotten: those of its facts that stay, because other memories say them or they are pinned
    still_believed: tuple[RestingFact, ...] = field(default=(), kw_only=True)

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
    # the fact that took its place only because it is newer or surer: ``both`` of that one believes both; else empty
    by: str = ""


@dataclass(frozen=True, slots=True)
class TakenName(JsonRecord):
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
    planned: tuple[str, ...] = ()  # those that begin later, in words, of which no fact was made: hand them over then
    unknown: tuple[str, ...] = ()  # what ``replaces`` of a fact names, and nothing is known of
    # the notes of which nothing is believed any longer, besides those that the call names as replaced
    superseded: tuple[RelatedMemory, ...] = ()
    taken: tuple[TakenName, ...] = ()  # names of subjects that were taken for others; ``split_entity`` parts them


@dataclass(frozen=True, slots=True)
class KnownPredicates(JsonRecord):
    """What is known about somebody or something that a call named."""

    subject: str  # its name
    predicates: tuple[str, ...]  # what facts about it are about; the same thing should be called the same
    # (new, known) predicates that may mean the same: whoever means the known one says so by its name
    near: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Remembered(Outcome):
    """What was stored, and what the caller may want to compare it with."""

    facts: ClaimResult = field(default_factory=ClaimResult)  # what became of the facts that were handed over
    # at most three earlier memories that may be about the same thing: ``update`` those that no longer hold
    related: tuple[RelatedMemory, ...] = ()
    # what is known of those whom the facts are about, besides what was handed over
    predicates: tuple[KnownPredicates, ...] = ()


def operations_of(outcomes: Iterable[Outcome]) -> tuple[str, ...]:
    """Return the operations of some outcomes, each once, in their order."""
    return tuple(dict.fromkeys(o.operation for o in outcomes if o.operation is not None))
