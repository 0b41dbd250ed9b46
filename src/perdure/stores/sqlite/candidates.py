"""What SQLite brings to a search: FTS5, the code index in memory, and rows by their address in the file."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import compress
from typing import Final

import numpy as np
from numpy.typing import NDArray

from perdure.records.policy_recall import RecallPolicy
from perdure.records.recall import Filters
from perdure.stores.search import SELECTIVE, SLACK, WIDER, Float32s, Narrow, Search
from perdure.stores.sqlite.connection import SqliteSession
from perdure.stores.sqlite.index import SearchIndex
from perdure.stores.sqlite.lexical import Vocabulary, best_by_words, holding_text, match_text
from perdure.stores.statements import filter_parts
from perdure.stores.words import Term, worth_searching

MOST_HOLDING: Final = 5000  # a name in more memories than this is tested on the candidates, not listed
MOST_NAMES: Final = 16  # whose memories are kept listed


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
        self._listed: dict[str, NDArray[np.int64] | None] = {} if index is None else index.holding

    # --- by meaning

    def has_vectors(self) -> bool:
        return self.index is not None and len(self.index) > 0

    def by_meaning(self, vector: Float32s, filters: Filters, narrow: dict[int, Narrow]) -> dict[int, float]:
        """Return row -> cosine of the nearest, and add the narrow columns of those that pass the filters.

        Some filters are known only to the file. Where they leave too few, the search goes over what passes them.
        """
        among = self._rows_holding(filters.entity) if filters.entity else None
        late = bool(filters.tags or filters.entity) or filters.min_confidence > 0.0
        cosine = self._near(vector, filters, among, None if late else self.policy.candidates)
        exact = not late and self._is_held(filters)  # what was looked for there needs no second look
        passed = self._in_memory(cosine, filters) if exact else self._nearest_passing(list(cosine), filters)
        if late and among is None and len(passed) < min(self.policy.candidates, len(cosine)):
            parts, bindings = filter_parts(filters)
            rows = self.session.rows("passing", parts, **bindings)
            cosine |= self._near(vector, filters, np.array([row for (row,) in rows], np.int64))
            passed = self._narrow(cosine, filters)
        narrow |= passed
        return cosine

    def _nearest_passing(self, rows: Sequence[int], filters: Filters) -> dict[int, Narrow]:
        """Return the narrow columns of the first rows that pass the filters: as many as are ranked, or more."""
        passed: dict[int, Narrow] = {}
        for start in range(0, len(rows), step := 2 * self.policy.candidates):
            passed |= self._narrow(rows[start : start + step], filters)
            if len(passed) >= self.policy.candidates:
                break
        return passed

    def cosines(self, vector: Float32s, rows: Sequence[int]) -> dict[int, float]:
        if self.index is None or not rows:
            return {}
        found, slots = self.index.slots(self.session, rows)
        return dict(zip(found.tolist(), self.index.resident.similarities(vector, slots).tolist(), strict=True))

    def _near(
        self, vector: Float32s, filters: Filters, among: NDArray[np.int64] | None = None, most: int | None = None
    ) -> dict[int, float]:
        """Return row -> cosine of those that are likely to be nearest: the best so many, or all that were compared."""
        if self.index is None:
            return {}
        wide, cells = self.policy.rescored, self.policy.cells_above
        positions = self.index.nearest(self.session, vector, wide, filters, cells_above=cells, among=among)
        rows, slots = self.index.slots_at(self.session, positions)
        cosine = self.index.resident.similarities(vector, slots)
        best = np.argsort(-cosine, kind="stable")[:most]
        return dict(zip(rows[best].tolist(), cosine[best].tolist(), strict=True))

    def _rows_holding(self, entity: str) -> NDArray[np.int64] | None:
        """The rows whose words hold a name, in order; None where they are so many that the nearest hold it anyway."""
        if entity not in self._listed:
            if len(self._listed) >= MOST_NAMES:
                self._listed.clear()
            self._listed[entity] = None if self._is_common(entity) else self._list_holding(entity)
        return self._listed[entity]

    def _is_common(self, entity: str) -> bool:
        """Whether it is known without a look that more memories hold a name than are listed."""
        stems, elsewhere = self.stemmer.stems(entity), max(0, self.vocabulary.total - self.size())
        return len(stems) == 1 and self.vocabulary.count(stems[0]) - elsewhere > MOST_HOLDING

    def _list_holding(self, entity: str) -> NDArray[np.int64] | None:
        query = holding_text(entity, self.namespace)
        rows = [row for (row,) in self.session.rows("holding", query=query, limit=MOST_HOLDING + 1)]
        return None if len(rows) > MOST_HOLDING else np.array(rows, np.int64)

    def rows_naming(self, rows: dict[int, Narrow], entity: str | None) -> dict[int, Narrow]:
        """Those rows whose words hold a name; texts are read only where the index lists too many rows."""
        if entity is None or not rows:
            return rows
        listed = self._rows_holding(entity)
        if listed is not None:
            return dict(compress(rows.items(), np.isin(list(rows), listed).tolist()))
        holds = {} if self.index is None else self.index.resident.rows_holding_name(entity)
        unknown = {row: values for row, values in rows.items() if row not in holds}
        holds |= dict.fromkeys(unknown, False)
        holds |= dict.fromkeys(super().rows_naming(unknown, entity), True)
        return {row: values for row, values in rows.items() if holds[row]}

    # --- by words

    def terms(self, words: Sequence[str]) -> tuple[list[Term], int]:
        """Return the query's words, rarest first, and how many memories the counts are of: those of the file."""
        return self.vocabulary.terms(words), self.vocabulary.total

    def stems_beginning(self, letters: str) -> list[str]:
        return self.vocabulary.stems_beginning(letters)

    def near(self, stem: str) -> list[str]:
        return self.vocabulary.near(stem)

    def held_stems(self, terms: Sequence[Term], seen: AbstractSet[str] = frozenset()) -> frozenset[str]:
        """Return the stems of those words that a memory of the namespace holds; the counts are of the whole file."""
        stored = [t for t in terms if t.documents]
        if any(t.stem not in seen for t in stored) and not self._is_whole_file():
            stored = [t for t in stored if t.stem in seen or self._holds(t)]
        return frozenset(t.stem for t in stored)

    def _is_whole_file(self) -> bool:
        if self.has_vectors():
            return self.size() >= self.vocabulary.total
        return bool(self.session.value("alone"))

    def _holds(self, term: Term) -> bool:
        return bool(self.session.rows("holding", query=match_text([term], self.namespace), limit=1))

    def size(self) -> int:
        """Return how many memories of the namespace are searched, those of the file where there are no vectors."""
        return (0 if self.index is None else len(self.index)) or self.vocabulary.total

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
            if filters.entity is not None and self.index is not None and self.stemmer.stems(filters.entity):
                self.index.resident.rows_holding_name(filters.entity).update(dict.fromkeys(found, True))
            narrow = self._first_passing(*self._likely(found, filters), filters)
            if len(narrow) >= self.policy.candidates or len(found) < limit:
                return found, narrow
            limit *= WIDER

    def stems(self, rows: Sequence[int]) -> dict[int, frozenset[str]]:
        if self.index is None:
            return super().stems(rows)
        return self.index.resident.stems(rows, super().stems)

    def _first_passing(self, rows: Sequence[int], indexed: Sequence[bool], filters: Filters) -> dict[int, Narrow]:
        """Return the narrow columns of the first rows that pass the filters: as many as are ranked, or more.

        Each look is at twice as many, because a statement costs as much as a dozen rows.
        """
        passed: dict[int, Narrow] = {}
        start, step = 0, self.policy.candidates + SLACK
        while start < len(rows) and len(passed) < self.policy.candidates:
            some = slice(start, start + step)
            passed |= self._likely_narrow(rows[some], indexed[some], filters)
            start, step = start + step, 2 * step
        return passed

    def _likely(self, rows: Mapping[int, float], filters: Filters) -> tuple[list[int], list[bool]]:
        """Those rows, best first, that the attributes in memory do not rule out, and whether each is there."""
        some = list(rows)
        if self.index is None:
            return some, [False] * len(some)
        positions = self.index.positions(np.array(some, np.int64))
        indexed = positions >= 0
        mask = self.index.attributes.mask(filters, positions)
        if mask is None:
            return some, indexed.tolist()
        likely = mask | ~indexed
        return [*compress(some, likely.tolist())], indexed[likely].tolist()

    # --- rows

    def beside(self, places: Sequence[tuple[str, int]], filters: Filters) -> dict[int, Narrow]:
        if self._is_held(filters) and self.index is not None:
            return self._narrow(self.index.resident.beside(self.session, places), filters)
        parts, bindings = filter_parts(filters)
        return {values[0]: values for values in self.session.rows("beside", parts, places=list(places), **bindings)}

    def _narrow(self, rows: Collection[int], filters: Filters) -> dict[int, Narrow]:
        """Return the narrow columns of those rows that pass every filter, exactly."""
        if self.index is None or not rows or not self._is_held(filters):
            return self.rows_naming(self._narrow_in_file(rows, filters), filters.entity)
        return self._likely_narrow(*self._likely(dict.fromkeys(rows, 0.0), filters), filters)

    def _likely_narrow(self, rows: Sequence[int], indexed: Sequence[bool], filters: Filters) -> dict[int, Narrow]:
        """Return the narrow columns of those rows that pass every filter, of rows that attributes do not rule out."""
        if not self._is_held(filters):
            return self.rows_naming(self._narrow_in_file(rows, filters), filters.entity)
        if all(indexed):
            return self.rows_naming(self._in_memory(rows, filters), filters.entity)
        found = self._in_memory(compress(rows, indexed), filters)
        found |= self._narrow_in_file([row for row, has in zip(rows, indexed, strict=True) if not has], filters)
        return self.rows_naming(found, filters.entity)

    def _in_memory(self, rows: Iterable[int], filters: Filters) -> dict[int, Narrow]:
        """Return the narrow columns of rows that the attributes in memory let through."""
        if self.index is None:
            return {}
        found = self.index.resident.narrow(self.session, rows)
        if filters.session is not None:  # in memory there is a digest of it
            found = {row: values for row, values in found.items() if values[2] == filters.session}
        if filters.tags:  # in memory there are bits of them
            tagged = self.index.resident.rows_tagged(self.session, found, frozenset(filters.tags))
            found = {row: values for row, values in found.items() if row in tagged}
        return found

    def _is_held(self, filters: Filters) -> bool:
        inside = filters.isolated and filters.seen_inside is not None
        return not filters.min_confidence > 0.0 and not inside

    def _narrow_in_file(self, rows: Collection[int], filters: Filters) -> dict[int, Narrow]:
        if not rows:
            return {}
        parts, bindings = filter_parts(filters)
        return {values[0]: values for values in self.session.rows("narrow", parts, rows=list(rows), **bindings)}
