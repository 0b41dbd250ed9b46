"""Documents beside memories: small JSON objects that plans insert, change and remove, in every store alike."""

from __future__ import annotations

from contextlib import nullcontext

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import perdure
from conftest import budget, logical, on_two_servers_too, opened, tables
from perdure.compose import scratch_store, store_at
from perdure.interfaces.files.export_files import export_reader, write_export
from perdure.operations.import_export import import_lines
from perdure.operations.transfer import export_lines
from perdure.records.errors import ConflictError
from perdure.records.memory import Document, Shelf
from stores.planning import applied, document

pytestmark = on_two_servers_too

EDGE = Shelf.EDGE
DATA = {"kind": "part of", "role": "ü", "weight": 0.5, "deep": [1, None, {"x": True}]}


def stored(raw_store):
    return raw_store.documents


def on(raw_store, shelf=EDGE, after=("", ""), limit=100, namespace="default"):
    return stored(raw_store).page(namespace, shelf, after, limit)


def test_a_document_is_stored_changed_and_removed(memory, raw_store):
    applied(memory, document(EDGE, "m1", "e1", None, DATA))
    assert on(raw_store) == [Document(EDGE, "m1", "e1", DATA)]
    applied(memory, document(EDGE, "m1", "e1", DATA, {"weight": 1}))
    assert on(raw_store) == [Document(EDGE, "m1", "e1", {"weight": 1})]
    applied(memory, document(EDGE, "m1", "e1", {"weight": 1}, None))
    assert on(raw_store) == []


def test_documents_are_found_by_shelf_memory_and_name(memory, raw_store):
    made = [(s, i, n) for s in (EDGE, Shelf.REVIEW) for i in ("m1", "m2", "m3") for n in ("", "a", "b")]
    applied(memory, *(document(s, i, n, None, {"of": f"{s} {i} {n}"}) for s, i, n in made))
    found = stored(raw_store)

    def keys(documents):
        return [(d.shelf, d.id, d.name) for d in documents]

    edges = sorted(k for k in made if k[0] is EDGE)
    assert keys(found.page("default", EDGE, ("", ""), 100)) == edges
    assert keys(found.find("default", EDGE, ["m3", "m1"])) == [k for k in edges if k[1] != "m2"]
    assert keys(found.find_named("default", EDGE, ["b"])) == [k for k in edges if k[2] == "b"]
    assert sorted(keys(found.find_about("default", "m2"))) == sorted(k for k in made if k[1] == "m2")
    assert found.find("default", EDGE, []) == found.find_named("default", EDGE, ["c"]) == []
    pages, after = [], ("", "")
    while page := found.page("default", EDGE, after, 2):
        pages += keys(page)
        after = (page[-1].id, page[-1].name)
    # The place before the first is ("", ""): a document named so would be the only one that pages leave out.
    assert pages == edges


@pytest.mark.parametrize(
    "stale",
    [
        pytest.param((DATA, {"weight": 2}), id="an update of other data"),
        pytest.param((DATA, None), id="a delete of other data"),
        pytest.param((None, {"weight": 2}), id="an insert of what is there"),
    ],
)
def test_a_document_that_is_not_as_the_plan_says_is_a_conflict_and_nothing_is_written(memory, path, stale):
    kept = memory.remember("beside it")
    applied(memory, document(EDGE, "m1", "e1", None, {"weight": 1}))
    before = tables(path)
    with pytest.raises(ConflictError):
        applied(memory, document(EDGE, kept.id, "new", None, {}), document(EDGE, "m1", "e1", *stale))
    assert tables(path) == before
    assert memory.check() == []


@pytest.mark.parametrize("change", [(DATA, {"weight": 2}), (DATA, None)], ids=["update", "delete"])
def test_a_document_that_is_gone_is_a_conflict(memory, path, change):
    before = tables(path)
    with pytest.raises(ConflictError):
        applied(memory, document(EDGE, "m1", "e1", *change))
    assert tables(path) == before


def test_only_the_data_is_compared_not_how_it_was_written_down(memory, raw_store):
    applied(memory, document(EDGE, "m1", "e1", None, {"a": 1, "b": 2}))
    applied(memory, document(EDGE, "m1", "e1", {"b": 2, "a": 1}, {"c": 3}))
    assert on(raw_store)[0].data == {"c": 3}


def test_two_writers_of_one_document_one_is_told(opening, raw_store):
    first, second = opening(), opening()
    applied(first, document(Shelf.UPKEEP, "sweep", "", None, {"runs": 0}))
    applied(second, document(Shelf.UPKEEP, "sweep", "", {"runs": 0}, {"runs": 1}))
    with pytest.raises(ConflictError):
        applied(first, document(Shelf.UPKEEP, "sweep", "", {"runs": 0}, {"runs": 1}))
    assert on(raw_store, Shelf.UPKEEP)[0].data == {"runs": 1}


def test_namespaces_are_apart(memory, raw_store):
    for place in ("a", "b"):
        applied(memory, document(EDGE, "m1", "e1", None, {"of": place}), namespace=place)
    applied(memory, document(EDGE, "m1", "e1", {"of": "b"}, None), namespace="b")
    with pytest.raises(ConflictError):
        applied(memory, document(EDGE, "m1", "e1", {"of": "a"}, {"of": "stolen"}), namespace="b")
    assert [d.data for d in on(raw_store, namespace="a")] == [{"of": "a"}]
    assert on(raw_store, namespace="b") == on(raw_store, namespace="c") == on(raw_store) == []
    assert stored(raw_store).find_about("b", "m1") == stored(raw_store).find("b", EDGE, ["m1"]) == []
    assert stored(raw_store).find_named("b", EDGE, ["e1"]) == []


