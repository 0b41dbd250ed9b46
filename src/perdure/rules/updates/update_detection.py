"""Watching what hits say: a changed value goes behind what says so, and contradictions are shown from both sides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from perdure.records.memory import Kind, MemoryItem, Status
from perdure.records.recall import Hit
from perdure.rules.language.words import may_answer
from perdure.rules.updates.statements import Assertion, Stems, stems
from perdure.rules.updates.update_pairs import relation, statements

WATCHED: Final = 20
"""So many of the best are compared: on BEAM's development chats both sides of every pair were among the best 13."""
ASKED: Final = 2
"""So many words of a question are in what has changed, or it asks for something else."""
_KINDS: Final = (Kind.EPISODE, Kind.NOTE)
"""Facts follow each other by rules of their own, and a summary says what its sources say."""
_STATUSES: Final = (Status.ACTIVE, Status.ARCHIVED)
"""What has been taken back, or stands in another memory, says nothing any more."""
_DEEDS: Final = ("denied", "done")


@dataclass(slots=True)
class Updates:
    """What the statements of some memories are to each other; with each the words that they are about.

    Attributes:
        updates: Older memory -> those that say that a value of it has changed, the latest last.
        contested: MemoryItem -> those that it cannot be true together with; itself where it contradicts itself.
    """

    updates: dict[str, dict[str, Stems]] = field(default_factory=dict)
    contested: dict[str, dict[str, Stems]] = field(default_factory=dict)

    def latest(self, identity: str) -> str | None:
        """Return the memory that says last that a value of this one has changed."""
        return next(reversed(self.updates[identity])) if identity in self.updates else None


def find_updates(memories: Sequence[MemoryItem]) -> Updates:
    """Return which memories update or contradict which: only those of one speaker, and only people's.

    Time grows with their statements, and with the square of those about one thing.
    """
    found = Updates()
    told: dict[tuple[str | None, str, str], list[tuple[MemoryItem, Assertion]]] = {}
    for newer in sorted(filter(speaks, memories), key=lambda m: (m.state.created_ms, m.id)):
        said = [(key, statement) for statement in statements(newer.content) for key in _keys(statement)]
        for key, statement in said:  # first all of them, so that a message is compared with itself
            told.setdefault((newer.speaker, *key), []).append((newer, statement))
        for key, statement in said:
            for older, earlier in told[newer.speaker, *key]:
                _note(found, older, earlier, newer, statement)
    return found


def speaks(memory: MemoryItem) -> bool:
    """Return whether a memory is a person's own word that still says something."""
    return memory.kind in _KINDS and memory.status in _STATUSES and may_answer(memory.speaker)


def _keys(said: Assertion) -> Iterator[tuple[str, str]]:
    """Return where statements are kept that this one may be about."""
    sort = "deed" if said.sort in _DEEDS else said.sort
    return ((sort, stem) for stem in said.about)


def _note(found: Updates, older: MemoryItem, earlier: Assertion, newer: MemoryItem, later: Assertion) -> None:
    alone = older.id == newer.id
    related = relation(earlier, later) if not alone or later.sort in _DEEDS else ""
    if not related:
        return
    words = earlier.words | later.words
    if related == "contradicts" or alone:
        for one, other in ((older.id, newer.id), (newer.id, older.id)):
            others = found.contested.setdefault(one, {})
            others[other] = others.get(other, frozenset()) | words
    else:
        updates = found.updates.setdefault(older.id, {})
        updates[newer.id] = updates.get(newer.id, frozenset()) | earlier.words


def mark_updates(hits: Sequence[Hit], others: Sequence[Hit], limit: int, question: str) -> list[Hit]:
    """Return hits that say what has changed since and what contradicts them, in an order that heeds it.

    Where the question has two words of what has changed or is contested, the update stands directly before what it
    updates, and both sides of a contradiction are shown: what was no hit is brought in from ``others`` and takes the
    place of the last hit that is about nothing of the kind. No score changes, and nothing else changes places.
    """
    pool = {h.memory.id: h for h in [*others, *hits]}
    found = find_updates([h.memory for h in pool.values()])
    if not found.updates and not found.contested:
        return list(hits)
    order = _placed([h.memory.id for h in hits], found, frozenset(stems(question)))
    return [
        replace(pool[i], updated_by=found.latest(i), contested_with=tuple(found.contested.get(i, ())))
        for i in _within(order, found, {h.memory.id for h in hits}, limit)
    ]


def _placed(hits: Sequence[str], found: Updates, asked: Stems) -> list[str]:
    """Return ids in their new order, those brought in among them."""
    there, placed = set(hits), dict[str, None]()
    for hit in hits:
        waiting = [hit]
        while waiting:  # an update may have been updated itself; time orders them, so this ends
            at = waiting[-1]
            ahead = [
                i
                for i, words in found.updates.get(at, {}).items()
                if (i in there or i == found.latest(at)) and i not in placed and _asks(asked, words)
            ]
            if ahead:
                waiting.append(ahead[-1])
            else:
                placed[waiting.pop()] = None
        placed |= {
            i: None for i, words in found.contested.get(hit, {}).items() if i not in there and _asks(asked, words)
        }
    return list(placed)


def _asks(asked: Stems, words: Stems) -> bool:
    """Return whether a question is about what some words are about; of a single word, that one is enough."""
    return len(words & asked) >= min(ASKED, len(words))


def _within(order: Sequence[str], found: Updates, hits: set[str], limit: int) -> list[str]:
    """Cut an order to its limit: from its end, first the hits that nothing was found about."""
    spare = [i for i in reversed(order) if i in hits and i not in found.updates and i not in found.contested]
    gone = set(spare[: max(0, len(order) - limit)])
    return [i for i in order if i not in gone][:limit]
