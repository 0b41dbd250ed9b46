"""What is shown of an id, and finding ids by their beginning or by that of their short form, in every store."""

from __future__ import annotations

import pytest

from conftest import on_two_servers_too, opened
from perdure.compose import store_at
from perdure.records.errors import InvalidInput
from perdure.records.identifier import short_id

IDS = (
    "0190a000-0000-7000-8000-0000abcdef01",
    "0190a000-0000-7000-8000-0000abcdef02",
    "0190a000-0001-7000-8000-000012345678",
    "0190B000-0000-7000-8000-00005A5A5A5A",
    "m1",
    "note.2024:7",
    "customers-of-the-harbour",
)


@pytest.fixture
def stored(path, elsewhere):
    """A store with memories under given ids, as an import leaves them, in two namespaces."""
    origin = elsewhere()
    with opened(origin) as memory:
        memory.remember_many([f"memory {i}" for i in range(len(IDS))], namespace="ours")
    with store_at(origin) as source, store_at(path) as target:
        for part in ("namespace", "memory"):
            rows = [row for _, row in source.transfer.read("ours", part, None, 100)]
            rows = rows if part == "namespace" else [{**r, "id": i} for r, i in zip(rows, IDS, strict=True)]
            target.transfer.write("ours", part, rows, 0)
    with opened(path) as memory:
        memory.remember("of another namespace", namespace="theirs")
    with store_at(path) as target:
        yield target


@pytest.mark.parametrize(
    ("identity", "shown"),
    [(IDS[0], "abcdef01"), ("m1", "m1"), ("12345678", "12345678"), ("note.2024:7", "e.2024:7")],
)
def test_the_short_form_is_the_end_of_an_id(identity, shown):
    assert short_id(identity) == shown


@on_two_servers_too
@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param(IDS[2], [2], id="a whole id"),
        pytest.param(IDS[0].upper(), [0], id="a whole id in capitals"),
        pytest.param(IDS[3].lower(), [3], id="an id that was imported in capitals"),
        pytest.param("12345678", [2], id="a short id"),
        pytest.param("5a5a5a5a", [3], id="a short id of capitals"),
        pytest.param("ABCDEF02", [1], id="a short id typed in capitals"),
        pytest.param("123456", [2], id="the beginning of a short id"),
        pytest.param("abcdef", [0, 1], id="the beginning of two short ids"),
        pytest.param("0190a000-0000", [0, 1], id="the beginning of two ids"),
        pytest.param("0190a0", [0, 1, 2], id="the time of an id"),
        pytest.param("m1", [4], id="an imported id that is short"),
        pytest.param("note.2", [5], id="the beginning of an imported id"),
        pytest.param("e.2024:7", [5], id="the end of an imported id"),
        pytest.param("customers-of", [6], id="the beginning of a long imported id"),
        pytest.param("harbour", [], id="what is inside an id"),
        pytest.param("NOTE.2", [], id="capitals of no hexadecimal digits"),
        pytest.param("%", [], id="a pattern"),
        pytest.param("", [], id="nothing"),
        pytest.param("\udcff\x00 ü", [], id="what no id holds"),
        pytest.param("a" * 10_000, [], id="a long text"),
    ],
)
def test_memories_are_found_by_what_is_typed_of_their_ids(stored, text, found):
    expected = [IDS[i] for i in found]
    assert stored.find_ids(text, limit=10) == expected
    assert stored.find_ids(text, namespace="ours", limit=10) == expected
    assert stored.find_ids(text, namespace="theirs", limit=10) == []
    assert stored.find_operations(text, 10) == []


@on_two_servers_too
def test_no_more_are_told_than_asked_for(stored):
    assert stored.find_ids("0190a0", limit=2) == list(IDS[:2])
    assert stored.find_ids("abcdef", namespace="ours", limit=1) == [IDS[0]]


@on_two_servers_too
def test_a_whole_id_is_found_however_many_begin_like_it(stored):
    rows = [row for _, row in stored.transfer.read("ours", "memory", None, 100)][:5]
    more = [{**row, "id": f"m1{n}", "keys": []} for n, row in enumerate(rows)]
    stored.transfer.write("ours", "memory", more, len(IDS))
    assert stored.find_ids("m1", limit=3) == ["m1"]
    assert stored.find_ids("m10", limit=3) == ["m10"]


@on_two_servers_too
def test_operations_are_found_in_all_namespaces(opening, raw_store):
    memory = opening()
    for place in ("a", "b"):
        memory.remember("one", namespace=place)
    for operation in memory.history():
        identity = operation.id
        for text in (identity, identity.upper(), short_id(identity), short_id(identity)[:6].upper()):
            assert raw_store.find_operations(text, 5) == [identity]
    assert len(raw_store.find_operations(identity[:9], 5)) == 2
    assert len(raw_store.find_operations(identity[:9], 1)) == 1
    assert raw_store.find_ids(memory.history()[0].id, limit=5) == []


@on_two_servers_too
def test_a_short_form_stands_for_its_memory_and_one_that_fits_several_for_none(path, stored):
    stored.close()
    with opened(path) as memory:
        assert memory.resolve_id("123456") == IDS[2]
        assert memory.resolve_id("12345") == "12345"  # too short to mean another one
        assert memory.get("12345") is None
        assert memory.resolve_id("m1") == "m1"
        with pytest.raises(InvalidInput, match="matches several"):
            memory.resolve_id("abcdef")
        operation = memory.history()[0].id
        assert memory.resolve_id(short_id(operation), "operation") == operation
