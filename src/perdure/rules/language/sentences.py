"""Where sentences end."""

from __future__ import annotations

import re
from typing import Final

from perdure.rules.language.dates import MONTH_NAMES
from perdure.rules.language.words import MODALS, STOP_WORDS, word_set

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
    day = word.isdecimal() and len(word) <= 2  # noqa: PLR2004  # digits
    if not (initial or day) and word.lower() not in _ABBREVIATIONS:
        return False
    after = _NEXT_WORD.match(text, mark + 1)
    if after is None:
        return False
    following, digit, bracket = after.groups()
    if day:  # "15. Oktober", but not "There were 15. May I ..."
        return following is not None and following.lower() in MONTH_NAMES - MODALS
    if initial:  # "J. Ito", but not "Plan B. Then we left"
        return following is not None and following[0].isupper() and following.lower() not in STOP_WORDS
    low = word.lower()
    if low in _BEFORE_NUMBERS:
        return digit is not None
    return (
        low in _TITLES
        or low in _INTRODUCING
        or bracket is not None
        or (following is not None and following[0].islower())
    )


def _add(found: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    """Add a span without the white space around it, unless nothing is left."""
    part = text[start:end]
    inner = part.strip()
    if inner:
        first = start + len(part) - len(part.lstrip())
        found.append((first, first + len(inner)))
