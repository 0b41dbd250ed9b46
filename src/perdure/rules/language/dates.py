"""Which days a question names, against the time at which it is asked."""

from __future__ import annotations

import re
from datetime import UTC, date, timedelta, tzinfo
from typing import Final, NamedTuple

from perdure.records.instant import Instant, begin_of, day_at
from perdure.records.patterns import lazy_pattern
from perdure.rules.language.day_words import SHIFT_OF, names_day
from perdure.rules.language.words import NUMBER_WORDS, word_set

# A line for each month or weekday: English, German, French, Spanish, Italian, Portuguese, Dutch; then short forms.
_MONTHS: Final = """
january januar janvier enero gennaio janeiro januari jan
february februar février febrero febbraio fevereiro februari feb
march märz mars marzo março maart mar
april avril abril aprile apr
may mai mayo maggio maio mei
june juni juin junio giugno junho jun
july juli juillet julio luglio julho jul
august août agosto augustus aug
september septembre septiembre settembre setembro sept sep
october oktober octobre octubre ottobre outubro oct okt
november novembre noviembre novembro nov
december dezember décembre diciembre dicembre dezembro dec dez
"""
_WEEKDAYS: Final = """
monday montag lundi lunes lunedì maandag
tuesday dienstag mardi martes martedì dinsdag
wednesday mittwoch mercredi miércoles mercoledì woensdag
thursday donnerstag jeudi jueves giovedì donderdag
friday freitag vendredi viernes venerdì vrijdag
saturday samstag sonnabend samedi sábado sabato zaterdag
sunday sonntag dimanche domingo domenica zondag
"""
_DAYS_AGO: Final = {**{word: -shift for word, shift in SHIFT_OF.items() if shift <= 0}, "last night": 1}
_UNITS: Final = {"day": 1, "week": 7, "month": 30, "year": 365}
_UNCLEAR: Final = word_set("march mars april june jan feb mar apr may mai mei jun jul aug sep sept oct okt nov dec dez")
"""Names that are months only beside a day, a year or a preposition: people march, and June is a person."""


def _number_names(lines: str) -> dict[str, int]:
    return {name: at for at, line in enumerate(lines.strip().split("\n")) for name in line.split()}


def any_of(names: dict[str, int]) -> str:
    """Return an expression of some names, the longest first; a verbose pattern would leave out their spaces."""
    return "|".join(name.replace(" ", r"\s+") for name in sorted(names, key=len, reverse=True))


MONTH_OF: Final = _number_names(_MONTHS)
WEEKDAY_OF: Final = _number_names(_WEEKDAYS)
_COUNTS: Final = {
    **{word: int(number) for word, number in NUMBER_WORDS.items() if number.isdecimal()},
    "a": 1,
    "an": 1,
    "couple": 2,
    "few": 3,
}
_DATES: Final = lazy_pattern(
    rf"""(?<![\w.-])(?:
        (?P<year>\d{{4}})-(?P<month>\d{{1,2}})(?:-(?P<day>\d{{1,2}}))?
      | (?:(?P<in>in|im|en|em|since|during|until|by|this|last|early|late|mid)[\s-]+)?
        (?:(?P<since>\d{{1,2}})(?:st|nd|rd|th|er|º|\.)?\s*(?:and|to|till|und|bis|et|au|y|al|a|e|en|-|\u2013)\s*(?=\d))?
        (?:(?P<before>\d{{1,2}})(?:st|nd|rd|th|er|º|\.)?\s+(?:(?:of|de|di)\s+)?)?(?P<name>{any_of(MONTH_OF)})\b\.?
        (?:\s+(?:the\s+)?(?P<after>\d{{1,2}})(?:st|nd|rd|th)?(?!\d))?(?:,?\s*(?:(?:of|de|del)\s+)?(?P<of>\d{{4}}))?
      | (?P<days>{any_of(_DAYS_AGO)})
      | (?P<count>\d{{1,3}}|{any_of(_COUNTS)})\s+(?:of\s+)?(?P<unit>day|week|month|year)s?\s+ago
      | (?P<rel>last|past|previous|this)\s+(?P<span>day|week(?:end)?|month|year)
      | (?:last|past|on|am|le|el|op)\s+(?P<weekday>{any_of(WEEKDAY_OF)})
      | (?:in|during|since|en|em|seit|nel)\s+(?P<only>(?:19|20)\d\d)
    )(?![\w-])
    | (?:(?P<cyear>\d{{4}})\s*年\s*)?(?P<cmonth>\d{{1,2}})\s*月(?:\s*(?P<cday>\d{{1,2}})\s*[日号號])?""",
    re.IGNORECASE | re.VERBOSE,
)


