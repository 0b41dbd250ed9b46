"""How much what is read of a store costs, in steps of SQLite, which no other process changes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

import perdure
from conftest import HashEmbedder
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


@pytest.mark.behaviour("LV12")
def test_the_first_question_after_a_gate_has_looked_costs_no_more_in_a_larger_store(tmp_path):
    """The gate asks what past questions find inside the transaction that archives something."""
    policy = {"preset": "confidence-decay", "gates": {"loss_share": 1.0, "loss_share_day": 1.0}}
    question, long_ago, found = "Where does the blue heron nest?", datetime(2020, 1, 1, tzinfo=UTC), []
    for many in (100, 400):
        work = Work()
        with work.of_sqlite():
            memory = perdure.open(tmp_path / f"{many}.db", policy=policy, embedder=HashEmbedder())
        with memory:
            heron = memory.remember("The blue heron nests at the old mill.").id
            memory.remember_many([f"Line {number} carries {number} crates." for number in range(many)])
            old = memory.remember("The ferry once left from the north quay.", at=long_ago, confidence=0.2).id
            memory.used([heron], recall_id=memory.recall(question, limit=1).recall_id)
            assert [move.id for move in memory.sweep().moved] == [old]
            found.append(work.steps_of(partial(memory.recall, question, limit=1, touch=False)))
            assert memory.recall("Where did the ferry leave from?").hits == ()
    assert found[1] <= MOST * found[0]


@pytest.fixture
def counted(tmp_path):
    """Return what opens a store of a name, and what counts the steps of its calls."""
    opened = []

    def opening(name, **arguments):
        work = Work()
        with work.of_sqlite():
            memory = perdure.open(tmp_path / f"{name}.db", policy={"embedder": {"model": "none"}}, **arguments)
        opened.append(memory)
        return memory, work

    yield opening
    for memory in opened:
        memory.close()


@pytest.mark.behaviour("LV12")
def test_asking_about_one_entity_costs_no_more_where_there_are_more(counted):
    """Its facts and mentions were looked for among those of all, and all names were read."""
    found = []
    for many in (40, 160):
        memory, work = counted(many)
        memory.learn(claims=[{"subject": f"Person {n}", "predicate": "likes", "value": f"{n}"} for n in range(many)])
        memory.entity("Person 1")
        calls = [partial(memory.alias, "Person 1", "The First")]
        calls += [partial(ask, "Person 1") for ask in (memory.entity, memory.timeline, memory.facts)]
        found.append([work.steps_of(call) for call in calls])
    assert [(few, much) for few, much in zip(*found, strict=True) if much > MOST * few] == []


@pytest.mark.behaviour("LV12")
def test_the_last_operations_of_a_namespace_cost_no_more_in_a_longer_journal(counted):
    memory, work = counted("one")
    memory.remember("The heron nests at the old mill.", "birds")  # of two namespaces, so that each has its own journal
    found = []
    for more in (40, 120):
        for number in range(more):
            memory.remember(f"Locker {number} of {more} holds {number * 7} keys.")
        found.append(work.steps_of(partial(memory.history, namespace="default", limit=10)))
    assert found[1] <= MOST * found[0]


@pytest.mark.behaviour("LV12")
def test_that_no_memory_lacks_a_vector_is_known_without_looking_at_them(counted):
    found = []
    for many in (40, 160):
        memory, work = counted(many, embedder=HashEmbedder())
        memory.remember_many([f"Locker {number} holds {number * 7} keys." for number in range(many)])
        found.append(work.steps_of(memory.reembed))
        assert memory.stats().without_vector == 0
    assert found[1] <= MOST * found[0]
