"""move: a person's word about a tier, and restoring where strength hides."""

from __future__ import annotations

import pytest

from conftest import WORDS_ONLY, logical
from perdure.records.errors import InvalidInput, NotFound

STRENGTH = {**WORDS_ONLY, "preset": "activation"}
TIERS = ["hot", "warm", "cold", "vault"]


@pytest.mark.behaviour("SG51")
@pytest.mark.parametrize("source", TIERS)
@pytest.mark.parametrize("target", TIERS)
def test_any_tier_can_be_reached_by_hand(memory, path, source, target, clock):
    kept = memory.remember("the deploy is on tuesday")
    memory.move(kept.id, source, "set up")
    clock.passes(hours=1)
    before = logical(path)
    moved = memory.move(kept.id, target, "the release is near")
    assert moved.memory.tier == memory.get(kept.id).tier == target
    assert memory.sweep().moved == ()  # it is not taken back
    if source == target:
        assert logical(path) == before
        return
    operation = memory.history()[0]
    assert operation.operation == "move"
    entry = memory.history(kept.id)[-1]
    assert "manual override" in entry.because
    assert "the release is near" in entry.because
    assert (entry.before["tier"], entry.after["tier"]) == (source, target)
    memory.undo(operation.id)
    assert logical(path) == before


@pytest.mark.behaviour("SG50")
def test_an_explicit_request_brings_an_old_memory_to_hot_for_its_hours(memory, clock):
    kept = memory.remember("the deploy is on tuesday")
    clock.passes(days=200)
    memory.sweep()
    assert memory.get(kept.id).tier == "cold"
    moved = memory.move(kept.id, "hot", "asked for")
    assert (moved.memory.tier, moved.memory.access_count) == ("hot", 0)
    clock.passes(hours=23)
    memory.sweep()
    assert memory.get(kept.id).tier == "hot"


@pytest.mark.behaviour("004-4.1-ARCHIVE", "SG52")
def test_the_vault_is_left_only_by_hand_and_ages_start_anew(opening, clock):
    memory = opening({**WORDS_ONLY, "preset": "confidence-decay"})
    kept = memory.remember("key decision")
    memory.move(kept.id, "vault", "key decision")
    clock.passes(days=2000)
    memory.sweep()
    assert memory.get(kept.id).tier == "vault"
    out = memory.move(kept.id, "cold", "reviewed")
    assert out.memory.confidence == pytest.approx(0.8)
    memory.sweep()
    assert memory.get(kept.id).status == "active"


def test_further_away_keeps_its_ages(memory, clock):
    kept = memory.remember("the deploy is on tuesday")
    clock.passes(days=3)
    before = memory.get(kept.id)
    after = memory.move(kept.id, "cold", "not now")
    assert (after.memory.state.anchor_ms, after.memory.importance) == (before.state.anchor_ms, before.importance)


def test_a_pinned_memory_can_be_moved_by_hand(memory):
    kept = memory.remember("pinned", pinned=True)
    assert memory.move(kept.id, "cold", "by hand").memory.tier == "cold"


def test_hidden_memories_are_refused_with_advice(memory):
    kept = memory.remember("the deploy is on tuesday")
    memory.archive(kept.id, "test")
    with pytest.raises(InvalidInput, match="Use `restore` first"):
        memory.move(kept.id, "hot", "wanted")
    with pytest.raises(NotFound):
        memory.move("nobody", "hot", "wanted")
    with pytest.raises(InvalidInput, match="hot, warm, cold, vault"):
        memory.move(kept.id, "lukewarm", "wanted")
    with pytest.raises(InvalidInput, match="reason is empty"):
        memory.move(kept.id, "hot", "  ")


@pytest.mark.behaviour("SG53")
@pytest.mark.parametrize("session", [None, "talk"])
def test_what_was_restored_is_not_forgotten_again_where_strength_hides(opening, clock, session):
    memory = opening(STRENGTH)
    kept = memory.remember("small talk", importance=0.0, session=session)
    clock.passes(days=30)
    memory.sweep()
    assert memory.get(kept.id) is None
    back = memory.restore(kept.id)
    assert back.memory.strength > 0.2
    for _ in range(30):
        clock.passes(days=1)
        memory.sweep()
        memory.weaken([kept.id], 100)
    assert memory.get(kept.id).status == "active"
    assert "never forgotten" in memory.why(kept.id).signals["strength"]


def test_a_restore_holds_for_hours_even_where_no_importance_protects(opening, clock):
    """Importance 1 has baseline 0.33 and threshold 0.38 - 0.04: nothing is safe, but what is restored is strong."""
    memory = opening({**STRENGTH, "strength_long_term": {"forgetting_threshold": 0.38}})
    kept = memory.remember("the deploy is on tuesday", importance=1.0)
    for _ in range(2):
        clock.passes(days=30)
        memory.sweep()
        assert memory.get(kept.id) is None
        memory.restore(kept.id)
        clock.passes(hours=3)
        memory.sweep()
        assert memory.get(kept.id).status == "active"
