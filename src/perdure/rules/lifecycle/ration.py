"""The loss budget of a plan and of a day, and its rationing: an allowance goes to the surest, and the rest waits.

A day's allowance (UTC) goes first to what waited when the day began, the surest first, then to what falls due in the
course of the day. So hourly, daily and late sweeps end alike: a late one plays the days that it missed in their order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from types import MappingProxyType
from typing import Final

import numpy as np

from perdure.records.instant import DAY_MS, Instant, text_of
from perdure.records.memory import State, Status
from perdure.records.plan import BY_HAND
from perdure.records.policy import GatePolicy, Policy
from perdure.rules.lifecycle.moves import threshold_margin
from perdure.rules.lifecycle.state_arrays import Columns
from perdure.rules.lifecycle.trajectory import FAR, Accesses, Opening, Transition, replay

_NEVER: Final = "none may go under this policy"
_MISSED: Final = "; a late sweep makes up for the days without one"
_ROUNDING: Final = 1e-9


@dataclass(frozen=True, slots=True)
class WaitReason:
    """Why a memory waits for the loss budget."""

    place: int  # its place among those that wait for the same, from 1
    waiting: int  # how many wait
    allowed: int  # how many may go on one day
    days: int  # in about how many days it goes, if nothing else changes
    shrinks: bool = False  # whether it waits to be shortened; to be hidden otherwise

    def why(self, now: Instant) -> str:
        """Return the reason in words and numbers."""
        verb = "shortened" if self.shrinks else "hidden"
        when = f"about {text_of(now - now % DAY_MS + self.days * DAY_MS)[:10]}" if self.allowed else _NEVER
        return (
            f"loss budget: waits at place {self.place} of {self.waiting}, at most {self.allowed} "
            f"may be {verb} a day, {when}{_MISSED}"
        )

    @property
    def of_all(self) -> str:
        """The reason for all that wait together."""
        verb, are = "shortened" if self.shrinks else "hidden", "is" if self.waiting == 1 else "are"
        days = -(-self.waiting // self.allowed) if self.allowed else 0
        end = f"about {days} {'day' if days == 1 else 'days'} until all are {verb}" if days else _NEVER
        return f"loss budget: {self.waiting} more {are} due, at most {self.allowed} may be {verb} a day; {end}"


@dataclass(frozen=True, slots=True)
class Ration:
    """From when each memory may be hidden or shortened, and why those wait that do."""

    # memory id -> from when; nothing is said of those that lose nothing
    openings: Mapping[str, Opening] = field(default_factory=lambda: MappingProxyType({}))
    # memory id -> why it waits beyond the end
    waits: Mapping[str, WaitReason] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(slots=True)
class Rationing:
    """One namespace whose losses are shared out over days."""

    policy: Policy
    until: Instant  # up to when
    floor: Instant = -FAR  # no loss is dated before it: when a new policy began, for example
    # the memories that would lose something if nothing waited, as they are stored, and their accesses not yet counted
    states: dict[str, State] = field(default_factory=dict)
    accesses: dict[str, Accesses] = field(default_factory=dict)
    openings: dict[str, Opening] = field(default_factory=dict)

    def since(self, states: Mapping[str, State]) -> dict[str, Opening]:
        """Return the openings that memories have before anything is shared out.

        Nothing that is lost is dated before it was stored; what was held waits since it was.
        """
        return {i: self._first(s) for i, s in states.items()}

    def _first(self, state: State) -> Opening:
        held_since = state.due_ms if state.held and state.due_ms is not None else -FAR
        return Opening(since=max(held_since, state.recorded_ms, self.floor))

    def admit(self, losing: Iterable[str], states: Mapping[str, State], accesses: Mapping[str, Accesses]) -> None:
        """Take in memories that lose something when they are replayed with those openings."""
        for i in losing:
            self.states[i], self.accesses[i] = states[i], accesses.get(i, ())

    @property
    def first_day(self) -> int:
        """The first day on which something may be lost."""
        return min((max(s.due_ms or 0, self._first(s).since) for s in self.states.values()), default=0) // DAY_MS

    def share_out(self, history: LossHistory) -> Ration:
        """Return from when each may lose what is due."""
        self.openings = self.since(self.states)
        waits: dict[str, WaitReason] = {}
        if self.policy.gates.compress_share < 1:
            waits |= self._share_out(history, _SHORTENING)
        return Ration(self.openings, waits | self._share_out(history, _HIDING))

    def _share_out(self, history: LossHistory, kind: _Kind) -> dict[str, WaitReason]:
        due = self._losses(self.states, kind)
        granted: dict[int, int] = {}
        while due:
            day = min(x.at for x in due.values()) // DAY_MS
            allowed = self._allowed_count(history, granted, day, kind)
            after = self._next_day(history, granted, day, kind)
            today = [x for x in due.values() if x.at // DAY_MS == day]
            if len(today) > allowed:
                today = self._in_order(today)
            granted[day] = min(len(today), max(0, allowed))
            passed = [x.id for x in due.values() if day < x.at // DAY_MS < after]
            late = [*(x.id for x in today[granted[day] :]), *passed]
            for i in (*(x.id for x in today), *passed):
                del due[i]
            if after * DAY_MS > self.until:
                return self._wait(late, after, kind, self._allowed_count(history, granted, after, kind))
            self._postpone(late, after, kind)
            due |= self._losses(late, kind)
        return {}

    def _next_day(self, history: LossHistory, granted: Mapping[int, int], day: int, kind: _Kind) -> int:
        """Return the next day on which something may go, the day after the end where there is none.

        What waits is looked at again then, not on each day until then.
        """
        after = day + 1
        while after * DAY_MS <= self.until and self._allowed_count(history, granted, after, kind) <= 0:
            after += 1
        return after

    def _allowed_count(self, history: LossHistory, granted: Mapping[int, int], day: int, kind: _Kind) -> int:
        """Return how many may go on a day after what was shared out on the days before."""
        return kind.allowance(_remaining_budget(history.budget(day), granted, day, kind), self.policy)

    def _losses(self, ids: Sequence[str] | Mapping[str, State], kind: _Kind) -> dict[str, _Loss]:
        """Return the first loss of a kind of some memories, as their openings have it."""
        states = {i: self.states[i] for i in ids}
        found = {}
        for t in replay(states, self.accesses, self.until, self.policy, self.openings):
            loss = next((s for s in t.transitions if kind.is_one(s)), None)
            if loss is not None:
                found[t.id] = _Loss(t.id, loss.at, loss)
        return found

    def _in_order(self, losses: Sequence[_Loss]) -> list[_Loss]:
        """Return losses by instant, then the surest first, then the one that fell due first."""
        states = [replace(x.move.state, status=Status.ACTIVE) for x in losses]
        sure = threshold_margin(
            Columns.of(states), [x.move.rule for x in losses], np.array([x.at for x in losses]), self.policy
        )
        ranked = sorted(
            zip(losses, sure.tolist(), strict=True),
            key=lambda pair: (pair[0].at, -pair[1], pair[0].move.fell, pair[0].id),
        )
        return [loss for loss, _ in ranked]

    def _postpone(self, ids: Sequence[str], day: int, kind: _Kind) -> None:
        at = day * DAY_MS
        for i in ids:
            self.openings[i] = replace(self.openings[i], **{kind.name: at})

    def _wait(self, ids: Sequence[str], day: int, kind: _Kind, allowed: int) -> dict[str, WaitReason]:
        """Return why some wait beyond the end, in the order in which they go on the next days."""
        later = Rationing(self.policy, day * DAY_MS, self.floor, self.states, self.accesses, dict(self.openings))
        later._postpone(ids, day, kind)  # the same class
        ranked = later._in_order(list(later._losses(ids, kind).values()))
        self._postpone(ids, day, kind)
        return {
            x.id: WaitReason(place, len(ranked), allowed, 1 + (place - 1) // max(1, allowed), kind.name == "shrinks")
            for place, x in enumerate(ranked, 1)
        }


@dataclass(frozen=True, slots=True)
class _Loss:
    """What a memory loses first, and when."""

    id: str
    at: Instant
    move: Transition


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of loss that has a budget of its own; its name is the field of ``Opening``."""

    name: str
    allowance: Callable[[Budget, Policy], int]

    def is_one(self, move: Transition) -> bool:
        """Whether a move is one of these losses."""
        return bool(attrgetter(self.name)(move))


