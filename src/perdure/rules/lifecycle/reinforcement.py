"""What reinforcement, doubt, validation, strengthening and weakening make of states.

Several states at once, because formulas take arrays. Nothing here finds memories or writes plans.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np

from perdure.formulas.curve import Array
from perdure.formulas.fsrs import AGAIN, GOOD, apply_review
from perdure.formulas.importance import boost as worth_of
from perdure.formulas.strength import decay_by_hand
from perdure.formulas.strength import reinforce_strength as strengthened
from perdure.records.instant import DAY_MS, Instant
from perdure.records.memory import Kind, State
from perdure.records.policy import Policy
from perdure.rules.lifecycle.state_arrays import (
    Columns,
    days_between,
    importance_curve,
    strength_curve,
    strength_parameters,
)
from perdure.rules.lifecycle.unarchive import restart_ages

BoostKind = Literal["additive", "multiplicative", "set_value"]

UNIT: Final = 0.1  # a boost of so much is a reinforcement of strength by 1; it is the default

VALIDATION: Final = 0.02  # what a validation adds to confidence


@dataclass(frozen=True, slots=True)
class Boost:
    """A reinforcement as it is asked for."""

    kind: BoostKind  # additive, multiplicative or set_value
    amount: float  # 0 to 1
    strength: float  # amount of the reinforcement of strength, 0 or more


@dataclass(frozen=True, slots=True)
class SignalChange:
    """What became of one memory."""

    state: State  # as it is now
    old: float  # the signal before, current
    new: float  # the signal right after, current
    because: str  # why, in words and numbers


def boost_of(kind: BoostKind, amount: float) -> Boost:
    """Return a boost with the reinforcement of strength that goes with it."""
    return Boost(kind, amount, 1.0 if kind == "set_value" else amount / UNIT)


def reinforce_states(
    states: Sequence[State], accessed: Sequence[bool], boost: Boost, policy: Policy, now: Instant
) -> list[SignalChange]:
    """Return states after a reinforcement; an access that goes with it is counted by the caller.

    The boost is added to current importance. Where an access goes with it, decay restarts, and the result is the new
    base: what decay has taken does not come back. Where none does, decay goes on from the old anchor, and the base
    becomes what makes the memory worth the result right now (at most the policy's maximum, which may be less than was
    asked for).

    The accesses of the states must be counted in; ``accessed`` says for each whether an access goes with it.
    """
    columns = Columns.of(states)
    days = columns.days_since_anchor(now)
    curve = importance_curve(columns, policy)
    old = curve.value(days)
    today = np.where(columns.boost_day == now // DAY_MS, columns.boosted, 0.0)
    counts = np.array(accessed, dtype=np.bool_)
    goal = _goal(boost, old, today, policy)
    highest = np.maximum(curve.base, policy.importance.maximum)
    solved = np.where(goal == old, curve.base, curve.worth_then(goal, days, highest))
    base = np.where(counts, goal, solved)
    new = np.where(counts, goal, replace(curve, base=base).value(days))
    added = 0.0 if boost.kind == "set_value" else np.maximum(new - old, 0.0)
    columns.importance = base
    strength, level = _strengthen(columns, boost.strength, policy, now)
    stability, difficulty = _review(states, GOOD, now)
    numbers = zip(
        *(x.tolist() for x in (base, today + added, strength, level, stability, difficulty, old, new)), strict=True
    )
    return [_outcome(state, row, boost, now) for state, row in zip(states, numbers, strict=True)]


def _outcome(state: State, row: Sequence[float], boost: Boost, now: Instant) -> SignalChange:
    """Return what became of one memory, from (base, boosted, strength, level, stability, difficulty, old, new)."""
    base, boosted, strength, level, stability, difficulty, old, new = row
    after = replace(
        state,
        importance=base,
        boosted=boosted,
        boost_day=now // DAY_MS,
        reinforcements=state.reinforcements + 1,
        strength=strength,
        level=level,
        strength_ms=max(now, state.strength_ms),
        stability=stability,
        difficulty=difficulty,
    )
    because = (
        f"reinforced ({boost.kind} {boost.amount:g}): importance {old:.3f} to {new:.3f}, base "
        f"{state.importance:.3f} to {after.importance:.3f}; strength {after.strength:.3f}"
    )
    return SignalChange(after, old, new, because)


def _goal(boost: Boost, old: Array, today: Array, policy: Policy) -> Array:
    """Return the importance that a boost asks for: capped, but a cap never lowers."""
    p = policy.importance
    if boost.kind == "set_value":
        capped = np.maximum(old, min(boost.amount, p.maximum))
        return np.where(boost.amount < old, boost.amount, capped)
    amount = boost.amount if boost.kind == "additive" else old * boost.amount
    worth = worth_of(amount, today, diminishing=p.diminishing, daily_cap=p.daily_cap)
    return np.maximum(old, np.minimum(p.maximum, old + worth))


def _strengthen(columns: Columns, amount: float, policy: Policy, now: Instant) -> tuple[Array, Array]:
    strength, level = _activation(columns, policy, now)
    keys = strength_parameters(policy, columns.scope)
    return strengthened(strength, level, columns.importance, amount, keys)


def _activation(columns: Columns, policy: Policy, now: Instant) -> tuple[Array, Array]:
    curve = strength_curve(columns, policy)
    days = days_between(columns.strength_ms, now)
    return curve.value(days), curve.level_at(days)


def _review(states: Sequence[State], grade: int, now: Instant) -> tuple[Array, Array]:
    """Return stability and difficulty after a review; the last one was the last access or reinforcement."""
    since = [max(0, now - max(s.anchor_ms, s.strength_ms)) / DAY_MS for s in states]
    return apply_review([s.stability for s in states], [s.difficulty for s in states], since, grade)


def strengthen_states(states: Sequence[State], amount: float, policy: Policy, now: Instant) -> list[SignalChange]:
    """Return states after a reinforcement of strength by hand: the gain is bounded, and nothing else changes."""
    columns = Columns.of(states)
    after = _strengthen(columns, amount, policy, now)
    return _by_hand(f"strengthened by hand ({amount:g})", states, columns, after, policy, now)


def weaken_states(states: Sequence[State], amount: float, policy: Policy, now: Instant) -> list[SignalChange]:
    """Return states after a decay of strength by hand: the drop is bounded."""
    columns = Columns.of(states)
    keys = strength_parameters(policy, columns.scope)
    after = decay_by_hand(*_activation(columns, policy, now), columns.importance, amount, keys)
    return _by_hand(f"weakened by hand ({amount:g})", states, columns, after, policy, now)


def _by_hand(
    done: str, states: Sequence[State], columns: Columns, after: tuple[Array, Array], policy: Policy, now: Instant
) -> list[SignalChange]:
    before, threshold = _activation(columns, policy, now), strength_curve(columns, policy).threshold()
    numbers = zip(*(x.tolist() for x in (*before, *after, threshold)), strict=True)
    return [
        SignalChange(
            replace(s, strength=new, level=left, strength_ms=max(now, s.strength_ms)),
            old,
            new,
            f"{done}: strength {old:.3f} to {new:.3f}, level {energy:.3f} to {left:.3f}; forgotten at {bound:.3f}",
        )
        for s, (old, energy, new, left, bound) in zip(states, numbers, strict=True)
    ]


def doubt_states(states: Sequence[State], policy: Policy, now: Instant) -> list[SignalChange]:
    """Return states after they turned out wrong: current confidence times ``use.wrong_factor``, a lapse for FSRS.

    Confidence is proportional to its base, so the base takes the factor and the truth clock goes on.
    """
    stability, difficulty = _review(states, AGAIN, now)
    factor = policy.use.wrong_factor
    return [
        SignalChange(
            replace(
                s, confidence=s.confidence * factor, stability=float(stability[i]), difficulty=float(difficulty[i])
            ),
            s.confidence,
            s.confidence * factor,
            f"reported wrong: confidence x {factor:g}, base {s.confidence:.3f} to {s.confidence * factor:.3f}; "
            "a person is asked about it",
        )
        for i, s in enumerate(states)
    ]


def validate_state(state: State, now: Instant) -> SignalChange:
    """Return a state after a person said that it is still true: +0.02, count + 1, and the truth clock restarts.

    A fact's truth clock is its own. Other memories' confidence counts from the last access, so that instant moves, but
    no access is counted.
    """
    confidence = max(state.confidence, min(1.0, state.confidence + VALIDATION))
    after = replace(state, confidence=confidence, reinforcements=state.reinforcements + 1, validated_ms=now, held=False)
    if state.kind is not Kind.FACT:
        after = restart_ages(after, now)
    because = f"validated: confidence base {state.confidence:.3f} to {confidence:.3f}, counted from now"
    return SignalChange(after, state.confidence, confidence, because)
