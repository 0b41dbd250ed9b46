"""reinforce and weaken, over both stores."""

from __future__ import annotations

import math

import pytest

from conftest import WORDS_ONLY, HashEmbedder, logical, tables
from perdure.records.errors import InvalidInput

SPATIAL = {**WORDS_ONLY, "preset": "importance-decay"}
DAY_MS = 86_400_000


@pytest.fixture
def spatial(opening):
    return opening(SPATIAL)


@pytest.fixture
def kept(spatial):
    return spatial.remember("the deploy is on tuesday")


def line(memory, kept, *given, **named):
    (found,) = memory.reinforce([kept.id], *given, **named).reinforced
    return found


def sizes(found):
    return found.old_importance, found.new_importance, found.boost_applied


# --- what a boost is worth


@pytest.mark.behaviour("SG20")
def test_additive_boost_calculation(spatial, kept, clock):
    assert sizes(line(spatial, kept)) == pytest.approx((0.5, 0.6, 0.1))
    clock.passes(days=3650)
    assert sizes(line(spatial, kept, "additive", 0.25)) == pytest.approx((0.1, 0.35, 0.25))
    assert spatial.get(kept.id).importance == pytest.approx(0.35)


@pytest.mark.behaviour("SG21")
def test_multiplicative_boost_calculation(spatial, kept, clock):
    clock.passes(days=45)
    assert sizes(line(spatial, kept, "multiplicative", 0.2)) == pytest.approx((0.25, 0.3, 0.05))


@pytest.mark.behaviour("SG22")
def test_set_value_override(spatial, kept):
    assert sizes(line(spatial, kept, "set_value", 0.8)) == pytest.approx((0.5, 0.8, 0.3))
    assert sizes(line(spatial, kept, "set_value", 0.2)) == pytest.approx((0.8, 0.2, -0.6))
    assert spatial.get(kept.id).importance == pytest.approx(0.2)


@pytest.mark.behaviour("SG23")
def test_max_importance_cap(opening, spatial, kept):
    assert sizes(line(spatial, kept, "additive", 0.9)) == pytest.approx((0.5, 1.0, 0.5))
    capped = opening({**SPATIAL, "importance": {"maximum": 0.6}}, at=":memory:")
    high, low = (capped.remember(words, importance=i) for words, i in (("high", 0.9), ("low", 0.55)))
    assert sizes(line(capped, low)) == pytest.approx((0.55, 0.6, 0.05))
    assert sizes(line(capped, high)) == (0.9, 0.9, 0.0)  # a cap never lowers
    assert sizes(line(capped, high, "set_value", 0.95)) == (0.9, 0.9, 0.0)


@pytest.mark.behaviour("SG24")
def test_update_access_flag(spatial, clock):
    """The boost is worth the same now; with it decay starts anew, without it decay goes on."""
    anew, going = spatial.remember("decay starts anew"), spatial.remember("decay goes on")
    clock.passes(days=45)
    assert sizes(line(spatial, anew)) == pytest.approx((0.25, 0.35, 0.1))
    assert sizes(line(spatial, going, update_access=False)) == pytest.approx((0.25, 0.35, 0.1))
    first, second = spatial.get(anew.id), spatial.get(going.id)
    assert (first.importance, second.importance) == pytest.approx((0.35, 0.35))
    assert (first.access_count, second.access_count) == (1, 0)
    assert first.state.anchor_ms - second.state.anchor_ms == 45 * DAY_MS
    assert first.state.importance == pytest.approx(0.35)
    assert second.state.importance * 2 ** (-45 / (30 * (1 + second.state.importance))) == pytest.approx(0.35)
    assert (first.tier, second.tier) == ("warm", "cold")  # an access wakes it
    clock.passes(days=45)
    assert spatial.get(going.id).importance < spatial.get(anew.id).importance


@pytest.mark.behaviour("SG28")
def test_diminishing_returns_and_the_days_cap(opening, clock):
    memory = opening({**WORDS_ONLY, "importance": {"daily_cap": 0.25}})
    kept = memory.remember("the deploy is on tuesday", importance=0.1)
    boosts = [line(memory, kept).boost_applied for _ in range(4)]
    assert boosts == pytest.approx([0.1, 0.1 * 0.9, 0.25 - 0.19, 0.0])  # the third would be 0.0819
    assert line(memory, kept, "set_value", 0.9).new_importance == 0.9  # setting is no boost
    clock.passes(days=1)
    assert line(memory, kept, "additive", 0.05).boost_applied == pytest.approx(0.05)


