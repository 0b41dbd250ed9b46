"""Which of many names may stand in a text, in a time that the text decides and not how many names there are."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Final

from perdure.knowledge.extraction.entity_names import name_words, word_form

_UNSPACED: Final = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\U0010ffff]")
"""A letter of a script that puts no spaces between words: a name begins and ends anywhere."""


class NameIndex:
    """Names by that one of their words which the fewest of them have.

    Args:
        forms: Normal forms; one without words stands nowhere.
    """

    def __init__(self, forms: Collection[str]) -> None:
        named = [(form, parts) for form in forms if (parts := form.split())]
        words = Counter(word for _, parts in named for word in set(parts))
        self._lengths = sorted({*map(len, words)})
        self._forms: dict[str, list[tuple[str, list[str]]]] = {}
        for form, parts in named:
            self._forms.setdefault(min(parts, key=lambda word: (words[word], word)), []).append((form, parts))

    def possible_in(self, text: str) -> set[str]:
        """Return the names of which every word, or the beginning of one, stands in a text; few of them are not said."""
        parts = _word_parts(text, self._lengths)
        found = (pair for part in parts for pair in self._forms.get(part, ()))
        return {form for form, words in found if parts.issuperset(words)}


def _word_parts(text: str, lengths: Sequence[int]) -> set[str]:
    """Return the beginnings of a text's words that have one of some lengths; endings such as ``'s`` are no name's."""
    plain = unicodedata.normalize("NFKC", text)
    parts = set[str]()
    for start, end in name_words(plain):
        for word in word_form(plain[start:end]).split():
            inside = range(len(word)) if _UNSPACED.search(word) else (0,)
            parts.update(word[at : at + n] for at in inside for n in lengths if at + n <= len(word))
    return parts
