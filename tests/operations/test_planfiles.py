"""Plans as data: what `to_json` wrote, `from_dict` gives back exactly; and what is applied is what was shown."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import WORDS_ONLY, HashEmbedder, logical, tables
from laws.memories import LAW
from perdure.interfaces.files import plan_file
from perdure.records.errors import ConflictError, GateStopped, InvalidInput, PartlyStored
from perdure.records.memory import Shelf
from perdure.records.plan import Change, Plan, Target

texts = st.text(max_size=20)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**62), 2**62) | st.floats(allow_nan=False) | texts | st.binary(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(texts | st.sampled_from(["$bytes", "$tuple", "$object"]), inner, max_size=3)
    ),
    max_leaves=8,
)
rows = st.none() | st.dictionaries(texts, values, max_size=4)
changes = st.builds(Change, st.sampled_from(Target), texts, rows, rows, texts)
plans = st.builds(
    Plan,
    *(texts, texts, texts, st.integers(-(2**62), 2**62)),
    st.lists(changes, max_size=4).map(tuple),
    *(texts, texts, st.none() | texts),
)


@pytest.mark.behaviour("G20")
@LAW
@given(plan=plans)
def test_a_plan_comes_back_from_its_json_exactly(plan):
    back = Plan.from_dict(json.loads(json.dumps(plan.to_json())))
    assert back == plan
    assert repr(back) == repr(plan)  # also 1 and 1.0, tuples and lists


@pytest.fixture
def whole(opening):
    """A store with a vector, tags, documents: everything that a plan can hold."""
    memory = opening(embedder=HashEmbedder())
    kept = memory.remember("The mill is by the river.", tags=["a", "b"], metadata={"$bytes": "no", "n": [1, {"x": 2}]})
    return memory, kept


def test_a_plan_that_stores_a_memory_with_its_vector_works_from_a_file(whole, tmp_path, path, raw_store):
    memory, kept = whole
    (taken_back,) = memory.undo(memory.history()[0].id).plans
    shown = logical(path)
    again = taken_back.inverse(id="again", at=taken_back.at)
    plan_file.write(str(tmp_path / "plan.json"), [again])
    (read,) = plan_file.read(str(tmp_path / "plan.json"))
    assert read == again
    raw_store.apply(read)
    assert memory.get(kept.id).tags == ("a", "b")
    assert memory.get(kept.id).metadata == kept.memory.metadata
    memory.undo("again")
    assert logical(path) == shown


def test_documents_work_from_a_file(whole, tmp_path, raw_store):
    _, kept = whole
    row = {"shelf": Shelf.REVIEW, "name": "since", "data": {"why": "doubt", "n": 1.0}}
    plan = Plan("doc", "test", "default", 0, (Change(Target.DOCUMENT, kept.id, None, row, "because"),))
    plan_file.write(str(tmp_path / "plan.json"), [plan])
    raw_store.apply(plan_file.read(str(tmp_path / "plan.json"))[0])
    (document,) = raw_store.documents.find_about("default", kept.id)
    assert document.data == {"why": "doubt", "n": 1.0}


NO_PLAN = {
    "nothing": {},
    "a word for the instant": {"at": "now"},
    "true for the instant": {"at": True},
    "no target": {"changes": [["nowhere", "id", None, None, ""]]},
    "too short a change": {"changes": [["memory", "id", None]]},
    "a row that is none": {"changes": [["memory", "id", 5, None, ""]]},
    "bytes that are none": {"changes": [["memory", "id", {"x": {"$bytes": "?"}}, None, ""]]},
    "a number for an id": {"changes": [["memory", 5, None, None, ""]]},
    "changes that are none": {"changes": 5},
    "a number for what it undoes": {"undoes": 5},
}


@pytest.mark.parametrize("wrong", NO_PLAN.values(), ids=NO_PLAN)
def test_what_is_no_plan_is_refused(wrong):
    good = Plan("id", "sweep", "default", 0, ()).to_json()
    assert Plan.from_dict(good).id == "id"
    with pytest.raises(InvalidInput):
        Plan.from_dict({**good, **wrong} if wrong else wrong)


def test_a_plan_made_under_another_policy_is_refused(opening, clock, path):
    memory = opening()
    memory.remember("tea")
    clock.passes(days=8)
    (plan,) = memory.sweep(dry_run=True).plans
    other = opening({**WORDS_ONLY, "recall": {"signals": 0.03}})
    before = tables(path)
    with pytest.raises(ConflictError, match="policy"):
        other.apply(plan)
    assert tables(path) == before
    memory.apply(plan)


@pytest.fixture
def two(opening, clock):
    memory = opening()
    kept = [memory.remember(f"note of {place}", place) for place in ("a", "b")]
    clock.passes(days=8)
    return memory, kept, memory.sweep(dry_run=True).plans


@pytest.mark.behaviour("G25")
def test_all_plans_are_compared_before_the_first_is_written(two, path):
    memory, kept, plans = two
    assert len(plans) == 2
    memory.pin(kept[1].id)
    before = tables(path)
    with pytest.raises(ConflictError) as caught:
        memory.apply_all(plans)
    assert caught.value.ids == (kept[1].id,)
    assert kept[1].id in caught.value.message
    assert tables(path) == before


def test_a_plan_that_is_refused_after_others_says_what_was_written(two):
    memory, kept, plans = two
    forged = replace(plans[1], id=plans[0].id, namespace="b")
    worse = replace(
        forged, changes=(Change(Target.LINK, kept[1].id, {"kind": "k", "other": "o", "weight": 1.0}, None),)
    )
    with pytest.raises(PartlyStored) as caught:
        memory.apply_all([plans[0], worse])
    assert caught.value.operations == (plans[0].id,)
    assert memory.get(kept[0].id).tier == "cold"


@pytest.mark.behaviour("G26")
def test_gates_hold_for_plans_from_files(opening, tmp_path):
    memory = opening({"gates": {"loss_free_count": 0}})
    kept = memory.remember_many([f"line {i}" for i in range(5)])
    op = memory.history(kept[0].id)[0].operation_id
    before, after = {"status": "active", "op": op}, {"status": "archived", "op": "p"}
    changes = tuple(Change(Target.MEMORY, one.id, before, after, "test") for one in kept[:2])  # one a day may go
    plan_file.write(str(tmp_path / "plan.json"), [Plan("p", "sweep", "default", 0, changes, memory.policy.version)])
    with pytest.raises(GateStopped):
        memory.apply_all(plan_file.read(str(tmp_path / "plan.json")))
    (done,) = memory.apply_all(plan_file.read(str(tmp_path / "plan.json")), accept_loss="a test").plans
    assert done.note == "loss accepted: a test"
