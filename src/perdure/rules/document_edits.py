"""Documents as one operation changes them: each is written once, whatever happens to it on the way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from perdure.records.memory import Document, Shelf
from perdure.records.plan import Change, Target

Key = tuple[Shelf, str, str]  # (shelf, id, name)


def document_change(
    shelf: Shelf,
    identity: str,
    name: str,
    before: Mapping[str, Any] | None,
    after: Mapping[str, Any] | None,
    because: str,
) -> Change:
    """Return the change of one document from what it says, None if it is not there, to what it is to say."""
    row = {"shelf": shelf, "name": name}
    old, new = (None if data is None else {**row, "data": dict(data)} for data in (before, after))
    return Change(Target.DOCUMENT, identity, old, new, because)


class DocumentEdits:
    """Documents that were read, and what becomes of them."""

    def __init__(self, documents: Iterable[Document] = ()) -> None:
        self._before: dict[Key, Mapping[str, Any]] = {}
        self._after: dict[Key, Mapping[str, Any] | None] = {}
        self._because: dict[Key, str] = {}
        self._about: dict[tuple[Shelf, str], dict[Key, None]] = {}
        self.read(documents)

    def read(self, documents: Iterable[Document]) -> None:
        """Add documents as they are stored; those that are known already stay as they are."""
        for document in documents:
            key = (document.shelf, document.id, document.name)
            self._before.setdefault(key, document.data)
            self._enter(key)

    def get(self, shelf: Shelf, identity: str, name: str) -> Mapping[str, Any] | None:
        """Return what a document says by now, or None."""
        key = (shelf, identity, name)
        return self._after[key] if key in self._after else self._before.get(key)

    def shelf(self, shelf: Shelf) -> dict[tuple[str, str], Mapping[str, Any]]:
        """Return (id, name) -> what it says, of all documents of a shelf that are known here, in order."""
        return self._existing(k for k in {*self._before, *self._after} if k[0] is shelf)

    def about(self, shelf: Shelf, one: str) -> dict[tuple[str, str], Mapping[str, Any]]:
        """Return (id, name) -> what it says, of the documents of a shelf with this id or this name, in order."""
        return self._existing(self._about.get((shelf, one), ()))

    def put(self, shelf: Shelf, identity: str, name: str, data: Mapping[str, Any] | None, because: str) -> None:
        """Decide what a document is to say; None removes it."""
        key = (shelf, identity, name)
        self._after[key] = data
        self._because[key] = because
        self._enter(key)

    def _enter(self, key: Key) -> None:
        for one in key[1:]:
            self._about.setdefault((key[0], one), {})[key] = None

    def _existing(self, keys: Iterable[Key]) -> dict[tuple[str, str], Mapping[str, Any]]:
        found = {(key[1], key[2]): self.get(*key) for key in sorted(keys)}
        return {key: data for key, data in found.items() if data is not None}

    def absorb(self, changes: Iterable[Change]) -> None:
        """Decide what changes say that others have made of documents that were not read."""
        for change in changes:
            row = change.after or change.before or {}
            data = None if change.after is None else change.after["data"]
            self.put(row["shelf"], change.id, row["name"], data, change.because)

    def changes(self) -> list[Change]:
        """Return the changes, in order; what ends as it was is none."""
        result = []
        for key in sorted(self._after):
            shelf, identity, name = key
            before, after = self._before.get(key), self._after[key]
            if before != after:
                result.append(document_change(shelf, identity, name, before, after, self._because[key]))
        return result
