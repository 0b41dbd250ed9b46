"""Laws of playing memories forward: what daily, late and repeated sweeps have in common."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from itertools import pairwise
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import budget
from laws.memories import (
    DAY,
    HOUR,
    LAW,
    POLICIES,
    PRESETS,
    SLOW_LAW,
    START,
    draft,
    fading_presets,
    histories,
    newborn,
    newborns,
    policies,
    settled,
    shares,
    slow_presets,
    states,
)
from perdure.records.memory import Content, Form, Kind, Record, Scope, State, Status, Tier
from perdure.records.policy import Policy
from perdure.rules.insertion import PreparedDraft, initial_states, with_due
from perdure.rules.lifecycle.signals import current_signals, memory_items, signals_of_one
from perdure.rules.lifecycle.trajectory import Trajectory, Transition, count_accesses, replay
from perdure.rules.lifecycle.unarchive import unarchive

ROUNDING: Final = 1e-9
SIGNALS: Final = ("importance", "confidence", "strength", "retention", "value")
FEW: Final = settings(SLOW_LAW, max_examples=budget(5, 30))
LIVELY: Final = (Tier.HOT, Tier.WARM, Tier.COLD)
FORMS: Final = tuple(Form)


def played(state: State, accesses: tuple[tuple[int, int], ...], now: int, policy: Policy) -> Trajectory:
    return replay({"m": state}, {"m": accesses}, now, policy)[0]


def swept(
    state: State, accesses: tuple[tuple[int, int], ...], instants: list[int], policy: Policy
) -> tuple[State, list[Transition]]:
    """Play to each instant in turn, as so many sweeps would; each counts the accesses since the one before."""
    steps: list[Transition] = []
    last = -(2**60)
    for now in instants:
        trajectory = played(state, tuple(a for a in accesses if last < a[0] <= now), now, policy)
        steps += trajectory.transitions
        state, last = trajectory.after, now
    return state, steps


def current(state: State, policy: Policy, now: int) -> dict[str, float]:
    found = current_signals([state], policy, now)
    return {name: float(getattr(found, name)[0]) for name in SIGNALS}


def same(one: State, other: State) -> None:
    """Equal in every field; floats up to the last digits, since they were computed in other company."""
    for name in State.__slots__:
        mine, theirs = getattr(one, name), getattr(other, name)
        if isinstance(mine, float):
            assert mine == pytest.approx(theirs, rel=1e-12, abs=1e-15), name
        else:
            assert mine == theirs, name


def dated(steps: list[Transition] | tuple[Transition, ...]) -> list[tuple[int, str, Tier, Status, Form, str]]:
    return [(s.at, s.rule, s.state.tier, s.state.status, s.state.form, s.because) for s in steps]


# --- one sweep, many sweeps


@pytest.mark.behaviour("B1")
@LAW
@given(state=states(), accesses=histories(60), policy=policies, days=st.integers(0, 60))
def test_a_second_sweep_at_the_same_instant_changes_nothing(state, accesses, policy, days):
    now = START + days * DAY
    first = played(state, accesses, now, policy).after
    again = played(first, (), now, policy)
    assert again.transitions == ()
    assert again.after == first


@pytest.mark.behaviour("B2")
@SLOW_LAW
@given(state=states(tiers=LIVELY), accesses=histories(100, most=12), policy=policies)
def test_a_hundred_daily_sweeps_end_where_one_sweep_at_the_end_does(state, accesses, policy):
    daily, moves = swept(state, accesses, [START + day * DAY for day in range(101)], policy)
    once = played(state, accesses, START + 100 * DAY, policy)
    same(daily, once.after)
    assert dated(moves) == dated(once.transitions)


@pytest.mark.behaviour("B3")
@LAW
@given(
    state=states(tiers=LIVELY),
    accesses=histories(90),
    policy=policies,
    hours=st.lists(st.integers(0, 100 * 24), max_size=6),
)
def test_any_schedule_of_sweeps_ends_where_one_sweep_at_the_end_does(state, accesses, policy, hours):
    instants = [START + hour * HOUR for hour in sorted(hours)] + [START + 100 * DAY]
    broken, moves = swept(state, accesses, instants, policy)
    once = played(state, accesses, instants[-1], policy)
    same(broken, once.after)
    assert dated(moves) == dated(once.transitions)


@pytest.mark.behaviour("B4")
@SLOW_LAW
@given(data=st.lists(states(tiers=LIVELY), min_size=2, max_size=5), accesses=histories(80), policy=policies)
def test_memories_do_not_influence_one_another(data, accesses, policy):
    now = START + 90 * DAY
    together = replay({str(i): s for i, s in enumerate(data)}, {"0": accesses}, now, policy)
    for i, trajectory in enumerate(together):
        alone = played(data[i], accesses if i == 0 else (), now, policy)
        same(trajectory.after, alone.after)
        assert dated(trajectory.transitions) == dated(alone.transitions)


@pytest.mark.behaviour("B5")
def test_accesses_of_one_instant_count_the_same_whether_or_not_a_sweep_lies_between_them():
    state, at = newborn(POLICIES["balanced"]), START + HOUR
    together = played(state, ((at, 2),), at, POLICIES["balanced"]).after
    first = played(state, ((at, 1),), at, POLICIES["balanced"]).after
    same(together, played(first, ((at, 1),), at, POLICIES["balanced"]).after)


# --- what does not move


@pytest.mark.behaviour("B6")
@LAW
@given(data=st.data(), policy=policies)
def test_a_fresh_memory_is_unchanged_by_a_sweep(data, policy):
    state = data.draw(newborns(policy))
    trajectory = played(state, (), START, policy)
    assert trajectory.transitions == ()
    assert trajectory.after == state


@pytest.mark.behaviour("B7")
@LAW
@given(state=states(pinned=True), accesses=histories(300), policy=policies)
def test_a_pinned_memory_never_moves(state, accesses, policy):
    trajectory = played(state, accesses, START + 1000 * DAY, policy)
    assert trajectory.transitions == ()
    assert (trajectory.after.tier, trajectory.after.status, trajectory.after.form) == (
        state.tier,
        state.status,
        state.form,
    )
    assert trajectory.after.due_ms is None


@pytest.mark.behaviour("B8")
@LAW
@given(state=states(tiers=(Tier.VAULT,)), accesses=histories(300), policy=policies)
def test_nothing_leaves_the_vault_by_itself(state, accesses, policy):
    trajectory = played(state, accesses, START + 1000 * DAY, policy)
    assert trajectory.transitions == ()
    assert (trajectory.after.tier, trajectory.after.form) == (Tier.VAULT, state.form)
    assert trajectory.after.due_ms is None


@pytest.mark.behaviour("B9")
@LAW
@given(
    data=st.data(),
    status=st.sampled_from([s for s in Status if s is not Status.ACTIVE]),
    accesses=histories(300),
    policy=policies,
)
def test_a_hidden_memory_stays_as_it_is(data, status, accesses, policy):
    state = data.draw(states(status=status))
    trajectory = played(state, accesses, START + 1000 * DAY, policy)
    assert trajectory.transitions == ()
    assert (trajectory.after.tier, trajectory.after.status, trajectory.after.form) == (state.tier, status, state.form)
    assert trajectory.after.due_ms is None


@pytest.mark.behaviour("B10")
@SLOW_LAW
@given(data=st.data(), policy=policies)
def test_72_hourly_sweeps_move_an_untouched_memory_at_most_twice(data, policy):
    state = data.draw(newborns(policy))
    _, moves = swept(state, (), [START + hour * HOUR for hour in range(73)], policy)
    assert len([m for m in moves if not m.shrinks]) <= 2
    forms = [state.form, *(m.state.form for m in moves)]
    assert len([m for m in moves if m.shrinks]) <= 3
    assert [FORMS.index(f) for f in forms] == sorted(FORMS.index(f) for f in forms)


@pytest.mark.behaviour("B11")
@LAW
@given(state=states(tiers=LIVELY), policy=fading_presets)
def test_an_untouched_memory_only_sinks(state, policy):
    order = [Tier.HOT, Tier.WARM, Tier.COLD]
    seen = [state.tier, *(s.state.tier for s in played(state, (), START + 1000 * DAY, policy).transitions)]
    assert [order.index(t) for t in seen] == sorted(order.index(t) for t in seen)
    assert all(s.state.status is Status.ACTIVE for s in played(state, (), START + 1000 * DAY, policy).transitions[:-1])


@pytest.mark.behaviour("B12")
@LAW
@given(state=states(), back=st.integers(1, 5000 * DAY), policy=policies)
def test_a_clock_that_steps_back_changes_nothing(state, back, policy):
    state = settled(state, policy)
    born = min(state.created_ms, state.tier_ms, state.anchor_ms, state.status_ms, state.strength_ms, state.form_ms)
    trajectory = played(state, (), born - back, policy)
    assert trajectory.transitions == ()
    assert trajectory.after == state
    if state.kind is not Kind.FACT:  # a fact's confidence has its own anchor, which may lie before the others
        first = min(state.anchor_ms, state.strength_ms)
        assert current(state, policy, first - back) == current(state, policy, first)


# --- due instants


@pytest.mark.behaviour("B13")
@LAW
@given(state=states(tiers=LIVELY), policy=policies)
def test_a_due_memory_has_really_crossed(state, policy):
    state = settled(state, policy)
    if state.due_ms is None:
        assert played(state, (), START + 36_000 * DAY, policy).transitions == ()
        return
    assert played(state, (), state.due_ms - 2, policy).transitions == ()
    assert played(state, (), state.due_ms, policy).transitions[0].at == state.due_ms


def reached(step: Transition, before: State, policy: Policy) -> bool:
    """Whether the condition that the design names for a move holds at the move's instant."""
    now = current(before, policy, step.at)
    tiers, archive = policy.tiers, policy.archive
    stay = step.at - before.tier_ms
    low = {
        "leave_hot": now["value"] <= tiers.hot_keep_value + ROUNDING
        and now["value"] >= tiers.hot_to_warm_value - ROUNDING
        and stay >= tiers.hot_hours * HOUR,
        "leave_hot_low": now["value"] < tiers.hot_to_warm_value + ROUNDING and stay >= tiers.hot_hours * HOUR,
        "warm_low": now["value"] <= tiers.warm_keep_value + ROUNDING,
        "warm_quiet": stay >= tiers.warm_quiet_days * DAY and step.at - before.anchor_ms >= tiers.warm_quiet_days * DAY,
        "faded_confidence": now["confidence"] <= archive.confidence_below + ROUNDING,
        "faded_value": now["value"] <= archive.value_below + ROUNDING
        and stay >= archive.cold_days * DAY
        and before.access_count == 0,
        "faded_both": now["value"] <= archive.value_below + ROUNDING
        and now["confidence"] <= archive.confidence_below + ROUNDING
        and stay >= archive.cold_days * DAY,
        "forgotten": now["strength"] <= threshold(before, policy) + ROUNDING and before.scope is not Scope.TASK,
        "unanswered": before.kind is Kind.FACT and unconfirmed(before, step.at),
    }
    return low[step.rule] if step.rule in low else shortened(step, before, now["value"], policy)


