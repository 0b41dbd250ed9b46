"""A plan made earlier is applied exactly, or refused."""

import pytest

from perdure.records.errors import ConflictError, GateStopped
from perdure.records.plan import Change, Plan, Target


def test_the_plan_of_a_dry_run_is_applied_as_it_was_shown(opening, clock):
    memory = opening()
    kept = memory.remember("tea")
    clock.passes(days=8)
    shown = memory.sweep(dry_run=True)
    assert memory.get(kept.id).tier == "warm"
    memory.apply(shown.plans[0])
    assert memory.get(kept.id).tier == "cold"
    assert memory.sweep().moved == ()
    with pytest.raises(ConflictError):
        memory.apply(shown.plans[0])


def test_a_plan_is_refused_where_the_store_has_moved_on(opening, clock):
    memory = opening()
    kept = memory.remember("tea")
    clock.passes(days=8)
    shown = memory.sweep(dry_run=True)
    memory.pin(kept.id)
    with pytest.raises(ConflictError) as caught:
        memory.apply(shown.plans[0])
    assert caught.value.ids == (kept.id,)


def hiding(memory, ids):
    ops = {i: memory.history(i)[-1].operation_id for i in ids}
    since = {i: memory.get(i).state.status_ms for i in ids}
    changes = [
        Change(
            Target.MEMORY,
            i,
            {"status": "active", "status_ms": since[i], "op": ops[i]},
            {"status": "archived", "status_ms": since[i] + 1, "op": "by-plan"},
            "test",
        )
        for i in ids
    ]
    return Plan("by-plan", "fit", "default", 0, tuple(changes))


def test_a_plan_that_hides_too_much_is_stopped_whatever_it_says_of_itself(opening):
    memory = opening({"gates": {"loss_free_count": 2}})
    ids = [m.id for m in memory.remember_many([f"line {i}" for i in range(10)])]
    plan = hiding(memory, ids[:5])
    assert plan.hides == 5
    with pytest.raises(GateStopped, match="loss budget"):
        memory.apply(plan)
    assert memory.stats().memories == 10
    memory.apply(hiding(memory, ids[:1]))
    assert memory.stats().memories == 9


def test_what_was_hidden_undone_and_hidden_again_counts_against_the_day(opening):
    memory = opening({"gates": {"loss_free_count": 2, "loss_share": 1.0, "loss_share_day": 0.3}})
    ids = [m.id for m in memory.remember_many([f"line {i}" for i in range(10)])]
    memory.apply(hiding(memory, ids[:3]))
    memory.undo(memory.undo("by-plan").operation)
    assert memory.stats().memories == 7
