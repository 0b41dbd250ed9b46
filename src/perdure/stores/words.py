"""Words as every store indexes them: stems, which words of a query are worth searching, how much of it is covered."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, chain
from typing import Final

import apsw
import numpy as np

from perdure.formulas.fusion import idf

MOST_WORDS: Final = 12  # the rarest so many words of a query are searched; fewer cost recall, more cost time

MOST_MATCHES: Final = 4000
"""So many memories are scored at most, counted word by word from the rarest on: each costs 2 microseconds, however
large the store is. Below that nothing is dropped, because it costs recall."""

SHORTEST: Final = 4  # shorter unknown words are not compared with others: too many are near
ALIKE: Final = 0.77
"""The least share of a word's letters that stand as they should: one slip in five letters, two in nine."""
SPELLINGS: Final = 3
UNSPACED: Final = "\u2e80"
MOST_SPELLINGS: Final = 5_000
"""So many words of an index are compared at most; two letters begin 300 words of 100,000 memories on average."""

KEPT: Final = 2
COVERED: Final = 10  # coverage is read off the ten best by BM25: more of them changed no figure


@dataclass(frozen=True, slots=True)
class Term:
    """A word of the query: as written, as indexed, and in how many memories it is."""

    word: str
    stem: str
    documents: int


class Stemmer:
    """Splits and stems text as FTS5 does, in every store: Porter stems of Unicode words without diacritics."""

    def __init__(self, connection: apsw.Connection | None = None) -> None:
        self._connection = connection or apsw.Connection(":memory:")
        self._tokenizer = self._connection.fts5_tokenizer("porter", ["unicode61", "remove_diacritics", "2"])
        self._lock = threading.Lock()

    def word_of(self, stem: str) -> str | None:
        """Return a word that has a stem: a stem is not always its own; None where no usual ending leads to it."""
        return next((stem + ending for ending in ("", "e", "es", "s") if self.stems(stem + ending) == [stem]), None)

    def stems(self, text: str) -> list[str]:
        """Return the stems of a text, in order."""
        with self._lock:
            found = self._tokenizer(
                text.encode("utf-8", "replace"), apsw.FTS5_TOKENIZE_QUERY, None, include_offsets=False
            )
        return list(chain.from_iterable(found))  # type: ignore[arg-type]  # without offsets these are tuples of words


def near_spellings(stem: str, stems: Sequence[str]) -> list[str]:
    """Return the words of an index that an unknown one may be misspelt from, nearest first, or be the beginning of.

    A letter more or less, another one, or two in another order are one slip. Words with digits are codes, and in
    scripts without spaces every letter is a word: they have none. ``stems`` of the index begin with the same two
    letters, in order.
    """
    if len(stem) < SHORTEST or any(not c.isalpha() or c >= UNSPACED for c in stem):
        return []
    from rapidfuzz import process  # noqa: PLC0415  # 35 ms, and most questions never ask
    from rapidfuzz.distance import OSA  # noqa: PLC0415  # as above

    found = process.extract(stem, stems, scorer=OSA.normalized_similarity, score_cutoff=ALIKE, limit=SPELLINGS)
    return [word for word, *_ in found] or [word for word in stems if word.startswith(stem)][:SPELLINGS]


def worth_searching(terms: Sequence[Term]) -> list[Term]:
    """Return the rarest known words, without common ones; the two rarest always stay."""
    used = [t for t in terms if t.documents][:MOST_WORDS]
    matches = accumulate(t.documents for t in used)
    return [t for i, (t, reached) in enumerate(zip(used, matches, strict=True)) if i < KEPT or reached <= MOST_MATCHES]


def coverage(terms: Sequence[Term], texts: Sequence[AbstractSet[str]], total: int) -> tuple[float, int]:
    """Return the largest share of the query's rarity that one text holds, and the most words of it.

    ``total`` is how many memories the counts of the words are of.
    """
    if not terms or not texts:
        return 0.0, 0
    weighted = [(term.stem, weight) for term, weight in zip(terms, _weights(terms, total), strict=True)]
    matched = [[weight for stem, weight in weighted if stem in stems] for stems in texts]
    return max(map(sum, matched)) / sum(weight for _, weight in weighted), max(map(len, matched))


def _weights(terms: Sequence[Term], total: int) -> Sequence[float]:
    return _rarity(tuple([t.documents for t in terms]), total)


@lru_cache(maxsize=256)  # a search asks twice
def _rarity(documents: tuple[int, ...], total: int) -> Sequence[float]:
    weights: list[float] = idf(np.array(documents, dtype=np.float64), total).tolist()
    return tuple(weights)


def is_telling(word: str, names: AbstractSet[str]) -> bool:
    """Whether a word of a query is a name, or a number of two digits or more: an answer without it may be another's."""
    return word in names or (len(word) > 1 and word.isdecimal())


def unknown_shares(
    terms: Sequence[Term], held: frozenset[str], names: frozenset[str], total: int
) -> tuple[float, float]:
    """Return which share of a query's words no memory holds, weighted by rarity, and which share of its names."""
    if not terms:
        return 0.0, 0.0
    weights = _weights(terms, total)
    absent = sum(weight for term, weight in zip(terms, weights, strict=True) if term.stem not in held)
    named = [term.stem not in held for term in terms if term.word in names]
    return absent / sum(weights), sum(named) / max(1, len(named))


def holds_name(stems: Sequence[str], name: Sequence[str]) -> bool:
    """Whether a text holds a name's stems side by side."""
    size = len(name)
    if size == 1:
        return name[0] in stems
    return bool(name) and any(list(stems[i : i + size]) == list(name) for i in range(len(stems) - size + 1))