def test_a_boost_that_the_maximum_does_not_allow_says_what_it_was_worth(spatial, clock):
    """Without access the base cannot be raised beyond the maximum, however old the memory is."""
    kept = spatial.remember("old", importance=0.3)
    clock.passes(days=90)
    found = line(spatial, kept, "additive", 0.9, update_access=False)
    assert found.new_importance == pytest.approx(2 ** (-90 / 60))
    assert found.boost_applied == found.new_importance - found.old_importance
    assert spatial.get(kept.id).importance == pytest.approx(found.new_importance)


@pytest.mark.behaviour("SG102")
def test_the_amount_that_a_call_omits_is_the_policys(opening):
    memory = opening({**SPATIAL, "importance": {"boost": 0.3}})
    kept = memory.remember("the deploy is on tuesday")
    assert sizes(line(memory, kept)) == pytest.approx((0.5, 0.8, 0.3))
    assert sizes(line(memory, kept, "additive", 0.1)) == pytest.approx((0.8, 0.9, 0.1))


# --- over the store


@pytest.mark.behaviour("SG25")
def test_reinforce_persists_to_database(opening, spatial, kept, clock):
    clock.passes(days=45)
    line(spatial, kept)
    spatial.close()
    state = opening(SPATIAL).get(kept.id).state
    assert (state.importance, state.reinforcements, state.access_count) == (pytest.approx(0.35), 1, 1)
    assert state.accessed_ms == state.strength_ms == state.anchor_ms == state.created_ms + 45 * DAY_MS


@pytest.mark.behaviour("SG26")
def test_reinforce_multiple_memories(spatial):
    ones = [spatial.remember(f"note {i}", f"space {i % 2}", importance=i / 10) for i in range(4)]
    asked = [m.id for m in reversed(ones)]
    found = spatial.reinforce([*asked, asked[0]], "multiplicative", 0.5)
    assert [m.id for m in found.reinforced] == asked  # an id counts once
    assert found.memories_reinforced == 4
    assert found.avg_boost == pytest.approx((0.15 + 0.1 + 0.05 + 0.0) / 4)
    assert [o.operation for o in spatial.history()][:2] == ["reinforce", "reinforce"]  # one for each namespace
    assert {o.namespace for o in spatial.history()[:2]} == {"space 0", "space 1"}


@pytest.mark.behaviour("SG27")
def test_not_found_handling(spatial, kept, path):
    gone = spatial.remember("gone")
    spatial.archive(gone.id, "test")
    before = tables(path)
    found = spatial.reinforce(["nobody", gone.id])
    assert (found.memories_reinforced, found.avg_boost, found.reinforced) == (0, 0.0, [])
    assert found.not_found == ["nobody", gone.id]
    assert tables(path) == before
    found = spatial.reinforce([gone.id, kept.id, "nobody"])
    assert [m.id for m in found.reinforced] == [kept.id]
    assert found.not_found == [gone.id, "nobody"]
    assert spatial.reinforce([]).to_dict() == {
        "memories_reinforced": 0,
        "avg_boost": 0.0,
        "reinforced": [],
        "not_found": [],
        "operations": [],
        "changed": False,
    }


@pytest.mark.behaviour("SG30")
def test_the_result_has_the_seeds_fields(spatial, kept):
    found = spatial.reinforce([kept.id]).to_dict()
    assert found["operations"] == [spatial.history()[0].id]
    assert list(found) == ["memories_reinforced", "avg_boost", "reinforced", "not_found", "operations", "changed"]
    (one,) = found["reinforced"]
    assert list(one) == ["id", "content_preview", "old_importance", "new_importance", "boost_applied"]
    assert one["content_preview"] == "the deploy is on tuesday"


