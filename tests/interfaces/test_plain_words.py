"""What a person is told who misspells a namespace, hands over the wrong file, or names nothing."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

import perdure
from conftest import opened
from perdure.interfaces.cli import app as cli
from perdure.records.errors import InvalidInput


@pytest.fixture
def place(tmp_path, monkeypatch):
    (tmp_path / "policy.toml").write_text('[embedder]\nmodel = "none"\n')
    for name, value in {
        "PERDURE_STORE": "a.db",
        "PERDURE_POLICY": str(tmp_path / "policy.toml"),
        "COLUMNS": "500",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    with opened(tmp_path / "a.db") as memory:
        memory.remember("The kettle is on.", "shop")
        memory.remember("The door is shut.", "home")
    return tmp_path


def ran(*words, code=0):
    done = CliRunner().invoke(cli.app, list(words), prog_name="perdure")
    assert done.exit_code == code, done.output
    return done


@pytest.mark.parametrize("words", [("sweep",), ("list",), ("recall", "kettle"), ("stats",), ("facts",)])
def test_a_namespace_that_is_not_there_is_told_beside_the_answer(place, words):
    done = CliRunner().invoke(cli.app, [*words, "-n", "shpo", "--json"], prog_name="perdure")
    assert done.stderr == "Note: The store has no namespace 'shpo'. It has: home, shop.\n"
    json.loads(done.stdout)
    assert CliRunner().invoke(cli.app, [*words, "-n", "shop"], prog_name="perdure").stderr == ""


def test_a_new_namespace_that_is_written_to_is_told_nothing(place):
    assert ran("remember", "New.", "-n", "garden").stderr == ""


def test_a_store_that_is_imported_is_told_by_its_kind(place):
    ran("backup", "safe.db")
    for name in ("a.db", "safe.db"):
        told = ran("import", name, "--store", "b.db", code=1).stderr
        assert f"{name} is a store or a backup of one, not an export" in told
        assert "copy" in told
        assert "b.db" not in told


def test_who_hands_facts_over_is_sent_to_no_preset(place):
    with opened(place / "a.db") as memory:
        memory.remember("Ann is here.", "shop", facts=[{"subject": "Ann", "predicate": "pet", "value": "a cat"}])
    assert "preset" not in ran("facts", "Bob", "-n", "shop", code=3).stderr
    assert "preset" not in ran("facts", "Bob", code=3).stderr
    assert "preset" not in ran("facts", "Ann", "-p", "city", "-n", "shop", code=3).stdout


def test_a_use_of_nothing_is_refused_and_unknown_ids_are_named(place):
    with perdure.open("a.db") as memory:
        with pytest.raises(InvalidInput, match="No memory was named"):
            memory.used([])
        (known,) = memory.list("shop")
        other = "00000000-0000-7000-8000-000000000000"
        done = memory.used([known.id, other])
        assert (done.counted, done.not_found) == ((known.id,), (other,))
        assert f"no visible memory has the id {other}" in done.note
        assert memory.used([known.id]).note == ""
