"""Which of many texts have which words, looked up for all of them at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable

import numpy as np
from numpy.typing import NDArray


class WordHolders:
    """The texts that have each word."""

    def __init__(self, texts: Iterable[Iterable[str]]) -> None:
        found: dict[str, list[int]] = defaultdict(list)
        self._size = 0
        for words in texts:
            for word in words:
                found[word].append(self._size)
            self._size += 1
        self._places = {word: np.array(places, np.int64) for word, places in found.items()}

    def counts(self, words: Iterable[str]) -> NDArray[np.int64]:
        """Return how many of some words each text has; a text has each word once."""
        places = [self._places[word] for word in words if word in self._places]
        return np.bincount(np.concatenate(places), minlength=self._size) if places else np.zeros(self._size, np.int64)

    def having_all(self, words: Collection[str]) -> NDArray[np.bool_]:
        """Return which texts have all of some words."""
        return np.equal(self.counts(words), len(words))
