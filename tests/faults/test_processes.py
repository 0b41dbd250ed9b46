"""Several processes on one file at once."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from conftest import HARSH, Clock, HashEmbedder, budget, finished, opened, tables, weekly
from perdure.compose import store_at
from perdure.records.errors import ConflictError
from starts import forked_python

HERE = str(Path(__file__).parents[1])

WORKER = """
import sys, json
sys.path.insert(0, sys.argv[3])
from conftest import HashEmbedder, opened
path, name = sys.argv[1:3]
memory = opened(path, embedder=HashEmbedder(32) if sys.argv[4] == "meaning" else None)
print("ready", flush=True)
sys.stdin.readline()
ids, hits = [], 0
for i in range(int(sys.argv[5])):
    ids.append(memory.remember(f"zebra {name} number {i}", session=name).id)
    if i % 5 < 2:
        hits += len(memory.recall(f"zebra {i}", limit=4, inside=name).hits)
memory.close()
print(json.dumps([ids, hits]))
"""


def started(code, *arguments):
    import subprocess  # only for the pipe

    return forked_python(code, *arguments, stdin=subprocess.PIPE)


def together(children):
    """Let all of them begin at once."""
    for child in children:
        assert child.stdout.readline() == "ready\n", child.communicate()[1]
    for child in children:
        child.stdin.write("go\n")
        child.stdin.flush()


@pytest.mark.parametrize(("kind", "writes"), [pytest.param("words", 500, marks=weekly), ("meaning", budget(15, 150))])
def test_four_processes_lose_nothing_and_count_exactly(path, kind, writes):
    import json  # as the workers speak

    children = [started(WORKER, path, f"w{n}", HERE, kind, writes) for n in range(4)]
    together(children)
    told = [json.loads(finished(child)) for child in children]
    memory = opened(path, embedder=HashEmbedder(32) if kind == "meaning" else None)
    ids = [i for one, _ in told for i in one]
    assert len(set(ids)) == 4 * writes
    with store_at(path) as store:
        records = store.get("default", ids)
    assert len(records) == 4 * writes
    seen = [m for n in range(4) for m in memory.list(limit=1000, inside=f"w{n}")]  # each sees its own
    assert sorted(m.id for m in seen) == sorted(ids)
    total = sum(m.access_count for m in seen)
    assert total == sum(hits for _, hits in told) > 2 * writes
    turns = sorted((r.content.session, r.content.turn) for r in records)
    assert turns == sorted((f"w{n}", t) for n in range(4) for t in range(writes))
    assert memory.check() == []
    memory.sweep()
    assert memory.check() == []
    memory.close()


SWEEPER = """
import sys, json
sys.path.insert(0, sys.argv[2])
from conftest import Clock, opened, START
from datetime import timedelta
memory = opened(sys.argv[1], clock=Clock(START + timedelta(days=40)))
print("ready", flush=True)
sys.stdin.readline()
report = memory.sweep()
memory.close()
print(json.dumps([[m.id + m.move for m in report.moved], report.counted]))
"""


def test_two_sweeps_at_once_double_nothing(path):
    import json

    clock = Clock()
    memory = opened(path, clock=clock)
    memory.remember_many([f"zebra {i}" for i in range(600)])
    clock.passes(hours=1)
    for i in range(30):
        clock.passes(seconds=1)
        memory.recall(f"zebra {i}", limit=50)
    waiting = sum(row[3] for row in tables(path)["access"])
    memory.close()
    children = [started(SWEEPER, path, HERE) for _ in range(3)]
    together(children)
    told = [json.loads(finished(child)) for child in children]
    moves = [move for one, _ in told for move in one]
    assert len(moves) == len(set(moves))
    assert len({move for move in moves if "to cold" in move}) == 600
    assert sum(counted for _, counted in told) == waiting > 0
    memory = opened(path, clock=Clock(clock.now.replace(month=2, day=10)))
    with store_at(path) as store:
        journal = [
            (c.id, c.after["tier"])
            for o in memory.history(limit=100)
            if o.operation == "sweep"
            for c in store.changes("default", o.id)
            if c.target == "memory" and "tier" in c.after
        ]
    assert len(journal) == len(set(journal)) == len(moves)
    assert memory.stats().tiers == {"cold": 600}
    assert sum(m.access_count for m in memory.list(limit=1000)) <= waiting
    assert memory.check() == []
    memory.close()


SAME = """
import sys
sys.path.insert(0, sys.argv[2])
from conftest import opened
memory = opened(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
for i in range(60):
    kept = memory.remember(f"text {i}", idempotency_key=f"key {i}")
    print(kept.id)
print(memory.ingest([{"content": f"said {i}"} for i in range(200)]).skipped >= 0)
memory.close()
"""


@weekly  # beside the same words without a key
def test_processes_that_remember_the_same_under_one_key_get_the_same(path):
    children = [started(SAME, path, HERE) for _ in range(4)]
    together(children)
    told = [finished(child) for child in children]
    assert len(set(told)) == 1
    memory = opened(path)
    assert memory.stats().kinds == {"note": 60, "episode": 200}
    memory.close()


WITHOUT_A_KEY = SAME.replace(', idempotency_key=f"key {i}"', "")


def test_processes_that_remember_the_same_words_get_the_same(path):
    children = [started(WITHOUT_A_KEY, path, HERE) for _ in range(4)]
    together(children)
    told = [finished(child) for child in children]
    assert len(set(told)) == 1
    memory = opened(path)
    assert memory.stats().kinds == {"note": 60, "episode": 200}
    memory.close()


OPENER = """
import sys
sys.path.insert(0, sys.argv[2])
from conftest import opened
import perdure.stores.sqlite.store
print("ready", flush=True)
sys.stdin.readline()
for i in range(16):
    memory = opened(f"{sys.argv[1]}.{i}")
    memory.remember("x", kind="episode")
    memory.close()
"""


def test_processes_may_make_one_store_at_the_same_time(path):
    children = [started(OPENER, path, HERE) for _ in range(4)]
    together(children)
    for child in children:
        finished(child)
    for i in range(0, 16, 4):
        memory = opened(f"{path}.{i}")
        assert memory.stats().memories == 4
        assert memory.check() == []
        memory.close()


def test_one_session_is_numbered_once_though_two_write_to_it(opening):
    """The turn is read before the plan is written: another process may have been faster."""
    memory, other = opening(), opening()
    memory.remember("first", session="s")
    store = memory._context.store
    real = store.apply

    def slow(plan):
        store.apply = real
        other.remember("meanwhile", session="s")
        real(plan)

    store.apply = slow
    memory.remember("second", session="s")
    turns = [r.content.turn for r in store.get("default", [m.id for m in memory.list(inside="s")])]
    assert sorted(turns) == [0, 1, 2]


def test_a_conflict_with_another_process_is_tried_again(opening, path):
    memory, other = opening(), opening()
    kept = memory.remember("zebra")
    store = memory._context.store
    real, calls = store.apply, []

    def slow(plan):
        calls.append(plan)
        if len(calls) < 4:
            (other.pin if len(calls) % 2 else other.unpin)(kept.id)
        real(plan)

    store.apply = slow
    assert memory.archive(kept.id, "test").memory.status == "archived"
    assert len(calls) == 4
    entries = [e.operation for e in memory.history(kept.id)]
    assert sorted(entries) == ["archive", "pin", "pin", "remember", "unpin"]
    calls.clear()

    def never(plan):
        (other.pin if other.get(kept.id, include_archived=True).pinned is False else other.unpin)(kept.id)
        real(plan)

    store.apply = never
    before = memory.get(kept.id, include_archived=True).status
    with pytest.raises(ConflictError) as caught:  # in the end it says so
        memory.restore(kept.id)
    assert caught.value.ids == (kept.id,)
    assert memory.get(kept.id, include_archived=True).status == before


TURNS = budget(10, 20)


def test_forked_children_do_no_harm(path):
    code = f"""
import os, sys
sys.path.insert(0, {HERE!r})
from conftest import opened
memory = opened(sys.argv[1])
first = memory.remember("zebra one")
for how in ("exit", "close", "use", "leave"):
    child = os.fork()
    if not child:
        if how == "close":
            memory.close()
        if how == "use":
            own = opened(sys.argv[1])
            own.remember("zebra of a child", kind="episode")
            own.close()
        if how == "leave":
            os._exit(0)
        sys.exit(0)  # runs what is registered for the end, as any program does
    _, status = os.waitpid(child, 0)
    assert status == 0, (how, status)
    memory.remember(f"zebra after {{how}}")
    assert memory.recall("zebra", limit=1).hits
assert memory.check() == []
memory.close()
memory.close()
"""
    finished(forked_python(code, path))
    memory = opened(path)
    assert memory.stats().memories == 6
    assert sum(m.access_count for m in memory.list()) == 4
    assert memory.check() == []
    memory.close()


def test_eight_threads_on_one_memory(opening, path):
    memory = opening(embedder=HashEmbedder(32), now=None)  # the real clock
    memory.remember_many([f"zebra base {i}" for i in range(50)])
    failures, hits, ids = [], [], []

    def work(n):
        try:
            for i in range(TURNS):
                own = memory.remember(f"zebra thread {n} number {i}", session=f"t{n}").id
                ids.append(own)
                hits.append(len(memory.recall(f"zebra {n} {i}", limit=3, inside=f"t{n}").hits))
                if i % 10 == n:
                    memory.sweep()
                    memory.stats()
                    memory.digest()
                if i % 10 == 9:
                    memory.archive(own, "test")
                    memory.restore(own)
        except BaseException as error:  # noqa: BLE001  # told by the main thread
            failures.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(set(ids)) == 8 * TURNS
    assert len(memory.list(limit=1000)) == 50
    found = [memory.get(i) for i in (*ids, *(m.id for m in memory.list(limit=1000)))]
    assert len(found) == 8 * TURNS + 50
    assert sum(m.access_count for m in found) == sum(hits)
    with store_at(path) as store:
        turns = sorted((r.content.session, r.content.turn) for r in store.get("default", ids))
    assert turns == [(f"t{n}", t) for n in range(8) for t in range(TURNS)]
    assert memory.check() == []


def test_counts_that_could_not_be_written_are_kept_for_later(path):
    """A write that fails at its very end must not lose the accesses that went with it."""
    code = f"""
import resource, sys, apsw
sys.path.insert(0, {HERE!r})
from conftest import opened
from perdure.records.errors import DiskFull
memory = opened(sys.argv[1])
kept = memory.remember("zebra")
other = apsw.Connection(sys.argv[1])
other.execute("BEGIN IMMEDIATE")
assert memory.recall("zebra").hits  # cannot be counted yet
other.execute("ROLLBACK")
other.close()
resource.setrlimit(resource.RLIMIT_FSIZE, (120_000, resource.RLIM_INFINITY))
try:
    memory.remember_many([f"note {{i}} " + "words " * 200 for i in range(400)])
    raise SystemExit("the disk was not full")
except DiskFull:
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
memory.close()
memory = opened(sys.argv[1])
assert memory.get(kept.id).access_count == 1, memory.get(kept.id).access_count
memory.close()
"""
    finished(forked_python(code, path))


def test_a_clock_that_steps_back_ages_nothing_and_breaks_nothing(opening, clock):
    memory = opening(HARSH)
    kept = memory.remember("zebra crossing")
    fresh = memory.get(kept.id)
    clock.passes(days=-400)
    assert memory.get(kept.id).value == fresh.value
    assert memory.get(kept.id).retention == 1.0
    assert memory.sweep().moved == ()
    found = memory.recall("zebra")
    assert found.hits[0].memory.id == kept.id
    assert memory.sweep().counted == 1
    after = memory.get(kept.id)
    assert after.access_count == 1
    assert after.state.anchor_ms >= fresh.state.anchor_ms  # not rejuvenated, not aged
    early = memory.remember("earlier by the clock")
    assert early.memory.created_at < fresh.created_at
    memory.archive(kept.id, "test")
    memory.restore(kept.id)
    memory.pin(early.id)
    operation = memory.history(early.id)[-1].operation_id
    memory.undo(operation)
    memory.stats()
    memory.digest()
    memory.forecast(30)
    assert memory.check() == []
    clock.passes(days=800)
    memory.sweep()
    assert memory.check() == []
