"""The day of an appointment or a deadline that was to come when a text was said, and is over.

"The beta is due on 3 April" was one of them from 4 April on.

What had happened when it was said is no such day: the text tells of the past, and holds ("We released 2.0 on 3 April").
English, German, French, Spanish, Italian, Portuguese, Dutch.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from functools import lru_cache
from typing import Final, NamedTuple

from perdure.records.patterns import lazy_pattern
from perdure.rules.language.appointments import is_of_an_appointment
from perdure.rules.language.dates import MONTH_OF, any_of
from perdure.rules.language.first_day import first_day
from perdure.rules.language.last_day import AGAIN, DAY, HALF_YEAR, day_of

_LONGEST: Final = 400  # characters: longer texts say more than one thing
_AT_A_DAY: Final = lazy_pattern(rf"(?<![\w.,/:-])(?=\d|(?:{any_of(MONTH_OF)})\b)", re.IGNORECASE)
_GERMAN: Final = lazy_pattern(r"\b(?:am|zum|vom|bis|de[nmr])\s+\Z", re.IGNORECASE)
"""What stands before a day of two numbers: "24.04." alone may be a version."""
_WITHOUT_A_YEAR: Final = lazy_pattern(
    r"\bborn\b|birthday|anniversar|holiday|yearly|annual|\byear\b|geboren|geburtstag|namenstag|hochzeitstag|jahr|feiertag"
    r"|\bnée?\b|anniversaire|\bfête\b|\bannée\b|\bannuel|\bnaci[óda]|cumplea|aniversari|\baño\b|\banual|\bnat[oa]\b"
    r"|compleanno|\banno\b|nascid|\bano\b|verjaardag|\bjaar"
    r"|\b(?:was|were|had|war(?:en)?|wurden?|fue(?:ron)?|était|étaient|(?:a|ont)\s+été|stat[oaie]|fu|foi|foram|werd)\b",
    re.IGNORECASE,
)
"""What a day may be of that is named without a year, and is over or returns each year."""


class _Named(NamedTuple):
    """A day that a text names, whether with its year, and where."""

    day: date
    with_year: bool
    place: tuple[int, int]


def passed_day(text: str, said_on: date, today: date) -> date | None:
    """Return the last of an appointment's days, where all lay ahead when it was said and are over ``today``.

    None where a text is not clearly of an appointment or a deadline alone, names a day that had come, says from when
    something is so, or of what is again and again. A day without a year is the first of that name, and none if that is
    more than half a year ahead.
    """
    days = _days_ahead(text, said_on) if len(text) <= _LONGEST else ()
    return max(days) if days and max(days) < today else None


@lru_cache(maxsize=4096)  # a file is written anew with most of its texts as they were
def _days_ahead(text: str, said_on: date) -> tuple[date, ...]:
    """Return the days of an appointment, if all lie ahead of the one on which it is said."""
    try:
        found = [*_days_in(text, said_on)]
    except (ValueError, OverflowError):  # no such day, or beyond the calendar
        return ()
    if not found or AGAIN.search(text) or first_day(text, said_on) is not None:
        return ()
    ahead = all(d.day > said_on and (d.with_year or (d.day - said_on).days <= HALF_YEAR) for d in found)
    unclear = not all(d.with_year for d in found) and _WITHOUT_A_YEAR.search(text)
    if unclear or not ahead or not is_of_an_appointment(text, [d.place for d in found]):
        return ()
    return tuple(d.day for d in found)


def _days_in(text: str, said_on: date) -> Iterator[_Named]:
    """Yield each day of the calendar that a text names."""
    at = 0
    while (place := _AT_A_DAY.search(text, at)) is not None:
        at = place.end() + 1
        if (found := DAY.match(text, place.end())) is None:
            continue
        groups = {k: v.lower() for k, v in found.groupdict().items() if v}
        with_year = not groups.keys().isdisjoint(("iso", "y", "year", "of"))
        if "d" in groups and not (with_year or _GERMAN.search(text, 0, place.end())):
            continue
        at = max(at, found.end())
        yield _Named(day_of(groups, said_on), with_year, found.span())
