"""What a recall ranks: the nearest by meaning, the best by words, and the turns next to the best of both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from heapq import nlargest
from operator import itemgetter
from typing import Any, Final

import apsw
import numpy as np
from numpy.typing import NDArray

from perdure.formulas.fusion import Fusion, fused
from perdure.records.memory import searchable
from perdure.records.policy import RecallPolicy
from perdure.records.recall import Candidate, Filters, Pool, Query
from perdure.stores.codes import similarities
from perdure.stores.sqlite.index import SearchIndex
from perdure.stores.sqlite.lexical import (
    COVERED,
    Term,
    Vocabulary,
    best_by_words,
    coverage,
    match_text,
    quoted,
    worth_searching,
)
from perdure.stores.sqlite.rows import place_of

MOST_HOLDING: Final = 5000
"""A name in more memories than this is tested on the candidates, not listed."""

NEIGHBOURS_OF: Final = 25
SLACK: Final = 4
SELECTIVE: Final = 20
"""With filters so many times more matches by words are read at once: they cost little, a second query costs a lot."""

WIDER: Final = 8
"""Where filters leave too few matches by words, so many times more are read."""

_BATCH: Final = 500
Narrow = tuple[int, str, str | None, int | None, str | None, int]
"""(row, id, session, turn, speaker, asks)"""


class Search:
    """One search in one namespace; made for each recall."""

    def __init__(
        self,
        connection: apsw.Connection,
        namespace: str,
        *,
        index: SearchIndex | None,
        vocabulary: Vocabulary,
        policy: RecallPolicy,
        majority: bool,
    ) -> None:
        self.connection, self.namespace, self.index = connection, namespace, index
        self.vocabulary, self.policy, self.majority = vocabulary, policy, majority

    def pool(self, query: Query, filters: Filters) -> Pool:
        """Return the candidates for a query."""
        vector = None
        if query.vector is not None and self.index is not None and len(self.index):
            vector = np.frombuffer(query.vector, "<f4")
        terms = self.vocabulary.terms(query.words)
        bm25, narrow = self._by_words(terms, filters)
        cosine = self._near(vector, filters, narrow) if vector is not None else {}
        best = sorted((r for r in bm25 if r in narrow), key=lambda r: -bm25[r])[: self.policy.candidates]
        share, most = coverage(self.vocabulary, terms, list(self._texts(best[:COVERED]).values()))
        near = sorted((r for r in cosine if r in narrow), key=lambda r: -cosine[r])[: self.policy.candidates]
        kept = {*best, *near}
        if vector is not None:
            cosine |= self._cosines(vector, [r for r in kept if r not in cosine])
        kept |= self._neighbours(kept, narrow, cosine if vector is not None else None, bm25, share, filters)
        if vector is not None:
            cosine |= self._cosines(vector, [r for r in kept if r not in cosine])
        found = tuple(_candidate(narrow[r], cosine.get(r), bm25.get(r, 0.0)) for r in sorted(kept))
        return Pool(found, share, most, vector is not None)

    def nearest(self, vector: NDArray[np.float32], limit: int) -> list[tuple[str, float]]:
        """Return (id, cosine) of the nearest visible memories, nearest first."""
        cosine = self._by_meaning(vector, Filters())
        narrow = self._narrow(cosine, Filters())
        best = sorted(narrow, key=lambda r: -cosine[r])[:limit]
        return [(narrow[r][1], cosine[r]) for r in best]

    # --- the two searches

    def _near(self, vector: NDArray[np.float32], filters: Filters, narrow: dict[int, Narrow]) -> dict[int, float]:
        """Return row -> cosine of the nearest, and add the narrow columns of those that pass the filters.

        Some filters are known only to the file. Where they leave too few, the search goes over what passes them.
        """
        among = self._holding(filters.entity) if filters.entity else None
        cosine = self._by_meaning(vector, filters, among)
        late = bool(filters.tags or filters.entity) or filters.as_of is not None or filters.min_confidence > 0.0
        wanted = len(cosine) if late else self.policy.candidates
        cosine = dict(nlargest(wanted, cosine.items(), key=itemgetter(1)))
        passed = self._narrow(cosine, filters)
        if late and among is None and len(passed) < min(self.policy.candidates, len(cosine)):
            tests, bindings = conditions(self.namespace, filters)
            rows = self.connection.execute(f"SELECT m.row FROM memory AS m WHERE {tests}", bindings)
            cosine |= self._by_meaning(vector, filters, np.array([row for (row,) in rows], np.int64))
            passed = self._narrow(cosine, filters)
        narrow |= passed
        return cosine

    def _by_meaning(
        self, vector: NDArray[np.float32], filters: Filters, among: NDArray[np.int64] | None = None
    ) -> dict[int, float]:
        index = self.index
        if index is None:
            return {}
        positions = index.nearest(
            vector, self.policy.rescored, filters, cells_above=self.policy.cells_above, among=among
        )
        return self._cosines(vector, index.rows(positions).tolist())

    def _holding(self, entity: str) -> NDArray[np.int64] | None:
        """The rows whose words hold a name, in order; None where they are so many that the nearest hold it anyway."""
        query = f'{{text}} : {quoted(entity)} AND {{place}} : "{place_of(self.namespace)}"'
        sql = "SELECT rowid FROM words WHERE words MATCH ? LIMIT ?"
        rows = [row for (row,) in self.connection.execute(sql, (query, MOST_HOLDING + 1))]
        return None if len(rows) > MOST_HOLDING else np.array(rows, np.int64)

    def _by_words(self, terms: Sequence[Term], filters: Filters) -> tuple[dict[int, float], dict[int, Narrow]]:
        """Return row -> BM25 score of the best matches, and the narrow columns of those that pass the filters.

        The index of words knows no filters, so more matches are read until enough of them pass.
        """
        searched = worth_searching(terms)
        if not searched:
            return {}, {}
        query = match_text(searched, None if self.majority else self.namespace, filters.entity)
        narrowed = filters != Filters(include_archived=filters.include_archived)
        limit = (self.policy.candidates + SLACK) * (SELECTIVE if narrowed else 1)
        while True:
            found = best_by_words(self.connection, query, limit)
            narrow = self._first_passing(self._likely(found, filters), filters)
            if len(narrow) >= self.policy.candidates or len(found) < limit:
                return found, narrow
            limit *= WIDER

    def _first_passing(self, rows: Sequence[int], filters: Filters) -> dict[int, Narrow]:
        """Return the narrow columns of the first rows that pass the filters: as many as are ranked."""
        passed: dict[int, Narrow] = {}
        step = self.policy.candidates + SLACK
        for start in range(0, len(rows), step):
            passed |= self._narrow(rows[start : start + step], filters)
            if len(passed) >= self.policy.candidates:
                break
        return passed

    def _likely(self, rows: Mapping[int, float], filters: Filters) -> list[int]:
        """Those rows, best first, that the attributes in memory do not rule out; rows without a vector stay."""
        listed = list(rows)
        mask = None if self.index is None else self.index.attributes.mask(filters)
        if mask is None or self.index is None:
            return listed
        positions = self.index.positions(np.array(listed, np.int64))
        passes = np.where(positions >= 0, mask[positions], True)  # noqa: FBT003  # numpy's signature
        return [row for row, kept in zip(listed, passes.tolist(), strict=True) if kept]

    def _cosines(self, vector: NDArray[np.float32], rows: Sequence[int]) -> dict[int, float]:
        if self.index is None or not rows:
            return {}
        data: dict[int, bytes] = {}
        for group in _batches(sorted(rows)):
            sql = f"SELECT row, data FROM vector WHERE namespace = ? AND space = ? AND row IN ({_marks(group)})"
            data.update(self.connection.execute(sql, (self.namespace, self.index.space, *group)))
        if not data:
            return {}
        matrix = np.frombuffer(b"".join(data.values()), np.int8).reshape(len(data), -1)
        return dict(zip(data, similarities(vector, matrix).tolist(), strict=True))

    # --- rows and filters

    def _narrow(self, rows: Iterable[int], filters: Filters) -> dict[int, Narrow]:
        """Return the narrow columns of those rows that pass every filter, exactly."""
        tests, bindings = conditions(self.namespace, filters)
        found: dict[int, Narrow] = {}
        for group in _batches(sorted(rows)):
            sql = (
                f"SELECT m.row, m.id, m.session, m.turn, m.speaker, m.asks FROM memory AS m NOT INDEXED"
                f" WHERE m.row IN ({_marks(group)}) AND {tests}"  # by row: else it reads the whole namespace
            )
            found.update((values[0], values) for values in self.connection.execute(sql, (*group, *bindings)))
        return self._naming(found, filters.entity)

    def _neighbours(
        self,
        kept: set[int],
        narrow: dict[int, Narrow],
        cosine: dict[int, float] | None,
        bm25: dict[int, float],
        share: float,
        filters: Filters,
    ) -> set[int]:
        """Add the turns before and after the best candidates, and return their rows."""
        rows = [r for r in kept if narrow[r][2] is not None]
        if not rows:
            return set()
        parts = fused(
            None if cosine is None else np.array([cosine.get(r, np.nan) for r in rows]),
            np.array([bm25.get(r, 0.0) for r in rows]),
            share,
            _weights(self.policy),
        )
        order = np.argsort(-(parts[0] + parts[1]), kind="stable")[:NEIGHBOURS_OF]
        present = {(narrow[r][2], narrow[r][3]) for r in rows}
        wanted: dict[tuple[str, int], None] = {}
        for i in order.tolist():
            session, turn = narrow[rows[i]][2], narrow[rows[i]][3]
            for place in (turn - 1, turn + 1) if session is not None and turn is not None else ():
                if place >= 0 and (session, place) not in present:
                    wanted[str(session), place] = None
        if not wanted:
            return set()
        tests, bindings = conditions(self.namespace, filters)
        sql = (
            f"SELECT m.row, m.id, m.session, m.turn, m.speaker, m.asks FROM memory AS m WHERE m.session IS NOT NULL"
            f" AND (m.session, m.turn) IN (VALUES {','.join(['(?, ?)'] * len(wanted))}) AND {tests}"
        )
        places = [value for place in wanted for value in place]
        beside = {values[0]: values for values in self.connection.execute(sql, (*places, *bindings))}
        found = self._naming(beside, filters.entity)
        narrow.update(found)
        return set(found)

    def _naming(self, rows: dict[int, Narrow], entity: str | None) -> dict[int, Narrow]:
        """Those rows whose words hold a name, as the index of words would find it; all of them for no name."""
        if entity is None or not rows:
            return rows
        name = self.vocabulary.stems(entity)
        texts = self._texts(list(rows))
        return {row: values for row, values in rows.items() if _holds(self.vocabulary.stems(texts[row]), name)}

    def _texts(self, rows: Sequence[int]) -> dict[int, str]:
        found: dict[int, str] = {}
        for group in _batches(rows):
            sql = (
                "SELECT c.row, c.text, m.speaker FROM content AS c NOT INDEXED JOIN memory AS m ON m.row = c.row"
                f" WHERE c.row IN ({_marks(group)}) AND c.namespace = ?"
            )
            for row, text, speaker in self.connection.execute(sql, (*group, self.namespace)):
                found[row] = searchable(text, speaker)
        return found


def _holds(stems: Sequence[str], name: Sequence[str]) -> bool:
    """Whether a text holds a name's stems side by side."""
    size = len(name)
    return bool(name) and any(list(stems[i : i + size]) == list(name) for i in range(len(stems) - size + 1))