def unconfirmed(fact: State, now: int) -> bool:
    """90 days until it is asked about, 90 more without an answer, confirmed fewer than three times."""
    since = fact.created_ms if fact.validated_ms is None else fact.validated_ms
    asked = max(since + 90 * DAY, fact.recorded_ms)
    return fact.reinforcements < 3 and now - asked > 90 * DAY


def threshold(state: State, policy: Policy) -> float:
    """The forgetting threshold of strength: lower for what is important, never below the floor."""
    column = {Scope.TASK: policy.strength, Scope.SESSION: policy.strength_session}.get(
        state.scope, policy.strength_long_term
    )
    adjusted = column.forgetting_threshold + (0.5 - state.importance) * policy.strength.forgetting_importance_weight
    return min(policy.strength.maximum, max(policy.strength.floor, adjusted))


def shortened(step: Transition, before: State, value: float, policy: Policy) -> bool:
    """Whether all conditions of the trigger for the next form hold."""
    p, age = policy.compression, step.at - before.created_ms
    old, bound, most = {
        "to_summary": (p.summary_hours * HOUR, p.summary_value, p.summary_accesses),
        "to_keywords": (p.keywords_days * DAY, p.keywords_value, p.keywords_accesses),
        "to_embedding": (p.embedding_days * DAY, p.embedding_value, p.embedding_accesses),
    }[step.rule]
    kept = before.firm or before.tier is Tier.HOT or (before.form is Form.FULL and before.tokens < p.least_tokens)
    return not kept and age >= old and value <= bound + ROUNDING and before.access_count <= most


