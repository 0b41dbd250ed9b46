"""Signals of one memory at an instant, in plain numbers: for few memories arrays cost more than what they hold.

The laws compare them with those of signals.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import exp, log
from typing import Final, NamedTuple

import numpy as np

from perdure.formulas.fsrs import PowerRetentionCurve
from perdure.formulas.importance import ImportanceCurve
from perdure.formulas.single import (
    SingleValue,
    amplifier_of_one,
    importance_of_one,
    power_retention_of_one,
    retention_of_one,
    strength_of_one,
)
from perdure.formulas.strength import Parameters
from perdure.records.instant import DAY_MS, Instant
from perdure.records.memory import Kind, Scope, Sort, State
from perdure.records.policy import Policy
from perdure.rules.last_policies import LastPolicies
from perdure.rules.lifecycle.stale_facts import validated_at
from perdure.rules.lifecycle.state_arrays import (
    CODES,
    Columns,
    importance_curve,
    retention_curve,
    strength_parameters,
    value_weights,
)


class _Keys(NamedTuple):
    """What a policy says about signals, as it is asked for one memory."""

    importance: ImportanceCurve  # of no memory
    strength: Mapping[Scope, Parameters]
    fading: float  # loss of confidence per day of what is neither accessed nor a fact
    facts: Mapping[Sort, float]  # the same of facts
    weights: tuple[float, float, float, float, float]
    power: float  # decay of the power law; 0 where retention is exponential


def _keys(policy: Policy) -> _Keys:
    none = Columns.of([])
    retention = retention_curve(none, policy)
    rate = policy.confidence.fact_rate
    return _Keys(
        importance_curve(none, policy),
        {scope: strength_parameters(policy, np.array([code])) for scope, code in CODES["scope"].items()},  # type: ignore[misc]  # codes by member
        -log(policy.confidence.daily_factor),
        {sort: rate * policy.fading.factors[code] for sort, code in CODES["sort"].items()},  # type: ignore[misc]  # as above
        value_weights(policy),
        retention.decay if isinstance(retention, PowerRetentionCurve) else 0.0,
    )


_keys_of: Final = LastPolicies(_keys)


def signals_of_one(state: State, policy: Policy, now: Instant) -> tuple[float, float, float, float, float]:
    """Return importance, confidence, strength, retention and value at an instant, as ``current_signals`` gives them."""
    keys, days = _keys_of(policy), max((now - state.anchor_ms) / DAY_MS, 0.0)
    if state.kind is Kind.FACT:
        rate, lag = keys.facts[state.sort], (state.anchor_ms - validated_at(state)) / DAY_MS
    else:
        rate, lag = keys.fading / amplifier_of_one(state.access_count), 0.0
        rate = rate if state.scope is Scope.LONG_TERM else 0.0
    value = SingleValue(
        state.access_mass,
        state.uniqueness,
        (state.confidence, rate),
        lag,
        state.reinforcements,
        state.importance,
        keys.weights,
    )
    since = max((now - state.strength_ms) / DAY_MS, 0.0)
    return (
        importance_of_one(keys.importance, state.importance, state.access_count, days),
        state.confidence * exp(-rate * max(days + lag, 0.0)),
        strength_of_one(keys.strength[state.scope], state.strength, state.level, state.importance, since),
        power_retention_of_one(state.stability, keys.power, days)
        if keys.power
        else retention_of_one(state.reinforcements, policy.retention.strength_days, policy.retention.growth, days),
        value.value(days),
    )
