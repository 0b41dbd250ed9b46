"""What an answer sheet says: everything that is known about a question, sorted by how far it may be relied on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from perdure.records.json_record import JsonRecord


@dataclass(frozen=True, slots=True)
class SheetQuote:
    """Words that a statement rests on.

    Attributes:
        memory: The memory that holds them.
        day: When they were said, as ``2026-11-21``; empty where that memory is gone.
        speaker: Who said them, where that is known.
        words: The words, as they were said.
    """

    memory: str
    day: str
    speaker: str
    words: str


@dataclass(frozen=True, slots=True)
class SheetEntry:
    """One thing that is known, or was.

    Attributes:
        id: The memory.
        kind: fact, or another kind of memory.
        says: What it says, on one line.
        confidence: How likely it is true now, 0 to 1.
        state: active, aging, superseded, invalidated or archived.
        since: Since when it is true, as a day; of other memories when they happened.
        until: Until when it was true, as a day; empty where it still is.
        retired: When it was no longer believed, as a day; empty where it still is.
        sources: Where it was said, oldest first.
        replaced_by: The facts that stand in its place.
        question: What to ask a person, if it is ageing.
        unconfirmed_since: Of what nobody has confirmed for long the day on which somebody last did.
        word_of: Whose word a fact is that no message says: user for a person's answer, authority.
    """

    id: str
    kind: str
    says: str
    confidence: float
    state: str
    since: str
    until: str = ""
    retired: str = ""
    sources: tuple[SheetQuote, ...] = ()
    replaced_by: tuple[str, ...] = ()
    question: str = ""
    word_of: str = ""
    unconfirmed_since: str = ""


@dataclass(frozen=True, slots=True)
class AnswerSheet(JsonRecord):
    """Everything that is known about a question.

    Attributes:
        query: As asked.
        namespace: Where.
        known: Facts that are believed and that nothing contradicts, best first.
        aging: Facts that nobody has confirmed for long and that nothing newer speaks against.
        contested: Facts that cannot all hold, each group with all of its sides.
        outdated: Facts that are not believed any longer.
        memories: Other memories about the question, best first: what was said then, which may be out of date by now.
        also: Facts about others that hold what is asked for, where nothing about whom the question names does.
        unknown: What nothing stored says anything about, in sentences.
        as_of: The instant that is asked about; empty for now.
        known_at: The instant whose knowledge is asked for; empty for now.
        left_out: Statements for which there was no room.
        tokens: Length of ``text``.
        text: All of it, to be read.
    """

    _computed: ClassVar[tuple[str, ...]] = ("nothing_known",)

    query: str
    namespace: str
    known: tuple[SheetEntry, ...] = ()
    aging: tuple[SheetEntry, ...] = ()
    contested: tuple[tuple[SheetEntry, ...], ...] = ()
    outdated: tuple[SheetEntry, ...] = ()
    memories: tuple[SheetEntry, ...] = ()
    also: tuple[SheetEntry, ...] = ()
    unknown: tuple[str, ...] = field(default=())
    as_of: str = ""
    known_at: str = ""
    left_out: int = 0
    tokens: int = 0
    text: str = ""

    @property
    def nothing_known(self) -> bool:
        """Whether nothing that is stored is about the question."""
        found = (self.known, self.aging, self.contested, self.outdated, self.memories, self.also)
        return not any(found) and not self.left_out
