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
    """

    def __init__(self, rows: Callable[..., list[tuple[Any, ...]]]) -> None:
        self._rows = rows

    def page(self, namespace: str, shelf: Shelf, after: tuple[str, str], limit: int) -> list[Document]:
        identity, name = after
        return self._documents(namespace, "documents", shelf=shelf.value, id=identity, name=name, limit=limit)

    def find(self, namespace: str, shelf: Shelf, ids: Sequence[str]) -> list[Document]:
        return self._documents(namespace, "documents_of", shelf=shelf.value, ids=list(ids))

    def find_named(self, namespace: str, shelf: Shelf, names: Sequence[str]) -> list[Document]:
        return self._documents(namespace, "documents_named", shelf=shelf.value, names=list(names))

    def find_about(self, namespace: str, identity: str) -> list[Document]:
        return self._documents(namespace, "documents_about", id=identity)

    def _documents(self, namespace: str, name: str, /, **bindings: Any) -> list[Document]:
        return [document_of(values) for values in self._rows(namespace, name, **bindings)]