@pytest.mark.behaviour("B14", "002-state-unanswered")
@LAW
@given(state=states(tiers=LIVELY), policy=policies)
def test_each_move_of_an_untouched_memory_satisfies_the_rule_that_it_names(state, policy):
    for step in played(state, (), START + 2000 * DAY, policy).transitions:
        assert reached(step, state, policy), step
        state = step.state


def hidden_by_hand(state: State, tier: Tier, stay: int, signal: dict[str, float], preset: str, now: int) -> bool:
    """What each preset's seed hides, and of facts what nobody confirms."""
    if state.kind is Kind.FACT:
        return unconfirmed(state, now)
    doubted = signal["confidence"] < 0.3 and state.scope is Scope.LONG_TERM
    cold = tier is Tier.COLD and stay >= 30 * DAY
    forgotten = max(0.02, (0.12 if state.scope is Scope.SESSION else 0.08) + (0.5 - state.importance) * 0.08)
    hides = {
        "importance-decay": False,
        "facts": False,
        "confidence-decay": doubted,
        "activation": state.scope is not Scope.TASK and signal["strength"] <= forgotten,
        "tiered": cold and signal["value"] < 0.1 and state.access_count == 0,
        "balanced": cold and signal["value"] < 0.2 and doubted,
    }
    return hides[preset]


