"""``perdure verify``: what people and programs see of a verification."""

from __future__ import annotations

import json
import re
import shlex
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from perdure.interfaces.cli.app import app

HOW_TO = Path(__file__).parents[2] / "docs" / "how-to.md"


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PERDURE_POLICY", str(tmp_path / "perdure.toml"))
    (tmp_path / "perdure.toml").write_text('[embedder]\nmodel = "none"\n[knowledge]\nfile = "knowledge.toml"\n')
    (tmp_path / "knowledge.toml").write_text('[authorities.code]\nworking_tree = "."\n')
    (tmp_path / "app.py").write_text("def main(): ...\n")

    def call(*words, code=0):
        done = CliRunner().invoke(app, [*words, "--store", "m.db"])
        assert done.exit_code == code, done.output
        return done.output

    return call


def test_verify_tells_what_became_of_what_is_cited(run, tmp_path):
    run("remember", "The tea is green.")
    assert "Nothing to ask about" in run("verify")
    run("remember", "The entry is app.py#main.")
    run("remember", "The settings are in settings.py.")
    (tmp_path / "settings.py").write_text("")
    assert "fine 2" in run("verify")
    (tmp_path / "settings.py").unlink()
    told = run("verify")
    assert "fine 1, stale 1" in told
    assert "settings.py does not exist" in told
    assert "undo" in told


@pytest.mark.skipif(sys.platform == "win32", reason="links need a right there")
def test_verify_never_says_that_a_broken_link_has_moved_to_itself(run, tmp_path):
    run("remember", "The settings are in settings.py.")
    run("remember", "The routes are in routes.py.")
    for name in ("settings.py", "routes.py"):
        (tmp_path / name).write_text("")
    assert "fine 2" in run("verify")
    for name, target in (("settings.py", "nowhere.py"), ("routes.py", "routes.py")):  # to nothing, and a circle
        (tmp_path / name).unlink()
        (tmp_path / name).symlink_to(tmp_path / target)
    assert "unverifiable 1, stale 1" in run("verify")


def test_verify_answers_in_json_and_takes_ids(run):
    kept = json.loads(run("remember", "The settings are in settings.py.", "--json"))
    found = json.loads(run("verify", "--json", kept["id"], "unknown"))
    assert found["counts"] == {"unverifiable": 1}  # it was never seen
    assert found["unasked"] == ["unknown"]
    assert found["cited"][0]["sightings"][0]["cited"] == "settings.py"
    run("undo", found["operations"][0])
    assert "limit" in run("verify", "--limit", "0", "--json", code=1)


def test_a_faulty_knowledge_file_is_told(run, tmp_path):
    (tmp_path / "knowledge.toml").write_text("[authorities.code]\n")
    assert "it needs either url or url_variable" in json.loads(run("verify", "--json", code=1))["message"]


def test_a_database_decides_once_the_files_of_the_guide_are_written_and_trusted(tmp_path, monkeypatch):
    text = HOW_TO.read_text("utf-8").partition("## Let a database decide what is true")[2]
    policy, knowledge, *_ = re.findall(r"^```toml\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    trust, verify, *_ = re.findall(r"^```sh\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    (tmp_path / "perdure.toml").write_text(f'{policy}[embedder]\nmodel = "none"\n')
    (tmp_path / "knowledge.toml").write_text(knowledge)
    claim = {"subject": "Gai Media", "predicate": "delivery day preference", "value": "Friday"}
    (tmp_path / "claims.json").write_text(json.dumps([claim]))
    with closing(sqlite3.connect(tmp_path / "domain.db")) as database, database:
        database.execute("CREATE TABLE customer (name TEXT, day TEXT)")
        database.execute("INSERT INTO customer VALUES ('Gai Media', 'Monday')")
    monkeypatch.chdir(tmp_path)
    for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))

    def told(line):
        words = shlex.split(line, comments=True)[1:]
        done = CliRunner().invoke(app, words, prog_name="perdure")
        assert done.exit_code == 0, done.output
        return done.stdout

    told("perdure remember 'Gai Media prefers Friday deliveries.' --facts claims.json")  # not trusted: none is asked
    assert [fact["value"] for fact in json.loads(told("perdure facts --json"))] == ["Friday"]
    for line in (*trust.splitlines(), *verify.splitlines()):
        told(line)
    assert [fact["value"] for fact in json.loads(told("perdure facts --json"))] == ["Monday"]
