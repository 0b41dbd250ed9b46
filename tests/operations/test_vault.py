"""The vault fills by use: accesses over weeks bring a memory there, whatever its tier and however they are spread."""

from __future__ import annotations

from datetime import timedelta

import pytest

from conftest import HashEmbedder, on_a_file, opened

WARM, COLD = 0, 8
TEXTS = [
    f"The {animal} nests at the {place} by the river." for animal in ("heron", "stork", "crane") for place in "ABC"
]


def used(place, clock, *, times, gap, age, policy=None):
    """A note among others, recalled so often at some distance once it is so many days old, and swept."""
    memory = opened(place, policy, clock, HashEmbedder())
    note = memory.remember("Deployments to production need two approvals.")
    memory.remember_many(TEXTS)
    clock.passes(days=age)
    memory.sweep()
    for _ in range(times):
        (hit,) = memory.recall("How many approvals do deployments to production need?", limit=1).hits
        assert hit.memory.id == note.id
        clock.now += gap
    memory.sweep()
    found = memory.get(note.id)
    memory.close()
    return found


@pytest.mark.behaviour("V10")
@pytest.mark.parametrize("age", [WARM, COLD])
def test_a_note_that_is_used_every_other_day_reaches_the_vault(elsewhere, clock, age):
    assert used(elsewhere(), clock, times=15, gap=timedelta(days=2), age=age).tier == "vault"


@on_a_file
def test_a_note_that_was_used_five_times_does_not(elsewhere, clock):
    assert used(elsewhere(), clock, times=5, gap=timedelta(days=2), age=WARM).tier != "vault"


@on_a_file
def test_accesses_that_fade_bring_nothing_to_the_vault_that_is_not_used_every_day(elsewhere, clock):
    policy = {"tiers": {"vault_full_accesses": 0}}
    assert used(elsewhere(), clock, times=15, gap=timedelta(days=2), age=WARM, policy=policy).tier != "vault"
    assert used(elsewhere(), clock, times=40, gap=timedelta(hours=12), age=WARM, policy=policy).tier == "vault"


@pytest.mark.behaviour("V11")
@on_a_file
@pytest.mark.parametrize("age", [WARM, COLD])
@pytest.mark.parametrize("times", [1, 2, 3, 5, 12, 20, 40])
def test_no_tier_depends_on_whether_accesses_share_a_millisecond(elsewhere, clock, times, age):
    ends = set()
    for span in (timedelta(0), timedelta(milliseconds=times), timedelta(minutes=1), timedelta(hours=1)):
        found = used(elsewhere(), clock, times=times, gap=span / times, age=age)
        ends.add((found.tier, found.status, found.access_count))
    assert len(ends) == 1


@on_a_file
def test_what_went_to_the_vault_says_how_it_came_there(elsewhere, clock):
    place = elsewhere()
    note = used(place, clock, times=20, gap=timedelta(days=2), age=WARM)
    memory = opened(place, None, clock, HashEmbedder())
    (reason,) = (e.because for e in memory.history(note.id) if "to vault" in e.because)
    assert "lasting value 0." in reason
    assert "at least 5 accesses" in reason
    clock.passes(days=1000)
    assert memory.sweep().moved == () or memory.get(note.id).tier == "vault"