@pytest.mark.behaviour("SG29")
@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"memory_ids": "one"}, "list"),
        ({"memory_ids": [1]}, "must be text"),
        ({"memory_ids": [], "boost_type": "double"}, "additive, multiplicative, set_value"),
        ({"memory_ids": [], "boost_amount": 1.01}, "0 to 1"),
        ({"memory_ids": [], "boost_amount": -0.01}, "0 to 1"),
        ({"memory_ids": [], "boost_amount": float("nan")}, "0 to 1"),
        ({"memory_ids": [], "update_access": "no"}, "True or False"),
    ],
)
def test_what_is_outside_the_schema_is_refused(memory, given, words):
    with pytest.raises(InvalidInput, match=words):
        memory.reinforce(**given)


@pytest.mark.behaviour("SG32")
def test_it_strengthens_and_makes_stable(memory, clock):
    kept = memory.remember("the deploy is on tuesday")
    clock.passes(days=10)
    weak = memory.get(kept.id)
    memory.reinforce([kept.id])
    strong = memory.get(kept.id)
    # importance 0.4 right after: 0.9 x (1 + (base - 0.5) x 0.6) of energy, nothing is left of the first
    base = strong.state.importance
    level = 0.9 * (1 + (base - 0.5) * 0.6)
    resting = 0.08 + 0.25 * base
    assert strong.state.level == pytest.approx(level, abs=1e-6)
    assert strong.strength == pytest.approx(resting + (1 - resting) * (1 - math.exp(-level / 3)), abs=1e-6)
    assert strong.strength > weak.strength
    assert strong.state.stability > weak.state.stability
    assert strong.retention == 1.0
    memory.reinforce([kept.id], boost_amount=0.0)  # nothing is nothing
    assert memory.get(kept.id).state.level == pytest.approx(level, abs=1e-6)


@pytest.mark.behaviour("SG31")
@pytest.mark.parametrize("access", [True, False])
def test_undo_restores_exactly(opening, path, clock, access):
    memory = opening(embedder=HashEmbedder())
    ids = [memory.remember(f"note number {i}").id for i in range(3)]
    clock.passes(days=20)  # all are due, and two accesses wait
    memory.recall("note number", limit=2)
    before = logical(path)
    memory.reinforce(ids, update_access=access)
    after = logical(path)
    assert after != before
    operation = memory.undo(memory.history()[0].id).operation
    assert logical(path) == before
    memory.undo(operation)
    assert logical(path) == after
    assert memory.check() == []


@pytest.mark.behaviour("SG34")
def test_what_fell_due_before_happens_first(opening, elsewhere, clock):
    """A reinforcement without a sweep before it ends where it would have ended with one."""
    places = [opening(at=elsewhere()) for _ in range(2)]
    kept = [m.remember("the deploy is on tuesday") for m in places]
    clock.passes(days=20)
    places[0].sweep()
    for memory, one in zip(places, kept, strict=True):
        memory.reinforce([one.id])
    first, second = (m.get(k.id) for m, k in zip(places, kept, strict=True))
    assert (first.tier, first.state) == (second.tier, second.state) == ("warm", first.state)


def test_reinforcements_count_towards_the_vault(opening):
    memory = opening({**WORDS_ONLY, "tiers": {"vault_reinforcements": 3, "vault_value": 0.6, "vault_accesses": 3}})
    kept = memory.remember("key decision", confidence=1.0)
    tiers = []
    for _ in range(3):
        memory.reinforce([kept.id])
        tiers.append(memory.get(kept.id).tier)
    assert tiers == ["warm", "warm", "vault"]


# --- weaken


@pytest.mark.behaviour("SG33")
def test_weakening_is_bounded_and_ends_at_the_baseline(opening):
    """It is max_decay_per_cycle x manual_decay_multiplier = 0.15 x 2 for long-term memories."""
    memory = opening()
    kept = memory.remember("the deploy is on tuesday", importance=0.0)
    for _ in range(20):
        memory.reinforce([kept.id], "set_value", 0.0)
    strong = memory.get(kept.id).strength
    (one,) = memory.weaken([kept.id], 100).weakened
    assert (one.old_strength, one.old_strength - one.new_strength) == (strong, pytest.approx(0.3))
    assert memory.get(kept.id).strength == one.new_strength
    for _ in range(5):
        found = memory.weaken([kept.id], 100)
    assert memory.get(kept.id).strength == pytest.approx(0.08)
    assert (found.memories_weakened, found.avg_drop) == (1, 0.0)