def next_form_by_hand(form: Form, tier: Tier, age: int, value: float, preset: str) -> Form:
    """The triggers of shorter forms, for a memory that nobody accessed; only the preset compresses so short a text."""
    if preset != "tiered" or tier is Tier.HOT:
        return form
    if form is Form.FULL and age >= 24 * HOUR and value <= 0.6:
        return Form.SUMMARY
    if form is Form.SUMMARY and age >= 7 * DAY and value <= 0.4:
        return Form.KEYWORDS
    return Form.EMBEDDING if form is Form.KEYWORDS and age >= 30 * DAY and value <= 0.2 else form


def by_hand(state: State, hours: int, policy: Policy) -> list[tuple[Tier, Status, Form]]:
    """The design's table (section 4), looked at every three hours: signals of then, no inverses."""
    tier, since, status, form, seen = state.tier, state.tier_ms, state.status, state.form, []
    for hour in range(0, hours + 1, 3):
        now = START + hour * HOUR
        signal = current(state, policy, now)
        value, stay = signal["value"], now - since
        quiet = now - max(state.anchor_ms, since)
        target = tier
        if tier is Tier.HOT and stay >= 24 * HOUR and value < 0.6:
            target = Tier.WARM if value >= 0.5 else Tier.COLD
        elif tier is Tier.WARM and (value < 0.3 or quiet >= 7 * DAY):
            target = Tier.COLD
        if status is Status.ACTIVE and hidden_by_hand(state, tier, stay, signal, policy.preset, now):
            status = Status.ARCHIVED
        if status is Status.ACTIVE and target is not tier:
            tier, since = target, now
        if status is Status.ACTIVE:
            form = next_form_by_hand(form, tier, now - state.created_ms, value, policy.preset)
        seen.append((tier, status, form))
    return seen


@pytest.mark.behaviour("B15")
@pytest.mark.parametrize("preset", PRESETS)
@FEW
@given(data=st.data())
def test_an_untouched_memory_follows_the_designs_table(preset, data):
    policy = POLICIES[preset]
    state = data.draw(newborns(policy))
    if state.confidence < 0.3 and policy.preset == "balanced":
        state = replace(state, uniqueness=0.0)  # so that archiving happens too
    days = 45
    moves = played(state, (), START + days * DAY, policy).transitions
    seen = by_hand(state, days * 24, policy)
    # A look hides before it shortens, but a form that fell due within the same three hours may have come first.
    tied = any(s.shrinks and 0 <= h.at - s.at <= 3 * HOUR for s, h in pairwise(moves) if h.hides)
    tier, status, form = state.tier, state.status, state.form
    left = list(moves)
    for look, found in enumerate(seen):
        now = START + look * 3 * HOUR
        while left and left[0].at <= now:
            step = left.pop(0)
            tier, status, form = step.state.tier, step.state.status, step.state.form
        # Each look may come three hours late, and so may each that rests on it.
        near = any(abs(now - m.at) <= 9 * HOUR for m in moves)
        same = found[:2] == (tier, status) and (found[2] is form or (tied and status is Status.ARCHIVED))
        assert same or near, f"after {look * 3} hours"


