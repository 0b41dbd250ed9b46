"""The index of words: what a memory adds to it, and the lines that keep it. No SQL is run here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

from perdure.records.memory import searchable
from perdure.records.plan import Row
from perdure.stores.words import Stemmer

SPAN: Final = 500
"""Memories whose places one line of postings may hold: a batch. Only the commonest words outgrow a page then."""

LONGEST_TERM: Final = 64
"""Longer stems are known by their digest: an index entry has room for 2,700 bytes."""

_MOST_TIMES: Final = 0xFFFF
_MOST_LENGTH: Final = 0xFFFFFF


@dataclass(frozen=True, slots=True)
class IndexedText:
    """What the index of words needs to know of one memory."""

    length: int
    times: Counter[str]


def document_of(row: Row, stemmer: Stemmer) -> IndexedText:
    """Return a memory's words, from its text and its speaker."""
    stems = stemmer.stems(searchable(row["text"], row["speaker"]))
    # One more than its words, as SQLite counts the token that stands for the namespace.
    return IndexedText(min(len(stems) + 1, _MOST_LENGTH), Counter(map(term_of, stems)))


def term_of(stem: str) -> str:
    """Return a stem as the index of words knows it."""
    if len(stem) <= LONGEST_TERM:
        return stem
    return "#" + blake2b(stem.encode("utf-8", "replace"), digest_size=16).hexdigest()


def postings(first: int, documents: Sequence[IndexedText]) -> dict[tuple[str, int], list[int]]:
    """Return (term, first row of the line) -> entries, for memories whose rows follow each other from ``first`` on.

    A line holds at most SPAN memories; lines of different calls never meet, because rows are given out once.
    """
    return numbered_postings(first, enumerate(documents, first))


def numbered_postings(first: int, documents: Iterable[tuple[int, IndexedText]]) -> dict[tuple[str, int], list[int]]:
    """Return the same for memories with their rows, in order, none before ``first``."""
    lines: dict[tuple[str, int], list[int]] = {}
    for row, document in documents:
        line = first + (row - first) // SPAN * SPAN
        place = (row - line) << 40 | document.length
        for term, times in document.times.items():
            entry = place | (min(_MOST_TIMES, times)) << 24
            key = term, line
            if key in lines:
                lines[key].append(entry)
            else:
                lines[key] = [entry]
    return lines


def entries_of(document: IndexedText) -> dict[str, int]:
    """Return term -> what an entry says of a memory besides where it is."""
    return {t: min(_MOST_TIMES, n) << 24 | document.length for t, n in document.times.items()}


def rows_in(first: int, entries: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Yield (row, what is said of it) of a line of postings."""
    for entry in entries:
        yield first + (entry >> 40), entry & _SAID


_SAID: Final = (1 << 40) - 1
