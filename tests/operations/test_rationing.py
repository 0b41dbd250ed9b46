"""The loss budget rations: each day's allowance goes to the surest, the rest waits and goes on the next days."""

from __future__ import annotations

import random
from collections import Counter
from datetime import timedelta

import pytest

from conftest import HARSH, START, WORDS_ONLY, Clock, budget, on_a_file, opened, weekly
from perdure.rules.lifecycle import ration

FADING = {**WORDS_ONLY, "archive": {"rule": "value", "value_below": 0.5, "cold_days": 1}}
"""What nobody asks for is archived after eight days, at most 20 a day."""

TIGHT = {**FADING, "gates": {"loss_free_count": 2, "loss_share": 0.05, "loss_share_day": 0.1}}


def archived_by_day(report):
    return dict(Counter(m.at[:10] for m in report.moved if m.move.endswith("archived")))


@pytest.fixture
def crowd(opening, clock):
    """Twenty-one notes of which twenty may be hidden on one day."""
    memory = opening(FADING)
    memory.remember_many([f"note {i}" for i in range(21)])
    return memory


@pytest.mark.behaviour("G50")
def test_twenty_one_fading_memories_are_archived_in_two_days(crowd, clock):
    clock.passes(days=8)
    report = crowd.sweep()
    assert report.tally == {"cold to archived": 20, "warm to cold": 21}
    (held,) = report.held
    assert (len(held.ids), held.because) == (
        1,
        "loss budget: 1 more is due, at most 20 may be hidden a day; about 1 day until all are hidden",
    )
    clock.passes(days=1)
    report = crowd.sweep()
    assert (report.tally, report.held) == ({"cold to archived": 1}, ())
    assert crowd.stats().memories == 0


@pytest.mark.behaviour("G51")
def test_a_store_that_gains_one_memory_a_day_keeps_forgetting(opening, clock):
    memory = opening(FADING)
    memory.remember_many([f"note {i}" for i in range(100)])
    for day in range(80):
        memory.remember(f"news of day {day}")
        clock.passes(days=1)
        memory.sweep()
    assert memory.stats().memories == 7
    assert memory.stats().statuses["archived"] == 173


@pytest.mark.behaviour("G52")
def test_the_surest_go_first(opening, clock):
    memory = opening({**FADING, "gates": {"loss_free_count": 0, "loss_share": 0.25}})
    kept = [memory.remember(f"note {i}", confidence=sure).id for i, sure in enumerate((0.9, 0.1, 0.5, 0.3))]
    gone = []
    for _ in range(12):
        clock.passes(days=1)
        gone += [m.id for m in memory.sweep().moved if m.move.endswith("archived")]
    assert gone == [kept[i] for i in (1, 3, 2, 0)]


@pytest.mark.behaviour("G52")
def test_of_equally_sure_ones_that_wait_the_oldest_due_goes_first(opening, clock):
    """Facts that nobody confirms, all as sure, due in other order than they were stored in."""
    memory = opening(
        {
            **WORDS_ONLY,
            "preset": "tiered",
            "knowledge": {"aging_days": 10, "unanswered_days": 1},
            "gates": {"loss_free_count": 1, "loss_share": 0.01, "loss_share_day": 0.01},
        }
    )
    kept = {}
    for name, hours in (("Cy", 2), ("Bo", 4), ("Ada", 6)):
        said = memory.remember(
            f"{name} likes tea.",
            facts=[{"subject": name, "predicate": "drink", "value": "tea"}],
            at=clock() - timedelta(hours=hours),
        )
        kept[memory.facts(name)[0].id] = name
        memory.pin(said.id)
    clock.passes(days=11, hours=1)
    gone = []
    for _ in range(3):
        gone += [kept[m.id] for m in memory.sweep().moved if m.id in kept and m.move.endswith("archived")]
        clock.passes(days=1)
    assert gone == ["Ada", "Bo", "Cy"]


@pytest.mark.behaviour("G53")
def test_at_least_one_memory_a_day_may_go_however_few_there_are(opening, clock):
    memory = opening({**FADING, "gates": {"loss_free_count": 0}})
    memory.remember_many([f"note {i}" for i in range(3)])
    left = []
    for _ in range(11):
        clock.passes(days=1)
        memory.sweep()
        left.append(memory.stats().memories)
    assert left[-5:] == [3, 2, 1, 0, 0]


def test_a_share_of_zero_lets_nothing_go(opening, clock):
    memory = opening({**FADING, "gates": {"loss_free_count": 0, "loss_share": 0.0}})
    memory.remember("a note")
    clock.passes(days=100)
    assert memory.sweep().held[0].because.endswith("none may go under this policy")
    assert memory.stats().memories == 1


