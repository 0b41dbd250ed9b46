"""What a message is about: its words, as topics that can be counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from perdure.rules.language.words import query_words, word_set

_SHORTEST: Final = 3
_ES: Final = ("ses", "xes", "zes", "ches", "shes")
_IDLE: Final = word_set("""
    ok okay yes yeah yep hey hi hello thanks thank please good great nice sure right well really like just get got know
    think want need make let see say tell go going thing things lot bit much also still today tomorrow yesterday
    """)
"""Words that are said whatever it is about."""


@dataclass(frozen=True, slots=True)
class TopicMessage:
    """One message of a session."""

    id: str  # the memory that holds it
    session: str  # which one
    topics: frozenset[str]  # what it is about


def topics_of(text: str) -> frozenset[str]:
    """Return what a message is about; numbers, short words and those said whatever it is about are no topics."""
    words = (w for w in query_words(text) if len(w) >= _SHORTEST and w.isalpha() and w not in _IDLE)
    return frozenset(map(fold_plural, words))


def fold_plural(word: str) -> str:
    """Return a word without the ending of its plural, so that one and several are one topic."""
    if len(word) <= _SHORTEST or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > len("pies"):
        return f"{word[:-3]}y"
    return word[:-2] if word.endswith(_ES) else word[:-1]
