"""Where sentences end, and words as one."""

from __future__ import annotations

import re
from typing import Final

from perdure.rules.language.abbreviations import belongs_to_a_word
from perdure.rules.language.words import NEGATIONS, STOP_WORDS, TURNING, word_set

_END: Final = re.compile(
    r"""^[ \t]*```[^\n]*\n(?s:.*?)(?:^[ \t]*```[^\n]*$|\Z)  # a block of code is one piece
      | [.!?](?=\s|\Z)
      | [.!?][)\]"'”’*_]{1,3}(?=\s{1,3}[^\Wa-z]|\s{0,3}\Z|\n)  # with what closes, unless the sentence goes on
      | [。！？]                                             # scripts without spaces
      | \n""",  # noqa: RUF001  # the typographic and the full-width marks are meant
    re.VERBOSE | re.MULTILINE,
)
"""A mark inside a word ends nothing ("PostgreSQL 15.2"). Linear: each branch is bounded, and a
block of code is consumed once."""
_FIRST_WORD: Final = re.compile(r"[^\W\d_]+\b(?![./@:_-]\w)")
PLAIN_WORDS: Final = (
    STOP_WORDS
    | NEGATIONS
    | TURNING
    | word_set("""
        der die das den dem ein eine wir ich er sie es unser unsere mein meine kein keine
        le la les l un une nous je il elle ils elles notre nos mon ma
        el los las una nosotros ella nuestro nuestra mi o os uma nosso nossa meu minha
        lo gli i noi nostro nostra mio mia de het een wij hij zij ons onze mijn
        """)
)
"""Words that are no names: a sentence that begins with one begins with a capital."""
_ENDS_BARE: Final = re.compile(r"[^\W_]\Z")
_MARKS_OF_PATHS: Final = frozenset("/\\@_")
"""Of a path or an address at the end of a text: a full stop would be read as part of it."""


def sentences(text: str) -> list[tuple[int, int]]:
    """Return where each sentence starts and ends, in characters, without the white space around it.

    A sentence ends at ``.``, ``!`` or ``?`` before a space or the end, and at a line's end. A quote or bracket that
    closes may stand between, unless a small letter follows. The mark of an abbreviation, an initial or a day that more
    of the sentence follows ("Dr. Ito", "Hauptstr. 12", "J. Ito", "et al. (2019)", "15. Oktober") ends nothing. A
    fenced block of code counts as one sentence. A text without any mark is one sentence, an empty one has none.
    """
    found: list[tuple[int, int]] = []
    start = 0
    for end in _END.finditer(text):
        if end[0].lstrip(" \t").startswith("```"):
            _add(found, text, start, end.start())
            start = end.start()
        elif end[0] == "." and belongs_to_a_word(text, end.start(), PLAIN_WORDS):
            continue
        _add(found, text, start, end.end())
        start = end.end()
    _add(found, text, start, len(text))
    return found


def _add(found: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    """Add a span without the white space around it, unless nothing is left."""
    part = text[start:end]
    inner = part.strip()
    if inner:
        first = start + len(part) - len(part.lstrip())
        found.append((first, first + len(inner)))


def as_sentence(line: str) -> str:
    """Return words that begin with a capital and end with a mark, where they are no name, path or command."""
    first = _FIRST_WORD.match(line)
    if first and first[0] in PLAIN_WORDS:
        line = line[0].upper() + line[1:]
    if " " in line and _ENDS_BARE.search(line) and _MARKS_OF_PATHS.isdisjoint(line.rsplit(maxsplit=1)[-1]):
        line += "."
    return line