@pytest.mark.behaviour("G54")
def test_a_forecast_foresees_each_day_of_the_ration(crowd, clock):
    coming = crowd.forecast(30, details=True)
    assert archived_by_day(coming) == {"2026-01-09": 20, "2026-01-10": 1}
    done = []
    for _ in range(30):
        clock.passes(days=1)
        done += crowd.sweep().moved
    assert sorted(done, key=lambda m: (m.at, m.id)) == sorted(coming.moved, key=lambda m: (m.at, m.id))


@pytest.mark.behaviour("G54")
def test_a_forecast_foresees_what_is_held_already(crowd, clock):
    clock.passes(days=8)
    ((waits,),) = (held.ids for held in crowd.sweep().held)
    coming = crowd.forecast(2, details=True)
    assert [(m.id, m.at[:10]) for m in coming.moved if m.move.endswith("archived")] == [(waits, "2026-01-10")]
    clock.passes(days=1)
    assert crowd.sweep().moved == coming.moved


@pytest.mark.behaviour("G55")
def test_why_tells_the_place_and_the_day_of_what_waits(crowd, clock):
    clock.passes(days=8)
    ((waits,),) = (held.ids for held in crowd.sweep().held)
    told = crowd.why(waits).next_move
    assert "place 1 of 1" in told
    assert "at most 20 may be hidden a day, about 2026-01-10; a late sweep makes up for the days without one" in told
    clock.passes(days=1)
    crowd.sweep()
    assert "waited since 2026-01-09 00:00 UTC" in crowd.why(waits).summary


def test_why_says_of_every_memory_what_the_forecast_says_of_today(crowd, clock):
    for days, held in ((8, 1), (1, 0)):  # nothing was swept yet; then what was held may go
        clock.passes(days=days)
        coming = crowd.forecast(0, details=True).moved
        gone = {m.id for m in coming if m.move.endswith("archived")}
        told = {m.id: crowd.why(m.id).next_move for m in crowd.list(limit=50)}
        assert [m for m in coming if m.because not in told[m.id]] == []
        assert [i for i in told if i in gone and "held back" in told[i]] == []
        waiting = [i for i, text in told.items() if "held back by the loss budget: waits at place 1 of 1" in text]
        assert (len(waiting), gone | set(waiting)) == (held, set(told))
        assert {m.id for m in crowd.sweep().moved if m.move.endswith("archived")} == gone


@pytest.mark.behaviour("G56")
def test_a_person_lets_everything_go_at_once(crowd, clock):
    clock.passes(days=8)
    crowd.sweep()
    dry = crowd.sweep(dry_run=True, accept_loss="all of it is known to be old")
    assert (dry.tally, dry.held, crowd.stats().memories) == ({"cold to archived": 1}, (), 1)
    done = crowd.sweep(accept_loss="all of it is known to be old")
    assert (done.tally, crowd.stats().memories) == (dry.tally, 0)
    assert "loss accepted: all of it is known to be old" in crowd.history()[0].note
    crowd.undo(done.operations[0])
    assert crowd.stats().memories == 1


def test_what_is_recalled_while_it_waits_stays(crowd, clock):
    clock.passes(days=8)
    ((waits,),) = (held.ids for held in crowd.sweep().held)
    crowd.recall(crowd.get(waits).content, limit=1)
    clock.passes(days=1)
    assert crowd.sweep().tally == {"cold to warm": 1}


def test_a_new_policy_spends_no_allowance_of_the_days_before_it(opening, clock):
    memory = opening()
    memory.remember_many([f"note {i}" for i in range(60)])
    clock.passes(days=60)
    memory.sweep()
    memory.close()
    memory = opening(FADING)
    left = []
    for _ in range(4):
        memory.sweep()
        left.append(memory.stats().memories)
        clock.passes(days=1)
    assert left == [40, 20, 0, 0]


def test_what_is_old_when_it_is_stored_spends_no_allowance_of_the_days_before_it(opening, clock):
    memory = opening(FADING)
    old = clock.now - timedelta(days=1000)
    memory.remember_many([{"content": f"note {i}", "at": old} for i in range(60)])
    left = []
    for _ in range(4):
        clock.passes(days=1)
        memory.sweep()
        left.append(memory.stats().memories)
    assert left == [20, 0, 0, 0]


def test_what_a_person_archives_takes_nothing_from_the_allowance(crowd, clock):
    clock.passes(days=8)
    crowd.archive(crowd.remember("by hand").id, "not needed")
    assert crowd.sweep().tally["cold to archived"] == 20


