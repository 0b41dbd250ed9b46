"""Commands about knowledge as processes of their own: what they say where there is nothing, and of what is limited."""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import perdure

KNOWLEDGE = 'preset = "knowledge"\n[embedder]\nmodel = "none"\n'
NOW = datetime.now(UTC)


@pytest.fixture
def place(tmp_path, monkeypatch):
    (tmp_path / "perdure.toml").write_text(KNOWLEDGE)
    for name, value in {
        "PERDURE_STORE": str(tmp_path / "agent.db"),
        "HOME": str(tmp_path),
        "COLUMNS": "250",
        "NO_COLOR": "1",
        "PYTHONPATH": str(Path(perdure.__file__).parents[1]),
        "PYTHONIOENCODING": "utf-8",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("PERDURE_POLICY", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ran(*words, code=0, text=None):
    line = [sys.executable, "-m", "perdure", *words]
    done = subprocess.run(
        line, input=text, env=os.environ, capture_output=True, encoding="utf-8", check=False, timeout=120
    )
    assert "Traceback" not in done.stderr
    assert done.returncode == code, (done.stdout, done.stderr)
    return done.stdout + done.stderr


def data(*words, code=0, text=None):
    return json.loads(ran(*words, "--json", code=code, text=text))


def said(place, content, session="talk", scope="long_term", days=0):
    with perdure.open(place / "agent.db", place / "perdure.toml") as memory:
        at = (NOW - timedelta(days=days)).isoformat()
        return memory.ingest([{"role": "user", "content": content, "at": at}], session=session, scope=scope)


# --- what was missing


def test_extract_is_told_whose_words_a_text_is(place):
    text = "We decided to use PostgreSQL 15.2."
    done = data("extract", "-", "--role", "tool", text=text)
    (note,) = done["extractions"]
    kept = data("get", note["memory_id"])
    assert kept["metadata"]["trust"] == "external"
    assert '[from outside] "' in ran("digest", "-n", "extracted")
    mine = data("extract", "-", "-n", "mine", text=text)["extractions"][0]["memory_id"]
    assert "trust" not in data("get", mine)["metadata"]
    assert data("extract", "-", "--role", " ", code=1, text=text)["error"] == "InvalidInput"


def test_learning_from_a_session_that_is_not_there_says_so(place):
    said(place, "Remember, Gai Media prefers Friday deliveries.", "monday")
    found = data("learn", "monday", "tuesday", code=3)
    assert (found["error"], "'tuesday' in default" in found["message"]) == ("NotFound", True)
    assert "'monday'" not in found["message"]
    assert "Nothing new" in ran("learn", "monday", code=3)
    assert "in other" in ran("learn", "monday", "-n", "other", code=3)


def test_verify_without_an_authority_says_how_to_set_one(place):
    told = ran("verify")
    assert "No authority is set" in told
    assert "knowledge.file" in told
    assert data("verify")["note"] == told.strip()
    (place / "perdure.toml").write_text(KNOWLEDGE + '[knowledge]\nfile = "known.toml"\n')
    (place / "known.toml").write_text("")
    assert f"under [authorities.NAME] in {place / 'known.toml'}" in ran("verify")
    (place / "known.toml").write_text('[authorities.code]\nworking_tree = "."\n')
    assert "Nothing to ask about in default" in ran("verify")
