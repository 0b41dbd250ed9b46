"""When a memory moves next and why: the rows of the tier table, tried against states."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from perdure.formulas.curve import NEVER, Array, due_instants
from perdure.records.instant import FIRST, LAST
from perdure.records.memory import Tier
from perdure.records.policy import Policy
from perdure.rules.lifecycle import tier_table
from perdure.rules.lifecycle.state_arrays import (
    TIER_CODE,
    TIERS,
    Bools,
    Columns,
    Ints,
    confidence_curve,
    days_between,
    lasting_value_curve,
    strength_curve,
    value_curve,
)
from perdure.rules.lifecycle.tier_table import Cohort, Limits, Rule, SignalFall


@dataclass(frozen=True, slots=True)
class NextMoves:
    """The next move of each memory, shape [n]."""

    at: Ints  # instants; NEVER where there is none
    rule: Ints  # index into the tier table; -1 where there is none

    def take(self, rows: Ints) -> NextMoves:
        """Return the moves of some memories."""
        return NextMoves(self.at[rows], self.rule[rows])


def next_moves(states: Columns, policy: Policy, accessed: Ints | None = None) -> NextMoves:
    """Return when each memory moves, and by which row of the tier table.

    Where several rows fall due at one instant, the first in the table wins. Pinned memories and those that are not
    active never move. If ``accessed`` has the instants of accesses that have just been counted in, the rows that an
    access brings about are tried; else those that time alone brings about.
    """
    moves = NextMoves(np.full(len(states), NEVER), np.full(len(states), -1))
    cohort = Cohort(states, policy, moves.at.copy() if accessed is None else accessed)
    trials = list(_trials(states, policy, on_access=accessed is not None))
    for trial, fallen in zip(trials, _fall_instants(states, policy, trials), strict=True):
        due = trial.rule.due(cohort, fallen, trial.limits)[trial.rows]
        sooner = due < moves.at[trial.rows]
        rows = trial.rows[sooner]
        moves.at[rows], moves.rule[rows] = due[sooner], trial.code
    return moves


@dataclass(frozen=True, slots=True)
class _Trial:
    """A row of the tier table with the memories that it is tried on."""

    code: int
    rule: Rule
    limits: Limits
    rows: Ints


def _trials(states: Columns, policy: Policy, *, on_access: bool) -> Iterator[_Trial]:
    """Yield the rows that are on and apply to some memory, in the order of the table."""
    movable = states.active & ~states.pinned
    in_tiers: dict[tuple[Tier, ...], Bools] = {}
    for code, rule in enumerate(tier_table.RULES):
        if rule.on_access is on_access:
            if rule.sources not in in_tiers:
                is_source = np.array([tier in rule.sources for tier in TIERS])
                in_tiers[rule.sources] = movable & is_source[states.tier]
            mask = in_tiers[rule.sources]
            if mask.any() and rule.is_on(policy):
                limits = rule.limits(policy)
                rows = np.flatnonzero(mask & rule.applies(states, limits))
                if rows.size:
                    yield _Trial(code, rule, limits, rows)


def _fall_instants(states: Columns, policy: Policy, trials: Sequence[_Trial]) -> list[Ints]:
    """Return for each trial when all signals had fallen that its row asks for, shape [n].

    The falls of one signal are searched for together, because for few memories a search costs by the call.
    """
    result = [np.full(len(states), -NEVER) for _ in trials]
    falls = [(fall, trial, found) for trial, found in zip(trials, result, strict=True) for fall in trial.rule.falls]
    for signal in {fall.signal for fall, *_ in falls}:
        some = [
            (trial.rows, bound_of(fall, trial.limits), found) for fall, trial, found in falls if fall.signal == signal
        ]
        rows = np.concatenate([own for own, *_ in some])
        bounds = np.concatenate([np.full(own.size, bound) for own, bound, _ in some])
        instants, start = _CROSSINGS[signal](states.take(rows), policy, bounds), 0
        for own, _, found in some:
            found[own] = np.maximum(found[own], instants[start : start + own.size])
            start += own.size
    return result


def bound_of(fall: SignalFall, limits: Limits) -> float:
    """Return what a signal must be below: at or below a number is below the next larger one."""
    bound = float(limits[fall.bound.rpartition(".")[2]]) if fall.bound else 0.0
    return float(np.nextafter(bound, np.inf)) if fall.at_most else bound


_CROSSINGS: Final[Mapping[str, Callable[[Columns, Policy, Array], Ints]]] = {
    "value": lambda c, policy, bounds: due_instants(c.anchor_ms, value_curve(c, policy).crossing(bounds)),
    # Only memories that are no facts are archived by confidence, so it counts from the anchor without a lag.
    "confidence": lambda c, policy, bounds: due_instants(c.anchor_ms, confidence_curve(c, policy)[0].crossing(bounds)),
    "strength": lambda c, policy, _: due_instants(c.strength_ms, strength_curve(c, policy).forgotten_age()),
}


def instant_texts(at: Ints) -> list[str]:
    """Return instants as ``text_of`` tells them, all at once."""
    minutes = np.datetime_as_string(np.clip(at, FIRST, LAST).astype("datetime64[ms]"), unit="m").tolist()
    return [f"{text[:10]} {text[11:]} UTC" for text in minutes]


def explain_moves(states: Columns, moves: NextMoves, policy: Policy) -> list[str]:
    """Return the reasons of moves in words and numbers: what the journal keeps and `why` shows.

    The states are those just before the moves; each has one.
    """
    rules = {code: tier_table.RULES[code] for code in set(moves.rule.tolist())}
    limits = {code: rule.limits(policy) for code, rule in rules.items()}
    days = states.days_since_anchor(moves.at)
    confidence, lag = confidence_curve(states, policy)
    signals = {"value": value_curve(states, policy).value(days), "confidence": confidence.value(days + lag)}
    if any(rule.figures for rule in rules.values()):
        curve = strength_curve(states, policy)
        signals |= {"strength": curve.value(days_between(states.strength_ms, moves.at)), "threshold": curve.threshold()}
    if any(rule.target is Tier.VAULT for rule in rules.values()):
        signals["lasting"] = lasting_value_curve(states, policy).value(days)
    texts = []
    for code, at, *numbers in zip(
        moves.rule.tolist(), instant_texts(moves.at), *(values.tolist() for values in signals.values()), strict=True
    ):
        rule, now = rules[code], dict(zip(signals, numbers, strict=True))
        figures = f" ({rule.figures.format(**now)})" if rule.figures else ""
        texts.append(f"{rule.move}: {rule.because.format(**limits[code], **now)}; due {at}{figures}")
    return texts


def threshold_margin(states: Columns, rules: Sequence[str], at: Ints, policy: Policy) -> Array:
    """Return how far each memory is past what a row of the tier table asks for, 0 to 1 of the threshold.

    Of several signals the one that has fallen least counts. What only time brings about is as sure as its confidence
    is low.
    """
    days = states.days_since_anchor(at)
    confidence, lag = confidence_curve(states, policy)
    strength = strength_curve(states, policy)
    signals = {
        "value": value_curve(states, policy).value(days),
        "confidence": confidence.value(days + lag),
        "strength": strength.value(days_between(states.strength_ms, at)),
    }
    result = 1.0 - signals["confidence"]
    for name in set(rules):
        rule = next(r for r in tier_table.RULES if r.name == name)
        rows = np.array([other == name for other in rules])
        bounds = {"strength": strength.threshold()[rows]}
        limits = rule.limits(policy)
        past = [
            1.0 - signals[fall.signal][rows] / np.maximum(bounds.get(fall.signal, bound_of(fall, limits)), _LEAST)
            for fall in rule.falls
        ]
        if past:
            result[rows] = np.minimum.reduce(past)
    return np.clip(result, 0.0, 1.0)


_LEAST: Final = 1e-9


def entry_tier(states: Columns, policy: Policy, *, recent_message: Bools) -> Ints:
    """Return the tier in which each new memory starts: hot by value or as one of its session's last messages."""
    value = value_curve(states, policy).value(np.zeros(len(states)))
    hot = (value >= policy.tiers.hot_entry_value) | (recent_message & (policy.tiers.hot_messages > 0))
    return np.where(hot, TIER_CODE[Tier.HOT], TIER_CODE[Tier.WARM])
