"""Claims before their values are read, and how they are named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from perdure.knowledge.extraction.clauses import Clause
from perdure.knowledge.extraction.lemmas import singular
from perdure.knowledge.extraction.patterns import (
    span_of,
)
from perdure.knowledge.extraction.words import TextSpan, Word, Words
from perdure.knowledge.languages import WORDS
from perdure.knowledge.records.facts import Learned
from perdure.records.instant import Instant


@dataclass(frozen=True, slots=True)
class RawClaim:
    """A claim before its value is read.

    Attributes:
        subject: As said, ``I`` for the speaker.
        predicate: In normal form.
        value: Where the value stands.
        span: Where the whole stands.
        learned: Which tier it belongs to.
        old: Where the value stands that was true before.
        denied: The value does not hold.
        many: As the claim's, or None for what the table says.
        kind: Sort of predicate, or empty for what the table says.
        since: The day that the clause names.
    """

    subject: str
    predicate: str
    value: TextSpan
    span: TextSpan
    learned: Learned = Learned.STATEMENT
    old: TextSpan | None = None
    denied: bool = False
    many: bool | None = None
    kind: str = ""
    since: Instant | None = None


def name_of(words: Sequence[Word]) -> str:
    """Return words as the name of a predicate: ``_`` between singulars, without determiners."""
    kept = [singular(w.low) for w in words if w.low not in WORDS["determiners"] and w.low not in {"of", "'s"}]
    return "_".join("".join(c if c.isalnum() else "_" for c in word).strip("_") for word in kept if word)


def said(words: Sequence[Word]) -> str:
    """Return words as said, one blank between."""
    return " ".join(w.form for w in words).replace(" 's", "'s")


def claim_of(clause: Clause, who: str, predicate: str, value: Words, **more: Any) -> RawClaim:
    """Return what a clause says of somebody with this value; ``more`` are other fields of ``RawClaim``."""
    place = span_of(value)
    last = clause.end if clause.ended else place[1]
    learned = Learned.CORRECTION if clause.ended else more.pop("learned", Learned.STATEMENT)
    more.pop("learned", None)
    since = clause.day_beside(place, *([more["old"]] if more.get("old") else []))
    found = RawClaim(who, predicate, place, (clause.start, max(last, place[1])), learned, since=since)
    return replace(found, **{"denied": clause.denied, **more})