def _candidate(narrow: Narrow, cosine: float | None, bm25: float) -> Candidate:
    _, identity, session, turn, speaker, asks = narrow
    return Candidate(
        id=identity, cosine=cosine, bm25=bm25, session=session, turn=turn, speaker=speaker, asks=bool(asks)
    )


def conditions(namespace: str, filters: Filters) -> tuple[str, list[Any]]:
    """Return the filters as SQL over ``memory AS m`` with bound values."""
    tests: list[str] = ["m.namespace = ?"]
    bindings: list[Any] = [namespace]

    def limit(column: str, values: Sequence[Any]) -> None:
        tests.append(f"m.{column} IN ({_marks(values)})")
        bindings.extend(str.__str__(v) for v in values)

    if not filters.include_archived:
        tests.append("m.status = 'active'")
    if filters.kinds:
        limit("kind", filters.kinds)
    if filters.scopes:
        limit("scope", filters.scopes)
    for sql, value in (
        ("m.session = ?", filters.session),
        ("m.created_ms >= ?", filters.since),
        ("m.created_ms < ?", filters.until),
        ("m.recorded_ms <= ?", filters.as_of),
    ):
        if value is not None:
            tests.append(sql)
            bindings.append(value)
    if filters.min_confidence > 0.0:  # what is stored is at least what is left of it now
        tests.append("m.confidence >= ?")
        bindings.append(filters.min_confidence)
    for tag in filters.tags:
        tests.append("EXISTS (SELECT 1 FROM tag AS t WHERE t.namespace = m.namespace AND t.tag = ? AND t.row = m.row)")
        bindings.append(tag)
    return " AND ".join(tests), bindings


def _weights(policy: RecallPolicy) -> Fusion:
    return Fusion(
        lexical_weight=policy.lexical_weight,
        lexical_by_coverage=policy.lexical_by_coverage,
        cosine_anchor=policy.cosine_anchor,
    )


def _marks(values: Iterable[Any]) -> str:
    return ",".join("?" for _ in values)


def _batches(rows: Sequence[int]) -> Iterable[Sequence[int]]:
    return (rows[i : i + _BATCH] for i in range(0, len(rows), _BATCH))
