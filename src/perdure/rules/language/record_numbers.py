"""Whether two texts are about two records that are numbered: two cases, orders, bookings, commits.

"Booking 4711: Lena gets room Oslo" makes "Booking 4602: Marco gets room Rome" no less true. The number of a port or of
a room is a value, which changes: only what tells records apart counts here.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Final

from perdure.records.patterns import lazy_pattern
from perdure.rules.language.replaced_values import content_words
from perdure.rules.language.words import CALENDAR

_HEAD: Final = 400  # characters of each text that are read
_WORD: Final = r"\b[^\W\d_]{3,30}"
_ARTICLE: Final = r"\W{0,9}(?:[^\W\d_]{1,3}\s{1,3})?"
_CODED: Final = r"[^\W\d_]?\d{%s,20}[^\W\d_]?(?![\w.]{0,20}\d)\b"
"""A number of so many digits, with a letter before or behind it at most: no version, no amount."""
_HEADING: Final = lazy_pattern(
    rf"{_ARTICLE}({_WORD})\s{{1,3}}(?:([^\W_]{{0,10}}\d[\w/-]{{0,20}}):\s|((?!(?:19|20)\d\d\b){_CODED % 4}))"
)
"""What a text begins with, a short word such as an article aside: "Booking 12: ...", or four digits, no year."""
_FIRST: Final = lazy_pattern(rf"{_ARTICLE}({_WORD})\s{{1,3}}({_CODED % 3})")
"""The same with three digits: "Room 204"; no "Python 3.12"."""
_CALLED: Final = lazy_pattern(
    rf"({_WORD})\s{{1,3}}(?:n[or]s?\.|n[º°]\.?|núm\.|#)\s{{0,3}}([^\W_]{{0,10}}\d[\w/-]{{0,20}})|(?<!\w)#(\d{{1,20}})\b",
    re.IGNORECASE,
)
"""What is called a number: "case no. 4711", "ticket #4711", "Nr. 4711"."""
_CODE: Final = lazy_pattern(r"(?<![\w-])([A-Z][A-Z0-9]{1,9})-(\d{2,20})\b")
"""A code of a series: "CASE-4711"."""
_INSIDE: Final = lazy_pattern(rf"({_WORD})\s{{1,3}}([^\W\d_]?\d{{3,20}}[^\W\d_]?)\b")
"""A word and a number behind it anywhere: "placed order 4711"."""
_ASKED: Final = lazy_pattern(rf"(?<![\w.,-])(?!(?:19|20)\d\d\b)(?:[^\W\d_]{{1,10}}-?)?{_CODED % 3}")
"""A number of three digits or more, no year: by it a question asks for a record."""
_SERIES: Final = 3  # so many numbers behind one word are a series of records
_OWN_FIRST: Final = 1
_OWN: Final = 2  # so many words of its own each of two texts has, where only the series tells

Numbers = Mapping[str, frozenset[str]]
"""Label -> numbers."""


@lru_cache(maxsize=4096)
def record_numbers(text: str) -> Numbers:
    """Return what tells at once by which number a text's record goes, by the word before it."""
    head = text[:_HEAD]
    found = {(m[1] or "#", m[2] or m[3]) for m in _CALLED.finditer(head)}
    if (heading := _HEADING.match(head)) and _is_label(heading[1]):
        found.add((heading[1], heading[2] or heading[3]))
    codes = {(m[1], m[2]) for m in _CODE.finditer(head)}
    opening = next(iter(_CODE.finditer(head)), None)
    named = {label.casefold() for label in head.split()}
    found |= {code for code in codes if code[0].casefold() in named or (opening is not None and not opening.start())}
    return _by_label((label, number.rstrip("./-")) for label, number in found)


@lru_cache(maxsize=4096)
def _numbers_inside(text: str) -> Numbers:
    """Return words and codes with a number behind them, which may tell records apart."""
    head = text[:_HEAD]
    found = {(m[1], m[2]) for pattern in (_INSIDE, _CODE) for m in pattern.finditer(head) if _is_label(m[1])}
    return _by_label(found)


def _by_label(found: Iterable[tuple[str, str]]) -> Numbers:
    numbers = defaultdict[str, set[str]](set)
    for label, number in found:
        numbers[label.casefold()].add(number.casefold())
    return {label: frozenset(some) for label, some in numbers.items()}


def _is_label(word: str) -> bool:
    return bool(content_words(word)) and word.casefold() not in CALENDAR


def series_labels(texts: Iterable[str]) -> frozenset[str]:
    """Return the words behind which so many numbers stand in some texts that they number records."""
    found = defaultdict[str, set[str]](set)
    for text in texts:
        for label, numbers in _numbers_inside(text).items():
            found[label] |= numbers
    return frozenset(label for label, numbers in found.items() if len(numbers) >= _SERIES)


def are_other_records(one: str, other: str, series: frozenset[str] = frozenset()) -> bool:
    """Return whether two texts are about two records: one label, and numbers of which neither names the other's.

    A number of three digits behind the first word counts where each text has a word of its own, too, and one behind a
    label of a ``series`` anywhere where it has several: "Room 204 is ours" is over with "Room 311 is ours".
    """
    if _differ(record_numbers(one), record_numbers(other)):
        return True
    least = _OWN_FIRST if _differ(_first_number(one), _first_number(other)) else _OWN
    if least == _OWN and not _differ(_numbers_inside(one), _numbers_inside(other), series):
        return False
    words, others = (content_words(text[:_HEAD]) for text in (one, other))
    own = [{w for w in some if not any(map(str.isdigit, w))} for some in (words - others, others - words)]
    return min(map(len, own)) >= least


def _first_number(text: str) -> Numbers:
    first = _FIRST.match(text[:_HEAD])
    return _by_label([(first[1], first[2])]) if first and _is_label(first[1]) else {}


def names_asked_number(question: str) -> Callable[[str], bool]:
    """Return what says whether a text names a number by which a question asks for a record."""
    asked = _named(question)
    return lambda text: bool(asked) and not asked.isdisjoint(_named(text))


@lru_cache(maxsize=1024)
def _named(text: str) -> frozenset[str]:
    """Return the numbers in a text that may be asked for: three digits and more, and a year where it is called so."""
    called = frozenset[str]().union(*record_numbers(text).values())
    return called | {number.casefold() for number in _ASKED.findall(text)}


def _differ(numbers: Numbers, others: Numbers, among: frozenset[str] | None = None) -> bool:
    labels = numbers.keys() & others.keys()
    return any(numbers[i].isdisjoint(others[i]) for i in (labels if among is None else labels & among))
