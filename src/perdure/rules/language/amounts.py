"""Numbers, times and dates in one normal form: "half past seven" is 7:30, "€420" 420 euros, "June 14th" 14 June."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from perdure.rules.language.sentence_items import Item
from perdure.rules.language.words import STOP_WORDS, word_set

_MONTHS: Final = word_set("january february march april may june july august september october november december")
_DAYS: Final = word_set("monday tuesday wednesday thursday friday saturday sunday")
_SHORT: Final = {full[:letters]: full for full in _MONTHS | _DAYS for letters in (3, 4, 5, 9)}
_ORDINALS: Final = {"first": "1.", "second": "2.", "third": "3.", "fourth": "4.", "fifth": "5.", "sixth": "6."}
_ORDINAL_ENDINGS: Final = word_set("st nd rd th")
_SCALES: Final = {"hundred": 100, "thousand": 1_000, "million": 1_000_000}
_CURRENCIES: Final = {"€": "euro", "$": "dollar", "£": "pound"}
_AMOUNT: Final = re.compile(r"([-+]?)([€$£])(-?[\d.,]+)")
_UNITS: Final = word_set("second minute hour day week month year")
_CLOCK: Final = re.compile(r"0?(\d\d?):(\d\d)")
_PERCENT: Final = frozenset({"%", "percent"})
_O_CLOCK: Final = (["o'clock"], ["o", "clock"])
_TIME_AFTER: Final = word_set("at before after until till from by")
_FREE: Final = STOP_WORDS - {"of"}
"""What a number counts does not follow it where one of these does: "at two the backup runs", but "at two sites"."""
_HOURS: Final = 24


def read_amounts(items: Sequence[Item]) -> list[Item]:
    """Return what a sentence says with its numbers, times and dates in a normal form."""
    found: list[Item] = []
    at = 0
    while at < len(items):
        read, length = _amount(items, at, found)
        found += read
        at += length
    return found


def _amount(items: Sequence[Item], at: int, before: Sequence[Item]) -> tuple[list[Item], int]:
    """Return what stands at a place in its normal form, and how many items that is."""
    for read in (_o_clock, _clock, _read_scaled, _read_signed, _ordinal, _day, _currency):
        found = read(items, at, before)
        if found is not None:
            return found
    return [items[at]], 1


def _value(items: Sequence[Item], at: int) -> str:
    return items[at].value if 0 <= at < len(items) else ""


def _is_hour(items: Sequence[Item], at: int) -> bool:
    item = items[at] if 0 <= at < len(items) else None
    return item is not None and item.kind == "number" and item.value.isdigit() and int(item.value) <= _HOURS


def _clock(items: Sequence[Item], at: int, before: Sequence[Item]) -> tuple[list[Item], int] | None:
    """Read "half past 7", "06:40", "6:40 in the morning", "10 am", "4 pm" and "at 8"."""
    item, after = items[at], _value(items, at + 1)
    if item.value == "half" and after == "past" and _is_hour(items, at + 2):
        return [replace(item, kind="date", value=f"{int(items[at + 2].value)}:30")], 3
    clock = _CLOCK.fullmatch(item.value) if item.kind == "date" else None
    hour, minutes = (int(clock[1]), clock[2]) if clock else (int(item.value) if _is_hour(items, at) else -1, "00")
    if hour < 0:
        return None
    morning = ["in", "the", "morning"]
    if clock and [_value(items, at + n) for n in (1, 2, 3)] == morning:
        return [replace(item, value=f"{hour}:{minutes}")], 4
    if after in {"am", "pm", "a.m", "p.m"}:
        hour += 12 if after[0] == "p" and hour < _HOURS // 2 else 0
        return [replace(item, kind="date", value=f"{hour}:{minutes}")], 2
    led = bool(before) and before[-1].value in _TIME_AFTER and before[-1].kind == "word"
    ends = at + 1 == len(items) or items[at + 1].apart or items[at + 1].value in _FREE
    if clock or (led and before[-1].value == "at" and ends):
        return [replace(item, kind="date", value=f"{hour}:{minutes}")], 1
    return None


def _o_clock(items: Sequence[Item], at: int, _: Sequence[Item]) -> tuple[list[Item], int] | None:
    """Read "7 o'clock"."""
    if not _is_hour(items, at):
        return None
    for words in _O_CLOCK:
        if [_value(items, at + 1 + n) for n in range(len(words))] == words:
            return [replace(items[at], kind="date", value=f"{int(items[at].value)}:00")], 1 + len(words)
    return None


def _read_scaled(items: Sequence[Item], at: int, _: Sequence[Item]) -> tuple[list[Item], int] | None:
    """Read "two hundred" and "half an hour"."""
    item = items[at]
    if item.value == "half" and _value(items, at + 1) in {"a", "an"} and _value(items, at + 2) == "hour":
        return [replace(item, value="30"), replace(items[at + 2], kind="word", value="minutes")], 3
    scale = _SCALES.get(_value(items, at + 1))
    if item.kind == "number" and item.value.isdigit() and scale:
        return [replace(item, value=str(int(item.value) * scale))], 2
    return None


def _read_signed(items: Sequence[Item], at: int, _: Sequence[Item]) -> tuple[list[Item], int] | None:
    """Read "minus 80" and "80 %"."""
    item = items[at]
    following = items[at + 1] if at + 1 < len(items) else None
    if following is None:
        return None
    if item.value == "minus" and following.kind == "number":
        return [replace(item, kind="number", value=f"-{following.value}")], 2
    if item.kind == "number" and following.value in _PERCENT:
        return [replace(item, value=f"{item.value}%")], 2
    return None


def _ordinal(items: Sequence[Item], at: int, before: Sequence[Item]) -> tuple[list[Item], int] | None:
    """Read "1st" and "first"; beside a month it is a plain number."""
    item, length, value = items[at], 1, ""
    if item.kind == "number" and item.value.isdigit() and _value(items, at + 1) in _ORDINAL_ENDINGS:
        length, value = 2, f"{item.value}."
    elif item.value in _ORDINALS and item.kind in {"number", "word"}:
        value = _ORDINALS[item.value]
    if not value:
        return None
    near = [_value(items, at + length), *(i.value for i in before[-1:])]
    if any(_SHORT.get(name) in _MONTHS for name in near):
        value = value.rstrip(".")
    return [replace(item, kind="number", value=value)], length


def _day(items: Sequence[Item], at: int, before: Sequence[Item]) -> tuple[list[Item], int] | None:
    """Read "Thu" and "Jan"; "on Mondays" is "every Monday"."""
    item = items[at]
    if item.kind != "date":
        return None
    name = item.value
    if name in _SHORT:
        return [replace(item, value=_SHORT[name])], 1
    if not name.endswith("s") or name[:-1] not in _DAYS:
        return None
    day = replace(item, value=name[:-1], apart=False)
    led = any(i.value == "every" for i in before[-1:])
    return ([day] if led else [Item("word", "every", apart=item.apart), day]), 1


def _currency(items: Sequence[Item], at: int, _: Sequence[Item]) -> tuple[list[Item], int] | None:
    """Read "€420"."""
    found = _AMOUNT.fullmatch(items[at].value)
    if found is None:
        return None
    return [replace(items[at], kind="number", value=found[1] + found[3]), Item("word", _CURRENCIES[found[2]])], 1
