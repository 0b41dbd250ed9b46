"""What no verb takes is refused in words of the product, and all of it at once."""

from __future__ import annotations

import pytest

import perdure

HUGE = 10**400


@pytest.mark.parametrize(
    "call",
    [
        lambda m: m.answer("01abcdef", "yes"),
        lambda m: m.answer("01abcdef", None),
        lambda m: m.answer("01abcdef", []),
        lambda m: m.forecast_under({}, "x", "default"),
        lambda m: m.forecast_under({}, float("nan"), "default"),
        lambda m: m.forecast_under({}, -5, "default"),
        lambda m: m.forecast_under("abc", 3, "default"),
        lambda m: m.digest(budget_tokens=HUGE),
        lambda m: m.resolve_id(5),
        lambda m: m.superseded_facts("x"),
        lambda m: m.memories_of("x"),
        lambda m: m.recognize(None),
        lambda m: m.confine(None),
        lambda _: perdure.connect("http://localhost:1", timeout="a"),
        lambda _: perdure.connect("http://localhost:1", timeout=-1),
        lambda _: perdure.connect("http://localhost:1", token=5),
    ],
)
def test_arguments_of_another_kind_are_refused(memory, call):
    with pytest.raises(perdure.InvalidInput) as refused:
        call(memory)
    assert refused.value.remedy


def test_all_refused_messages_are_named_at_once(memory):
    with pytest.raises(perdure.InvalidInput) as refused:
        memory.ingest([{"role": "user"}, {"content": "x", "at": "yesterday"}, {"content": "fine"}, {"content": 5}])
    told = refused.value.message
    assert [f"Message {n} " in told for n in (1, 2, 3, 4)] == [True, True, False, True]
    assert told.endswith("Nothing was stored.")
    assert memory.list() == []


def test_all_refused_items_are_named_at_once_up_to_twenty(memory):
    bad = [{"content": "x", "importance": 5}, {"kontent": "y"}, {"content": "fine"}, {"content": ""}]
    with pytest.raises(perdure.InvalidInput) as refused:
        memory.remember_many(bad)
    told = refused.value.message
    assert [f"Item {n}: " in told for n in (1, 2, 3, 4)] == [True, True, False, True]
    with pytest.raises(perdure.InvalidInput, match="Only the first 20 are named") as refused:
        memory.remember_many([{"content": ""}] * 30)
    assert refused.value.message.count("content is empty") == 20
    assert memory.list() == []


def test_an_empty_list_of_messages_is_not_to_be_split(memory):
    with pytest.raises(perdure.InvalidInput, match="Give at least that many"):
        memory.ingest([])
    with pytest.raises(perdure.InvalidInput, match="Split it"):
        memory.ingest([{"content": "x"}] * 1001)


def test_a_store_that_the_program_closed_is_the_programs_fault(memory):
    memory.close()
    with pytest.raises(perdure.StoreClosed) as closed:
        memory.list()
    assert closed.value.fault == "caller"


def test_a_subject_that_names_nobody_is_told_what_does(memory):
    with pytest.raises(perdure.InvalidInput, match="Name it by more"):
        memory.learn(claims=[{"subject": "A", "predicate": "owns", "value": "billing"}])


def test_a_result_is_undone_as_its_operation_is(memory):
    kept = memory.remember("Deploys happen on Tuesdays.")
    changed = memory.update(kept.id, "Deploys happen on Wednesdays.")
    undone = memory.undo(changed)
    assert undone.undone == changed.operation
    assert memory.undo(undone).undone == undone.operation


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (lambda m: m.remember("Deploys happen on Tuesdays."), "changed nothing"),
        (lambda m: m.used([m.remember("Tea is at noon.").id, m.remember("Pay.", namespace="b").id], "helpful"), "2 op"),
        (lambda m: m.history()[0], "operation_id must be text"),
        (lambda m: m.remember("Something else.").operation and None, "operation_id must be text, not NoneType"),
    ],
    ids=["changed nothing", "several", "another record", "none"],
)
def test_a_result_that_names_no_single_operation_is_not_undone(memory, result, said):
    memory.remember("Deploys happen on Tuesdays.")
    given = result(memory)
    before = memory.history()
    with pytest.raises(perdure.InvalidInput, match=said) as refused:
        memory.undo(given)
    assert refused.value.remedy
    assert memory.history() == before
