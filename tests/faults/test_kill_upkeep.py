"""kill -9 while a store is repaired, embedded, backed up or exported: nothing is lost, no half target is a store."""

from __future__ import annotations

import random
import shutil
import time

import pytest

import perdure
from conftest import WORDS_ONLY, budget, opened
from forks import Mother
from perdure.compose import current_instant, import_lines
from perdure.interfaces.files.export_files import export_reader
from perdure.records.errors import PerdureError
from perdure.records.policy import Policy

ROUNDS = budget(2, 12)
MEMORIES = 300
WORKER = f"""
import os, sys
import apsw
import perdure
from perdure.interfaces.cli.app import app

kind, path, target = sys.argv[1:]
os.write(1, b"ready\\n")
while True:
    if kind == "repair":
        edited = apsw.Connection(path)
        edited.execute("UPDATE memory SET importance = 0.11 WHERE row % 3 = 0")
        edited.execute("DELETE FROM tag WHERE row % 5 = 0")
        edited.close()
        with perdure.open(path, {WORDS_ONLY!r}) as memory:
            memory.repair(dry_run=False)
    elif kind == "reembed":
        with perdure.open(path, embedder=lambda texts: [[1.0, float(len(text))] for text in texts]) as memory:
            memory.reembed()
            os.write(1, b"embedded\\n")
            sys.stdin.read()
    else:
        app(["--store", path, kind, target, "--force", "--json"], standalone_mode=False)
"""
LONGEST = {"repair": 0.3, "reembed": 0.1, "backup": 0.2, "export": 0.2}
"""Seconds after which a worker is killed at the latest: about what its work takes."""


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    path = tmp_path_factory.mktemp("filled") / "agent.db"
    with opened(path) as memory:
        memory.remember_many(
            [{"content": f"note {n} about the harbour", "tags": [f"t{n % 7}"]} for n in range(MEMORIES)]
        )
        memory.archive(memory.list(limit=1)[0].id, "old")
    return path


def texts(path):
    """What a store that is sound holds."""
    with opened(path) as memory:
        assert memory.check(full=True) == []
        rows = [line for line in memory.export() if line.get("part") == "memory"]
    return sorted(row["text"] for row in rows)


def imported(target):
    into = target.with_name("imported.db")
    into.unlink(missing_ok=True)
    import_lines(export_reader(str(target), partial=False), into, Policy(), current_instant(), partial=False)
    return into


def is_store(path):
    try:
        perdure.open(path, WORDS_ONLY, create=False).close()
    except PerdureError:
        return False
    return True


@pytest.mark.parametrize("kind", LONGEST)
def test_a_kill_leaves_the_store_and_what_it_writes_whole(filled, tmp_path, kind):
    """A backup is whole while it is checked, before it is named; what else is left under another name is no store."""
    chance = random.Random(kind)  # noqa: S311  # repeatable on purpose
    path, target = tmp_path / "agent.db", tmp_path / ("copy.db" if kind == "backup" else "copy.jsonl")
    expected = texts(filled)
    with Mother(WORKER, "import perdure.interfaces.cli.app") as mother:
        for _ in range(ROUNDS):
            for file in tmp_path.iterdir():
                file.unlink()
            shutil.copyfile(filled, path)
            mother.bear(kind, path, target)
            mother.hear("ready")
            time.sleep(chance.random() * LONGEST[kind])
            mother.kill()
            if kind == "repair":
                with opened(path) as memory:
                    memory.repair(dry_run=False)
            assert texts(path) == expected
            if target.exists():
                assert texts(target if kind == "backup" else imported(target)) == expected
            for left in {*tmp_path.glob("*copy*")} - {target}:
                assert not is_store(left) or (kind == "backup" and texts(left) == expected)
