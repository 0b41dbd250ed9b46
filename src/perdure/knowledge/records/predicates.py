"""What is known of a predicate, and what readers of messages ask of a registry of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Protocol

from perdure.records.sort import Sort

UNNAMED: Final = "value"
"""The predicate of a correction that names none ("I meant Thursday, not Friday"): the fact is found by its ``old``."""


@dataclass(frozen=True, slots=True)
class Predicate:
    """What is known of a predicate."""

    sort: Sort = Sort.ATTRIBUTE  # what its facts are about in general
    many: bool = False  # several values hold at once: a hobby adds, an address supersedes


class Predicates(Protocol):
    """Names of predicates and what is known of them; ``rules/predicate_registry.py`` has the registry."""

    def name(self, words: str) -> str:
        """Return the normal form of a predicate."""

    def row(self, name: str) -> Predicate:
        """Return what is known of a predicate in normal form."""

    def has(self, name: str) -> bool:
        """Whether a table names a predicate in normal form, or its last words."""

    def asked(self, words: Iterable[str]) -> frozenset[str]:
        """Return the words of the predicates that a question may mean."""

    def akin(self, one: str, other: str) -> bool:
        """Return whether two predicates may be about the same."""
