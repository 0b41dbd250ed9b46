"""How much what is read of a journal costs, in steps of SQLite, which no other process changes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

import perdure
from life.work import MOST, Work


@pytest.mark.behaviour("LV12")
def test_the_history_and_the_days_questions_cost_no_more_for_each_operation_of_a_longer_journal(tmp_path):
    """Each operation is told with the one that undid it, which was looked for among all of them."""
    now, work, found = datetime(2026, 1, 5, tzinfo=UTC), Work(), {}
    with work.of_sqlite():
        memory = perdure.open(tmp_path / "agent.db", policy={"embedder": {"model": "none"}}, clock=lambda: now)
    with memory:
        for number in range(480):
            memory.remember(f"Locker {number} holds {number * 7} keys.")
            now += timedelta(hours=2)
            if number in (119, 479):
                steps = work.steps_of(lambda: memory.history(limit=1000)), work.steps_of(memory.review)
                found[number] = [each / (number + 1) for each in steps]
    early, late = found.values()
    assert [much for few, much in zip(early, late, strict=True) if much > MOST * few] == []
