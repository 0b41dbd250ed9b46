from __future__ import annotations

import pytest

from conftest import HARSH, Clock, HashEmbedder, logical, opened, tables
from perdure.records.errors import ConflictError, InvalidInput, NotFound


def last(memory, name=None):
    return next(o for o in memory.history() if name in {None, o.operation})


@pytest.fixture(params=["words", "meaning"])
def either(request, opening):
    return opening(embedder=HashEmbedder() if request.param == "meaning" else None)


VERBS = {
    "remember": lambda m, _: m.remember("something new", tags=["new"], metadata={"a": 1}, idempotency_key="key"),
    "ingest": lambda m, _: m.ingest([{"content": "hello"}, {"content": "hello"}]),
    "pin": lambda m, k: m.pin(k.id),
    "archive": lambda m, k: m.archive(k.id, "test"),
}


@pytest.mark.parametrize("verb", VERBS)
def test_an_undo_leaves_the_store_as_it_was_and_its_undo_as_it_was_then(either, path, clock, verb):
    kept = either.remember("the deploy is on tuesday", tags=["x"], metadata={"b": [1]}, idempotency_key="k")
    clock.passes(hours=1)
    before = logical(path)
    VERBS[verb](either, kept)
    after = logical(path)
    assert after != before
    operation = last(either).id
    for _ in range(3):  # back and forth as often as you like
        clock.passes(minutes=1)
        operation = either.undo(operation).operation
        assert logical(path) == before
        clock.passes(minutes=1)
        operation = either.undo(operation).operation
        assert logical(path) == after
    assert either.check() == []


def test_what_is_printed_of_a_result_holds_no_rows(opening):
    memory = opening(embedder=HashEmbedder())
    kept = memory.remember("the deploy is on tuesday")
    undone = memory.undo(kept.operation)
    assert any(isinstance(value, bytes) for value in undone.plans[0].changes[0].before.values())
    printed = f"{undone!r} {undone}"
    assert kept.operation in printed
    assert "operation='undo'" in printed
    assert f"changes={len(undone.plans[0].changes)}" in printed
    assert "=b'" not in printed
    assert ": b'" not in printed
    assert printed.count("tuesday") == 2  # the first words of the memory, in either form
    assert len(printed) < 1500


def test_metadata_survives_undo_and_redo(memory, clock):
    odd = {"base64": "aGVsbG8="}
    kept = memory.remember("words", metadata=odd)
    for _ in range(2):
        clock.passes(minutes=1)
        memory.undo(last(memory).id)
    assert memory.get(kept.id).metadata == odd


def test_a_chain_is_undone_backwards_only(memory, path, clock):
    kept = memory.remember("the deploy is on tuesday")
    steps = [(logical(path), None)]
    for verb in (memory.pin, memory.unpin, lambda i: memory.archive(i, "test"), memory.restore):
        clock.passes(hours=1)
        verb(kept.id)
        steps.append((logical(path), last(memory).id))
    for _, operation in steps[1:-1]:
        before = tables(path)
        with pytest.raises(ConflictError) as caught:
            memory.undo(operation)
        assert caught.value.ids == (kept.id,)
        assert steps[-1][1] in str(caught.value)  # what changed it last
        assert tables(path) == before
    for (earlier, _), (_, operation) in zip(steps[-2::-1], steps[:0:-1], strict=True):
        clock.passes(hours=1)
        memory.undo(operation)
        assert logical(path) == earlier
    assert memory.check() == []


def test_an_operation_is_taken_back_once(memory, path):
    kept = memory.remember("the deploy")
    memory.pin(kept.id)
    operation = last(memory, "pin").id
    undo = memory.undo(operation)
    before = tables(path)
    with pytest.raises(InvalidInput, match=undo.operation) as refused:
        memory.undo(operation)
    assert undo.operation in refused.value.remedy
    assert tables(path) == before


@pytest.mark.parametrize("unknown", ["no-such-operation", "00000000-0000-7000-8000-000000000000"])
def test_an_unknown_operation_is_not_found(memory, path, unknown):
    before = tables(path)
    with pytest.raises(NotFound):
        memory.undo(unknown)
    assert tables(path) == before


