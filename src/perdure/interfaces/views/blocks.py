"""What views are made of. A view says what is shown of a result; a back end decides how that looks.

A plain ``str`` is our own words. Everything that others wrote (contents, names, tags, speakers, sessions, paths,
reasons) is a ``Untrusted`` or a ``Quote``: a terminal shows it with control characters written out, a model in quotes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from perdure.records.identifier import shown_id


@dataclass(frozen=True, slots=True)
class Untrusted:
    """Text that others wrote, on one line; a terminal shows ``most`` characters of it, 0 for all."""

    text: str
    most: int = 0


@dataclass(frozen=True, slots=True)
class Identifier:
    """An id of a memory or an operation."""

    id: str

    @property
    def short(self) -> str:
        """What is shown of it: of a UUID its last characters, which are random; another id whole."""
        return shown_id(self.id)


@dataclass(frozen=True, slots=True)
class Command:
    """A call of a verb, for the reader to make; an argument of ``...`` is for the reader to choose."""

    verb: str
    arguments: tuple[tuple[str, Any], ...] = ()


Span = str | Untrusted | Identifier | Command
Text = Span | tuple["Text", ...]  # spans one after the other


@dataclass(frozen=True, slots=True)
class Line:
    """One line."""

    text: Text  # what it says
    tone: Literal["plain", "strong", "faint", "warning"] = "plain"  # how it is to be taken
    item: bool = False  # whether it belongs to what stands before it: a terminal indents it, a model sees a list
    reader: Literal["all", "person", "model"] = "all"  # whom it is for


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Text, ...], ...]


@dataclass(frozen=True, slots=True)
class Pairs:
    """Names and values."""

    pairs: tuple[tuple[str, Text], ...]


@dataclass(frozen=True, slots=True)
class Quote:
    """A memory, or another text that others wrote, as it stands."""

    text: str  # the text
    facts: tuple[Text, ...] = ()  # what is to be known about it
    warnings: tuple[Text, ...] = ()  # what makes it doubtful
    number: int = 0  # its place in a list; 0 for none
    speaker: str | None = None  # who said it
    whole: bool = False  # whether a model gets all of it, however long it is


@dataclass(frozen=True, slots=True)
class PlainText:
    """A result that is a text, such as MEMORY.md; its rule has quoted in it what others wrote."""

    text: str  # the text
    size: str = ""  # how long it is; a terminal writes it to standard error, so that the text can be piped


@dataclass(frozen=True, slots=True)
class Undo:
    """How operations are taken back; they are given in the order in which they were made."""

    operations: tuple[str, ...]


Block = Line | Table | Pairs | Quote | PlainText | Undo


def command(verb: str, **arguments: Any) -> Command:
    """Return a call of a verb."""
    return Command(verb, tuple(arguments.items()))


def spans(text: Text) -> Iterator[Span]:
    """Yield the spans of a text."""
    if isinstance(text, tuple):
        for part in text:
            yield from spans(part)
    else:
        yield text
