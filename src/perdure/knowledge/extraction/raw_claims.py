"""Claims before their values are read, and the phrases that they are made of: values, days, what changed to what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from perdure.knowledge.extraction.clauses import Clause
from perdure.knowledge.extraction.patterns import CLOCK, is_identifier, measure_end, name_end, span_of
from perdure.knowledge.extraction.words import TextSpan, Word, Words, is_name, singular, skip_determiners
from perdure.knowledge.languages import WORDS
from perdure.knowledge.records.facts import FactOrigin
from perdure.records.instant import Instant

_DAYLIKE: Final = WORDS["weekdays"] | WORDS["dayparts"]

_BETWEEN_DAYS: Final = frozenset({"on", "in", "and", "the", "every", "for"})

MOST: Final = 4


@dataclass(frozen=True, slots=True)
class RawClaim:
    """A claim before its value is read."""

    subject: str  # as said, ``I`` for the speaker
    predicate: str  # in normal form
    value: TextSpan  # where the value stands
    span: TextSpan  # where the whole stands
    learned: FactOrigin = FactOrigin.STATEMENT  # which tier it belongs to
    old: TextSpan | None = None  # where the value stands that was true before
    denied: bool = False  # the value does not hold
    many: bool | None = None  # as the claim's, or None for what the table says
    kind: str = ""  # sort of predicate, or empty for what the table says
    since: Instant | None = None  # the day that the clause names


def name_of(words: Sequence[Word]) -> str:
    """Return words as the name of a predicate: ``_`` between singulars, without determiners."""
    kept = [singular(w.low) for w in words if w.low not in WORDS["determiners"] and w.low not in {"of", "'s"}]
    return "_".join("".join(c if c.isalnum() else "_" for c in word).strip("_") for word in kept if word)


def join_words(words: Sequence[Word]) -> str:
    """Return words as said, one blank between."""
    return " ".join(w.form for w in words).replace(" 's", "'s")


def claim_of(clause: Clause, who: str, predicate: str, value: Words, **more: Any) -> RawClaim:
    """Return what a clause says of somebody with this value; ``more`` are other fields of ``RawClaim``."""
    place = span_of(value)
    last = clause.end if clause.ended else place[1]
    learned = FactOrigin.CORRECTION if clause.ended else more.pop("learned", FactOrigin.STATEMENT)
    more.pop("learned", None)
    since = clause.day_beside(place, *([more["old"]] if more.get("old") else []))
    found = RawClaim(who, predicate, place, (clause.start, max(last, place[1])), learned, since=since)
    return replace(found, **{"denied": clause.denied, **more})


def from_to(clause: Clause) -> tuple[Words, Words, Words] | None:
    """Return what stands before "from" and "to", the new value, and the old one."""
    lows = [w.low for w in clause.rest]
    if lows.count("to") != 1 or lows.count("from") > 1:
        return None
    to, since = lows.index("to"), lows.index("from") if "from" in lows else -1
    head = clause.rest[: to if since < 0 else min(to, since)]
    new = clause.rest[to + 1 : since] if since > to else clause.rest[to + 1 :]
    old = clause.rest[since + 1 : to] if 0 <= since < to else clause.rest[since + 1 :] if since > to else ()
    new, old = value_words(clause, new), value_words(clause, old)
    if not new or (since >= 0 and not old) or {"up", "down", "back", "over"} >= {w.low for w in head}:
        return ((), new, old) if new and (since < 0 or old) and len(head) <= 1 else None
    return head, new, old


def value_words(clause: Clause, words: Words) -> Words:
    """Return the words of a value that stands by itself, a day beside it left out; none if it is more than that."""
    words = words[skip_determiners(words) :]
    while len(words) > 1 and words[0].low in WORDS["about"]:
        words = words[1:]
    if words and clause.date_at(words[0]) is None:
        ends = (i for i, w in enumerate(words) if clause.date_at(w) or w.low in WORDS["beside"])
        words = words[: next(ends, len(words))]
    bad = WORDS["no_value"] | WORDS["no_phrase"] | {","}
    return () if len(words) > MOST + 1 or bad.intersection(w.low for w in words) else words


def value_kind(clause: Clause, words: Words) -> str:  # noqa: PLR0911  # one for each form
    """Return what kind of value some words are: date, day, time, number, code, name or phrase."""
    phrase = replace(clause, rest=words)
    if clause.date_at(words[0]) is not None:
        return "date"
    if all(singular(w.low) in _DAYLIKE | {"and", ",", "on"} for w in words):
        return "day"
    if CLOCK.fullmatch(words[0].low) or words[-1].low in {"am", "pm", "o'clock"}:
        return "time"
    if len(words) == 1 and is_identifier(words[0]):
        return "code"
    if measure_end(phrase, 0) == len(words) or words[0].form[0].isdecimal():
        return "number"
    name_words = sum(is_name(w) or is_identifier(w) for w in words)
    if name_end(phrase, 0) == len(words) or (name_words and (is_name(words[-1]) or words[-1].form[0].isdecimal())):
        return "name"
    return "phrase"


def named_day(words: Words) -> tuple[Words, str] | None:
    """Return the weekday or part of the day in a phrase, and what it is the day of: "Friday deliveries".

    The second is a predicate: ``delivery_day``, ``meeting_time``; None where nothing is named.
    """
    days = [i for i, w in enumerate(words) if singular(w.low) in _DAYLIKE]
    others = [w for i, w in enumerate(words) if i not in days and w.low not in _BETWEEN_DAYS]
    odd = any(not w.low.isalpha() or w.low in WORDS["prepositions"] | WORDS["no_phrase"] for w in others)
    if not days or not 1 <= len(others) <= 2 or odd:  # noqa: PLR2004
        return None
    inner = words[days[0] : days[-1] + 1]
    if any(singular(w.low) not in _DAYLIKE | {"and", ","} for w in inner):
        return None
    kind = "day" if singular(inner[0].low) in WORDS["weekdays"] else "time"
    return inner, f"{name_of(others)}_{kind}"
