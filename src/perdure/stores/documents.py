"""Documents beside memories, read in the same way in every store."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from perdure.records.document import Document, Shelf
from perdure.stores.rows import document_of


class SqlDocuments:
    """Documents beside memories. See operations/store_protocol.py.

    Args:
        rows: Returns all rows of a routed statement: (namespace, name, **bindings).
        has_none: Whether a shelf of a namespace is known to be empty, so that it need not be asked.
    """

    def __init__(
        self,
        rows: Callable[..., list[tuple[Any, ...]]],
        has_none: Callable[[str, Shelf], bool] = lambda _namespace, _shelf: False,
    ) -> None:
        self._rows, self._has_none = rows, has_none

    def page(self, namespace: str, shelf: Shelf, after: tuple[str, str], limit: int) -> list[Document]:
        identity, name = after
        return self._on(namespace, shelf, "documents", id=identity, name=name, limit=limit)

    def find(self, namespace: str, shelf: Shelf, ids: Sequence[str]) -> list[Document]:
        return self._on(namespace, shelf, "documents_of", ids=list(ids))

    def find_named(self, namespace: str, shelf: Shelf, names: Sequence[str]) -> list[Document]:
        return self._on(namespace, shelf, "documents_named", names=list(names))

    def find_about(self, namespace: str, identity: str) -> list[Document]:
        return self._documents(namespace, "documents_about", id=identity)

    def _on(self, namespace: str, shelf: Shelf, name: str, /, **bindings: Any) -> list[Document]:
        if self._has_none(namespace, shelf):
            return []
        return self._documents(namespace, name, shelf=shelf.value, **bindings)

    def _documents(self, namespace: str, name: str, /, **bindings: Any) -> list[Document]:
        return [document_of(values) for values in self._rows(namespace, name, **bindings)]
