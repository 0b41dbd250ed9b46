"""Upkeep from outside: `perdure maintain` as real processes, and the thread beside the MCP server."""

from __future__ import annotations

import configparser
import json
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from typer.testing import CliRunner

import perdure
from conftest import ENV, WORDS_ONLY
from perdure.interfaces.cli import app as cli
from perdure.interfaces.hooks.background import BackgroundMaintenance
from perdure.interfaces.mcp.run import LazyStore
from perdure.records.errors import StoreError, StoreReadOnly
from perdure.records.plan import Change, Plan, Target

LONG_AGO = datetime.now(UTC) - timedelta(days=60)
POLICY = """
[embedder]
model = "none"
[upkeep]
retry_minutes = 0.1
check_days = 0
compact_share = 1
[journal]
horizon_days = 0
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    (tmp_path / "policy.toml").write_text(POLICY)
    monkeypatch.chdir(tmp_path)
    with memory() as opened:
        for name in ("a", "b"):
            opened.remember_many([{"content": f"note {i}", "at": LONG_AGO} for i in range(3)], namespace=name)
    return tmp_path


def memory():
    return perdure.open("agent.db", "policy.toml")


def worker(*words):
    command = [sys.executable, "-m", "perdure", "maintain", "--store", "agent.db", "--policy", "policy.toml", *words]
    return subprocess.Popen(command, env=ENV, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def ended(process, *, code=0):
    out, err = process.communicate(timeout=60)
    assert process.returncode == code, err
    return out, err


def test_once_does_everything_that_is_due_and_ends(place):
    out, _ = ended(worker("--once", "--json"))
    report = json.loads(out)
    assert (report["swept"], report["moves"], report["failed"]) == (2, 6, {})
    assert sorted((r["namespace"], r["task"]) for r in report["runs"]) == [
        (name, task) for name in ("a", "b") for task in ("backup", "report", "sweep")
    ]
    with memory() as opened:
        assert [opened.upkeep_state(name)["sweep"]["note"] for name in "ab"] == ["swept", "swept"]
    again = json.loads(ended(worker("--once", "--json"))[0])
    assert (again["due"], again["runs"]) == (0, [])


def test_a_run_that_moves_something_is_told_though_another_run_was_a_moment_before(place):
    def sweep_of_status():
        words = ["--store", "new.db", "--policy", "policy.toml", "maintain", "--status"]
        return CliRunner().invoke(cli.app, words).stdout

    with perdure.open("new.db", "policy.toml") as opened:
        opened.remember("new")
        opened.upkeep("one", eager=True)
        assert "nothing was due" in sweep_of_status()
        opened.remember("old", at=LONG_AGO)
        again = opened.upkeep("two", eager=True)
        assert (again.swept.moves, [r.note for r in again.runs if r.task == "sweep"]) == (1, ["swept"])
        assert "swept" in sweep_of_status()
        assert opened.upkeep_state()["sweep"]["owner"] == "two"
        opened.recall("new")
        third = opened.upkeep("three", eager=True)
        assert (third.swept.counted, third.swept.moves) == (1, 0)
        assert opened.upkeep_state()["sweep"]["owner"] == "two"


def test_a_timer_of_the_same_period_as_the_schedule_finds_each_run_due(place):
    """A timer fires a little early or late: a run by --once comes as early as the jitter allows."""
    with memory() as opened:
        opened.upkeep("one")
    later = datetime.now(UTC) + timedelta(hours=23, minutes=59)
    with perdure.open("agent.db", "policy.toml", clock=lambda: later) as opened:
        assert {r.task for r in opened.upkeep("two", eager=True).runs} == {"report"}


def test_workers_that_run_together_share_the_runs_and_end_on_sigterm(place):
    workers = [worker("--every", "0.2", "--json", "--owner", f"worker-{i}") for i in range(2)]
    deadline = time.monotonic() + 40
    while time.monotonic() < deadline:
        with memory() as opened:
            if all(len(opened.upkeep_state(n)) == 3 for n in "ab") and not opened.sweep(dry_run=True).moved:
                break
        time.sleep(0.2)
    for one in workers:
        one.send_signal(signal.SIGTERM)
    reports = [json.loads(line) for one in workers for line in ended(one)[0].splitlines()]
    runs = sorted((r["namespace"], r["task"], r["outcome"]) for report in reports for r in report["runs"])
    assert runs == [(name, task, "done") for name in ("a", "b") for task in ("backup", "report", "sweep")]
    assert sum(report["moves"] for report in reports) == 6
    with memory() as opened:
        assert opened.check() == []


def test_without_every_it_keeps_the_schedule(place):
    one = worker("--json")
    line = one.stdout.readline()
    assert sorted(r["task"] for r in json.loads(line)["runs"]) == sorted(["sweep", "report", "backup"] * 2)
    one.send_signal(signal.SIGINT)
    ended(one)
    with memory() as opened:
        assert opened.upkeep_state("a")["sweep"]["outcome"] == "done"
        opened.recall("note 1", "a")
        assert opened.upkeep("two").runs == ()  # the next sweep is an hour away


def test_a_run_that_fails_is_told_and_the_code_says_so(place):
    _vault()
    (place / "agent.db.backups").write_text("a file is in the way")
    out, err = ended(worker("--once", "--json"), code=1)
    report = json.loads(out)
    assert "could not be written" in report["failed"]["a"]
    assert [r["outcome"] for r in report["runs"] if (r["namespace"], r["task"]) == ("b", "backup")] == ["done"]
    told, _ = ended(worker("--status"))
    assert "a: backup failed" in told
    assert "b: backup done" in told
    assert "Traceback" not in err


def _vault():
    with memory() as opened:
        one = opened.list("a")[0]
        op = opened.history(one.id)[-1].operation_id
        change = Change(Target.MEMORY, one.id, {"tier": one.tier, "op": op}, {"tier": "vault", "op": "v"}, "test")
        opened.apply(Plan("v", "test", "a", 0, (change,), opened.policy.version))


def test_the_state_of_a_store_that_nobody_keeps(place):
    assert "No scheduled task has run yet." in ended(worker("--status"))[0]
    assert json.loads(ended(worker("--status", "--json"))[0]) == {"a": {}, "b": {}}


# --- beside a server


def waited(until, seconds=20):
    deadline = time.monotonic() + seconds
    while not (found := until()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return found


def test_the_thread_begins_with_the_first_call_and_ends_with_the_store(place):
    beside = BackgroundMaintenance(first=0.05, pause=0.05)
    opened = LazyStore(memory, beside)
    assert "perdure-upkeep" not in {t.name for t in threading.enumerate()}
    store = opened()
    assert waited(lambda: store.upkeep_state("a").get("report", {}).get("outcome") == "done")
    assert waited(lambda: not store.sweep(dry_run=True).moved)
    opened.close()
    assert "perdure-upkeep" not in {t.name for t in threading.enumerate()}
    opened.close()


def test_a_policy_may_switch_it_off(place):
    beside = BackgroundMaintenance(first=0.01)
    opened = LazyStore(lambda: perdure.open("agent.db", {**WORDS_ONLY, "upkeep": {"background": False}}), beside)
    opened()
    assert "perdure-upkeep" not in {t.name for t in threading.enumerate()}
    opened.close()


@pytest.mark.behaviour("G40")
@pytest.mark.parametrize(
    "error",
    [StoreError("The shelf fell down."), StoreReadOnly("The shelf is locked."), ZeroDivisionError()],
    ids=["ours", "read-only", "any"],
)
def test_a_failing_run_never_ends_the_thread(place, monkeypatch, error):
    beside = BackgroundMaintenance(first=0.01, pause=0.01)
    opened = LazyStore(memory, beside)
    store = opened()
    tried = []

    def upkeep(*_, **__):
        tried.append(1)
        raise error

    monkeypatch.setattr(type(store), "upkeep", upkeep)
    assert waited(lambda: len(tried) > 2)
    assert store.recall("note 1", "a").hits
    opened.close()


SERVER = """
import sys
from perdure.interfaces.hooks import background
from perdure.interfaces.mcp import run as mcp
background.FIRST_SECONDS, background.PAUSE_SECONDS = 0.1, 0.1
mcp.main(sys.argv[1:])
"""


@pytest.mark.behaviour("G39")
def test_a_server_does_the_upkeep_while_it_answers_and_ends_cleanly(place):
    line = [sys.executable, "-c", SERVER, "--store", "agent.db", "--policy", str(place / "policy.toml")]
    line += ["--namespace", "a"]
    errors = place / "errors.txt"

    async def story():
        parameters = StdioServerParameters(command=line[0], args=line[1:], env=dict(ENV))
        with errors.open("w") as log:
            async with Client(stdio_client(parameters, errlog=log), read_timeout_seconds=30) as client:
                assert len((await client.list_tools()).tools) == 10
                for _ in range(40):
                    answer = await client.call_tool("recall", {"query": "note 1"})
                    assert not answer.is_error
                    await anyio.sleep(0.05)

    anyio.run(story)
    with memory() as opened:
        assert {d["outcome"] for n in "ab" for d in opened.upkeep_state(n).values()} == {"done"}
        assert opened.check() == []
    assert errors.read_text() == ""


@pytest.mark.behaviour("G41")
def test_a_list_of_tools_opens_no_store(place):
    line = [sys.executable, "-c", SERVER, "--store", "other.db", "--policy", str(place / "policy.toml")]

    async def story():
        parameters = StdioServerParameters(command=line[0], args=line[1:], env=dict(ENV))
        async with Client(stdio_client(parameters), read_timeout_seconds=30) as client:
            await client.list_tools()
            await anyio.sleep(0.5)

    anyio.run(story)
    assert not Path("other.db").exists()


HOW_TO = (Path(__file__).parents[2] / "docs" / "how-to.md").read_text("utf-8")
UNITS = re.findall(r"^```ini\n# ([\w.-]+)\n(.*?)^```", HOW_TO, re.DOTALL | re.MULTILINE)


def _commands_of_units():
    for name, text in UNITS:
        unit = configparser.ConfigParser(interpolation=None, strict=True)
        unit.optionxform = str
        unit.read_string(text)
        if unit.has_section("Service"):
            yield name, unit["Service"]["ExecStart"]
    crontab = re.search(r"^```crontab\n(.*?)^```", HOW_TO, re.DOTALL | re.MULTILINE)[1]
    for line in crontab.splitlines():
        minute, *_, command = line.split(None, 5)
        assert minute.isdigit()
        yield "crontab", command


@pytest.mark.behaviour("G42")
def test_the_units_of_the_documents_run_commands_that_are_there(place, monkeypatch):
    """Their command lines are run as they stand, on this store, once; a service that stays is only asked for help."""
    monkeypatch.setenv("PERDURE_STORE", "agent.db")
    monkeypatch.setenv("PERDURE_POLICY", str(place / "policy.toml"))
    commands = list(_commands_of_units())
    assert {name for name, _ in commands} == {"perdure.service", "perdure-once.service", "crontab"}
    for name, command in commands:
        program, *words = shlex.split(command)
        assert program.endswith("/perdure")
        more = [] if "--once" in words else ["--help"]
        done = CliRunner().invoke(cli.app, [*words, *more], prog_name="perdure")
        assert done.exit_code == 0, (name, done.output)


def test_the_timer_starts_a_unit_that_is_there():
    units = dict(UNITS)
    timer = configparser.ConfigParser(interpolation=None)
    timer.read_string(units["perdure-once.timer"])
    assert timer["Timer"]["Persistent"] == "true"
    assert timer["Install"]["WantedBy"] == "timers.target"
    assert "perdure-once.service" in units  # a timer starts the service of its own name


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd here")
def test_systemd_takes_the_units(tmp_path):
    for name, text in UNITS:
        (tmp_path / name).write_text(text.replace("%h/.local/bin/perdure", sys.executable))
    files = [str(tmp_path / name) for name, _ in UNITS]
    line = ["systemd-analyze", "--user", "verify", *files]
    own = {**ENV, "XDG_RUNTIME_DIR": str(tmp_path)}
    done = subprocess.run(line, env=own, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