# --- value


@pytest.mark.behaviour("B31")
@LAW
@given(
    state=states(kind=Kind.FACT),
    apart=st.integers(1, 200 * DAY),
    confirmed=st.booleans(),
    days=st.integers(0, 500),
    policy=policies,
)
def test_the_value_of_a_fact_counts_each_part_by_its_own_clock(state, apart, confirmed, days, policy):
    """Frequency and recency count from the last access; confidence from the last validation, before it or after."""
    accessed, validated = (START - apart, START) if confirmed else (START, START - apart)
    state = replace(state, created_ms=START - apart, anchor_ms=accessed, validated_ms=validated)
    now = START + days * DAY
    found, shares = current(state, policy, now), policy.value
    idle = (now - accessed) / DAY
    sure = state.confidence * math.exp(-policy.confidence.fact_rate * (now - validated) / DAY)
    frequency = min(1.0, state.access_mass * math.exp(-0.05 * idle) / 20)
    recency = min(1.0, math.exp(-0.1 * idle) * (1 + 0.1 * state.reinforcements))
    assert found["confidence"] == pytest.approx(sure)
    assert found["value"] == pytest.approx(
        shares.frequency * frequency
        + shares.uniqueness * state.uniqueness
        + shares.confidence * sure
        + shares.recency * recency
        + shares.importance * state.importance
    )


# --- accesses


@pytest.mark.behaviour("B16")
@SLOW_LAW
@given(
    state=states(),
    gaps=st.lists(st.one_of(st.just(0), st.integers(0, HOUR), st.integers(0, 40 * DAY)), min_size=20, max_size=20),
    policy=policies,
)
def test_20_recalls_in_a_row_never_lower_a_signal(state, gaps, policy):
    now, accesses = START, ()
    for gap in gaps:
        now += gap
        before = count_accesses([state], [accesses], policy)[0]
        accesses += ((now, 1),)
        after = count_accesses([state], [accesses], policy)[0]
        assert after.importance >= before.importance
        assert after.confidence >= before.confidence
        lower = current(before, policy, now)
        for name, value in current(after, policy, now).items():
            assert value >= lower[name] - ROUNDING, name


@pytest.mark.behaviour("B17")
@LAW
@given(state=states(tiers=LIVELY), accesses=histories(60), policy=policies)
def test_a_memory_just_accessed_is_never_lower_in_tier_than_before(state, accesses, policy):
    order = [Tier.COLD, Tier.WARM, Tier.HOT, Tier.VAULT]
    for at, times in accesses:
        just_before = played(state, (), at - 1, policy).after
        state = played(just_before, ((at, times),), at, policy).after
        if just_before.status is state.status is Status.ACTIVE and state.tier_ms == at:
            assert order.index(state.tier) >= order.index(just_before.tier) or at == just_before.due_ms


@pytest.mark.behaviour("B18")
@LAW
@given(state=states(tiers=(Tier.COLD,)), at=st.integers(1, 5 * DAY), policy=slow_presets)
def test_an_access_wakes_a_cold_memory(state, at, policy):
    state = replace(state, tier_ms=START, status_ms=START)
    after = played(state, ((START + at, 1),), START + at, policy).after
    assert after.tier is not Tier.COLD


@pytest.mark.behaviour("B19")
@LAW
@given(state=states(), accesses=histories(30), policy=policies)
def test_every_access_is_counted_once(state, accesses, policy):
    trajectory = played(state, accesses, START + 30 * DAY, policy)
    assert trajectory.counted == len(accesses)
    assert trajectory.after.access_count == state.access_count + len(accesses)


