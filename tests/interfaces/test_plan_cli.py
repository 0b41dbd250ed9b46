"""Plans on the command line: written, looked at, applied exactly, refused where anything has changed."""

from __future__ import annotations

import json
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

import perdure
from perdure.interfaces.cli import app as cli

POLICY = """
[embedder]
model = "none"
[archive]
rule = "value"
value_below = 0.5
cold_days = 1
[gates]
loss_free_count = 4
"""
LONG_AGO = datetime.now(UTC) - timedelta(days=60)


@pytest.fixture
def place(tmp_path, monkeypatch):
    (tmp_path / "policy.toml").write_text(POLICY)
    monkeypatch.setenv("PERDURE_STORE", str(tmp_path / "agent.db"))
    monkeypatch.setenv("PERDURE_POLICY", str(tmp_path / "policy.toml"))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)
    with memory() as opened:
        opened.remember_many([{"content": f"note {i}", "at": LONG_AGO} for i in range(4)])
        opened.remember_many([{"content": f"kept {i}", "pinned": True} for i in range(50)])
    return tmp_path


def memory():
    return perdure.open("agent.db", "policy.toml")


def run(*words, code=0):
    result = CliRunner().invoke(cli.app, [*words, "--json"], prog_name="perdure")
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return json.loads(result.stdout)


@pytest.mark.behaviour("G21")
def test_a_plan_is_written_and_applied_as_it_was_shown(place):
    written = run("plan", "sweep", "-o", "plan.json")
    assert not written["applied"]
    assert [(p["operation"], p["hides"]) for p in written["plans"]] == [("sweep", 4)]
    assert stat.S_IMODE(Path("plan.json").stat().st_mode) == 0o600
    with memory() as opened:
        assert opened.stats().statuses == {"active": 54}
    applied = run("apply", "plan.json")
    assert applied["plans"] == written["plans"]
    assert applied["applied"]
    with memory() as opened:
        assert opened.stats().statuses == {"active": 50, "archived": 4}
    assert run("apply", "plan.json", code=1)["error"] == "ConflictError"  # once
    run("undo", applied["plans"][0]["id"])


def test_it_is_told_in_words_too(place):
    told = CliRunner().invoke(cli.app, ["plan", "sweep", "-o", "plan.json"], prog_name="perdure")
    assert "hides 4" in told.stdout
    assert "perdure apply plan.json" in told.stdout
    done = CliRunner().invoke(cli.app, ["apply", "plan.json"], prog_name="perdure")
    assert "perdure undo" in done.stdout


def test_an_empty_plan_says_so(place):
    run("sweep")
    assert run("plan", "sweep", "-o", "plan.json")["plans"] == []
    assert run("apply", "plan.json")["plans"] == []


def test_a_plan_of_one_namespace(place):
    with memory() as opened:
        opened.remember("elsewhere", "b", at=LONG_AGO)
    assert [p["namespace"] for p in run("plan", "sweep", "-n", "b", "-o", "plan.json")["plans"]] == ["b"]


def test_a_file_that_is_there_stays_unless_forced(place):
    Path("plan.json").write_text("mine")
    assert "already exists" in run("plan", "sweep", "-o", "plan.json", code=1)["message"]
    assert Path("plan.json").read_text() == "mine"
    run("plan", "sweep", "-o", "plan.json", "--force")
    assert run("apply", "plan.json")["applied"]


def test_a_folder_that_is_not_there_is_named(place):
    assert run("plan", "sweep", "-o", "no/plan.json", code=1)["error"] == "DiskFull"


@pytest.mark.behaviour("G22")
def test_it_is_refused_once_a_memory_has_changed(place):
    run("plan", "sweep", "-o", "plan.json")
    with memory() as opened:
        (one,) = opened.list(limit=1, before=None, until=LONG_AGO + timedelta(days=1))
        opened.pin(one.id)
    answer = run("apply", "plan.json", code=1)
    assert (answer["error"], one.id in answer["message"]) == ("ConflictError", True)


