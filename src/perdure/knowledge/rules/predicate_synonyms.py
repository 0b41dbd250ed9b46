"""Predicates that may be the same: near in meaning, and so a question to a person, never a decision (decision 21)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

import numpy as np

from perdure.knowledge.extraction.predicates import Predicates
from perdure.knowledge.records.facts import Fact
from perdure.knowledge.records.learning_results import Alike
from perdure.records.document import Document, Shelf
from perdure.records.instant import Instant
from perdure.records.vector import Vector

SAME: Final = "same:"
"""Names of documents about two names begin so; the name that would stay follows, the id is the one that would go."""
_ROUNDING: Final = 1e-6


class SynonymAnswer(StrEnum):
    """What a person said of two names."""

    OPEN = "open"
    SAME = "same"
    DIFFERENT = "different"


@dataclass(frozen=True, slots=True)
class SynonymPair:
    """Two names of predicates, and what was said of them.

    Attributes:
        goes: The name that is replaced where they are the same.
        stays: The other.
        said: What a person said.
        cosine: How alike they are.
        fact: The fact that brought the question up: it is asked about.
        other: The fact of the other name.
        at: Since when it is asked.
    """

    goes: str
    stays: str
    said: SynonymAnswer
    cosine: float
    fact: str
    other: str
    at: Instant

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


def nearest(own: Vector, others: Mapping[str, Vector], least: float) -> tuple[str, float] | None:
    """Return the name nearest in meaning and its cosine, if that is at least so much; of equals the first by name."""
    vector = np.frombuffer(own, "<f4")
    found = [(float(vector @ np.frombuffer(v, "<f4")), name) for name, v in sorted(others.items())]
    best = max(found, key=lambda pair: pair[0], default=(-1.0, ""))
    return (best[1], best[0]) if best[0] >= least - _ROUNDING else None


def comparable(one: Fact, other: Fact, predicates: Predicates) -> bool:
    """Whether two facts of one entity may be about the same: other names, values of one sort, not told apart already.

    Two names that the table has (a person's own or the shipped one) are two.
    """
    if one.predicate == other.predicate or one.value.kind is not other.value.kind:
        return False
    return not (one.predicate in predicates.table and other.predicate in predicates.table)


def new_pair(new: Fact, other: Fact, cosine: float, at: Instant, predicates: Predicates) -> SynonymPair:
    """Return the question about two names: the one that a table has stays, else the one that was there before."""
    rank = {f.id: (f.predicate in predicates.table, predicates.has(f.predicate), f is other) for f in (new, other)}
    stays, goes = sorted((new, other), key=lambda f: rank[f.id], reverse=True)
    return SynonymPair(goes.predicate, stays.predicate, SynonymAnswer.OPEN, cosine, new.id, other.id, at)


def readable_name(predicate: str) -> str:
    """Return a predicate as it is read, and as its vector is made."""
    return predicate.replace("_", " ")
