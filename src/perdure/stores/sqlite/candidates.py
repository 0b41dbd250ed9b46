"""What SQLite brings to a search: FTS5, the code index in memory, and rows by their address in the file."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from heapq import nlargest
from itertools import chain, compress
from operator import itemgetter
from typing import Final

import numpy as np
from numpy.typing import NDArray

from perdure.records.policy_recall import RecallPolicy
from perdure.records.recall import Filters
from perdure.stores.codes import similarities
from perdure.stores.search import SELECTIVE, SLACK, WIDER, Float32s, Narrow, Search
from perdure.stores.sqlite.connection import SqliteSession
from perdure.stores.sqlite.index import SearchIndex
from perdure.stores.sqlite.lexical import Vocabulary, best_by_words, holding_text, match_text
from perdure.stores.statements import filter_parts
from perdure.stores.words import Term, worth_searching

MOST_HOLDING: Final = 5000  # a name in more memories than this is tested on the candidates, not listed


class SqliteSearch(Search):
    """One search in one namespace of a file; made for each recall."""

    def __init__(
        self,
        session: SqliteSession,
        *,
        index: SearchIndex | None,
        vocabulary: Vocabulary,
        policy: RecallPolicy,
        majority: bool,
    ) -> None:
        super().__init__(session, policy, vocabulary.stemmer)
        self.namespace, self.index = session.namespace, index
        self.vocabulary, self.majority = vocabulary, majority
        self._held: dict[str, NDArray[np.int64] | None] = {}

    def nearest(self, vectors: Sequence[Float32s], limit: int) -> list[list[tuple[str, float]]]:
        """Return, for each vector, (id, cosine) of the nearest visible memories, nearest first."""
        if self.index is None:
            return [[] for _ in vectors]
        kept, queries = self.index.resident, np.array(vectors)
        found = self.index.nearest_of_each(queries, self.policy.rescored, cells_above=self.policy.cells_above)
        if len({len(rows) for rows in found}) > 1:  # cells of few rows: each is scored by itself
            return [self.nearest([vector], limit)[0] for vector in vectors]
        near = self.index.rows(np.array(found, np.int64))
        kept.read(self.session, np.unique(near).tolist())
        cosine = kept.cosines(queries, near)
        best = np.argsort(-cosine, axis=1, kind="stable")[:, :limit]
        rows = np.take_along_axis(near, best, axis=1).tolist()
        ids = kept.narrow(self.session, dict.fromkeys(chain.from_iterable(rows)))
        values = np.take_along_axis(cosine, best, axis=1).tolist()
        return [
            [(ids[row][1], value) for row, value in zip(*pair, strict=True)] for pair in zip(rows, values, strict=True)
        ]

    # --- by meaning

    def has_vectors(self) -> bool:
        """Whether the namespace has vectors in the active space."""
        return self.index is not None and len(self.index) > 0

    def by_meaning(self, vector: Float32s, filters: Filters, narrow: dict[int, Narrow]) -> dict[int, float]:
        """Return row -> cosine of the nearest, and add the narrow columns of those that pass the filters.

        Some filters are known only to the file. Where they leave too few, the search goes over what passes them.
        """
        among = self._holding(filters.entity) if filters.entity else None
        cosine = self._near(vector, filters, among)
        late = bool(filters.tags or filters.entity) or filters.min_confidence > 0.0
        wanted = len(cosine) if late else self.policy.candidates
        cosine = dict(nlargest(wanted, cosine.items(), key=itemgetter(1)))
        passed = self._narrow(cosine, filters)
        if late and among is None and len(passed) < min(self.policy.candidates, len(cosine)):
            parts, bindings = filter_parts(filters)
            rows = self.session.rows("passing", parts, **bindings)
            cosine |= self._near(vector, filters, np.array([row for (row,) in rows], np.int64))
            passed = self._narrow(cosine, filters)
        narrow |= passed
        return cosine

    def cosines(self, vector: Float32s, rows: Sequence[int]) -> dict[int, float]:
        """Return row -> cosine of those rows that have a vector."""
        if self.index is None or not rows:
            return {}
        found, matrix = self.index.resident.vectors(self.session, self.index.having(rows))
        return dict(zip(found, similarities(vector, matrix).tolist(), strict=True)) if found else {}

    def _near(self, vector: Float32s, filters: Filters, among: NDArray[np.int64] | None = None) -> dict[int, float]:
        return self.cosines(vector, self._rows_near(vector, filters, among))

    def _rows_near(self, vector: Float32s, filters: Filters, among: NDArray[np.int64] | None = None) -> list[int]:
        if self.index is None:
            return []
        most, cells = self.policy.rescored, self.policy.cells_above
        positions = self.index.nearest(vector, most, filters, cells_above=cells, among=among)
        rows: list[int] = self.index.rows(positions).tolist()
        return rows

    def _holding(self, entity: str) -> NDArray[np.int64] | None:
        """The rows whose words hold a name, in order; None where they are so many that the nearest hold it anyway."""
        if entity not in self._held:
            query = holding_text(entity, self.namespace)
            rows = [row for (row,) in self.session.rows("holding", query=query, limit=MOST_HOLDING + 1)]
            self._held[entity] = None if len(rows) > MOST_HOLDING else np.array(rows, np.int64)
        return self._held[entity]

    def naming(self, rows: dict[int, Narrow], entity: str | None) -> dict[int, Narrow]:
        """Those rows whose words hold a name; texts are read only where the index lists too many rows."""
        listed = None if entity is None or not rows else self._holding(entity)
        if listed is None:
            return super().naming(rows, entity)
        return dict(compress(rows.items(), np.isin(list(rows), listed).tolist()))

    # --- by words

    def terms(self, words: Sequence[str]) -> tuple[list[Term], int]:
        """Return the query's words, rarest first, and how many memories the counts are of: those of the file."""
        return self.vocabulary.terms(words), self.vocabulary.total

    def beginning(self, letters: str) -> list[str]:
        """Return the stems of the file that begin with some letters, in the order of their code points."""
        return self.vocabulary.beginning(letters)

    def held(self, terms: Sequence[Term], seen: AbstractSet[str] = frozenset()) -> frozenset[str]:
        """Return the stems of those words that a memory of the namespace holds; the counts are of the whole file."""
        known = [t for t in terms if t.documents]
        if any(t.stem not in seen for t in known) and not self._is_whole_file():
            known = [t for t in known if t.stem in seen or self._holds(t)]
        return frozenset(t.stem for t in known)

    def _is_whole_file(self) -> bool:
        """Whether no other namespace has words in the file."""
        if self.has_vectors():
            return self.size() >= self.vocabulary.total
        return bool(self.session.value("alone"))

    def _holds(self, term: Term) -> bool:
        return bool(self.session.rows("holding", query=match_text([term], self.namespace), limit=1))

    def size(self) -> int:
        """Return how many memories of the namespace are searched, those of the file where there are no vectors."""
        return len(self.index) if self.index is not None and len(self.index) else self.vocabulary.total

    def by_words(self, terms: Sequence[Term], filters: Filters) -> tuple[dict[int, float], dict[int, Narrow]]:
        """Return row -> BM25 score of the best matches, and the narrow columns of those that pass the filters.

        The index of words knows no filters, so more matches are read until enough of them pass.
        """
        searched = worth_searching(terms)
        if not searched:
            return {}, {}
        query = match_text(searched, None if self.majority else self.namespace, filters.entity)
        open_ = Filters(include_archived=filters.include_archived, isolated=filters.isolated, inside=filters.inside)
        narrowed = filters != open_
        limit = (self.policy.candidates + SLACK) * (SELECTIVE if narrowed else 1)
        while True:
            found = best_by_words(self.session, query, limit)
            narrow = self._first_passing(self._likely(found, filters), filters)
            if len(narrow) >= self.policy.candidates or len(found) < limit:
                return found, narrow
            limit *= WIDER

    def _first_passing(self, rows: Sequence[int], filters: Filters) -> dict[int, Narrow]:
        """Return the narrow columns of the first rows that pass the filters: as many as are ranked, or more.

        Each look is at twice as many, because a statement costs as much as a dozen rows.
        """
        passed: dict[int, Narrow] = {}
        start, step = 0, self.policy.candidates + SLACK
        while start < len(rows) and len(passed) < self.policy.candidates:
            passed |= self._narrow(rows[start : start + step], filters)
            start, step = start + step, 2 * step
        return passed

    def _likely(self, rows: Mapping[int, float], filters: Filters) -> list[int]:
        """Those rows, best first, that the attributes in memory do not rule out; rows without a vector stay."""
        if self.index is None:
            return list(rows)
        positions = self.index.positions(np.array(list(rows), np.int64))
        mask = self.index.attributes.mask(filters, positions)
        return list(rows if mask is None else compress(rows, (mask | (positions < 0)).tolist()))

    # --- rows

    def beside(self, places: Sequence[tuple[str, int]], filters: Filters) -> dict[int, Narrow]:
        """Return the narrow columns of the memories at some (session, turn) that pass the filters."""
        if self._is_held(filters) and self.index is not None:
            return self._narrow(self.index.resident.beside(self.session, places), filters)
        parts, bindings = filter_parts(filters)
        return {values[0]: values for values in self.session.rows("beside", parts, places=list(places), **bindings)}

    def _narrow(self, rows: Collection[int], filters: Filters) -> dict[int, Narrow]:
        """Return the narrow columns of those rows that pass every filter, exactly."""
        if self.index is None or not rows or not self._is_held(filters):
            return self.naming(self._narrow_in_file(rows, filters), filters.entity)
        positions = self.index.positions(np.array(list(rows), np.int64))
        mask = self.index.attributes.mask(filters, positions)
        passes = positions >= 0 if mask is None else mask & (positions >= 0)
        found = self.index.resident.narrow(self.session, compress(rows, passes.tolist()))
        if filters.session is not None:  # in memory there is a digest of it
            found = {row: values for row, values in found.items() if values[2] == filters.session}
        found |= self._narrow_in_file([*compress(rows, (positions < 0).tolist())], filters)
        return self.naming(found, filters.entity)

    def _is_held(self, filters: Filters) -> bool:
        """Whether what is in memory decides these filters, exactly."""
        unknown = bool(filters.tags) or filters.min_confidence > 0.0
        inside = filters.isolated and filters.seen_inside is not None
        return not unknown and not inside

    def _narrow_in_file(self, rows: Collection[int], filters: Filters) -> dict[int, Narrow]:
        if not rows:
            return {}
        parts, bindings = filter_parts(filters)
        return {values[0]: values for values in self.session.rows("narrow", parts, rows=list(rows), **bindings)}
