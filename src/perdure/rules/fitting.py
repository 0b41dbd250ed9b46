"""Keeping what recall may return within a number of tokens: which memories show less, and which are set aside last.

May live here: the choice. May not: reading texts, writing, or the gates that a plan must pass.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from perdure.records.memory import Form, Memory, Tier

EVER_USED: Final = 2.0
"""What a memory that was often asked for is worth besides its value: access feedback tells more than any signal."""

FULL_ACCESSES: Final = 20
HELPED: Final = 0.5
"""What each reinforcement, up to four of them, adds."""

LOSS: Final[dict[Form, float]] = {Form.FULL: 0.0, Form.SUMMARY: 0.02, Form.KEYWORDS: 0.3, Form.EMBEDDING: 1.0}
"""The share of a memory's worth that is out of sight in each form; docs/evidence.md has the measurements."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A memory that may show less.

    Attributes:
        id: Which one.
        worth: What it is worth to keep in full.
        forms: The form it has and those it may take, from the fullest to the barest, with their tokens.
        exempt: It shows what it shows: pinned, in the vault, or in hot.
    """

    id: str
    worth: float
    forms: tuple[tuple[Form, int], ...]
    exempt: bool = False


@dataclass(frozen=True, slots=True)
class Choice:
    """What to do about a namespace.

    Attributes:
        forms: Memory id -> the form it takes.
        archived: Memories that are set aside, the least worth first.
        before: Tokens that were visible.
        after: Tokens that are visible then.
    """

    forms: dict[str, Form]
    archived: tuple[str, ...]
    before: int
    after: int


def worth_of(memory: Memory) -> float:
    """Return what a memory is worth to keep in view: its value, and whether it was ever asked for or helpful.

    Value forgets accesses within weeks; what a bounded store keeps must not.
    """
    ever = min(1.0, math.log1p(memory.access_count) / math.log1p(FULL_ACCESSES))
    return memory.value + EVER_USED * ever + HELPED * min(4, memory.state.reinforcements)


def is_exempt(memory: Memory) -> bool:
    """Return whether a memory shows what it shows: pinned and vault memories are left alone, and hot stays full."""
    return memory.pinned or memory.tier in (Tier.VAULT, Tier.HOT)


def chosen(pieces: Sequence[Piece], budget: int) -> Choice:
    """Return how to keep some memories within a budget of tokens: shorter forms first, setting aside last.

    Each step takes what loses the least worth for each token it frees.

    Args:
        pieces: All visible memories.
        budget: Tokens that may be visible.
    """
    before = sum(p.forms[0][1] for p in pieces)
    left = before
    level = dict.fromkeys((p.id for p in pieces), 0)
    free = {p.id: p for p in pieces if not p.exempt}
    steps = [step for p in free.values() if (step := _next(p, 0)) is not None]
    heapq.heapify(steps)
    while left > budget and steps:
        _, identity, at = heapq.heappop(steps)
        piece = free[identity]
        left -= piece.forms[level[identity]][1] - piece.forms[at][1]
        level[identity] = at
        if (step := _next(piece, at)) is not None:
            heapq.heappush(steps, step)
    archived = []
    for identity, tokens in _least(free.values(), level) if left > budget else ():
        if left <= budget:
            break
        archived.append(identity)
        left -= tokens
    forms = {i: free[i].forms[at][0] for i, at in level.items() if at and i not in set(archived)}
    return Choice(forms, tuple(archived), before, left)


def _next(piece: Piece, at: int) -> tuple[float, str, int] | None:
    """Return the best step down from a form: (worth lost for each token, id, position of the form)."""
    form, tokens = piece.forms[at]
    found = [
        (piece.worth * (LOSS[to] - LOSS[form]) / (tokens - size), piece.id, position)
        for position, (to, size) in enumerate(piece.forms)
        if position > at and size < tokens
    ]
    return min(found, default=None)


def _least(pieces: Iterable[Piece], level: dict[str, int]) -> Iterator[tuple[str, int]]:
    """Yield (id, tokens freed) of what may be set aside, the least worth for each token first."""
    sized = [(p, p.forms[level[p.id]][1]) for p in pieces]
    for piece, tokens in sorted(sized, key=lambda x: (x[0].worth / max(1, x[1]), x[0].id)):
        if tokens:
            yield piece.id, tokens
