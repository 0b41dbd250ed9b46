"""Where sentences end."""

from __future__ import annotations

import re
from typing import Final

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


def sentences(text: str) -> list[tuple[int, int]]:
    """Return where each sentence starts and ends, in characters, without the white space around it.

    A sentence ends at ``.``, ``!`` or ``?`` before a space or the end, and at a line's end. A quote or bracket that
    closes may stand between, unless a small letter follows. A fenced block of code
    counts as one sentence. A text without any mark is one sentence, an empty one has none.
    """
    found: list[tuple[int, int]] = []
    start = 0
    for end in _END.finditer(text):
        if end[0].lstrip(" \t").startswith("```"):
            _add(found, text, start, end.start())
            start = end.start()
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
