"""A machine whose clock is wrong: it does not maintain a server, and what it did is named."""

from __future__ import annotations

import json
import time
from datetime import timedelta
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

import perdure
from conftest import STORES, WORDS_ONLY
from perdure import compose
from perdure.interfaces.cli import app as cli
from perdure.records.errors import ClockDiffers

DAY = 86_400
on_both = pytest.mark.parametrize("store", STORES[:2], indirect=True)
on_a_server = pytest.mark.parametrize("store", STORES[1:2], indirect=True)


@pytest.fixture
def machine(monkeypatch):
    """Sets the clock of this machine so many seconds ahead, or behind."""

    def ahead(seconds):
        now = time.time_ns
        monkeypatch.setattr(compose, "time", SimpleNamespace(time_ns=lambda: now() + int(seconds * 1e9)))

    return ahead


@on_a_server
@pytest.mark.parametrize("seconds", [400 * DAY, -2 * DAY, 2 * 3600])
def test_a_machine_whose_clock_is_not_the_servers_does_not_maintain_it(path, machine, seconds):
    policy = {**WORDS_ONLY, "upkeep": {"erase_archived_days": 1}}
    with perdure.open(path, policy) as memory:
        kept = memory.remember("The gateway has port 8000.")
        memory.archive(kept.id, "old")
    machine(seconds)
    with perdure.open(path, policy) as memory:
        for work in (lambda: memory.upkeep("one", eager=True), lambda: memory.maintain("one"), memory.sweep):
            with pytest.raises(ClockDiffers, match="This machine's clock says") as caught:
                work()
            assert caught.value.to_dict()["fault"] == "machine"
        assert memory.sweep(dry_run=True).dry_run
    machine(0)
    with perdure.open(path, policy) as memory:
        assert [m.id for m in memory.list(include_archived=True)] == [kept.id]
        assert memory.upkeep("one", eager=True).failed == {}


@on_a_server
@pytest.mark.parametrize("seconds", [-3000, 3000])
def test_a_difference_that_is_tolerated_elsewhere_keeps_nobody_from_maintaining(path, machine, seconds):
    machine(seconds)
    with perdure.open(path, WORDS_ONLY) as memory:
        memory.remember("The gateway has port 8000.")
        assert memory.upkeep("one", eager=True).failed == {}


@on_a_server
def test_the_command_says_what_to_do(path, machine, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "policy.toml").write_text('[embedder]\nmodel = "none"\n')
    machine(400 * DAY)
    words = ["--store", path, "--policy", "policy.toml", "maintain", "--once", "--json"]
    done = CliRunner().invoke(cli.app, words)
    told = json.loads(done.stdout or done.stderr)
    assert (done.exit_code, told["error"]) == (1, "ClockDiffers")
    assert "Set the clock that is wrong" in told["remedy"]


@on_both
def test_operations_of_a_clock_that_was_ahead_are_named(opening, clock, path):
    memory = opening(WORDS_ONLY)
    memory.remember_many([f"note {i}" for i in range(3)])
    assert [a.name for a in memory.alerts() if a.name == "operations_ahead"] == []
    ahead = compose.open(path, WORDS_ONLY, clock=lambda: clock() + timedelta(days=400))
    moved = ahead.sweep()
    ahead.upkeep("two")
    ahead.close()
    [alert] = [a for a in memory.alerts() if a.name == "operations_ahead"]
    assert (alert.severity, alert.value) == ("critical", 1)
    assert moved.operations[0] in alert.message
    assert memory.check() == []
    memory.undo(moved.operations[0])
    assert {m.tier for m in memory.list()} == {"warm"}
