"""The day until which a text says that it holds: "Code freeze until 20 November", "im Urlaub bis Freitag".

Only what is clear counts: one sentence that is limited by one day, or by the last of some days, which had not passed
when it was said, and that says nothing of what follows. English, German, French, Spanish, Italian, Portuguese, Dutch.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, date, timedelta, tzinfo
from functools import lru_cache
from typing import Final, NamedTuple

from perdure.records.instant import Instant, begin_of, day_at
from perdure.records.patterns import lazy_pattern
from perdure.rules.language.dates import MONTH_OF, WEEKDAY_OF, any_of
from perdure.rules.language.day_words import SHIFT_OF, names_day
from perdure.rules.language.replaced_values import changes
from perdure.rules.language.sentences import sentences

_LONGEST: Final = 400  # characters of a text that is one such sentence
_WEEK: Final = 7
_SHIFTS: Final = {**{word: shift for word, shift in SHIFT_OF.items() if shift > 0}, "today": 0, "tonight": 0}
"""Without "heute" and its like: "bis heute" and "hasta hoy" as often say of something that it lasts to this day."""
_UNTIL: Final = lazy_pattern(
    r"(?<!\w)(?:until|till|bis(?:\s+(?:zum|einschließlich))?|jusqu['’](?:au|à)|hasta(?:\s+el)?|até(?:\s+(?:o|ao))?"  # noqa: RUF001  # the typographic apostrophe
    r"|fino\s+(?:al|a)|tot(?:\s+en\s+met)?)\s+",
    re.IGNORECASE,
)
DAY: Final = lazy_pattern(
    rf"""(?:the\s+|le\s+|el\s+|il\s+)?(?:
        (?P<iso>\d{{4}}-\d\d-\d\d)(?![\w-])
      | (?P<d>\d{{1,2}})\.(?P<m>\d{{1,2}})\.(?P<y>\d{{4}})?(?!\d)
      | (?:(?:{any_of(WEEKDAY_OF)}),?\s+(?:the\s+|den\s+|le\s+|el\s+)?)?
        (?P<before>\d{{1,2}})(?:st|nd|rd|th|er|º|\.)?\s+(?:(?:of|de|di)\s+)?(?P<month>{any_of(MONTH_OF)})\b\.?
        (?:,?\s*(?:de\s+|del\s+)?(?P<year>\d{{4}}))?
      | (?P<name>{any_of(MONTH_OF)})\b\.?\s+(?P<after>\d{{1,2}})(?:st|nd|rd|th)?(?!\d)(?:,?\s+(?P<of>\d{{4}}))?
      | (?:(?P<next>next|nächsten|prochain|próximo|volgende)\s+)?(?P<weekday>{any_of(WEEKDAY_OF)})\b
      | (?P<shift>{any_of(_SHIFTS)})\b
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_FIRST: Final = (
    rf"(?:\d{{4}}-\d\d-\d\d|\d{{1,2}}\.\d{{1,2}}\.(?:\d{{4}})?|(?:{any_of(MONTH_OF)})\s+\d{{1,2}}(?:st|nd|rd|th)?"
    rf"|\d{{1,2}}(?:st|nd|rd|th|er|º|\.)?(?:\s+(?:(?:of|de|di)\s+)?(?:{any_of(MONTH_OF)}))?(?:,?\s+(?:de\s+)?\d{{4}})?)"
)
_SPAN: Final = lazy_pattern(
    r"(?<!\w)(?:from|between|vom|von|zwischen|du|de|entre|del|desde|dal|van|tussen)\s+(?:(?:the|dem|le|el|il|o)\s+)?"
    rf"{_FIRST}\s+(?:to|and|through|und|au|à|et|al|a|y|ao|e|en|-|\u2013)\s+"
    rf"|(?<![\w.,-])\d{{1,2}}\.?\s?[-\u2013]\s?(?=\d{{1,2}}\.?\s+(?:{any_of(MONTH_OF)})\b)",
    re.IGNORECASE,
)
"""What stands before the last of some days: "from 7 to 18 December", "du 7 au 18 décembre", "7-18 December"."""
_MOVED: Final = lazy_pattern(
    r"\bslip|\bdelay|verschoben|verlegt|déplacé|reporté|aplazad|pospuest|rinviat|spostat|adiad|verplaatst|verzet"
)
_MONTHS: Final = lazy_pattern(rf"\b(?:{any_of(MONTH_OF)})\b", re.IGNORECASE)
HALF_YEAR: Final = 183
_NOT_ENDING: Final = lazy_pattern(
    r"(?:\b(?:not|nicht|erst|pas|no|non|não|niet|never|nie|only)|n['’]t)\s+\Z",  # noqa: RUF001  # as above
    re.IGNORECASE,
)
AGAIN: Final = lazy_pattern(
    r"\b(?:every|each|always|daily|weekly|jede[nmrs]?|immer|täglich|wöchentlich|chaque|toujours|cada|siempre|sempre"
    r"|ogni|elke|altijd)\b",
    re.IGNORECASE,
)
_FOLLOWS: Final = lazy_pattern(
    r"\b(?:then|after|afterwards|thereafter|from|since|danach|dann|anschließend|ab|puis|ensuite|après|luego|después"
    r"|poi|dopo|depois|daarna|vanaf)\b|\?",
    re.IGNORECASE,
)
_ORDINAL: Final = lazy_pattern(r"(?<!\d)\d{1,2}\.\Z")
_WEEKDAYS: Final = lazy_pattern(rf"\b(?:{any_of(WEEKDAY_OF)})s?\b", re.IGNORECASE)


class _Limit(NamedTuple):
    """Where a text says until when it holds, in characters, and that day."""

    start: int
    end: int
    last: date


def last_day(text: str, said_on: date) -> date | None:
    """Return the last day on which a text says that it holds; None where it is not limited, or not clearly so.

    A day without a year is the first of that name on or after the day on which it was said; "Friday" said on a Friday
    is the next one.
    """
    limit = _limit(text, said_on)
    return None if limit is None else limit.last


def end_beside(value: str, text: str, said_at: Instant, zone: tzinfo | None = UTC) -> Instant | None:
    """Return the end of the last day of a value that stands beside it: "closed until 18 December"; None without one."""
    limit = _limit(text, day_at(said_at, zone))
    if limit is None or not value.strip():
        return None
    words, before = re.escape(value.strip()), text[: limit.start].rstrip(" ,(")
    is_before = re.search(rf"(?<!\w){words}\Z", before, re.IGNORECASE)
    is_behind = re.match(rf"\s{{1,3}}(?:\w{{1,20}}\s)?{words}(?!\w)", text[limit.end :], re.IGNORECASE)
    return begin_of(limit.last + timedelta(days=1), zone) - 1 if is_before or is_behind else None


@lru_cache(maxsize=4096)  # a file is written anew with most of its texts as they were
def _limit(text: str, said_on: date) -> _Limit | None:
    if len(text) > _LONGEST or not _is_one_sentence(text) or AGAIN.search(text):
        return None
    spans = [*_spans(text)]
    limits = [(limit, day) for limit in (*_UNTIL.finditer(text), *spans) if (day := DAY.match(text, limit.end()))]
    if len({day.start() for _, day in limits}) != 1:
        return None
    limit, day = limits[-1]  # of one day: the span
    is_span = limit in spans
    if _is_unclear(text[: limit.start()], day, text[day.end() :], is_span=is_span):
        return None
    try:
        last = day_of({k: v.lower() for k, v in day.groupdict().items() if v}, said_on)
    except (ValueError, OverflowError):  # no such day, or beyond the calendar
        return None
    is_near = not is_span or (last - said_on).days <= HALF_YEAR or re.search(r"\d{4}", day[0]) is not None
    is_ahead = last >= said_on and is_near  # a span of last week is none of next year
    return _Limit(min(each.start() for each, _ in limits), day.end(), last) if is_ahead else None


def _is_unclear(before: str, day: re.Match[str], after: str, *, is_span: bool) -> bool:
    """Return whether a day does not say until when a text holds: it is denied, recurs, or is one of several."""
    if _NOT_ENDING.search(before) or _FOLLOWS.search(after) or (day["weekday"] and _WEEKDAYS.search(before)):
        return True  # "open Monday till Friday"
    if day["shift"] and not names_day(day.string, *day.span("shift")):
        return True  # "bis zum Morgen"
    return is_span and bool(day["weekday"] or day["shift"] or _MONTHS.search(f"{before}|{after}"))


def _spans(text: str) -> Iterator[re.Match[str]]:
    """Yield what stands before the last of some days, unless the text says that a day was moved to another."""
    if not changes(text) and not _MOVED.search(text):
        yield from _SPAN.finditer(text)


def _is_one_sentence(text: str) -> bool:
    """Return whether no sentence ends within a text; "23. bis 27. November" is no end."""
    *before, _ = [text[start:end] for start, end in sentences(text)] or [""]
    return all(_ORDINAL.search(part) for part in before)


def day_of(groups: dict[str, str], said_on: date) -> date:
    """Return the day that the groups of ``DAY`` name, in small letters: the first of that name after it was said.

    Raises ValueError where there is no such day, OverflowError beyond the calendar.
    """
    if "iso" in groups:
        return date.fromisoformat(groups["iso"])
    if "shift" in groups:
        return said_on + timedelta(days=_SHIFTS[" ".join(groups["shift"].split())])
    if "weekday" in groups:
        gap = (WEEKDAY_OF[groups["weekday"]] - said_on.weekday()) % _WEEK or _WEEK
        return said_on + timedelta(days=gap + (_WEEK if "next" in groups else 0))
    name = groups.get("month") or groups.get("name")
    month = MONTH_OF[name] + 1 if name else int(groups["m"])
    day = int(groups.get("before") or groups.get("after") or groups["d"])
    year = groups.get("year") or groups.get("of") or groups.get("y")
    if year:
        return date(int(year), month, day)
    same = date(said_on.year, month, day)
    return same if same >= said_on else date(said_on.year + 1, month, day)
