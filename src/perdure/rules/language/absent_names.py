"""Which names and numbers of a question nothing that was found has: the answer may then be about another one."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Final

from perdure.rules.language.dates import without_days

_WORDS: Final = re.compile(r"\w+")
_TIME: Final = re.compile(
    r"\b\d{1,2}(?::\d{2}(?::\d{2})?(?:\s?[ap]\.?m\b)?|h(?:\d{2})?\b|\s?(?:[ap]\.?m\b|uhr\b|o['’]clock\b))",  # noqa: RUF001  # the typographic apostrophe is meant
    re.IGNORECASE,
)
_GROUPED: Final = re.compile(r"(?<![\d.,])\d{1,3}(?:[.,'’ \u00a0\u202f]\d{3}){1,6}(?![\d,.]?\d)")  # noqa: RUF001  # as above
"""A number of a thousand or more as people write it: 40,000 or 40.000."""
_VERSION: Final = re.compile(r"\b\d{1,9}(?:\.\d{1,9}){1,3}\b")  # a number with a point: searches by words see two
_SPLIT: Final = re.compile(r"(?<=\b[^\W\d_])\.(?=[^\W\d_]\b)|(?<=\b[A-Z])['’](?=[A-Z])")  # noqa: RUF001  # as above
"""What stands inside a name and does not count: U.S., O'Brien."""


def absent_names(question: str, unknown: Collection[str], found: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return which words of a question are in no memory, and which of its numbers with points are in nothing found.

    Days and times are left out, and a name or a number counts as found in any of its spellings. ``unknown`` are its
    names and numbers, in lower case, that no memory has as they are written.
    """
    topic = _TIME.sub(" ", without_days(question))
    grouped = {m[0]: _plain(m[0]) for m in _GROUPED.finditer(topic)}
    versions = [v for v in _VERSION.findall(topic) if v not in grouped]
    if not (unknown or grouped or versions):
        return [], []
    texts = [_plain(text) for text in found]
    known = {word for text in texts for word in _WORDS.findall(text.casefold())}
    versions = [v for v in versions if not any(v in text for text in texts)]
    numbers = [*(shown for shown, plain in grouped.items() if plain not in known), *versions]
    if not unknown or question.isupper():  # all capitals show no names
        return [], numbers
    asked = {word.casefold(): word for word in _WORDS.findall(_plain(_GROUPED.sub(" ", topic)))}
    return [asked[word] for word in unknown if word in asked and word not in known], numbers


def _plain(text: str) -> str:
    """Return a text whose numbers and names are written without what separates their parts."""
    return _SPLIT.sub("", _GROUPED.sub(lambda m: "".join(c for c in m[0] if c.isdigit()), text))
