"""What the verbs about facts, entities, learning and authorities answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, ClassVar

from perdure.knowledge.records.authority import Agreement, CitationCheck, CitationState, Verdict
from perdure.knowledge.records.facts import value_text
from perdure.records.instant import InstantText
from perdure.records.json_record import JsonRecord
from perdure.records.outcome import KnownPredicates, RelatedMemory, ReplacedFact, WriteResult
from perdure.records.plan import Plan
from perdure.records.recall import Interruption


@dataclass(frozen=True, slots=True)
class LearnResult(WriteResult):
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
    replaced: tuple[ReplacedFact, ...] = ()  # of facts that were handed over: those no longer believed, in words
    unknown: tuple[str, ...] = ()  # what ``replaces`` of such facts names, and nothing is known of
    superseded: tuple[RelatedMemory, ...] = ()  # the notes of which nothing is believed any longer
    planned: tuple[str, ...] = ()  # of facts that were handed over: those that begin later, in words

    @property
    def reason(self) -> str:
        """Why nothing was learned; empty where something was, or where a language model has yet to read."""
        if self.created or self.reinforced or self.retired or self.asked or self.waiting:
            return ""
        if not self.messages:
            return "These messages have been learned from before."
        many = "1 message" if self.messages == 1 else f"{self.messages:,} messages"
        return (
            f"No fact was found in {many}. Rules read English, and little of it; "
            "facts of any language can be handed over with claims."
        )

    def join(self, other: LearnResult) -> LearnResult:
        """Return this and another, in order."""

        def both(mine: tuple[str, ...], theirs: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(dict.fromkeys((*mine, *theirs)))

        return LearnResult(
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
    state: str  # active, aging, upcoming (begins at ``valid_from``), superseded, invalidated or archived
    confidence: float  # now, 0 to 1
    base: float  # without the passage of time
    confirmations: int  # how often it was said, confirmed or reported as helpful
    learned: str  # how it was learned at first
    trust: str  # whose word it is
    valid_from: InstantText  # since when it is true, as far as is known
    valid_to: InstantText  # until when it was
    believed_from: InstantText  # when it was stored
    believed_to: InstantText  # when it was no longer believed
    supersedes: tuple[str, ...] = ()  # the facts that it replaced
    superseded_by: tuple[str, ...] = ()  # the facts that replaced it
    contested: tuple[str, ...] = ()  # the facts that it is in open conflict with
    sources: tuple[tuple[str, str], ...] = ()  # (memory, quote) of where it was said, oldest first
    question: str = ""  # what to ask a person, if it is ageing
    session: str = ""  # the session that alone sees it; empty if all do
    denied: bool = False  # the value is said not to hold: "eat: not pork"
    # of what nobody has confirmed for long the day on which somebody last did: ``2026-11-21``
    unconfirmed_since: str = ""
    called: str = ""  # the words for its predicate that are shown; empty where these are those of its name
    # of what is believed now: later statements that likely make it untrue, the newest first; nobody has decided
    newer: tuple[str, ...] = ()
    interrupted: Interruption | None = None  # where another value holds in its place for a time: since and until when

    @property
    def shown_predicate(self) -> str:
        """What it is about, as it is shown to people."""
        return self.called or self.predicate.replace("_", " ")

    @property
    def shown_value(self) -> str:
        """The value as it is shown to people."""
        return value_text(self.value, denied=self.denied)


@dataclass(frozen=True, slots=True)
class Timeline(JsonRecord):
    """What was true of an entity, and believed, in the order of time."""

    entity: str  # the entity's id; empty where no facts are about what was named
    name: str  # its name
    # oldest first by when they began to be true; where no facts are about it those whose value has the name
    facts: tuple[FactLine, ...] = field(default_factory=tuple)
    memories: tuple[RelatedMemory, ...] = ()  # where no facts are about it: those that name it, oldest first


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
class Summaries(WriteResult):
    """The summaries that were due."""

    made: tuple[EntitySummary, ...] = ()  # one for each entity, by its id
    dry_run: bool = False  # whether nothing was written
    operations: tuple[str, ...] = ()  # ids of the operations, for ``undo``
    plans: tuple[Plan, ...] = ()  # the plans, for a dry run
    reason: str = ""  # why none was made; empty where one was


@dataclass(frozen=True, slots=True)
class EntityView(JsonRecord):
    """Somebody or something that memories are about."""

    id: str  # readable and unique in its namespace
    name: str  # as it is written in answers
    type: str  # what it is, or empty
    aliases: tuple[str, ...]  # all its names, as written, in the order of their normal forms
    memories: int  # visible memories that are about it or name it
    facts: tuple[str, ...] = ()  # ids of the memories that hold facts about it; in a list of entities empty
    first_seen: datetime | None = None  # when the earliest memory that names it happened; None if none does
    last_seen: datetime | None = None  # when the latest one did
    merged: tuple[str, ...] = ()  # entities that it stands for
    # normal form of a name -> other entities that have it too: such a name is ambiguous
    shared: Mapping[str, tuple[str, ...]] | None = None


@dataclass(frozen=True, slots=True)
class AliasChange(WriteResult):
    """What became of a name of an entity."""

    entity: str  # its id
    alias: str  # the name, as written
    removed: bool = False  # whether it was to be removed
    shared_with: tuple[str, ...] = ()  # other entities of that name: it is ambiguous from now on
    operations: tuple[str, ...] = ()  # ids of the operations, for ``undo``


@dataclass(frozen=True, slots=True)
class EntityMerge(WriteResult):
    """What a merge of two entities moved."""

    into: str  # the entity that stays
    other: str  # the one that is part of it now
    aliases: tuple[str, ...]  # names that moved, as written
    memories: int  # how many memories are about the other one, or name it
    facts: tuple[str, ...]  # ids of the facts that are about ``into`` now
    operations: tuple[str, ...] = ()  # ids of the operations, for ``undo``


@dataclass(frozen=True, slots=True)
class EntitySplit(WriteResult):
    """What became an entity of its own."""

    entity: str  # the new one's id
    source: str  # the one that had the name
    alias: str  # the name, as written
    memories: int  # how many memories used the name
    # ids of the facts that are about the new one now: everything that they come from used this name only
    facts: tuple[str, ...]
    left: tuple[str, ...]  # facts that stay, although something that they come from used the name
    operations: tuple[str, ...] = ()  # ids of the operations, for ``undo``


@dataclass(frozen=True, slots=True)
class SheetQuote:
    """Words that a statement rests on."""

    memory: str  # the memory that holds them
    day: str  # when they were said, as ``2026-11-21``; empty where that memory is gone
    speaker: str  # who said them, where that is known
    words: str  # the words, as they were said


@dataclass(frozen=True, slots=True)
class SheetEntry:
    """One thing that is known, or was."""

    id: str  # the memory
    kind: str  # fact, or another kind of memory
    says: str  # what it says, on one line
    confidence: float  # how likely it is true now, 0 to 1
    state: str  # active, aging, upcoming (begins on ``since``), superseded, invalidated or archived
    # since when it is true, as a day, empty where only its end is known; of other memories when they happened
    since: str
    until: str = ""  # until when it was true, as a day; empty where it still is
    retired: str = ""  # when it was no longer believed, as a day; empty where it still is
    sources: tuple[SheetQuote, ...] = ()  # where it was said, oldest first; what is not in view is not quoted
    replaced_by: tuple[str, ...] = ()  # the facts that stand in its place
    question: str = ""  # what to ask a person, if it is ageing
    # whose word a fact is that no message says: user for a person's answer, program for what was handed over, authority
    word_of: str = ""
    unconfirmed_since: str = ""  # of what nobody has confirmed for long the day on which somebody last did
    # what was said later and may say otherwise, oldest first; nobody has decided
    later: tuple[SheetQuote, ...] = ()
    interrupted: Interruption | None = None  # where another value holds in its place for a time: since and until when


@dataclass(frozen=True, slots=True)
class AnswerSheet(JsonRecord):
    """Everything that is known about a question."""

    _computed: ClassVar[tuple[str, ...]] = ("nothing_known",)

    query: str  # as asked
    namespace: str  # where
    known: tuple[SheetEntry, ...] = ()  # facts that are believed and that nothing speaks against, best first
    aging: tuple[SheetEntry, ...] = ()  # facts that nobody has confirmed for long and that nothing newer speaks against
    # facts that are believed and that a later statement likely makes untrue, or another value interrupts for a time
    doubted: tuple[SheetEntry, ...] = ()
    # facts that cannot all hold: of each group the newest three sides, the newest last
    contested: tuple[tuple[SheetEntry, ...], ...] = ()
    contested_more: tuple[int, ...] = ()  # of each of these groups how many older sides are left out
    outdated: tuple[SheetEntry, ...] = ()  # facts that are not believed any longer
    # other memories about the question, best first: what was said then, which may be out of date by now
    memories: tuple[SheetEntry, ...] = ()
    unknown: tuple[str, ...] = field(default=())  # what nothing stored says anything about, in sentences
    as_of: InstantText = ""  # the instant that is asked about; empty for now
    known_at: InstantText = ""  # the instant whose knowledge is asked for; empty for now
    left_out: int = 0  # statements for which there was no room
    tokens: int = 0  # length of ``text``
    text: str = ""  # all of it, to be read

    @property
    def nothing_known(self) -> bool:
        """Whether nothing that is stored is about the question."""
        found = (self.known, self.aging, self.doubted, self.contested, self.outdated, self.memories)
        return not any(found) and not self.left_out


@dataclass(frozen=True, slots=True)
class Rate(JsonRecord):
    """How fast facts of one sort change, as far as was seen."""

    type: str  # the sort of predicate
    facts: int  # how many facts were watched
    changes: int  # how many of them changed while they were watched
    exposure_days: float  # days that they were watched, over all of them
    change_rate: float  # changes a day and fact: the mean, the policy's rate counted as one change more
    rate: float  # loss of confidence a day that goes with it: 0.4 is left when a change is expected
    low: float  # lower end of its 90 % interval
    high: float  # upper end
    validation_days: float  # days after which such a fact should be validated: half of its expected life
    in_use: bool  # whether it is used instead of the policy's rate
    because: str  # why, or why not

    def to_data(self) -> dict[str, Any]:
        """Return what its document holds: everything but the type, which is the document's id."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name != "type"}


