"""Days that are named from the day on which something was said, written as dates: "yesterday" as "on 2026-03-04"."""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import Final

from perdure.records.patterns import lazy_pattern
from perdure.rules.language.words import NUMBER_WORDS

_WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_COUNTS: Final = {**{w: int(n) for w, n in NUMBER_WORDS.items() if n.isdecimal()}, "a": 1, "an": 1}
_SHIFTS: Final = {
    "today": 0,
    "yesterday": -1,
    "tomorrow": 1,
    "the day before yesterday": -2,
    "the day after tomorrow": 2,
    "heute": 0,
    "gestern": -1,
    "vorgestern": -2,
    "aujourd'hui": 0,
    "hier": -1,
    "hoy": 0,
    "ayer": -1,
}
_PARTS: Final = {"tonight": (0, "evening"), "last night": (-1, "evening")}
_N: Final = rf"\d{{1,3}}|{'|'.join(_COUNTS)}"
_RELATIVE: Final = lazy_pattern(
    rf"""\b(?:(?P<before>on|by|until|till|since|from|for|of|before|after|than|in)\s+)?(?<!the\ )(?:
        (?P<day>the\ day\ before\ yesterday|the\ day\ after\ tomorrow|{"|".join(k for k in _SHIFTS if " " not in k)})
          (?:\s+(?P<part>morning|afternoon|evening|night))?
      | (?P<night>tonight|last\s+night) | this\s+(?P<now>morning|afternoon|evening)
      | (?P<count>{_N})\s+(?P<unit>day|week|month|year)s?\s+ago
      | (?<=\bin\ )(?P<ahead>{_N})\s+(?P<aheads>day|week|month|year)s?(?=[.,;!?]|$)
      | (?<=\bsince\ )(?P<past>{"|".join(_WEEKDAYS)})(?!\s+(?:morning|afternoon|evening|night|is|was|will|has|works)\b)
      | (?P<step>last|next|this)\s+(?P<span>week(?:end)?|month|year|{"|".join(_WEEKDAYS)})
    )\b(?P<owns>['’]s)?""",  # noqa: RUF001  # the typographic apostrophe is meant
    re.IGNORECASE | re.VERBOSE,
)
_SIGNS: Final = (
    *("day", "hier", "hoy", "ayer", "heute", "gestern", "aujourd", "tomorrow", "night"),
    *("this", "last", "next", " ago", "week", "month", "year"),
)
"""Each name of a time has one of these: most texts have none, and are not searched."""
_ISO_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d")
_NAMED: Final = lazy_pattern(
    r"\s(?!(?i:on|at|in|to|is|was|are|were|for|by|from|until|till|and|or|but|too|my|your|his|her|our|their|its|a|an|the|this"
    r"|that|these|those|no|not|never|always|also|still|just|only|really|very|quite|pretty|so|as|all|almost|probably|maybe"
    r"|going|gonna|when|where|what|who|how|why|because|if|off|over|done|fine|good|bad|great|nice|better|worse|hard|easy|busy"
    r"|free|hot|cold|warm)\b)(?![A-Z][a-z])\w"
)
"""A noun follows: "yesterday's call"; in "yesterday's is off" and "tomorrow's my birthday" none does."""
_DETERMINED: Final = lazy_pattern(r"\b(?:an?|my|your|his|her|our|their|its|this|that|each|every)\s\Z", re.IGNORECASE)
"""What stands before a noun instead of "the"."""
_LONGEST_DETERMINER: Final = 7
_MONTHS_OF_YEAR: Final = 12
_LATEST_DAY: Final = 28


