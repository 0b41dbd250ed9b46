"""Which statements a later one takes the place of, as far as a summary goes: none of them is shown as current.

Nothing is decided here about the memories themselves: recall shows both, the newer first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from perdure.records.memory import Kind, MemoryItem, Sort
from perdure.records.vector import Vector
from perdure.rules.differences import differ, statements
from perdure.rules.language.replaced_values import ReplacedValue, changes, content_words, replaced_values, subjects
from perdure.rules.language.words import CALENDAR, may_answer
from perdure.rules.lifecycle.digest_lines import LONGEST_LINE, sort_of_memory

ALIKE: Final = 0.65
"""From this cosine on, two statements with other numbers are about one thing (rules/presentation.py)."""
_ABOUT_ONE_THING: Final = 0.5
"""So alike, or with another word in common, two texts with one value are about the same."""
_COMMON: Final = 2  # so many words in common at least
_COMPARED: Final = 400
"""So many of the latest statements are compared word by word."""
_KINDS: Final = (Kind.EPISODE, Kind.NOTE)
_SILENT: Final = (Sort.QUESTION, Sort.SMALL_TALK)


@dataclass(frozen=True, slots=True)
class OlderStatements:
    """What later statements say of earlier ones."""

    over: set[str] = field(default_factory=set)  # memories whose statement a later one takes the place of
    # memory -> where it names values that earlier ones have, in characters: without them it says what holds
    left_out: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    # (later, the one over or a note that it speaks against), each a line at most, in order
    successions: list[tuple[str, str]] = field(default_factory=list)


def find_older(memories: Sequence[MemoryItem], vectors: Mapping[str, Vector]) -> OlderStatements:
    """Return what is over among some memories: a later one names its value as replaced, or gives another number."""
    messages = [m for m in memories if m.kind in _KINDS and may_answer(m.speaker) and sort_of_memory(m) not in _SILENT]
    messages.sort(key=lambda m: (m.state.created_ms, m.id))
    over: set[tuple[int, int]] = set()  # (later, earlier)
    found = OlderStatements()
    matrix = vector_rows([m.id for m in messages], vectors)
    words = [content_words(m.content) for m in messages]
    replaced = [replaced_values(m.content) for m in messages]
    for at, values in enumerate(replaced):
        for value in values:
            earlier = [i for i in range(at) if _is_over(i, at, value, words, replaced, matrix)]
            over |= {(at, i) for i in earlier}
            if (earlier or value.past) and value.end > value.start:
                found.left_out.setdefault(messages[at].id, []).append((value.start, value.end))
    beside: set[tuple[int, int]] = set()  # the same of notes, which stay
    for older, newer in _about_one_thing(messages, words, matrix):
        if (newer, older) not in over and _says_otherwise(messages[newer], messages[older]):
            (over if messages[older].kind is Kind.EPISODE else beside).add((newer, older))
    pairs = sorted(over | beside)
    brief = [(newer, older) for newer, older in pairs if len(messages[newer].content) <= LONGEST_LINE]
    found.successions.extend((messages[newer].id, messages[older].id) for newer, older in brief)
    found.over.update(messages[older].id for _, older in over)
    return found


def _says_otherwise(newer: MemoryItem, older: MemoryItem) -> bool:
    """Return whether a message gives other numbers than one of the same person or a note, or denies what it says."""
    comparable = newer.kind is Kind.EPISODE and (older.kind is Kind.NOTE or newer.speaker == older.speaker)
    return comparable and differ(statements(older.content), statements(newer.content))


def _is_over(
    older: int,
    newer: int,
    value: ReplacedValue,
    words: Sequence[frozenset[str]],
    replaced: Sequence[Sequence[ReplacedValue]],
    matrix: np.ndarray | None,
) -> bool:
    """Return whether an earlier memory says a value that a later one names as replaced, of the same thing."""
    if not value.words <= words[older] or any(value.words <= own.words for own in replaced[older]):
        return False
    if (words[older] & words[newer]) - value.words - CALENDAR:
        return True
    return matrix is not None and float(matrix[older] @ matrix[newer]) >= _ABOUT_ONE_THING


def _about_one_thing(
    messages: Sequence[MemoryItem], words: Sequence[frozenset[str]], matrix: np.ndarray | None
) -> Iterator[tuple[int, int]]:
    """Yield the pairs, the earlier first, that are about one thing.

    By meaning; and if the later one says that something changes by half of their words, or by what they are about. What
    is longer than a line says more than one thing, so words do not tell that all of it is over.
    """
    if matrix is not None:
        for older, newer in np.argwhere(np.triu(matrix @ matrix.T >= ALIKE, 1)).tolist():
            yield older, newer
    brief = [at for at in range(len(messages))[-_COMPARED:] if len(messages[at].content) <= LONGEST_LINE]
    plain = {at: sum(word.isalpha() for word in words[at]) for at in brief}  # numbers and identifiers are what changes
    for newer in (at for at in brief if changes(messages[at].content)):
        about = subjects(messages[newer].content)
        for older in (at for at in brief if at < newer):
            common = len(words[older] & words[newer])
            half = max(_COMMON, _ABOUT_ONE_THING * min(plain[older], plain[newer]))
            if common >= half or not about.isdisjoint(subjects(messages[older].content)):
                yield older, newer


def vector_rows(ids: Sequence[str], vectors: Mapping[str, Vector]) -> np.ndarray | None:
    """Return the vectors of memories as rows, zeros where one has none; None where none has one."""
    size = next((len(vectors[i]) // 4 for i in ids if i in vectors), 0)
    if not size:
        return None
    rows = [np.frombuffer(vectors[i], "<f4") if i in vectors else np.zeros(size, "<f4") for i in ids]
    return np.array(rows, dtype=np.float32)
