"""Which predicates are the same, as people answer.

Predicates that are near are a question to a person, never a decision.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

import numpy as np

from perdure.knowledge.records.facts import Fact, ValueKind
from perdure.knowledge.records.results import Alike
from perdure.knowledge.rules.predicate_registry import Registry
from perdure.records.document import Document, Shelf
from perdure.records.instant import Instant
from perdure.records.vector import Vector

SAME: Final = "same:"
"""Names of documents about two names begin so; the name that would stay follows, the id is the one that would go."""
_SHARE: Final = 0.6


class SynonymAnswer(StrEnum):
    """What a person said of two names."""

    OPEN = "open"
    SAME = "same"
    DIFFERENT = "different"


@dataclass(frozen=True, slots=True)
class SynonymPair:
    """Two names of predicates, and what was said of them."""

    goes: str  # the name that is replaced where they are the same
    stays: str  # the other
    said: SynonymAnswer  # what a person said
    cosine: float  # how alike they are
    fact: str  # the fact that brought the question up: it is asked about
    other: str  # the fact of the other name
    at: Instant  # since when it is asked

    @property
    def key(self) -> frozenset[str]:
        """Both names: a pair is asked about once, whichever comes first."""
        return frozenset((self.goes, self.stays))

    def document(self) -> Document:
        """Return its document."""
        data = {"said": self.said.value, "cosine": round(self.cosine, 4), "at_ms": self.at}
        return Document(Shelf.LESSON, self.goes, SAME + self.stays, {**data, "fact": self.fact, "other": self.other})


def pairs_of(documents: Iterable[Document]) -> list[SynonymPair]:
    """Return the pairs of names among documents of the shelf LESSON."""
    return [_pair(d.id, d.name.removeprefix(SAME), d.data) for d in documents if d.name.startswith(SAME)]


def _pair(goes: str, stays: str, data: Mapping[str, Any]) -> SynonymPair:
    said, fact, other = SynonymAnswer(data["said"]), str(data["fact"]), str(data["other"])
    return SynonymPair(goes, stays, said, float(data["cosine"]), fact, other, int(data["at_ms"]))


def asked_pairs(documents: Iterable[Document]) -> tuple[Alike, ...]:
    """Return the pairs that were asked about, for people."""
    return tuple(Alike(p.goes, p.stays, p.said.value, p.cosine) for p in pairs_of(documents))


def canonical_name(name: str, pairs: Iterable[SynonymPair]) -> str:
    """Return the name of a predicate that a person said is the same; itself if there is none."""
    same, seen = {p.goes: p.stays for p in pairs if p.said is SynonymAnswer.SAME}, {name}
    while (name := same.get(name, name)) not in seen:
        seen.add(name)
    return name


def word_nearness(one: Fact, other: Fact) -> float:
    """Return how alike the predicates of two facts are by their words, 0 to 1; 0 where they share too little.

    It takes two words and three in five, or one word where both say the same text or day.
    """
    words, others = set(one.predicate.split("_")), set(other.predicate.split("_"))
    shared = len(words & others)
    share = shared / len(words | others)
    same = one.value.norm == other.value.norm and one.value.kind in (ValueKind.TEXT, ValueKind.DATE)
    return share if (shared > 1 and share >= _SHARE) or (shared and same) else 0.0


def cosine(one: Vector, other: Vector) -> float:
    """Return the cosine of two unit vectors."""
    return float(np.frombuffer(one, "<f4") @ np.frombuffer(other, "<f4"))


def comparable(one: Fact, other: Fact, predicates: Registry) -> bool:
    """Whether two facts of one entity may be about the same: other names, values of one sort, not told apart already.

    Two names that the table has (a person's own or the shipped one) are two.
    """
    if one.predicate == other.predicate or one.value.kind is not other.value.kind:
        return False
    return not (one.predicate in predicates.table and other.predicate in predicates.table)


def new_pair(new: Fact, other: Fact, cosine: float, at: Instant, predicates: Registry) -> SynonymPair:
    """Return the question about two names: the one that a table has stays, else the one that was there before."""
    rank = {f.id: (f.predicate in predicates.table, predicates.has(f.predicate), f is other) for f in (new, other)}
    stays, goes = sorted((new, other), key=lambda f: rank[f.id], reverse=True)
    return SynonymPair(goes.predicate, stays.predicate, SynonymAnswer.OPEN, cosine, new.id, other.id, at)
