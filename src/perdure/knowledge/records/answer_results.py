"""What an answer sheet says: everything that is known about a question, sorted by how far it may be relied on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from perdure.records.json_record import JsonRecord


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
    state: str  # active, aging, superseded, invalidated or archived
    since: str  # since when it is true, as a day; of other memories when they happened
    until: str = ""  # until when it was true, as a day; empty where it still is
    retired: str = ""  # when it was no longer believed, as a day; empty where it still is
    sources: tuple[SheetQuote, ...] = ()  # where it was said, oldest first
    replaced_by: tuple[str, ...] = ()  # the facts that stand in its place
    question: str = ""  # what to ask a person, if it is ageing
    word_of: str = ""  # whose word a fact is that no message says: user for a person's answer, authority
    unconfirmed_since: str = ""  # of what nobody has confirmed for long the day on which somebody last did


@dataclass(frozen=True, slots=True)
class AnswerSheet(JsonRecord):
    """Everything that is known about a question."""

    _computed: ClassVar[tuple[str, ...]] = ("nothing_known",)

    query: str  # as asked
    namespace: str  # where
    known: tuple[SheetEntry, ...] = ()  # facts that are believed and that nothing contradicts, best first
    aging: tuple[SheetEntry, ...] = ()  # facts that nobody has confirmed for long and that nothing newer speaks against
    contested: tuple[tuple[SheetEntry, ...], ...] = ()  # facts that cannot all hold, each group with all of its sides
    outdated: tuple[SheetEntry, ...] = ()  # facts that are not believed any longer
    # other memories about the question, best first: what was said then, which may be out of date by now
    memories: tuple[SheetEntry, ...] = ()
    unknown: tuple[str, ...] = field(default=())  # what nothing stored says anything about, in sentences
    as_of: str = ""  # the instant that is asked about; empty for now
    known_at: str = ""  # the instant whose knowledge is asked for; empty for now
    left_out: int = 0  # statements for which there was no room
    tokens: int = 0  # length of ``text``
    text: str = ""  # all of it, to be read

    @property
    def nothing_known(self) -> bool:
        """Whether nothing that is stored is about the question."""
        found = (self.known, self.aging, self.contested, self.outdated, self.memories)
        return not any(found) and not self.left_out