def resolve_days(text: str, said_on: date) -> str:
    """Return a text with dates where it names days, weeks, months and years relative to when it was said.

    "Yesterday" becomes a date, "last month" the month and its year, "three weeks ago" a date with "about". What is
    beyond the calendar stays as it is. Linear in the text's length.
    """
    if text.isascii() and not any(map(text.lower().__contains__, _SIGNS)):
        return text

    def add_date(found: re.Match[str]) -> str:
        try:
            preposition, day = _resolve({k: v for k, v in found.groupdict().items() if v is not None}, said_on)
        except (ValueError, OverflowError):
            return found[0]
        before = found["before"]
        if found["owns"]:
            own = found[0][len(before or "") :].strip()
            words = _dated_words(own, day, found["owns"], is_named=_NAMED.match(text, found.end()) is not None)
            if _DETERMINED.search(text[max(0, found.start() - _LONGEST_DETERMINER) : found.start()]):
                words = words.removeprefix("the ")
            words = f"{before} {words}" if before else words
        else:
            words = f"{before if before and before.lower() not in ('on', 'in') else preposition} {day}"
        return words[0].upper() + words[1:] if found[0][0].isupper() else words

    return _RELATIVE.sub(add_date, text)


def _dated_words(words: str, day: str, owns: str, *, is_named: bool) -> str:
    """Return whose it is: "the 2026-03-04" before a noun, "March 2026's"; else the date behind the words."""
    if is_named and _ISO_DAY.fullmatch(day):
        return f"the {day}"
    return f"{words} ({day})" if "-" in day else f"{day}{owns}"


def _resolve(groups: dict[str, str], said_on: date) -> tuple[str, str]:
    """Return the preposition of a day or a longer time, and its name."""
    lower = {key: " ".join(value.lower().split()) for key, value in groups.items()}
    if "day" in lower:
        return _of_day(said_on + timedelta(days=_SHIFTS[lower["day"]]), lower.get("part"))
    if "night" in lower:
        shift, part = _PARTS[lower["night"]]
        return _of_day(said_on + timedelta(days=shift), part)
    if "now" in lower:
        return _of_day(said_on, lower["now"])
    if "count" in lower:
        return _count_from(said_on, lower["count"], lower["unit"], -1)
    if "ahead" in lower:
        return _count_from(said_on, lower["ahead"], lower["aheads"], 1)
    if lower.get("past") == _WEEKDAYS[said_on.weekday()]:
        raise ValueError("it may be today or a week ago")
    if "past" in lower:  # what has lasted since a weekday began on the last one
        lower |= {"step": "last", "span": lower["past"]}
    return _step_from(said_on, {"last": -1, "next": 1, "this": 0}[lower["step"]], lower["span"])


def _of_day(day: date, part: str | None) -> tuple[str, str]:
    return "on", f"the {part} of {day.isoformat()}" if part else day.isoformat()


def _count_from(said_on: date, count: str, unit: str, sign: int) -> tuple[str, str]:
    number = sign * (int(count) if count.isdecimal() else _COUNTS[count])
    if unit == "day":
        return "on", (said_on + timedelta(days=number)).isoformat()
    if unit == "week":
        return "about", (said_on + timedelta(weeks=number)).isoformat()
    return ("in", _month(said_on, number)) if unit == "month" else ("in", str(date(said_on.year + number, 1, 1).year))


def _step_from(said_on: date, step: int, span: str) -> tuple[str, str]:
    if span in _WEEKDAYS:
        gap = (_WEEKDAYS.index(span) - said_on.weekday()) % 7
        days = {1: gap or 7, 0: gap, -1: gap - 7}[step]
        return "on", (said_on + timedelta(days=days)).isoformat()
    monday = said_on - timedelta(days=said_on.weekday()) + timedelta(weeks=step)
    if span == "week":
        return "in", f"the week of {monday.isoformat()}"
    if span == "weekend":
        return "on", f"the weekend of {(monday + timedelta(days=5)).isoformat()}"
    return ("in", _month(said_on, step)) if span == "month" else ("in", str(date(said_on.year + step, 1, 1).year))


def _month(said_on: date, shift: int) -> str:
    months = said_on.year * _MONTHS_OF_YEAR + said_on.month - 1 + shift
    day = date(months // _MONTHS_OF_YEAR, months % _MONTHS_OF_YEAR + 1, min(said_on.day, _LATEST_DAY))
    return f"{day:%B} {day.year}"