@dataclass(frozen=True, slots=True)
class SynonymQuestion:
    """Two predicates of which a person was asked whether they are the same."""

    goes: str  # the name that is replaced where they are
    stays: str  # the other
    said: str  # ``same``, ``different``, or ``open`` while nobody has answered
    cosine: float  # how alike the names are in meaning


@dataclass(frozen=True, slots=True)
class RatesResult(WriteResult):
    """The rates of a namespace."""

    namespace: str  # which one
    default: float  # the policy's rate, which holds where none is in use
    rates: tuple[Rate, ...]  # one for each sort of predicate, by name
    learned: bool  # whether they were written down just now, so that they count
    operations: tuple[str, ...] = ()  # ids of the operations, for ``undo``; empty if nothing had changed
    alike: tuple[SynonymQuestion, ...] = ()  # predicates of which a person was asked whether they are the same, by name


@dataclass(frozen=True, slots=True)
class LearnedProcedure:
    """A procedure that was learned, changed or retired."""

    id: str  # the memory; empty for one that a dry run would make
    move: str  # ``learned``, ``changed``, ``retired`` or ``back``
    content: str  # what it says
    trigger: tuple[str, ...]  # what comes up first
    then: tuple[str, ...]  # what follows
    support: int  # recent sessions in which it followed
    sessions: int  # recent sessions in which the trigger came up
    confidence: float  # 0 to 0.9
    lift: float  # how many times as often it follows as it comes up anyway
    because: str  # why, in numbers


