"""Values of facts: what sort they are, and when two of them are the same."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from perdure.knowledge.extraction.dates import date_of
from perdure.knowledge.extraction.words import singular
from perdure.knowledge.languages import language
from perdure.knowledge.records.facts import Value, ValueKind
from perdure.records.instant import Instant, from_instant
from perdure.rules.language.words import NUMBER_WORDS, word_set

LONGEST: Final = 500  # characters of a value that are looked at; a longer one is cut
_TRUE: Final = word_set("yes true enabled")
_FALSE: Final = word_set("no false disabled")
_LEADING: Final = word_set("a an the my our your his her their its this that these those some any")
_TABLES: Final = language("en").tables
_CURRENCIES: Final = {sign: code for code, signs in _TABLES["currencies"].items() for sign in signs.split()}
_UNITS: Final = {
    name: (unit.split()[0], float(unit.split()[1]))
    for unit, names in _TABLES["units"].items()
    for name in names.split()
}
_RATES: Final = {"daily": "day", "hourly": "hour", "annually": "year"} | {
    f"{u}ly": u for u in ("week", "month", "year")
}
_SCALES: Final = {"k": 1e3, "thousand": 1e3, "m": 1e6, "mn": 1e6, "million": 1e6, "bn": 1e9, "billion": 1e9}

_NUMBER: Final = re.compile(
    r"(?P<about>(?:about|around|roughly|approximately|nearly|almost|over|under|only|just|~)\s*)?"
    r"(?P<sign>us\$|[$€£¥₹])?\s?(?P<minus>[-−])?(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,15}(?:\.\d{1,15})?)"  # noqa: RUF001
    r"(?:\s?(?P<scale>k|thousand|mn|million|bn|billion)(?![a-z]))?(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_RATE: Final = re.compile(r"(?:/|\b(?:per|an?|each|every)\s+)\s*(?P<every>[a-z]+)\s*\Z", re.IGNORECASE)
_WORDS: Final = re.compile(r"[^\W\d_]+[+#]{0,3}|\d+(?:[.,]\d+)*")
_UNIT_WORDS: Final = re.compile(r"[ \t]*-?(?:[%$€£¥₹]|(?:[^\W\d_]+(?:[ -][^\W\d_]+){0,2}))?")
_ADDRESS: Final = re.compile(r"\S[^\s@]*@\S+\.\S+|[a-z]+://\S+", re.IGNORECASE)
_STRIPPED: Final = " \t\r\n\"'“”‘’`*_.,;:!?()[]"  # noqa: RUF001


def value_of(text: str, said_at: Instant) -> Value:
    """Return the value that some words mean: its kind and its normal form.

    Case, plurals, determiners, hyphens and spaces do not matter (``NET30`` is ``NET 30``); numbers lose their format
    and units have one name (``$1,350`` is ``1.35k usd``, ``0.25 s`` is ``250 ms``); days become ISO dates. The normal
    form is stable: its own value has the same one. "Next Tuesday" depends on when they were said.
    """
    shown = text.strip()[:LONGEST].strip()
    kind, norm, number, unit, at = _read(shown, said_at)
    for _ in range(3):  # words may only show as a number or a day once they are put in order
        again = _read(norm, said_at)
        if again[:2] == (kind, norm) or (again[0] is ValueKind.TEXT and again[1] == norm):
            break
        kind, norm, number, unit, at = again
    return Value(shown, kind, norm, number, unit, at)


def same_value(a: Value, b: Value) -> bool:
    """Return whether two values are the same: their normal forms are equal."""
    return a.norm == b.norm


def read_quantity(number: float, unit: str) -> str:
    """Return the normal form of a number with its unit."""
    digits = f"{number:.12g}"
    return f"{digits} {unit}" if unit else digits


_Reading = tuple[ValueKind, str, float | None, str, Instant | None]


def _read(text: str, said_at: Instant) -> _Reading:
    bare = unicodedata.normalize("NFKC", text).strip(_STRIPPED)
    if (at := date_of(bare, said_at)) is not None:
        return ValueKind.DATE, f"{from_instant(at):%Y-%m-%d}".rjust(10, "0"), None, "", at
    low = bare.casefold()
    if low in _TRUE or low in _FALSE:
        return ValueKind.BOOLEAN, "true" if low in _TRUE else "false", None, "", None
    if (measure := _read_measure(low)) is not None:
        return ValueKind.NUMBER, read_quantity(*measure), measure[0], measure[1], None
    return ValueKind.TEXT, _plain(low) or low or text.strip(), None, "", None


def _plain(low: str) -> str:
    """Return words in their normal form: no determiner at the beginning, singulars, one space between."""
    if _ADDRESS.fullmatch(low):
        return low
    words = _WORDS.findall(low)
    while len(words) > 1 and words[0] in _LEADING:
        words = words[1:]
    return " ".join(singular(word) for word in words)


def _read_measure(low: str) -> tuple[float, str] | None:
    """Return a number and its unit, if a text is one number with at most three words of unit and a rate."""
    head, _, rest = low.partition(" ")
    if NUMBER_WORDS.get(head, "").isdecimal():
        low = f"{NUMBER_WORDS[head]} {rest}"
    found = _NUMBER.fullmatch(low)
    if found is None:
        return None
    number = float(found["digits"].replace(",", "")) * _SCALES.get((found["scale"] or "").lower(), 1.0)
    number = -number if found["minus"] else number
    unit = _unit(found["rest"], _CURRENCIES.get((found["sign"] or "").lower(), ""))
    if unit is None:
        return None
    base, slash, every = unit.partition("/")
    name, factor = _UNITS.get(base, (base, 1.0))
    return number * factor, f"{name}{slash}{every}"


def _unit(rest: str, currency: str) -> str | None:
    """Return a unit in its normal form, empty for none, or None if the words are no unit."""
    every = ""
    if rate := _RATE.search(rest[-30:]):
        every = rate["every"]
        rest = rest[: max(0, len(rest) - len(rest[-30:])) + rate.start()]
    else:
        head, _, last = rest.rpartition(" ")
        if last in _RATES:
            rest, every = head, _RATES[last]
    rest = rest.strip()
    if not _UNIT_WORDS.fullmatch(rest) or (rest and rest[0] == "-" and len(rest) == 1):
        return None
    words = rest.lstrip("-").replace("-", " ").split()
    if words and words[0] in _RATES:
        words, every = words[1:], every or _RATES[words[0]]
    if words and words[0] in _CURRENCIES:
        currency, words = _CURRENCIES[words[0]], words[1:]
    if currency and words:
        return None
    name = currency or " ".join([*words[:-1], singular(words[-1])] if words else [])
    return f"{name}/{_UNITS.get(every, (singular(every),))[0]}" if every else name
