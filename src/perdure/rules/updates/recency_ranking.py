"""The latest of several values first: for questions that ask what a measure is now."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from perdure.records.memory import Kind
from perdure.records.recall import Hit
from perdure.rules.updates.statements import Assertion, Stems, stems
from perdure.rules.updates.update_detection import speaks
from perdure.rules.updates.update_pairs import statements

SHARED: Final = 3
"""So many words of a question a message has, or all of them, before its value goes ahead of an earlier one."""
_LOOKS_BACK: Final = re.compile(
    r"\b(?:between|first|initial\w*|original\w*|previous\w*|earlier|before|used to|improve\w*|changed?|changes"
    r"|increased?|differen\w*|compared?|than|did i say|over time|by the time|at the time|order)\b",
    re.IGNORECASE,
)
"""A question that compares, or asks what was, is not answered by the latest value."""


class _Read(NamedTuple):
    """A hit with what it says of what is asked."""

    hit: Hit
    shared: int
    """Words of the question in it."""
    values: tuple[Assertion, ...]


def latest_first(hits: Sequence[Hit], question: str) -> list[Hit]:
    """Return hits, a later value of a measure that is asked for directly before the earlier ones.

    Only of one person, of one measure that the question names, and only where the later message has as many of the
    question's words as the earlier one. Nothing is said to have changed: that is for update_detection.py, which
    asks for more. The same hits, with the same scores, are returned.
    """
    asked = frozenset(stems(question))
    if not asked or _LOOKS_BACK.search(question):
        return list(hits)
    reads = [_read(hit, asked) for hit in hits]
    placed: dict[int, None] = {}
    for start in range(len(reads)):
        waiting = [start]
        while waiting:  # time orders them, so this ends
            at = reads[waiting[-1]]
            ahead = [i for i, r in enumerate(reads) if i not in placed and _is_later_value(at, r, asked)]
            if ahead:
                waiting.append(max(ahead, key=lambda i: _said_at(reads[i])))
            else:
                placed[waiting.pop()] = None
    return [reads[i].hit for i in placed]


def replaced_last(hits: Sequence[Hit]) -> list[Hit]:
    """Return hits, a fact directly before the first message that says otherwise and that it took the place of.

    Who reads only the first hit reads what is believed. The same hits, with the same scores, are returned.

    Args:
        hits: Best first.
    """
    facts = {hit.memory.id: hit for hit in hits if hit.memory.kind is Kind.FACT}
    order: list[Hit] = []
    for hit in hits:
        ahead = facts.get(hit.updated_by or "")
        order += [one for one in (ahead, hit) if one is not None and one not in order]
    return order


def _read(hit: Hit, asked: Stems) -> _Read:
    memory = hit.memory
    if not speaks(memory):
        return _Read(hit, 0, ())
    values = tuple(s for s in statements(memory.content) if s.value and _is_named(s.about, asked))
    return _Read(hit, len(asked.intersection(stems(memory.content))) if values else 0, values)


def _is_later_value(one: _Read, other: _Read, asked: Stems) -> bool:
    """Return whether ``other`` is later and gives another value of what ``one`` gives one of."""
    older, newer = one.hit.memory, other.hit.memory
    if older.speaker != newer.speaker or other.shared < max(min(SHARED, len(asked)), one.shared):
        return False
    if _said_at(other) <= _said_at(one):
        return False
    return any(_differ(a, b, asked) for a in one.values for b in other.values)


def _said_at(read: _Read) -> tuple[int, str]:
    return read.hit.memory.state.created_ms, read.hit.memory.id


def _differ(older: Assertion, newer: Assertion, asked: Stems) -> bool:
    """Return whether two values are of one measure of one person, for the same time, and not the same."""
    if older.sort != newer.sort or older.value == newer.value or older.whose != newer.whose:
        return False
    if older.period and newer.period and older.period != newer.period:
        return False
    if older.kind and newer.kind and older.kind.isdisjoint(newer.kind):
        return False
    return _is_named(older.about & newer.about, asked)


def _is_named(about: Stems, asked: Stems) -> bool:
    return any(not asked.isdisjoint(name.split()) for name in about)
