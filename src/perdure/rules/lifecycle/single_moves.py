"""When one memory moves next: the rows of the tier table, tried against the plain numbers of one state.

The rows, their limits and when they fall due are those of tier_table.py, as moves.py tries them against arrays; where a
signal falls to is found without arrays, because those cost by the call. The laws compare both ways.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import ceil, exp, log
from typing import Any, Final, NamedTuple

import numpy as np

from perdure.formulas.curve import DAY_MS, HORIZON_DAYS, NEVER
from perdure.formulas.single import SingleValue, amplifier_of_one, confidence_crossing
from perdure.records.instant import Instant
from perdure.records.maker import copy_with
from perdure.records.memory import State, Tier
from perdure.records.policy import Policy
from perdure.rules.lifecycle import tier_table
from perdure.rules.lifecycle.moves import bound_of, next_moves
from perdure.rules.lifecycle.single_accesses import with_accesses
from perdure.rules.lifecycle.state_arrays import TIER_CODE, TIERS, Columns, value_weights
from perdure.rules.lifecycle.tier_table import Cohort, Limits, Rule
from perdure.rules.policy_cache import PolicyCache

_NEVER: Final = int(NEVER)


class _Row(NamedTuple):
    """A row under a policy: its limits, and what each signal must be below."""

    rule: Rule
    limits: Limits
    falls: tuple[tuple[str, float], ...]


def _rows(policy: Policy) -> Mapping[tuple[Tier, bool], list[_Row]]:
    """Return the rows by the tier that they apply in, and by whether an access brings them about."""
    active = [(rule, rule.limits(policy)) for rule in tier_table.RULES if rule.is_on(policy)]
    rows = [_Row(rule, k, tuple((fall.signal, bound_of(fall, k)) for fall in rule.falls)) for rule, k in active]
    return {
        (tier, on_access): [row for row in rows if tier in row.rule.sources and row.rule.on_access is on_access]
        for tier in Tier
        for on_access in (False, True)
    }


_rows_of: Final = PolicyCache(_rows)


class SingleMemory(Cohort):
    """One memory that is tried against the rows; its columns hold numbers, not arrays."""

    def __init__(self, state: State, policy: Policy, accessed: Instant = _NEVER) -> None:
        super().__init__(Columns.of_one(state), policy, np.array(accessed))
        self._crossings: dict[tuple[str, float], int] = {}
        self._known: SingleValue | None = None
        self._applying: dict[tuple[Tier, bool], list[_Row]] = {}

    def value_at(self, at: Any) -> Any:
        """Return its value at an instant."""
        return self._single.value(float(at - self.states.anchor_ms) / DAY_MS)

    def entry_tier(self, *, recent_message: bool) -> Tier:
        """Return the tier in which it starts as a new memory: hot by value or as one of its session's last messages."""
        tiers = self.policy.tiers
        hot = self._single.value(0.0) >= tiers.hot_entry_value or (recent_message and tiers.hot_messages > 0)
        return Tier.HOT if hot else Tier.WARM

    def place(self, tier: Tier, strength: float, level: float) -> None:
        """Let it be in a tier, with a strength and a level."""
        numbers: Any = self.states
        numbers.tier, numbers.strength, numbers.level = TIER_CODE[tier], strength, level

    def due(self) -> int | None:
        """Return the instant at which it next moves; None for never. Pinned and hidden memories never move."""
        if self.states.pinned or not self.states.active:
            return None
        if self.asks_strength:
            at = int(next_moves(self.states.as_arrays(), self.policy).at[0])
        else:
            at = min((self._due(row) for row in self._rows(on_access=False)), default=_NEVER)
        return None if at >= _NEVER else at

    def is_due_by(self, at: Instant) -> bool:
        """Return whether it moves by an instant; where nothing has fallen, that costs no search for when it will."""
        if self.states.pinned or not self.states.active:
            return False
        rows = self._rows(on_access=False)
        return any(all(self._is_below(fall, at) for fall in row.falls) and self._due(row) <= at for row in rows)

    @property
    def asks_strength(self) -> bool:
        """Whether a row asks for its strength, for which there are only arrays."""
        return any(signal == "strength" for row in self._rows(on_access=False) for signal, _ in row.falls)

    def may_rise(self) -> bool:
        """Return whether the access may move it; where its lasting value is asked, arrays tell."""
        if self.states.pinned or not self.states.active:
            return False
        rows = self._rows(on_access=True)
        return any(row.rule.target is Tier.VAULT or self._due(row) < _NEVER for row in rows)

    def _rows(self, *, on_access: bool) -> list[_Row]:
        key = TIERS[int(self.states.tier)], on_access
        if key not in self._applying:
            rows = _rows_of(self.policy)[key]
            self._applying[key] = [row for row in rows if row.rule.applies(self.states, row.limits)]
        return self._applying[key]

    def _due(self, row: _Row) -> int:
        fallen: Any = max((self._fall_instant(fall) for fall in row.falls), default=-_NEVER)
        return int(row.rule.due(self, fallen, row.limits))

    def _is_below(self, fall: tuple[str, float], at: Instant) -> bool:
        signal, bound = fall
        if signal == "value":
            return bool(self.value_at(at) < bound)
        base, rate, _ = self._sure
        return base * exp(-rate * max(float(at - self.states.anchor_ms) / DAY_MS, 0.0)) < bound

    def _fall_instant(self, fall: tuple[str, float]) -> int:
        """Return the instant by which a signal has certainly fallen below a bound."""
        if fall not in self._crossings:
            days = _CROSSINGS[fall[0]](self, fall[1])
            certain = int(self.states.anchor_ms) + ceil(days * DAY_MS) + 1 if days <= HORIZON_DAYS else _NEVER
            self._crossings[fall] = certain
        return self._crossings[fall]

    @property
    def _single(self) -> SingleValue:
        if self._known is None:
            c: Any = self.states
            base, rate, lag = self._sure
            shares = value_weights(self.policy)
            self._known = SingleValue(
                c.access_mass, c.uniqueness, (base, rate), lag, c.reinforcements, c.importance, shares
            )
        return self._known

    @property
    def _sure(self) -> tuple[float, float, float]:
        """The base of its confidence, its loss per day, and the days that it is older than the last access."""
        c: Any = self.states
        if c.fact:
            rate = self.policy.confidence.fact_rate * self.policy.fading.factors[c.sort]
            return c.confidence, rate, float(c.anchor_ms - c.sure_ms) / DAY_MS
        rate = -log(self.policy.confidence.daily_factor) / amplifier_of_one(c.access_count) if c.fades else 0.0
        return c.confidence, rate, 0.0


_CROSSINGS: Final[Mapping[str, Callable[[SingleMemory, float], float]]] = {
    "value": lambda one, bound: one._single.crossing(bound),  # noqa: SLF001  # of this file
    "confidence": lambda one, bound: confidence_crossing(*one._sure[:2], bound),  # noqa: SLF001
}


def counted_in(
    state: State, accesses: Sequence[tuple[Instant, int]], now: Instant, policy: Policy
) -> tuple[State, int] | None:
    """Return a state with its accesses up to an instant counted in and its next due instant, and how many they were.

    None where it moves meanwhile, or may, or waits to be let go: then arrays tell (trajectory.py). ``accesses`` are
    (instant, how many) in the order of time; ``counts_single`` is true for the policy.
    """
    one, counted = SingleMemory(state, policy), 0
    if state.held or one.asks_strength:
        return None
    for at, times in accesses:
        if at > now:
            break
        if one.is_due_by(at):
            return None
        state = with_accesses(state, [(at, times)], policy)
        one = SingleMemory(state, policy, max(state.anchor_ms, state.tier_ms, state.status_ms))
        counted += times
        if one.may_rise():
            return None
    due = one.due()
    return None if due is not None and due <= now else (copy_with(state, due_ms=due), counted)
