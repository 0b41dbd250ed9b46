"""Values of facts that hardly stand for anybody else: addresses of e-mail and long numbers, found again in texts.

Days are none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

_PART: Final = r"[^\s@,;:<>()\[\]\"']"
_ADDRESS: Final = re.compile(rf"(?<!{_PART}){_PART}++@{_PART}+\.\w+")
_NUMBER: Final = re.compile(r"\d(?:[ \u00a0\u2010-\u2015-]*\d)*")
_DASH: Final = r"[-\u2010-\u2015]"
_YEAR, _MONTH, _DAY = r"(?:1[89]|20|21)\d\d", r"(?:0[1-9]|1[0-2])", r"(?:0[1-9]|[12]\d|3[01])"
_ALONE: Final = rf"(?<![\d+])(?<!\d[ \u00a0])(?<!\d{_DASH}){{}}(?!{_DASH}?\d|[ \u00a0]\d)"
_DATE: Final = re.compile(
    rf"(?<!\d)(?<!\d{_DASH})(?:{_YEAR}{_DASH}{_MONTH}{_DASH}{_DAY}|{_DAY}{_DASH}{_DAY}{_DASH}{_YEAR})(?!{_DASH}?\d)"
    r"(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?)?|"
    + _ALONE.format(rf"{_YEAR} ?{_DASH} ?{_YEAR}")
    + "|"
    + _ALONE.format(rf"{_YEAR}{_DASH}{_MONTH}")
)
"""Days, with and without a time, months and spans of years in digits: many texts have the same. Other days are written
with what parts numbers. A month or a span beside more digits may be part of a number."""
_DIGITS: Final = re.compile(r"\d+")
_FEWEST: Final = 6  # digits, apart from spaces and dashes
_PREFIX: Final = 5  # digits by which one number may be longer than another that is the same: 0049 431


class DistinctiveValues:
    """Addresses and numbers of some values. A number is the same with and without what is dialled before it."""

    def __init__(self, values: Iterable[str]) -> None:
        self._addresses, self._numbers, self.others = set[str](), set[str](), list[str]()
        for value in values:
            addresses = {found.casefold() for found in _ADDRESS.findall(value)}
            numbers = {
                digits for found in _NUMBER.findall(_without_dates(value)) if len(digits := _plain(found)) >= _FEWEST
            }
            self._addresses |= addresses
            self._numbers |= numbers
            if not addresses and not numbers:
                self.others.append(value)
        self._longest = max(map(len, self._numbers), default=0) + _PREFIX

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self._addresses or self._numbers)

    def found_in(self, text: str) -> str:
        """Return the first of them as a text has it; empty where it has none."""
        for address in _ADDRESS.finditer(text) if self._addresses and "@" in text else ():
            if address[0].casefold() in self._addresses:
                return address[0]
        for run in _NUMBER.finditer(_without_dates(text)) if self._numbers else ():
            for written in _parts(run[0], self._longest):
                if self._has(_plain(written)):
                    return written
        return ""

    def _has(self, digits: str) -> bool:
        return len(digits) >= _FEWEST and any(own.endswith(digits) or digits.endswith(own) for own in self._numbers)


def _parts(run: str, longest: int) -> Iterator[str]:
    """Yield what a run of digits, spaces and dashes may say as one number, the longest first from each place on."""
    groups = [*_DIGITS.finditer(run)]
    for first, group in enumerate(groups):
        ends = [other.end() for other in groups[first:] if other.end() - group.start() <= 2 * longest]
        yield from (run[group.start() : end] for end in reversed(ends))


def _without_dates(text: str) -> str:
    """Return a text with something that parts numbers in the place of each day."""
    return _DATE.sub("|", text)


def _plain(number: str) -> str:
    return "".join(_DIGITS.findall(number)).lstrip("0")
