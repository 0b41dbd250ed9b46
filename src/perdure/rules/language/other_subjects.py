"""Whether a text that names a value as replaced speaks of another thing than an earlier text that has the value.

"The docs run on port 8081, not 8080" says nothing of "The demo runs on port 8080", nor "Ursula Ammann is on call, not
Urs" of "Urs Ammann is the cheesemaker".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Final

from perdure.rules.alike_names import names_of
from perdure.rules.language.clauses import clauses
from perdure.rules.language.replaced_values import ReplacedValue, content_words_in_order, replaced_values
from perdure.rules.language.words import CALENDAR

_HEAD: Final = 400  # characters of each text that are compared: longer ones say more than one thing


@lru_cache(maxsize=4096)
def is_of_another(earlier: str, later: str, value: ReplacedValue) -> bool:
    """Return whether a text that names a value as replaced is about another thing than an earlier one that has it.

    The value is a part of a longer name that the earlier begins with, or each clause that has it has words of its own
    in a place where the later text, without what it says of the old value, has others: beside the value itself.
    """
    if _begins_with_name(earlier, value.words):
        return True
    since = f"{later[: value.start]} {later[value.end :]}" if value.end > value.start else later
    after = content_words_in_order(since[:_HEAD])
    told = [words for words in map(content_words_in_order, clauses(earlier[:_HEAD])) if value.words <= set(words)]
    told = told or [content_words_in_order(earlier[:_HEAD])]
    known = set(content_words_in_order(earlier[:_HEAD]))
    return all(_differ_beside(words, after, value.words, known) for words in told)


def _begins_with_name(text: str, value: frozenset[str]) -> bool:
    """Return whether a text begins with a name of several words, of which a value is some: it is about who has it."""
    first = content_words_in_order(text[:_HEAD])[:1]
    return any(value < set(name) and name[0] in first for name in names_of(text)) and value.isdisjoint(CALENDAR)


def _differ_beside(before: Sequence[str], after: Sequence[str], value: frozenset[str], known: Iterable[str]) -> bool:
    """Return whether two rows of words have other words in one place: not the value, and known to one of them only."""
    for how, start, end, first, last in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if how == "replace":
            one, other = set(before[start:end]), set(after[first:last])
            own, new = _by_number(one.difference(after)), _by_number(other.difference(known))
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