@pytest.mark.behaviour("B20")
@LAW
@given(state=states(), accesses=histories(60), policy=policies)
def test_a_reader_between_sweeps_sees_the_signals_that_a_sweep_would_write(state, accesses, policy):
    now = START + 60 * DAY
    read, written = count_accesses([state], [accesses], policy)[0], played(state, accesses, now, policy).after
    assert current(read, policy, now) == pytest.approx(current(written, policy, now))


@pytest.mark.behaviour("A35")
@LAW
@given(data=st.data(), policy=policies, days=st.integers(0, 90 * DAY))
def test_few_memories_have_the_accesses_and_signals_that_they_have_among_many(data, policy, days):
    many = [data.draw(states())] * 40
    accesses = [data.draw(histories(60))] * 40
    alone, among = (count_accesses(many[:n], accesses[:n], policy)[0] for n in (1, 40))
    for name in State.__slots__:
        assert getattr(alone, name) == pytest.approx(getattr(among, name)), name
    alone = signals_of_one(among, policy, START + days)
    together = current_signals([among] * 40, policy, START + days)
    assert alone == pytest.approx([getattr(together, name)[0] for name in SIGNALS], abs=1e-12)


@pytest.mark.behaviour("A35")
@LAW
@given(state=states(), accesses=histories(60), policy=policies, days=st.integers(0, 400))
def test_a_sweep_makes_of_one_memory_what_it_makes_of_it_among_many(state, accesses, policy, days):
    alone = played(state, accesses, START + days * DAY, policy)
    many = [str(i) for i in range(17)]
    among = replay(dict.fromkeys(many, state), dict.fromkeys(many, accesses), START + days * DAY, policy)[0]
    same(alone.after, among.after)
    assert dated(alone.transitions) == dated(among.transitions)
    assert alone.counted == among.counted


@pytest.mark.behaviour("B20")
@LAW
@given(state=states(), other=states(), accesses=histories(60), policy=policies, late=st.integers(0, 60 * 24 - 1))
def test_what_was_counted_for_an_earlier_reader_changes_nothing(state, other, accesses, policy, late):
    now, counted = START + 60 * DAY, {}
    grown = [accesses[:n] for n in range(1, len(accesses) + 1)]
    with_late = tuple(sorted({*accesses, (START + late * HOUR, 1)}))  # another process has appended it since
    for some in (*grown, with_late, accesses[1:], ()):
        for now_stored in (state, other):
            records = [Record("default", "m", now_stored, Content("The deploy happens on Tuesdays."), "", some)]
            assert memory_items(records, policy, now, counted) == memory_items(records, policy, now)


@pytest.mark.behaviour("B21")
@LAW
@given(state=states(), accesses=histories(60), policy=policies, back=st.integers(1, 30 * DAY))
def test_an_access_by_a_clock_that_stepped_back_neither_rejuvenates_nor_ages(state, accesses, policy, back):
    late = (state.anchor_ms - back, 1)
    read, swept_ = count_accesses([state], [(late,)], policy)[0], played(state, (late,), state.anchor_ms, policy).after
    for after in (read, swept_):
        assert after.anchor_ms == state.anchor_ms
        assert after.access_count == state.access_count + 1
        assert after.access_mass == pytest.approx(state.access_mass + 1)


# --- order and reasons


@pytest.mark.behaviour("B22")
@LAW
@given(state=states(tiers=LIVELY), accesses=histories(90), policy=policies)
def test_since_instants_never_go_back(state, accesses, policy):
    steps = played(state, accesses, START + 200 * DAY, policy).transitions
    tier_ms, status_ms, form_ms, at = state.tier_ms, state.status_ms, state.form_ms, -(2**60)
    for step in steps:
        assert step.at >= at
        assert step.state.tier_ms >= tier_ms
        assert step.state.status_ms >= status_ms
        assert step.at in (step.state.tier_ms, step.state.status_ms, step.state.form_ms)
        assert step.state.form_ms >= form_ms
        form_ms = step.state.form_ms
        tier_ms, status_ms, at = step.state.tier_ms, step.state.status_ms, step.at


