"""backup and restore-backup: beside processes that write, killed in the middle, and what they refuse."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

import pytest
from typer.testing import CliRunner

from conftest import ENV, budget, opened, tables
from perdure.interfaces.cli import app as cli
from starts import forked_python

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and file locks of POSIX")

WRITER = """
import os, sys, perdure
memory = perdure.open(sys.argv[1], policy={"embedder": {"model": "none"}})
number = 0
while True:
    memory.remember_many([f"written {number} {i}" for i in range(5)])
    number += 1
    os.write(1, b"x\\n")
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "policy.toml").write_text('[embedder]\nmodel = "none"\n')
    for name, value in {"PERDURE_STORE": "a.db", "PERDURE_POLICY": "policy.toml"}.items():
        monkeypatch.setenv(name, str(tmp_path / value))
    monkeypatch.chdir(tmp_path)
    with opened(tmp_path / "a.db") as memory:
        memory.remember_many([f"note {i}" for i in range(5)])
    return tmp_path


def command(*words):
    return [sys.executable, "-m", "perdure", *map(str, words)], {**os.environ, "PYTHONPATH": ENV["PYTHONPATH"]}


def told(*words, code=0):
    done = CliRunner().invoke(cli.app, [*words, "--json"], prog_name="perdure")
    assert (done.exit_code, done.stderr) == (code, ""), done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def writing(folder):
    """Another process that writes without end; it has begun."""
    child = forked_python(WRITER, folder / "a.db")
    assert child.stdout.readline() == "x\n"
    yield child
    child.kill()
    child.communicate()


def test_a_backup_while_another_process_writes(folder, writing):
    counts = []
    for i in range(4):
        done = told("backup", f"safe{i}.db")
        assert {**done, "seconds": 0, "bytes": 0, "operations": 0} == {
            "store": str(folder / "a.db"),
            "file": f"safe{i}.db",
            "memories": done["memories"],
            "operations": 0,
            "bytes": 0,
            "seconds": 0,
        }
        counts.append(done["memories"])
        assert done["memories"] % 5 == 0
        assert told("check", "--store", f"safe{i}.db")["sound"] is True
    assert counts == sorted(counts)
    assert len(set(counts)) > 1, "on a busy machine nothing may have been written between two of them"
    assert writing.poll() is None


def begun(folder):
    """Whether a backup has written something: a copy that has got its name meanwhile counts too."""
    with suppress(FileNotFoundError):
        return any(path.stat().st_size for path in folder.glob(".safe.db.*.part"))
    return True


def test_a_killed_backup_leaves_no_file_of_that_name(folder):
    with opened(folder / "a.db") as memory:
        memory.remember_many([f"a long text, number {i}, {'word ' * 800}" for i in range(1000)])
    line, environment = command("backup", "safe.db")
    killed, step = 0, 0.06
    for delay in range(budget(4, 6)):
        child = subprocess.Popen(line, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        # Killed at different moments, from the first byte of the copy on.
        while child.poll() is None and not begun(folder):
            time.sleep(0.001)
        time.sleep(delay * step)
        child.send_signal(signal.SIGKILL)
        child.wait()
        leftovers = list(folder.glob(".safe.db.*"))
        killed += bool(leftovers)
        for path in leftovers:
            path.unlink()
        if (folder / "safe.db").exists():  # the last moments: whole, or not there
            assert len(tables(folder / "safe.db")["memory"]) == 1005
            break
    assert killed >= 2
    assert told("backup", "again.db")["memories"] == 1005


def test_restoring_brings_the_moment_back_and_keeps_the_other(folder):
    told("backup", "safe.db")
    then = tables(folder / "a.db")
    told("remember", "a mistake")
    refused = told("restore-backup", "safe.db", code=1)
    assert (refused["error"], "--force" in refused["remedy"]) == ("InvalidInput", True)
    done = told("restore-backup", "safe.db", "--force")
    assert done["kept"] == str(folder / "a.db.before-restore")
    assert tables(folder / "a.db") == then
    assert len(tables(folder / "a.db.before-restore")["memory"]) == 6


def test_a_store_in_use_by_another_process_is_not_replaced(folder, writing):
    told("backup", "safe.db")
    assert told("restore-backup", "safe.db", "--force", code=1)["error"] == "StoreBusy"
    assert writing.stdout.readline() == "x\n"
    assert told("check")["sound"] is True


def test_a_damaged_backup_and_a_backup_that_is_there_are_refused(folder):
    told("backup", "safe.db")
    assert told("backup", "safe.db", code=1)["error"] == "InvalidInput"
    assert told("backup", "safe.db", "--force")["memories"] == 5
    data = bytearray((folder / "safe.db").read_bytes())
    data[8192:40960] = b"\xa5" * 32768
    (folder / "safe.db").write_bytes(data)
    refused = told("restore-backup", "safe.db", "--store", "new.db", code=1)
    assert (refused["error"], refused["fault"]) == ("StoreDamaged", "store")
    assert not (folder / "new.db").exists()


def test_one_namespace_is_no_backup(folder):
    told("remember", "ours", "-n", "ours")
    for words in (
        ("backup", "ours.db", "-n", "ours"),
        ("restore-backup", "ours.db", "-n", "ours", "--store", "new.db"),
    ):
        refused = told(*words, code=1)
        assert (refused["error"], "all namespaces, not only of 'ours'" in refused["message"]) == ("InvalidInput", True)
    assert not [path for path in folder.iterdir() if path.name.startswith(("ours.db", "new.db"))]


def test_a_server_that_is_not_there_is_told_without_its_password(folder):
    url = "postgresql://perdure:hunter2@127.0.0.1:1/perdure"
    for words in (("backup", "safe.db"), ("restore-backup", "safe.db")):
        refused = told(*words, "--store", url, code=1)
        assert refused["error"] == "StoreUnavailable"
        assert "hunter2" not in json.dumps(refused)
    assert told("backup", "safe.db", "--store", "gone.db", code=3)["error"] == "NotFound"
    assert not (folder / "gone.db").exists()


def test_what_is_said_to_a_person(folder):
    line, environment = command("backup", "safe.db")
    done = subprocess.run(line, capture_output=True, check=True, timeout=120, env=environment)
    assert done.stdout.decode().startswith("Backed up 5 memories to safe.db in ")
    line, environment = command("restore-backup", "safe.db", "--force")
    done = subprocess.run(line, capture_output=True, check=True, timeout=120, env=environment, cwd=folder)
    assert "Restored 5 memories to " in done.stdout.decode()
    assert "a.db.before-restore" in done.stdout.decode().replace("\n", "")


def test_what_is_refused_leaves_no_store_and_a_missing_backup_is_named_first(folder):
    (folder / "notes.txt").write_text("hello\n")
    before = sorted(p.name for p in folder.iterdir())
    done = CliRunner().invoke(cli.app, ["import", "notes.txt", "--store", "new.db"], prog_name="perdure")
    assert done.exit_code == 1
    assert "is not JSON" in done.stderr
    assert sorted(p.name for p in folder.iterdir()) == before
    done = CliRunner().invoke(cli.app, ["restore-backup", "missing.db", "--store", "a.db"], prog_name="perdure")
    assert "missing.db" in done.stderr
    assert "--force" not in done.stderr
