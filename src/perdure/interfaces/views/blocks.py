"""What views are made of. A view says what is shown of a result; a back end decides how that looks.

A plain ``str`` is our own words. Everything that others wrote (contents, names, tags, speakers, sessions, paths,
reasons) is a ``Foreign`` or a ``Quote``: a terminal shows it with control characters made visible, a model in quotes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal

from perdure.records.instant import Instant, text_of, to_instant

MOST: Final = 20
"""Entries of a list that are shown; the structured result has all."""

_SCORES: Final = {"meaning": "semantic", "words": "keyword"}

Tone = Literal["plain", "strong", "faint", "warning"]
Reader = Literal["all", "person", "model"]


@dataclass(frozen=True, slots=True)
class Foreign:
    """Text that others wrote, on one line.

    Attributes:
        text: The text.
        most: Characters that a terminal shows of it; 0 for all.
    """

    text: str
    most: int = 0


@dataclass(frozen=True, slots=True)
class Identifier:
    """An id of a memory or an operation; shown short."""

    id: str


@dataclass(frozen=True, slots=True)
class Command:
    """A call of a verb, for the reader to make. An argument of ``...`` is for the reader to choose."""

    verb: str
    arguments: tuple[tuple[str, Any], ...] = ()


Span = str | Foreign | Identifier | Command
Text = Span | tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """One line.

    Attributes:
        text: What it says.
        tone: How it is to be taken.
        item: Whether it belongs to what stands before it: a terminal indents it, a model sees a list.
        reader: Whom it is for.
    """

    text: Text
    tone: Tone = "plain"
    item: bool = False
    reader: Reader = "all"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells. A column ``id`` is not broken."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Text, ...], ...]


@dataclass(frozen=True, slots=True)
class Pairs:
    """Names and values."""

    pairs: tuple[tuple[str, Text], ...]


@dataclass(frozen=True, slots=True)
class Quote:
    """A memory, or another text that others wrote, as it stands.

    Attributes:
        text: The text.
        facts: What is to be known about it.
        warnings: What makes it doubtful.
        number: Its place in a list; 0 for none.
        speaker: Who said it.
        whole: Whether a model gets all of it, however long it is.
    """

    text: str
    facts: tuple[Text, ...] = ()
    warnings: tuple[Text, ...] = ()
    number: int = 0
    speaker: str | None = None
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Document:
    """A text that is a result of its own, such as MEMORY.md: its rule has quoted in it what others wrote.

    Attributes:
        text: The text.
        size: How long it is; a terminal tells it on standard error, so that the text can be piped.
    """

    text: str
    size: str = ""


@dataclass(frozen=True, slots=True)
class Undo:
    """How operations are taken back. They are given in the order in which they were made."""

    operations: tuple[str, ...]


Block = Line | Table | Pairs | Quote | Document | Undo


def command(verb: str, **arguments: Any) -> Command:
    """Return a call of a verb."""
    return Command(verb, tuple(arguments.items()))


def spans(text: Text) -> tuple[Span, ...]:
    """Return the spans of a text."""
    return text if isinstance(text, tuple) else (text,)


def joined(texts: Iterable[Text], separator: str = ", ") -> tuple[Span, ...]:
    """Return texts one after the other."""
    found: list[Span] = []
    for text in texts:
        found += [separator, *spans(text)] if found else spans(text)
    return tuple(found)


def identifiers(ids: Iterable[str]) -> tuple[Span, ...]:
    """Return ids, separated by commas."""
    return joined(Identifier(i) for i in ids)


def rest(total: int) -> Iterator[Line]:
    """Yield how many more entries there are than are shown, if there are."""
    if total > MOST:
        yield Line(f"… and {total - MOST:,} more; --json lists all.", item=True, reader="person")
        yield Line(f"and {total - MOST:,} more", item=True, reader="model")


def undo(operations: Sequence[str | None]) -> Iterator[Undo]:
    """Yield how operations are taken back, if there are any."""
    if kept := tuple(operation for operation in operations if operation):
        yield Undo(kept)


def not_written(changes: Sequence[object], *, dry_run: bool) -> Iterator[Line]:
    """Yield that a preview has written nothing, and how to have it done, if there is something to do."""
    if dry_run and changes:
        yield Line(("Nothing was written; repeat it with ", command("", dry_run=False), " to do it."))


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, for example ``1 file``, ``1,200 memories``."""
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}{'es' if noun.endswith('s') else 's'}"
    return f"{number:,} {noun if number == 1 else plural}"


def tally(counts: Mapping[str, int]) -> str:
    """Return counts in words, for example ``hot 3, warm 12``."""
    return ", ".join(f"{name} {count:,}" for name, count in counts.items()) or "none"


def sum_of(parts: Mapping[str, float]) -> str:
    """Return parts as they add up, without those that add nothing."""
    shown = {_SCORES.get(name, name): value for name, value in parts.items() if round(value, 3)}
    return " + ".join(f"{name} {value:.3f}" for name, value in shown.items()) or "nothing"


def when(moment: datetime | Instant | None) -> str:
    """Return an instant as ``2026-11-21 09:30 UTC``."""
    if moment is None:
        return "never"
    return text_of(to_instant(moment) if isinstance(moment, datetime) else moment)