@pytest.mark.behaviour("G23")
def test_it_is_refused_under_another_policy(place):
    run("plan", "sweep", "-o", "plan.json")
    Path("policy.toml").write_text(POLICY.replace("cold_days = 1", "cold_days = 2"))
    answer = run("apply", "plan.json", code=1)
    assert (answer["error"], "policy" in answer["message"]) == ("ConflictError", True)


def _edited(edit):
    data = json.loads(Path("plan.json").read_text())
    edit(data)
    Path("plan.json").write_text(json.dumps(data))


EDITS = {
    "another memory": lambda: _edited(lambda d: d["plans"][0]["changes"][0].__setitem__(1, "other")),
    "a change less": lambda: _edited(lambda d: d["plans"][0]["changes"].pop()),
    "another summary": lambda: _edited(lambda d: d["summary"][0].__setitem__("hides", 0)),
    "no digest": lambda: _edited(lambda d: d.pop("digest")),
    "another version": lambda: _edited(lambda d: d.__setitem__("perdure_plan", 2)),
    "cut short": lambda: Path("plan.json").write_bytes(Path("plan.json").read_bytes()[:-50]),
    "a list": lambda: Path("plan.json").write_text("[]"),
    "no text": lambda: Path("plan.json").write_bytes(b"\xff\xfe\x00"),
    "deep": lambda: Path("plan.json").write_text("[" * 100_000),
}


@pytest.mark.behaviour("G24")
@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_a_file_that_was_edited_or_damaged_is_refused(place, edit):
    run("plan", "sweep", "-o", "plan.json")
    edit()
    answer = run("apply", "plan.json", code=1)
    assert answer["error"] == "InvalidInput"
    assert answer["remedy"]
    with memory() as opened:
        assert opened.stats().statuses == {"active": 54}


def test_a_file_that_is_not_there_is_not_found(place):
    assert run("apply", "plan.json", code=3)["error"] == "NotFound"


def test_the_gates_ask_for_a_reason(place):
    run("plan", "sweep", "-o", "plan.json")
    with memory() as opened:  # what is merged meanwhile counts against the same day
        opened.remember_many([{"content": "Lyon has no lift.", "kind": "episode"} for _ in range(2)])
        opened.apply_all(opened.consolidate("default").plans)
    answer = run("apply", "plan.json", code=1)
    assert (answer["error"], "loss budget" in answer["message"]) == ("GateStopped", True)
    done = run("apply", "plan.json", "--accept-loss", "they are notes of a test")
    assert done["plans"][0]["note"].endswith("loss accepted: they are notes of a test")
    assert run("history")[0]["note"] == done["plans"][0]["note"]


@pytest.mark.parametrize(
    ("words", "operation"),
    [
        (("consolidate", "--similarity-threshold", "0.8"), "consolidate"),
        (("fit", "--tokens", "60"), "fit"),
        (("complete-task", "t1"), "complete_task"),
        (("promote", "s1"), "promote"),
    ],
)
def test_every_verb_that_previews_becomes_a_file_and_is_applied_from_it(place, words, operation):
    with memory() as opened:
        for _ in range(2):
            opened.remember("The invoices are sent on Fridays at noon from the office in Lyon.", kind="episode")
        opened.remember("The task needs a signature.", session="s1", task="t1", confidence=0.9)
        opened.remember("The office in Lyon has no lift.", session="s1", confidence=0.9)
    Path("policy.toml").write_text(POLICY.replace("loss_free_count = 4", "loss_free_count = 1000"))
    written = run("plan", *words, "-o", "plan.json")
    assert {p["operation"] for p in written["plans"]} == {operation}
    with memory() as opened:
        before = len(opened.history(limit=1000))
    applied = run("apply", "plan.json")
    assert [p["id"] for p in applied["plans"]] == [p["id"] for p in written["plans"]]
    with memory() as opened:
        assert len(opened.history(limit=1000)) == before + len(written["plans"])
        for plan in reversed(applied["plans"]):
            opened.undo(plan["id"])
        assert opened.check() == []