@dataclass(frozen=True, slots=True)
class ProceduresResult(WriteResult):
    """What was found out about what follows what."""

    namespace: str  # where
    sessions: int  # sessions that were looked at
    messages: int  # messages that were looked at
    procedures: tuple[LearnedProcedure, ...]  # what was learned, changed or retired, the surest first
    unchanged: int  # procedures that hold as before
    dry_run: bool  # whether nothing was written
    plans: tuple[Plan, ...] = ()  # the plan, for a dry run
    operations: tuple[str, ...] = ()  # ids of the operations, for ``undo``
    reason: str = ""  # why nothing was learned, changed or retired; empty where something was


@dataclass(frozen=True, slots=True)
class CitedMemory(JsonRecord):
    """What became of what one memory cites."""

    id: str  # the memory
    authority: str  # the working tree
    sight: CitationState  # the worst of what it cites
    sightings: tuple[CitationCheck, ...]  # each of them


@dataclass(frozen=True, slots=True)
class VerifyResult(WriteResult):
    """What a verification found and changed."""

    _computed: ClassVar[tuple[str, ...]] = ("counts", "changed")

    namespace: str  # where
    # what authorities said of facts, with the value that was believed and the one that they have
    verdicts: tuple[Verdict, ...] = ()
    cited: tuple[CitedMemory, ...] = ()  # what became of what memories cite
    left: int = 0  # facts and citing memories beyond the limit; they come first the next time
    unasked: tuple[str, ...] = ()  # ids that were named and that no authority has a word on
    operations: tuple[str, ...] = ()  # ids of the operations, for ``undo``; empty where nothing changed
    note: str = ""  # what the caller should know: that no authority is set, or that none knows anything here

    def count(self, outcome: Agreement) -> int:
        """Return how many facts came out so."""
        return sum(1 for v in self.verdicts if v.outcome is outcome)

    def count_of(self, sight: CitationState) -> int:
        """Return of how many memories what they cite came out so."""
        return sum(1 for c in self.cited if c.sight is sight)

    @property
    def counts(self) -> dict[str, int]:
        """How many facts and citing memories came out how; what did not occur is left out."""
        facts = {o.value: self.count(o) for o in Agreement}
        sights = {s.value: self.count_of(s) for s in CitationState}
        return {name: n for name, n in {**facts, **sights}.items() if n}
