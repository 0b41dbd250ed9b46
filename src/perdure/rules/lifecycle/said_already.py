"""Which memories have no line in MEMORY.md because another one says what they say."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

import numpy as np

from perdure.records.digests import same_words
from perdure.records.memory import Kind, MemoryItem, Sort
from perdure.rules.language.replaced_values import content_words
from perdure.rules.language.word_holders import WordHolders
from perdure.rules.last_said import said_at
from perdure.rules.lifecycle.digest_lines import sort_of_memory
from perdure.rules.meaning_guard import Anchors, anchors, denies
from perdure.rules.worth import find_requests

ECHO: Final = 0.8  # from this share of a text's words on, another that has them may say all that it says
_LEAST_WORDS: Final = 4  # words that a note has at least, for a message to say what it says
_HEAD: Final = 4000


def noted_ids(memories: Sequence[MemoryItem], notes: Sequence[tuple[str, float]]) -> set[str]:
    """Return the messages that say what a note says: somebody has put it in a few words already. What is pinned stays.

    What denies a note says something else, and so does what has as few words and another one in the place of the
    note's. Beside each note stands the time before which a message was said, in milliseconds.
    """
    words = [content_words(text) for text, _ in notes]
    holders = WordHolders(words)
    before = np.array([before for _, before in notes], np.float64)
    sizes = np.array([len(own) if len(own) >= _LEAST_WORDS else math.inf for own in words], np.float64)

    def is_noted(memory: MemoryItem) -> bool:
        said = content_words(memory.content)
        common = holders.counts(said)
        says_it = (common >= sizes) | ((common >= ECHO * sizes) & (len(said) > sizes))
        alike = np.flatnonzero(says_it & (before > said_at(memory.state)))
        return any(not denies(memory.content[:_HEAD], notes[at][0][:_HEAD]) for at in alike.tolist())

    return {m.id for m in memories if m.kind is Kind.EPISODE and not m.pinned and is_noted(m)}


def repeated_requests(memories: Iterable[MemoryItem]) -> set[str]:
    """Return the messages that ask to have remembered what notes among the memories say in the same words."""
    memories = list(memories)
    notes = {_plain(m.content) for m in memories if m.kind is Kind.NOTE}
    asking = [m for m in memories if m.kind is Kind.EPISODE and not m.pinned and sort_of_memory(m) is Sort.REQUEST]
    asked = {m.id: {_plain(request.content) for request in find_requests(m.content[:_HEAD])} for m in asking}
    return {identity for identity, words in asked.items() if words and words <= notes}


def _plain(text: str) -> str:
    return same_words(text).rstrip(".")


def repeats(one: MemoryItem, other: MemoryItem) -> bool:
    """Return whether a memory says nothing that another does not: no word, name, number or code; nor denies either.

    One other word makes another statement: "the api service", "the web service".
    """
    own = content_words(one.content)
    if not own or not own <= content_words(other.content) or denies(one.content[:_HEAD], other.content[:_HEAD]):
        return False
    mine, others = cached_anchors(one.content), cached_anchors(other.content)
    kinds = ("numbers", "dates", "names", "code", "negations")
    return all(set(getattr(mine, kind)) <= set(getattr(others, kind)) for kind in kinds)


def nearly_says(one: MemoryItem, other: MemoryItem) -> bool:
    """Return whether a memory says nothing that another does not, and hardly less than that one."""
    least = ECHO * len(content_words(other.content))
    return len(content_words(one.content)) >= least and repeats(one, other)


def may_stand_for(other: MemoryItem, memory: MemoryItem) -> bool:
    """Return whether a line of another memory leaves no line for a memory, whichever of the rules here it is."""
    notes = [(other.content, math.inf)] if other.kind is Kind.NOTE else []
    return repeats(memory, other) or memory.id in noted_ids([memory], notes) | repeated_requests([memory, other])


@lru_cache(maxsize=4096)
def cached_anchors(text: str) -> Anchors:
    """Return what a text must not lose, found once for all the texts that it is compared with."""
    return anchors(text)
