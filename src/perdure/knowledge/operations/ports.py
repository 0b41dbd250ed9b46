"""What operations on knowledge need from the world besides a context: databases and working trees that know better."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from perdure.knowledge.extraction.entity_names import Names
from perdure.knowledge.records.authority import Answers, AuthorityAnswer, AuthorityQuestion, Citation, CitationCheck
from perdure.knowledge.rules.predicate_registry import Registry
from perdure.operations.ports import Context
from perdure.records.instant import Instant
from perdure.records.vector import Vector


class Authority(Protocol):
    """Who knows better than a fact: a database. It reads, never writes, and never decides what becomes of a memory."""

    @property
    def name(self) -> str:
        """What it is called in answers."""

    def knows(self, predicate: str, namespace: str) -> bool:
        """Whether it answers for a predicate in a namespace."""

    def answers(self, questions: Sequence[AuthorityQuestion]) -> list[AuthorityAnswer]:
        """Return an answer to each question, within a time for each; never raises: what fails is ``unreachable``."""


class CitationChecker(Protocol):
    """Who sees whether what memories cite is there: a working tree."""

    @property
    def name(self) -> str:
        """What it is called in answers."""

    def covers(self, namespace: str) -> bool:
        """Whether memories of a namespace cite it."""

    def sight(self, cited: Sequence[Sequence[Citation]]) -> list[list[CitationCheck]]:
        """Return what became of what each of several memories cites; never raises."""


AnswersWithin = Callable[[Sequence[tuple[Answers, Sequence[AuthorityQuestion]]], float], list[list[AuthorityAnswer]]]
"""((an authority's answers, what it is asked) of each, seconds) -> the answers of each."""


def _nobody(
    _lookups: Sequence[tuple[Answers, Sequence[AuthorityQuestion]]], _seconds: float, /
) -> list[list[AuthorityAnswer]]:
    return []


@dataclass(slots=True)
class Resources:
    """What is kept for one open store."""

    predicates: Registry  # what is known of predicates: their names, their sorts (``knowledge.file``)
    # name -> a database that knows better, in the order in which they decide
    authorities: Mapping[str, Authority] = field(default_factory=dict)
    witnesses: Mapping[str, CitationChecker] = field(default_factory=dict)  # name -> a working tree that memories cite
    # (space, predicate) -> the vector of its name
    directions: dict[tuple[str, str], Vector] = field(default_factory=dict)
    # namespace -> (the operation up to which they were read, its names)
    names: dict[str, tuple[str, Names]] = field(default_factory=dict)
    answers_within: AnswersWithin = _nobody  # asks several authorities, for so many seconds at most
    # authority -> until when what is learned is not compared with it, because it did not answer
    away: dict[str, Instant] = field(default_factory=dict)


def resources(ctx: Context) -> Resources:
    """Return what is kept for the open store of a context."""
    found: Resources = ctx.extension.resources
    return found
