"""The commands about learning: what they print and write, and how they end."""

import json
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from typer.testing import CliRunner

import perdure
from perdure.interfaces.cli import app as cli
from perdure.interfaces.cli.call import Exit
from perdure.records.memory import Status
from stores.planning import ended, facts

NOW = datetime.now(UTC)
WORDS = [a + b for a in ("bark", "cliff", "dune", "fern", "gorge", "marsh") for b in ("ling", "wood", "ford", "gate")]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    (tmp_path / "policy.toml").write_text('[embedder]\nmodel = "none"\n\n[archive]\nrule = "never"\n')
    (tmp_path / "other.toml").write_text(
        '[embedder]\nmodel = "none"\n\n[archive]\nrule = "value"\nvalue_below = 1.0\ncold_days = 0.5\n\n'
        "[tiers]\nhot_entry_value = 1.0\nwarm_quiet_days = 0.5\nhot_messages = 0\n"
    )
    for name, value in {
        "PERDURE_STORE": str(tmp_path / "agent.db"),
        "PERDURE_POLICY": str(tmp_path / "policy.toml"),
        "COLUMNS": "200",
        "NO_COLOR": "1",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def memory(folder):
    with perdure.open(folder / "agent.db", policy=folder / "policy.toml") as opened:
        yield opened


def ran(*words):
    return CliRunner().invoke(cli.app, list(words), prog_name="perdure")


def done(*words):
    result = ran(*words)
    assert result.exit_code == 0, result.output
    return " ".join(result.stdout.split())


def data(*words):
    result = ran(*words, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.mark.behaviour("LE-cli-1")
def test_rates(memory):
    assert "no facts are learned from messages" in done("rates")
    ids = facts(memory, *((f"value {n}", "contact", NOW - timedelta(days=100)) for n in range(20)))
    ended(memory, Status.SUPERSEDED, *((i, NOW - timedelta(days=50)) for i in ids[:8]))
    facts(memory, ("NET 30", "terms", NOW - timedelta(days=100)))
    told = done("rates")
    assert "contact 20 8" in told
    assert "no 0 of 5 changes that it takes" in told
    assert "Nothing was written; run it again with --apply to apply it." in told
    written = data("rates", "--apply")
    assert [(r["type"], r["in_use"]) for r in written["rates"]] == [("contact", True), ("terms", False)]
    assert f"Undo: perdure undo {written['operations'][0]}" not in done("rates")
    assert memory.history(limit=1)[0].id == written["operations"][0]


@pytest.mark.behaviour("LE-cli-2")
def test_procedures(memory):
    for day in range(30, 6, -1):
        draw = np.random.default_rng(day)
        texts = [f"The {' of '.join(draw.choice(WORDS, 2, replace=False))}" for _ in range(6)]
        if day % 3 == 0:
            texts[day % 4 : day % 4 + 2] = ["Any delivery?", "And the invoice?"]
        at = NOW - timedelta(days=day)
        said = [{"content": t, "role": "user", "at": at + timedelta(minutes=n)} for n, t in enumerate(texts)]
        memory.ingest(said, session=f"day {day}")
    told = done("procedures")
    assert "sessions 24 messages 144 unchanged 0" in told
    assert "17.38 times as often as otherwise" in told
    assert "Nothing was written; run it again with --apply to apply it." in told
    assert memory.list(kinds=["procedure"]) == []
    applied = data("procedures", "--apply")
    assert [(p["move"], p["confidence"]) for p in applied["procedures"]] == [("learned", 0.8)]
    assert [m.id for m in memory.list(kinds=["procedure"])] == [applied["procedures"][0]["id"]]


@pytest.mark.behaviour("LE-cli-3")
def test_backtest(memory):
    old = memory.remember("the red boat lies at the pier", at=NOW - timedelta(days=9))
    answer = memory.recall("red boat")
    memory.used([old.id], "helpful", recall_id=answer.id)
    told = done("backtest", "--policy", "other.toml")
    assert "recalls 1 hits 1 useful 1" in told
    assert f"red boat {old.id[-8:]} yes hidden" in told
    assert "ranking is not replayed" in told
    found = data("--policy", "other.toml", "backtest", "--limit", "5")
    assert [m["id"] for m in found["lost"]] == [old.id]
    assert found["now"]["missing"] == 0


def test_backtest_without_another_policy_is_refused():
    result = ran("backtest")
    assert result.exit_code == Exit.FAILED
    assert "perdure backtest --policy other.toml" in result.output
