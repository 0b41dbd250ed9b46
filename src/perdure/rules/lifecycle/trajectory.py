"""Replaying memories: accesses and falling moves in the order of their instants, until nothing is due.

Each move is dated at the instant at which it fell due, so a late sweep ends exactly where timely sweeps would have
ended.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from perdure.formulas.curve import NEVER
from perdure.formulas.importance import boost
from perdure.formulas.value import faded_mass
from perdure.records.instant import DAY_MS, Instant
from perdure.records.memory import Form, State, Status, Tier
from perdure.records.policy import Policy
from perdure.rules.lifecycle import tier_table
from perdure.rules.lifecycle.moves import Moves, explain_moves, next_moves
from perdure.rules.lifecycle.state_arrays import (
    FORM_CODE,
    FORMS,
    TIER_CODE,
    TIERS,
    Columns,
    Ints,
)

Accesses = Sequence[tuple[Instant, int]]
"""(instant, how many) in the order of time, not yet counted in the state."""

_NONE: Final = int(-NEVER)


@dataclass(frozen=True, slots=True)
class Transition:
    """One state of a memory on its way: what it became, when, by which rule and why."""

    at: Instant
    state: State
    rule: str
    because: str

    @property
    def hides(self) -> bool:
        """Whether this transition takes the memory out of view."""
        return self.state.status is not Status.ACTIVE

    @property
    def shrinks(self) -> bool:
        """Whether this transition shortens what is shown of the memory."""
        return self.rule in tier_table.SHORTENING


@dataclass(frozen=True, slots=True)
class Trajectory:
    """What became of one memory: its moves in order, and its final state with the next due instant."""

    id: str
    before: State
    transitions: tuple[Transition, ...]
    after: State
    counted: int
    """Accesses that were counted in."""
    refused: str = ""
    """Why the meaning guard refused a shorter form; the memory keeps the one it has."""


def replay(
    states: Mapping[str, State],
    accesses: Mapping[str, Accesses],
    now: Instant,
    policy: Policy,
    *,
    blocked: bool = False,
) -> list[Trajectory]:
    """Return the trajectory of each memory up to an instant.

    Args:
        states: Memory id -> stored state.
        accesses: Memory id -> accesses not yet counted in; later ones than ``now`` are left alone.
        now: How far to replay.
        policy: The policy in force.
        blocked: No move may hide or shorten (a gate or a person says so): accesses that came later count first.
    """
    if not states:
        return []
    ids = list(states)
    befores = [states[i] for i in ids]
    run = _Replay(ids, befores, [accesses.get(i, ()) for i in ids], now, policy)
    run.blocked |= blocked
    return run.finish()


def count_accesses(states: Sequence[State], accesses: Sequence[Accesses], policy: Policy) -> list[State]:
    """Return states with their waiting accesses counted, and nothing moved: what a reader sees between sweeps."""
    result = list(states)
    waiting = [i for i, some in enumerate(accesses) if some]
    if not waiting:
        return result
    run = _Replay([""] * len(waiting), [states[i] for i in waiting], [accesses[i] for i in waiting], 0, policy)
    run.count_all()
    for position, i in enumerate(waiting):
        result[i] = run.state(position, states[i].due_ms)
    return result


class _Replay:
    """The arrays of one replay. Rounds handle every memory that still has an event before ``now`` at once."""

    def __init__(
        self, ids: list[str], befores: list[State], accesses: list[Accesses], now: Instant, policy: Policy
    ) -> None:
        self.ids, self.befores, self.now, self.policy = ids, befores, now, policy
        self.accesses = accesses
        self.columns = Columns.of(befores)
        self.blocked = np.array([s.held for s in befores], dtype=np.bool_)
        self.cursor = np.zeros(len(ids), dtype=np.int64)
        self.counted = np.zeros(len(ids), dtype=np.int64)
        self.transitions: list[list[Transition]] = [[] for _ in ids]
        self.due = np.full(len(ids), NEVER, dtype=np.int64)

    def finish(self) -> list[Trajectory]:
        gated = np.array([not isinstance(rule.target, Tier) for rule in tier_table.RULES])
        active = np.arange(len(self.ids))
        while active.size:
            moves = next_moves(part := self.columns.take(active), self.policy)
            read = self._next_access(active)
            self.due[active] = moves.at
            # What a gate holds back is still in view: uses that came after it was due count before it is tried again.
            waits = self.blocked[active] & gated[moves.rule] & (read <= self.now)
            falling = (moves.at <= self.now) & (moves.at <= read) & ~waits
            reading = (read <= self.now) & ~falling
            if (rows := np.flatnonzero(falling)).size:
                self._move(active[rows], part.take(rows), moves.take(rows))
            if (rows := np.flatnonzero(reading)).size:
                self._read(active[rows], read[rows])
            active = active[falling | reading]
        return [self._trajectory(i) for i in range(len(self.ids))]

    def count_all(self) -> None:
        """Count every access in, and move nothing."""
        left = np.array([len(some) for some in self.accesses])
        while (rows := np.flatnonzero(self.cursor < left)).size:
            pairs = [self.accesses[i][k] for i, k in zip(rows.tolist(), self.cursor[rows].tolist(), strict=True)]
            at = np.maximum(np.array([at for at, _ in pairs]), self.columns.anchor[rows])
            self._count(rows, at, np.array([times for _, times in pairs]))
            self.cursor[rows] += 1

    def _next_access(self, rows: Ints) -> Ints:
        return np.array(
            [
                self.accesses[i][k][0] if k < len(self.accesses[i]) else int(NEVER)
                for i, k in zip(rows.tolist(), self.cursor[rows].tolist(), strict=True)
            ],
            dtype=np.int64,
        )

    def _move(self, rows: Ints, part: Columns, moves: Moves) -> None:
        """Move memories, and keep one transition for each; ``part`` holds their states before."""
        for code in np.unique(moves.rule).tolist():
            its = moves.rule == code
            self._reach(tier_table.RULES[code].target, rows[its], moves.at[its])
        because = explain_moves(part, moves, self.policy)
        for i, at, code, why in zip(rows.tolist(), moves.at.tolist(), moves.rule.tolist(), because, strict=True):
            self.transitions[i].append(Transition(at, self.state(i), tier_table.RULES[code].name, why))

    def _reach(self, target: Tier | Status | Form, rows: Ints, at: Ints) -> None:
        c = self.columns
        if isinstance(target, Tier):
            c.tier[rows], c.tier_since[rows], c.tier_accesses[rows] = TIER_CODE[target], at, 0
        elif isinstance(target, Form):
            c.form[rows], c.form_since[rows] = FORM_CODE[target], at
        else:
            c.active[rows], c.status_since[rows] = False, at

    def _read(self, rows: Ints, read: Ints) -> None:
        c = self.columns
        times = np.array(
            [self.accesses[i][k][1] for i, k in zip(rows.tolist(), self.cursor[rows].tolist(), strict=True)]
        )
        at = np.maximum(read, c.anchor[rows])  # a clock that stepped back does not rejuvenate
        self._count(rows, at, times)
        self.cursor[rows] += 1
        self.counted[rows] += times
        at = np.maximum.reduce(
            [at, c.tier_since[rows], c.status_since[rows]]
        )  # nor does a late entry move anything back
        while rows.size:
            # A cold memory that was accessed is warm, and may go on to hot at the same instant.
            moves = next_moves(part := c.take(rows), self.policy, at)
            up = np.flatnonzero(moves.rule >= 0)
            rows, at = rows[up], at[up]
            if up.size:
                self._move(rows, part.take(up), moves.take(up))

    def _count(self, rows: Ints, at: Ints, times: Ints) -> None:
        c = self.columns
        days = np.maximum((at - c.anchor[rows]) / DAY_MS, 0.0)
        c.mass[rows] = faded_mass(c.mass[rows], days) + times
        last, but_one = c.accessed[rows], c.access2[rows]
        c.access3[rows] = np.select([times >= 3, times == 2], [at, last], but_one)  # noqa: PLR2004  # three are kept
        c.access2[rows] = np.where(times >= 2, at, last)  # noqa: PLR2004  # as above
        c.accessed[rows] = at
        c.access_count[rows] += times
        c.tier_accesses[rows] += times
        c.anchor[rows] = at
        day = at // DAY_MS
        c.boosted[rows] = np.where(c.boost_day[rows] == day, c.boosted[rows], 0.0)
        c.boost_day[rows] = day
        for nth in range(int(times.max(initial=0))):
            if not self._boost(rows[times > nth]):
                break

    def _boost(self, rows: Ints) -> bool:
        """Raise importance for one access; False once nothing is left to add."""
        c, p = self.columns, self.policy.importance
        worth = boost(p.on_access, c.boosted[rows], diminishing=p.diminishing, daily_cap=p.daily_cap)
        base = c.importance[rows]
        raised = np.maximum(base, np.minimum(p.maximum, base + worth))
        c.boosted[rows] += raised - base
        c.importance[rows] = raised
        return bool(np.any(raised > base))

    def state(self, i: int, due: int | None = None) -> State:
        """Return a memory's state as it is now in the columns."""
        c, before = self.columns, self.befores[i]

        def instant(value: int) -> int | None:
            return None if value == _NONE else value

        status = before.status if c.active[i] or before.status is not Status.ACTIVE else Status.ARCHIVED
        return replace(
            before,
            tier=TIERS[c.tier[i]],
            status=status,
            importance=float(c.importance[i]),
            anchor_ms=int(c.anchor[i]),
            access_count=int(c.access_count[i]),
            access_mass=float(c.mass[i]),
            tier_accesses=int(c.tier_accesses[i]),
            accessed_ms=instant(int(c.accessed[i])),
            access2_ms=instant(int(c.access2[i])),
            access3_ms=instant(int(c.access3[i])),
            boosted=float(c.boosted[i]),
            boost_day=int(c.boost_day[i]),
            tier_ms=int(c.tier_since[i]),
            status_ms=int(c.status_since[i]),
            due_ms=due,
            held=False,
            form=FORMS[c.form[i]],
            form_ms=int(c.form_since[i]),
        )

    def _trajectory(self, i: int) -> Trajectory:
        due = int(self.due[i])
        after = self.state(i, None if due >= NEVER else due)
        return Trajectory(self.ids[i], self.befores[i], tuple(self.transitions[i]), after, int(self.counted[i]))
