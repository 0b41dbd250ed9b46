"""`perdure watch`: the store as it is, and each operation as it happens."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

import pytest
from typer.testing import CliRunner

import perdure
from conftest import ENV, WORDS_ONLY
from perdure.interfaces.cli import app as cli


@pytest.fixture
def place(tmp_path, monkeypatch):
    (tmp_path / "policy.toml").write_text('[embedder]\nmodel = "none"\n')
    monkeypatch.chdir(tmp_path)
    with perdure.open("agent.db", WORDS_ONLY) as memory:
        memory.remember("The staging server listens on port 8081.", namespace="a")
        yield memory


def test_one_look_shows_figures_alerts_and_operations(place):
    shown = CliRunner().invoke(cli.app, ["watch", "--once", "--store", "agent.db"])
    assert shown.exit_code == 0, shown.output
    (tier,) = place.stats().tiers
    for words in ("1 memory in view", f"{tier} 1", "Nothing needs attention.", "remember"):
        assert words in shown.output, words
    other = CliRunner().invoke(cli.app, ["watch", "--once", "--store", "agent.db", "-n", "b"])
    assert "0 memories in view" in other.output


def test_what_others_do_is_told_as_lines_while_it_runs(place):
    command = [sys.executable, "-m", "perdure", "watch", "--every", "0.2", "--json", "--store", "agent.db"]
    with subprocess.Popen(command, env=ENV, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert json.loads(process.stdout.readline()) == {"alerts": []}
        kept = place.remember("Deploys happen on Tuesdays.\x1b[31m", namespace="b")
        told = json.loads(process.stdout.readline())["operation"]
        assert (told["id"], told["operation"], told["namespace"]) == (kept.operation, "remember", "b")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (0, "")
