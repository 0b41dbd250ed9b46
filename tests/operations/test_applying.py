"""A plan made earlier is applied exactly, or refused."""

import pytest

from perdure.records.errors import ConflictError, GateStopped

HARSH = {"archive": {"rule": "value", "value_below": 0.5, "cold_days": 1}, "gates": {"loss_free_count": 2}}


def faded(opening, clock, count=10):
    memory = opening(HARSH)
    memory.remember_many([f"line {i}" for i in range(count)])
    clock.passes(days=1)
    memory.sweep()
    clock.passes(days=200)
    return memory


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


def test_a_plan_that_hides_too_much_is_stopped_by_the_gate(opening, clock):
    from dataclasses import replace

    memory = faded(opening, clock)
    plan = memory.sweep(dry_run=True).plans
    hiding = replace(plan[0], hides=5) if plan else None
    assert hiding is not None
    with pytest.raises(GateStopped, match="loss budget"):
        memory.apply(hiding)
    assert sum(memory.stats().tiers.values()) == 10
