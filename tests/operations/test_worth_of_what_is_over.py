"""What is over is neither praised as nearly worth the vault nor suggested for review."""

from __future__ import annotations

import pytest

OLD, NEW = "The preview map runs on port 4173.", "The preview map runs on port 4180."
POLICY = {"embedder": {"model": "none"}, "tiers": {"vault_accesses": 2, "vault_value": 0.4}}


def port(value):
    return {"subject": "preview map", "predicate": "port", "value": value}


@pytest.fixture
def memory(opening):
    return opening(POLICY)


def shown_often(memory, clock, times=4):
    for _ in range(times):
        memory.recall("On which port does the preview map run?", limit=20)
        clock.passes(hours=1)


def test_what_is_over_is_not_nearly_worth_the_vault(memory, clock):
    old = memory.remember(OLD, facts=[port("4173")]).id
    shown_often(memory, clock)
    assert old in [i for i, *_ in memory.stats().vault_candidates]
    new = memory.remember(NEW, facts=[port("4180")]).id
    fact = next(f for f in memory.facts("preview map") if f.value == "4173")
    memory.deny(fact.id)
    shown_often(memory, clock)
    ids = [i for i, *_ in memory.stats().vault_candidates]
    assert old not in ids
    assert new in ids
    assert [a.ids for a in memory.alerts() if a.name == "vault_candidates" and old in a.ids] == []


def test_what_is_over_or_was_confirmed_is_not_suggested_for_review(memory, clock):
    old = memory.remember(OLD, facts=[port("4173")]).id
    other = memory.remember("The office plant needs water on Mondays.").id
    clock.passes(days=60)
    suggested = [i for i, _ in memory.stats().reviews]
    assert {old, other} <= {*suggested}
    memory.deny(memory.facts("preview map")[0].id)
    memory.confirm(other)
    clock.passes(days=60)
    stats = memory.stats()
    assert not {old, other} & {i for i, _ in stats.reviews}
    clock.passes(days=60)
    assert other in {i for i, _ in memory.stats().reviews}
