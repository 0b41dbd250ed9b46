"""Laws of reinforcement, doubt and weakening over random states and policies."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.formulas.importance import ImportanceCurve
from perdure.records.memory import Kind, Scope
from perdure.rules.lifecycle.reinforcement import (
    Boost,
    doubt_states,
    reinforce_states,
    validate_state,
    weaken_states,
)
from perdure.rules.lifecycle.signals import current_signals
from perdure.rules.policy_check import policy_from
from rules.builders import DAY, START, state

shares = st.floats(0, 1)
ages = st.integers(0, 2000 * DAY)
policies = st.sampled_from([policy_from({"preset": p}) for p in ("balanced", "importance-decay", "activation")])
shapes = st.sampled_from(["exponential", "linear", "step"])


@st.composite
def states(draw):
    return state(
        kind=draw(st.sampled_from(Kind)),
        scope=draw(st.sampled_from(Scope)),
        importance=draw(shares),
        confidence=draw(shares),
        access_count=draw(st.integers(0, 50)),
        strength=draw(shares),
        level=draw(st.floats(0, 12)),
        strength_ms=START,
        boosted=draw(shares),
        boost_day=draw(st.integers(START // DAY - 1, START // DAY + 1)),
    )


@given(base=shares, goal=shares, days=st.floats(0, 5000), accesses=st.integers(0, 30), shape=shapes)
def test_the_base_that_is_worth_a_goal_is_the_least_that_is(base, goal, days, accesses, shape):
    curve = ImportanceCurve(np.array([base]), np.array([float(accesses)]), shape=shape)
    found = curve.worth_then(goal, days, 1.0)
    worth = float(replace(curve, base=found).value(days)[0])
    if worth < goal:
        assert found[0] == 1.0  # more is not allowed
    else:
        less = replace(curve, base=np.maximum(found - 1e-9, 0.0))
        assert float(less.value(days)[0]) < goal or found[0] < 1e-9


@given(
    memory=states(),
    policy=policies,
    age=ages,
    kind=st.sampled_from(["additive", "multiplicative", "set_value"]),
    amount=shares,
    access=st.booleans(),
)
def test_the_new_importance_is_what_a_reader_sees_right_after(memory, policy, age, kind, amount, access):
    now = START + age
    (outcome,) = reinforce_states([memory], [access], Boost(kind, amount, 1.0), policy, now)
    before = current_signals([memory], policy, now)
    seen = replace(outcome.state, anchor_ms=now) if access else outcome.state
    after = current_signals([seen], policy, now)
    assert outcome.old == before.importance[0]
    assert outcome.new == pytest.approx(after.importance[0], abs=1e-12)
    if kind != "set_value":
        assert outcome.new >= outcome.old
        assert outcome.state.boosted <= max(policy.importance.daily_cap, memory.boosted) + 1e-9
    assert outcome.new <= max(policy.importance.maximum, outcome.old)
    assert outcome.state.stability >= memory.stability


@given(memory=states(), policy=policies, age=ages)
def test_doubt_takes_its_factor_from_current_confidence(memory, policy, age):
    now = START + age
    (outcome,) = doubt_states([memory], policy, now)
    before, after = (current_signals([s], policy, now).confidence[0] for s in (memory, outcome.state))
    assert after == pytest.approx(before * policy.use.wrong_factor, abs=1e-12)
    assert outcome.state.stability <= memory.stability


@given(memory=states(), policy=policies, age=ages, amount=st.floats(0, 100))
def test_weakening_raises_nothing_and_touches_strength_alone(memory, policy, age, amount):
    now = START + age
    (outcome,) = weaken_states([memory], amount, policy, now)
    before, after = current_signals([memory], policy, now), current_signals([outcome.state], policy, now)
    assert after.strength[0] == outcome.new <= outcome.old == before.strength[0]
    assert (after.importance, after.confidence, after.value) == (before.importance, before.confidence, before.value)


@given(memory=states(), policy=policies, age=ages)
def test_a_validation_lowers_no_confidence_and_counts_no_access(memory, policy, age):
    now = START + age
    after = validate_state(memory, now).state
    before, then = (current_signals([s], policy, now).confidence[0] for s in (memory, after))
    assert then >= before
    assert then == pytest.approx(min(1.0, memory.confidence + 0.02))
    assert (after.access_count, after.accessed_ms) == (memory.access_count, memory.accessed_ms)