def test_weakening_touches_neither_importance_nor_access_and_can_be_undone(memory, path):
    kept = memory.remember("the deploy is on tuesday")
    before = logical(path)
    found = memory.weaken([kept.id, "nobody", kept.id])
    assert (found.memories_weakened, found.not_found) == (1, ["nobody"])
    state = memory.get(kept.id).state
    assert (state.importance, state.access_count, state.reinforcements) == (0.7, 0, 0)
    assert "weakened by hand" in memory.history(kept.id)[-1].because
    memory.undo(memory.history()[0].id)
    assert logical(path) == before
    with pytest.raises(InvalidInput, match="0 to 100"):
        memory.weaken([kept.id], -1)


# --- strengthen


@pytest.mark.behaviour("SG77")
def test_strengthening_moves_strength_alone_by_a_bounded_step_and_can_be_undone(memory, clock, path):
    kept = memory.remember("the deploy is on tuesday")
    clock.passes(days=2)
    before, was = logical(path), memory.get(kept.id)
    found = memory.strengthen([kept.id, "nobody"], 2.0)
    (one,) = found.strengthened
    assert (found.memories_strengthened, found.not_found) == (1, ["nobody"])
    assert found.avg_gain == pytest.approx(0.25) == one.new_strength - one.old_strength
    now = memory.get(kept.id)
    assert now.strength == one.new_strength
    assert (now.importance, now.state.access_count, now.state.reinforcements) == (was.importance, 0, 0)
    assert "strengthened by hand" in memory.history(kept.id)[-1].because
    memory.undo(memory.history()[0].id)
    assert logical(path) == before
    with pytest.raises(InvalidInput, match="0 to 100"):
        memory.strengthen([kept.id], -1)


def test_what_is_strengthened_more_gains_as_much_more_energy(memory):
    ids = [memory.remember(f"the {word} gate", importance=0.5).id for word in ("north", "south", "east")]
    before = [memory.get(i).state.level for i in ids]
    for identity, amount in zip(ids, (0.0, 0.05, 0.2), strict=True):
        memory.strengthen([identity], amount)
    gained = [memory.get(i).state.level - level for i, level in zip(ids, before, strict=True)]
    unit = memory.policy.strength_long_term.unit
    assert gained == pytest.approx([0.0, 0.05 * unit, 0.2 * unit])


# --- decay and reinforcement in balance


def before_each_boost(spatial, clock, memories, weeks):
    """Each week's importances just before the boost, a row for each week."""
    ids, rows = [m.id for m in memories], []
    for _ in range(weeks):
        clock.passes(days=7)
        rows.append([r.old_importance for r in spatial.reinforce(ids).reinforced])
    return rows


@pytest.mark.behaviour("000-8-rule-1")
def test_decay_and_reinforcement_find_a_balance(opening, clock):
    """Boosted weekly, memories reach one cycle between floor and maximum, from above and from below; else the floor."""
    spatial = opening(SPATIAL)
    words = {"the deploy": 0.95, "a lunch": 0.2, "a walk": 0.95}
    high, low, alone = (spatial.remember(text, importance=worth) for text, worth in words.items())
    weeks = before_each_boost(spatial, clock, [high, low], 110)
    assert 0.1 < weeks[0][1] < 0.2 < weeks[0][0] < 0.95  # decay wins at first
    assert weeks[-1] == weeks[-2]
    assert 0.1 < weeks[-1][0] == weeks[-1][1] < 1.0
    assert spatial.get(high.id).importance == spatial.get(low.id).importance == 1.0
    clock.passes(days=365)
    (left,) = (d for d in spatial.decay().decayed_memories if d.id == alone.id)
    assert left.new_importance == pytest.approx(0.1)
    clock.passes(days=2_000_000)  # with nobody to reinforce it, all is lost but the share that stability keeps
    worn = {d.id: d.new_importance for d in spatial.decay().decayed_memories}
    assert [worn[m.id] for m in (high, low, alone)] == pytest.approx([0.3, 0.3, 0.1], abs=1e-3)