def test_an_undo_is_refused_with_a_list_and_undoes_nothing_of_it(memory, path):
    memory.remember_many([f"note {i}" for i in range(20)])
    born = last(memory).id
    changed = [m.id for m in memory.list()[:3]]
    for identity in changed:
        memory.pin(identity)
    before = tables(path)
    with pytest.raises(ConflictError) as caught:
        memory.undo(born)
    assert set(caught.value.ids) == set(changed)
    assert all(identity in str(caught.value) for identity in changed)
    assert tables(path) == before


def test_a_sweep_can_be_undone_though_the_namespace_has_changed_since(opening, clock, path):
    memory = opening(HARSH)
    memory.remember_many([f"note {i}" for i in range(30)])
    before = logical(path)
    clock.passes(days=8)
    report = memory.sweep()
    assert len(report.held[0].ids) == 27
    new = memory.remember("something else")
    memory.undo(report.operations[0])
    now = logical(path)
    assert [m for m in now["memory"] if new.id not in m] == before["memory"]


def test_sweeps_with_held_moves_are_undone_in_reverse(opening, clock, path):
    memory = opening(HARSH)
    memory.remember_many([f"note {i}" for i in range(30)])
    before, operations = logical(path), []
    for day in range(1, 40):
        clock.passes(days=1)
        if day % 7 == 0:
            memory.recall(f"note {day % 30}")
        operations += memory.sweep().operations
    assert len(operations) >= 3
    for operation in reversed(operations):
        memory.undo(operation)
    now = logical(path)
    assert now["memory"] == before["memory"]
    assert memory.check() == []


def test_taking_back_a_memory_takes_its_vectors_in_every_space(path, clock):
    memory = opened(path, clock=clock, embedder=HashEmbedder(64))
    memory.remember("hello world")
    operation = last(memory).id
    memory.close()
    clock.passes(days=1)
    memory = opened(path, clock=clock, embedder=HashEmbedder(32))
    memory.reembed()
    clock.passes(days=1)
    memory.undo(operation)
    assert memory.check() == []
    assert logical(path)["vector"] == []
    memory.close()


def test_taking_back_a_memory_leaves_no_link_to_it(meaning, path):
    meaning.remember("alpha beta gamma delta")
    operation = last(meaning).id
    near = meaning.remember("delta gamma beta alpha")
    assert meaning.why(near.id).links
    try:
        meaning.undo(operation)
    except ConflictError as error:  # refusing is right too, if it names the memory that stands in the way
        assert error.ids == (near.id,)  # noqa: PT017  # one of two outcomes
        return
    assert logical(path)["link"] == []


def test_a_recall_while_another_process_takes_it_back_leaves_no_access_to_nothing(
    opening, path, monkeypatch, raw_store
):
    memory, other = opening(), opening()
    memory.remember("hello world")
    operation = last(memory).id
    counted = []
    monkeypatch.setattr(type(raw_store), "count", lambda _, waiting: counted.append(waiting))  # it is slow to count
    assert memory.recall("hello").hits
    other.undo(operation)
    monkeypatch.undo()
    raw_store.count(counted[0])
    assert memory.check() == []
    assert logical(path)["access"] == []


def test_undo_brings_back_the_accesses_that_a_sweep_counted(memory, path, clock):
    kept = memory.remember("hello world")
    for _ in range(3):
        clock.passes(minutes=1)
        memory.recall("hello")
    before = logical(path)
    assert len(before["access"]) == 3
    clock.passes(days=9)
    report = memory.sweep()
    assert report.counted == 3
    assert logical(path)["access"] == []
    assert memory.get(kept.id).access_count == 3
    memory.undo(report.operations[0])
    assert logical(path) == before
    again = memory.sweep()
    assert (again.counted, again.tally) == (3, report.tally)
    assert memory.get(kept.id).access_count == 3


