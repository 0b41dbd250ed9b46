"""A clause with its subject and verb told apart, and the claims that are made of it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any, Final

from perdure.knowledge.extraction.clauses import Clause, TextSpan, Word
from perdure.knowledge.extraction.kinds import kind_of
from perdure.knowledge.extraction.phrases import Phrase, phrase_at
from perdure.knowledge.records.facts import Learned
from perdure.knowledge.records.predicates import Predicates
from perdure.records.instant import Instant

LAPSED: Final = re.compile(
    r"\b(?:since|lately|recently|(?:in|for)\s+(?:\w+\s+){0,3}?(?:days?|weeks?|months?|years?|decades?|ages|while|time))\b"
)
"""Since when something was not done: who "hasn't smoked since May" did until then."""


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
    learned: Learned
    old: TextSpan | None = None
    denied: bool = False
    many: bool | None = None
    kind: str = ""
    since: Instant | None = None


@dataclass(frozen=True, slots=True)
class Parsed:
    """A clause with its subject and verb told apart.

    Attributes:
        clause: The clause.
        predicates: Names and sorts.
        who: Its subject as said.
        phrase: The subject as a noun phrase, if it is no person.
        at: Index of the verb, or of what follows "is".
        aux: The verbs before it that help it.
        denied: It has "not" or "never".
        never: It has "never".
    """

    clause: Clause
    predicates: Predicates
    who: str
    phrase: Phrase | None
    at: int
    aux: tuple[str, ...]
    denied: bool = False
    never: bool = False

    @property
    def words(self) -> tuple[Word, ...]:
        """The clause's words."""
        return self.clause.words

    @property
    def low(self) -> str:
        """The verb, in lower case."""
        return self.words[self.at].low

    def low_at(self, at: int) -> str:
        """Return a word in lower case; empty where there is none."""
        return self.clause.low(at)

    def phrase_at(self, at: int, *, short: bool = False) -> Phrase | None:
        """Return the noun phrase that begins at a word; see ``phrases.phrase_at``."""
        return phrase_at(self.clause, at, short=short)

    def words_at(self, place: TextSpan) -> tuple[Word, ...]:
        """Return the words that stand at a place."""
        return tuple(w for w in self.words if place[0] <= w.start < place[1])

    def after(self, phrase: Phrase) -> int:
        """Return the index of the word behind a phrase of the clause."""
        return self.words.index(phrase.words[-1]) + 1

    def sort_of(self, predicate: str) -> str:
        """Return the sort of a predicate in normal form."""
        return kind_of(self.predicates, predicate)

    @property
    def ended(self) -> bool:
        """Whether it says that something holds no more: "no longer", "not ... anymore", "haven't ... since May"."""
        lows = [word.low for word in self.words]
        over = "anymore" in lows or "longer" in lows or lows[-2:] == ["any", "more"]
        lapsed = bool({"have", "has"} & set(self.aux)) and not self.never
        return self.denied and (over or (lapsed and LAPSED.search(" ".join(lows)) is not None))


def claim_at(parsed: Parsed, name: str, place: TextSpan, **more: Any) -> RawClaim:
    """Return what a clause says with this name and value; ``more`` are other fields of ``RawClaim``."""
    since = parsed.clause.day_beside(place)
    span = min(parsed.clause.start, place[0]), place[1]
    said = RawClaim(parsed.who, name, place, span, Learned.STATEMENT, denied=parsed.denied, since=since)
    return replace(said, **more)


def claim_of(
    parsed: Parsed, predicate: str, phrase: Phrase, learned: Learned = Learned.STATEMENT, **more: Any
) -> RawClaim:
    """Return what a clause says with a noun phrase as its value; ``more`` are other fields of ``RawClaim``.

    What ended is told by its whole clause: "I don't like tea any more" says when it ceased to be so.
    """
    last = parsed.words[-1].end if parsed.ended else parsed.words[parsed.at].end
    span = parsed.clause.start, max(phrase.end, last)
    tier = Learned.CORRECTION if parsed.ended else learned
    since = parsed.clause.day_beside(phrase.place)
    said = RawClaim(parsed.who, predicate, phrase.place, span, tier, since=since, denied=parsed.denied)
    return replace(said, **more)
