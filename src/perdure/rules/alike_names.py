"""Which texts are about somebody else than a question, or than another text, whose name is alike: Anna and Anne Weber.

Only names are compared, as texts write them. Which entities a store knows plays no part, so nothing is looked up.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from perdure.records.recall import Hit
from perdure.rules.language.words import CALENDAR, QUESTION_WORDS, STOP_WORDS, names_in, word_set

_HEAD: Final = 2000  # characters that are read of a text
_LONGEST: Final = 200  # characters of the name that a text begins with
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")  # noqa: RUF001  # the typographic apostrophe is meant
_CAPITALISED: Final = re.compile(
    r"(?<![^\W\d_])(?<![^\W\d_]['’])[^\W\d_a-z][^\W\d_]*(?:['’][^\W\d_]+)*"  # noqa: RUF001  # as above
)
"""A word that may begin with a capital: of most texts, few do."""
_POSSESSIVE: Final = re.compile(r"['’]s?\Z")  # noqa: RUF001  # as above
_TITLES: Final = word_set("mr mrs ms miss dr prof herr frau señor señora sr sra monsieur madame mme signor signora")
_BEFORE_N: Final = ("e", "el", "er")  # endings of German nouns whose plural ends in -n: Kunde, Kunden
_NO_NAMES: Final = STOP_WORDS | CALENDAR | QUESTION_WORDS | _TITLES

Name = tuple[str, ...]  # the words of a name in their order, lower case


@lru_cache(maxsize=4096)  # the hits of some answers: each is asked several times
def names_of(text: str) -> tuple[Name, ...]:
    """Return the names in a text, in their order: capitalised words side by side, without titles.

    A word that only opens a sentence is among them.
    """
    found: list[list[str]] = []
    end = -1
    head = text[:_HEAD]
    for match in _CAPITALISED.finditer(head):
        word = _POSSESSIVE.sub("", match[0]).lower()
        if match[0][0].isupper() and word not in _NO_NAMES:
            if found and head[end : match.start()] in (" ", "-"):
                found[-1].append(word)
            else:
                found.append([word])
            end = match.end()
    return tuple(map(tuple, found))


def mistakable_names(question: str, texts: Sequence[str]) -> frozenset[Name]:
    """Return the names in a question, as some texts have them, that are like another one in these.

    One of several words may be written in the question without capitals.
    """
    known = {name for text in texts for name in names_of(text)}
    words = _words(question)
    asked = {name for name in known if len(name) > 1 and _holds(words, name)}
    asked |= {(word,) for word in names_in(question) if not any(word in name for name in asked)}
    return frozenset(name for name in asked if any(_are_alike(name, other) for other in known - asked))


def names_asked(text: str, asked: frozenset[Name]) -> bool:
    """Return whether a text names one of those who are asked about."""
    words = _words(text) if asked else ""
    return any(_holds(words, name) for name in asked)


def names_another(text: str, asked: frozenset[Name]) -> bool:
    """Return whether a text names somebody whose name is like that of those who are asked about, and none of these."""
    alike = any(_are_alike(name, other) for other in (names_of(text) if asked else ()) for name in asked)
    return alike and not names_asked(text, asked)


def pairs_of_one_name(question: str, texts: Sequence[str], pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the pairs of places without those of which one text is about somebody else whose name is alike."""
    asked = mistakable_names(question, texts)
    opening = [opening_name(text) for text in texts]
    if not asked and sum(map(bool, opening)) < 2:  # noqa: PLR2004  # no two to be told apart
        return list(pairs)
    other = [names_another(text, asked) for text in texts]
    named = [names_asked(text, asked) for text in texts]
    return [
        (i, j)
        for i, j in pairs
        if not (other[i] and named[j]) and not (other[j] and named[i]) and not are_of_two(opening[i], opening[j])
    ]


def asks_for_another_name(question: str, earlier: str, later: str) -> bool:
    """Return whether a question names what the earlier of two texts names and the later one does not, but another.

    "When is the meeting with Vera?" is not answered by what is said of the meeting with Wim.
    """
    words, said = set(_words(earlier).split()), set(_words(later).split())
    asked = names_in(question) | (names_in(earlier) & set(_words(question).split()))
    others = names_in(later) | set(opening_name(later))
    return not (asked & words) <= said and not others <= words


def opening_name(text: str) -> Name:
    """Return the full name with which a text begins; empty if there is none.

    Its first word may be none of a name, and only open the sentence: "Yesterday Anna".
    """
    head = text[:_LONGEST]
    name = next(iter(names_of(head)), ())
    return name if len(name) > 1 and _words(head).startswith(f" {' '.join(name)} ") else ()


def are_of_two(one: Name, other: Name) -> bool:
    """Return whether two names that open texts are of two: they have the same words but for some that are spelt alike.

    Other words may be two ways to say one thing ("Production Database", "Production DB"), or open a sentence only.
    """
    size = min(len(one), len(other))
    pairs = [(a, b) for a, b in zip(one[-size:], other[-size:], strict=True) if a != b] if size > 1 else []
    return bool(pairs) and all(_are_spelt_alike(a, b) for a, b in pairs)


def _are_alike(one: Name, other: Name) -> bool:
    """Return whether two names are of two, and may be mistaken for each other."""
    if set(one) <= set(other) or set(other) <= set(one):
        return False  # a part of a name names the same
    if min(len(one), len(other)) > 1 and (one[0] == other[0] or one[-1] == other[-1]):
        return True  # in another place the word is of the same: "Yesterday Anna" is Anna Weber
    if min(len(one), len(other)) == 1:  # of a full name one word is called: "Anne" is not Anna Weber
        return any(_are_spelt_alike(a, b) for a in one for b in other)
    return len(one) == len(other) and all(a == b or _are_spelt_alike(a, b) for a, b in zip(one, other, strict=True))


def _are_spelt_alike(one: str, other: str) -> bool:
    """Return whether two words differ in one letter behind the first; an ending of the plural is of the same word."""
    if len(one) > len(other):
        one, other = other, one
    if one[0] != other[0] or len(other) - len(one) > 1 or other == f"{one}s":
        return False
    if other == f"{one}n" and one.endswith(_BEFORE_N):
        return False
    at = next((i for i, letter in enumerate(one) if letter != other[i]), len(one))
    return one[at + (len(one) == len(other)) :] == other[at + 1 :]


def _words(text: str) -> str:
    words = (_POSSESSIVE.sub("", word) for word in _WORD.findall(text[:_HEAD].lower()))
    return f" {' '.join(words)} "


def _holds(words: str, name: Name) -> bool:
    return f" {' '.join(name)} " in words


def named_first(hits: Sequence[Hit], question: str) -> list[Hit]:
    """Return the same hits; those about somebody else whose name is alike stand behind those about whom is asked."""
    texts = [hit.memory.content for hit in hits]
    asked = mistakable_names(question, texts)
    if not asked:
        return list(hits)
    named = [at for at, text in enumerate(texts) if names_asked(text, asked)]
    other = [at for at, text in enumerate(texts) if named and at < named[-1] and names_another(text, asked)]
    before = [at for at in range(named[-1] + 1 if named else 0) if at not in other]
    return [hits[at] for at in (*before, *other, *range(len(before) + len(other), len(hits)))]
