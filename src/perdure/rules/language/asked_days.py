"""Questions that ask for nothing but what was on some days: "What happened on 9 March?"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, tzinfo
from typing import Final

from perdure.records.instant import Instant
from perdure.rules.language.dates import Period, periods_in, without_days
from perdure.rules.language.words import STOP_WORDS, word_set

_WORDS: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")  # noqa: RUF001  # the typographic apostrophe is meant
_OF_NO_TOPIC: Final = word_set("""
    happen happened happens occurred occur do did done doing going go went tell told say said talk talked discuss
    discussed mention mentioned note noted remember remembered write wrote store stored learn learned learnt know
    new news up event events thing things anything everything something day days about between from to until and on
    at in during last past what's what\u2019s what is this that there list show me summary summarize please all
    war waren wer wie wo los passiert passierte geschah geschehen gemacht gesagt erzählt besprochen notiert gelernt
    gab gibt es wir ich mir uns du dir haben habe hast hatten ist sind am im vom von bis zum zur neues alles etwas
    und
    quoi qu'est ce que qui s'est est passé passée fait dit noté parlé je nous tu on a avons ai le la les du au et
    entre
    qué que pasó ha pasado ocurrió hice hicimos hizo dije dijo dijimos hablamos el los las de del entre y hasta en
    nos me
    cosa che è successo fatto detto abbiamo ho il lo gli di tra fra e
    aconteceu fiz fizemos fez disse dissemos o os as foi
    wat gebeurde gebeurd gedaan gezegd is er op de het
    """)
"""Words that say of no memory what it is about, in the languages whose days are read."""
_OPEN: Final = re.compile(
    r"\b(?:before|after|since|until|till|up to|vor|nach|seit|bis|avant|apr[eè]s|depuis|jusqu\w*|antes|despu[eé]s|desde"
    r"|hasta|prima|dopo|fino|depois|até|voor|na|sinds|tot)\b",
    re.IGNORECASE,
)
"""Says that the days are one end of a time."""
_DIGIT: Final = re.compile(r"\d")
_HEAD: Final = 4000  # characters of a text that are read
_WEEK_MS: Final = 604_800_000  # a month or a year that a text names is no day of it
_DAY_MS: Final = 86_400_000
_YEAR_MS: Final = 366 * _DAY_MS
_RANGE: Final = re.compile(r"\b(?:between|from|zwischen|vom|von|entre|du|tra|dal)\b", re.IGNORECASE)


def days_asked_for(question: str, asked_at: Instant, zone: tzinfo | None = UTC) -> Sequence[Period]:
    """Return the days that a question names if it asks for nothing else; none for any other question.

    Two of them are the ends of a range where the question says so ("between 3 and 8 March", "vom 3. bis 8. März").
    Relative days are counted from ``asked_at``, in ``zone``, None for that of this machine.
    """
    periods = periods_in(question, asked_at, zone)
    if not periods:
        return ()
    rest = without_days(question).lower()
    if _DIGIT.search(rest) or not {*_WORDS.findall(rest)} <= STOP_WORDS | _OF_NO_TOPIC:
        return ()
    if not _RANGE.search(question):
        return () if _OPEN.search(question) else periods
    first, last = min(p.start for p in periods), max(p.end for p in periods)
    return (Period(first, last),) if last - first > _DAY_MS else ()  # "from 5 March on" has no end


def days_of_topic(question: str, asked_at: Instant, zone: tzinfo | None = UTC) -> Sequence[Period]:
    """Return the days or weeks that a question asks for besides something else: "the standup note on 9 March".

    None where it names a month or a year, or one end of a time ("since Monday"). Relative days are counted from
    ``asked_at``, in ``zone``.
    """
    periods = periods_in(question, asked_at, zone)
    is_open = _OPEN.search(question) or any(p.end - p.start > _WEEK_MS for p in periods)
    return () if is_open else periods


def names_days(text: str, said_at: Instant, periods: Sequence[Period], zone: tzinfo | None = UTC) -> bool:
    """Return whether a text names a day of some periods: one without a year is before or after it was said."""
    named = {*periods_in(text[:_HEAD], said_at, zone), *periods_in(text[:_HEAD], said_at + _YEAR_MS, zone)}
    return any(
        one.start < p.end and p.start < one.end and one.end - one.start <= _WEEK_MS for one in named for p in periods
    )
