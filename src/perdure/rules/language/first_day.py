"""The day from which a text says that something is so: "From 1 October we use push", "ab dem 1. Oktober".

Only what is clear counts: a word that begins a time, and behind it a day, or the next week, month or year. English,
German, French, Spanish, Italian, Portuguese, Dutch.
"""

from __future__ import annotations

import re
from datetime import date, timedelta
from functools import lru_cache
from typing import Final

from perdure.records.instant import from_instant
from perdure.records.memory import State
from perdure.records.patterns import lazy_pattern
from perdure.rules.language.dates import MONTH_OF, any_of
from perdure.rules.language.last_day import DAY, day_of
from perdure.rules.language.replaced_values import changes
from perdure.rules.last_said import said_at

_HEAD: Final = 400  # characters that are read: longer texts say more than one thing
_DECEMBER: Final = 12
_FROM: Final = lazy_pattern(
    r"(?<!\w)(?:(?:effective\s+|starting\s+|beginning\s+)?(?:from|as\s+of)|(?:starting|beginning|effective)(?:\s+(?:on|in|with))?"
    r"|ab(?:\s+(?:dem|der))?|à\s+partir\s+(?:du|de(?:\s+la)?)|dès(?:\s+(?:le|la))?|a\s+partir\s+(?:del?(?:\s+la)?|d[oa])"
    r"|desde(?:\s+(?:el|la|o|a))?|dal(?:la)?|vanaf)\s+",
    re.IGNORECASE,
)
_OPENS: Final = lazy_pattern(
    r"(?:\A|[.;:!?]\s+)(?:(?P<shift>tomorrow|morgen|mañana|demain|domani|amanhã)\b(?!\s+(?:is|ist|est|es)\b)"
    r"|(?:in|dans|en|fra|over|em)\s+(?P<count>\d{1,2}|an?|two|three|four|zwei|drei|vier|deux|trois|dos|tres|due|tre|twee|drie|dois|três)\s+"
    r"(?P<unit>day|week|month|Tag|Woche|Monat|jour|semaine|mois|día|semana|mes|giorno|settimana|mese|dag|weken|week|maand|dia|mês)\w{0,3}\b"
    r"|(?=next\s+(?:week|month|year)\b|nächste\s+Woche\b))",
    re.IGNORECASE,
)
"""What a sentence begins with that says of when it is, and not that something is so from then on."""
_ON: Final = lazy_pattern(r"(?<!\w)(?:on|am|le|el|il|op|em)\s+(?=\D{0,12}\d)", re.IGNORECASE)
"""Before the day of a change: "we switch from Slack to Zulip on 1 October"."""
_COUNTS: Final = {
    **dict.fromkeys(("a", "an"), 1),
    **dict.fromkeys(("two", "zwei", "deux", "dos", "due", "twee", "dois"), 2),
    **dict.fromkeys(("three", "drei", "trois", "tres", "tre", "drie", "três"), 3),
    **dict.fromkeys(("four", "vier"), 4),
}
_NEXT: Final = lazy_pattern(
    r"(?:the\s+)?(?:(?:next|nächste[rnms]?|volgende|prochaine?|próxim[oa]|prossim[oa])\s+"
    r"(?P<span>week|month|year|Woche|Monat|Jahr|maand|jaar|semaine|mois|année|semana|mes|mês|año|ano|settimana|mese|anno)\b"
    r"|(?P<behind>semana|mes|mês|año|ano|semaine|mois|année|settimana|mese|anno)\s+(?:prochaine?|próxim[oa]|que\s+viene|prossim[oa])\b)",
    re.IGNORECASE,
)
_MONTH: Final = lazy_pattern(rf"(?P<month>{any_of(MONTH_OF)})\b\.?(?:\s+(?P<year>\d{{4}}))?(?!\s*\d)", re.IGNORECASE)
_MOVING: Final = lazy_pattern(r"\bfrom\s+\S+(?:\s+\S+)?\s+to\s", re.IGNORECASE)
_UNITS: Final = {
    **dict.fromkeys(("week", "woch", "sem", "sett", "wek"), 7),
    **dict.fromkeys(("mon", "moi", "mes", "mês", "maand"), 30),
}
_WEEKS: Final = frozenset(("week", "woche", "semaine", "semana", "settimana"))
_YEARS: Final = frozenset(("year", "jahr", "jaar", "année", "año", "ano", "anno"))
_TO: Final = lazy_pattern(r"\s+(?:to|until|till|through|bis|au|à|hasta|a|até|al|tot)\b|\s*[-\u2013]", re.IGNORECASE)
"""What makes a time of it that has an end, or the old day of something that was moved."""


def begins_later(text: str, state: State, today: date) -> bool:
    """Return whether a memory's text says that something is so from a day on that has not come yet."""
    first = first_day(text, from_instant(said_at(state)).date())
    return first is not None and first > today


@lru_cache(maxsize=4096)
def first_day(text: str, said_on: date) -> date | None:
    """Return the day from which a text says that something is so, if that is after the day on which it was said."""
    try:
        return _find_first(text[:_HEAD], said_on)
    except (ValueError, OverflowError):  # no such day, or beyond the calendar
        return None


def _find_first(head: str, said_on: date) -> date | None:
    for begins in _FROM.finditer(head):
        found = _day_at(head, begins.end(), said_on)
        if found is not None and found > said_on:
            return found
    opens = _OPENS.match(head)
    if opens is not None and changes(head):
        return _day_after(opens, head, said_on)
    dated = _ON.search(head) if _MOVING.search(head) else None
    found = _day_at(head, dated.end(), said_on) if dated is not None else None
    return found if found is not None and found > said_on else None


def _day_after(opens: re.Match[str], text: str, said_on: date) -> date | None:
    """Return the day that a sentence begins with: tomorrow, in some time, next week."""
    if opens["shift"]:
        return said_on + timedelta(days=1)
    if not opens["count"]:
        return _day_at(text, opens.end(), said_on)
    count, unit = opens["count"].lower(), opens["unit"].lower()
    days = next((n for name, n in _UNITS.items() if unit.startswith(name)), 1)
    return said_on + timedelta(days=days * (int(count) if count.isdigit() else _COUNTS[count]))


def _day_at(text: str, place: int, said_on: date) -> date | None:
    if (later := _NEXT.match(text, place)) is not None:
        return _next((later["span"] or later["behind"]).lower(), said_on)
    day, month = DAY.match(text, place), _MONTH.match(text, place)
    if day is not None and not _TO.match(text, day.end()):
        return day_of({k: v.lower() for k, v in day.groupdict().items() if v}, said_on)
    if month is not None and not _TO.match(text, month.end()):
        return _first_of(MONTH_OF[month["month"].lower()] + 1, month["year"], said_on)
    return None


def _next(span: str, said_on: date) -> date:
    if span in _WEEKS:
        return said_on + timedelta(days=7 - said_on.weekday())
    if span in _YEARS:
        return date(said_on.year + 1, 1, 1)
    return _first_of(said_on.month % _DECEMBER + 1, None, said_on)


def _first_of(month: int, year: str | None, said_on: date) -> date:
    if year:
        return date(int(year), month, 1)
    return date(said_on.year + (month <= said_on.month), month, 1)
