"""decay, over both stores. Expected numbers are worked out by hand from the formulas."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from conftest import WORDS_ONLY, HashEmbedder, budget, logical, tables
from perdure.records.errors import InvalidInput

SPATIAL = {**WORDS_ONLY, "preset": "importance-decay"}
FIELDS = ["memories_analyzed", "memories_decayed", "avg_decay_factor", "decayed_memories", "dry_run"]
OF_EACH = [
    *("id", "content_preview", "old_importance", "new_importance", "decay_factor", "days_since_access"),
    "access_count",
]


@pytest.fixture
def spatial(opening):
    return opening(SPATIAL)


def worth(memory, **given):
    """Memory id -> the line of the report."""
    return {d.id: d for d in memory.decay(**given).decayed_memories}


def journalled(memory):
    return [(o.operation, o.changes) for o in memory.history(limit=1000)]


# --- the policy


@pytest.mark.behaviour("SG100")
def test_what_a_call_omits_is_as_the_policy_has_it(opening, clock):
    keys = {"shape": "linear", "half_life_days": 10.0, "floor": 0.0, "access_weight": 1.0}
    memory = opening({**SPATIAL, "importance": {**keys, "on_access": 0.0}})
    ids = [memory.remember(words, importance=1.0).id for words in ("the deploy is on tuesday", "lunch is at noon")]
    memory.recall("deploy tuesday", limit=1)
    clock.passes(days=15)
    told = worth(memory)
    for identity in ids:
        assert told[identity].new_importance == memory.get(identity).importance
    given = {"decay_function": "exponential", "half_life_days": 30, "min_importance": 0.1, "access_weight": 0.0}
    assert worth(memory, **given)[ids[1]].new_importance == pytest.approx(2 ** (-15 / 60))
    clock.passes(days=60)
    assert worth(memory)[ids[1]].new_importance == memory.get(ids[1]).importance == 0.0  # the policy's floor


@pytest.mark.behaviour("SG101")
@pytest.mark.parametrize("given", [{"factor": 0.9}, {"factor": 0.9, "min_confidence": 0.3}])
def test_who_asks_for_the_decay_of_confidence_is_told_the_way(memory, given):
    with pytest.raises(InvalidInput, match="takes no factor") as refused:
        memory.decay(**given)
    assert "confidence.daily_factor" in refused.value.remedy
    assert "archive.confidence_below" in refused.value.remedy


# --- the curve


@pytest.mark.behaviour("SG1")
def test_exponential_decay_halves_at_half_life(spatial, clock):
    """Importance 1 lengthens the half-life of 30 days to 60."""
    kept = spatial.remember("the deploy is on tuesday", importance=1.0)
    clock.passes(days=60)
    line = worth(spatial)[kept.id]
    assert (line.old_importance, line.days_since_access, line.access_count) == (1.0, 60, 0)
    assert line.new_importance == line.decay_factor == pytest.approx(0.5)
    clock.passes(days=60)
    assert worth(spatial)[kept.id].new_importance == pytest.approx(0.25)
    assert worth(spatial, half_life_days=60)[kept.id].new_importance == pytest.approx(0.5)


@pytest.mark.behaviour("SG2")
def test_linear_decay_reaches_zero_at_double_half_life(spatial, clock):
    kept = spatial.remember("the deploy is on tuesday", importance=1.0)
    clock.passes(days=60)
    assert worth(spatial, decay_function="linear", min_importance=0.0)[kept.id].new_importance == pytest.approx(0.5)
    clock.passes(days=60)
    line = worth(spatial, decay_function="linear", min_importance=0.0)[kept.id]
    assert (line.new_importance, line.decay_factor) == (0.0, 0.0)
    assert worth(spatial, decay_function="linear")[kept.id].new_importance == 0.1


@pytest.mark.behaviour("SG3")
def test_step_decay_transitions_at_thresholds(spatial, clock):
    kept = spatial.remember("the deploy is on tuesday", importance=1.0)
    seen = []
    for days in (59, 1, 59, 1):
        clock.passes(days=days)
        line = worth(spatial, decay_function="step").get(kept.id)
        seen.append(None if line is None else line.new_importance)
    assert seen == [None, 0.5, 0.5, 0.25]  # what has not decayed is not listed


@pytest.mark.behaviour("SG4")
def test_access_count_slows_decay(opening, clock):
    """Each access adds half to the half-life, and stability gives back a share of the loss."""
    memory = opening({**SPATIAL, "importance": {"on_access": 0.0}})
    used, idle = memory.remember("the deploy is on tuesday"), memory.remember("lunch is at noon")
    memory.recall("deploy tuesday")
    clock.passes(days=45)
    lines = worth(memory)
    assert lines[used.id].access_count == 1
    assert lines[idle.id].decay_factor == pytest.approx(0.5)
    time, kept = 2 ** (-45 / 67.5), 0.3 * math.log(2) / math.log(100)
    assert lines[used.id].decay_factor == pytest.approx(time + kept * (1 - time))
    assert worth(memory, access_weight=0.0)[used.id].decay_factor == pytest.approx(time)


@pytest.mark.behaviour("SG5")
def test_high_importance_slows_decay(spatial, clock):
    high, low = spatial.remember("high", importance=0.9), spatial.remember("low", importance=0.2)
    clock.passes(days=36)
    lines = worth(spatial)
    assert lines[high.id].decay_factor == pytest.approx(2 ** (-36 / 57))
    assert lines[low.id].decay_factor == pytest.approx(0.5)


@pytest.mark.behaviour("SG6")
def test_min_floor_enforced(spatial, clock):
    kept, small = spatial.remember("kept", importance=0.6), spatial.remember("small", importance=0.05)
    clock.passes(days=10_000)
    assert worth(spatial)[kept.id].new_importance == 0.1
    assert worth(spatial, min_importance=0.5)[kept.id].new_importance == 0.5
    assert small.id not in worth(spatial)  # the floor never raises


# --- the contract


@pytest.mark.behaviour("SG12")
def test_the_result_has_the_agreed_fields_and_says_what_it_wrote(spatial, clock):
    spatial.remember("first line\nsecond\tline " + "x" * 100)
    empty = spatial.decay()
    assert (empty.memories_decayed, empty.avg_decay_factor, empty.decayed_memories) == (0, 1.0, [])
    assert spatial.decay(namespace="nowhere").memories_analyzed == 0
    clock.passes(days=45)
    plain = spatial.decay().to_dict()
    assert list(plain) == [*FIELDS, "operations", "changed"]
    assert list(plain["decayed_memories"][0]) == OF_EACH
    assert plain["dry_run"] is True
    assert plain["avg_decay_factor"] == pytest.approx(0.5)
    words = plain["decayed_memories"][0]["content_preview"]
    assert words.startswith("first line second line xxx")
    assert words.endswith(" ...")
    assert len(words) <= 84


@pytest.mark.behaviour("SG11")
@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"decay_function": "cubic"}, "exponential, linear, step"),
        ({"half_life_days": 0.99}, "1 to 365"),
        ({"half_life_days": 366}, "1 to 365"),
        ({"half_life_days": float("nan")}, "1 to 365"),
        ({"min_importance": -0.1}, "0 to 0.5"),
        ({"min_importance": 0.51}, "0 to 0.5"),
        ({"access_weight": 1.01}, "0 to 1"),
        ({"access_weight": True}, "0 to 1"),
        ({"dry_run": 1}, "True or False"),
        ({"namespace": ""}, "empty"),
    ],
)
def test_what_is_outside_the_schema_is_refused(memory, given, words):
    with pytest.raises(InvalidInput, match=words):
        memory.decay(**given)


def test_the_bounds_of_the_schema_belong_to_it(memory):
    for low in (True, False):
        found = memory.decay(
            half_life_days=1 if low else 365, min_importance=0.0 if low else 0.5, access_weight=0 if low else 1
        )
        assert found.dry_run is True


# --- what it does to the store


@pytest.mark.behaviour("SG7")
def test_dry_run_no_changes(spatial, clock, path):
    spatial.remember_many([f"note {i}" for i in range(30)])
    spatial.recall("note 7")
    clock.passes(days=45)
    before = tables(path)
    assert spatial.decay().memories_decayed == 30
    assert tables(path) == before


@pytest.mark.behaviour("SG8")
def test_decay_updates_database(spatial, clock):
    kept = spatial.remember("the deploy is on tuesday", importance=0.8)
    clock.passes(days=54)
    found = spatial.decay(dry_run=False)
    assert (found.dry_run, found.memories_decayed) == (False, 1)
    state = spatial.get(kept.id).state
    assert state.decayed == found.decayed_memories[0].new_importance == pytest.approx(0.4)
    assert state.decayed_ms == state.created_ms + 54 * 86_400_000
    assert state.importance == 0.8  # the base is never decay's to change
    clock.passes(days=54)
    assert spatial.decay(dry_run=False).decayed_memories[0].new_importance == pytest.approx(0.2)
    entry = next(e for e in reversed(spatial.history(kept.id)) if e.operation == "decay")
    assert "0.200 from a base of 0.800" in entry.because


@pytest.mark.behaviour("SG9")
def test_decay_respects_namespace_filter(spatial, clock):
    one, two = spatial.remember("of one", "one"), spatial.remember("of two", "two")
    clock.passes(days=45)
    assert set(worth(spatial, namespace="one")) == {one.id}
    assert set(worth(spatial)) == {one.id, two.id}
    spatial.decay("one", dry_run=False)
    assert spatial.get(one.id).state.decayed is not None
    assert (spatial.get(two.id).state.decayed, spatial.get(two.id).tier) == (None, "warm")  # nor was it swept


@pytest.mark.behaviour("SG10")
def test_decay_batch_processing(spatial, opening, clock):
    """More than a page: no cap, nothing twice; a page has 500 memories, or what the policy says."""
    many = budget(2100, 4600)
    ids = {m.id for m in spatial.remember_many([f"note {i}" for i in range(many)])}
    clock.passes(days=45)
    found = spatial.decay(dry_run=False)
    assert (found.memories_analyzed, found.memories_decayed) == (many, many)
    assert {d.id for d in found.decayed_memories} == ids
    assert [n for op, n in journalled(spatial) if op == "decay"] == [many % 500, *[500] * (many // 500)]
    spatial.close()
    wider = opening({**SPATIAL, "upkeep": {"decay_batch": 2000}})
    clock.passes(days=45)
    wider.decay(dry_run=False)
    assert [n for op, n in journalled(wider) if op == "decay"][: 1 + many // 2000] == [
        many % 2000,
        *[2000] * (many // 2000),
    ]


@pytest.mark.behaviour("SG13")
def test_twice_at_one_instant_writes_nothing(opening, clock, path):
    memory = opening()
    memory.remember_many([f"note {i}" for i in range(20)])
    memory.recall("note 7", limit=3)
    clock.passes(days=45)
    first = memory.decay(dry_run=False)
    before, lines = tables(path), journalled(memory)
    again = memory.decay(dry_run=False)
    assert (first.operation, again.changed) == (memory.history()[0].id, False)
    assert replace(first, operations=()) == again
    assert (tables(path), journalled(memory)) == (before, lines)


@pytest.mark.behaviour("SG14")
def test_it_compounds_nothing_however_often_it_runs(spatial, opening, elsewhere, clock):
    """field.md, trap in 000: decay applied to its own output collapses."""
    other = opening(SPATIAL, at=elsewhere())
    daily, once = spatial.remember("a note", importance=0.8), other.remember("a note", importance=0.8)
    for _ in range(54):
        clock.passes(days=1)
        spatial.decay(dry_run=False)
    other.decay(dry_run=False)
    assert spatial.get(daily.id).state.decayed == other.get(once.id).state.decayed == pytest.approx(0.4)
    assert spatial.get(daily.id).importance == other.get(once.id).importance


@pytest.mark.behaviour("SG15")
def test_accesses_that_wait_are_counted_in(spatial, clock):
    kept = spatial.remember("the deploy is on tuesday")
    clock.passes(days=40)
    spatial.recall("deploy tuesday")
    clock.passes(days=5)
    line = worth(spatial)[kept.id]
    assert (line.old_importance, line.days_since_access, line.access_count) == (pytest.approx(0.52), 5, 1)
    assert line.new_importance == spatial.get(kept.id).importance


def test_applying_sweeps_what_is_due(memory, clock):
    kept = memory.remember("the deploy is on tuesday")
    clock.passes(days=45)
    memory.decay(dry_run=False)
    assert memory.get(kept.id).tier == "cold"
    assert memory.sweep().moved == ()


@pytest.mark.behaviour("SG16")
def test_archived_memories_are_left_out_and_protected_ones_only_reported(memory, clock):
    gone, pinned = memory.remember("gone"), memory.remember("pinned", pinned=True)
    vault, plain = memory.remember("vault"), memory.remember("plain")
    memory.archive(gone.id, "test")
    memory.move(vault.id, "vault", "key decision")
    clock.passes(days=45)
    found = memory.decay(dry_run=False)
    assert found.memories_analyzed == 3
    assert {d.id for d in found.decayed_memories} == {pinned.id, vault.id, plain.id}
    written = {m.content: m.state.decayed is not None for m in memory.list()}
    assert written == {"pinned": False, "vault": False, "plain": True}


def test_what_was_reinforced_since_is_written_anew(spatial, clock):
    kept = spatial.remember("the deploy is on tuesday")
    clock.passes(days=45)
    spatial.decay(dry_run=False)
    spatial.reinforce([kept.id], "set_value", 0.9)
    assert spatial.decay(dry_run=False).memories_decayed == 0
    assert spatial.get(kept.id).state.decayed == 0.9


@pytest.mark.behaviour("SG17")
def test_a_decay_can_be_undone(opening, path, clock):
    memory = opening(SPATIAL, HashEmbedder())
    memory.remember_many([f"note {i}" for i in range(5)])
    clock.passes(days=5)  # nothing is due
    before = logical(path)
    memory.decay(dry_run=False)
    assert logical(path) != before
    memory.undo(memory.history()[0].id)
    assert logical(path) == before


def test_decay_hides_no_more_than_the_gates_let_go_on_a_day(opening, clock):
    memory = opening(
        {
            **WORDS_ONLY,
            "archive": {"rule": "value", "value_below": 0.5, "cold_days": 1},
            "gates": {"loss_free_count": 0},
        }
    )
    memory.remember_many([f"note {i}" for i in range(30)])
    clock.passes(days=8)
    (held,) = memory.sweep().held
    before = len(memory.history(limit=1000))
    clock.passes(hours=1)
    memory.decay(dry_run=False)
    assert [o.operation for o in memory.history(limit=1000)][:-before] == ["decay"]
    assert len(held.ids) == memory.stats().memories == 27
    clock.passes(days=1)
    memory.decay(dry_run=False)
    assert memory.stats().memories == 25
