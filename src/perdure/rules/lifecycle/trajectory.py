"""Replaying memories: accesses and falling moves in the order of their instants, until nothing is due.

Each move is dated at the instant at which it fell due, so a late sweep ends exactly where timely sweeps would have
ended.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

import numpy as np

from perdure.formulas.curve import FEW, NEVER
from perdure.formulas.importance import boost
from perdure.formulas.strength import reinforce_strength
from perdure.formulas.value import decay_mass
from perdure.records.instant import DAY_MS, Instant
from perdure.records.memory import Form, State, Status, Tier
from perdure.records.policy import Policy
from perdure.rules.lifecycle import tier_table
from perdure.rules.lifecycle.moves import NextMoves, next_moves
from perdure.rules.lifecycle.replay_rounds import GATES, ForeseenStates, ReplayRound
from perdure.rules.lifecycle.single_accesses import counts_single, with_accesses
from perdure.rules.lifecycle.single_moves import counted_in
from perdure.rules.lifecycle.state_arrays import (
    CODES,
    FORM_CODE,
    TIER_CODE,
    Columns,
    Ints,
    days_between,
    strength_curve,
)

Accesses = Sequence[tuple[Instant, int]]  # (instant, how many) in the order of time, not yet counted in the state

_REPLAYED_FIELDS: Final = (
    *("tier", "tier_ms", "tier_accesses", "status", "status_ms", "form", "form_ms"),
    *("importance", "boosted", "boost_day", "anchor_ms", "access_count", "access_mass"),
    *("accessed_ms", "access2_ms", "access3_ms", "strength", "level", "strength_ms"),
)
"""The fields of a state that accesses and moves change."""


@dataclass(frozen=True, slots=True)
class Transition:
    """One state of a memory on its way: what it became, when, by which rule and why.

    ``fell`` is when the move fell due; it was made later if it had to wait for a gate.
    """

    at: Instant
    state: State
    rule: str
    because: str
    fell: Instant = 0

    @property
    def hides(self) -> bool:
        """Whether this transition takes the memory out of view."""
        return self.state.status is not Status.ACTIVE

    @property
    def shrinks(self) -> bool:
        """Whether this transition shortens what is shown of the memory."""
        return self.rule in tier_table.SHORTENING


FAR: Final = int(NEVER)  # an instant that does not come; negative, one before every other


@dataclass(frozen=True, slots=True)
class Opening:
    """From when the gates let a memory be hidden or shortened; FAR for not yet."""

    hides: Instant = -FAR  # from when it may be hidden
    shrinks: Instant = -FAR  # from when it may be shown in a shorter form
    since: Instant = -FAR  # since when it waits at the earliest: what a waiting move says it was due


SHUT: Final = Opening(FAR, FAR)


@dataclass(frozen=True, slots=True)
class Trajectory:
    """What became of one memory: its moves in order, and its final state with the next due instant."""

    id: str
    before: State
    transitions: tuple[Transition, ...]
    after: State
    counted: int  # accesses that were counted in
    refused: str = ""  # why the meaning guard refused a shorter form; the memory keeps the one it has


def replay(
    states: Mapping[str, State],
    accesses: Mapping[str, Accesses],
    now: Instant,
    policy: Policy,
    openings: Mapping[str, Opening] = MappingProxyType({}),
    *,
    shut: bool = False,
) -> list[Trajectory]:
    """Return the trajectory of each memory up to an instant, by ids; accesses after it are left alone.

    A move that hides or shortens a memory waits until its opening: the memory stays where it is, accesses count before
    the move, and if it still waits at the end the memory is held. Without an opening nothing waits, or all of it if
    ``shut``. Accesses of a memory that was held count before what held it is tried again.
    """
    gates = {i: openings.get(i, SHUT if shut else _OPEN) for i in states}
    still = _find_unmoved(states, accesses, now, policy, gates) if len(states) <= FEW and counts_single(policy) else {}
    moving = {i: state for i, state in states.items() if i not in still}
    found = still | _replay(moving, accesses, now, policy, gates)
    return [found[i] for i in states]


_OPEN: Final = Opening()


def _find_unmoved(
    states: Mapping[str, State],
    accesses: Mapping[str, Accesses],
    now: Instant,
    policy: Policy,
    gates: Mapping[str, Opening],
) -> dict[str, Trajectory]:
    """Return what becomes of few memories that do not move, by id: after a recall those are most."""
    found = {}
    for i, before in states.items():
        counted = counted_in(before, accesses.get(i, ()), now, policy)
        # What waits for a gate says that it is due no sooner than the opening does.
        if counted is not None and (counted[0].due_ms is None or gates[i].since <= counted[0].due_ms):
            found[i] = Trajectory(i, before, (), *counted)
    return found


def _replay(
    states: Mapping[str, State],
    accesses: Mapping[str, Accesses],
    now: Instant,
    policy: Policy,
    gates: Mapping[str, Opening],
) -> dict[str, Trajectory]:
    if not states:
        return {}
    befores = list(states.values())
    run = _Replay(befores, [accesses.get(i, ()) for i in states], now, policy)
    run.run([gates[i] for i in states])
    columns = (states, befores, run.transitions(), run.finals(), run.counted.tolist())
    return {row[0]: Trajectory(*row) for row in zip(*columns, strict=True)}


def count_accesses(states: Sequence[State], accesses: Sequence[Accesses], policy: Policy) -> list[State]:
    """Return states with their waiting accesses counted, and nothing moved: what a reader sees between sweeps."""
    result = list(states)
    waiting = [i for i, some in enumerate(accesses) if some]
    if len(waiting) <= FEW and counts_single(policy):
        for i in waiting:
            result[i] = with_accesses(states[i], accesses[i], policy)
    elif waiting:
        run = _Replay([states[i] for i in waiting], [accesses[i] for i in waiting], 0, policy)
        run.count_all()
        states_after = run.states(np.arange(len(waiting)), [states[i].due_ms for i in waiting])
        for i, state in zip(waiting, states_after, strict=True):
            result[i] = state
    return result


def forecast_moves(
    states: Mapping[str, State],
    accesses: Mapping[str, Accesses],
    now: Instant,
    policy: Policy,
    openings: Mapping[str, Opening] = MappingProxyType({}),
) -> ForeseenStates:
    """Return the moves of ``replay`` as arrays, for what needs no final states."""
    run = _Replay([*states.values()], [accesses.get(i, ()) for i in states], now, policy)
    run.run([openings.get(i, _OPEN) for i in states])
    loses, shortens = np.zeros(len(states), np.bool_), np.zeros(len(states), np.bool_)
    for step in run.steps:
        loses[step.rows] |= step.loses
        shortens[step.rows] |= step.shortens
    return ForeseenStates(list(states), run.steps, loses, shortens)


class _Replay:
    """The arrays of one replay. Rounds handle every memory that still has an event before ``now`` at once.

    The accesses of all memories lie in one array, those of memory i up to ``ends[i]``; ``next[i]`` is its next one.
    """

    def __init__(self, befores: Sequence[State], accesses: Sequence[Accesses], now: Instant, policy: Policy) -> None:
        self.befores, self.now, self.policy = befores, now, policy
        self.columns = Columns.of(befores)
        self.ends = np.cumsum([len(some) for some in accesses])
        self.next = np.concatenate([[0], self.ends[:-1]])
        flat = [access for some in accesses for access in some]
        self.at = np.array([*(at for at, _ in flat), NEVER], dtype=np.int64)
        self.times = np.array([*(times for _, times in flat), 0], dtype=np.int64)
        self.counted = np.zeros(len(befores), dtype=np.int64)
        self.steps: list[ReplayRound] = []
        self.due = np.full(len(befores), NEVER, dtype=np.int64)
        self.waits = np.zeros(len(befores), dtype=np.bool_)

    def run(self, openings: Sequence[Opening]) -> None:
        """Move and count until nothing is due."""
        held = np.array([s.held for s in self.befores], dtype=np.bool_)
        opens = np.array([(-FAR, o.since, o.hides, o.shrinks) for o in openings], dtype=np.int64)
        active = np.arange(len(self.befores))
        while active.size:
            moves = next_moves(part := self.columns.take(active), self.policy)
            gate = GATES[moves.rule]
            since = np.maximum(moves.at, np.where(gate > 0, opens[active, 1], moves.at))
            at = np.maximum(since, opens[active, gate])
            read = np.where(self.next[active] < self.ends[active], self.at[self.next[active]], NEVER)
            # What a gate holds back is still in view: uses that came after it was due count before it is tried again.
            uses = held[active] & (gate > 0) & (read <= self.now)
            falling = (at <= self.now) & (at <= read) & ~uses
            reading = (read <= self.now) & ~falling
            self.due[active], self.waits[active] = since, (since <= self.now) & (at > self.now)
            if (rows := np.flatnonzero(falling)).size:
                self._move(active[rows], part.take(rows), NextMoves(at[rows], moves.rule[rows]), moves.at[rows])
            if reading.any():
                self._read(active[reading])
            active = active[falling | reading]

    def count_all(self) -> None:
        """Count every access in, and move nothing."""
        while (rows := np.flatnonzero(self.next < self.ends)).size:
            self._count(rows)

    def states(self, rows: Ints, due: Sequence[int | None]) -> list[State]:
        """Return the states of some memories as they are now in the columns, with their next due instants."""
        befores = [self.befores[i] for i in rows.tolist()]
        return self.columns.states(rows, befores, _REPLAYED_FIELDS, due)

    def transitions(self) -> list[tuple[Transition, ...]]:
        """Return the moves of each memory, in their order."""
        found: list[list[Transition]] = [[] for _ in self.befores]
        for step in self.steps:
            befores = [self.befores[i] for i in step.rows.tolist()]
            every = np.arange(len(befores))
            after = step.after.states(every, befores, _REPLAYED_FIELDS, [None] * len(befores))
            reasons = step.reasons(self.policy)
            columns = (step.rows, step.moves.at, step.moves.rule, step.fell)
            for i, at, code, fell, state, why in zip(*(c.tolist() for c in columns), after, reasons, strict=True):
                found[i].append(Transition(at, state, tier_table.RULES[code].name, why, fell))
        return [*map(tuple, found)]

    def finals(self) -> list[State]:
        """Return the state of each memory with the instant at which it next moves."""
        due = [None if at >= NEVER else at for at in self.due.tolist()]
        ends = self.states(np.arange(len(self.befores)), due)
        return [replace(s, held=True) if waits else s for s, waits in zip(ends, self.waits.tolist(), strict=True)]

    def _move(self, rows: Ints, part: Columns, moves: NextMoves, fell: Ints) -> None:
        """Move memories, and keep the step.

        ``fell`` is when what they do fell due; what came later had to wait for a gate.
        """
        for code in np.unique(moves.rule).tolist():
            its = moves.rule == code
            self._reach(tier_table.RULES[code].target, rows[its], moves.at[its])
        self.steps.append(ReplayRound(rows, part, self.columns.take(rows), moves, fell))

    def _reach(self, target: Tier | Status | Form, rows: Ints, at: Ints) -> None:
        c = self.columns
        if isinstance(target, Tier):
            c.tier[rows], c.tier_ms[rows], c.tier_accesses[rows] = TIER_CODE[target], at, 0
        elif isinstance(target, Form):
            c.form[rows], c.form_ms[rows] = FORM_CODE[target], at
        else:
            c.status[rows], c.status_ms[rows] = CODES["status"][target], at

    def _read(self, rows: Ints) -> None:
        """Count the next access of each memory in, and move those that it brings nearer."""
        c = self.columns
        # A late entry does not move anything back.
        at = np.maximum.reduce([self._count(rows), c.tier_ms[rows], c.status_ms[rows]])
        while rows.size:
            # A cold memory that was accessed is warm, and may go on to hot at the same instant.
            moves = next_moves(part := c.take(rows), self.policy, at)
            up = np.flatnonzero(moves.rule >= 0)
            rows, at = rows[up], at[up]
            if up.size:
                self._move(rows, part.take(up), moves.take(up), at)

    def _count(self, rows: Ints) -> Ints:
        """Count the next access of each memory in, and return when it was."""
        c, times = self.columns, self.times[self.next[rows]]
        at: Ints = np.maximum(
            self.at[self.next[rows]], c.anchor_ms[rows]
        )  # a clock that stepped back does not rejuvenate
        self.next[rows] += 1
        self.counted[rows] += times
        c.access_mass[rows] = decay_mass(c.access_mass[rows], days_between(c.anchor_ms[rows], at)) + times
        last, but_one = c.accessed_ms[rows], c.access2_ms[rows]
        c.access3_ms[rows] = np.select([times >= 3, times == 2], [at, last], but_one)  # noqa: PLR2004  # three are kept
        c.access2_ms[rows] = np.where(times >= 2, at, last)  # noqa: PLR2004  # as above
        c.accessed_ms[rows] = at
        c.access_count[rows] += times
        c.tier_accesses[rows] += times
        c.anchor_ms[rows] = at
        day = at // DAY_MS
        c.boosted[rows] = np.where(c.boost_day[rows] == day, c.boosted[rows], 0.0)
        c.boost_day[rows] = day
        for nth in range(int(times.max(initial=0))):
            if not self._boost(rows[times > nth]):
                break
        if self.policy.strength.on_access:
            self._strengthen(rows, at, times)
        return at

    def _boost(self, rows: Ints) -> bool:
        """Raise importance for one access; False once nothing is left to add."""
        c, p = self.columns, self.policy.importance
        worth = boost(p.on_access, c.boosted[rows], diminishing=p.diminishing, daily_cap=p.daily_cap)
        base = c.importance[rows]
        raised = np.maximum(base, np.minimum(p.maximum, base + worth))
        c.boosted[rows] += raised - base
        c.importance[rows] = raised
        return bool(np.any(raised > base))

    def _strengthen(self, rows: Ints, at: Ints, times: Ints) -> None:
        c = self.columns
        curve = strength_curve(c.take(rows), self.policy)
        days = days_between(c.strength_ms[rows], at)
        amount = self.policy.strength.on_access * times
        c.strength[rows], c.level[rows] = reinforce_strength(
            curve.value(days), curve.level_at(days), curve.importance, amount, curve.parameters
        )
        c.strength_ms[rows] = np.maximum(c.strength_ms[rows], at)
