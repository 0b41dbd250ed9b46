"""Maintenance runs in a process beside the service, and ends with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

import perdure
from perdure.interfaces.hooks import background
from perdure.interfaces.http import maintaining
from perdure.records.policy import Policy
from service.test_serve import ask

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals")
WORDS = {"embedder": {"model": "none"}}
SERVICE = """
import sys
from perdure.interfaces.hooks import background
from perdure.interfaces.http.command import main
background.FIRST_SECONDS = 0.1
main(sys.argv[1:])
"""


@contextmanager
def served(folder, *words):
    """Run a service whose maintenance begins at once, and give its process and its port."""
    (folder / "perdure.toml").write_text('[embedder]\nmodel = "none"\n')
    command = [sys.executable, "-c", SERVICE, "--store", str(folder / "a.db"), "--port", "0"]
    command += ["--policy", str(folder / "perdure.toml"), *words]
    environment = {**os.environ, "PYTHONWARNINGS": "error"}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=folder, env=environment) as process:
        try:
            yield process, int(process.stderr.readline().rpartition(":")[2].partition("/")[0])
        finally:
            process.kill()


def beside(process):
    """Return the processes that a process has started and that run."""
    rows = subprocess.run(["ps", "-axo", "pid=,ppid=,stat="], capture_output=True, text=True, check=True).stdout
    found = (row.split() for row in rows.splitlines())
    return [int(pid) for pid, parent, state in found if int(parent) == process.pid and not state.startswith("Z")]


def runs(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def waited(until, seconds=60):
    deadline = time.monotonic() + seconds
    while not (found := until()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return found


def outcomes(folder):
    with perdure.open(folder / "a.db", WORDS) as memory:
        return {task: told["outcome"] for task, told in memory.upkeep_state().items()}


@pytest.fixture
def kept(tmp_path):
    with perdure.open(tmp_path / "a.db", WORDS) as memory:
        memory.remember("Deploys happen on Tuesdays.")
    return tmp_path


def test_it_runs_in_another_process_and_ends_in_order_with_the_service(kept):
    with served(kept) as (process, port):
        assert waited(lambda: outcomes(kept).get("report") == "done")
        assert len(found := beside(process)) == 1
        assert ask(port, "POST", "/v1/recall", {"query": "When do we deploy?"})[0] == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
        assert not runs(found[0])
        assert "Error" not in process.stderr.read()
    assert not (kept / "a.db-wal").exists()  # the last connection was closed in order


def test_it_ends_when_the_service_is_killed(kept):
    with served(kept) as (process, _):
        assert waited(lambda: beside(process))
        found = beside(process)
        process.kill()
        process.wait()
        assert waited(lambda: not runs(found[0]))


def test_a_killed_one_is_replaced(kept, monkeypatch):
    monkeypatch.setattr(background, "FIRST_SECONDS", 0.0)
    monkeypatch.setattr(background, "PAUSE_SECONDS", 0.1)
    upkeep = maintaining.maintenance_of(kept / "a.db", WORDS, log=False)
    with perdure.open(kept / "a.db", WORDS) as memory:
        upkeep.start(memory)
        first = waited(lambda: upkeep._process)
        first.kill()
        second = waited(lambda: upkeep._process is not first and upkeep._process)
        assert waited(lambda: outcomes(kept).get("report") == "done")
        upkeep.stop()
        assert second.poll() == 0


@pytest.mark.parametrize(
    ("store", "policy"), [(":memory:", WORDS), ("sqlite:///:memory:", None), ("a.db", Policy())], ids=str
)
def test_what_no_other_process_can_open_is_maintained_by_a_thread(store, policy):
    assert isinstance(maintaining.maintenance_of(store, policy, log=False), background.BackgroundMaintenance)


@pytest.mark.parametrize("words", [("--no-maintenance",), ("--policy", "{folder}/off.toml")])
def test_none_runs_where_it_is_not_wanted(kept, words):
    (kept / "off.toml").write_text('[embedder]\nmodel = "none"\n[upkeep]\nbackground = false\n')
    with served(kept, *(word.format(folder=kept) for word in words)) as (process, port):
        assert ask(port, "GET", "/healthz")[0] == 200
        time.sleep(1.0)
        assert beside(process) == []
    assert outcomes(kept) == {}
