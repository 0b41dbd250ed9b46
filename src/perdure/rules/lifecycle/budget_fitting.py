"""Keeping what recall may return within a number of tokens: which memories show less, and which are set aside last."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from perdure.records.instant import DAY_MS, Instant
from perdure.records.memory import Form, MemoryItem, State, Tier

EVER_USED: Final = 2.0
"""What a memory that was often asked for is worth besides its value: access feedback tells more than any signal."""

FULL_ACCESSES: Final = 20
HELPED: Final = 0.5  # what each reinforcement, up to four of them, adds

LOSS: Final[dict[Form, float]] = {Form.FULL: 0.0, Form.SUMMARY: 0.02, Form.KEYWORDS: 0.1, Form.EMBEDDING: 1.0}
"""The share of a memory's worth that is out of sight in each form; docs/evidence.md has the measurements."""


Forms = tuple[tuple[Form, int], ...]  # forms with their tokens, from the fullest to the barest

Reach = Callable[[Sequence["FitItem"]], Mapping[str, "FitItem"]]
"""Memories -> the same with at least one form less unknown."""

AT_ONCE: Final = 256  # so many memories' forms are asked for together

RESTED_MS: Final = DAY_MS  # what a person brought back is left alone so long


@dataclass(frozen=True, slots=True)
class FitItem:
    """A memory that may show less."""

    id: str  # which one
    worth: float  # what it is worth to keep in full
    forms: Forms  # the form it has and those it may take, from the fullest to the barest, with their tokens
    exempt: bool = False  # it shows what it shows: pinned, in the vault, or in hot
    # forms, barer than those, of which it is not known yet whether it may take them; making them takes long
    unknown: tuple[Form, ...] = ()


@dataclass(frozen=True, slots=True)
class Choice:
    """What to do about a namespace."""

    forms: dict[str, Form]  # memory id -> the form it takes
    archived: tuple[str, ...]  # memories that are set aside, the least worth first
    before: int  # tokens that were visible
    after: int  # tokens that are visible then
    wanted: int = 0  # how many would have been set aside if there were no limit to it


def worth_of(memory: MemoryItem) -> float:
    """Return what a memory is worth to keep in view: its value, and whether it was ever asked for or helpful.

    Value forgets accesses within weeks; what a bounded store keeps must not.
    """
    ever = min(1.0, math.log1p(memory.access_count) / math.log1p(FULL_ACCESSES))
    return memory.value + EVER_USED * ever + HELPED * min(4, memory.state.reinforcements)


def keeps_its_form(state: State) -> bool:
    """Return whether a memory keeps the form that it has: pinned and vault ones are left alone, hot ones stay full."""
    return state.pinned or state.tier in (Tier.VAULT, Tier.HOT)


def is_rested(state: State, now: Instant) -> bool:
    """Return whether a person brought a memory back, or more of its text, less than a day ago.

    Both restart its ages: only then is a form as old as the anchor, or a full form younger than the memory.
    """
    again = state.form is Form.FULL or state.anchor_ms == state.form_ms
    since = max(state.form_ms if again else 0, state.status_ms)
    return since > max(state.recorded_ms, state.created_ms) and now - since < RESTED_MS


def largest_allowed(refuses: Callable[[int], str], most: int) -> int:
    """Return the largest number from 0 to ``most`` that a gate does not refuse; what it refuses, it refuses of more."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (low, middle - 1) if refuses(middle) else (middle, high)
    return low


@dataclass(slots=True)
class _Descent:
    """The steps down that are open, the cheapest first.

    An entry of position 0 stands for a memory of which more must be known: at the least that a step to a form not yet
    known may cost. It comes up before any real step of the same cost, so the order is as if all had been known.
    """

    free: dict[str, FitItem]
    reach: Reach | None
    level: dict[str, int] = field(default_factory=dict)
    steps: list[tuple[float, str, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.level = dict.fromkeys(self.free, 0)
        self.steps = [step for p in self.free.values() if (step := _next(p, 0)) is not None]
        heapq.heapify(self.steps)

    def next(self) -> tuple[str, int] | None:
        """Take the cheapest step: (memory id, position of the form)."""
        while self.steps:
            _, identity, at = heapq.heappop(self.steps)
            if at:
                return identity, at
            batch = [identity]
            while self.steps and not self.steps[0][2] and len(batch) < AT_ONCE:
                batch.append(heapq.heappop(self.steps)[1])
            found = self.reach([self.free[i] for i in batch]) if self.reach is not None else {}
            for one in batch:
                self.free[one] = found.get(one, replace(self.free[one], unknown=()))
                self.push(one)
        return None

    def push(self, identity: str) -> None:
        """Offer the next step of a memory."""
        if (step := _next(self.free[identity], self.level[identity])) is not None:
            heapq.heappush(self.steps, step)

    def tokens(self, identity: str) -> int:
        """Return what a memory shows now."""
        return self.free[identity].forms[self.level[identity]][1]


def choose_forms(pieces: Sequence[FitItem], budget: int, reach: Reach | None = None, most: int | None = None) -> Choice:
    """Return how to keep some memories within a budget of tokens: shorter forms first, setting aside last.

    Each step takes what loses the least worth for each token it frees. ``reach`` makes forms known; it is asked only
    where one of them may be the next step. At most ``most`` are set aside; any number if that is None.
    """
    before = sum(p.forms[0][1] for p in pieces)
    left = before
    down = _Descent({p.id: p for p in pieces if not p.exempt}, reach)
    while left > budget and (step := down.next()) is not None:
        identity, at = step
        left += down.free[identity].forms[at][1] - down.tokens(identity)
        down.level[identity] = at
        down.push(identity)
    archived: dict[str, None] = {}
    needed, over = 0, left - budget
    for identity, tokens in _least(down) if over > 0 else ():
        if over <= 0:
            break
        needed, over = needed + 1, over - tokens
        if most is None or len(archived) < most:
            archived[identity] = None
            left -= tokens
    forms = {i: down.free[i].forms[at][0] for i, at in down.level.items() if at and i not in archived}
    return Choice(forms, tuple(archived), before, left, needed)


def _next(piece: FitItem, at: int) -> tuple[float, str, int] | None:
    """Return the best step down from a form: (worth lost for each token, id, position of the form), see _Descent."""
    form, tokens = piece.forms[at]
    found = [
        (piece.worth * (LOSS[to] - LOSS[form]) / (tokens - size), piece.id, position)
        for position, (to, size) in enumerate(piece.forms)
        if position > at and size < tokens
    ]
    best = min(found, default=None)
    if piece.unknown and tokens:
        least = piece.worth * min(LOSS[to] - LOSS[form] for to in piece.unknown) / tokens
        return best if best is not None and best[0] <= least else (least, piece.id, 0)
    return best


def _least(down: _Descent) -> Iterable[tuple[str, int]]:
    """Return (id, tokens freed) of what may be set aside, the least worth for each token first."""
    sized = [(p, down.tokens(p.id)) for p in down.free.values()]
    ordered = sorted(sized, key=lambda x: (x[0].worth / max(1, x[1]), x[0].id))
    return ((piece.id, tokens) for piece, tokens in ordered if tokens)
