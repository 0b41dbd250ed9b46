"""The day until which a text says that it holds: "Code freeze until 20 November", "im Urlaub bis Freitag".

Only what is clear counts: one sentence that is limited by one day which had not passed when it was said, and that says
nothing of what follows. English, German, French, Spanish, Italian, Portuguese, Dutch.
"""

from __future__ import annotations

import re
from datetime import date, timedelta
from functools import lru_cache
from typing import Final

from perdure.rules.language.dates import MONTH_OF, WEEKDAY_OF, any_of
from perdure.rules.language.sentences import sentences

_LONGEST: Final = 400  # characters of a text that is one such sentence
_WEEK: Final = 7
_SHIFTS: Final = {
    **dict.fromkeys(("today", "tonight", "heute", "aujourd'hui", "hoy", "oggi", "hoje", "vandaag"), 0),
    **dict.fromkeys(("tomorrow", "morgen", "demain", "mañana", "domani", "amanhã"), 1),
}
_UNTIL: Final = re.compile(
    r"(?<!\w)(?:until|till|bis(?:\s+(?:zum|einschließlich))?|jusqu['’](?:au|à)|hasta(?:\s+el)?|até(?:\s+(?:o|ao))?"  # noqa: RUF001  # the typographic apostrophe
    r"|fino\s+(?:al|a)|tot(?:\s+en\s+met)?)\s+",
    re.IGNORECASE,
)
_DAY: Final = re.compile(
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
_NOT_ENDING: Final = re.compile(
    r"(?:\b(?:not|nicht|erst|pas|no|non|não|niet|never|nie|only)|n['’]t)\s+\Z",  # noqa: RUF001  # as above
    re.IGNORECASE,
)
_AGAIN: Final = re.compile(
    r"\b(?:every|each|always|daily|weekly|jede[nmrs]?|immer|täglich|wöchentlich|chaque|toujours|cada|siempre|sempre"
    r"|ogni|elke|altijd)\b",
    re.IGNORECASE,
)
_FOLLOWS: Final = re.compile(
    r"\b(?:then|after|afterwards|thereafter|from|since|danach|dann|anschließend|ab|puis|ensuite|après|luego|después"
    r"|poi|dopo|depois|daarna|vanaf)\b|\?",
    re.IGNORECASE,
)
_ORDINAL: Final = re.compile(r"(?<!\d)\d{1,2}\.\Z")
_WEEKDAYS: Final = re.compile(rf"\b(?:{any_of(WEEKDAY_OF)})s?\b", re.IGNORECASE)


@lru_cache(maxsize=4096)  # a file is written anew with most of its texts as they were
def last_day(text: str, said_on: date) -> date | None:
    """Return the last day on which a text says that it holds; None where it is not limited, or not clearly so.

    A day without a year is the first of that name on or after the day on which it was said; "Friday" said on a Friday
    is the next one.
    """
    if len(text) > _LONGEST or not _is_one_sentence(text) or _AGAIN.search(text):
        return None
    found = [(until, day) for until in _UNTIL.finditer(text) if (day := _DAY.match(text, until.end()))]
    if len(found) != 1:
        return None
    until, day = found[0]
    if _NOT_ENDING.search(text[: until.start()]) or _FOLLOWS.search(text, day.end()):
        return None
    if day["weekday"] and _WEEKDAYS.search(text[: until.start()]):
        return None  # "open Monday till Friday"
    try:
        last = _day_of({k: v.lower() for k, v in day.groupdict().items() if v}, said_on)
    except (ValueError, OverflowError):  # no such day, or beyond the calendar
        return None
    return last if last >= said_on else None


def _is_one_sentence(text: str) -> bool:
    """Return whether no sentence ends within a text; "23. bis 27. November" is no end."""
    *before, _ = [text[start:end] for start, end in sentences(text)] or [""]
    return all(_ORDINAL.search(part) for part in before)


def _day_of(groups: dict[str, str], said_on: date) -> date:
    if "iso" in groups:
        return date.fromisoformat(groups["iso"])
    if "shift" in groups:
        return said_on + timedelta(days=_SHIFTS[groups["shift"]])
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
