"""The clauses of a text, by its marks and by what joins two things that are said."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from perdure.rules.language.replaced_values import content_words
from perdure.rules.language.sentences import sentences

_JOINING: Final = r"\s(?:and|but|und|aber|et|mais|y|pero|e|ma|mas|en|og|och)\s"
"""What joins two things that are said, in some languages: elsewhere the whole sentence is one clause."""
_CLAUSE_ENDS: Final = re.compile(rf"[,;](?=\s)|[，、；،؛]|{_JOINING}", re.IGNORECASE)  # noqa: RUF001  # other scripts
_APART: Final = r":(?=\s)|[()\[\]（）]"  # noqa: RUF001  # other scripts
"""What else parts two things that a note says: a name is told apart from what is said of it."""
_FINER_ENDS: Final = re.compile(rf"{_CLAUSE_ENDS.pattern}|{_APART}", re.IGNORECASE)
_SURELY: Final = r";(?=\s)|[；؛]|,?\s(?:and|but|und|aber|et|mais|pero|og|och)\s"  # noqa: RUF001  # other scripts
"""What parts two statements: no comma, which may stand inside of one, and no "en", which means "in" elsewhere."""
_PART_ENDS: Final = re.compile(_SURELY, re.IGNORECASE)
_STATEMENT_ENDS: Final = re.compile(rf"{_SURELY}|{_APART}", re.IGNORECASE)
_LEAST_WORDS: Final = 2
_SHORT_ITEM: Final = 2  # words of a clause that only names something


@lru_cache(maxsize=4096)  # more than a digest considers, or each of its texts is read again for each other one
def clauses(text: str) -> tuple[str, ...]:
    """Return the clauses of a text."""
    return tuple(part for start, end in sentences(text) for part in _CLAUSE_ENDS.split(text[start:end]))


def finer_clauses(text: str) -> list[str]:
    """Return the clauses of a text, parted at colons and brackets, too."""
    return [part for start, end in sentences(text) for part in _FINER_ENDS.split(text[start:end])]


def whole_statements(text: str) -> list[str]:
    """Return what a text says in its sentences and between what surely parts two statements: no commas."""
    return [part for start, end in sentences(text) for part in _STATEMENT_ENDS.split(text[start:end])]


def joined_parts(text: str) -> list[list[tuple[int, int]]]:
    """Return where the things begin and end that each sentence of a text says, in characters.

    Commas part none, and a sentence with a part of one word joins words and not statements.
    """
    found: list[list[tuple[int, int]]] = []
    for start, end in sentences(text):
        inner = [m.span() for m in _PART_ENDS.finditer(text, start, end)]
        begins, ends = [start, *(b for _, b in inner)], [*(a for a, _ in inner), end]
        parts = list(zip(begins, ends, strict=True))
        joins_words = any(len(content_words(text[a:b])) < _LEAST_WORDS for a, b in parts)
        found.append([(start, end)] if joins_words else parts)
    return found


def says_besides(text: str, value: frozenset[str]) -> bool:
    """Return whether a text has a clause with a value and another with two words of its own, stop words not counted."""
    words = [content_words(clause) for clause in clauses(text)]
    return any(value <= own for own in words) and any(
        value.isdisjoint(own) and len(own) >= _LEAST_WORDS for own in words
    )


def speaks_of_a_part(text: str, of: str) -> bool:
    """Return whether a text speaks of some of the things that another one lists, and of others not.

    "Staging moved to 9000" leaves the second half of "Staging is on 8081 and prod on 8082" as it is. Clauses are a list
    where each has a colon, where each only names something, or where they have a word in common.
    """
    parts = [clause for clause in clauses(of) if content_words(clause)]
    words = [content_words(clause) for clause in parts]
    if len(parts) < _LEAST_WORDS or not _is_list(parts, words):
        return False
    own = [w - frozenset[str]().union(*words[:at], *words[at + 1 :]) for at, w in enumerate(words)]
    told = content_words(text)
    named = [not told.isdisjoint(w) for w in own if any(map(str.isalpha, w))]
    return any(named) and not all(named)


def _is_list(parts: Sequence[str], words: Sequence[frozenset[str]]) -> bool:
    if all(":" in clause for clause in parts) or frozenset.intersection(*words):
        return True
    return len(parts) > _LEAST_WORDS and all(len(w) <= _SHORT_ITEM for w in words[1:])