_HIDING: Final = _Kind("hides", lambda budget, policy: budget.allowance(policy.gates))
_SHORTENING: Final = _Kind("shrinks", lambda budget, policy: budget.allowance_of_forms(policy.gates))


def _remaining_budget(budget: Budget, granted: Mapping[int, int], day: int, kind: _Kind) -> Budget:
    """Return a day's budget after what was shared out on the days before."""
    if kind is not _HIDING:
        return budget
    spent = sum(n for then, n in granted.items() if then < day)
    return replace(budget, visible=max(0, budget.visible - spent))


@dataclass(frozen=True, slots=True)
class Budget:
    """What may still be hidden or shortened in a namespace on one day."""

    visible: int  # memories visible now
    hidden_today: int  # hidden earlier on the same day
    swept_today: int = 0  # those of them that sweeps have hidden: the sweeps of a day count as one plan
    shortened_today: int = 0  # shortened earlier on the same day

    def allowance(self, gates: GatePolicy) -> int:
        """Return how many more memories sweeps may hide on this day.

        At least one memory a day may go, however few there are, unless the policy sets a share to 0.
        """
        began = self.visible + self.hidden_today
        plan = int(gates.loss_share * began + _ROUNDING) - self.swept_today
        day = int(gates.loss_share_day * began + _ROUNDING) - self.hidden_today
        one = gates.loss_share > 0 and gates.loss_share_day > 0 and not self.swept_today
        return max(int(one), gates.loss_free_count - self.hidden_today, min(plan, day))

    def allowance_of_forms(self, gates: GatePolicy) -> int:
        """Return how many more memories sweeps may shorten on this day."""
        share = int(gates.compress_share * (self.visible + self.hidden_today) + _ROUNDING)
        one = gates.compress_share > 0 and not self.shortened_today
        return max(int(one), max(gates.loss_free_count, share) - self.shortened_today)

    def refusal(self, hides: int, gates: GatePolicy) -> str:
        """Return why a plan that hides so many is stopped; empty if it may go on."""
        if hides == 0 or self.hidden_today + hides <= gates.loss_free_count:
            return ""
        share = hides / max(1, self.visible)
        if share > gates.loss_share:
            return (
                f"loss budget: the plan would hide {hides} of {self.visible} memories ({share:.1%}); a plan may hide "
                f"at most {gates.loss_share:.0%}"
            )
        day = (self.hidden_today + hides) / max(1, self.visible + self.hidden_today)
        if day > gates.loss_share_day:
            return (
                f"loss budget: with {self.hidden_today} hidden earlier today the plan would hide {day:.1%} of the "
                f"namespace; the daily limit is {gates.loss_share_day:.0%}"
            )
        return ""

    def refusal_of(self, hides: int, shortens: int, gates: GatePolicy) -> str:
        """Return why a plan that hides and shortens so many is stopped; empty if it may go on."""
        return self.refusal(hides, gates) or self.too_short(shortens, gates)

    def too_short(self, shortens: int, gates: GatePolicy) -> str:
        """Return why a plan that shows so many in a shorter form is stopped; empty if it may go on."""
        share = shortens / max(1, self.visible)
        if shortens <= gates.loss_free_count or share <= gates.compress_share:
            return ""
        return (
            f"loss budget: the plan would shorten {shortens} of {self.visible} memories ({share:.1%}); "
            f"a plan may shorten at most {gates.compress_share:.0%}"
        )


