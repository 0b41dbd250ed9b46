"""Searches in one namespace of a PostgreSQL server: BM25 over postings, exact or approximate nearest vectors."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from perdure.formulas.fusion import idf
from perdure.records.policy_recall import RecallPolicy
from perdure.records.recall import Filters
from perdure.records.vector import Vector
from perdure.stores.postgres.postings import term_of
from perdure.stores.postgres.server import PostgresSession
from perdure.stores.search import SELECTIVE, SLACK, WIDER, Float32s, Narrow, Search
from perdure.stores.statements import filter_parts
from perdure.stores.words import MOST_SPELLINGS, Stemmer, Term, worth_searching

MOST_EXPLORED: Final = 1000  # pgvector's bound on hnsw.ef_search


@dataclass(frozen=True, slots=True)
class SearchStatistics:
    """What a search must know of its namespace first."""

    documents: int
    length: int
    vectors: int
    approximate: bool
    space: int | None
    dimensions: int

    @classmethod
    def of(cls, session: PostgresSession) -> SearchStatistics:
        """Read them."""
        row = session.run("search_statistics").fetchone()
        if row is None:
            return cls(0, 0, 0, approximate=False, space=None, dimensions=0)
        documents, length, vectors, indexed, space, dimensions = row
        return cls(documents, length, vectors, space is not None and indexed == space, space, dimensions or 0)


class PostgresSearch(Search):
    """One search over one transaction; see stores/search.py for the story."""

    def __init__(self, session: PostgresSession, policy: RecallPolicy, stemmer: Stemmer) -> None:
        super().__init__(session, policy, stemmer)
        self.postgres = session
        self.statistics = SearchStatistics.of(session)

    def has_vectors(self) -> bool:
        """Whether the namespace has vectors in the active space."""
        return self.statistics.space is not None and self.statistics.vectors > 0

    def terms(self, words: Sequence[str]) -> tuple[list[Term], int]:
        """Return the query's words, rarest first, and how many memories the counts are of."""
        stems: dict[str, str] = {}
        for word in words:
            found = self.stemmer.stems(word)
            if found:
                stems.setdefault(found[0], word)
        counts = dict(self.session.rows("document_counts", terms=[term_of(s) for s in stems])) if stems else {}
        listed = [Term(word, stem, int(counts.get(term_of(stem), 0))) for stem, word in stems.items()]
        return sorted(listed, key=lambda t: t.documents), self.statistics.documents

    def beginning(self, letters: str) -> list[str]:
        """Return the stems of the namespace that begin with some letters, in the order of their code points."""
        last = letters[:-1] + chr(ord(letters[-1]) + 1)
        return [t for (t,) in self.session.rows("beginning", first=letters, last=last, limit=MOST_SPELLINGS)]

    def held(self, terms: Sequence[Term], _seen: AbstractSet[str] = frozenset()) -> frozenset[str]:
        """Return the stems of those words that a memory of the namespace holds."""
        return frozenset(t.stem for t in terms if t.documents)

    def size(self) -> int:
        """Return how many memories of the namespace are searched."""
        return self.statistics.documents

    def by_words(self, terms: Sequence[Term], filters: Filters) -> tuple[dict[int, float], dict[int, Narrow]]:
        """Return row -> BM25 score of the best matches, and the narrow columns of those that pass the filters."""
        searched = worth_searching(terms)
        if not searched:
            return {}, {}
        parts, bindings = self._filters(filters)
        narrowed = filters != Filters(include_archived=filters.include_archived)
        wide = (self.policy.candidates + SLACK) * (SELECTIVE if narrowed else 1)
        weights = idf(np.array([t.documents for t in searched], dtype=np.float64), self.statistics.documents)
        while True:
            rows = self.session.rows(
                "best_by_words",
                parts,
                terms=[term_of(t.stem) for t in searched],
                weights=weights.tolist(),
                average=self.statistics.length / max(1, self.statistics.documents),
                wide=wide,
                **bindings,
            )
            found = {row: float(score) for row, score, *_ in rows}
            narrow = {row: (row, i, *rest) for row, _, i, *rest in rows if i is not None}
            narrow = self.naming(narrow, filters.entity)
            if len(narrow) >= self.policy.candidates or len(found) < wide:
                return found, narrow
            wide *= WIDER

    def by_meaning(self, vector: Float32s, filters: Filters, narrow: dict[int, Narrow]) -> dict[int, float]:
        """Return row -> cosine of the nearest, and add the narrow columns of those that pass the filters."""
        rows = self._nearest(vector, filters, self.policy.rescored, self.policy.candidates)
        passed: dict[int, Narrow] = {row[0]: row[:7] for row in rows}
        narrow |= self.naming(passed, filters.entity)
        return {row[0]: float(row[7]) for row in rows}

    def nearest(self, vector: Vector, limit: int) -> list[tuple[str, float]]:
        """Return (id, cosine) of the nearest visible memories, nearest first."""
        if not self.has_vectors():
            return []
        rows = self._nearest(np.frombuffer(vector, "<f4"), Filters(), max(50, 10 * limit), limit)
        return [(row[1], float(row[7])) for row in rows]

    def cosines(self, vector: Float32s, rows: Sequence[int]) -> dict[int, float]:
        """Return row -> cosine of those rows that have a vector."""
        if not rows:
            return {}
        found = self.session.rows("cosines", rows=list(rows), query=_text(vector), space=self.statistics.space)
        return {row: float(cosine) for row, cosine in found}

    def beside(self, places: Sequence[tuple[str, int]], filters: Filters) -> dict[int, Narrow]:
        """Return the narrow columns of the memories at some (session, turn) that pass the filters."""
        parts, bindings = self._filters(filters)
        rows = self.session.rows(
            "beside", parts, sessions=[s for s, _ in places], turns=[t for _, t in places], **bindings
        )
        return {row[0]: row for row in rows}

    def _nearest(self, vector: Float32s, filters: Filters, wide: int, limit: int) -> list[tuple[Any, ...]]:
        """The nearest that pass the filters: first among the nearest of all, then, if too few do, among what passes."""
        parts, bindings = self._filters(filters)
        key = {"query": _text(vector), "space": self.statistics.space, "limit": limit, **bindings}
        if self.statistics.approximate:
            self.postgres.set_local("hnsw.ef_search", min(MOST_EXPLORED, max(wide, 100)))
            self.postgres.set_local("hnsw.iterative_scan", "strict_order")
            self.postgres.set_local(
                "plan_cache_mode", "force_custom_plan"
            )  # the index is of one namespace: by its name
            self.postgres.set_local("enable_sort", "off")  # inside one namespace the planner underrates the index
            slots = {"dimensions": str(int(self.statistics.dimensions))}
            rows = self.postgres.rows("nearest_approximate", parts, slots, wide=wide, **key)
        else:
            rows = self.session.rows("nearest", parts, wide=wide, **key)
        if len(rows) >= min(limit, self.statistics.vectors) or wide >= self.statistics.vectors:
            return rows
        return self.session.rows("nearest_fitting", parts, **key)

    def _filters(self, filters: Filters) -> tuple[tuple[str, ...], dict[str, Any]]:
        parts, bindings = filter_parts(filters)
        if filters.entity is not None:
            stems = sorted({term_of(s) for s in self.stemmer.stems(filters.entity)})
            parts, bindings = (*parts, "filter_entity"), {**bindings, "entity": stems, "entity_count": len(stems)}
        return parts, bindings


def _text(vector: NDArray[np.float32]) -> str:
    return f"[{','.join(map(repr, vector.tolist()))}]"
