"""kill -9 while the journal is trimmed and the file written anew: nothing is lost, and the next run goes on."""

from __future__ import annotations

import random
import shutil
import subprocess
import time
from datetime import timedelta

import pytest

from conftest import WORDS_ONLY, budget, finished, opened
from forks import Mother
from perdure.compose import store_at
from starts import forked_python

ROUNDS = budget(2, 15)
DAYS = 100

WORKER = f"""
import os, sys
from datetime import datetime, timedelta
import perdure
now = datetime.fromisoformat(sys.argv[2])
memory = perdure.open(sys.argv[1], policy={WORDS_ONLY!r}, clock=lambda: now)
os.write(1, b"ready\\n")
memory.upkeep("worker") if sys.argv[3] == "trim" else None
while True:
    memory.compact(dry_run=False)
    now += timedelta(days=1)
    memory.upkeep("worker")
"""


@pytest.fixture
def lived(tmp_path, clock):
    """A file with some 2,000 lines in its journal, all but a few of them older than the horizon."""
    path = tmp_path / "lived.db"
    with opened(path, WORDS_ONLY, clock) as memory:
        for page in range(8):
            kept = memory.remember_many([f"note {page} {n} about the harbour and its {n} ships" for n in range(80)])
            memory.reinforce([m.id for m in kept], boost_amount=0.05)
            memory.weaken([m.id for m in kept], 0.1)
        clock.passes(days=DAYS)
        memory.remember("the last one")
    return path


def stored(path):
    """All that is stored of memories besides what sweeps move."""
    with store_at(path) as store:
        lines = [row for _, row in store.transfer.read("default", "memory", None, 100_000)]
        return {row["id"]: (row["text"], row["importance"], row["created_ms"]) for row in lines}


@pytest.mark.parametrize("what", ["trim", "compact"])
def test_kills_lose_nothing(lived, clock, what):
    expected, chance = stored(lived), random.Random(what)  # noqa: S311  # repeatable on purpose
    path = lived.with_name("agent.db")
    with Mother(WORKER) as mother:
        for number in range(ROUNDS):
            if number % 3 == 0:  # else it goes on with what the last one left
                for end in ("", "-wal", "-shm"):
                    path.with_name(path.name + end).unlink(missing_ok=True)
                shutil.copyfile(lived, path)
            mother.bear(path, (clock.now + timedelta(days=number % 3)).isoformat(), what)
            mother.hear("ready")
            time.sleep(chance.random() * (0.6 if what == "trim" else 0.25))
            mother.kill()
            assert stored(path) == expected
            with opened(path, WORDS_ONLY, clock) as memory:
                assert memory.check(full=True) == []
    clock.passes(days=10)
    with opened(path, WORDS_ONLY, clock) as memory:
        memory.upkeep("worker")
        memory.compact(dry_run=False)
        assert any(entry.trimmed for entry in memory.history(next(iter(expected))))
        assert memory.check(full=True) == []
    assert stored(path).keys() == expected.keys()


BESIDE = """
import sys, perdure
memory = perdure.open(sys.argv[1], policy={"embedder": {"model": "none"}})
print("ready", flush=True)
sys.stdin.readline()
for i in range(60):
    memory.remember(f"zebra {sys.argv[2]} {i}")
    memory.recall("zebra harbour", limit=3)
print(len(memory.list(limit=1000)), flush=True)
memory.close()
"""


def test_two_processes_work_while_a_third_trims_and_compacts(lived, clock):
    children = [forked_python(BESIDE, lived, name, stdin=subprocess.PIPE) for name in ("ann", "ben")]
    for child in children:
        assert child.stdout.readline() == "ready\n", child.communicate()[1]
    for child in children:
        child.stdin.write("go\n")
        child.stdin.flush()
    with opened(lived, WORDS_ONLY, clock) as memory:
        rounds = 0
        while any(child.poll() is None for child in children) and rounds < 30:
            clock.passes(days=2)
            assert memory.upkeep("worker").failed == {}
            memory.compact(dry_run=False)
            rounds += 1
        for child in children:
            finished(child)
        assert rounds, "they were done before the first look"
        assert memory.check(full=True) == []
    assert sum("zebra" in text for text, _, _ in stored(lived).values()) == 120