_DIGIT: Final = lazy_pattern(r"\d")
_WORDS: Final = lazy_pattern(r"\w+")
_HINTS: Final = frozenset(
    {*MONTH_OF, *WEEKDAY_OF, "ago", "last", "past", "previous", "this", *(_WORDS.findall(n)[-1] for n in _DAYS_AGO)}
)
"""A mention without a digit has one of these words."""


class Period(NamedTuple):
    """Days that a question names: from the beginning of the first to the end of the last."""

    start: Instant
    end: Instant


def periods_in(question: str, asked_at: Instant, zone: tzinfo | None = UTC) -> list[Period]:
    """Return the days, months and years that a question names, at most one for each mention; linear in its length.

    A day or month without a year is that of a year that the question names elsewhere, else the latest that has begun.
    "Two weeks ago" is a week, "last weekend" Saturday and Sunday. Days that do not exist are none. Relative days are
    counted from ``asked_at``. Days are those of ``zone``, None for that of this machine.
    """
    if not _may_name_days(question):
        return []
    today = day_at(asked_at, zone)
    found = [
        {k: v.lower() for k, v in match.groupdict().items() if v}
        for match in _DATES.finditer(question)
        if _is_meant(match)
    ]
    years = [int(groups[key]) for groups in found for key in ("of", "year", "cyear") if key in groups]
    periods = []
    for groups in found:
        try:
            days = _days(groups, today, years[0] if years else None)
            if days is not None:
                periods.append(Period(begin_of(days[0], zone), begin_of(days[1], zone)))
        except (ValueError, OverflowError):  # no such day, or beyond the calendar
            continue
    return periods


def without_days(question: str) -> str:
    """Return a question without the days, months and years that it names."""
    if not _may_name_days(question):
        return question
    return _DATES.sub(lambda found: " " if _is_meant(found) else found[0], question)


def _is_meant(found: re.Match[str]) -> bool:
    """Return whether words name a day where they stand: "hier" is another word in German, and "USA Today" a name."""
    return not found["days"] or names_day(found.string, *found.span("days"))


def _may_name_days(question: str) -> bool:
    """Whether a question has a word or a digit without which it names no day: looking for days costs ten times that."""
    return bool(_DIGIT.search(question)) or not _HINTS.isdisjoint(_WORDS.findall(question.lower()))


def _days(groups: dict[str, str], today: date, year: int | None) -> tuple[date, date] | None:
    """Return the first day, and the one after the last."""
    if "days" in groups:
        return _span(today - timedelta(days=_DAYS_AGO[" ".join(groups["days"].split())]), 1)
    if "weekday" in groups:
        gap = (today.weekday() - WEEKDAY_OF[groups["weekday"]]) % 7 or 7
        return _span(today - timedelta(days=gap), 1)
    if "count" in groups:
        count, length = groups["count"], _UNITS[groups["unit"]]
        ago = length * (int(count) if count.isdecimal() else _COUNTS[count])
        return _span(today - timedelta(days=ago + length // 2), length)
    if "span" in groups:
        return _relative(groups["span"], today, 0 if groups["rel"] == "this" else 1)
    if "only" in groups:
        return date(int(groups["only"]), 1, 1), date(int(groups["only"]) + 1, 1, 1)
    return _of_calendar(groups, today, year)


def _span(first: date, length: int) -> tuple[date, date]:
    return first, first + timedelta(days=length)


def _relative(span: str, today: date, back: int) -> tuple[date, date]:
    monday = today - timedelta(days=today.weekday() + 7 * back)
    if span == "day":
        return _span(today - timedelta(days=back), 1)
    if span == "weekend":
        return _span(monday + timedelta(days=5), 2)
    if span == "week":
        return _span(monday, 7)
    if span == "year":
        return date(today.year - back, 1, 1), date(today.year - back + 1, 1, 1)
    first = today.replace(day=1)
    return _month((first - timedelta(days=back)).replace(day=1))


def _month(first: date) -> tuple[date, date]:
    return first, (first + timedelta(days=31)).replace(day=1)


def _of_calendar(groups: dict[str, str], today: date, year: int | None) -> tuple[date, date] | None:
    number = groups.get("month") or groups.get("cmonth")
    month = int(number) if number else MONTH_OF[groups["name"]] + 1
    day = groups.get("day") or groups.get("cday") or groups.get("before") or groups.get("after")
    if not (day or number or {"in", "of"} & groups.keys() or groups["name"] not in _UNCLEAR):
        return None
    own = groups.get("year") or groups.get("cyear") or groups.get("of") or year
    first = date(int(own) if own else today.year, month, int(day or 1))
    if not own and first > today:
        first = first.replace(year=today.year - 1)
    if "since" in groups and day and int(groups["since"]) < first.day:
        return first.replace(day=int(groups["since"])), first + timedelta(days=1)
    return _span(first, 1) if day else _month(first)
