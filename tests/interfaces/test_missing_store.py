"""What only reads or changes memories makes no store where there is none: it says so, and leaves the disk as it is."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from contextlib import closing

import apsw
import pytest
from typer.testing import CliRunner

import perdure
from perdure.interfaces.cli import app as cli
from perdure.interfaces.cli.call import Exit
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


@pytest.mark.parametrize("place", [":memory:", "sqlite:///:memory:"])
def test_nothing_is_said_to_be_stored_where_it_is_gone_with_the_command(place):
    done = run("--store", place, "remember", "tea is ready")
    assert (done.exit_code, done.stdout) == (Exit.USAGE, "")
    assert "nothing would be kept" in done.stderr


def test_a_check_that_finds_something_names_the_mildest_remedy():
    run("--store", "agent.db", "remember", "tea is ready")
    with closing(apsw.Connection("agent.db")) as connection:
        connection.execute("UPDATE memory SET importance = 0.75")
    assert "Run `perdure repair`" in " ".join(run("--store", "agent.db", "check").output.split())
    assert run("--store", "agent.db", "repair", "--apply").exit_code == 0
    assert "is sound" in run("--store", "agent.db", "check").output


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


def homeless(*words, folder, text="", program=("-m", "perdure")):
    """Run Perdure as a user without a home folder, as in a container, in an environment of its own."""
    enter = ["unshare", "--user", "--map-user=12345"]
    if shutil.which("unshare") is None or subprocess.run([*enter, "true"], check=False, capture_output=True).returncode:
        pytest.skip("no user namespaces")
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [*enter, sys.executable, *program, *words]
    done = subprocess.run(
        command, env=environment, cwd=folder, input=text, capture_output=True, text=True, check=False, timeout=120
    )
    return done.returncode, done.stdout, done.stderr


def test_a_user_without_a_home_folder_is_asked_for_a_store(tmp_path):
    code, told, error = homeless("recall", "where we deploy", folder=tmp_path)
    assert (code, told) == (1, "")
    assert error == (
        "Error: This user has no home folder, so there is no place for a store.\n"
        "Name the store (--store, or the variable PERDURE_STORE), or set HOME.\n"
    )
    begun = json.dumps({"session_id": "s", "hook_event_name": "SessionStart", "cwd": str(tmp_path)})
    code, told, error = homeless("hook", "SessionStart", folder=tmp_path, text=begun)
    assert code == 0  # an agent's session goes on
    assert "no home folder" in error
    assert "no home folder" in json.loads(told)["systemMessage"]
    (tmp_path / "perdure.toml").write_text('[embedder]\nmodel = "none"\nkey_variable = "HOME"\n')
    kept = homeless("remember", "We deploy from Oslo.", "--store", "a.db", folder=tmp_path)
    assert kept[0] == 0, kept
    assert "Oslo" in homeless("recall", "where we deploy", "--store", "a.db", folder=tmp_path)[1]


NO_PLACE = "This user has no home folder, so there is no place for"
NO_STORE = f"Error: {NO_PLACE} a store.\nName the store (--store, or the variable PERDURE_STORE), or set HOME.\n"
NO_HOME = "Error: The home folder in '~/x.{}' cannot be found.\nWrite the whole path, or set HOME.\n"
HOMELESS = {
    "mcp": (["mcp"], NO_STORE),
    "store": (["list", "--store", "~/x.db"], NO_HOME.format("db")),
    "backup": (["backup", "~/x.db", "--store", "a.db"], NO_HOME.format("db")),
    "restore": (["restore-backup", "~/x.db", "--store", "a.db"], NO_HOME.format("db")),
    "text": (["extract", "~/x.md", "--store", "a.db"], NO_HOME.format("md")),
    "policy": (["mcp", "--store", "a.db", "--policy", "~/x.toml"], NO_HOME.format("toml")),
    "plugin": (["plugin", "install"], f"Error: {NO_PLACE} its files.\nSet HOME.\n"),
}


EACH = """
import json, sys
from typer.testing import CliRunner
from perdure.interfaces.cli.app import app
for words in json.loads(sys.argv[1]):
    done = CliRunner().invoke(app, words, prog_name="perdure")
    print(json.dumps([done.exit_code, done.stdout, done.stderr]))
"""


def test_a_user_without_a_home_folder_gets_no_traceback(tmp_path):
    commands = json.dumps([words for words, _ in HOMELESS.values()])
    _, told, error = homeless(commands, folder=tmp_path, program=("-c", EACH))
    assert error == ""
    expected = {name: [1, "", error] for name, (_, error) in HOMELESS.items()}
    assert dict(zip(HOMELESS, map(json.loads, told.splitlines()), strict=True)) == expected


def test_a_backup_that_is_not_there_is_called_one(home):
    assert "There is no backup at nope" in run("restore-backup", "nope", "--store", "new.db").stderr
    assert not (home / "new.db").exists()
