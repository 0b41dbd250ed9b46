"""Patterns of clauses, as the file of a language lists them, and the values that they take out of a clause."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Final, NamedTuple

from perdure.knowledge.extraction.clauses import Clause
from perdure.knowledge.extraction.words import TextSpan, Word, Words, is_name, singular, skip_determiners
from perdure.knowledge.languages import WORDS, language
from perdure.rules.language.words import NUMBER_WORDS

_AMOUNT: Final = re.compile(
    r"[$€£~]?\d[\d,.]*(?:k|m|bn)?(?:%|ms|s|kg|km|cm|mm|m|g|gb|mb|tb|lbs?|mph|min|h|usd|eur)?(?:/\w+)?", re.IGNORECASE
)
_VERSION: Final = re.compile(r"v?\d+(?:\.\d+){0,3}(?:\.x)?")
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
CLOCK: Final = re.compile(r"\d{1,2}[:.]\d\d(?:am|pm)?|\d{1,2}(?:am|pm)")
_RATES: Final = frozenset({"daily", "weekly", "monthly", "yearly", "annually"})
_PER: Final = frozenset({"per", "a", "an", "each", "every"})
_TIMES: Final = frozenset(
    {"second", "minute", "hour", "day", "week", "month", "year", "min", "sec", "time", "am", "pm", "hr", "decade"}
)
_NO_THING: Final = WORDS["no_value"] | WORDS["stops"] | WORDS["prepositions"] | WORDS["adverbs"]
_ENDS_THING: Final = WORDS["stops"] | WORDS["prepositions"]
_LONGEST: Final = 8  # words of a value
_RATHER: Final = frozenset({"over", "to", "rather"})
_TURNS: Final = _RATHER | {"because", "since", "but", "as", "so", ",", "when", "while", "unless", "if", "especially"}
_NO_UNIT: Final = _ENDS_THING | WORDS["joining"] | WORDS["determiners"] | WORDS["be"] | _RATES
STATES: Final = {state: name for name, states in language("en").tables["states"].items() for state in states.split()}
"""What somebody is -> the predicate that says so."""


class Pattern(NamedTuple):
    """One line of the file: ``live in|near PLACE = home``."""

    parts: tuple[str, ...]  # alternatives, or a kind of value; "?" behind what may be missing, "OLD:" before what was
    predicate: str
    flags: frozenset[str]  # many, past, corr, pref

    @property
    def kind(self) -> str:
        """The sort of predicate, where the line says it: ``type:setting``."""
        return next((f[5:] for f in self.flags if f.startswith("type:")), "")


class PatternMatch(NamedTuple):
    """What a pattern takes out of a clause."""

    pattern: Pattern
    value: Words
    old: Words = ()  # what was before


@cache
def patterns() -> dict[str, list[Pattern]]:
    """Return verb -> the patterns of the language, in their order."""
    found: dict[str, list[Pattern]] = {}
    for line in language("en").patterns:
        left, _, right = line.partition(" = ")
        verbs, *parts = left.split()
        predicate, *flags = right.split()
        for verb in verbs.split("|"):
            found.setdefault(verb, []).append(Pattern(tuple(parts), predicate, frozenset(flags)))
    return found


def match(clause: Clause) -> PatternMatch | None:
    """Return what the first pattern takes out of a clause that fits it to its end."""
    some = (p for p in patterns().get(clause.verb, ()) if not clause.past or "past" in p.flags or clause.ended)
    return next((found for pattern in some if (found := _fit(pattern, clause)) is not None), None)


def _fit(pattern: Pattern, clause: Clause) -> PatternMatch | None:
    at = 0
    slots: dict[str, Words] = {"": (), "OLD": ()}
    for part in pattern.parts:
        role, _, name = part.rpartition(":")
        if name in _SLOTS:
            stop = _SLOTS[name](clause, at)
            if stop is None or stop <= at:
                return None
            slots[role] = clause.rest[at + skip_determiners(clause.rest[at:stop]) : stop]
            at = stop
        elif at < len(clause.rest) and clause.rest[at].low in part.rstrip("?").split("|"):
            at += 1
        elif not part.endswith("?"):
            return None
    # "live in Lyon, with my wife", "prefer tea to coffee"
    beside = at >= len(clause.rest) or clause.date_at(clause.rest[at]) or clause.rest[at].low in WORDS["beside"]
    rather = clause.verb == "prefer" and at < len(clause.rest) and clause.rest[at].low in _RATHER
    return PatternMatch(pattern, slots[""], slots["OLD"]) if slots[""] and (beside or rather) else None


# --- the kinds of values: (clause, first word) -> one past the last


def name_end(clause: Clause, at: int) -> int | None:
    """Return where a proper name ends, its title and what links it included."""
    words, begin = clause.rest, at
    if at + 1 < len(words) and words[at].low in WORDS["titles"] | {"the"} and is_name(words[at + 1]):
        at += 1
    while at < len(words) and at - begin < _LONGEST and _goes_on(words, begin, at) and not clause.date_at(words[at]):
        at += 1
    while at > begin and words[at - 1].low in WORDS["linking"] | {"the", "&"}:
        at -= 1
    plain = at > begin and (at - begin > 1 or words[begin].low not in WORDS["not_names"] | WORDS["titles"])
    return at if plain else None


def _goes_on(words: Words, begin: int, at: int) -> bool:
    word = words[at]
    if is_name(word):
        return True
    inner = at > begin and at + 1 < len(words) and (word.low in WORDS["linking"] or word.form == "&")
    return inner and is_name(words[at + 1])


def _self_end(clause: Clause, at: int) -> int | None:
    """The name by which somebody introduces himself: "I'm Kezia"; no nation, no faith."""
    stop = name_end(clause, at)
    alone = stop is not None and stop == len(clause.rest) and stop - at <= 2 and clause.subject[0].low == "i"  # noqa: PLR2004
    odd = any(
        w.low.endswith(("ish", "ese", "ian", "ean", "can", "ist")) or w.form.isupper() for w in clause.rest[at:stop]
    )
    return stop if alone and not odd and not clause.denied else None


def _place_end(clause: Clause, at: int) -> int | None:
    stop = name_end(clause, at)
    while stop is not None and stop + 1 < len(clause.rest) and clause.rest[stop].form == ",":
        more = name_end(clause, stop + 1)
        if more is None:
            break
        stop = more
    return stop


def version_end(clause: Clause, at: int) -> int | None:
    """A program with its version: "Python 3.11". By themselves 3.1 and 3.10 would be one number."""
    stop = name_end(clause, at)
    if stop is None or stop >= len(clause.rest) or not _VERSION.fullmatch(clause.rest[stop].low):
        return None
    return None if _YEAR.fullmatch(clause.rest[stop].low) else stop + 1


def is_identifier(word: Word) -> bool:
    """Return whether a word is written like a name that programs use: ``pg-stage-2``, ``docs.acme.dev``."""
    inner = word.form[1:]
    if CLOCK.fullmatch(word.low):
        return False
    if any(c in inner for c in "_/.@:") or (word.form[0] == "#" and inner):
        return True
    digits = any(c.isdecimal() for c in word.form)
    return digits and (word.form[0].isalpha() or ("-" in inner and word.form.replace("-", "").isdecimal()))


def thing_end(clause: Clause, at: int) -> int | None:
    """Return where a noun phrase ends, at what begins something else; None if nothing is named there."""
    words = clause.rest
    begin = at + skip_determiners(words[at:])
    if begin >= len(words) or words[begin].low in _NO_THING:
        return None
    stop = begin
    while stop < min(len(words), begin + _LONGEST) and not _ends_thing(clause, begin, stop):
        stop += 1
    while stop > begin and words[stop - 1].low in {"and", "or", "of", "&", ","} | WORDS["determiners"]:
        stop -= 1
    head = words[stop - 1].low if stop > begin else ""
    return stop if stop > begin and head not in WORDS["no_value"] and stop - begin < _LONGEST else None


def _ends_thing(clause: Clause, begin: int, at: int) -> bool:
    word = clause.rest[at]
    return word.form == "," or word.low in _ENDS_THING or (at > begin and clause.date_at(word) is not None)


def _phrase_end(clause: Clause, at: int) -> int | None:
    """Words up to the end of the clause that hold no other clause: "meetings in the morning"."""
    words = clause.rest
    begin = at + skip_determiners(words[at:])
    if begin < len(words) - 1 and words[begin].low == "to":
        begin += 1  # "to work from home"
    if points_elsewhere(words[at:]) or begin >= len(words) or words[begin].low in WORDS["no_value"] | WORDS["stops"]:
        return None
    stop = next((i for i in range(begin, len(words)) if _turns(clause, i)), len(words))
    inner = [w.low for w in words[begin:stop]]
    bad = WORDS["no_phrase"].intersection(inner) or len(inner) > _LONGEST
    return None if bad or not inner or words[stop - 1].low in WORDS["no_value"] | WORDS["prepositions"] else stop


def points_elsewhere(words: Words) -> bool:
    """Return whether some words point at what is said elsewhere: "this approach", "its simplicity", "the former"."""
    lows = [w.low for w in words[:2]]
    return bool(lows) and (lows[0] in WORDS["pointing"] or lows[-1] in {"former", "latter"})


def _turns(clause: Clause, at: int) -> bool:
    return clause.rest[at].low in _TURNS or clause.date_at(clause.rest[at]) is not None


def measure_end(clause: Clause, at: int) -> int | None:
    """Return where a number ends with its unit and its rate: "$950 a month", "500 requests per minute"."""
    words, low = clause.rest, clause.rest[at].low if at < len(clause.rest) else ""
    while low in WORDS["about"] and at + 1 < len(words):
        at, low = at + 1, words[at + 1].low
    spelt = NUMBER_WORDS.get(low, "").isdecimal() and low != "one"
    if not spelt and (not _AMOUNT.fullmatch(low) or _YEAR.fullmatch(low) or clause.date_at(words[at])):
        return None
    stop = at + 1
    if low[0] not in "$€£" and low[-1] != "%":
        while stop < len(words) and stop - at < 4 and _is_unit(words[stop]):  # noqa: PLR2004
            stop += 1
    following = words[stop].low if stop < len(words) else ""
    if following in _RATES:
        return stop + 1
    rated = following in _PER and stop + 1 < len(words) and singular(words[stop + 1].low) in _TIMES
    return stop + 2 if rated else stop


def _is_unit(word: Word) -> bool:
    return word.low.replace("-", "").isalpha() and word.low not in _NO_UNIT and not word.low.endswith("ly")


def _state_end(clause: Clause, at: int) -> int | None:
    if "-".join(w.low for w in clause.rest[at : at + 2]) in STATES:
        return at + 2
    return at + 1 if at < len(clause.rest) and clause.rest[at].low in STATES else None


_SLOTS: Final[dict[str, Callable[[Clause, int], int | None]]] = {
    "PLACE": _place_end,
    "NAME": name_end,
    "ORG": name_end,
    "SELF": _self_end,
    "VERSION": version_end,
    "PHRASE": _phrase_end,
    "STATE": _state_end,
}


def list_items(words: Words) -> Iterator[Words]:
    """Return the items of a list: "pork, beef and lamb"; each at most three words, or the whole."""
    items: list[list[Word]] = [[]]
    for word in words:
        if word.low in {",", "and", "or", "&"}:
            items.append([])
        elif items[-1] or word.low not in {"some", "a", "little", "bit", "of", "fluent", "both"}:
            items[-1].append(word)
    full = [tuple(item) for item in items if item]
    yield from full if all(len(item) <= 3 for item in full) else [words]  # noqa: PLR2004


def span_of(words: Words) -> TextSpan:
    """Return where words stand."""
    return words[0].start, words[-1].end
