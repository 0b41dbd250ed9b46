"""The state of a memory that stands for others: no signal of any of them is lost, and none is above its bound."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laws.memories import LAW, POLICIES, shares, states
from perdure.records.memory import Kind, Scope, Tier
from perdure.records.policy import PRESETS, Policy
from perdure.rules.consolidation.merge_plan import merge_states, restart_strength
from perdure.rules.consolidation.tasks import leave_task, promote_state
from perdure.rules.lifecycle.signals import current_signals
from perdure.rules.policy_check import policy_from
from rules.builders import DAY, START, state

SIGNALS = ("importance", "confidence", "strength", "retention", "value")
EVERY = {**POLICIES, **{name: policy_from({"preset": name}) for name in PRESETS}}
fsrs = policy_from({"retention": {"curve": "fsrs"}})
policies = st.sampled_from([*EVERY.values(), fsrs])
ROUNDING = 1e-9


@st.composite
def groups(draw):
    kind = draw(st.sampled_from(Kind))
    scope = draw(st.sampled_from(Scope))
    some = draw(st.lists(states(kind=kind, scope=scope), min_size=2, max_size=5))
    return [
        replace(
            s,
            kind=kind,
            scope=scope,
            strength=draw(shares),
            level=draw(st.floats(0, 12)),
            strength_ms=draw(st.integers(s.created_ms, START)),
            stability=draw(st.floats(0.1, 100)),
            boosted=draw(st.floats(0, 0.5)),
            boost_day=START // DAY,
        )
        for s in some
    ]


def of(some, policy, now):
    found = current_signals(some, policy, now)
    return {name: getattr(found, name) for name in SIGNALS}


@pytest.mark.behaviour("GR23")
@LAW
@given(groups(), policies, st.integers(0, 400 * DAY))
def test_no_signal_falls_because_of_a_merge_and_none_is_above_its_bound(some, policy: Policy, later):
    now = START + later
    merged = merge_states(some[0], some[1:], policy, now)
    before, after = of(some, policy, now), of([merged], policy, now)
    for name in SIGNALS:
        assert after[name][0] >= before[name].max() - ROUNDING, name
        assert after[name][0] <= 1 + ROUNDING
    highest = max(s.importance for s in some)
    assert highest <= merged.importance <= max(highest, policy.importance.maximum)
    assert merged.importance - highest <= policy.consolidate.boost + ROUNDING
    assert merged.access_count == sum(s.access_count for s in some)
    assert merged.anchor_ms == max(s.anchor_ms for s in some)
    assert merged.created_ms == min(s.created_ms for s in some)
    reads = [at for s in some for at in (s.accessed_ms, s.access2_ms, s.access3_ms) if at is not None]
    assert merged.accessed_ms == max(reads, default=None)


def test_the_last_three_accesses_of_all_are_kept():
    one = state(accessed_ms=START + 5, access2_ms=START + 1)
    two = state(accessed_ms=START + 4, access2_ms=START + 3, access3_ms=START + 2)
    merged = merge_states(one, [two], Policy(), START + DAY)
    assert (merged.accessed_ms, merged.access2_ms, merged.access3_ms) == (START + 5, START + 4, START + 3)


def test_the_closest_tier_of_all_is_kept_with_its_date():
    cold, vault = state(tier=Tier.COLD, tier_ms=START + 1), state(tier=Tier.VAULT, tier_ms=START + 2)
    merged = merge_states(cold, [vault, state(tier=Tier.HOT)], Policy(), START + DAY)
    assert (merged.tier, merged.tier_ms) == (Tier.VAULT, START + 2)


@pytest.mark.behaviour("000-8-rule-3")
@pytest.mark.parametrize(("given_today", "expected"), [(0.0, 0.6), (0.45, 0.55), (0.5, 0.5)])
def test_sources_are_boosted_before_they_go_within_the_daily_cap(given_today, expected):
    policy = policy_from({"importance": {"diminishing": 1.0}})
    some = [state(importance=0.5, boosted=given_today, boost_day=START // DAY), state(importance=0.2)]
    merged = merge_states(some[0], some[1:], policy, START)
    assert merged.importance == pytest.approx(expected)
    assert merged.boosted == pytest.approx(given_today + expected - 0.5)


def test_a_facts_age_is_that_of_its_last_statement_or_validation():
    old = state(kind=Kind.FACT, created_ms=START - 90 * DAY, confidence=0.9)
    new = state(kind=Kind.FACT, created_ms=START - DAY, confidence=0.7)
    assert merge_states(old, [new], Policy(), START).validated_ms == START - DAY
    confirmed = replace(old, validated_ms=START - 5)
    assert merge_states(confirmed, [new], Policy(), START).validated_ms == START - 5
    assert merge_states(state(), [state()], Policy(), START).validated_ms is None


@pytest.mark.behaviour("T5")
@LAW
@given(groups(), policies, st.integers(0, 400 * DAY), st.booleans())
def test_leaving_a_task_or_a_session_costs_no_signal(some, policy: Policy, later, named):
    now = START + later
    before = replace(some[0], scope=Scope.TASK)
    kept = of([before], policy, now)
    for after in (leave_task(before, "s" if named else None, policy, now), promote_state(before, policy, now)):
        then = of([after], policy, now)
        for name in SIGNALS:
            assert kept[name][0] - ROUNDING <= then[name][0] <= 1 + ROUNDING, name


@LAW
@given(groups(), policies, st.integers(0, 30 * DAY))
def test_strength_that_is_settled_is_what_it_was(some, policy: Policy, later):
    now = START + later
    before, after = of(some, policy, now), of([restart_strength(s, policy, now) for s in some], policy, now)
    assert after["strength"] == pytest.approx(before["strength"], abs=1e-12)
