"""What is around memories on a server: documents, tasks, sessions; and a look at a plan before it is final."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from perdure.records.document import Document, Shelf
from perdure.records.importance_row import Gauge
from perdure.records.instant import Instant
from perdure.records.memory import Record
from perdure.records.policy import RecallPolicy
from perdure.records.recall import Filters, Pool, Query
from perdure.stores.postgres import reading as read
from perdure.stores.postgres.searching import PostgresSearch
from perdure.stores.postgres.server import Server, Session
from perdure.stores.rows import document_of
from perdure.stores.words import Stemmer


class PostgresAround:
    """Reads around memories. See operations/ports.py.

    Args:
        server: Connections.
    """

    def __init__(self, server: Server) -> None:
        self._server = server

    def documents(self, namespace: str, shelf: Shelf, after: tuple[str, str], limit: int) -> list[Document]:
        """Return the next documents of a shelf by (id, name)."""
        identity, name = after
        return self._documents(namespace, "documents", shelf=shelf.value, id=identity, name=name, limit=limit)

    def documents_of(self, namespace: str, shelf: Shelf, ids: Sequence[str]) -> list[Document]:
        """Return the documents of a shelf about some memories, sessions or tasks."""
        return self._documents(namespace, "documents_of", shelf=shelf.value, ids=list(ids))

    def documents_named(self, namespace: str, shelf: Shelf, names: Sequence[str]) -> list[Document]:
        """Return the documents of a shelf that have one of some names."""
        return self._documents(namespace, "documents_named", shelf=shelf.value, names=list(names))

    def documents_about(self, namespace: str, identity: str) -> list[Document]:
        """Return every document about one memory, session or task."""
        return self._documents(namespace, "documents_about", id=identity)

    def of_task(self, namespace: str, task: str, after: str, limit: int) -> list[str]:
        """Return the next memories of a task by id."""
        return self._ids(namespace, "of_task", task=task, after=after, limit=limit)

    def of_session(self, namespace: str, session: str, after: str, limit: int) -> list[str]:
        """Return the next memories of a session by id."""
        return self._ids(namespace, "of_session", session=session, after=after, limit=limit)

    def visible_tokens(self, namespace: str) -> int:
        """Return the tokens of all that is visible of a namespace."""
        return self._server.read(namespace, lambda s: int(s.value("visible_tokens")))

    def gauges(self, namespace: str, after: str, limit: int, width: int) -> list[Gauge]:
        """Return the next visible memories by id, each with the first ``width`` characters of what is shown of it."""
        key = {"after": after, "limit": limit, "width": width}
        return [Gauge._make(values) for values in self._server.read(namespace, lambda s: s.rows("gauges", **key))]

    def unsaid(self, namespace: str, until: Instant, times: int, limit: int) -> list[str]:
        """Return facts that are believed, were confirmed fewer times, and were last said before: longest ago first."""
        return self._ids(namespace, "unsaid", until=until, times=times, limit=limit)

    def linked(self, namespace: str, kind: str, after: tuple[str, str], limit: int) -> list[tuple[str, str, float]]:
        """Return the next links of a kind, from the memory that has them: (id, other, weight), by (id, other)."""
        key = {"kind": kind, "id_after": after[0], "other_after": after[1], "limit": limit}
        return self._server.read(namespace, lambda s: list(s.rows("linked", **key)))

    def _documents(self, namespace: str, statement: str, **key: Any) -> list[Document]:
        rows = self._server.read(namespace, lambda s: s.rows(statement, **key))
        return [document_of(values) for values in rows]

    def _ids(self, namespace: str, statement: str, **key: Any) -> list[str]:
        return [i for (i,) in self._server.read(namespace, lambda s: s.rows(statement, **key))]


class PostgresGlimpse:
    """A look at a plan before it is final. Runs inside the transaction that writes it."""

    def __init__(self, session: Session, stemmer: Stemmer, namespace: str) -> None:
        self._session, self._stemmer, self._namespace = session, stemmer, namespace

    def search(self, query: Query, filters: Filters, policy: RecallPolicy) -> Pool:
        """Return the candidates for a query, as they would be after the plan."""
        return PostgresSearch(self._session, policy, self._stemmer).pool(query, filters)

    def get(self, ids: Sequence[str]) -> list[Record]:
        """Return records in the order asked for."""
        return read.records(self._session, self._namespace, ids)
