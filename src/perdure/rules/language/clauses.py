"""The clauses of a text, by its marks and by what joins two things that are said."""

from __future__ import annotations

import re
from typing import Final

from perdure.rules.language.replaced_values import content_words
from perdure.rules.language.sentences import sentences

_CLAUSE_ENDS: Final = re.compile(
    r"[,;](?=\s)|[，、；،؛]|\s(?:and|but|und|aber|et|mais|y|pero|e|ma|mas|en|og|och)\s",  # noqa: RUF001  # other scripts
    re.IGNORECASE,
)
"""Also what joins two things that are said, in some languages: elsewhere the whole sentence is one clause."""
_LEAST_WORDS: Final = 2


def clauses(text: str) -> list[str]:
    """Return the clauses of a text."""
    return [part for start, end in sentences(text) for part in _CLAUSE_ENDS.split(text[start:end])]


def says_besides(text: str, value: frozenset[str]) -> bool:
    """Return whether a text has a clause with a value and another with two words of its own, stop words not counted."""
    words = [content_words(clause) for clause in clauses(text)]
    return any(value <= own for own in words) and any(
        value.isdisjoint(own) and len(own) >= _LEAST_WORDS for own in words
    )
