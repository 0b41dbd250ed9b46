"""kill -9 in the middle of writing: all that was acknowledged is there, nothing is there by half."""

from __future__ import annotations

import random
import threading
import time

import pytest

from conftest import budget, opened
from forks import Mother
from perdure.compose import store_at
from starts import forked_python

ROUNDS = budget(12, 200)
SIDE_BY_SIDE = 4
BEGINNINGS = (0, 1, 31, 41, 42)
"""After so many lines of the writer's, each kind of its work begins."""

WRITER = """
import os, sys, perdure
memory = perdure.open(sys.argv[1], policy={"embedder": {"model": "none"}})
os.write(1, b"ready\\n")
number, i = sys.argv[2], 0
while True:
    i += 1
    kind = i % 5
    if kind < 2:
        done = [memory.remember(f"round {number} note {i} zebra", tags=["t"], idempotency_key=f"{number}-{i}")]
    elif kind == 2:
        done = memory.remember_many([f"round {number} batch {i} {j} zebra" for j in range(30)])
    elif kind == 3:
        memory.ingest([{"content": f"round {number} said {i} {j}"} for j in range(10)], session=f"{number}-{i}")
        done = memory.list(session=f"{number}-{i}")
    else:
        done = [memory.archive(done[0].id, "test")]
        os.write(1, f"archived {done[0].id}\\n".encode())
        memory.recall("zebra", limit=3)
        memory.sweep()
        continue
    os.write(1, ("".join(f"kept {m.id}\\n" for m in done)).encode())
"""


def killed(mother, path, number, chance):
    """Start a writer, kill it at some instant of its work, and return what it had acknowledged."""
    mother.bear(path, number)
    mother.hear("ready")
    heard = [mother.hear("") for _ in range(chance.choice(BEGINNINGS))]
    time.sleep(chance.random() * 0.02)
    return [line.split() for line in (*heard, *mother.kill())]


def lane(mother, path, chance):
    """Kill one writer of a file after the other, and look each time whether all is there."""
    kept, archived = set(), set()
    for number in range(ROUNDS // SIDE_BY_SIDE):
        for what, identity in killed(mother, path, number, chance):
            (kept if what == "kept" else archived).add(identity)
        memory = opened(path)
        if number % 7 == 0 or number == ROUNDS // SIDE_BY_SIDE - 1:
            assert memory.check() == []
        with store_at(path) as store:
            found = {r.id: r for r in store.get("default", sorted(kept | archived))}
            for operation in store.operations("default", 3):  # the last ones are there whole
                assert len(store.changes("default", operation.id)) == operation.changes
        assert set(found) == kept | archived
        assert all(found[i].state.status == "archived" for i in archived)
        if kept and number % 10 == 0:
            assert memory.recall("zebra", touch=False).hits
        memory.close()
    assert len(kept) > 2 * ROUNDS


def test_kills_cost_nothing_that_was_acknowledged(tmp_path):
    failures = []

    def guarded(number):
        try:
            with Mother(WRITER) as mother:
                lane(mother, tmp_path / f"{number}.db", random.Random(number))  # noqa: S311  # repeatable on purpose
        except BaseException as error:  # noqa: BLE001  # told by the main thread
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(n,)) for n in range(SIDE_BY_SIDE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


@pytest.mark.parametrize("after", [0.0, 0.02, 0.05])
def test_a_kill_while_the_store_is_made_leaves_nothing_that_cannot_be_opened(path, after):
    code = (
        "import sys, perdure, os; os.write(1, b'x'); perdure.open(sys.argv[1], policy={'embedder': {'model': 'none'}})"
    )
    child = forked_python(code, path)
    child.stdout.read(1)
    time.sleep(after)
    child.kill()
    child.communicate()
    memory = opened(path)
    memory.remember("x")
    assert memory.check() == []
    memory.close()
