"""Which memories have no line in MEMORY.md because another one says what they say."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final

import numpy as np

from perdure.records.digests import same_words
from perdure.records.memory import Kind, MemoryItem, Sort
from perdure.records.patterns import lazy_pattern
from perdure.rules.language.replaced_values import content_words
from perdure.rules.language.sentences import sentences
from perdure.rules.language.word_holders import WordHolders
from perdure.rules.language.words import has_name, may_answer
from perdure.rules.last_said import said_at
from perdure.rules.lifecycle.digest_lines import sort_of_memory
from perdure.rules.meaning_guard import Anchors, anchors, denies
from perdure.rules.worth import find_requests

ECHO: Final = 0.8  # from this share of a text's words on, another that has them may say all that it says
_LEAST_WORDS: Final = 4  # words that a note has at least, for a message to say what it says
_HEAD: Final = 4000
_WORD: Final = lazy_pattern(r"[^\W_]+(?:[./@:_'’-][^\W_]+)*")  # noqa: RUF001  # the typographic apostrophe is meant


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
    """Return whether another memory says all that one says: each of its sentences begins one of the other's.

    The other is not older, or has the same sentences: what is said again with less may take back the rest. Words in
    another order, or behind others, may say something else: "Berta is allergic to nuts", "Berta's son is allergic to
    nuts". Nor does either deny the other.
    """
    own = content_words(one.content)
    if not own or not own <= content_words(other.content) or denies(one.content[:_HEAD], other.content[:_HEAD]):
        return False
    mine, others = _sentences(one.content), _sentences(other.content)
    if mine != others and said_at(other.state) < said_at(one.state):
        return False
    return all(any(longer[: len(words)] == words for longer in others) for words in mine)


def latest_sayings(memories: Sequence[MemoryItem]) -> list[MemoryItem]:
    """Return memories without messages that their speaker said again later, in the same sentences.

    What somebody says, changes and says again holds since the last time. What is no message, or is pinned, stays, and
    counts as said when its words were last said.
    """
    said = [
        (m, (_sentences(m.content), m.speaker if has_name(m.speaker) else None)) for m in memories if _may_repeat(m)
    ]
    last: dict[object, MemoryItem] = {}
    for memory, words in said:
        last[words] = max(last.get(words, memory), memory, key=lambda m: (said_at(m.state), m.id))
    own = {memory.id: last[words] for memory, words in said}
    found = []
    for memory in memories:
        latest = own.get(memory.id, memory)
        if latest is memory or said_at(latest.state) <= said_at(memory.state):
            found.append(memory)
        elif memory.pinned or memory.kind is not Kind.EPISODE:
            found.append(replace(memory, state=replace(memory.state, validated_ms=said_at(latest.state))))
    return found


def _may_repeat(memory: MemoryItem) -> bool:
    """Whether a memory is a person's words: a fact has days of its own, and an assistant repeats what it was told."""
    is_told = memory.kind is Kind.NOTE or (memory.kind is Kind.EPISODE and may_answer(memory.speaker))
    return is_told and bool(_sentences(memory.content))


def nearly_says(one: MemoryItem, other: MemoryItem) -> bool:
    """Return whether a memory says nothing that another does not, and hardly less than that one."""
    least = ECHO * len(content_words(other.content))
    return len(content_words(one.content)) >= least and repeats(one, other)


def may_stand_for(other: MemoryItem, memory: MemoryItem) -> bool:
    """Return whether a line of another memory leaves no line for a memory, whichever of the rules here it is."""
    notes = [(other.content, math.inf)] if other.kind is Kind.NOTE else []
    return repeats(memory, other) or memory.id in noted_ids([memory], notes) | repeated_requests([memory, other])


@lru_cache(maxsize=4096)
def _sentences(text: str) -> tuple[tuple[str, ...], ...]:
    """Return the words of each sentence of a text in their order, lower case."""
    head = text[:_HEAD]
    found = (tuple(_WORD.findall(head[start:end].lower())) for start, end in sentences(head))
    return tuple(words for words in found if words)


@lru_cache(maxsize=4096)
def cached_anchors(text: str) -> Anchors:
    """Return what a text must not lose, found once for all the texts that it is compared with."""
    return anchors(text)
