"""Which words are forms, synonyms or misspellings of one another."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from perdure.rules.language.synonyms import SYNONYMS
from perdure.rules.language.verbs import IRREGULAR_PASTS, OTHER_PASTS
from perdure.rules.language.words import PEOPLE, RELATIONS, TURNING, TURNING_VERBS, word_set

PAST: Final = "<"  # ends the form of a verb in the past, which is not the present
_SAME_FORM: Final = word_set(
    "news means goods glasses customs arms series species physics mathematics politics always plus minus bus gas yes "
    "thing something anything nothing everything king ring spring string wing during morning evening "
    "need feed speed seed breed indeed hundred"
)
"""Words whose ending is no suffix."""
_CLOSED: Final = (TURNING | RELATIONS | PEOPLE) - TURNING_VERBS - {"used"}
_NOMINAL: Final = {
    "ation": (("", ""), ("", "e"), ("ic", "y"), ("", "ate")),
    "ion": (("", ""), ("", "e"), ("s", "d"), ("s", "de"), ("ss", "t"), ("pt", "be"), ("ct", "ce")),
    "ment": (("", ""),),
    "al": (("", ""), ("", "e")),
    "ance": (("", ""), ("", "e")),
    "ence": (("", ""), ("", "e")),
    "ure": (("", ""), ("", "e")),
    "ility": (("", "le"),),
    "ity": (("", ""), ("", "e")),
    "ness": (("", ""), ("i", "y")),
}
"""Ending of a noun -> what stands at its stem's end, and in the word that it is made of."""
_CLOSED_SYLLABLE: Final = re.compile(r"[^aeiou]{0,2}[aeiou][^aeiouwxy]")
_SHORTEST: Final = 4
_TYPO_FROM: Final = 5
_DOUBLED_FROM: Final = 9
_NO_SLIP: Final = word_set(
    "angel angle trial trail diary dairy casual causal united untied quiet quite desert dessert later latter "
    "diner dinner super supper comma coma sacred scared martial marital calm clam bread beard board broad"
)
"""Pairs of words that look like a slip of each other."""


@lru_cache(maxsize=4096)
def word_forms(word: str) -> frozenset[str]:
    """Return what a word may be a form of: itself, its base, their synonyms; of a past the base with ``<``.

    Other suffixes change what is said: -er compares, -ly is another word ("hard", "hardly").
    """
    if word in _CLOSED or not word.isalpha():
        return frozenset({SYNONYMS.get(word, word)})
    found = {word} | _bases(word) | {base + PAST for base in _past_bases(word)}
    for form in tuple(found):
        base = form.rstrip(PAST)
        if base in SYNONYMS:
            found.add(SYNONYMS[base] + form[len(base) :])
    return frozenset(found)


def _bases(word: str) -> set[str]:
    """Return what a word may be the plural, the third person or the -ing form of."""
    if word in _SAME_FORM or len(word) < _SHORTEST:  # "is", "us", "gas"
        return set()
    if word.endswith("ies"):
        return {word[:-3] + "y"}
    if word.endswith(("ses", "xes", "zes", "ches", "shes", "oes")):
        return {word[:-2], word[:-1]}
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return {word[:-1]}
    return _stems(word[:-3]) if word.endswith("ing") and len(word) > _SHORTEST + 1 else set()


def _past_bases(word: str) -> set[str]:
    if word in IRREGULAR_PASTS:
        return {IRREGULAR_PASTS[word]}
    if word in OTHER_PASTS:
        return {OTHER_PASTS[word]}
    if word in _SAME_FORM or not word.endswith("ed") or len(word) <= _SHORTEST:
        return set()
    return {word[:-3] + "y"} if word.endswith("ied") else _stems(word[:-2])


def _stems(stem: str) -> set[str]:
    """Return which verbs may stand before -ing and -ed: "stop" in "stopped", "hope" in "hoped"."""
    if stem[-1] == stem[-2:-1] and stem[-1] not in "lsz":
        return {stem[:-1]}  # running
    if _CLOSED_SYLLABLE.fullmatch(stem):
        return {stem + "e"}  # hoping; hop gives hopping
    return {stem, stem + "e", stem[:-1]} if stem[-1] == stem[-2:-1] else {stem, stem + "e"}


def is_noun_of(noun: str, word: str) -> bool:
    """Return whether a noun is made of a verb or an adjective: "extension" of "extended"."""
    bases = {form.rstrip(PAST) for form in word_forms(word)}
    for single in {noun, *_bases(noun)}:
        for suffix, endings in _NOMINAL.items():
            stem = single.removesuffix(suffix)
            if stem != single and len(stem) >= _SHORTEST - 1:
                bases_of_noun = {stem[: len(stem) - len(cut)] + put for cut, put in endings if stem.endswith(cut)}
                if not bases_of_noun.isdisjoint(bases):
                    return True
    return False


def is_slip(one: str, other: str) -> bool:
    """Return whether two long words differ by two letters exchanged, or by a letter doubled.

    One letter put for another is no slip: "house" is not "mouse", and "enable" is not "unable".
    """
    if not (one.isalpha() and other.isalpha()) or one in _CLOSED or other in _CLOSED or one in _NO_SLIP:
        return False
    if min(len(one), len(other)) < _TYPO_FROM or one[0] != other[0] or one[-1] != other[-1]:
        return False
    first = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), -1)
    if len(one) == len(other):
        swapped = one[:first] + one[first + 1 : first + 2] + one[first : first + 1] + one[first + 2 :]
        return first > 0 and swapped == other
    long, short = (one, other) if len(one) > len(other) else (other, one)
    if len(long) != len(short) + 1 or len(long) < (_DOUBLED_FROM if long.endswith(("ed", "ing", "er")) else _TYPO_FROM):
        return False
    return first > 0 and long[first] == long[first - 1] and long[:first] + long[first + 1 :] == short
