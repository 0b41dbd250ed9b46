"""Laws of plans: a sweep's plan says what was played, and its inverse takes exactly that back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laws.memories import DAY, LAW, POLICIES, START, histories, newborn, policies, settled, states
from perdure.records.memory import Form, State, Status, Tier
from perdure.records.plan import Change, Plan, Target
from perdure.records.policy import GatePolicy, Policy
from perdure.rules.lifecycle.maintenance import (
    count_hidden,
    list_moves,
    sweep_note,
    trajectory_changes,
)
from perdure.rules.lifecycle.ration import Budget
from perdure.rules.lifecycle.trajectory import Trajectory, replay

LIVELY = (Tier.HOT, Tier.WARM, Tier.COLD)
crowds = st.lists(states(tiers=LIVELY), min_size=1, max_size=4)


def courses_of(
    crowd: list[State], accesses: tuple[tuple[int, int], ...], policy: Policy, days: int
) -> tuple[dict[str, State], list[Trajectory]]:
    stored = {f"m{i}": settled(s, policy) for i, s in enumerate(crowd)}
    return stored, replay(stored, {"m0": accesses}, START + days * DAY, policy)


def plan_of(
    trajectories: list[Trajectory], accesses: tuple[tuple[int, int], ...], policy: Policy, refusal: str = ""
) -> Plan:
    at = START + 200 * DAY
    changes = trajectory_changes(
        trajectories,
        {c.id: f"op-of-{c.id}" for c in trajectories},
        {"m0": accesses},
        "sweep-1",
        at,
        why_held=lambda _: refusal,
        shown={c.id: dict(zip(Form, (None, "short", "words", ""), strict=True)) for c in trajectories},
    )
    return Plan("sweep-1", "sweep", "default", at, tuple(changes), policy.version, sweep_note(trajectories))


def applied(stored: dict[str, State], changes: Iterable[Change]) -> dict[str, State]:
    """Apply changes as a store would: each before-image must be there, then the after-image is."""
    rows = dict(stored)
    for change in changes:
        if change.target is Target.MEMORY:
            before = {k: v for k, v in (change.before or {}).items() if k not in ("op", "shown")}
            after = {k: v for k, v in (change.after or {}).items() if k not in ("op", "shown")}
            assert {k: getattr(rows[change.id], k) for k in before} == before
            rows[change.id] = replace(rows[change.id], **after)
    return rows


@pytest.mark.behaviour("C1")
@LAW
@given(crowd=crowds, accesses=histories(100), policy=policies)
def test_applying_a_sweep_gives_the_states_that_were_played(crowd, accesses, policy):
    stored, trajectories = courses_of(crowd, accesses, policy, 150)
    assert applied(stored, plan_of(trajectories, accesses, policy).changes) == {c.id: c.after for c in trajectories}


@pytest.mark.behaviour("C2")
@LAW
@given(crowd=crowds, accesses=histories(100), policy=policies)
def test_applying_the_inverse_gives_the_states_before(crowd, accesses, policy):
    stored, trajectories = courses_of(crowd, accesses, policy, 150)
    plan = plan_of(trajectories, accesses, policy)
    undo = plan.inverse(id="undo-1", at=START + 201 * DAY)
    assert applied({c.id: c.after for c in trajectories}, undo.changes) == stored
    assert undo.undoes == plan.id
    assert undo.hides == 0


@pytest.mark.behaviour("C3")
@LAW
@given(crowd=crowds, accesses=histories(100), policy=policies)
def test_the_inverse_of_the_inverse_changes_what_the_plan_changes(crowd, accesses, policy):
    _, trajectories = courses_of(crowd, accesses, policy, 150)
    plan = plan_of(trajectories, accesses, policy)
    assert plan.inverse(id="u", at=1).inverse(id="v", at=2).changes == plan.changes


@pytest.mark.behaviour("C4")
@LAW
@given(crowd=crowds, accesses=histories(100), policy=policies)
def test_every_change_has_a_reason_and_chains_the_operation_that_made_it(crowd, accesses, policy):
    _, trajectories = courses_of(crowd, accesses, policy, 150)
    last = {c.id: f"op-of-{c.id}" for c in trajectories}
    for change in plan_of(trajectories, accesses, policy).changes:
        assert change.because.strip()
        if change.target is Target.MEMORY:
            assert (change.before or {})["op"] == last[change.id]
            last[change.id] = (change.after or {})["op"]
            assert last[change.id] == "sweep-1"


@pytest.mark.behaviour("C5")
@LAW
@given(crowd=crowds, accesses=histories(100), policy=policies)
def test_each_access_that_was_counted_leaves_the_log_with_the_sweep(crowd, accesses, policy):
    _, trajectories = courses_of(crowd, accesses, policy, 150)
    gone = [c for c in plan_of(trajectories, accesses, policy).changes if c.target is Target.ACCESS]
    assert sorted(((c.before or {})["at_ms"], (c.before or {})["times"]) for c in gone) == list(accesses)
    assert all(c.after is None for c in gone)


@pytest.mark.behaviour("C6")
@LAW
@given(crowd=crowds, policy=policies)
def test_a_plan_says_how_many_memories_it_hides(crowd, policy):
    stored, trajectories = courses_of(crowd, (), policy, 400)
    plan = plan_of(trajectories, (), policy)
    after = applied(stored, plan.changes)
    assert plan.hides == sum(s.status is not Status.ACTIVE for s in after.values()) == count_hidden(trajectories)


@pytest.mark.behaviour("C7")
@LAW
@given(crowd=crowds, policy=policies)
def test_moves_are_reported_in_the_order_of_their_instants(crowd, policy):
    _, trajectories = courses_of(crowd, (), policy, 400)
    report = list_moves(trajectories, "default")
    assert len(report) == sum(len(c.transitions) for c in trajectories)
    assert [m.at for m in report] == sorted(m.at for m in report)


@pytest.mark.behaviour("C8")
@LAW
@given(crowd=crowds, policy=policies)
def test_a_course_that_is_shut_hides_nothing_and_waits_at_the_instant_that_fell_due(crowd, policy):
    stored, trajectories = courses_of(crowd, (), policy, 400)
    cut = replay(stored, {}, START + 400 * DAY, policy, shut=True)
    assert count_hidden(cut) == 0
    for whole, short in zip(trajectories, cut, strict=True):
        hiding = [s for s in whole.transitions if s.hides or s.shrinks]
        assert short.after.held == bool(hiding)
        assert short.before == whole.before
        if hiding:
            assert short.after.due_ms == hiding[0].at
            assert short.transitions == whole.transitions[: whole.transitions.index(hiding[0])]
            assert short.counted == whole.counted
        else:
            assert short == whole


def faded(policy: Policy) -> State:
    """A cold memory without likes that falls due for the archive on day 30."""
    lone = newborn(policy, near=(1.0,), confidence=0.2)
    return settled(
        replace(lone, tier=Tier.COLD, firm=True), policy
    )  # it keeps its form: only the archive is in question


@pytest.mark.behaviour("C9")
def test_a_held_move_says_which_gate_held_it_back():
    policy = POLICIES["tiered"]
    trajectory = replay({"m0": faded(policy)}, {}, START + 31 * DAY, policy, shut=True)[0]
    (change,) = plan_of([trajectory], (), policy, refusal="loss budget: too many").changes
    assert "held back by the loss budget: too many" in change.because
    assert (change.after or {})["held"] is True


@pytest.mark.behaviour("C10")
def test_a_memory_that_is_still_held_is_not_written_again():
    policy = POLICIES["tiered"]
    held = replay({"m0": faded(policy)}, {}, START + 31 * DAY, policy, shut=True)[0].after
    again = replay({"m0": held}, {}, START + 40 * DAY, policy, shut=True)[0]
    assert plan_of([again], (), policy, refusal="loss budget: too many").changes == ()


@pytest.mark.behaviour("C11")
def test_a_held_move_is_made_with_its_own_date_once_the_gate_opens():
    policy = POLICIES["tiered"]
    held = replay({"m0": faded(policy)}, {}, START + 31 * DAY, policy, shut=True)[0].after
    trajectory = replay({"m0": held}, {}, START + 60 * DAY, policy)[0]
    assert trajectory.after.status is Status.ARCHIVED
    assert trajectory.after.status_ms == held.due_ms
    assert trajectory.after.held is False


@pytest.mark.behaviour("C12")
def test_a_held_memory_that_is_recalled_is_woken_not_archived():
    policy = POLICIES["tiered"]
    held = replay({"m0": faded(policy)}, {}, START + 31 * DAY, policy, shut=True)[0].after
    trajectory = replay({"m0": held}, {"m0": ((START + 40 * DAY, 1),)}, START + 41 * DAY, policy)[0]
    assert trajectory.after.status is Status.ACTIVE
    assert [s.rule for s in trajectory.transitions][:1] == ["woken"]


@pytest.mark.behaviour("C13")
def test_a_held_memory_that_is_recalled_while_the_gate_is_shut_still_rises():
    policy = POLICIES["tiered"]
    held = replay({"m0": faded(policy)}, {}, START + 31 * DAY, policy, shut=True)[0].after
    trajectory = replay({"m0": held}, {"m0": ((START + 40 * DAY, 1),)}, START + 41 * DAY, policy, shut=True)[0]
    assert [s.rule for s in trajectory.transitions][:1] == ["woken"]
    assert trajectory.after.status is Status.ACTIVE
    assert trajectory.after.due_ms is None or trajectory.after.due_ms > START + 41 * DAY


# --- the loss budget: more than 10 % per plan or 20 % per day stops, small namespaces excepted by a minimum count

GATES = GatePolicy(loss_share=0.10, loss_share_day=0.20, loss_free_count=20)


@pytest.mark.behaviour("C14")
@pytest.mark.parametrize(
    ("visible", "hidden_today", "hidden_now", "stopped"),
    [
        (1000, 0, 0, False),  # nothing is always allowed
        (1000, 900, 0, False),
        (5, 0, 5, False),  # a small namespace may lose all
        (20, 0, 20, False),  # the free count is inclusive
        (21, 0, 21, True),
        (210, 0, 21, False),  # exactly a tenth is allowed
        (209, 0, 21, True),  # more is not
        (1000, 0, 100, False),
        (1000, 0, 101, True),
        (900, 100, 90, False),  # 190 of the 1,000 that the day began with
        (900, 100, 91, True),  # a tenth of 900 is over
        (920, 80, 92, False),
        (901, 99, 90, False),
        (850, 150, 50, False),  # exactly a fifth of the day
        (850, 150, 51, True),
        (100, 19, 1, False),  # the free count counts what was hidden earlier
        (81, 19, 2, True),  # 21 of 100: over a fifth
        (0, 0, 21, True),
    ],
)
def test_the_loss_budget_stops_what_is_over_its_shares(visible, hidden_today, hidden_now, stopped):
    refusal = Budget(visible, hidden_today).refusal(hidden_now, GATES)
    assert bool(refusal) is stopped, refusal
    if stopped:
        assert "loss budget" in refusal
        assert "%" in refusal


@pytest.mark.behaviour("C15")
def test_a_share_of_one_and_a_free_count_of_zero_are_what_they_say():
    assert Budget(10, 0).refusal(10, GatePolicy(1.0, 1.0, 0)) == ""
    assert Budget(10, 0).refusal(1, GatePolicy(0.0, 1.0, 0)) != ""
    assert Budget(10, 0).refusal(1, GatePolicy(1.0, 0.0, 0)) != ""
