"""What verbs about a whole store answer: plans applied and undone, erasing, repairing, compacting, readiness."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from perdure.records.json_record import JsonRecord
from perdure.records.outcome import RelatedMemory, WriteResult
from perdure.records.plan import Plan
from perdure.records.store_rows import StoreHealth


@dataclass(frozen=True, slots=True)
class ApplyResult(WriteResult):
    """Plans that were applied."""

    plans: tuple[Plan, ...]  # as they were journalled, in their order
    operations: tuple[str, ...]  # ids of the operations, for ``undo``


@dataclass(frozen=True, slots=True)
class UndoResult(WriteResult):
    """An operation that was taken back."""

    undone: str  # the operation
    note: str  # what it was, and when
    plans: tuple[Plan, ...]  # the plan that took it back
    operations: tuple[str, ...]  # the id of that plan: to undo it does the operation again
    remaining: tuple[str, ...] = ()  # other operations of the same run that are not undone, newest first
    memories: tuple[RelatedMemory, ...] = ()  # up to three memories that it had changed, those that it stored first


@dataclass(frozen=True, slots=True)
class CompactResult(JsonRecord):
    """What a store takes on disk, before and after."""

    dry_run: bool  # whether nothing was written
    bytes_before: int  # of the file, or of a server's tables; 0 where others share them
    bytes_after: int  # in a dry run about what it would be
    notes: tuple[str, ...] = ()  # what a person should know or do besides, one sentence each


@dataclass(frozen=True, slots=True)
class ErasureLine(JsonRecord):
    """A memory that an erasure would take, for a person to look at."""

    id: str
    at: datetime  # when it was said or happened
    speaker: str | None  # who said it
    text: str  # its first words
    named: str = ""  # the subject's name as it stands in the text, where it is written otherwise: "SVEN" for Sven
    # of a possible one, where it is not a part of the name: the address or number of an erased fact that its text has,
    # or where the name stands ("name in: tags")
    has: str = ""


@dataclass(frozen=True, slots=True)
class ErasureResult(WriteResult):
    """What was erased, or would be."""

    dry_run: bool  # whether nothing was erased
    confirm: str  # the word to pass as ``confirm`` to erase exactly this
    memories: tuple[str, ...]  # the memories that were asked for, oldest first
    derived: tuple[str, ...] = ()  # memories that rest on them alone, or summarise or merge them; they go too
    # memories that rest on others as well; they stay, without the words that were quoted
    redacted: tuple[str, ...] = ()
    # memories that an erased summary or merged memory stood for; they come back into view
    restored: tuple[str, ...] = ()
    # people and things that go, by id; once they are erased, what the journal has instead of their ids
    entities: tuple[str, ...] = ()
    lines: tuple[ErasureLine, ...] = ()  # in a dry run the first 20 of the memories that would go
    # the first 50 of the memories that stay and may be about the subject: they have an address of e-mail or a number of
    # six digits or more of an erased fact, the name in a tag, metadata, a source or a session, a part of the name, it
    # in an address, or it with an ending (Svens)
    possible: tuple[ErasureLine, ...] = ()
    possible_count: int = 0  # how many such memories there are
    backups: tuple[str, ...] = ()  # backups that were rewritten without them
    searched: int = 0  # how many passages of the erased texts were searched for afterwards
    names: int = 0  # how many names and ids of people and things were searched for, as whole words
    places: tuple[str, ...] = ()  # where a passage or a name was still found, one sentence each; empty if nowhere
    unreachable: tuple[
        str, ...
    ] = ()  # what could not be searched or cleaned, or in a dry run will not be, one sentence each
    operations: tuple[str, ...] = ()  # ids of the operations. An erasure cannot be undone


@dataclass(frozen=True, slots=True)
class RepairResult(WriteResult):
    """What was wrong with a store, what was repaired, and what is left."""

    dry_run: bool  # whether nothing was written
    faults: tuple[str, ...]  # what a whole check found, one sentence each
    repairs: tuple[str, ...]  # what was done about it, or would be
    left: tuple[str, ...]  # what is still wrong; in a dry run, what nothing is known about
    operations: tuple[str, ...] = ()  # ids of the operations that changed rows, oldest first; ``undo`` takes them back
    needs_copy: bool = False  # whether something of ``left`` takes an undamaged copy: ``source``, or a backup restored
    # where the file is now as it was, if it was written anew; it holds what is erased from the store later
    kept: str | None = None

    @property
    def changed(self) -> bool:
        """Whether anything was written; what is made again from rows is no operation."""
        return bool(self.repairs) and not self.dry_run


@dataclass(frozen=True, slots=True)
class Readiness:
    """Whether a memory can serve, and whether its maintenance keeps up."""

    store: StoreHealth
    worker_lag_seconds: float  # for how long the oldest due move has been waiting for a sweep
