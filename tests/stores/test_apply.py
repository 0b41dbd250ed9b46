from __future__ import annotations

from dataclasses import replace

import pytest

from conftest import HashEmbedder, logical, on_two_servers_too, tables
from perdure.records.errors import ConflictError, PerdureError
from perdure.records.plan import Change, Plan, Target

pytestmark = on_two_servers_too


def archive_change(memory, *, before=None, op="later"):
    return Change(
        Target.MEMORY,
        memory.id,
        {"status": "active", "op": memory_op(memory) if before is None else before},
        {"status": "archived", "op": op},
        "by the test",
    )


_OPS = {}


def memory_op(memory):
    return _OPS[memory.id]


@pytest.fixture
def three(memory):
    kept = memory.remember_many(["the first", "the second", "the third"])
    for m in kept:
        _OPS[m.id] = memory.history(m.id)[0].operation_id
    return kept


def plan_of(changes, identity="later", operation="test"):
    return Plan(identity, operation, "default", 0, tuple(changes), "policy", "a note")


BAD_LAST = {
    "another operation was faster": lambda m: archive_change(m, before="someone else"),
    "another value": lambda m: Change(Target.MEMORY, m.id, {"tier": "cold", "op": memory_op(m)}, {"tier": "hot"}, ""),
    "a memory that is gone": lambda _: Change(Target.MEMORY, "no-such-id", {"pinned": False}, {"pinned": True}, ""),
    "a link that is not there": lambda m: Change(Target.LINK, m.id, {"kind": "k", "other": "o", "weight": 1.0}, None),
    "accesses that are not there": lambda m: Change(Target.ACCESS, m.id, {"at_ms": 1, "times": 1}, None),
    "a vector for nobody": lambda _: Change(Target.VECTOR, "no-such-id", None, {"space": "hash/64/1", "vector": b""}),
    "a space that nobody knows": lambda m: Change(Target.VECTOR, m.id, None, {"space": "unknown", "vector": b""}),
    "what no plan may do": lambda m: Change(Target.RECALL, m.id, {"query": "x"}, None),
}


@pytest.mark.parametrize("last", BAD_LAST)
def test_a_plan_whose_last_change_fails_leaves_every_table_as_it_was(memory, three, path, last, raw_store):
    before = tables(path)
    link = Change(Target.LINK, three[0].id, None, {"kind": "k", "other": three[1].id, "weight": 0.5}, "")
    changes = [archive_change(three[0]), link, BAD_LAST[last](three[1])]
    with pytest.raises(PerdureError) as caught:
        raw_store.apply(plan_of(changes))
    assert tables(path) == before
    if isinstance(caught.value, ConflictError):
        assert caught.value.ids or last in {"another value", "a link that is not there", "accesses that are not there"}
    assert memory.check() == []


def test_a_conflict_names_the_memories_that_have_changed(memory, three, path, raw_store):
    memory.pin(three[1].id)
    before = tables(path)
    with pytest.raises(ConflictError) as caught:
        raw_store.apply(plan_of([archive_change(m) for m in three]))
    assert caught.value.ids == (three[1].id,)
    assert caught.value.remedy
    assert tables(path) == before


def test_a_plan_is_applied_once(memory, three, path, raw_store):
    plan = plan_of([archive_change(three[0])])
    raw_store.apply(plan)
    before = tables(path)
    with pytest.raises(ConflictError):
        raw_store.apply(plan)
    with pytest.raises(ConflictError):  # also where nothing in it would conflict
        raw_store.apply(plan_of([]))
    assert tables(path) == before


def test_a_plan_and_its_inverse_leave_the_rows_as_they_were(memory, three, path, raw_store):
    before = logical(path)
    plan = plan_of([archive_change(three[0]), archive_change(three[2])])
    raw_store.apply(plan)
    assert logical(path)["memory"] != before["memory"]
    raw_store.apply(plan.inverse(id="even later", at=1))
    assert logical(path) == before


def test_the_journal_tells_every_change_with_its_reason(memory, three, raw_store):
    raw_store.apply(plan_of([archive_change(m) for m in three]))
    operation = memory.history()[0] if memory.history()[0].id == "later" else raw_store.operation("later")
    assert (operation.changes, operation.note, operation.policy) == (3, "a note", "policy")
    entry = next(e for e in memory.history(three[0].id) if e.operation_id == "later")
    assert entry.because == "by the test"
    assert (entry.before["status"], entry.after["status"]) == ("active", "archived")


def test_a_dry_runs_plans_can_be_applied_and_only_once(opening, clock, path):
    memory = opening()
    memory.remember_many([f"note {i}" for i in range(30)])
    clock.passes(days=10)
    plans = memory.sweep(dry_run=True).plans
    assert plans
    for plan in plans:
        memory.apply(plan)
    assert memory.sweep().moved == ()
    before = tables(path)
    with pytest.raises(ConflictError):
        memory.apply(plans[0])
    with pytest.raises(ConflictError):  # under another name it still does not fit
        memory.apply(replace(plans[0], id="another"))
    assert tables(path) == before


def test_a_plan_from_a_dry_run_is_refused_once_a_memory_has_moved_on(opening, clock, path):
    memory, other = opening(), opening()
    kept = memory.remember_many([f"note {i}" for i in range(30)])
    clock.passes(days=10)
    plan = memory.sweep(dry_run=True).plans[0]
    other.pin(kept[7].id)
    before = tables(path)
    with pytest.raises(ConflictError) as caught:
        memory.apply(plan)
    assert caught.value.ids == (kept[7].id,)
    assert tables(path) == before


def test_vectors_of_a_batch_are_stored_with_their_memories_or_not_at_all(opening, path, raw_store):
    memory = opening(embedder=HashEmbedder())
    memory.remember("something to begin with")
    before = tables(path)
    good = raw_store.images("default", [memory.list()[0].id]).popitem()[1]
    row = {**good, "op": "later", "key": None, "vector": None}
    changes = [
        Change(Target.MEMORY, "first", None, row, ""),
        Change(Target.MEMORY, "second", None, {**row, "space": "unknown/3/1"}, ""),
    ]
    with pytest.raises(PerdureError):
        raw_store.apply(plan_of(changes))
    assert tables(path) == before
