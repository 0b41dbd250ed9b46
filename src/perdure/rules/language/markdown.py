"""Markdown that a sentence taken out of a message brings along."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_LEADING: Final = re.compile(r"(?:#{1,6}|[-+•>]|\*(?!\*)|\d{1,3}[.)](?=[ \t]{1,8}\*\*))[ \t]{1,8}(?:\[ \][ \t]{1,8})?")
"""What begins a heading, an item of a list, an open task or a quotation; of a done one the mark says so.

A number without stars behind it may be a date's.
"""
_HEADING: Final = re.compile(r"#{1,6}[ \t]")
_RULE: Final = re.compile(r"[|:\s-]+")
_STARS: Final = re.compile(r"`[^`\n]{1,200}`|(?<![*\\])\*{1,3}(?!\*)")
_LATIN: Final = re.compile(r"[A-Za-z0-9_]")
"""Beside these a star is more often a product or a pointer than emphasis; other scripts set no spaces."""
_CUT_OFF: Final = 2  # so many stars at an end are half of a pair whose other half is in another sentence
_OPEN: Final = 8  # of so many pairs that are not closed yet the other half is looked for


@lru_cache(maxsize=4096)
def inline(part: str) -> str:
    """Return a sentence, a line of a list or table, a heading or a block of code as it is written within a line.

    Each line of code stands in backticks of its own, so that two commands stay two; the rule below a
    table's head is "".
    """
    if part.startswith("```"):
        lines = [line.strip() for line in part.split("\n")[1:]]
        return "; ".join(f"`{line}`" for line in lines if line.strip("`"))
    if part.startswith("|") and part.endswith("|"):
        return "" if _RULE.fullmatch(part) else ", ".join(cell.strip() for cell in part.strip("|").split("|"))
    plain = " ".join(without_markup(part).split())
    return f"{plain}:" if _HEADING.match(part) and plain[-1:].isalnum() else plain


def without_markup(text: str) -> str:
    """Return a sentence as a reader sees it: without stars of emphasis and the mark of its heading, item or quotation.

    Code in backticks, names with underscores, patterns of files (``*.py``), products (``2 * 3``), and stars without
    their counterpart within the sentence (``**options``) stay as they are.
    """
    while (leading := _LEADING.match(text)) is not None:
        text = text[leading.end() :]
    removed: list[tuple[int, int]] = []
    opened: list[tuple[int, int]] = []
    for stars in _STARS.finditer(text):
        start, end = span = stars.span()
        before, after = text[start - 1 : start], text[end : end + 1]
        pair = next((one for one in reversed(opened[-_OPEN:]) if one[1] - one[0] == end - start), None)
        if stars[0].startswith("`"):
            continue
        if pair is not None and before.strip() and not _LATIN.match(after):
            removed += [pair, span]
            del opened[opened.index(pair) :]
        elif _opens(before, after, end - start):
            opened.append(span)
        elif end - start >= _CUT_OFF and (end == len(text) or start == 0):
            removed.append(span)
    if opened and opened[0][0] == 0 and opened[0][1] >= _CUT_OFF and text[opened[0][1]].isupper():
        removed.append(opened[0])
    return _without(text, sorted(removed)).strip()


def _opens(before: str, after: str, stars: int) -> bool:
    inside = bool(after.strip()) and (stars >= _CUT_OFF or after.isalnum())
    return inside and not _LATIN.match(before)


def _without(text: str, spans: list[tuple[int, int]]) -> str:
    kept, place = [], 0
    for start, end in spans:
        kept.append(text[place:start])
        place = end
    return "".join([*kept, text[place:]])
