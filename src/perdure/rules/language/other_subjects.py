"""Whether a text that names a value as replaced speaks of another thing than an earlier text that has the value.

"The docs run on port 8081, not 8080" says nothing of "The demo runs on port 8080", nor "Ursula Ammann is on call, not
Urs" of "Urs Ammann is the cheesemaker".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Final

from perdure.records.patterns import lazy_pattern
from perdure.rules.alike_names import names_of
from perdure.rules.language.clauses import clauses
from perdure.rules.language.replaced_values import (
    ReplacedValue,
    content_words,
    content_words_in_order,
    replaced_values,
)
from perdure.rules.language.words import CALENDAR, word_set

_OWNED: Final = lazy_pattern(
    r"(?:\A|[.;:!?]\s+)(?:(?:the|and|but|so)\s+)?"
    r"(?:my|our|his|her|their|(?!let\b|it\b|that\b|there\b|here\b|what\b|who\b|s?he\b)\w+['’]s)\s+(\w+)",  # noqa: RUF001  # the typographic apostrophe
    re.IGNORECASE,
)
"""What a sentence begins with and belongs to somebody: it is about that."""
_OURSELVES: Final = lazy_pattern(r"\b(?:i|we|let['’]?s|us)\b", re.IGNORECASE)  # noqa: RUF001  # as above
_MARKS: Final = lazy_pattern(r"(?:[,;:!?]|(?<!\b\w)(?<!\b\w\w)\.)(?=\s)")  # "Dr. Vogt" goes on
_ENDED: Final = lazy_pattern(r"\bno\s+longer\b", re.IGNORECASE)
_TOKEN: Final = lazy_pattern(r"[^\W_]+(?:[./@:_-][^\W_]+)*")
_OPENING: Final = word_set(
    "update correction decide decided plan change new now current today tomorrow actually sorry starting effective next"
)
"""What may stand before the subject without making it another one."""
_BEGINNING: Final = 40  # characters in which a text says who speaks
_FEW: Final = 3
_HEAD: Final = 400  # characters of each text that are compared: longer ones say more than one thing


@lru_cache(maxsize=4096)
def is_of_another(earlier: str, later: str, value: ReplacedValue) -> bool:
    """Return whether a text that names a value as replaced is about another thing than an earlier one that has it.

    The value is a part of a longer name that the earlier begins with, or each clause that has it has words of its own
    in a place where the later text, without what it says of the old value, has others: beside the value itself.
    """
    if _begins_with_name(earlier, value.words):
        return True
    after = content_words_in_order(_part_about(later, value))
    told = [words for words in map(content_words_in_order, clauses(earlier[:_HEAD])) if value.words <= set(words)]
    told = told or [content_words_in_order(earlier[:_HEAD])]
    known = set(content_words_in_order(earlier[:_HEAD]))
    return all(_differ_beside(words, after, value.words, known) for words in told)


def may_replace(earlier: str, later: str, value: ReplacedValue) -> bool:
    """Return whether a text that names a value as replaced is likely about what an earlier one says of it.

    Both have one subject, as far as words tell: the thing that one begins with is in the other, and is not owned by,
    described or numbered as another one. Who says "I" or "we" in the later may speak of anything.
    """
    return not (is_of_another(earlier, later, value) or _has_other_subject(earlier, later, value))


@lru_cache(maxsize=4096)
def _has_other_subject(earlier: str, later: str, value: ReplacedValue) -> bool:
    if any(word[0].isdigit() for word in value.words) or (value.end == value.start and not _ENDED.search(later)):
        return False  # that the same is counted is looked at by itself; "the Tuesday slots are gone" has no subject
    since = _part_about(later, value)
    before, after = content_words_in_order(earlier[:_HEAD]), content_words_in_order(since)
    if any(not words <= {*before} for words in map(content_words, _OWNED.findall(later[:_HEAD]))):
        return True  # "my aunt", "the patient's wife"
    one, other = _subject(earlier), _subject(since)
    if one is None or other is None or not value.words.isdisjoint((one, other)) or len(after) < _FEW - 1:
        return False  # "Litestar instead of FastAPI" says nothing of what it is
    if one not in after and other not in before:
        return True
    return (
        _is_narrowed(one, before, after)
        or _is_narrowed(other, after, before)
        or _is_numbered_apart(one, earlier, since, value)
    )


def _part_about(text: str, value: ReplacedValue) -> str:
    """Return the part of a text, between its marks, that names a value as replaced, without what it says of that."""
    head = text[:_HEAD]
    start = max((mark.end() for mark in _MARKS.finditer(head, 0, value.start)), default=0)
    end = next((mark.start() for mark in _MARKS.finditer(head, value.end)), len(head))
    return f"{head[start : value.start]} {head[value.end : end]}" if value.end > value.start else head[start:end]


def _subject(text: str) -> str | None:
    """Return the first word of a text that says of what it is, days and numbers aside; None for "I" and "we"."""
    if _OURSELVES.search(text[:_BEGINNING]):
        return None
    words = content_words_in_order(text[:_HEAD])
    return next((w for w in words if w not in CALENDAR and w not in _OPENING and not w[0].isdigit()), None)


def _is_narrowed(subject: str, before: Sequence[str], after: Sequence[str]) -> bool:
    """Return whether one text begins with a subject, and the other with one kind of it: "the API", "the status API"."""
    at = after.index(subject) if subject in after else 0
    return before[:1] == [subject] and 0 < at < _FEW and not {*after[:at]} <= _OPENING.union(before)


def _is_numbered_apart(subject: str, earlier: str, later: str, value: ReplacedValue) -> bool:
    """Return whether behind the subject stand two names or numbers: "client Omega", "client Sigma"."""
    names = [_name_behind(subject, text) for text in (earlier, later)]
    return None not in names and names[0] != names[1] and not value.words.intersection(map(str, names))


def _name_behind(subject: str, text: str) -> str | None:
    words = _TOKEN.findall(text[:_HEAD])
    at = next((n for n, word in enumerate(words) if content_words(word) == {subject}), len(words))
    behind = words[at + 1] if at + 1 < len(words) else ""
    is_name = behind[:1].isupper() or any(map(str.isdigit, behind)) or len(behind) == 1
    return behind.lower() if is_name else None


def _begins_with_name(text: str, value: frozenset[str]) -> bool:
    """Return whether a text begins with a name of several words, of which a value is some: it is about who has it."""
    first = content_words_in_order(text[:_HEAD])[:1]
    return any(value < set(name) and name[0] in first for name in names_of(text)) and value.isdisjoint(CALENDAR)


def _differ_beside(before: Sequence[str], after: Sequence[str], value: frozenset[str], known: Iterable[str]) -> bool:
    """Return whether two rows of words have other words in one place: not the value, and known to one of them only."""
    for how, start, end, first, last in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if how == "replace":
            one, other = set(before[start:end]), set(after[first:last])
            own, new = (_by_number(w - _OPENING) for w in (one.difference(after), other.difference(known)))
            if value.isdisjoint(one | other) and not own.isdisjoint(new):
                return True
    return False


def _by_number(words: Iterable[str]) -> set[bool]:
    """Return of which sort some words are: numbers stand in the place of numbers, "version 2" and "version 3"."""
    return {word[0].isdigit() for word in words}


def replaces_of_another(earlier: str, later: str) -> bool:
    """Return whether a text names values of an earlier one as replaced, but of other things."""
    words = frozenset(content_words_in_order(earlier))
    values = [value for value in replaced_values(later) if value.words <= words]
    return bool(values) and all(is_of_another(earlier, later, value) for value in values)
