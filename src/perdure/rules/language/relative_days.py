"""Days that are named from the day on which something was said, with their dates: "yesterday (2026-03-04)"."""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import Final

from perdure.records.patterns import lazy_pattern
from perdure.rules.language.dates import any_of
from perdure.rules.language.day_words import SHIFT_OF, names_day
from perdure.rules.language.verbs import IRREGULAR_PASTS
from perdure.rules.language.words import NUMBER_WORDS

_WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_COUNTS: Final = {**{w: int(n) for w, n in NUMBER_WORDS.items() if n.isdecimal()}, "a": 1, "an": 1}
_PARTS: Final = (
    r"morning|afternoon|evening|night|früh|morgen|vormittag|mittag|nachmittag|abend|nacht|matin|midi|après-midi|soir"
    r"|(?:por|en)\s+la\s+(?:mañana|tarde|noche)|mattina|pomeriggio|sera|notte|(?:de|à)\s+(?:manhã|tarde|noite)"
    r"|ochtend|middag|avond"
)
_N: Final = rf"\d{{1,3}}|{'|'.join(_COUNTS)}"
_RELATIVE: Final = lazy_pattern(
    rf"""\b(?<!the\ )(?:
        (?P<day>{any_of(SHIFT_OF)})(?:['\u2019]s\b|\s+(?:{_PARTS})\b)?
      | (?P<night>tonight|last\s+night) | this\s+(?P<now>morning|afternoon|evening)
      | (?P<count>{_N})\s+(?P<unit>day|week|month|year)s?\s+ago
      | (?<=\bin\ )(?P<ahead>{_N})\s+(?P<aheads>day|week|month|year)s?(?=[.,;!?]|$)
      | (?<=\bsince\ )(?P<past>{"|".join(_WEEKDAYS)})(?!\s+(?:morning|afternoon|evening|night|is|was|will|has|works)\b)
      | (?P<step>last|next|this)\s+(?P<span>week(?:end)?|month|year|{"|".join(_WEEKDAYS)})
    )\b(?:['\u2019]s\b)?""",
    re.IGNORECASE | re.VERBOSE,
)
_SIGNS: Final = (*SHIFT_OF, "night", "this", "last", "next", " ago", "week", "month", "year", "day")
"""Each name of a time has one of these: most texts have none, and are not searched."""
_MONTHS_OF_YEAR: Final = 12
_LATEST_DAY: Final = 28
_WORD: Final = lazy_pattern(r"[^\W_]+")
_SENTENCE_END: Final = lazy_pattern(r"[.;:!?]\s")
_COUNTED: Final = frozenset({*_COUNTS, "times"}) - {"a", "an", "one"}
_PASTS: Final = frozenset(past for past, verb in IRREGULAR_PASTS.items() if past != verb) | {
    "was",
    "were",
    "had",
    "did",
}
_SHORTEST_PAST: Final = 4
_LONGEST_SENTENCE: Final = 200  # characters before a time in which a verb is looked for


def resolve_days(text: str, said_on: date) -> str:
    """Return a text with the date behind each day, week, month and year that it names relative to when it was said.

    "Yesterday (2026-03-04)", "last month (February 2026)", "three weeks ago (about 2026-02-12)": the words stay, so
    that it reads right in every language. What is beyond the calendar stays as it is, and so does what is no plain
    prose about a day. Linear in the text's length.
    """
    if not any(map(text.lower().__contains__, _SIGNS)):
        return text

    def add_date(found: re.Match[str]) -> str:
        groups = {key: " ".join(value.lower().split()) for key, value in found.groupdict().items() if value is not None}
        start, end = found.span("day" if "day" in groups else 0)
        if "past" not in groups and not names_day(text, start, end):
            return found[0]
        if "ahead" in groups and _is_duration(text[max(0, start - _LONGEST_SENTENCE) : start]):
            return found[0]
        try:
            return f"{found[0]} ({_date_of(groups, said_on)})"
        except (ValueError, OverflowError):
            return found[0]

    return _RELATIVE.sub(add_date, text)


def _is_duration(before: str) -> bool:
    """Return whether "in two days" says how long something took or takes, by what stands before it in its sentence.

    That is so with a verb in the past ("fixed it"), or where something is counted ("40 tickets", "six times").
    """
    words = _WORD.findall(_SENTENCE_END.split(before.lower())[-1])
    return any(
        word in _COUNTED or word[0].isdigit() or word in _PASTS or (word.endswith("ed") and len(word) > _SHORTEST_PAST)
        for word in words
    )


def _date_of(groups: dict[str, str], said_on: date) -> str:
    """Return the date of a day, or the name of a longer time."""
    if "day" in groups:
        return (said_on + timedelta(days=SHIFT_OF[groups["day"]])).isoformat()
    if "night" in groups:
        return (said_on - timedelta(days=groups["night"] != "tonight")).isoformat()
    if "now" in groups:
        return said_on.isoformat()
    if "count" in groups:
        return _count_from(said_on, groups["count"], groups["unit"], -1)
    if "ahead" in groups:
        return _count_from(said_on, groups["ahead"], groups["aheads"], 1)
    if groups.get("past") == _WEEKDAYS[said_on.weekday()]:
        raise ValueError("it may be today or a week ago")
    if "past" in groups:  # what has lasted since a weekday began on the last one
        groups |= {"step": "last", "span": groups["past"]}
    return _step_from(said_on, {"last": -1, "next": 1, "this": 0}[groups["step"]], groups["span"])


def _count_from(said_on: date, count: str, unit: str, sign: int) -> str:
    number = sign * (int(count) if count.isdecimal() else _COUNTS[count])
    if unit == "day":
        return (said_on + timedelta(days=number)).isoformat()
    if unit == "week":
        return f"about {(said_on + timedelta(weeks=number)).isoformat()}"
    return _month(said_on, number) if unit == "month" else str(date(said_on.year + number, 1, 1).year)


def _step_from(said_on: date, step: int, span: str) -> str:
    if span in _WEEKDAYS:
        gap = (_WEEKDAYS.index(span) - said_on.weekday()) % 7
        days = {1: gap or 7, 0: gap, -1: gap - 7}[step]
        return (said_on + timedelta(days=days)).isoformat()
    monday = said_on - timedelta(days=said_on.weekday()) + timedelta(weeks=step)
    if span == "week":
        return f"the week of {monday.isoformat()}"
    if span == "weekend":
        return f"the weekend of {(monday + timedelta(days=5)).isoformat()}"
    return _month(said_on, step) if span == "month" else str(date(said_on.year + step, 1, 1).year)


def _month(said_on: date, shift: int) -> str:
    months = said_on.year * _MONTHS_OF_YEAR + said_on.month - 1 + shift
    day = date(months // _MONTHS_OF_YEAR, months % _MONTHS_OF_YEAR + 1, min(said_on.day, _LATEST_DAY))
    return f"{day:%B} {day.year}"
