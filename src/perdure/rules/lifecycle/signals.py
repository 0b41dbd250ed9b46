"""Signals at an instant: a pure function of stored state and now. Nothing is written because time passed.

For few memories arrays cost more than what they hold: theirs are computed in plain numbers, and the laws compare both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from math import exp, log
from typing import Final, NamedTuple

import numpy as np

from perdure.formulas.curve import FEW, Array, ages
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
from perdure.formulas.value import value_at_start
from perdure.records.instant import DAY_MS, Instant, from_instant
from perdure.records.maker import maker_of
from perdure.records.memory import Kind, MemoryItem, Record, Scope, Sort, State
from perdure.records.policy import Policy
from perdure.rules.lifecycle.stale_facts import is_aging, validated_at
from perdure.rules.lifecycle.state_arrays import (
    CODES,
    Columns,
    confidence_curve,
    days_between,
    importance_curve,
    retention_curve,
    strength_curve,
    strength_parameters,
    value_curve,
    value_weights,
)
from perdure.rules.lifecycle.trajectory import Accesses, count_accesses
from perdure.rules.policy_cache import PolicyCache

Counted = dict[str, tuple[str, State, Accesses, State]]
"""Id -> (the policy's version, the state as it is stored, accesses that were counted into it, what it became)."""
_MOST_COUNTED: Final = 2000  # memories that are kept


@dataclass(frozen=True, slots=True)
class Signals:
    """Current signals of n memories, each of shape [n]."""

    importance: Array
    confidence: Array
    strength: Array
    retention: Array
    value: Array


def current_signals(states: Sequence[State], policy: Policy, now: Instant) -> Signals:
    """Return importance, confidence, strength, retention and value at an instant.

    The accesses of the states must be counted in; ages before an anchor count as 0.
    """
    columns = Columns.of(states)
    days = columns.days_since_anchor(now)
    confidence, lag = confidence_curve(columns, policy)
    return Signals(
        importance=importance_curve(columns, policy).value(days),
        confidence=confidence.value(ages(days + lag)),
        strength=strength_curve(columns, policy).value(days_between(columns.strength_ms, now)),
        retention=retention_curve(columns, policy).value(days),
        value=value_curve(columns, policy, (confidence, lag)).value(days),
    )


def memory_items(
    records: Sequence[Record], policy: Policy, now: Instant, counted: Counted | None = None
) -> list[MemoryItem]:
    """Return records as callers see them, with signals at an instant.

    ``counted`` is what earlier calls came to: of accesses that were counted then, only what has come since is.
    """
    if not records:
        return []
    states = _count(records, policy, {} if counted is None else counted)
    if all(_is_fresh(state, now) for state in states):
        numbers: Iterable[tuple[float, ...]] = [_signals_at_start(state, policy) for state in states]
    elif len(states) <= FEW:
        numbers = [signals_of_one(state, policy, now) for state in states]
    else:
        current = current_signals(states, policy, now)
        numbers = zip(*(getattr(current, name).tolist() for name in _SIGNALS), strict=True)
    aging = [is_aging(state, policy, now) for state in states]
    zone = policy.days.tz
    created = {at: from_instant(at).astimezone(zone) for at in {state.created_ms for state in states}}
    return [_view(*four, created) for four in zip(records, states, numbers, aging, strict=True)]


def whole_memory_items(records: Sequence[Record], policy: Policy, now: Instant) -> list[MemoryItem]:
    """Return records as ``memory_items`` does, with their whole texts, whatever shorter form they are shown in."""
    items = memory_items(records, policy, now)
    return [
        item if record.content.shown is None else replace(item, content=record.content.text)
        for item, record in zip(items, records, strict=True)
    ]


def _count(records: Sequence[Record], policy: Policy, counted: Counted) -> list[State]:
    states, left = [r.state for r in records], [r.accesses for r in records]
    for i, record in enumerate(records):
        version, state, before, after = counted.get(record.id) or ("", record.state, (), record.state)
        some = record.accesses
        if before and version == policy.version and state == record.state and some[: len(before)] == before:
            states[i], left[i] = after, some[len(before) :]
    result = count_accesses(states, left, policy)
    if len(counted) > _MOST_COUNTED:
        counted.clear()
    for record, after in zip(records, result, strict=True):
        if record.accesses:
            counted[record.id] = policy.version, record.state, record.accesses, after
    return result


def _is_fresh(state: State, now: Instant) -> bool:
    """Whether no signal has aged yet, as of what was just stored."""
    begins = state.anchor_ms
    return now <= begins == state.created_ms and now <= state.strength_ms and state.validated_ms is None


def _signals_at_start(state: State, policy: Policy) -> tuple[float, ...]:
    """Return the signals of a fresh memory in the order of ``_SIGNALS``: all curves are at their beginning."""
    parts = state.access_mass, state.uniqueness, state.confidence, state.importance
    return state.importance, state.confidence, state.strength, 1.0, value_at_start(*parts, value_weights(policy))


_item: Final = maker_of(MemoryItem)
_SIGNALS: Final = ("importance", "confidence", "strength", "retention", "value")


def _view(
    record: Record, state: State, signals: tuple[float, ...], aging: bool, created: Mapping[Instant, datetime]
) -> MemoryItem:  # zipped
    content, created_at = record.content, created[state.created_ms]
    return _item(  # in the order of its fields: a call that names 27 of them takes twice as long
        record.id,
        record.namespace,
        state.kind,
        content.text if content.shown is None else content.shown,
        content.tags,
        content.source,
        content.speaker,
        content.session,
        content.task,
        content.metadata,
        state.scope,
        state.tier,
        state.status,
        state.pinned,
        created_at,
        created_at if state.recorded_ms == state.created_ms else from_instant(state.recorded_ms),
        *signals,
        state.form,
        state.tokens,
        state.access_count,
        None if state.due_ms is None else from_instant(state.due_ms),
        aging,
        state,
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


_keys_of: Final = PolicyCache(_keys)


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
