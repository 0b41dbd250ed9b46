"""Counting the waiting accesses of one memory in, in plain numbers, as trajectory.py counts those of many in arrays."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from typing import Final

from perdure.formulas.importance import DIMINISHING_UNIT
from perdure.formulas.value import MASS_RATE
from perdure.records.instant import DAY_MS, Instant
from perdure.records.maker import copy_with
from perdure.records.memory import State
from perdure.records.policy import Policy

_KEPT_ACCESSES: Final = 3  # instants of the last accesses


def counts_single(policy: Policy) -> bool:
    """Whether a policy lets accesses change nothing but what is counted here: not strength."""
    return not policy.strength.on_access


def with_accesses(state: State, accesses: Sequence[tuple[Instant, int]], policy: Policy) -> State:
    """Return a state with accesses counted in, and nothing moved.

    ``accesses`` are (instant, how many) in the order of time, at least one; ``counts_single`` is true for the policy.
    """
    mass, anchor, day, boosted = state.access_mass, state.anchor_ms, state.boost_day, state.boosted
    importance, count = state.importance, 0
    latest: tuple[Instant | None, ...] = (state.accessed_ms, state.access2_ms, state.access3_ms)
    for instant, times in accesses:
        at = max(instant, anchor)  # a clock that stepped back does not rejuvenate
        mass = mass * exp(-MASS_RATE * ((at - anchor) / DAY_MS)) + times
        latest = (*[at] * min(times, _KEPT_ACCESSES), *latest)[:_KEPT_ACCESSES]
        count, anchor = count + times, at
        if day != at // DAY_MS:
            day, boosted = at // DAY_MS, 0.0
        importance, boosted = _boost(importance, boosted, times, policy)
    return copy_with(
        state,
        importance=importance,
        boosted=boosted,
        boost_day=day,
        anchor_ms=anchor,
        access_count=state.access_count + count,
        tier_accesses=state.tier_accesses + count,
        access_mass=mass,
        accessed_ms=latest[0],
        access2_ms=latest[1],
        access3_ms=latest[2],
        held=False,
    )


def _boost(importance: float, boosted: float, times: int, policy: Policy) -> tuple[float, float]:
    """Return importance after some accesses at once, and what was added on their day."""
    keys = policy.importance
    amount, factor, most, highest = keys.on_access, keys.diminishing, keys.daily_cap, keys.maximum
    for _ in range(times):
        worth = min(amount * factor ** (boosted / DIMINISHING_UNIT), most - boosted)
        raised = min(highest, importance + worth)
        if not raised > importance:  # nor will the next one add any
            break
        importance, boosted = raised, boosted + (raised - importance)
    return importance, boosted
