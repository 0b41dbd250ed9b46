"""Where two texts contradict each other: different numbers beside the same word, or one denies what the other states.

Nothing here decides which of them holds. Words are compared by their first letters, so that endings do not matter in
any language whose words are written apart; digits are digits everywhere.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from perdure.rules.language.word_holders import WordHolders
from perdure.rules.language.words import CALENDAR, NUMBER_WORDS, STOP_WORDS, word_set

LONGEST: Final = 4_000
"""Characters that are read of a text: what people say of themselves stands before the log that they paste."""
REACH: Final = 3  # so many words before and after a number it may be a number of
_SHARE: Final = 0.6  # so much of what is denied another text must say
_LEAST: Final = 2  # so many words at least
_PREFIX: Final = 5  # letters of a word that are compared
_NEVER: Final = word_set("never nie niemals nunca jamás jamais")
_CHANGING: Final = word_set("""
now actually changed change recently updated update increased raised reduced moved extended adjusted instead new latest
already since reached improved switched swapped replaced cancelled canceled dropped ended postponed rescheduled renamed
promoted quit finally turned became anymore longer
jetzt inzwischen neu neue statt umgezogen gewechselt geändert verschoben gekündigt ahora nuevo nueva cambió cambiado ya
maintenant nouveau nouvelle déménagé changé agora novo nova mudou mudei
""")
"""Words with which people say what has changed."""
_AROUND: Final = 8  # so many words before and after a figure, in its clause, say what it is a figure of
_SIGNS: Final = frozenset("$€£¥%")
_COUNTS: Final = {word: number for word, number in NUMBER_WORDS.items() if number.isdigit() and int(number) > 1}
_CODE: Final = re.compile(r"```(?s:.*?)(?:```|\Z)")
_TOKEN: Final = re.compile(r"[^\W\d_]\w*(?:['’][^\W\d_]+)*|\d+(?:[.,:]\d+)*|[$€£¥%]")  # noqa: RUF001  # the typographic apostrophe
"""A word, or a number; the digits in a name ("alpha7") are none, those before a unit ("300ms") are."""
_DIGIT: Final = re.compile(r"\d")
_APOSTROPHE: Final = re.compile("['’]")  # noqa: RUF001  # as above
_CLAUSE: Final = re.compile(r"[.!?;,\n]+(?=\s|$)")
_THOUSANDS: Final = re.compile(r"[.,](?=\d{3}(?!\d))")
_YEAR: Final = re.compile(r"(?:19|20)\d\d")


class TextNumber(NamedTuple):
    """A number that is neither a year nor part of a date."""

    unit: str  # the sign beside it, or the beginning of one of the two words after it; empty if there is none
    value: str
    context: frozenset[str]  # the beginnings of the words around it


@dataclass(frozen=True, slots=True)
class Statements:
    """What a text says that another may say otherwise, in a form that can be compared."""

    numbers: dict[str, frozenset[str]]  # beginning of a word -> the numbers that stand beside it
    # for each "never" the beginnings of the words after it in its clause; of all of them if those are few
    denied: tuple[frozenset[str], ...]
    affirmed: tuple[frozenset[str], ...]  # for each clause the beginnings of its words, those after a "never" left out
    figures: tuple[TextNumber, ...]
    words: frozenset[str]  # the beginnings of all words
    changes: int  # how many of its words say that something has changed
    length: int  # in characters, without code


def statements(text: str, reach: int = REACH) -> Statements:
    """Return what a text says that another may say otherwise; blocks of code say nothing. Linear in its length."""
    return _statements(text[:LONGEST], reach)


@lru_cache(maxsize=4096)  # more than a digest considers, or each of its texts is read again for each other one
def _statements(text: str, reach: int) -> Statements:
    plain = _CODE.sub("\n", text).lower()
    may_count = not plain.isascii() or _DIGIT.search(plain) is not None
    denied, affirmed, figures, all_words = [], [], [], list[str]()
    for clause in _CLAUSE.split(plain):  # none of which cuts a word or a number
        tokens = _TOKEN.findall(clause)
        if may_count or not _COUNTS.keys().isdisjoint(tokens):
            figures += _figures(tokens)
        words = tokens if _SIGNS.isdisjoint(tokens) else [token for token in tokens if token not in _SIGNS]
        all_words += words
        is_plain = _NEVER.isdisjoint(words)
        at = len(words) if is_plain else next(i for i, word in enumerate(words) if word in _NEVER)
        before, after = _beginnings(words[:at]), _beginnings(words[at + 1 :])
        affirmed.append(before)
        # "I've never visited Rome", but "Ich habe Rom nie besucht".
        denied.append(after if len(after) >= _LEAST or at == len(words) else before | after)
    return Statements(
        _numbers(all_words, reach) if may_count else {},
        tuple(words for words in denied if len(words) >= _LEAST),
        tuple(words for words in affirmed if len(words) >= _LEAST),
        tuple(dict.fromkeys(figures)),
        _beginnings(all_words),
        sum(word in _CHANGING for word in all_words),
        len(plain),
    )


@lru_cache(maxsize=8192)  # texts and their clauses, each of which is compared with many
def numbers_in(text: str) -> frozenset[str]:
    """Return the numbers that a text names, in digits: "7" of "year 7" and of "year seven"."""
    tokens = _TOKEN.findall(text[:LONGEST].lower())
    return frozenset(_COUNTS.get(token) or token for token in tokens if token in _COUNTS or token[0].isdigit())


def _figures(tokens: list[str]) -> list[TextNumber]:
    found = []
    for at, token in enumerate(tokens):
        value = _COUNTS.get(token) or (_THOUSANDS.sub("", token) if token[0].isdigit() else "")
        if not value:
            continue
        beside = {*tokens[max(0, at - 1) : at], *tokens[at + 1 : at + 2]}
        if not _YEAR.fullmatch(value) and beside.isdisjoint(CALENDAR):
            sign = next(iter(beside & _SIGNS), "")
            units = filter(None, map(_prefix, tokens[at + 1 : at + 3]))
            context = _beginnings(tokens[max(0, at - _AROUND) : at + _AROUND + 1])
            found.append(TextNumber(sign or next(units, ""), value, context))
    return found


def _numbers(tokens: list[str], reach: int) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for at, token in enumerate(tokens):
        if token[0].isdigit():
            number = _THOUSANDS.sub("", token)
            for word in _beginnings(tokens[max(0, at - reach) : at + reach + 1]):
                found[word].add(number)
    return {word: frozenset(numbers) for word, numbers in found.items()}


def _beginnings(words: list[str]) -> frozenset[str]:
    """Return the beginnings of content words; days and months say when, not of what a number is."""
    return frozenset(filter(None, map(_prefix, words)))


@lru_cache(maxsize=8192)  # people use few words again and again
def _prefix(word: str) -> str:
    is_content = word[0].isalpha() and _APOSTROPHE.split(word)[0] not in STOP_WORDS and word not in CALENDAR
    return word[:_PREFIX] if is_content else ""


def differ(one: Statements, other: Statements) -> bool:
    """Return whether two texts say otherwise of one thing: all their numbers of it differ, or one denies it."""
    shared = one.numbers.keys() & other.numbers.keys()
    return (
        any(one.numbers[word].isdisjoint(other.numbers[word]) for word in shared)
        or _denies(one, other)
        or _denies(other, one)
    )


def _denies(one: Statements, other: Statements) -> bool:
    return any(
        len(words & clause) >= max(_LEAST, _SHARE * len(words)) for words in one.denied for clause in other.affirmed
    )


def differing_texts(texts: Sequence[Statements]) -> NDArray[np.bool_]:
    """Return [n, n] of which texts ``differ``: each is looked up among all of them instead of compared with each."""
    return denying_texts(texts) | with_other_numbers([one.numbers for one in texts])


def with_other_numbers(texts: Sequence[Mapping[str, Collection[str]]]) -> NDArray[np.bool_]:
    """Return [n, n] of which texts have other numbers beside one word. ``texts`` have word -> the numbers beside it."""
    found = np.zeros((len(texts), len(texts)), np.bool_)
    numbers = [(at, word, values) for at, one in enumerate(texts) for word, values in one.items()]
    owners = np.array([at for at, _, _ in numbers], np.int64)
    beside = WordHolders([(word, *_pairs(word, values)) for _, word, values in numbers])
    for at, one in enumerate(texts):
        if one:
            shared = beside.counts(one) > 0
            same = beside.counts(pair for word, values in one.items() for pair in _pairs(word, values)) > 0
            found[at, owners[shared & ~same]] = True
    return found


def _pairs(word: str, numbers: Iterable[str]) -> list[str]:
    return [f"{word} {number}" for number in numbers]  # no word has a space


def denying_texts(texts: Sequence[Statements]) -> NDArray[np.bool_]:
    """Return [n, n] of which texts one denies what the other says."""
    found = np.zeros((len(texts), len(texts)), np.bool_)
    if any(one.denied for one in texts):
        owners = np.array([at for at, one in enumerate(texts) for _ in one.affirmed], np.int64)
        clauses = WordHolders([clause for one in texts for clause in one.affirmed])
        for at, one in enumerate(texts):
            for words in one.denied:
                found[at, owners[clauses.counts(words) >= max(_LEAST, _SHARE * len(words))]] = True
    return found | found.T
