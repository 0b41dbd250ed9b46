"""Searching by words: FTS5 queries without the common words that make it slow, and how much of a query is covered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

import apsw
import numpy as np

from perdure.formulas.fusion import idf
from perdure.stores.sqlite.reading import run
from perdure.stores.sqlite.rows import place_of

MOST_WORDS: Final = 12
"""The rarest so many words of a query are searched; fewer cost recall, more cost time."""

MOST_MATCHES: Final = 4000
"""So many memories are scored at most, counted word by word from the rarest on: each costs 2 microseconds, however
large the store is. Below that nothing is dropped, because it costs recall."""

KEPT: Final = 2
COVERED: Final = 10
"""Coverage is read off the ten best by BM25: more of them changed no figure."""


@dataclass(frozen=True, slots=True)
class Term:
    """A word of the query: as written, as indexed, and in how many memories it is."""

    word: str
    stem: str
    documents: int


class Vocabulary:
    """Stems and document counts of one store, remembered until the store has grown by a tenth."""

    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection
        self._tokenizer = connection.fts5_tokenizer("porter", ["unicode61", "remove_diacritics", "2"])
        self._counts: dict[str, int] = {}
        self.total = 0

    def stems(self, text: str) -> list[str]:
        """Return the stems of a text, in order, as the index of words has them."""
        found = self._tokenizer(text.encode("utf-8", "replace"), apsw.FTS5_TOKENIZE_QUERY, None, include_offsets=False)
        return [str(stem) for token in found for stem in token]

    def terms(self, words: Sequence[str]) -> list[Term]:
        """Return the words that are worth searching, rarest first."""
        self._grow()
        found: dict[str, Term] = {}
        for word in words:
            stems = self.stems(word)
            if stems and stems[0] not in found:
                found[stems[0]] = Term(word, stems[0], self._count(stems[0]))
        return sorted(found.values(), key=lambda t: t.documents)

    def _grow(self) -> None:
        total = int(run(self.connection, "total_rows").get)
        if not self.total * 0.9 <= total <= self.total * 1.1 or total < MOST_MATCHES:
            self._counts.clear()
            self.total = total

    def _count(self, stem: str) -> int:
        if stem not in self._counts:
            self._counts[stem] = int(run(self.connection, "document_frequency", (stem,)).get or 0)
        return self._counts[stem]


def worth_searching(terms: Sequence[Term]) -> list[Term]:
    """Return the rarest known words, without common ones; the two rarest always stay."""
    known = [t for t in terms if t.documents][:MOST_WORDS]
    matches = accumulate(t.documents for t in known)
    return [t for i, (t, reached) in enumerate(zip(known, matches, strict=True)) if i < KEPT or reached <= MOST_MATCHES]


def match_text(terms: Sequence[Term], namespace: str | None, entity: str | None = None) -> str:
    """Return the FTS5 query; every word is quoted, so that nothing of the caller's is syntax."""
    text = " OR ".join(f'"{t.word}"' for t in terms)
    query = f"{{text}} : ({text})"
    if entity:
        query += f" AND {{text}} : {quoted(entity)}"
    if namespace is not None:
        query += f' AND {{place}} : "{place_of(namespace)}"'
    return query


def quoted(text: str) -> str:
    """Return any text as one FTS5 phrase."""
    return '"' + text.replace('"', '""').replace("\x00", " ") + '"'


def best_by_words(connection: apsw.Connection, query: str, limit: int) -> dict[int, float]:
    """Return row -> BM25 score (higher is better) of the best matches."""
    sql = "SELECT rowid, bm25(words, 1.0, 0.0) AS s FROM words WHERE words MATCH ? ORDER BY s LIMIT ?"
    return {row: -score for row, score in connection.execute(sql, (query, limit))}


def coverage(vocabulary: Vocabulary, terms: Sequence[Term], texts: Sequence[str]) -> tuple[float, int]:
    """Return the largest share of the query's rarity that one text holds, and the most words of it.

    Args:
        vocabulary: Of the store.
        terms: All words of the query, unknown ones too.
        texts: The searchable texts of the best matches.
    """
    if not terms or not texts:
        return 0.0, 0
    weights = idf(np.array([t.documents for t in terms], dtype=np.float64), vocabulary.total)
    best, most = 0.0, 0
    for text in texts:
        held = set(vocabulary.stems(text))
        matched = np.array([t.stem in held for t in terms])
        best = max(best, float(weights[matched].sum() / weights.sum()))
        most = max(most, int(matched.sum()))
    return best, most