@pytest.mark.behaviour("B23")
@LAW
@given(state=states(tiers=LIVELY), accesses=histories(90), policy=policies)
def test_each_move_starts_where_the_last_one_ended_and_changes_something(state, accesses, policy):
    tier, form = state.tier, state.form
    for step in played(state, accesses, START + 200 * DAY, policy).transitions:
        changed = (step.state.tier is not tier, step.state.status is Status.ARCHIVED, step.state.form is not form)
        assert sum(changed) == 1
        if step.shrinks:
            assert FORMS.index(step.state.form) == FORMS.index(form) + 1
            assert step.because.startswith(f"{form} to {step.state.form}:")
            form = step.state.form
        elif step.state.status is Status.ACTIVE:
            assert step.because.startswith(f"{tier} to {step.state.tier}:") or step.because.startswith("to vault:")
        else:
            assert step.because.startswith("archived:")
        tier = step.state.tier


@pytest.mark.behaviour("B24")
@LAW
@given(state=states(tiers=LIVELY), policy=policies)
def test_each_reason_holds_the_number_that_decided_and_the_instant(state, policy):
    for step in played(state, (), START + 500 * DAY, policy).transitions:
        now = current(state, policy, step.at)
        decided = {"faded_confidence": "confidence", "unanswered": "confidence", "forgotten": "strength"}.get(
            step.rule, "value"
        )
        shown = re.search(rf"\b{decided} (\d\.\d{{3}})\b", step.because)
        assert shown, step.because
        assert float(shown[1]) == pytest.approx(now[decided], abs=0.0006)
        ends = rf" \(strength [\d.]+, threshold {threshold(state, policy):.3f}\)$" if decided == "strength" else "$"
        assert re.search(rf"due \d{{4}}-\d\d-\d\d \d\d:\d\d UTC{ends}", step.because)
        state = step.state


# --- restoring


@pytest.mark.behaviour("B25")
@SLOW_LAW
@given(data=st.data(), policy=slow_presets, away=st.integers(0, 400 * DAY))
def test_what_was_restored_stays_in_view_for_a_month_of_daily_sweeps(data, policy, away):
    state = data.draw(states(tiers=LIVELY, status=Status.ARCHIVED))
    now = START + away
    back = unarchive(state, policy, now)
    assert (back.status, back.tier, back.status_ms, back.tier_ms) == (Status.ACTIVE, Tier.WARM, now, now)
    for day in range(30):
        back = played(back, (), now + day * DAY, policy).after
        assert back.status is Status.ACTIVE


@pytest.mark.behaviour("R01")
@pytest.mark.parametrize("preset", ["confidence-decay", "activation"])
@pytest.mark.parametrize("kind", [Kind.NOTE, Kind.EPISODE, Kind.SUMMARY])
def test_what_had_faded_and_was_restored_is_not_taken_back_by_the_next_sweeps(preset, kind):
    """Under these two a month would be too long: their own numbers hide what nobody uses within weeks, or hours."""
    policy = POLICIES[preset]
    gone = played(newborn(policy, kind=kind, importance=0.0), (), START + 400 * DAY, policy).after
    assert gone.status is Status.ARCHIVED
    back = unarchive(gone, policy, START + 500 * DAY)
    for hours in range(7):
        back = played(back, (), START + 500 * DAY + hours * HOUR, policy).after
        assert back.status is Status.ACTIVE, f"after {hours} hours"
    later = played(back, (), START + 900 * DAY, policy).after.status
    # Doubt comes back with time. Strength is gone within hours, so whoever is brought back is vouched for.
    assert later is (Status.ARCHIVED if preset == "confidence-decay" else Status.ACTIVE)


@pytest.mark.behaviour("B30")
def test_a_restored_memory_of_doubtful_truth_is_vouched_for():
    doubted = replace(newborn(POLICIES["confidence"], confidence=0.1), status=Status.ARCHIVED)
    back = unarchive(doubted, POLICIES["confidence"], START + DAY)
    assert played(back, (), START + 2 * DAY, POLICIES["confidence"]).after.status is Status.ACTIVE


@pytest.mark.behaviour("B26")
@LAW
@given(state=states(status=Status.ARCHIVED), policy=policies, away=st.integers(0, 400 * DAY))
def test_restoring_lowers_no_signal(state, policy, away):
    now = START + away
    before, after = current(state, policy, now), current(unarchive(state, policy, now), policy, now)
    assert all(after[name] >= before[name] - ROUNDING for name in SIGNALS)


