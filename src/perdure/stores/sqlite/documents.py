"""What is around memories in a file: documents, tasks, sessions; and a look at a plan before it is final."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager

import apsw

from perdure.records.document import Document, Shelf
from perdure.records.importance_row import Gauge
from perdure.records.instant import Instant
from perdure.records.memory import Record
from perdure.records.policy import RecallPolicy
from perdure.records.recall import Filters, Pool, Query
from perdure.stores.rows import document_of
from perdure.stores.sqlite import reading as read
from perdure.stores.sqlite.searching import Searches


class SqliteAround:
    """Reads around memories. See operations/ports.py.

    Args:
        use: Gives the store's connection for the length of a block.
    """

    def __init__(self, use: Callable[[], AbstractContextManager[apsw.Connection]]) -> None:
        self._use = use

    def documents(self, namespace: str, shelf: Shelf, after: tuple[str, str], limit: int) -> list[Document]:
        """Return the next documents of a shelf by (id, name)."""
        key = {"namespace": namespace, "shelf": shelf.value, "id": after[0], "name": after[1], "limit": limit}
        return self._documents("documents", key)

    def documents_of(self, namespace: str, shelf: Shelf, ids: Sequence[str]) -> list[Document]:
        """Return the documents of a shelf about some memories, sessions or tasks."""
        key = {"namespace": namespace, "shelf": shelf.value, "ids": read.json_list(ids)}
        return self._documents("documents_of", key)

    def documents_named(self, namespace: str, shelf: Shelf, names: Sequence[str]) -> list[Document]:
        """Return the documents of a shelf that have one of some names."""
        key = {"namespace": namespace, "shelf": shelf.value, "names": read.json_list(names)}
        return self._documents("documents_named", key)

    def documents_about(self, namespace: str, identity: str) -> list[Document]:
        """Return every document about one memory, session or task."""
        return self._documents("documents_about", {"namespace": namespace, "id": identity})

    def of_task(self, namespace: str, task: str, after: str, limit: int) -> list[str]:
        """Return the next memories of a task by id."""
        return self._ids("of_task", {"namespace": namespace, "task": task, "after": after, "limit": limit})

    def of_session(self, namespace: str, session: str, after: str, limit: int) -> list[str]:
        """Return the next memories of a session by id."""
        return self._ids("of_session", {"namespace": namespace, "session": session, "after": after, "limit": limit})

    def visible_tokens(self, namespace: str) -> int:
        """Return the tokens of all that is visible of a namespace."""
        with self._use() as connection:
            return int(read.single(connection, "visible_tokens", {"namespace": namespace}))

    def gauges(self, namespace: str, after: str, limit: int, width: int) -> list[Gauge]:
        """Return the next visible memories by id, each with the first ``width`` characters of what is shown of it."""
        key = {"namespace": namespace, "after": after, "limit": limit, "width": width}
        with self._use() as connection:
            return [Gauge._make(values) for values in read.run(connection, "gauges", key)]

    def unsaid(self, namespace: str, until: Instant, times: int, limit: int) -> list[str]:
        """Return facts that are believed, were confirmed fewer times, and were last said before: longest ago first."""
        return self._ids("unsaid", {"namespace": namespace, "until": until, "times": times, "limit": limit})

    def linked(self, namespace: str, kind: str, after: tuple[str, str], limit: int) -> list[tuple[str, str, float]]:
        """Return the next links of a kind, from the memory that has them: (id, other, weight), by (id, other)."""
        key = {"namespace": namespace, "kind": kind, "id_after": after[0], "other_after": after[1], "limit": limit}
        with self._use() as connection:
            return read.fetched(connection, "linked", key)

    def _documents(self, name: str, key: Mapping[str, object]) -> list[Document]:
        with self._use() as connection:
            return [document_of(values) for values in read.run(connection, name, key)]

    def _ids(self, name: str, key: Mapping[str, object]) -> list[str]:
        with self._use() as connection:
            return [i for (i,) in read.run(connection, name, key)]


class SqliteGlimpse:
    """A look at a plan before it is final. Runs inside the transaction that writes it."""

    def __init__(self, connection: apsw.Connection, searches: Searches, namespace: str) -> None:
        self._connection, self._searches, self._namespace = connection, searches, namespace

    def search(self, query: Query, filters: Filters, policy: RecallPolicy) -> Pool:
        """Return the candidates for a query, as they would be after the plan."""
        return self._searches.pool(self._namespace, query, filters, policy)

    def get(self, ids: Sequence[str]) -> list[Record]:
        """Return records in the order asked for."""
        return read.records(self._connection, self._namespace, ids)
