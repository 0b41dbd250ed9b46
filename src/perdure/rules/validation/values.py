"""Checks of single values that need no policy: texts, names, shares, choices. Refused with a reason and a remedy."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime, timedelta, tzinfo
from enum import StrEnum
from typing import Any, Final, Literal, TypeVar

from perdure.records.bounded_json import DEEPEST, depth_of
from perdure.records.errors import InvalidInput, PerdureError, PolicyError
from perdure.records.identifier import GRAMMAR, is_id
from perdure.records.wording import parameter_name, shown_value, term, type_name

NAMESPACE: Final = re.compile(r"\w[\w.@:+ -]*(/\w[\w.@:+ -]*)*", re.UNICODE)
TIME_REMEDY: Final = "Use ISO 8601 with a time zone, for example 2026-11-21T09:30:00Z."
IN_RANGE: Final = "Give a number in that range."
ONE_OF_THEM: Final = "Choose one of them."
DAY_REMEDY: Final = "Use ISO 8601: a day such as 2026-11-21, or a time with a zone such as 2026-11-21T09:30:00Z."
_LONGEST_NAME: Final = 200
_LONGEST_LABEL: Final = 1000
_LEAST_SECONDS: Final = 0.001
_MOST_SECONDS: Final = 86_400.0
_BLANK: Final = frozenset({"Zs", "Zl", "Zp", "Cc", "Cf"})
_FILLERS: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0") | {
    chr(selector) for selector in range(0xFE00, 0xFE10)
}
_Choice = TypeVar("_Choice", bound=StrEnum)
T = TypeVar("T")


DayEdge = Literal["first", "last", "after"]


def checked_namespace(namespace: Any) -> str:
    """Return a namespace: 1 to 200 letters, digits, ``. _ - @ : +`` and spaces, in parts divided by ``/``."""
    text = checked_text(namespace, "namespace", longest=_LONGEST_NAME)
    if not NAMESPACE.fullmatch(text):
        raise InvalidInput(
            f"The namespace {text!r} is not allowed.",
            remedy="Use letters, digits, spaces, . _ - @ : + and / between parts; parts start with a letter or digit.",
        )
    return text


def checked_text(value: Any, name: str, *, longest: int) -> str:
    """Return text that every store can hold: not empty, no NUL, no lone surrogate, not too long (in characters)."""
    name = parameter_name(name)
    if not isinstance(value, str):
        raise InvalidInput(f"{name} must be text, not {type_name(value)}.", remedy=f"Pass {term('text')}.")
    if is_blank(value):
        raise InvalidInput(f"{name} is empty.", remedy="Give it some text.")
    if "\x00" in value:
        raise InvalidInput(f"{name} contains a NUL character.", remedy=term("null character"))
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"{name} is not valid Unicode: it has a lone surrogate at position {error.start}.",
            remedy=term("surrogate"),
        ) from None
    if len(value) > longest:
        raise InvalidInput(f"{name} has {len(value):,} characters; {longest:,} are allowed.", remedy="Shorten it.")
    return value


def parse_entries(entries: Iterable[tuple[str, Callable[[], T]]], file: str, *, remedy: str) -> tuple[T, ...]:
    """Return what each entry of a file is parsed to, in order.

    Args:
        entries: What an entry is called in messages, and what parses it.
        file: The file, for messages.
        remedy: What to do about faulty entries.

    Raises:
        PolicyError: Entries raised a TypeError or an error of Perdure; it names all of them.
    """
    found: list[T] = []
    problems: list[str] = []
    for name, parse in entries:
        try:
            found.append(parse())
        except (PerdureError, TypeError) as error:
            reason = error.message if isinstance(error, PerdureError) else str(error)
            problems.append(f"{file}, {name}: {reason}")
    if problems:
        raise PolicyError(tuple(problems), remedy=remedy)
    return tuple(found)


def is_blank(text: str) -> bool:
    """Whether nothing of a text shows."""
    return not any(map(_is_visible, text))


def _is_visible(character: str) -> bool:
    """Whether a character shows: no space, control, joiner or mark of direction, and no filler that is blank."""
    return unicodedata.category(character) not in _BLANK and character not in _FILLERS


def checked_json(value: Any, name: str) -> bytes:
    """Return JSON data as UTF-8 text that means the same."""
    try:
        if depth_of(value) > DEEPEST:
            raise ValueError(f"it is nested deeper than {DEEPEST} levels")  # noqa: TRY301  # reported as the others are
        _check_json(value)
        return json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(
            f"{name} is not valid JSON data ({error}).", remedy="Use text, finite numbers, lists and dicts."
        ) from None


def _check_json(value: Any) -> None:
    """Refuse what JSON would change without a word: keys that are no text, and what no store can hold."""
    if isinstance(value, str) and "\x00" in value:
        raise ValueError("a text contains a NUL character")
    if isinstance(value, Mapping):
        for key, item in value.items():
            if not isinstance(key, str):
                raise TypeError(f"the key {key!r} is not a string")
            _check_json(key)
            _check_json(item)
    elif isinstance(value, list | tuple):
        for item in value:
            _check_json(item)


def checked_seconds(value: Any) -> float:
    """Return a time limit of a call: a number of seconds from 0.001 to 86,400."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not _LEAST_SECONDS <= value <= _MOST_SECONDS:
        raise InvalidInput(
            f"A call's time limit must be a number of seconds from 0.001 to 86,400, not {shown_value(value)}.",
            remedy=IN_RANGE,
        )
    return float(value)


