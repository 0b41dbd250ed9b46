"""Lives that nobody scripted for a rule: what must hold of each, and that together they reach every rule."""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest

from conftest import HashEmbedder, budget, weekly
from life.coverage import ROWS
from life.driver import Player, begin
from life.invariants import differences, everything
from life.lives import KINDS, life_of
from life.played import CORE, live, played
from life.work import Work

CHECKS = {
    "nothing is lost": "LV1",
    "every change is explained": "LV2",
    "what is hidden stays hidden": "LV3",
    "what is erased is gone": "LV3",
    "nothing waits in silence": "LV4",
    "budgets hold each day": "LV5",
    "the digest fits": "LV6",
    "the digest is true": "LV13",
    "the journal tells the state": "LV7",
    "the store is sound": "LV7",
    "what once went wrong does not": "LV14",
    "it grows with the store alone": "LV12",
    "undone to the middle": "LV8",
    "as in the middle": "LV8",
    "undone": "LV8",
    "as at the beginning": "LV8",
}
"""Check -> the behaviour that it holds."""

UNGATED = {"gates": {"loss_share": 1.0, "loss_share_day": 1.0, "loss_free_count": 1_000_000, "canaries": 0}}
"""Gates ration by the day, so what they hold back can depend on when they are asked."""


@pytest.mark.behaviour("LV1", "LV2", "LV3", "LV4", "LV5", "LV6", "LV7", "LV8", "LV12", "LV13", "LV14")
@pytest.mark.parametrize("kind", CORE)
def test_a_life_keeps_what_is_promised(kind):
    faults = played(kind).faults
    assert {check: faults[check] for check in CHECKS if faults[check]} == {}


def test_every_check_of_a_life_is_looked_at():
    assert {name for kind in CORE for name in played(kind).faults} == CHECKS.keys()
    assert CORE.keys() == KINDS.keys()


@pytest.mark.behaviour("LV9")
def test_lives_together_reach_every_row_of_the_table():
    reached_rows = sum((Counter(played(kind).rows) for kind in CORE), Counter())
    assert [row for row in ROWS if not reached_rows[row]] == []


def seen(player: Player) -> dict[str, object]:
    """What a store holds at the end of a life, by position: ids differ from life to life."""
    player.memory.sweep()
    return {
        "memories": {
            number: (m.content, m.status, m.tier, m.form, m.pinned, m.access_count, m.due_at, m.value)
            for number, m in enumerate(everything(player.memory))
        }
    }


def where(state: dict[str, object]) -> dict[str, object]:
    """Where memories are. Which of equal texts a recall counts depends on how cosines were rounded."""
    return {"memories": {number: memory[:5] for number, memory in state["memories"].items()}}


def statuses(state: dict[str, object]) -> dict[str, object]:
    """Which memories are in view, and in which tiers, and how often each was found."""
    return {"memories": {number: (m[1], m[2], m[4], m[5]) for number, m in state["memories"].items()}}


@cache
def at_the_end(kind, every, *, gates=True, seed=2):
    """What a life leaves on a file; in 20 days all but the returner's reach what they reach in 24."""
    days = 24 if kind == "returner" else budget(20, 24)
    return seen(played_to_the_end(kind, days, ":memory:", every, seed, **({} if gates else UNGATED)))


def played_to_the_end(kind, days, place, every, seed=2, **policy):
    player = begin(life_of(kind, seed, days, **policy), place, every=every, embedder=HashEmbedder())
    player.play()
    return player


@pytest.mark.behaviour("LV10")
@pytest.mark.parametrize(
    ("kind", "seed"),
    [*(pytest.param(k, 2, marks=() if k in {"clerk", "family"} else weekly) for k in CORE), ("visitor", 4)],
)
def test_a_store_that_is_swept_daily_ends_as_one_that_is_swept_hourly(kind, seed):
    """In the visitor's other life new texts are measured beside what falls due to be hidden on the same day."""
    assert differences(at_the_end(kind, 1.0, seed=seed), at_the_end(kind, 24.0, seed=seed)) == []


@pytest.mark.behaviour("LV10")
@pytest.mark.parametrize(
    ("kind", "alike"),
    [
        *((kind, dict) for kind in ("clerk", "importer")),
        *(pytest.param(kind, dict, marks=weekly) for kind in ("coder", "family", "visitor")),
        pytest.param("desk", statuses, marks=weekly),
        pytest.param("returner", where, marks=weekly),
    ],
)
def test_a_store_that_is_seldom_swept_ends_alike(kind, alike):
    """The desk merges, and reads in full, what an hourly sweep has shortened by then.

    The returner is answered with what an hourly sweep has archived by then, which counts as an access: four memories
    differ in their accesses, and in nothing but what follows from them.

    Some lives are compared in one of the two ways here, and weekly all in both.
    """
    hourly, seldom = (alike(at_the_end(kind, every, gates=False)) for every in (1.0, 240.0))
    assert differences(hourly, seldom) == []


@pytest.mark.behaviour("LV11")
def test_a_life_on_a_server_ends_as_on_a_file(store, elsewhere):
    if store == "sqlite":
        pytest.skip("the file is what it is compared with")
    on_file, on_server = (played_to_the_end("coder", 12, place, 24.0) for place in (":memory:", elsewhere()))
    assert differences(where(seen(on_file)), where(seen(on_server))) == []
    on_file.memory.close()
    on_server.memory.close()


@pytest.mark.behaviour("LV11")
def test_a_life_on_a_server_keeps_what_is_promised(store, elsewhere):
    if store == "sqlite":
        pytest.skip("longer lives are played there")
    player = begin(life_of("family", 3, budget(20, 40)), elsewhere(), embedder=HashEmbedder())
    assert {name: faults for name, faults in live(player).faults.items() if faults} == {}


@weekly
@pytest.mark.behaviour("LV1", "LV2", "LV3", "LV4", "LV5", "LV6", "LV7", "LV8", "LV12", "LV13", "LV14")
@pytest.mark.parametrize("kind", ["clerk", "family", "returner", "visitor"])
def test_a_life_of_400_days_keeps_what_is_promised(kind):
    """Lives keep their whole journal, to be undone; a life that stores little and asks much grows by that alone."""
    work = Work()
    with work.of_sqlite():
        player = begin(life_of(kind, 2, 400), ":memory:", every=CORE[kind][2], embedder=HashEmbedder())
    assert {name: faults for name, faults in live(player, work).faults.items() if faults} == {}


@weekly
@pytest.mark.behaviour("LV9", "LV11", "LV12", "LV14")
def test_whole_lives_on_a_server_keep_what_is_promised_and_reach_every_row(store, elsewhere):
    if store == "sqlite":
        pytest.skip("asked check by check and row by row above")
    rows, faults = Counter(), {}
    for kind, (seed, days, every) in CORE.items():
        done = live(begin(life_of(kind, seed, days), elsewhere(), every=every, embedder=HashEmbedder()), Work())
        rows += done.rows
        faults |= {(kind, name): found for name, found in done.faults.items() if found}
    assert faults == {}
    assert ROWS.keys() - rows.keys() == set()