@pytest.mark.behaviour("C14")
def test_what_other_maintenance_hid_today_is_taken_from_the_days_share(opening, clock):
    memory = opening({**FADING, "gates": {"loss_free_count": 0}})  # a tenth by sweeps, a fifth by all of a day
    memory.remember_many([f"note {i}" for i in range(42)])
    for number in range(8):
        memory.remember("The office is in Lyon.", kind="episode", at=clock() - timedelta(hours=number))
    clock.passes(days=8)
    memory.consolidate("default")
    merged = memory.consolidate("default", dry_run=False, accept_loss="they say the same").memories_merged
    gone = memory.sweep().tally["cold to archived"]
    assert (merged, gone) == (7, 10 - 7)
    clock.passes(days=1)
    assert memory.sweep().tally["cold to archived"] == 4  # of 40


DAYS = 24


def life(place, schedule, seed):
    """Weeks of notes that come in bursts, some of them confirmed, swept by a schedule: what became of each."""
    clock, luck, kept = Clock(), random.Random(seed), []  # noqa: S311  # a made life
    memory = opened(place, TIGHT, clock)
    for hour in range(0, DAYS * 24, 6):
        clock.now = START + timedelta(hours=hour)
        if luck.random() < 0.15:
            fresh = range(len(kept), len(kept) + luck.choice((1, 1, 5, 25)))
            kept += memory.remember_many([{"content": f"note {i}", "confidence": luck.random()} for i in fresh])
        if kept and luck.random() < 0.1:
            memory.reinforce([kept[-1].id])
        if schedule(hour):
            clock.passes(hours=5)
            memory.sweep()
    clock.now = START + timedelta(days=DAYS)
    memory.sweep()
    found = [memory.get(m.id, include_archived=True) for m in kept]
    memory.close()
    return [(m.content, m.status, m.tier, m.state.status_ms, m.state.held, m.state.due_ms) for m in found]


SCHEDULES = (lambda _: True, lambda hour: hour % 24 == 18, lambda hour: hour == 18 * 24, lambda _: False)


@weekly
@pytest.mark.behaviour("G57")
@on_a_file
@pytest.mark.parametrize("seed", range(budget(1, 6)))
def test_frequent_daily_and_late_sweeps_end_alike(elsewhere, seed):
    often, *others = [life(elsewhere(), schedule, seed) for schedule in SCHEDULES]
    assert others == [often] * 3
    assert {status for _, status, *_ in often} == {"active", "archived"}
    assert any(status == "archived" and since % 86_400_000 == 0 for _, status, _, since, *_ in often)  # some waited


@pytest.mark.behaviour("MO10")
def test_what_waits_is_written_down_once_however_often_it_is_swept(opening, clock):
    memory = opening(
        {
            **WORDS_ONLY,
            "archive": {"rule": "value", "value_below": 0.99, "cold_days": 1},
            "gates": {"loss_free_count": 1, "loss_share": 0.05, "loss_share_day": 0.05},
        }
    )
    ids = [m.id for m in memory.remember_many([f"The {word} gate squeaks." for word in "abcdefgh"])]
    clock.passes(days=9)
    for _ in range(72):
        clock.passes(hours=1)
        memory.sweep()
    told = [sum("held back" in e.because for e in memory.history(i)) for i in ids]
    assert set(told) <= {0, 1}
    assert sum(told) >= 4
    assert sum(memory.get(i) is not None for i in ids) >= 2


@pytest.fixture
def played(monkeypatch):
    """Collects how many memories each replay for the loss budget plays."""
    counts, play = [], ration.replay

    def counted(states, *args):
        counts.append(len(states))
        return play(states, *args)

    monkeypatch.setattr(ration, "replay", counted)
    return counts


@pytest.mark.parametrize(
    "gates", [{"loss_share": 0.0, "loss_share_day": 0.0}, {"loss_share": 0.01}], ids=["none may go", "one a day"]
)
def test_what_waits_is_not_played_again_for_each_day_that_it_has_waited(opening, clock, played, gates):
    memory = opening({**HARSH, "gates": {**HARSH["gates"], **gates}})
    memory.remember_many([f"zebra number {n} eats {n * 7} apples" for n in range(30)])
    costs = []
    for _ in range(24):
        clock.passes(days=1)
        played.clear()
        held = sum(len(one.ids) for one in memory.sweep().held)
        if held:
            costs.append((sum(played), held))
    assert len(costs) > 12
    assert all(cost <= 4 * held + 8 for cost, held in costs)
