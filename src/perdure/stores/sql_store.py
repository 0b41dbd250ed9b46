"""What a store over SQL reads the same way in every dialect. A dialect says how its statements are run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from perdure.records.document import Document, Shelf
from perdure.records.importance_row import ImportanceRow
from perdure.records.instant import Instant
from perdure.stores.rows import document_of

Rows = Callable[..., Sequence[tuple[Any, ...]]]
"""(namespace, statement, **bindings) -> its rows."""


class SqlStore(ABC):
    """Reads of one namespace. See operations/ports.py."""

    @abstractmethod
    def _rows(self, namespace: str, name: str, /, **bindings: Any) -> Sequence[tuple[Any, ...]]:
        """Return all rows of a routed statement."""

    @property
    def documents(self) -> SqlDocuments:
        """Return the documents beside memories."""
        return SqlDocuments(self._rows)

    def ids_of_task(self, namespace: str, task: str, after: str, limit: int) -> list[str]:
        """Return the next memories of a task by id."""
        return [i for (i,) in self._rows(namespace, "of_task", task=task, after=after, limit=limit)]

    def ids_of_session(self, namespace: str, session: str, after: str, limit: int) -> list[str]:
        """Return the next memories of a session by id."""
        return [i for (i,) in self._rows(namespace, "of_session", session=session, after=after, limit=limit)]

    def visible_tokens(self, namespace: str) -> int:
        """Return the tokens of all active memories of a namespace."""
        return int(self._rows(namespace, "visible_tokens")[0][0])

    def importance_rows(self, namespace: str, after: str, limit: int, width: int) -> list[ImportanceRow]:
        """Return the next active memories by id, each with the first ``width`` characters of what is shown of it."""
        rows = self._rows(namespace, "gauges", after=after, limit=limit, width=width)
        return [ImportanceRow._make(values) for values in rows]

    def unconfirmed_facts(self, namespace: str, until: Instant, times: int, limit: int) -> list[str]:
        """Return active facts with fewer confirmations than ``times``, the last before ``until``: oldest first."""
        return [i for (i,) in self._rows(namespace, "unsaid", until=until, times=times, limit=limit)]

    def links_of_kind(
        self, namespace: str, kind: str, after: tuple[str, str], limit: int
    ) -> list[tuple[str, str, float]]:
        """Return the next links of a kind, from the memory that has them: (id, other, weight), by (id, other)."""
        key = {"kind": kind, "id_after": after[0], "other_after": after[1], "limit": limit}
        return [(identity, other, weight) for identity, other, weight in self._rows(namespace, "linked", **key)]


class SqlDocuments:
    """Documents beside memories. See operations/ports.py.

    Args:
        rows: Runs a routed statement.
    """

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def page(self, namespace: str, shelf: Shelf, after: tuple[str, str], limit: int) -> list[Document]:
        """Return the next documents of a shelf by (id, name)."""
        identity, name = after
        return self._documents(namespace, "documents", shelf=shelf.value, id=identity, name=name, limit=limit)

    def find(self, namespace: str, shelf: Shelf, ids: Sequence[str]) -> list[Document]:
        """Return the documents of a shelf about some memories, sessions or tasks, by (id, name)."""
        return self._documents(namespace, "documents_of", shelf=shelf.value, ids=list(ids))

    def find_named(self, namespace: str, shelf: Shelf, names: Sequence[str]) -> list[Document]:
        """Return the documents of a shelf that have one of some names, by (id, name)."""
        return self._documents(namespace, "documents_named", shelf=shelf.value, names=list(names))

    def find_about(self, namespace: str, identity: str) -> list[Document]:
        """Return every document about one memory, session or task, by (shelf, name)."""
        return self._documents(namespace, "documents_about", id=identity)

    def _documents(self, namespace: str, statement: str, **bindings: Any) -> list[Document]:
        return [document_of(values) for values in self._rows(namespace, statement, **bindings)]
