"""Watching what hits say: a value that has changed goes behind what says so, and contradictions are shown from both sides.

May live here: comparing the hits of one recall and their order. May not: what two statements are to each other
(rules/updates.py), searching.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from perdure.records.memory import Kind, Memory
from perdure.records.recall import Hit
from perdure.rules.said import Said
from perdure.rules.updates import relation, statements
from perdure.rules.words import may_answer

WATCHED: Final = 30
"""So many of the best are compared. On BEAM's development chats both sides of every pair were among the best 13."""
_KINDS: Final = (Kind.EPISODE, Kind.NOTE)
"""Facts follow each other by rules of their own, and a summary says what its sources say."""


@dataclass(slots=True)
class Found:
    """What the statements of some memories are to each other.

    Attributes:
        updates: Older memory -> those that say that a value of it has changed, the latest last.
        contested: Memory -> those that it cannot be true together with; itself where it contradicts itself.
    """

    updates: dict[str, list[str]] = field(default_factory=dict)
    contested: dict[str, list[str]] = field(default_factory=dict)


def compared(memories: Sequence[Memory]) -> Found:
    """Return which memories update or contradict which: only those of one speaker, and only people's."""
    found = Found()
    told: dict[tuple[str | None, str, str], list[tuple[Memory, Said]]] = {}
    order = [m for m in memories if m.kind in _KINDS and may_answer(m.speaker)]
    for newer in sorted(order, key=lambda m: (m.state.created_ms, m.id)):
        said = statements(newer.content)
        for statement in said:  # first all of them, so that a message is compared with itself
            for key in _keys(statement):
                told.setdefault((newer.speaker, *key), []).append((newer, statement))
        for statement in said:
            for key in _keys(statement):
                for older, earlier in told[newer.speaker, *key]:
                    _note(found, older, earlier, newer, statement)
    return found


def _keys(said: Said) -> Iterator[tuple[str, str]]:
    """Return where statements are found that this one may be about."""
    sort = "deed" if said.sort in ("denied", "done") else said.sort
    return ((sort, stem) for stem in said.about)


def _note(found: Found, older: Memory, earlier: Said, newer: Memory, later: Said) -> None:
    related = relation(earlier, later)
    if not related or (older.id == newer.id and later.sort not in ("denied", "done")):
        return
    if related == "contradicts" or older.id == newer.id:
        for one, other in ((older.id, newer.id), (newer.id, older.id)):
            others = found.contested.setdefault(one, [])
            if other not in others:
                others.append(other)
    elif newer.id not in found.updates.setdefault(older.id, []):
        found.updates[older.id].append(newer.id)


def watched(hits: Sequence[Hit], others: Sequence[Hit], limit: int) -> list[Hit]:
    """Return hits in their order, but what was updated directly behind its updates, and both sides of a contradiction.

    The latest update and the other side are brought in from among ``others`` where they are no hits: they take the
    places of the last hits that are about nothing of the kind. Nothing else changes places, and no score.

    Args:
        hits: The answer, best first.
        others: The next best.
        limit: How many there may be.
    """
    pool = {h.memory.id: h for h in [*others, *hits]}
    found = compared([h.memory for h in pool.values()])
    if not found.updates and not found.contested:
        return list(hits)
    there = {h.memory.id for h in hits}
    placed: dict[str, None] = {}
    for hit in hits:
        _place(hit.memory.id, found, there, placed)
    kept = _within(list(placed), {*found.contested, *found.updates, *(i for u in found.updates.values() for i in u)}, limit)
    return [
        replace(
            pool[i],
            updated_by=found.updates[i][-1] if i in found.updates else None,
            contested_with=tuple(found.contested.get(i, ())),
        )
        for i in kept
    ]


def _place(identity: str, found: Found, there: set[str], placed: dict[str, None]) -> None:
    """Put a hit down: before it its updates that are hits or the latest, after it what contests it."""
    waiting = [identity]
    while waiting:
        at = waiting[-1]
        updates = found.updates.get(at, [])
        ahead = [i for i in updates if (i in there or i == updates[-1]) and i not in placed and i not in waiting]
        if ahead:
            waiting.append(ahead[-1])
            continue
        placed[waiting.pop()] = None
    for other in found.contested.get(identity, ()):
        if other not in there:
            placed[other] = None


def _within(order: list[str], related: set[str], limit: int) -> list[str]:
    """Cut an order to its limit, from its end: first what is about nothing of the kind."""
    kept = list(order)
    for identity in reversed(order):
        if len(kept) > limit and identity not in related:
            kept.remove(identity)
    return kept[:limit]
