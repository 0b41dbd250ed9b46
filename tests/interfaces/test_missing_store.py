"""What only reads or changes memories makes no store where there is none: it says so, and leaves the disk as it is."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

import perdure
from perdure.interfaces.cli import app as cli
from perdure.records.errors import NotFound, StoreError
from perdure.records.identifier import short_id

ID = "0190a000-0000-7000-8000-0000abcdef01"
COMMANDS = {
    "recall": ["recall", "tea"],
    "list": ["list"],
    "get": ["get", ID],
    "why": ["why", ID],
    "why-not": ["why-not", ID, "tea"],
    "stats": ["stats"],
    "history": ["history"],
    "namespaces": ["namespaces"],
    "digest": ["digest"],
    "forecast": ["forecast"],
    "check": ["check"],
    "facts": ["facts"],
    "entities": ["entity", "list"],
    "review": ["review"],
    "undo": ["undo"],
    "undo last": ["undo", "last"],
    "pin": ["pin", ID],
    "sweep": ["sweep"],
    "a preview": ["consolidate"],
    "its run": ["consolidate", "--apply"],
    "a plan": ["plan", "sweep", "--out", "plan.json"],
    "upkeep": ["maintain", "--status"],
    "export": ["export", "out.jsonl"],
}


def run(*words):
    return CliRunner().invoke(cli.app, list(words), prog_name="perdure")


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PERDURE_POLICY", str(tmp_path / "policy.toml"))
    (tmp_path / "policy.toml").write_text('[embedder]\nmodel = "none"\n')
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("place", ["missing.db", "no/such/folder/missing.db"])
def test_a_command_says_that_there_is_no_store_and_makes_nothing(home, name, place):
    before = sorted(home.rglob("*"))
    done = run("--store", str(home / place), *COMMANDS[name])
    assert done.exit_code == 3, done.output
    assert f"There is no store at {home / place}" in " ".join(done.stderr.split())
    assert sorted(home.rglob("*")) == before


@pytest.mark.parametrize("name", ["recall", "stats"])
def test_the_default_store_is_not_made_either(home, name):
    done = run("--json", *COMMANDS[name])
    assert "There is no store at" in json.loads(done.output)["message"]
    assert not (home / "home").exists()


@pytest.mark.parametrize("words", [["remember", "tea is ready"], ["extract", "policy.toml"]])
def test_what_brings_something_in_makes_the_store(home, words):
    assert run("--store", "new.db", *words).exit_code == 0
    assert (home / "new.db").is_file()
    assert run("remember", "in the default store").exit_code == 0
    assert [m["content"] for m in json.loads(run("--json", "list").output)] == ["in the default store"]


def test_an_empty_file_is_no_store_to_read_from(home):
    (home / "empty.db").touch()
    assert "There is no store at empty.db" in run("--store", "empty.db", "list").stderr
    assert (home / "empty.db").stat().st_size == 0
    assert run("--store", "empty.db", "remember", "tea").exit_code == 0


def test_python_makes_no_file_where_it_is_told_not_to(home):
    with pytest.raises(NotFound, match="There is no store at"):
        perdure.open(home / "missing.db", create=False)
    with pytest.raises(StoreError, match="is a folder"):
        perdure.open(home, create=False)
    assert not (home / "missing.db").exists()
    with perdure.open(home / "missing.db") as memory:
        kept = memory.remember("tea")
    with perdure.open(home / "missing.db", create=False) as memory:
        assert memory.resolve_id(short_id(kept.id)) == kept.id
    with perdure.open(":memory:", create=False) as memory:
        assert memory.list() == []
