"""The processes that Perdure starts take one thread of numpy's, unless the environment says how many."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import perdure
from service.test_maintaining import waited
from service.test_serve import ask, served

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals")

REAL_PROCESSES = True  # one that is forked from this one's child has numpy already
NAMES = ("OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS")
OLD = "2025-01-01T10:00:00Z"
TELLS = f"""
import json, os, sys
class Tells:
    def find_spec(self, name, path=None, target=None):
        if name == "numpy" and path is None:
            sys.meta_path.remove(self)
            file = os.path.join({{folder!r}}, str(os.getpid()))
            with open(file + ".part", "w") as part:
                json.dump({{{{name: os.environ[name] for name in {NAMES!r} if name in os.environ}}}}, part)
            os.rename(part.name, file)
        return None
sys.meta_path.insert(0, Tells())
from perdure.interfaces.hooks import background
background.FIRST_SECONDS = 0.1
"""
"""Run by each process at its start: writes down what the environment says when numpy is imported."""


@pytest.fixture
def told(tmp_path, monkeypatch):
    """Return a reader of what the processes that import numpy say, by process id."""
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    site, found = tmp_path / "site", tmp_path / "found"
    site.mkdir()
    found.mkdir()
    (site / "sitecustomize.py").write_text(TELLS.format(folder=str(found)), "utf-8")
    with perdure.open(tmp_path / "a.db", {"embedder": {"model": "none"}}) as memory:
        memory.remember_many([{"content": f"Deploys of week {n} happen on Tuesdays.", "at": OLD} for n in range(40)])
    paths = [str(site), str(Path(perdure.__file__).parents[1])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
    return lambda: {int(file.name): json.loads(file.read_text("utf-8")) for file in found.iterdir() if not file.suffix}


ONE = {"OPENBLAS_NUM_THREADS": "1"}


@pytest.mark.parametrize(
    ("words", "processes"),
    [((), 2), (("--workers", "2"), 3), (("--json",), 2)],
    ids=["alone", "workers", "by the command line's parser"],
)
def test_a_service_its_workers_and_its_maintenance(tmp_path, told, words, processes):
    with served(tmp_path, *words) as (_, port):
        assert ask(port, "POST", "/v1/recall", {"query": "When do we deploy?"})[0] == 200
        assert waited(lambda: len(told()) == processes)  # maintenance comes last
        assert list(told().values()) == [ONE] * processes


@pytest.mark.parametrize(
    "words",
    [
        ["-m", "perdure", "mcp", "--store", "a.db"],
        ["-m", "perdure.interfaces.mcp", "--store", "a.db"],
        ["-m", "perdure", "maintain", "--once", "--store", "a.db"],
    ],
    ids=" ".join,
)
def test_a_server_of_mcp_and_maintenance(tmp_path, told, words):
    (tmp_path / "perdure.toml").write_text('[embedder]\nmodel = "none"\n', "utf-8")
    call = {"name": "recall", "arguments": {"query": "When do we deploy?"}}
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call},
    ]
    lines = "".join(f"{json.dumps(message)}\n" for message in messages)  # maintenance reads none
    ended = subprocess.run(
        [sys.executable, *words], input=lines, capture_output=True, text=True, cwd=tmp_path, check=False, timeout=120
    )
    assert ended.returncode == 0, ended.stderr
    assert list(told().values()) == [ONE]


@pytest.mark.parametrize("given", [{"OPENBLAS_NUM_THREADS": "3"}, {"OMP_NUM_THREADS": "2"}], ids=str)
def test_what_the_environment_says_wins(tmp_path, told, monkeypatch, given):
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    with served(tmp_path, "--workers", "2"):
        assert waited(lambda: len(told()) == 3)
        assert list(told().values()) == [given] * 3
