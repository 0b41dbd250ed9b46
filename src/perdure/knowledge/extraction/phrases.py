"""Phrases of a clause: the words of a value, what kind of value they are, the days in them."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from perdure.knowledge.extraction.clauses import Clause
from perdure.knowledge.extraction.lemmas import singular
from perdure.knowledge.extraction.patterns import (
    CLOCK,
    is_identifier,
    measure_end,
    name_end,
)
from perdure.knowledge.extraction.raw_claims import name_of
from perdure.knowledge.extraction.words import Words, is_name, skip_determiners
from perdure.knowledge.languages import WORDS

_DAYLIKE: Final = WORDS["weekdays"] | WORDS["dayparts"]

_BETWEEN_DAYS: Final = frozenset({"on", "in", "and", "the", "every", "for"})

MOST: Final = 4


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
    whole = replace(clause, rest=words)
    if clause.date_at(words[0]) is not None:
        return "date"
    if all(singular(w.low) in _DAYLIKE | {"and", ",", "on"} for w in words):
        return "day"
    if CLOCK.fullmatch(words[0].low) or words[-1].low in {"am", "pm", "o'clock"}:
        return "time"
    if len(words) == 1 and is_identifier(words[0]):
        return "code"
    if measure_end(whole, 0) == len(words) or words[0].form[0].isdecimal():
        return "number"
    named = sum(is_name(w) or is_identifier(w) for w in words)
    if name_end(whole, 0) == len(words) or (named and (is_name(words[-1]) or words[-1].form[0].isdecimal())):
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
