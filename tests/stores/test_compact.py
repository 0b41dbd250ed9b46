"""Compacting gives pages back and changes nothing; where others are in the way it says so and does nothing."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections import namedtuple
from contextlib import closing

import apsw
import numpy as np
import pytest

from conftest import WORDS_ONLY, Clock, as_operator, on_a_file, opened, servers, weekly_on_a_server
from perdure.compose import is_server
from perdure.records.errors import DeadlineExceeded, DiskFull, StoreBusy
from starts import forked_python

POLICY = {**WORDS_ONLY, "journal": {"horizon_days": 30}}


def fill(memory, clock):
    """Store and change so much that trimming leaves gaps of more than a megabyte: the journal has each label twice."""
    chance = np.random.default_rng(1)
    for _ in range(4):
        labels = [{"drawing": chance.bytes(4000).hex()} for _ in range(120)]
        memory.remember_many(
            {"content": f"note {n} about the harbour and its {n} ships", "metadata": drawn}
            for n, drawn in enumerate(labels)
        )
    clock.passes(days=40)


def fill_and_trim(path, clock):
    with opened(path, {**WORDS_ONLY, "upkeep": {"compact_share": 1}}, clock) as memory:
        fill(memory, clock)
        assert memory.upkeep("worker").failed == {}
        clock.passes(days=1)


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """A file that is copied for each test, and the time in it."""
    path, clock = tmp_path_factory.mktemp("full") / "agent.db", Clock()
    fill_and_trim(path, clock)
    return path, clock.now


@pytest.fixture
def full(path, clock, store, original):
    if store == "sqlite":
        file, clock.now = original
        shutil.copyfile(file, path)
    else:
        fill_and_trim(path, clock)
    return path


def runs(memory, task):
    return [run for run in memory.upkeep("worker").runs if run.task == task]


@weekly_on_a_server
def test_a_preview_says_what_it_would_give_and_applying_gives_it(full, clock):
    with opened(full, {**POLICY, "upkeep": {"compact_share": 1}}, clock) as memory:
        runs(memory, "trim")
        known = [(m.id, m.content, m.state) for m in memory.list(limit=1000)]
        shown = memory.compact()
        assert shown.dry_run
        assert memory.compact().bytes_before == shown.bytes_before
        done = memory.compact(dry_run=False)
        assert not done.dry_run
        if is_server(str(full)):
            assert any("VACUUM FULL" in note for note in done.notes)
        else:
            assert done.notes == ()
            assert done.bytes_before == shown.bytes_before
            assert full.stat().st_size == done.bytes_after < 0.8 * done.bytes_before
            assert abs(done.bytes_after - shown.bytes_after) < 0.1 * done.bytes_before
        assert [(m.id, m.content, m.state) for m in memory.list(limit=1000)] == known
        assert memory.recall("harbour ships").hits
        assert memory.check(full=True) == []


@as_operator
@pytest.mark.parametrize("store", ["postgres"], indirect=True)
def test_a_server_whose_tables_are_locked_is_waited_for_until_the_call_must_end(memory, path):
    memory.remember("stored before")
    with servers().reader(path) as operator, operator.transaction():
        operator.execute("LOCK TABLE content IN SHARE MODE")  # as one who builds an index
        began = time.monotonic()
        with pytest.raises(DeadlineExceeded):
            memory.within(0.4).compact(dry_run=False)
        assert time.monotonic() - began < 3


@on_a_file
def test_maintenance_compacts_a_small_file_where_it_pays_and_no_other(full, clock):
    before = full.stat().st_size
    with opened(full, {**POLICY, "upkeep": {"compact_mb": 0}}, clock) as memory:
        (run,) = runs(memory, "compact")
        assert "perdure compact --apply" in run.note
        assert full.stat().st_size >= before
    clock.passes(days=2)
    with opened(full, POLICY, clock) as memory:
        (run,) = runs(memory, "compact")
        assert "became" in run.note
    clock.passes(days=2)
    with opened(full, POLICY, clock) as memory:
        assert full.stat().st_size < 0.8 * before
        (run,) = runs(memory, "compact")
        assert "would not pay" in run.note
        assert memory.check(full=True) == []


READER = """
import sys, apsw
connection = apsw.Connection(sys.argv[1])
connection.execute("BEGIN")
print(connection.execute("SELECT count(*) FROM memory").get, flush=True)
sys.stdin.readline()
print(connection.execute("SELECT count(*) FROM memory").get, flush=True)
"""


@on_a_file
def test_a_reader_goes_on_reading_what_it_saw(full, clock):
    child = forked_python(READER, full, stdin=subprocess.PIPE)
    seen = child.stdout.readline()
    with opened(full, POLICY, clock) as memory:
        done = memory.compact(dry_run=False)
        assert any("gets shorter when it has ended" in note for note in done.notes)
        memory.remember("stored while the other one reads")
    out, _ = child.communicate("\n")
    assert out == seen
    with opened(full, POLICY, clock) as memory:
        assert memory.check(full=True) == []


@on_a_file
def test_a_writer_is_not_disturbed(full, clock, monkeypatch):
    monkeypatch.setattr("perdure.stores.sqlite.compacting._BUSY_MS", 50)
    with opened(full, POLICY, clock) as memory, closing(apsw.Connection(str(full))) as other:
        other.execute("BEGIN IMMEDIATE")
        before = full.read_bytes()
        with pytest.raises(StoreBusy, match="Another process was writing"):
            memory.compact(dry_run=False)
        assert full.read_bytes() == before
        other.execute("ROLLBACK")
        memory.compact(dry_run=False)
        assert memory.check(full=True) == []


@on_a_file
def test_without_room_nothing_is_done(full, clock, monkeypatch):
    usage = namedtuple("usage", "total used free")  # noqa: PYI024  # as shutil's
    with opened(full, POLICY, clock) as memory:
        before = full.read_bytes()
        monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(10**9, 10**9, 10**6))
        with pytest.raises(DiskFull, match="MB free in"):
            memory.compact(dry_run=False)
        assert full.read_bytes() == before
