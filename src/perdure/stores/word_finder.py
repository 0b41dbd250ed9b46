"""Finding any of many names and short texts in a text: each is tried only where its first word stands."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final

from perdure.stores.erased_texts import is_spaced

_RUN: Final = re.compile(r"[^\W_]+")
_START: Final = 2  # characters by which a name of a script without spaces between words is looked up


class WordFinder:
    """Finds what some patterns find; where several do, the first of those that begin earliest.

    Args:
        patterns: (what is sought, the pattern that finds it). The pattern takes the letters and digits of the text's
            first word as they are or in the other case; where its script puts spaces between words, no letter or digit
            may follow them.
    """

    def __init__(self, patterns: Iterable[tuple[str, str]]) -> None:
        self._patterns: list[str] = []
        self._compiled: dict[int, re.Pattern[str]] = {}
        self._always: list[int] = []
        self._by_word: dict[str, list[int]] = {}
        self._by_start: dict[str, list[int]] = {}
        for place, (text, pattern) in enumerate(patterns):
            self._patterns.append(pattern)
            run = _RUN.search(text)
            if run is None:
                self._always.append(place)
            elif all(map(is_spaced, run[0])):
                self._by_word.setdefault(_fold_case(run[0]), []).append(place)
            else:
                self._by_start.setdefault(_fold_case(run[0])[:_START], []).append(place)

    def found_in(self, text: str) -> list[tuple[int, int]]:
        """Return where they stand, one after the other, as (start, end)."""
        matches = [
            (m.start(), place, m.end()) for place in self._possible(text) for m in self._of(place).finditer(text)
        ]
        spans: list[tuple[int, int]] = []
        for start, _, end in sorted(matches):
            if not spans or start >= spans[-1][1]:
                spans.append((start, end))
        return spans

    def replace(self, text: str, instead: Callable[[str], str]) -> str:
        """Return a text with something else for each that stands in it."""
        parts, at = [], 0
        for start, end in self.found_in(text):
            parts += [text[at:start], instead(text[start:end])]
            at = end
        return "".join([*parts, text[at:]])

    def is_one(self, text: str) -> bool:
        """Whether a text is one of them, and nothing else."""
        return any(self._of(place).fullmatch(text) for place in self._possible(text))

    def _of(self, place: int) -> re.Pattern[str]:
        if place not in self._compiled:
            self._compiled[place] = re.compile(self._patterns[place])
        return self._compiled[place]

    def _possible(self, text: str) -> list[int]:
        """Return those whose first word stands in a text."""
        found = [*self._always]
        if self._by_word:
            words = {_fold_case(run) for run in {*_RUN.findall(text)}}
            found += [place for word in words & self._by_word.keys() for place in self._by_word[word]]
        if self._by_start:
            folded = _fold_case(text)
            starts = {folded[at : at + n] for n in range(1, _START + 1) for at in range(len(folded))}
            found += [place for start in starts & self._by_start.keys() for place in self._by_start[start]]
        return found


def _fold_case(text: str) -> str:
    """Return a text that is equal for all texts that a pattern takes for the same in any case."""
    return text.casefold().replace("i\u0307", "i").replace("\u0131", "i")
