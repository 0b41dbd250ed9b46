"""Whether the words after "is" are a value: a name, an identifier, a day, a time; or only how something does."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from perdure.knowledge.extraction.clauses import TextSpan, Word
from perdure.knowledge.extraction.parsed_clause import Parsed
from perdure.knowledge.extraction.phrases import WEEKDAYS, Phrase, is_identifier, is_name
from perdure.knowledge.extraction.vocabulary import EMPTY_HEADS, JOBS, NOT_EVENTS, ROLES, THINGS
from perdure.rules.language.words import word_set

_CLOCK: Final = re.compile(r"\d{1,2}:\d\d(?:am|pm)?|\d{1,2}(?:am|pm)")
_NAMES: Final = 4
"""Words that a person's name may have."""
_WORDS: Final = 4
"""Words that a value may have which is no number."""
_SHOUTED: Final = word_set("no yes ok okay so right wrong true false amazing great none nan null")
_STATES: Final = word_set("""
    down up out off on over slow fast good bad great nice fine ok okay ready done gone late early full empty open shut
    close free busy big small new old broken dead live hot cold short long high low easy hard clear clean dirty safe
    different same similar better best worse worst correct right wrong true false important necessary available weird
    huge tiny cheap expensive awesome amazing perfect terrible horrible awful lovely cool sick stable unstable flaky
    still back here there missing behind ahead due wonderful special unique very too so really pretty quite super such
    like all not no yes just kind sort part stuck lost wet dry red hurt asleep alive alone away
    """)
"""What something may be without that being its value."""


_TRAILING: Final = word_set("now currently today instead too again anyway already")


def is_last(parsed: Parsed, place: TextSpan) -> bool:
    """Return whether a clause ends with a value, or only says that it is so now."""
    return all(w.low in _TRAILING for w in parsed.words if w.start >= place[1])


def timed_name(parsed: Parsed, name: str, place: TextSpan) -> str | None:
    """Return what an attribute is called whose value is a day or a time of day: ``flight_date``; None for others."""
    words = parsed.words_at(place)
    suffix = ""
    if any(s <= place[0] < e for s, e, _ in parsed.clause.at):
        suffix = "date"
    elif len(words) == 1 and words[0].low in WEEKDAYS and is_last(parsed, place):
        suffix = "day"
    elif words[-1].low in {"am", "pm", "o'clock"} or _CLOCK.fullmatch(words[0].low):
        suffix = "time"
    return None if not suffix else name if name.endswith(suffix) else f"{name}_{suffix}"


def is_person(parsed: Parsed, place: TextSpan) -> bool:
    """Return whether a value is written like somebody's name, and the clause ends with it."""
    words = parsed.words_at(place)
    return len(words) <= _NAMES and all(is_name(w) for w in words) and is_last(parsed, place)


def is_value(parsed: Parsed, phrase: Phrase, head: str, place: TextSpan, *, known: bool) -> bool:
    """Return whether a value without a number reads as one: a name, an identifier, a word for a known setting.

    "The database is down" and "my editor is slow" say how something does, not what it is.

    Args:
        parsed: The clause.
        phrase: Its subject.
        head: The last word of the attribute's name.
        place: Where the value stands.
        known: The attribute is a setting, which plain words may be the value of.
    """
    words = parsed.words_at(place)
    before = parsed.words[parsed.at : parsed.words.index(words[0])]
    past = set(parsed.aux) & {"was", "were", "been"}
    placed = any(w.low in {"in", "on", "at", "by", "to"} for w in before)
    if not is_last(parsed, place) or past or placed or len(words) > _WORDS or head in EMPTY_HEADS:
        return False
    if head in THINGS:
        return any(is_name(w) for w in words)
    if len(words) == 1 and is_identifier(words[0]):
        return True
    low = words[0].low
    named = is_name(words[0]) and low not in _SHOUTED and not low.endswith(("ing", "ed", "ly")) and not before
    if known:
        return named or not (before or is_state(words))
    return named and (not is_unowned(phrase) or head in ROLES | JOBS)


def is_unowned(phrase: Phrase) -> bool:
    """Return whether nothing tells whose a thing is: "the port"; not "the customer's port", "the status of SO-1001"."""
    words = phrase.words
    owned = any(w.low.endswith("'s") for w in words[1:-1])
    named = any(w.low == "of" and (is_name(n) or is_identifier(n)) for w, n in pairwise(words))
    return words[0].low == "the" and not (owned or named)


def is_description(words: Sequence[Word]) -> bool:
    """Return whether words only tell how something is: "my hobby is great"; climbing is a hobby."""
    return words[0].said == words[0].low and words[0].low in _STATES


def is_state(words: Sequence[Word]) -> bool:
    """Return whether words tell a state rather than a value: "slow", "running out", "not found"."""
    low = words[0].low
    ending = low.endswith(("ing", "ed", "ly", "ful", "ous", "able", "ible"))
    return words[0].said == low and (low in _STATES or ending or low in NOT_EVENTS)
