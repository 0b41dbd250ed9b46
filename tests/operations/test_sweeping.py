from __future__ import annotations

import pytest

from conftest import HARSH, WORDS_ONLY, budget, opened, tables
from perdure.operations import documents as paging
from perdure.records.errors import InvalidInput

MANY = budget(2100, 4500)
"""More than two pages of a sweep."""

FEW = 450
"""More than two small pages."""

GENEROUS = {**HARSH, "gates": {"loss_share": 1.0, "loss_share_day": 1.0}}


@pytest.fixture
def crowd(opening):
    def make(policy=WORDS_ONLY, count=MANY):
        memory = opening(policy)
        memory.remember_many([f"note {i}" for i in range(count)])
        return memory

    return make


@pytest.fixture
def small_pages(monkeypatch):
    """Whether pages hold 200 or 2000 memories makes no difference to what a sweep decides."""
    monkeypatch.setattr(paging, "PAGE", 200)


def test_a_sweep_reaches_every_page(crowd, clock):
    memory = crowd()
    clock.passes(days=10)
    dry = memory.sweep(dry_run=True)
    report = memory.sweep()
    assert (dry.tally, dry.examined) == (report.tally, report.examined) == ({"warm to cold": MANY}, MANY)
    assert len(report.operations) == len(dry.plans) == budget(2, 3)
    assert memory.stats().tiers == {"cold": MANY}
    assert memory.sweep().examined == 0


def test_accessed_and_due_memories_are_swept_once(crowd, clock, small_pages, raw_store):
    memory = crowd(count=FEW)
    clock.passes(days=8)
    for i in range(0, 100, 10):
        memory.recall(f"note {i}", limit=100)
    counted = len(raw_store.accessed_ids("default", 2**62, "", 10_000))
    assert counted > 9
    dry, report = memory.sweep(dry_run=True), memory.sweep()
    assert (dry.tally, dry.examined, dry.counted) == (report.tally, report.examined, report.counted)
    assert report.examined == FEW
    assert len({m.id for m in report.moved if m.move == "warm to cold"}) == FEW


def test_a_dry_run_touches_nothing(crowd, clock, path):
    memory = crowd(count=300)
    clock.passes(days=40)
    memory.recall("note 7")
    before = tables(path)
    assert memory.sweep(dry_run=True).moved
    assert tables(path) == before


def test_the_loss_budget_holds_over_all_pages(crowd, clock, path, small_pages):
    """Every page alone would be within the day's share; the sweep is one question."""
    memory = crowd(HARSH, FEW)
    clock.passes(days=8)
    report = memory.sweep()
    tenth = FEW // 10
    assert memory.stats().statuses == {"active": FEW - tenth, "archived": tenth}
    (held,) = report.held
    assert len(held.ids) == len(set(held.ids)) == FEW - tenth
    assert f"{FEW - tenth} more are due, at most 40 may be hidden a day" in held.because
    assert report.tally == {"warm to cold": FEW, "cold to archived": tenth}  # what hides nothing goes on

    # On the same day nothing more goes, and nothing is written, ...
    before = tables(path)
    clock.passes(hours=1)
    again = memory.sweep()
    assert (again.held, again.moved, again.operations) == (report.held, (), ())
    assert tables(path) == before
    # ... on the next the next tenth.
    clock.passes(days=1)
    assert memory.sweep().tally == {"cold to archived": 40}


def test_a_budget_lets_a_small_share_go(opening, clock):
    memory = opening(HARSH)
    memory.remember_many([{"content": f"kept {i}", "pinned": True} for i in range(95)])
    memory.remember_many([f"note {i}" for i in range(5)])
    clock.passes(days=60)
    report = memory.sweep()
    assert report.held == ()
    assert memory.stats().statuses == {"active": 95, "archived": 5}


def test_the_day_has_a_budget_too(opening, clock):
    memory = opening(HARSH)
    memory.remember_many([{"content": f"kept {i}", "pinned": True} for i in range(100)])
    for part in range(4):
        clock.passes(hours=1)
        memory.remember_many([f"note {part} {i}" for i in range(8)])
    clock.passes(days=8, hours=-4)
    for _ in range(10):  # 8 of 132 at a time is little; more than 13 in a day is too much
        clock.passes(hours=1)
        report = memory.sweep()
    assert memory.stats().statuses == {"active": 119, "archived": 13}
    assert [len(h.ids) for h in report.held] == [19]


