"""What a person's answers teach about predicates that no table names: whether they have one value or several."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from perdure.knowledge.records.learning_results import Taught
from perdure.records.document import Document, Shelf
from perdure.records.instant import Instant

VALUES: Final = "values:"
"""Names of documents about the number of values begin so; the fact that was answered about follows."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """One answer of a person.

    Attributes:
        subject: The entity that it was about.
        many: Several values hold at once; else one takes the place of the other.
        at: When it was given.
    """

    subject: str
    many: bool
    at: Instant

    def to_data(self) -> dict[str, Any]:
        """Return what its document says."""
        return {"subject": self.subject, "many": self.many, "at_ms": self.at}


def lessons_of(documents: Iterable[Document]) -> list[Lesson]:
    """Return the answers about the number of values among documents of a predicate."""
    return [
        Lesson(str(d.data["subject"]), bool(d.data["many"]), int(d.data["at_ms"]))
        for d in documents
        if d.shelf is Shelf.LESSON and d.name.startswith(VALUES)
    ]


def has_several_values(lessons: Sequence[Lesson], subject: str, least: int, *, otherwise: bool) -> bool:
    """Return whether a predicate has several values at once.

    Whoever was last said to have several has several. For everybody it takes several answers, and none against.

    Args:
        lessons: All answers about the predicate.
        subject: The entity.
        least: How many answers it takes (``knowledge.lessons``).
        otherwise: What holds where too little was answered.
    """
    own = [lesson for lesson in lessons if lesson.subject == subject]
    if own and max(own, key=lambda lesson: (lesson.at, not lesson.many)).many:
        return True
    said = {lesson.many for lesson in lessons}
    return said.pop() if len(lessons) >= least and len(said) == 1 else otherwise


def learned_cardinalities(documents: Iterable[Document], least: int) -> tuple[Taught, ...]:
    """Return what was taught, by predicate, for people."""
    by: dict[str, list[Document]] = {}
    for document in (d for d in documents if d.name.startswith(VALUES)):
        by.setdefault(document.id, []).append(document)
    return tuple(_learned_cardinality(predicate, lessons_of(by[predicate]), least) for predicate in sorted(by))


def _learned_cardinality(predicate: str, lessons: Sequence[Lesson], least: int) -> Taught:
    many = sum(lesson.many for lesson in lessons)
    one = len(lessons) - many
    if many and one:
        return Taught(predicate, many, one, "", "answers differ: each holds for the one that it was about")
    if len(lessons) < least:
        return Taught(
            predicate, many, one, "", f"{len(lessons)} of {least} answers: they hold for whom they were about"
        )
    says = "several" if many else "one"
    return Taught(predicate, many, one, says, f"{len(lessons)} answers, none against")
