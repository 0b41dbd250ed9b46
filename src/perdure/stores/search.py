"""What a recall ranks, in every store: the nearest by meaning, the best by words, and the turns next to the best.

The steps are written once, here; a store brings the statements. That is why two stores give the same answers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from perdure.formulas.fusion import fuse
from perdure.records.memory import searchable
from perdure.records.policy_recall import RecallPolicy
from perdure.records.recall import CandidateColumns, Filters, Pool, Query
from perdure.stores.packing import unpack_text
from perdure.stores.rows import UNREADABLE
from perdure.stores.statements import Session
from perdure.stores.words import (
    COVERED,
    Stemmer,
    Term,
    coverage,
    holds_name,
    is_telling,
    near_spellings,
    unknown_shares,
)

NEIGHBOURS_OF: Final = 25
SLACK: Final = 4
SELECTIVE: Final = 20
"""With filters so many times more matches by words are read at once: they cost little, a second query costs a lot."""

WIDER: Final = 8  # where filters leave too few matches by words, so many times more are read

Narrow = tuple[int, str, str | None, int | None, str | None, int, int]
"""(row, id, session, turn, speaker, asks, created_ms)"""

Float32s = NDArray[np.float32]


class _ByWords(NamedTuple):
    """What the words of a query bring up."""

    bm25: dict[int, float]  # row -> score
    narrow: dict[int, Narrow]  # of those that pass the filters
    best: list[int]  # the rows of the best that pass, best first
    shown: list[frozenset[str]]  # the stems of what is shown of the very best
    stems: frozenset[str]  # the stems of all that the very best say


class Search(ABC):
    """One search in one namespace; made for each recall."""

    def __init__(self, session: Session, policy: RecallPolicy, stemmer: Stemmer) -> None:
        self.session, self.policy, self.stemmer = session, policy, stemmer

    def pool(self, query: Query, filters: Filters) -> Pool:
        """Return the candidates for a query."""
        vector = None
        if query.vector is not None and self.has_vectors():
            vector = np.frombuffer(query.vector, "<f4")
        terms, total = self.terms(query.words)
        found = self._words(terms, filters)
        held = self.held_stems(terms, found.stems)
        respelt = self._corrections([term for term in terms if term.stem not in held])
        if respelt:
            terms, total = self.terms([respelt.get(word, word) for word in query.words])
            found = self._words(terms, filters)
            held = self.held_stems(terms, found.stems)
        bm25, narrow, best = found.bm25, found.narrow, found.best
        share, most = coverage(terms, found.shown, total)
        cosine = self.by_meaning(vector, filters, narrow) if vector is not None else {}
        near = sorted((r for r in cosine if r in narrow), key=lambda r: -cosine[r])[: self.policy.candidates]
        kept = {*best, *near}
        if vector is not None:
            cosine |= self.cosines(vector, [r for r in kept if r not in cosine])
        kept |= self._neighbours(kept, narrow, cosine if vector is not None else None, bm25, share, filters)
        if vector is not None:
            cosine |= self.cosines(vector, [r for r in kept if r not in cosine])
        columns = _columns([narrow[r] for r in sorted(kept)], cosine, bm25)
        unknown, unknown_names = unknown_shares(terms, held, query.names, total)
        # A search by meaning that brought up fewer than it may has compared all that pass the filters.
        compared = self.size() if vector is None or len(near) >= self.policy.candidates else len(near)
        absent = tuple(t.word for t in terms if t.stem not in held and is_telling(t.word, query.names))
        return Pool(columns, share, most, vector is not None, unknown, unknown_names, compared, tuple(respelt), absent)

    def _words(self, terms: Sequence[Term], filters: Filters) -> _ByWords:
        bm25, narrow = self.by_words(terms, filters)
        less = self.shown_texts([r for r in bm25 if r in narrow]) if self.policy.words_of == "shown" else {}
        for row in [r for r, text in less.items() if not self._says_any(text, terms)]:
            del bm25[row]
        best = sorted((r for r in bm25 if r in narrow), key=lambda r: -bm25[r])[: self.policy.candidates]
        whole = self.stems(best[:COVERED])
        shown = [frozenset(self.stemmer.stems(less[row])) if row in less else stems for row, stems in whole.items()]
        return _ByWords(bm25, narrow, best, shown, frozenset().union(*whole.values()))

    # --- what a store brings

    @abstractmethod
    def has_vectors(self) -> bool:
        """Whether the namespace has vectors in the active space."""

    @abstractmethod
    def terms(self, words: Sequence[str]) -> tuple[list[Term], int]:
        """Return the query's words, rarest first, and how many memories the counts are of."""

    @abstractmethod
    def held_stems(self, terms: Sequence[Term], seen: AbstractSet[str] = frozenset()) -> frozenset[str]:
        """Return the stems of those words that a memory of the namespace holds; those of ``seen`` are known to be."""

    @abstractmethod
    def size(self) -> int:
        """Return how many memories of the namespace are searched."""

    @abstractmethod
    def by_words(self, terms: Sequence[Term], filters: Filters) -> tuple[dict[int, float], dict[int, Narrow]]:
        """Return row -> BM25 score of the best matches, and the narrow columns of those that pass the filters."""

    @abstractmethod
    def by_meaning(self, vector: Float32s, filters: Filters, narrow: dict[int, Narrow]) -> dict[int, float]:
        """Return row -> cosine of the nearest, and add the narrow columns of those that pass the filters."""

    @abstractmethod
    def cosines(self, vector: Float32s, rows: Sequence[int]) -> dict[int, float]:
        """Return row -> cosine of those rows that have a vector."""

    @abstractmethod
    def beside(self, places: Sequence[tuple[str, int]], filters: Filters) -> dict[int, Narrow]:
        """Return the narrow columns of the memories at some (session, turn) that pass the filters."""

    @abstractmethod
    def stems_beginning(self, letters: str) -> list[str]:
        """Return the stems of the index that begin with some letters, in the order of their code points."""

    # --- what is the same in every store

    def near(self, stem: str) -> list[str]:
        """Return the stems of the index that one may be misspelt from, nearest first."""
        return near_spellings(stem, self.stems_beginning(stem[:2]))

    def _corrections(self, terms: Sequence[Term]) -> dict[str, str]:
        """Return word -> the word of the namespace that it is probably misspelt from, of words that no memory has."""
        found: dict[str, str] = {}
        for term in terms:
            near = self.near(term.stem)
            words = {stem: word for stem in near if (word := self.stemmer.word_of(stem)) is not None}
            stems = self.held_stems(self.terms(list(words.values()))[0]) if words else frozenset()
            best = next((word for stem, word in words.items() if stem in stems), None)
            found |= {} if best is None else {term.word: best}
        return found

    def texts(self, rows: Sequence[int]) -> dict[int, str]:
        """Return row -> searchable text, in the order of the rows."""
        if not rows:
            return {}
        found = searchable_texts(self.session.rows("texts", rows=list(rows)))
        return {row: found[row] for row in rows if row in found}

    def stems(self, rows: Sequence[int]) -> dict[int, frozenset[str]]:
        """Return row -> the stems of its searchable text, in the order of the rows."""
        return {row: frozenset(self.stemmer.stems(text)) for row, text in self.texts(rows).items()}

    def shown_texts(self, rows: Sequence[int]) -> dict[int, str]:
        """Return row -> what is shown, with its speaker, of those rows that show less than their whole text."""
        if not rows:
            return {}
        found = self.session.rows("shown", rows=list(rows))
        return {row: searchable(text, speaker) for row, text, speaker in found}

    def _says_any(self, text: str, terms: Sequence[Term]) -> bool:
        return not {t.stem for t in terms}.isdisjoint(self.stemmer.stems(text))

    def rows_naming(self, rows: dict[int, Narrow], entity: str | None) -> dict[int, Narrow]:
        """Those rows whose words hold a name, as the index of words would find it; all of them for no name."""
        if entity is None or not rows:
            return rows
        name = self.stemmer.stems(entity)
        texts = self.texts(list(rows))
        return {row: rows[row] for row, text in texts.items() if holds_name(self.stemmer.stems(text), name)}

    def _neighbours(
        self,
        kept: set[int],
        narrow: dict[int, Narrow],
        cosine: dict[int, float] | None,
        bm25: dict[int, float],
        coverage: float,
        filters: Filters,
    ) -> set[int]:
        """Add the turns before and after the best candidates, and return their rows."""
        turns = [values for row in kept if (values := narrow[row])[2] is not None]
        if not turns:
            return set()
        rows = [values[0] for values in turns]
        parts = fuse(
            None if cosine is None else np.array([cosine.get(r, np.nan) for r in rows]),
            np.array([bm25.get(r, 0.0) for r in rows]),
            self.policy.words_share(coverage),
            self.policy.cosine_anchor,
        )
        order = np.argsort(-(parts[0] + parts[1]), kind="stable")[:NEIGHBOURS_OF]
        present = {values[2:4] for values in turns}
        adjacent: dict[tuple[str, int], None] = {}
        for i in order.tolist():
            session, turn = turns[i][2:4]
            for place in (turn - 1, turn + 1) if session is not None and turn is not None else ():
                if place >= 0 and (session, place) not in present:
                    adjacent[session, place] = None
        if not adjacent:
            return set()
        found = self.rows_naming(self.beside(list(adjacent), filters), filters.entity)
        narrow.update(found)
        return set(found)


def searchable_texts(stored: Iterable[tuple[Any, ...]]) -> dict[int, str]:
    """Return row -> searchable text, of rows as the statement gives them.

    A damaged one is left out without a word: the warning comes where the memory would be answered.
    """
    found: dict[int, str] = {}
    for row, text, pack, speaker in stored:
        with suppress(*UNREADABLE):
            found[row] = searchable(unpack_text(text, pack), speaker)
    return found


def _columns(found: Sequence[Narrow], cosine: Mapping[int, float], bm25: Mapping[int, float]) -> CandidateColumns:
    if not found:
        return CandidateColumns()
    rows, ids, sessions, turns, speakers, asks, said_at = zip(*found, strict=True)
    cosines, scores = tuple(map(cosine.get, rows)), tuple([bm25.get(row, 0.0) for row in rows])
    return CandidateColumns(ids, cosines, scores, sessions, turns, speakers, asks, said_at)
