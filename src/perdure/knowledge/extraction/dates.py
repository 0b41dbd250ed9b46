"""Days as people say them, against the time at which they were said."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Final

from perdure.records.instant import Instant, from_instant, to_instant
from perdure.rules.language.day_words import names_day
from perdure.rules.language.words import NUMBER_WORDS

MONTHS: Final = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_DAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTH_OF: Final = {
    **{name: n for n, name in enumerate(MONTHS, 1)},
    **{name[:3]: n for n, name in enumerate(MONTHS, 1)},
    "sept": 9,
}
_DAY_OF: Final = {
    **{name: n for n, name in enumerate(_DAYS)},
    **{name[:3]: n for n, name in enumerate(_DAYS)},
    "tues": 1,
    "thur": 3,
    "thurs": 3,
}
_COUNT: Final = {word: int(n) for word, n in NUMBER_WORDS.items() if n.isdecimal() and 0 < int(n) <= 12}  # noqa: PLR2004

_COUNT_OF: Final = {**_COUNT, "a": 1, "an": 1, "couple": 2, "few": 3}
"""A few is three: what follows is about so many days, and says so nowhere."""

_M: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?)"
)
_W: Final = (
    r"(?:mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:r(?:s(?:day)?)?)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?)"
)
_N: Final = rf"(?:\d{{1,3}}|an?(?:\s+(?:couple(?:\s+of)?|few))?|{'|'.join(_COUNT)})"
_DATE: Final = re.compile(
    rf"""(?<![\w/.$€£-])(?:(?:on|since|from|as\ of|starting|beginning|by|until|in)\s+)?(?:
        (?P<iso>\d{{4}}-\d{{2}}-\d{{2}})(?:T[\d:.+Z-]{{1,30}})?
      | (?:the\s+)?(?P<dm>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<dmm>{_M})\b(?:\.?,?\s+(?P<dmy>\d{{4}}))?
      | (?P<mdm>{_M})\b\.?\s+(?:the\s+)?(?P<md>\d{{1,2}})(?:st|nd|rd|th)?(?:,?\s+(?P<mdy>\d{{4}}))?(?![\d%$:,]*\d)
      | (?P<mym>{_M})\.?,?\s+(?P<myy>\d{{4}})
      | (?P<slash>\d{{1,2}}/\d{{1,2}}/\d{{4}})
      | (?P<word>the\s+day\s+before\s+yesterday|yesterday|today|tonight|tomorrow)
      | (?P<ago>{_N})\s+(?P<agou>day|week|month|year)s?\s+ago
      | in\s+(?P<ahead>{_N})\s+(?P<aheadu>day|week|month|year)s?
      | (?P<rel>last|next|this(?:\s+past)?|previous)\s+(?P<relu>week(?:end)?|month|year|{_W}|{_M})
      | (?<=in\ )(?P<y>(?:19|20)\d\d) | (?<=since\ )(?P<ys>(?:19|20)\d\d)
      | (?<=in\ )(?P<m>{_M}) | (?<=since\ )(?P<ms>{_M})
    )(?![\w/]|[.,-]\d)""",
    re.IGNORECASE | re.VERBOSE,
)
_HALF_YEAR: Final = 183


def dates_in(text: str, said_at: Instant) -> Iterator[tuple[int, int, Instant]]:
    """Return where a text names days, with a preposition before them, and when they begin; in its order.

    "Last month" is the first day of the month before, "last week" its Monday, "next Tuesday" the first one after. A day
    without a year is the nearest one. 10/05/2024 could be two days and is none. Linear in the text's length.
    """
    for found in _DATE.finditer(text):
        is_meant = not found["word"] or names_day(text, *found.span("word"))  # "USA Today" is none
        if is_meant and (at := _instant(found, said_at)) is not None:
            yield found.start(), found.end(), at


def date_of(text: str, said_at: Instant) -> Instant | None:
    """Return the day that a text is, if it is nothing but a day."""
    found = _DATE.fullmatch(text)
    return None if found is None else _instant(found, said_at)


def _instant(found: re.Match[str], said_at: Instant) -> Instant | None:
    said_on = from_instant(said_at).date()
    groups = {name: value.lower() for name, value in found.groupdict().items() if value is not None}
    try:
        day = next(read(groups, said_on) for name, read in _READERS.items() if name in groups)
        return None if day is None else to_instant(datetime(day.year, day.month, day.day, tzinfo=UTC))
    except (ValueError, OverflowError):  # no such day, or beyond the calendar
        return None


def _nearest_date(said_on: date, month: int, day: int) -> date:
    """Return the day of that name which is nearest; the 29th of February exists every four years."""
    same_year = date(said_on.year, month, day)
    if (same_year - said_on).days > _HALF_YEAR:
        return date(said_on.year - 1, month, day)
    return date(said_on.year + 1, month, day) if (said_on - same_year).days > _HALF_YEAR else same_year


def _calendar_date(groups: dict[str, str], said_on: date) -> date:
    name, number, year = ("dmm", "dm", "dmy") if "dm" in groups else ("mdm", "md", "mdy")
    month, day, own = _MONTH_OF[_key(groups[name])], int(groups[number]), groups.get(year)
    return date(int(own), month, day) if own else _nearest_date(said_on, month, day)


def _key(name: str) -> str:
    return name if name in _MONTH_OF else name[:3]


def _slash_date(groups: dict[str, str], _said_on: date) -> date | None:
    first, second, year = (int(part) for part in groups["slash"].split("/"))
    if first > len(MONTHS):
        return date(year, second, first)
    return date(year, first, second) if second > len(MONTHS) or first == second else None


def _word_date(groups: dict[str, str], said_on: date) -> date:
    word = " ".join(groups["word"].split())
    return said_on + timedelta(days={"yesterday": -1, "tomorrow": 1, "the day before yesterday": -2}.get(word, 0))


def _shift(said_on: date, count: str, unit: str, sign: int) -> date:
    words = [w for w in count.split() if w != "of"]
    number = sign * (int(words[-1]) if words[-1].isdecimal() else _COUNT_OF[words[-1]])
    if unit == "day":
        return said_on + timedelta(days=number)
    if unit == "week":
        return said_on + timedelta(weeks=number)
    months = said_on.year * 12 + said_on.month - 1 + (number if unit == "month" else 12 * number)
    return date(months // 12, months % 12 + 1, 1 if unit == "month" else min(said_on.day, 28))


def _relative_date(groups: dict[str, str], said_on: date) -> date:
    step = {"last": -1, "previous": -1, "next": 1}.get(groups["rel"], -1 if "past" in groups["rel"] else 0)
    unit = groups["relu"]
    if unit in _DAY_OF:
        return _weekday(said_on, _DAY_OF[unit], step)
    if unit.startswith("week"):
        monday = said_on - timedelta(days=said_on.weekday()) + timedelta(weeks=step)
        return monday + timedelta(days=5) if unit == "weekend" else monday
    if unit == "month":
        return _shift(said_on.replace(day=1), "1", "month", step) if step else said_on.replace(day=1)
    if unit == "year":
        return date(said_on.year + step, 1, 1)
    month = _MONTH_OF[_key(unit)]
    year = said_on.year + (step if step * (month - said_on.month) <= 0 else 0)
    return date(year, month, 1)


def _weekday(said_on: date, weekday: int, step: int) -> date:
    gap = (weekday - said_on.weekday()) % 7
    if step > 0:
        return said_on + timedelta(days=gap or 7)
    return said_on + timedelta(days=gap - 7) if step < 0 else said_on + timedelta(days=gap)


def _month(name: str, said_on: date) -> date:
    """Return the first day of the latest month of that name that has begun."""
    month = _MONTH_OF[_key(name)]
    return date(said_on.year - (month > said_on.month), month, 1)


_READERS: Final[dict[str, Callable[[dict[str, str], date], date | None]]] = {
    "iso": lambda groups, _: date.fromisoformat(groups["iso"]),
    "dm": _calendar_date,
    "md": _calendar_date,
    "mym": lambda groups, _: date(int(groups["myy"]), _MONTH_OF[_key(groups["mym"])], 1),
    "slash": _slash_date,
    "word": _word_date,
    "ago": lambda groups, said_on: _shift(said_on, groups["ago"], groups["agou"], -1),
    "ahead": lambda groups, said_on: _shift(said_on, groups["ahead"], groups["aheadu"], 1),
    "rel": _relative_date,
    "y": lambda groups, _: date(int(groups["y"]), 1, 1),
    "ys": lambda groups, _: date(int(groups["ys"]), 1, 1),
    "m": lambda groups, said_on: _month(groups["m"], said_on),
    "ms": lambda groups, said_on: _month(groups["ms"], said_on),
}