def test_an_undo_takes_each_change_back_and_can_be_undone(memory, clock, raw_store):
    born = applied(memory, document(EDGE, "m1", "e1", None, DATA))
    clock.passes(minutes=1)
    changed = applied(memory, document(EDGE, "m1", "e1", DATA, {"weight": 1}))
    clock.passes(minutes=1)
    gone = applied(memory, document(EDGE, "m1", "e1", {"weight": 1}, None))
    for plan, expected in ((gone, [{"weight": 1}]), (changed, [DATA]), (born, [])):
        clock.passes(minutes=1)
        last = memory.undo(plan.id)
        assert [d.data for d in on(raw_store)] == expected
    clock.passes(minutes=1)
    memory.undo(last.operation)
    assert [d.data for d in on(raw_store)] == [DATA]


def test_an_undo_of_what_was_changed_since_is_refused(memory, raw_store):
    born = applied(memory, document(EDGE, "m1", "e1", None, DATA))
    applied(memory, document(EDGE, "m1", "e1", DATA, {"weight": 1}))
    with pytest.raises(ConflictError):
        memory.undo(born.id)
    assert on(raw_store)[0].data == {"weight": 1}


def test_the_journal_of_a_memory_tells_of_the_documents_about_it(memory):
    kept = memory.remember("part of something")
    applied(memory, document(EDGE, kept.id, "e1", None, DATA))
    entry = memory.history(kept.id)[-1]
    assert (entry.target, entry.before) == ("document", None)
    assert entry.after["data"] == DATA


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8", exclude_characters="\x00")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("aüé🙂 '\"\\", max_size=4), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=budget(25, 240), deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(data=st.dictionaries(st.text("ab ü", min_size=1, max_size=3), JSON, max_size=4))
def test_any_json_comes_back_as_it_was_and_can_be_replaced(memory, data, raw_store):
    applied(memory, document(EDGE, "m1", "e1", None, data))
    assert on(raw_store)[0].data == data
    applied(memory, document(EDGE, "m1", "e1", data, {}))
    applied(memory, document(EDGE, "m1", "e1", {}, data))
    assert on(raw_store)[0].data == data
    applied(memory, document(EDGE, "m1", "e1", data, None))


def test_documents_are_copied_exported_and_imported(path, elsewhere, tmp_path):
    with opened(path) as memory:
        kept = memory.remember("part of something")
        fact = {"subject": "ana", "predicate": "home", "value": {"text": "Oslo"}}
        data = {shelf: {**DATA, **(fact if shelf is Shelf.FACT else {})} for shelf in Shelf}
        applied(memory, *(document(shelf, kept.id, "u", None, data[shelf]) for shelf in Shelf))
        applied(memory, document(EDGE, "m1", "", None, {}), namespace="team")
    copied, read = elsewhere(), elsewhere()
    assert perdure.copy(path, copied).parts["document"] == len(Shelf) + 1
    with store_at(path) as source, store_at(read) as target:
        write_export(str(tmp_path / "all.jsonl"), export_lines(source))
        import_lines(export_reader(str(tmp_path / "all.jsonl")), lambda: nullcontext(target), scratch_store)
    assert logical(copied)["document"] == logical(read)["document"] == logical(path)["document"]
    assert len(logical(path)["document"]) == len(Shelf) + 1
    with opened(copied) as memory:
        applied(memory, document(EDGE, kept.id, "u", DATA, None))
        assert memory.check() == []


def test_what_belongs_to_a_task_and_a_session_is_found_page_by_page(memory, raw_store):
    kept = memory.remember_many(
        [{"content": f"step {i}", **({"task": "t"} if i % 2 else {"session": "s"})} for i in range(11)]
    )
    other = memory.remember("elsewhere", namespace="b", task="t", session="s")
    for read, place, count in ((raw_store.ids_of_task, "t", 5), (raw_store.ids_of_session, "s", 6)):
        found, after = [], ""
        while page := read("default", place, after, 2):
            found += page
            after = page[-1]
        assert found == sorted(m.id for m in kept if place in (m.memory.task, m.memory.session))
        assert len(found) == count
        assert read("b", place, "", 9) == [other.id]
        assert read("default", "unknown", "", 9) == []


def test_the_visible_tokens_of_a_namespace_are_those_of_what_is_shown(memory, raw_store):
    kept = memory.remember_many(["one two three", "four five", "six"])
    memory.remember("not counted here", namespace="b")
    assert raw_store.visible_tokens("default") == sum(m.memory.tokens for m in kept) == 6
    memory.archive(kept[1].id, "hidden")
    assert raw_store.visible_tokens("default") == 4
    assert raw_store.visible_tokens("empty") == 0


def test_a_memory_that_is_taken_back_takes_its_documents_along_and_brings_them_back(memory, clock, raw_store):
    one = memory.remember("part of something")
    applied(memory, document(EDGE, one.id, "e1", None, DATA), document(EDGE, "other", "e1", None, DATA))
    clock.passes(minutes=1)
    undo = memory.undo(memory.history(one.id)[0].operation_id)
    assert [d.id for d in on(raw_store)] == ["other"]
    clock.passes(minutes=1)
    memory.undo(undo.operation)
    assert sorted(d.id for d in on(raw_store)) == sorted(["other", one.id])
