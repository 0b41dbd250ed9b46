"""What a person's answers taught about predicates, as an operation finds it and adds to it (decision 21)."""

from __future__ import annotations

from perdure.knowledge.operations.ports import resources
from perdure.knowledge.records.facts import Fact
from perdure.knowledge.rules.predicate_lessons import (
    VALUES,
    Lesson,
    SynonymPair,
    canonical_name,
    has_several_values,
    lessons_of,
    pairs_of,
)
from perdure.operations.documents import all_documents
from perdure.operations.ports import Context
from perdure.records.document import Document, Shelf
from perdure.records.instant import Instant
from perdure.rules.document_edits import DocumentEdits


class Lessons:
    """The lessons of a namespace. They are few, and read at once when a predicate comes up that no table names."""

    def __init__(self, ctx: Context, namespace: str, edits: DocumentEdits) -> None:
        self._ctx, self._namespace, self._edits = ctx, namespace, edits
        self._of: dict[str, dict[str, Document]] | None = None

    def several(self, subject: str, predicate: str, *, otherwise: bool) -> bool:
        """Return whether a predicate of an entity has several values at once.

        Args:
            subject: The entity.
            predicate: In normal form.
            otherwise: What was said of it in words, which holds where a table names it or too little was answered.
        """
        if resources(self._ctx).predicates.has(predicate):
            return otherwise
        known = lessons_of(self._read().get(predicate, {}).values())
        return has_several_values(known, subject, self._ctx.policy.knowledge.lessons, otherwise=otherwise)

    def note(self, fact: Fact, at: Instant, because: str, *, many: bool) -> None:
        """Write down what an answer about a fact says of its predicate; nothing where a table names that."""
        if resources(self._ctx).predicates.has(fact.predicate):
            return
        said = Document(Shelf.LESSON, fact.predicate, VALUES + fact.id, Lesson(fact.subject, many, at).to_data())
        self.put(said, because)

    def name(self, predicate: str) -> str:
        """Return the name of a predicate that a person said is the same; itself if there is none."""
        return canonical_name(predicate, self.pairs())

    def pairs(self) -> list[SynonymPair]:
        """Return the pairs of predicates that a person was asked about."""
        return pairs_of(d for some in self._read().values() for d in some.values())

    def put(self, document: Document, because: str) -> None:
        """Write a lesson down."""
        self._read().setdefault(document.id, {})[document.name] = document
        self._edits.put(document.shelf, document.id, document.name, document.data, because)

    def _read(self) -> dict[str, dict[str, Document]]:
        if self._of is None:
            self._of = {}
            for document in all_documents(self._ctx, self._namespace, Shelf.LESSON):
                self._edits.read([document])
                self._of.setdefault(document.id, {})[document.name] = document
        return self._of
