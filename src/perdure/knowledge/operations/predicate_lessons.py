"""Which predicates a person said are the same, as an operation finds it and adds to it."""

from __future__ import annotations

from perdure.knowledge.rules.predicate_lessons import SynonymPair, canonical_name, pairs_of
from perdure.operations.documents import all_documents
from perdure.operations.ports import Context
from perdure.records.document import Document, Shelf
from perdure.rules.document_edits import DocumentEdits


class Lessons:
    """The pairs of a namespace that were asked about. They are few, and read at once."""

    def __init__(self, ctx: Context, namespace: str, edits: DocumentEdits) -> None:
        self._ctx, self._namespace, self._edits = ctx, namespace, edits
        self._of: dict[tuple[str, str], Document] | None = None

    def name(self, predicate: str) -> str:
        """Return the name of a predicate that a person said is the same; itself if there is none."""
        return canonical_name(predicate, self.pairs())

    def pairs(self) -> list[SynonymPair]:
        """Return the pairs of predicates that a person was asked about."""
        return pairs_of(self._read().values())

    def put(self, document: Document, because: str) -> None:
        """Write a lesson down."""
        self._read()[document.id, document.name] = document
        self._edits.put(document.shelf, document.id, document.name, document.data, because)

    def _read(self) -> dict[tuple[str, str], Document]:
        if self._of is None:
            stored = list(all_documents(self._ctx, self._namespace, Shelf.LESSON))
            self._edits.read(stored)
            self._of = {(d.id, d.name): d for d in stored}
        return self._of
