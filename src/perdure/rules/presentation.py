"""How an answer is laid out: what is about one thing newest first, with links between newer and older.

Relevance chooses the hits; nothing here adds or removes one, changes a score, or says which of two holds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from types import MappingProxyType
from typing import Final, NamedTuple

import numpy as np

from perdure.records.memory import Kind, MemoryItem, Status
from perdure.records.recall import Hit
from perdure.records.vector import Vector
from perdure.rules.differences import REACH, differ, statements
from perdure.rules.language.words import may_answer, query_words, shared_words

_KINDS: Final = (Kind.EPISODE, Kind.NOTE)
"""Facts follow each other by rules of their own, and a summary says what its sources say."""
_DECIDED: Final = (Kind.FACT, Kind.NOTE)
_MOST_WORDS: Final = 0.6  # a message with so much of a fact's or a note's words repeats it
_STATUSES: Final = (Status.ACTIVE, Status.ARCHIVED)
"""What has been taken back, or stands in another memory, says nothing any more."""
_PAST: Final = re.compile(
    r"\b(?:before|first|original\w*|initial\w*|earlier|previous\w*|between|order)\b", re.IGNORECASE
)
"""A question that asks for the past, or compares, is not answered by the newest."""


_NUMBER: Final = re.compile(r"\d+(?:[.,:]\d+)*")


class Bounds(NamedTuple):
    """What makes hits be about one thing (decision 20 has how they were chosen)."""

    among: int = 4  # so many of the best hits are compared, and may change places
    reach: int = REACH  # so many words before and after a number it may be a number of
    near: float = 0.7  # two hits whose vectors have this cosine are about one thing, whatever they say
    # only those with this cosine are said to differ: farther apart, numbers are mostly of two things
    alike: float = 0.65


BOUNDS: Final = Bounds()


def newest_first(
    hits: Sequence[Hit], question: str, vectors: Mapping[str, Vector] = MappingProxyType({}), bounds: Bounds = BOUNDS
) -> list[Hit]:
    """Return the same hits, those of the best that are about one thing newest first, and linked.

    Hits that are about one thing share their places among themselves; all others keep theirs. Two of one person are
    about one thing where they are near each other, or say otherwise of it (rules/differences.py). A question that asks
    for the past, or names a day, or a number that only some of them have, keeps the order.
    """
    best = [hit.memory for hit in hits[: bounds.among]]
    some = [pair for pair in combinations(range(len(best)), 2) if _may_be_about_one_thing(best, *pair)]
    said = [statements(memory.content, bounds.reach) for memory in best]
    cosines = {(i, j): _cosine(best, i, j, vectors) for i, j in some}
    otherwise = {(i, j) for i, j in some if differ(said[i], said[j])}
    pairs = [pair for pair in some if pair in otherwise or (cosines[pair] or 0.0) >= bounds.near]
    differing = {pair for pair in otherwise if (cosine := cosines[pair]) is None or cosine >= bounds.alike}
    order = list(range(len(hits)))
    shown = list(hits)
    keeps = bool(_PAST.search(question)) or any("dated" in hit.parts for hit in hits)
    for group in _groups(len(best), pairs):
        newest = sorted(group, key=lambda at: _said_at(best[at]), reverse=True)
        for at in group:
            others = {best[i if at == j else j].id for i, j in differing if at in (i, j)}
            shown[at] = _linked(hits[at], [best[i] for i in newest], others)
        asked = keeps or _names_some(question, [best[at].content for at in group])
        for place, at in zip(group, group if asked else newest, strict=True):
            order[place] = at
    return [shown[at] for at in order]


def facts_first(hits: Sequence[Hit]) -> list[Hit]:
    """Return the same hits, a fact directly before the first message that it took the place of.

    Who reads only the first hit reads what is believed.
    """
    facts = {hit.memory.id: hit for hit in hits if hit.memory.kind is Kind.FACT}
    order: list[Hit] = []
    for hit in hits:
        ahead = facts.get(hit.updated_by or "")
        order += [one for one in (ahead, hit) if one is not None and one not in order]
    return order


def decided_first(hits: Sequence[Hit]) -> list[Hit]:
    """Return the same hits, a fact or a note before the first message that only repeats it.

    A reply of an assistant has the words of the question more often than what was decided has. Facts and notes do not
    pass what a person said later: that may be news.
    """
    order: list[Hit] = []
    for hit in hits:
        at = len(order)
        if hit.memory.kind in _DECIDED and hit.memory.status is Status.ACTIVE and not hit.updated_by:
            at = next((i for i, other in enumerate(order) if _repeats(other.memory, hit.memory)), at)
        order.insert(at, hit)
    return order


def _repeats(message: MemoryItem, decided: MemoryItem) -> bool:
    """Return whether a message has most words and all numbers of a fact or note, or says little besides."""
    if message.kind is not Kind.EPISODE or (may_answer(message.speaker) and _said_at(message) > _said_at(decided)):
        return False
    told = decided.content
    if decided.kind is Kind.FACT:
        told = told.partition(": ")[2]  # whom it is about goes without saying where all is about that
        if not set(query_words(told.partition(": ")[2])) <= set(query_words(message.content)):
            return False
    numbers = set(_NUMBER.findall(told))
    return numbers <= set(_NUMBER.findall(message.content)) and shared_words(told, message.content) >= _MOST_WORDS


def _may_be_about_one_thing(best: Sequence[MemoryItem], i: int, j: int) -> bool:
    return best[i].speaker == best[j].speaker and all(
        m.kind in _KINDS and m.status in _STATUSES and may_answer(m.speaker) for m in (best[i], best[j])
    )


def _names_some(question: str, texts: Sequence[str]) -> bool:
    """Return whether a question names a number that some texts have and others do not: it asks for those."""
    asked = set(_NUMBER.findall(question))
    having = [bool(asked & set(_NUMBER.findall(text))) for text in texts]
    return any(having) and not all(having)


def _cosine(best: Sequence[MemoryItem], i: int, j: int, vectors: Mapping[str, Vector]) -> float | None:
    """Return how near two memories are; None where one has no vector."""
    one, other = (vectors.get(best[at].id) for at in (i, j))
    return float(np.frombuffer(one, "<f4") @ np.frombuffer(other, "<f4")) if one and other else None


def _groups(count: int, pairs: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Return the places of those that hang together, each group in order; what stands alone is in none."""
    group = list(range(count))
    for one, other in pairs:
        group = [group[one] if name == group[other] else name for name in group]
    members = [[at for at in range(count) if group[at] == name] for name in dict.fromkeys(group)]
    return [places for places in members if len(places) > 1]


def _linked(hit: Hit, newest: Sequence[MemoryItem], differing: set[str]) -> Hit:
    """Return a hit that names those of its group, the newest first."""
    at = _said_at(hit.memory)
    return replace(
        hit,
        newer=tuple(m.id for m in newest if _said_at(m) > at),
        older=tuple(m.id for m in newest if _said_at(m) < at),
        differs=tuple(m.id for m in newest if m.id in differing),
    )


def _said_at(memory: MemoryItem) -> tuple[int, str]:
    return memory.state.created_ms, memory.id