@dataclass(frozen=True, slots=True)
class LossHistory:
    """What a namespace gained and lost on each day since some day (days since 1970 UTC).

    A loss belongs to the day of its own date, so that a late sweep finds what each past day still had to give.
    """

    visible: int  # memories visible now
    stored: Mapping[int, int]  # day -> memories stored on it
    gone: Mapping[int, int]  # day -> memories that went out of view on it, in whatever way
    hidden: Mapping[int, int]  # day -> those that count against the budget
    swept: Mapping[int, int]  # day -> those that sweeps have hidden
    shortened: Mapping[int, int]  # day -> memories that have been in their form since then

    @classmethod
    def of(
        cls,
        visible: int,
        stored: Iterable[tuple[int, int]],
        hidden: Sequence[tuple[int, str, int]],
        shortened: Iterable[tuple[int, int]],
    ) -> LossHistory:
        """Return the history of (day, how many); of what was hidden (day, operation that did it, how many)."""
        return cls(
            visible,
            dict(stored),
            _by_day((day, n) for day, _, n in hidden),
            _by_day((day, n) for day, operation, n in hidden if operation != BY_HAND),
            _by_day((day, n) for day, operation, n in hidden if operation == "sweep"),
            dict(shortened),
        )

    def budget(self, day: int) -> Budget:
        """Return the budget of a day, by what was visible when the day began."""
        began = self.visible + _since(day, self.gone) - _since(day, self.stored)
        hidden = self.hidden.get(day, 0)
        return Budget(max(0, began - hidden), hidden, self.swept.get(day, 0), self.shortened.get(day, 0))


def _since(day: int, counts: Mapping[int, int]) -> int:
    return sum(n for then, n in counts.items() if then >= day)


def _by_day(counts: Iterable[tuple[int, int]]) -> dict[int, int]:
    result: dict[int, int] = {}
    for day, n in counts:
        result[day] = result.get(day, 0) + n
    return result