def optional_text(value: Any, name: str) -> str | None:
    """Return a label such as a source or a session; None stays None."""
    return None if value is None else checked_text(value, name, longest=_LONGEST_LABEL)


def checked_share(value: Any, name: str) -> float:
    """Return a number from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:  # NaN is not
        raise InvalidInput(
            f"{parameter_name(name)} must be a number from 0 to 1, not {shown_value(value)}.", remedy=IN_RANGE
        )
    return float(value)


def checked_choice(value: Any, choices: type[_Choice], name: str) -> _Choice:
    """Return a member of an enumeration, given as itself or as its text."""
    try:
        return choices(value)
    except ValueError:
        listed = ", ".join(c.value for c in choices)
        raise InvalidInput(
            f"{parameter_name(name)} must be one of {listed}, not {shown_value(value)}.", remedy=ONE_OF_THEM
        ) from None


def parsed_time(text: str, name: str, remedy: str = TIME_REMEDY) -> datetime:
    """Return the date and time that an ISO 8601 text names; it may have no time zone."""
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError:
        raise InvalidInput(f"{name} is not an ISO 8601 date and time: {text[:50]!r}.", remedy=remedy) from None


def whole_day(text: str, edge: DayEdge, zone: tzinfo | None) -> datetime | None:
    """Return the edge of a day that a text names (``2026-11-21``); None where it names a time.

    Args:
        text: A day, or something else.
        edge: ``first`` is its first instant, ``last`` its last millisecond, ``after`` the first instant of the next.
        zone: Where the day is; None for that of this machine.
    """
    try:
        day = date.fromisoformat(text.strip())
        day = day if edge == "first" else day + timedelta(days=1)
        begin = datetime(day.year, day.month, day.day, tzinfo=zone)
        begin = begin if zone is not None else begin.astimezone()
    except (ValueError, OverflowError, OSError):
        return None
    return begin - timedelta(milliseconds=1) if edge == "last" else begin


def checked_id(value: Any, name: str = "id") -> str:
    """Return an id: 1 to 64 letters, digits and ``. _ : -``."""
    name = parameter_name(name)
    if not isinstance(value, str):
        raise InvalidInput(f"{name} must be text, not {type_name(value)}.", remedy=f"Pass {term('text')}.")
    if not is_id(value):
        raise InvalidInput(
            f"{name} {shown_value(value)} is not an id.",
            remedy=f"An id is {GRAMMAR}; recall, list and history show ids.",
        )
    return str(value)
