"""Search structures of one open store: an index for each namespace, the vocabulary, and the searches over them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

import apsw
import numpy as np

from perdure.records.instant import Instant
from perdure.records.policy_recall import RecallPolicy
from perdure.records.recall import Filters, Pool, Query
from perdure.records.store_rows import Neighbours
from perdure.records.vector import Space, Vector
from perdure.stores import reading
from perdure.stores.sqlite.candidates import SqliteSearch
from perdure.stores.sqlite.connection import SqliteSession, run, snapshot, transaction
from perdure.stores.sqlite.index import SearchIndex, save_cells, trained_cells
from perdure.stores.sqlite.lexical import Vocabulary
from perdure.stores.sqlite.neighbours import nearest_memories
from perdure.stores.sqlite.query_cache import QueryResultCache

MAJORITY: Final = 0.5
"""A namespace with more than this share of the store is searched by words without naming it in the index."""


class Searches:
    """Keeps indexes between searches. Its methods run under the store's lock; searches inside one snapshot."""

    def __init__(self, connection: apsw.Connection, unchanged: QueryResultCache) -> None:
        self.connection, self._unchanged = connection, unchanged
        self.vocabulary = Vocabulary(connection)
        self._indexes: dict[tuple[str, int], SearchIndex] = {}

    def pool(self, namespace: str, query: Query, filters: Filters, policy: RecallPolicy) -> Pool:
        """Return the candidates for a query."""
        index = self._index(namespace)
        if index is not None and filters.looks_back:
            index.look_back(self.connection)
        self._unchanged.get("vocabulary", self.vocabulary.refresh)
        total = self.vocabulary.size
        share = len(index) / total if index is not None and total else 0.0
        return self._search(namespace, index, policy, majority=share > MAJORITY).pool(query, filters)

    @contextmanager
    def inside(self, namespace: str) -> Iterator[Callable[[Query, Filters, RecallPolicy], Pool]]:
        """Yield the search of a transaction, which finds what is not committed yet.

        Where that is rolled back the index is read anew, if it has seen it: the next transaction has the same version.
        """
        searched = False

        def pool(query: Query, filters: Filters, policy: RecallPolicy) -> Pool:
            nonlocal searched
            searched = True
            return self.pool(namespace, query, filters, policy)

        try:
            yield pool
        except BaseException:
            if searched:
                self.forget(namespace)
            raise

    def nearest(self, namespace: str, vectors: Sequence[Vector], limit: int) -> list[Neighbours]:
        index = self._index(namespace)
        if index is None or not len(index):
            return [[] for _ in vectors]
        return nearest_memories(SqliteSession(self.connection, namespace), index, vectors, limit)

    def vectors(self, namespace: str, ids: Sequence[str]) -> dict[str, Vector]:
        session = SqliteSession(self.connection, namespace)
        index = self._index(namespace)
        if index is None or not ids:
            return {}
        rows = index.resident.rows_of(ids)
        if None in rows.values():
            return reading.vectors(session, namespace, ids)
        identity_of = {row: identity for identity, row in rows.items() if row is not None}
        found, slots = index.slots(session, list(identity_of))
        unit = index.resident.vectors(slots).astype(np.float32)
        unit = (unit / np.sqrt(np.vecdot(unit, unit))[:, None]).astype("<f4", copy=False)
        return {identity_of[row]: vector.tobytes() for row, vector in zip(found.tolist(), unit, strict=True)}

    def _search(
        self, namespace: str, index: SearchIndex | None, policy: RecallPolicy, *, majority: bool
    ) -> SqliteSearch:
        session = SqliteSession(self.connection, namespace)
        return SqliteSearch(session, index=index, vocabulary=self.vocabulary, policy=policy, majority=majority)

    def forget(self, namespace: str) -> None:
        """Drop a namespace's index, so that the next search reads it anew."""
        self._unchanged.forget()
        for key in [k for k in self._indexes if k[0] == namespace]:
            del self._indexes[key]

    def forget_texts(self, namespace: str) -> None:
        """Drop a namespace's index, and all words: which of them it alone has is not known."""
        self.forget(namespace)
        self.vocabulary = Vocabulary(self.connection)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return sum(index.nbytes for index in self._indexes.values())

    def space(self) -> tuple[int, Space] | None:
        return self._unchanged.get("space", lambda: reading.active_space(SqliteSession(self.connection, "")))

    def optimize(self, namespace: str, at: Instant, cells_above: int) -> Mapping[str, int]:
        """Bring a namespace's cells and the words of all up to date."""
        connection, session = self.connection, SqliteSession(self.connection, namespace)
        found = reading.active_space(session)
        vectors = int(session.value("vector_count") or 0)
        trained = None
        if found is not None and vectors >= cells_above:
            trained = trained_cells(connection, namespace, found[0], found[1].dimensions, at)
        with transaction(connection):
            if trained is not None and found is not None:
                save_cells(connection, namespace, found[0], trained)
                self.forget(namespace)
            run(connection, "merge_words")
        connection.execute("PRAGMA optimize").fetchall()
        return {"vectors": vectors, "cells": 0 if trained is None else len(trained[0])}

    def _index(self, namespace: str) -> SearchIndex | None:
        return self._unchanged.get((namespace, "index"), lambda: self._refresh_index(namespace))

    def _refresh_index(self, namespace: str) -> SearchIndex | None:
        if not self.connection.in_transaction:
            with snapshot(self.connection):
                return self._refresh_index(namespace)
        found = self.space()
        if found is None:
            return None
        number, space = found
        index = self._indexes.get((namespace, number))
        if index is None:
            index = self._indexes[namespace, number] = SearchIndex(namespace, number, space.dimensions)
        try:
            index.refresh(self.connection)
        except BaseException:  # a half-read index must not be used again
            self.forget(namespace)
            raise
        return index
