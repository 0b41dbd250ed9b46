"""Where sentences end, and words as one."""

from __future__ import annotations

import re
from typing import Final

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
_TITLES: Final = word_set("mr mrs ms mx messrs dr prof st mt gen gov hon rev capt sgt sra srta mme mlle")
"""A name follows them, whatever letter it begins with."""
_INTRODUCING: Final = word_set("e.g i.e eg ie vs approx ca bzw z.b d.h u.a p.ej")  # what they introduce follows them
_BEFORE_NUMBERS: Final = word_set(
    "no nr num vol pp fig sec art jan feb mar apr jun jul aug sep sept oct nov dec ext tel min max"
)
_INSIDE: Final = word_set("al etc inc ltd co corp dept sr jr ave blvd rd a.m p.m u.s u.k usw")
"""A sentence may end with them: it goes on if a small letter follows, or a bracket."""
_ABBREVIATIONS: Final = _TITLES | _INTRODUCING | _BEFORE_NUMBERS | _INSIDE
_LONGEST_ABBREVIATION: Final = 7
_DAY_DIGITS: Final = 2
_AFTER_A_DAY: Final = word_set("januar jänner februar märz mai juni juli oktober dezember bis und")
"""What goes on in lower or upper case after the day of a German date ("am 4. Dezember", "vom 7. bis 18. Juli").

Months that English has, too, are left out: "There are 4. August is free".
"""
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
_NEXT_WORD: Final = re.compile(r"[ \t]+(?=\S)(?:([^\W\d_]+)|(\d)|([(\[]))?")


def sentences(text: str) -> list[tuple[int, int]]:
    """Return where each sentence starts and ends, in characters, without the white space around it.

    A sentence ends at ``.``, ``!`` or ``?`` before a space or the end, and at a line's end. A quote or bracket that
    closes may stand between, unless a small letter follows. The mark of an abbreviation, an initial or a day that more
    of the sentence follows ("Dr. Ito", "No. 5", "J. Ito", "et al. (2019)", "15. Oktober") ends nothing. A fenced block
    of code counts as one sentence. A text without any mark is one sentence, an empty one has none.
    """
    found: list[tuple[int, int]] = []
    start = 0
    for end in _END.finditer(text):
        if end[0].lstrip(" \t").startswith("```"):
            _add(found, text, start, end.start())
            start = end.start()
        elif end[0] == "." and _abbreviates(text, end.start()):
            continue
        _add(found, text, start, end.end())
        start = end.end()
    _add(found, text, start, len(text))
    return found


def _abbreviates(text: str, mark: int) -> bool:
    """Return whether the full stop at a place belongs to an abbreviation, an initial or a day of a month."""
    before = text[max(0, mark - _LONGEST_ABBREVIATION - 1) : mark].split()
    word = before[-1].lstrip("([\"'“„") if before and not text[mark - 1].isspace() else ""
    initial = len(word) == 1 and word.isupper() and word != "I"
    day = word.isdecimal() and len(word) <= _DAY_DIGITS
    if not initial and not day and word.lower() not in _ABBREVIATIONS:
        return False
    after = _NEXT_WORD.match(text, mark + 1)
    if after is None:
        return False
    return _goes_on(word, *after.groups(), initial=initial, day=day)


def _goes_on(
    word: str, following: str | None, digit: str | None, bracket: str | None, *, initial: bool, day: bool
) -> bool:
    """Return whether what follows an abbreviation, an initial or a day goes on with its sentence."""
    low, after = word.lower(), following or ""
    if day:
        return after.lower() in _AFTER_A_DAY
    if initial:  # "J. Ito", but not "Plan B. Then we left"
        return after[:1].isupper() and after.lower() not in STOP_WORDS
    if low in _TITLES or low in _INTRODUCING:
        return True
    if low in _BEFORE_NUMBERS:
        return digit is not None
    return bracket is not None or after[:1].islower()


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