def test_an_access_that_no_sweep_has_counted_goes_with_its_memory_and_comes_back_with_it(memory, path, clock):
    kept = memory.remember("the heron nests at the old mill")
    clock.passes(hours=1)
    memory.recall("heron nests mill")
    before = logical(path)
    taken = memory.undo(kept.operation)
    memory.undo(taken.operations[0])
    assert logical(path) == before
    memory.sweep()
    assert memory.get(kept.id).access_count == 1


def test_history_is_in_the_order_in_which_it_happened_also_where_the_clock_steps_back(path):
    clock = Clock()
    memory = opened(path, clock=clock)
    kept = memory.remember("hello world")
    for verb in ("pin", "unpin"):
        memory.close()
        clock.passes(days=-3)
        memory = opened(path, clock=clock)
        getattr(memory, verb)(kept.id)
    assert [e.operation for e in memory.history(kept.id)] == ["remember", "pin", "unpin"]
    assert [o.operation for o in memory.history()] == ["unpin", "pin", "remember"]
    memory.close()


def test_a_recall_in_the_middle_of_an_undo_leaves_nothing_behind(opening, monkeypatch, raw_store):
    memory, other = opening(), opening()
    memory.remember("the deploy is on tuesday")
    right = type(raw_store).apply

    def apply(self, plan, **more):
        monkeypatch.undo()
        assert other.recall("deploy").hits
        return right(self, plan, **more)

    monkeypatch.setattr(type(raw_store), "apply", apply)
    memory.undo(memory.history()[0].id)
    assert memory.check() == []
    assert memory.maintain("worker").due == 0


def test_the_last_operation_is_taken_back_and_then_the_one_before(memory, path):
    empty = logical(path)
    first = memory.remember("one")
    between = logical(path)
    memory.remember("two", namespace="elsewhere")
    assert memory.undo("last").plans[0].undoes == memory.history(namespace="elsewhere")[1].id
    assert logical(path) == between
    assert memory.undo("last").plans[0].undoes == first.operation
    assert logical(path) == empty
    before = tables(path)
    with pytest.raises(NotFound, match="no operation to undo"):
        memory.undo("last")
    assert tables(path) == before


def test_what_workers_write_down_for_themselves_is_not_the_last_operation(memory):
    kept = memory.remember("one")
    memory.agent.begin("s", "default", "transcript.jsonl")
    memory.upkeep("worker")
    assert memory.history(notes=True)[0].operation in ("session", "upkeep")
    assert memory.undo("last").plans[0].undoes == kept.operation


def test_what_was_redone_is_the_last_operation_again(memory):
    first, second = (memory.remember(text) for text in ("The well is dry.", "The mill runs."))
    (undone,) = memory.undo(second.operation).operations
    memory.undo(undone)
    assert {m.id for m in memory.list()} == {first.id, second.id}
    memory.undo("last")
    assert [m.id for m in memory.list()] == [first.id]
    memory.undo("last")
    assert list(memory.list()) == []
    with pytest.raises(NotFound, match="no operation to undo"):
        memory.undo("last")


def test_an_operation_that_was_redone_is_undone_by_its_own_id(memory):
    kept = memory.remember("The mill runs.")
    for _ in range(3):
        (undone,) = memory.undo(kept.operation).operations
        assert list(memory.list()) == []
        with pytest.raises(InvalidInput, match="already undone"):
            memory.undo(kept.operation)
        memory.undo(undone)
        assert [m.id for m in memory.list()] == [kept.id]


def test_history_lists_what_one_would_undo_and_notes_of_hooks_only_where_asked(memory):
    for n in range(3):
        memory.remember(f"The note number {n} is about etl0{n}.", "p")
    memory.remember("It is elsewhere.", "q")
    for n in range(30):
        memory.agent.begin(f"session {n}", "p", "")
    for place, names in (("p", ["remember"] * 3), (None, ["remember"] * 4)):
        assert [o.operation for o in memory.history(namespace=place, limit=10)] == names
        assert {o.operation for o in memory.history(namespace=place, limit=10, notes=True)} == {"session"}
    assert memory.undo("last").operation
    assert memory.list("q") == []
