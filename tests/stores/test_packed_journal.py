"""A file of schema 7, written by the version that had it, says the same with its journal packed."""

from __future__ import annotations

import json
import re
import signal
from contextlib import closing
from datetime import datetime
from pathlib import Path

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import Clock, budget, on_a_file, opened, python
from perdure.stores.packing import zstd
from perdure.stores.sqlite.lines import line_part, packed_after, packed_id, packed_line

POLICY = {"preset": "facts", "embedder": {"model": "none"}}
PAGE = 4096  # bytes of a file
OLDER = Path(__file__).parent / "older"
INSTANT = re.compile(r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(?: UTC|\+00:00)")


def in_one_form(value):
    """What that version said, with instants in the form that results have now."""
    if isinstance(value, dict):
        return {key: in_one_form(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [in_one_form(inner) for inner in value]
    if isinstance(value, str) and (found := INSTANT.fullmatch(value)):
        at = datetime.fromisoformat(f"{found[1]}T{found[2]}")
        return f"{at.isoformat(timespec='milliseconds')}Z"
    return value


TOLD = in_one_form(json.loads(zstd.decompress((OLDER / "schema_7.json.zst").read_bytes())))
"""What the version that wrote the file said of it."""


@pytest.fixture
def old(tmp_path):
    path = tmp_path / "old.db"
    path.write_bytes(zstd.decompress((OLDER / "schema_7.db.zst").read_bytes()))
    return path


@pytest.fixture
def clock():
    return Clock(datetime.fromisoformat(TOLD["clock"]))


def plain(values):
    return json.loads(json.dumps([v.to_dict() for v in values], default=str))


def test_it_says_the_same_as_before(old, clock):
    with opened(old, POLICY, clock) as memory:
        assert {i: plain(memory.history(i)) for i in TOLD["history"]} == TOLD["history"]
        assert plain([memory.get(m["id"]) for m in TOLD["memories"]]) == TOLD["memories"]
        assert plain(memory.history(limit=1000, notes=True)) == TOLD["operations"]
        assert sorted(f.value for f in memory.facts()) == TOLD["facts"]
        assert [h.memory.id for h in memory.recall("harbour port", touch=False).hits] == TOLD["recall"]
        assert memory.check(full=True) == []


def test_it_gets_smaller_and_goes_on(old, clock):
    before = old.stat().st_size
    with opened(old, POLICY, clock) as memory:
        packed = memory.compact(dry_run=False)
        assert packed.bytes_after < packed.bytes_before
        kept = memory.remember("Harbour server: port 8080, Tuesday deploys", idempotency_key="k-1")
        assert (kept.changed, kept.memory.content) == (False, "Harbour server: port 8080, Tuesday deploys")
        late = memory.remember("a thought of today")
        memory.undo(late.operation)
        gone = TOLD["memories"][1]["id"]
        word = memory.erase([gone], reason="asked to").confirm
        memory.erase([gone], reason="asked to", dry_run=False, confirm=word)
        assert memory.check(full=True) == []
    assert old.stat().st_size <= before + 2 * PAGE  # with what was added, and two indexes that the old file had not


@pytest.mark.parametrize(("function", "calls"), [("packed_line", 1), ("packed_line", 17), ("packed_key", 2)])
def test_a_migration_that_is_killed_changes_nothing(old, clock, function, calls):
    done = python(
        """
import os, sys
from perdure.stores.sqlite import lines
import perdure
real, left = getattr(lines, sys.argv[3]), [int(sys.argv[2])]
def killing(*line):
    left[0] -= 1
    if not left[0]:
        os.kill(os.getpid(), 9)
    return real(*line)
setattr(lines, sys.argv[3], killing)
perdure.open(sys.argv[1], policy={"embedder": {"model": "none"}}).list()
""",
        old,
        calls,
        function,
    )
    done.communicate(timeout=60)
    assert done.returncode == -signal.SIGKILL
    with closing(apsw.Connection(str(old))) as connection:
        assert connection.pragma("user_version") == 7
    with opened(old, POLICY, clock) as memory:
        assert plain(memory.history(limit=1000, notes=True)) == TOLD["operations"]
        assert memory.check(full=True) == []


def test_lines_without_an_operation_are_still_named(old, clock):
    with closing(apsw.Connection(str(old))) as connection:
        connection.execute("DELETE FROM operation WHERE operation = 'update'")
        connection.execute("UPDATE journal SET after = x'7bff' WHERE operation = (SELECT min(operation) FROM journal)")
    with opened(old, POLICY, clock) as memory:
        faults = memory.check(full=True)
        assert any("journal lines without an operation" in fault for fault in faults)
        assert any("not as it was written" in fault for fault in faults)
        memory.remember("another one")


@on_a_file
def test_what_is_lost_is_found_among_many_and_beside_ids_that_are_none(path, clock):
    with opened(path, POLICY, clock) as memory:
        kept = memory.remember_many([f"note {i} about zebras" for i in range(450)])
        for name in ("A", "s0", "0189", "ffffffff-x", "über"):
            memory.ingest([{"role": "user", "content": f"a word of {name}, and of zebras"}], session=name)
        assert memory.check(full=True) == []
    lost = {kept[i].id for i in (0, 199, 200, 201, 333, 449)}
    with closing(apsw.Connection(str(path))) as connection:
        for identity in lost:
            connection.execute("DELETE FROM memory WHERE id = ?", (identity,))
    with opened(path, POLICY, clock) as memory:
        faults = memory.check(full=True)
        assert lost == {i for i in lost if any(i in f and "it is missing" in f for f in faults)}


def test_a_damaged_line_is_named_and_nothing_breaks(old, clock):
    with opened(old, POLICY, clock) as memory:
        memory.list()
    with closing(apsw.Connection(str(old))) as connection:
        connection.execute(
            "UPDATE journal SET data = CAST(substr(data, 1, length(data) / 2) AS BLOB) WHERE position = 0"
        )
    with opened(old, POLICY, clock) as memory:
        assert any("not as it was written" in fault for fault in memory.check(full=True))
        assert memory.repair().left
        assert memory.recall("harbour").hits


@given(
    st.one_of(st.uuids().map(str), st.text("0123456789abcdef-hgA~z", max_size=40)),
    st.integers(0, 36),
    st.uuids(),
)
@settings(max_examples=budget(75, 300), deadline=None, derandomize=True)
def test_packed_ids_are_paged_in_the_order_of_their_texts(start, length, identity):
    after = start[:length]
    assert (packed_id(str(identity)) >= packed_after(after)) == (str(identity) > after)


@pytest.mark.parametrize("importance", [0.10000001, 0.12345678, 0.16777215, 0.16777216, 0.99999999, 0.1234567891])
def test_every_number_of_a_line_is_given_back(opening, importance):
    memory = opening()
    kept = memory.remember("The harbour has nine ships.", importance=importance)
    memory.reinforce([kept.id], boost_amount=0.00000012)
    assert memory.check(full=True) == []
    undone = memory.undo(memory.history()[0].id)
    assert undone.changed
    assert memory.get(kept.id).importance == pytest.approx(importance, abs=1e-9)


@on_a_file
def test_what_the_engine_keeps_for_itself_is_packed_and_words_are_not(opening, path):
    memory = opening(POLICY)
    for day in range(3):
        said = [f"Lunch number {n} of day {day} was with Rita, who lives in Oslo." for n in range(8)]
        memory.ingest([{"role": "user", "content": text} for text in said], session=f"day {day}")
    memory.upkeep("evening")
    with closing(apsw.Connection(str(path))) as connection:
        lines = connection.execute("SELECT data FROM journal WHERE target = 'document'").fetchall()
    plain = [bytes(data) for (data,) in lines if bytes(data[:1]) == b"\x00"]
    assert len(plain) < len(lines)
    assert plain
    assert not [line for line in plain if b'{"shelf":"learned"' in line or b'{"shelf":"upkeep"' in line]
    assert memory.check(full=True) == []
    for done in memory.history(limit=100):
        if done.operation in {"learn", "ingest", "upkeep"}:
            memory.undo(done.id)
    assert memory.check(full=True) == []
    assert memory.facts() == []


numbers = st.one_of(st.integers(0, 10**19), st.floats(0, 1, allow_nan=False), st.integers(10**7, 2**25))
texts = st.one_of(
    st.uuids().map(str),
    st.binary(min_size=12, max_size=12).map(bytes.hex),
    st.text("0123456789abcdef-.:", max_size=50),
    st.text(max_size=10),
)
rows = st.one_of(st.none(), st.dictionaries(st.sampled_from("abcd"), st.one_of(numbers, texts), max_size=4))


@given(
    st.uuids().map(str),
    rows,
    rows,
    st.sampled_from(["counted 1 access", "stored as note", "said by a person", None]),
    st.sampled_from([None, "learned", "upkeep", "fact"]),
)
@settings(max_examples=budget(125, 500), deadline=None, derandomize=True)
def test_a_line_is_given_back_to_the_letter(operation, before, after, because, kept):
    shelf = {} if kept is None else {"shelf": kept, "name": "", "data": {"recent": [operation]}}
    whole = [None if row is None else {**shelf, **row, "op": operation} for row in (before, after)]
    sides = [None if row is None else json.dumps(row, separators=(",", ":")) for row in whole]
    line = packed_line(operation, *sides, because)
    assert [line_part(line, part, operation) for part in range(3)] == [*sides, because or ""]