@pytest.mark.behaviour("B27")
def test_a_restore_is_no_access_for_the_burst_rule():
    policy = POLICIES["balanced"]
    hidden = replace(newborn(policy), status=Status.ARCHIVED, access_count=1, access_mass=1.0)
    now = START + 50 * DAY
    back = unarchive(hidden, policy, now)
    trajectory = played(back, ((now + HOUR, 1), (now + 2 * HOUR, 1)), now + 2 * HOUR, policy)
    assert [s.rule for s in trajectory.transitions] == []  # two accesses in four hours, where the design asks for three


@pytest.mark.behaviour("B28")
def test_a_restore_sticks_also_where_the_policy_gives_new_memories_little_confidence():
    policy = replace(POLICIES["confidence"], confidence=replace(POLICIES["confidence"].confidence, note=0.2))
    hidden = replace(newborn(policy, confidence=0.2), status=Status.ARCHIVED)
    back = unarchive(hidden, policy, START + DAY)
    assert played(back, (), START + 2 * DAY, policy).after.status is Status.ACTIVE


@pytest.mark.behaviour("B29")
def test_an_access_older_than_the_last_move_does_not_set_the_since_instant_back():
    policy = POLICIES["balanced"]
    cold = played(newborn(policy), (), START + 8 * DAY, policy).after
    assert cold.tier_ms == START + 7 * DAY
    # Another process, its clock a little behind, recalled it before the move fell due and logged it after the sweep.
    woken = played(cold, ((START + 7 * DAY - HOUR, 1),), START + 9 * DAY, policy).after
    assert woken.tier is Tier.WARM
    assert woken.tier_ms >= cold.tier_ms


@pytest.mark.behaviour("B35")
@LAW
@given(states(), policies, st.integers(-2 * DAY, DAY))
def test_what_was_just_stored_has_the_signals_of_its_curves(state, policy, later):
    fresh = replace(state, anchor_ms=state.created_ms, strength_ms=state.created_ms, validated_ms=None)
    now = fresh.created_ms + min(later, 0) if later < DAY // 2 else fresh.created_ms + later
    (shown,) = memory_items([Record("default", "m", fresh, Content("a text"), "op")], policy, now)
    computed = current_signals([fresh], policy, now)
    assert {name: getattr(shown, name) for name in SIGNALS} == {name: getattr(computed, name)[0] for name in SIGNALS}


MANY: Final = 17  # more than are placed one by one


@pytest.mark.behaviour("A36")
@LAW
@given(policy=policies, state=states(), status=st.sampled_from([Status.ACTIVE, Status.ARCHIVED]), pinned=st.booleans())
def test_one_memory_falls_due_when_it_does_among_many(policy, state, status, pinned):
    given_ = replace(state, status=status, pinned=pinned and state.tokens % 2 == 0)
    (one,), many = with_due([given_], policy), with_due([given_] * MANY, policy)[0]
    assert replace(one, due_ms=None) == replace(many, due_ms=None)
    assert (one.due_ms is None) == (many.due_ms is None)
    assert abs((one.due_ms or 0) - (many.due_ms or 0)) <= 1  # the last bit of a power may differ


@pytest.mark.behaviour("A36")
@LAW
@given(
    policy=policies,
    kind=st.sampled_from(Kind),
    scope=st.sampled_from(Scope),
    importance=shares,
    near=st.lists(st.floats(-0.2, 1.0), max_size=5),
    message=st.booleans(),
)
def test_one_memory_begins_as_it_does_among_many(policy, kind, scope, importance, near, message):
    said = draft(kind=kind, scope=scope, importance=importance, message=message)
    born = PreparedDraft("m", said, None, tuple((str(i), cosine) for i, cosine in enumerate(near)))
    (one,), many = initial_states([born], policy, START), initial_states([born] * MANY, policy, START)[0]
    assert replace(one, due_ms=None) == replace(many, due_ms=None)
    assert (one.due_ms is None) == (many.due_ms is None)
    assert abs((one.due_ms or 0) - (many.due_ms or 0)) <= 1