def test_a_small_namespace_has_a_free_count(opening, clock):
    memory = opening({**HARSH, "gates": {"loss_free_count": 20}})
    memory.remember_many([f"note {i}" for i in range(20)])
    clock.passes(days=60)
    assert memory.sweep().held == ()
    assert memory.stats().statuses == {"archived": 20}


def test_a_new_policy_looks_at_everything_anew(crowd, opening, clock, path, small_pages, raw_store):
    memory = crowd(count=FEW)
    clock.passes(days=7.5)
    memory.sweep()
    memory.close()
    memory = opening(GENEROUS)
    assert {d["due_ms"] for d in dues(raw_store)} == {None}  # cold, and nothing archives it under the default policy
    report = memory.sweep()
    assert report.examined == FEW
    dated = {d["due_ms"] for d in dues(raw_store)}
    assert None not in dated
    clock.passes(days=60)
    assert memory.sweep().tally == {"cold to archived": FEW}
    assert memory.sweep().examined == 0
    assert [o.operation for o in memory.history(notes=True)].count("policy") == 1


def dues(raw_store):
    states = raw_store.states("default", raw_store.all_ids("default", "", 10_000))
    return [{"due_ms": state.due_ms} for state, _ in states.values()]


def test_a_forecast_says_what_a_sweep_then_does_and_touches_nothing(crowd, clock, path, small_pages):
    memory = crowd(GENEROUS, count=FEW)
    memory.recall("note 5")
    before = tables(path)
    coming = memory.forecast(90, details=True)
    assert coming.dry_run
    assert coming.tally["cold to archived"] >= FEW - 10
    assert tables(path) == before
    clock.passes(days=90)
    done = memory.sweep()
    assert done.moved == coming.moved
    assert memory.stats().statuses["archived"] == coming.tally["cold to archived"]


def test_a_forecast_follows_the_policy_in_force(opening, clock):
    memory = opening()
    memory.remember_many([f"note {i}" for i in range(10)])
    clock.passes(days=7.5)
    memory.sweep()
    memory.close()
    memory = opening(GENEROUS)
    assert memory.forecast(60).tally == {"cold to archived": 10}


@pytest.mark.parametrize(
    "days", [-1, float("nan"), float("inf"), 10**400, 36_526, "3", None, True], ids=lambda d: str(d)[:9]
)
def test_a_forecast_wants_a_number_of_days(memory, days):
    with pytest.raises(InvalidInput):
        memory.forecast(days)


def test_moves_are_dated_when_they_fell_due_and_journalled_with_reasons(opening, clock):
    memory = opening(GENEROUS)
    kept = memory.remember("a note")
    clock.passes(days=400)
    report = memory.sweep()
    assert [m.move for m in report.moved] == ["warm to cold", "cold to archived"]
    assert report.moved[0].at == "2026-01-08 00:00 UTC"
    reasons = [e.because for e in memory.history(kept.id) if e.operation == "sweep"]
    assert len(reasons) == 2
    assert "7 days in warm without access (value 0." in reasons[0]
    assert "archived: 1 days in cold" in reasons[1]
    hidden = memory.get(kept.id, include_archived=True)
    assert hidden.state.tier_ms < hidden.state.status_ms < hidden.state.created_ms + 60 * 86_400_000


def test_late_and_timely_sweeps_end_alike(elsewhere, clock):
    ends = []
    for step in (1, 5, 100):
        clock.now = clock.now.replace(year=2026, month=1, day=1)
        memory = opened(elsewhere(), GENEROUS, clock)
        memory.remember_many([{"content": f"note {i}", "confidence": i / 40} for i in range(40)])
        for day in range(100):
            clock.passes(days=1)
            if day in {3, 30}:
                memory.recall("note 7", limit=3)
            if (day + 1) % step == 0:
                memory.sweep()
        ends.append(sorted(m[2:-4] for m in logical_by_text(memory)))
        memory.close()
    assert ends[0] == ends[1] == ends[2]


def logical_by_text(memory):
    found = []
    for m in memory.list(limit=1000, include_archived=True):
        state = {n: getattr(m.state, n) for n in m.state.__slots__}
        floats = {n: round(v, 9) if isinstance(v, float) else v for n, v in state.items()}
        found.append((m.id, "", m.content, *floats.values(), "", "", "", ""))
    return found
