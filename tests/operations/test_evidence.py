"""What upkeep and a bounded store cost in recall, on a real conversation, by words alone (see docs/evidence.md)."""

from __future__ import annotations

import re
import statistics
from datetime import timedelta

import pytest

from conftest import WORDS_ONLY, Clock, budget, on_a_file, opened, weekly
from operations.test_locomo import messages, sample

ADVERSARIAL = 5


@pytest.fixture
def data():
    return sample()


@pytest.fixture
def told(path, data):
    said = list(messages(data["conversation"]))
    clock = Clock(said[-1]["at"] + timedelta(days=1))
    memory = opened(path, WORDS_ONLY, clock)
    memory.ingest([{**m, "source": m["id"]} for m in said])
    yield memory, clock
    memory.close()


def visible_tokens(memory):
    return memory.fit(tokens=10**9).before


def recall_at_10(memory, data):
    shares = []
    for asked in data["qa"][:: budget(3, 1)]:
        evidence = {i for e in asked["evidence"] for i in re.findall(r"D\d+:\d+", e)}
        if asked["category"] != ADVERSARIAL and evidence:
            hits = memory.recall(asked["question"], limit=10, touch=False).hits
            shares.append(len(evidence & {h.memory.source for h in hits}) / len(evidence))
    return statistics.mean(shares)


@pytest.mark.behaviour("LA7")
@on_a_file
def test_200_days_of_daily_upkeep_without_feedback_keep_what_is_asked_for(told, data):
    memory, clock = told
    before = recall_at_10(memory, data)
    assert before > 0.5
    for _ in range(budget(70, 200)):
        clock.passes(days=1)
        memory.sweep()
    assert recall_at_10(memory, data) >= 0.98 * before
    assert memory.digest_details().tokens <= memory.policy.digest.budget_tokens
    assert memory.stats().tiers.get("hot", 0) <= memory.policy.tiers.hot_messages


@weekly
@pytest.mark.behaviour("LA8")
@on_a_file
@pytest.mark.parametrize(("share", "kept"), [(0.5, 0.98), (0.25, 0.9)])
def test_a_bounded_store_still_finds_what_is_asked_for(told, data, share, kept):
    memory, clock = told
    before, whole = recall_at_10(memory, data), visible_tokens(memory)
    clock.passes(days=2)
    memory.sweep()
    result = memory.fit(tokens=int(share * whole), accept_loss="a test of what is lost", dry_run=False)
    assert result.after <= share * whole
    assert recall_at_10(memory, data) >= kept * before
    for operation in reversed(result.operations):
        memory.undo(operation)
    assert visible_tokens(memory) == whole
