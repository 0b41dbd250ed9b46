"""Searches in one namespace of a PostgreSQL server: BM25 over postings, exact or approximate nearest vectors."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from math import ceil
from typing import Any, Final, Self

import numpy as np
import psycopg
from numpy.typing import NDArray

from perdure.formulas.fusion import idf
from perdure.records.digests import content_digest
from perdure.records.errors import REPAIR, StoreDamaged
from perdure.records.policy_recall import RecallPolicy
from perdure.records.recall import Filters, Pool, Query
from perdure.records.store_rows import Neighbours
from perdure.records.vector import Vector
from perdure.stores.postgres.inserting import SPAN, term_of
from perdure.stores.postgres.session import PostgresSession
from perdure.stores.search import SELECTIVE, SLACK, WIDER, Float32s, Narrow, Search, searchable_texts
from perdure.stores.statements import filter_parts
from perdure.stores.words import MOST_SPELLINGS, Stemmer, Term, worth_searching

MOST_EXPLORED: Final = 1000  # pgvector's bound on hnsw.ef_search
LISTED: Final = 0.4
"""Up to this share of a namespace, what has a tag, a name or a session is compared by itself: a vector that is looked
up costs some 2.5 times one that a scan over all comes across (benchmarks/server_speed.py)."""
LISTED_BESIDE_INDEX: Final = 0.1  # the same where an index for approximate search would be asked instead
MARGIN: Final = 1.5  # so many times more are looked at than should pass a filter, by what is counted of it
_BY_KEY: Final = {"filter_tags": "filter_tagged", "filter_entity": "filter_naming"}

Cursor = psycopg.Cursor[tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class SearchStatistics:
    """What a search must know of its namespace first."""

    documents: int = 0
    length: int = 0
    vectors: int = 0
    approximate: bool = False
    space: int | None = None
    dimensions: int = 0

    @classmethod
    def of(cls, rows: Sequence[tuple[Any, ...]]) -> Self:
        """Return what the rows of the statement say; nothing for a namespace that does not exist."""
        if not rows:
            return cls()
        documents, length, vectors, indexed, space, dimensions = rows[0]
        return cls(documents, length, vectors, space is not None and indexed == space, space, dimensions or 0)

    def like(self, other: SearchStatistics) -> bool:
        """Whether vectors are searched in the same way."""
        return (self.approximate, self.space, self.dimensions) == (other.approximate, other.space, other.dimensions)


class PostgresSearch(Search):
    """One search over one transaction; see stores/search.py for the story. What can be asked at once is."""

    def __init__(self, session: PostgresSession, policy: RecallPolicy, stemmer: Stemmer) -> None:
        super().__init__(session, policy, stemmer)
        self.postgres = session
        self.statistics = SearchStatistics()
        self.meta: list[tuple[Any, ...]] = []  # which schema the tables have
        self._counts: dict[str, int] = {}
        self._listed = 1.0  # the share of the memories that may have what the filters name
        self._query: str | None = None  # the vector that is searched by
        self._asked: Cursor | None = None  # the first search by meaning, sent together with that by words
        self._first: list[tuple[Any, ...]] | None = None  # what it found
        self._uncompared: list[int] = []  # rows whose cosines are read together with the texts
        self._texts: dict[int, str] = {}
        self._cosines: dict[int, float | None] = {}  # None for a row without a vector

    def pool(self, query: Query, filters: Filters) -> Pool:
        self._read_counts(query.words, filters)
        if query.vector is not None and self.has_vectors():
            self._query = _text(np.frombuffer(query.vector, "<f4"))
        return super().pool(query, filters)

    def _read_counts(self, words: Sequence[str], filters: Filters) -> None:
        """Read what is counted of the namespace, of the words of a question and of what its filters name."""
        terms = {term_of(stem) for word in words for stem in self.stemmer.stems(word)[:1]}
        entity = self._entity(filters)
        calls: dict[str, dict[str, Any]] = {"search_statistics": {}, "read_meta": {}}
        if terms or entity:
            calls["document_counts"] = {"terms": sorted({*terms, *entity})}
        if filters.tags:
            calls["count_tags"] = {"tags": list(dict.fromkeys(filters.tags))}
        if filters.session is not None:
            calls["count_session"] = {"session": filters.session}
        found = dict(zip(calls, self.postgres.several(*calls.items()), strict=True))
        self.statistics, self.meta = SearchStatistics.of(found["search_statistics"]), found["read_meta"]
        if not found["search_statistics"] and found.get("document_counts"):
            raise StoreDamaged("The namespace has memories, but its own row is missing.", remedy=REPAIR)
        self._counts = dict.fromkeys(terms, 0) | {t: int(n) for t, n in found.get("document_counts", ())}
        counts = [self._counts.get(stem, 0) for stem in entity]
        counts += [int(n) for name in ("count_tags", "count_session") for (n,) in found.get(name, ())]
        self._listed = min([1.0, *(n / max(1, self.statistics.documents) for n in counts)])

    def has_vectors(self) -> bool:
        return self.statistics.space is not None and self.statistics.vectors > 0

    def terms(self, words: Sequence[str]) -> tuple[list[Term], int]:
        stems: dict[str, str] = {}
        for word in words:
            found = self.stemmer.stems(word)
            if found:
                stems.setdefault(found[0], word)
        if unread := [term for s in stems if (term := term_of(s)) not in self._counts]:
            counts = self.session.rows("document_counts", terms=unread)
            self._counts |= dict.fromkeys(unread, 0) | {t: int(n) for t, n in counts}
        listed = [Term(word, stem, self._counts[term_of(stem)]) for stem, word in stems.items()]
        return sorted(listed, key=lambda t: t.documents), self.statistics.documents

    def stems_beginning(self, letters: str) -> list[str]:
        last = letters[:-1] + chr(ord(letters[-1]) + 1)
        return [t for (t,) in self.session.rows("beginning", first=letters, last=last, limit=MOST_SPELLINGS)]

    def held_stems(self, terms: Sequence[Term], _seen: AbstractSet[str] = frozenset()) -> frozenset[str]:
        return frozenset(t.stem for t in terms if t.documents)

    def size(self) -> int:
        return self.statistics.documents

    # --- by words

    def by_words(self, terms: Sequence[Term], filters: Filters) -> tuple[dict[int, float], dict[int, Narrow]]:
        searched = worth_searching(terms)
        if not searched:
            return {}, {}
        open_ = Filters(include_archived=filters.include_archived, isolated=filters.isolated, inside=filters.inside)
        narrowed = filters != open_
        wide = (self.policy.candidates + SLACK) * (SELECTIVE if narrowed else 1)
        while True:
            with self.postgres.together():
                cursor = self._ask_by_words(searched, filters, wide)
                if self._query is not None and self._asked is None:
                    self._asked = self._ask_nearest(filters, self.policy.rescored, self.policy.candidates)
            rows = cursor.fetchall()
            if self._asked is not None and self._first is None:
                self._first = self._asked.fetchall()
            found = {row: float(score) for row, score, *_ in rows}
            narrow = {row: (row, i, *rest) for row, _, i, *rest in rows if i is not None}
            narrow = self.rows_naming(narrow, filters.entity)
            if len(narrow) >= self.policy.candidates or len(found) < wide:
                best = sorted((r for r in found if r in narrow), key=lambda r: -found[r])[: self.policy.candidates]
                near = {row[0] for row in self._first or ()}
                self._uncompared = [row for row in best if row not in near]
                return found, narrow
            wide *= WIDER

    def _ask_by_words(self, searched: Sequence[Term], filters: Filters, wide: int) -> Cursor:
        parts, bindings = self._by_key(filters)
        weights = idf(np.array([t.documents for t in searched], dtype=np.float64), self.statistics.documents)
        return self.postgres.run(
            "best_by_words",
            parts,
            terms=[term_of(t.stem) for t in searched],
            weights=weights.tolist(),
            average=self.statistics.length / max(1, self.statistics.documents),
            wide=wide,
            **bindings,
        )

    # --- by meaning

    def by_meaning(self, vector: Float32s, filters: Filters, narrow: dict[int, Narrow]) -> dict[int, float]:  # noqa: ARG002  # the search's, as text by now
        wide, limit = self.policy.rescored, self.policy.candidates
        if self._first is None:
            self._first = self._ask_nearest(filters, wide, limit).fetchall()
        rows = self._enough(self._first, filters, wide, limit)
        passed: dict[int, Narrow] = {row[0]: row[:7] for row in rows}
        narrow |= self.rows_naming(passed, filters.entity)
        return {row[0]: float(row[7]) for row in rows}

    def nearest(
        self, vectors: Sequence[Vector], limit: int, statistics: SearchStatistics, texts: Sequence[str] = ()
    ) -> tuple[list[str], list[Neighbours], SearchStatistics]:
        """Return the nearest visible memories of each vector, nearest first, and the statistics.

        Before them the memories that have one of some texts. ``limit`` is for each vector. Where the ``statistics``,
        as they last were, still hold, everything is one round trip.
        """
        queries = [_text(np.frombuffer(vector, "<f4")) for vector in vectors]
        wide, self.statistics = max(50, 10 * limit), statistics
        while True:
            with self.postgres.together():
                now = self.postgres.run("search_statistics")
                known = self.postgres.run("find_digests", digests=list(map(content_digest, texts))) if texts else None
                cursors = [self._ask(query, wide, limit) for query in queries] if self.has_vectors() else []
            before, self.statistics = self.statistics, SearchStatistics.of(now.fetchall())
            if self.statistics.like(before) and self.has_vectors() == bool(cursors):
                break
        found = []
        for query, cursor in zip(queries, cursors, strict=False):
            self._query = query
            rows = self._enough(cursor.fetchall(), Filters(), wide, limit)
            found.append([(row[1], float(row[7]), row[8]) for row in rows])
        ids = [identity for (identity,) in known.fetchall()] if known is not None else []
        return ids, found or [[] for _ in vectors], self.statistics

    def _ask(self, query: str, wide: int, limit: int) -> Cursor:
        self._query = query
        return self._ask_nearest(Filters(), wide, limit)

    def texts(self, rows: Sequence[int]) -> dict[int, str]:
        compared, self._uncompared = self._uncompared, []
        unread = [row for row in rows if row not in self._texts]
        if not unread and not compared:
            return {row: self._texts[row] for row in rows}
        with self.postgres.together():
            read = self.postgres.run("texts", rows=unread) if unread else None
            cosines = self._ask_cosines(compared) if compared and self._query is not None else None
        if read is not None:
            self._texts |= searchable_texts(read.fetchall())
        if cosines is not None:
            self._take_cosines(compared, cosines)
        return {row: self._texts[row] for row in rows if row in self._texts}

    def cosines(self, vector: Float32s, rows: Sequence[int]) -> dict[int, float]:  # noqa: ARG002  # the search's, as text by now
        if unread := [row for row in rows if row not in self._cosines]:
            self._take_cosines(unread, self._ask_cosines(unread))
        return {row: cosine for row in rows if (cosine := self._cosines[row]) is not None}

    def _take_cosines(self, rows: Sequence[int], cursor: Cursor) -> None:
        self._cosines |= dict.fromkeys(rows) | {row: float(cosine) for row, cosine in cursor.fetchall()}

    def _ask_cosines(self, rows: Sequence[int]) -> Cursor:
        return self.postgres.run("cosines", rows=list(rows), query=self._query, space=self.statistics.space)

    def beside(self, places: Sequence[tuple[str, int]], filters: Filters) -> dict[int, Narrow]:
        parts, bindings = self._by_key(filters)
        self.postgres.closing = filters.entity is None  # then nothing is read after it
        rows = self.session.rows(
            "beside",
            parts,
            sessions=[s for s, _ in places],
            turns=[t for _, t in places],
            query=self._query,
            space=self.statistics.space,
            **bindings,
        )
        self._cosines |= {row[0]: None if row[7] is None else float(row[7]) for row in rows}
        return {row[0]: row[:7] for row in rows}

    def _ask_nearest(self, filters: Filters, wide: int, limit: int) -> Cursor:
        """Ask for the nearest that pass the filters: among what these list where that is little, else among all."""
        parts, bindings = self._by_key(filters)
        key = {"query": self._query, "space": self.statistics.space, "limit": limit, **bindings}
        if self._lists():
            listing = (*self._filters(filters)[0], *(["filter_said_in"] if filters.session is not None else []))
            return self.postgres.run("nearest_among", listing, wide=wide, **key)
        wide = max(wide, min(MOST_EXPLORED, ceil(MARGIN * limit / self._listed)))
        if not self.statistics.approximate:
            return self.postgres.run("nearest", parts, wide=wide, **key)
        with self.postgres.together():
            self.postgres.set_local("hnsw.ef_search", min(MOST_EXPLORED, max(wide, 100)))
            self.postgres.set_local("hnsw.iterative_scan", "strict_order")
            # The index is of one namespace: by its name. Inside one the planner underrates the index.
            self.postgres.set_local("plan_cache_mode", "force_custom_plan")
            self.postgres.set_local("enable_sort", "off")
            slots = {"dimensions": str(int(self.statistics.dimensions))}
            return self.postgres.run("nearest_approximate", parts, slots, wide=wide, **key)

    def _lists(self) -> bool:
        """Whether what the filters name is so little that it is compared by itself."""
        return self._listed < (LISTED_BESIDE_INDEX if self.statistics.approximate else LISTED)

    def _enough(self, rows: list[tuple[Any, ...]], filters: Filters, wide: int, limit: int) -> list[tuple[Any, ...]]:
        """Return what the first search found, or if too few of it pass the filters, the nearest among all that pass."""
        vectors = self.statistics.vectors
        compared = self._listed * self.statistics.documents if self._lists() else vectors
        if len(rows) >= min(limit, vectors) or wide >= compared:
            return rows
        parts, bindings = self._filters(filters)
        key = {"query": self._query, "space": self.statistics.space, "limit": limit, **bindings}
        return self.session.rows("nearest_fitting", parts, **key)

    # --- filters

    def _filters(self, filters: Filters) -> tuple[tuple[str, ...], dict[str, Any]]:
        """Return the conditions of a scan, which takes lists of rows as bounds."""
        parts, bindings = filter_parts(filters)
        if stems := self._entity(filters):
            parts, bindings = (*parts, "filter_entity"), {**bindings, "entity": stems, "entity_count": len(stems)}
        return parts, bindings

    def _by_key(self, filters: Filters) -> tuple[tuple[str, ...], dict[str, Any]]:
        """Return the conditions on candidates, each of which is looked up by its key."""
        parts, bindings = self._filters(filters)
        return tuple(_BY_KEY.get(part, part) for part in parts), {**bindings, "span": SPAN - 1}

    def _entity(self, filters: Filters) -> list[str]:
        return sorted({term_of(s) for s in self.stemmer.stems(filters.entity or "")})


def _text(vector: NDArray[np.float32]) -> str:
    return f"[{','.join(map(repr, vector.tolist()))}]"
