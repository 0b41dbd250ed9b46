"""Commands about knowledge: what they say where there is nothing, and of what is limited; one as a process."""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

import perdure
from interfaces.test_facts_cli import table
from perdure.interfaces.cli import app as cli

KNOWLEDGE = 'preset = "facts"\n[embedder]\nmodel = "none"\n'
NOW = datetime.now(UTC)


@pytest.fixture
def place(tmp_path, monkeypatch):
    (tmp_path / "perdure.toml").write_text(KNOWLEDGE)
    for name, value in {
        "PERDURE_STORE": str(tmp_path / "agent.db"),
        "PERDURE_POLICY": str(tmp_path / "perdure.toml"),
        "HOME": str(tmp_path),
        "COLUMNS": "250",
        "NO_COLOR": "1",
        "PYTHONPATH": str(Path(perdure.__file__).parents[1]),
        "PYTHONIOENCODING": "utf-8",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ran(*words, code=0, text=None):
    done = CliRunner().invoke(cli.app, list(words), input=text, prog_name="perdure")
    assert "Traceback" not in done.stderr
    assert done.exit_code == code, (done.stdout, done.stderr)
    return done.stdout + done.stderr


def process(*words, code=0, text=None):
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


@pytest.mark.behaviour("DO29")
def test_extract_is_told_whose_words_a_text_is(place):
    text = "We decided to use PostgreSQL 15.2."
    done = data("extract", "-", "--role", "tool", text=text)
    (note,) = done["extractions"]
    kept = data("get", note["memory_id"])
    assert kept["metadata"]["trust"] == "external"
    assert '[from outside] "' in process("digest", "-n", "extracted")
    mine = data("extract", "-", "-n", "mine", text=text)["extractions"][0]["memory_id"]
    assert "trust" not in data("get", mine)["metadata"]
    assert data("extract", "-", "--role", " ", code=1, text=text)["error"] == "InvalidInput"


@pytest.mark.behaviour("DO30")
def test_learning_from_a_session_that_is_not_there_says_so(place):
    said(place, "Remember, Gai Media prefers Friday deliveries.", "monday")
    found = data("learn", "monday", "tuesday", code=3)
    assert (found["error"], "'tuesday' in default" in found["message"]) == ("NotFound", True)
    assert "'monday'" not in found["message"]
    assert "learned from before" in ran("learn", "monday", code=3)
    assert "in other" in ran("learn", "monday", "-n", "other", code=3)


@pytest.mark.behaviour("DO31")
def test_verify_without_an_authority_says_how_to_set_one(place):
    perdure.open(place / "agent.db", embedder="none").close()
    told = ran("verify")
    assert "No authority is set" in told
    assert "knowledge.file" in told
    assert data("verify")["note"] == told.strip()
    (place / "perdure.toml").write_text(KNOWLEDGE + '[knowledge]\nfile = "known.toml"\n')
    (place / "known.toml").write_text("")
    assert f"under [authorities.NAME] in {place / 'known.toml'}" in ran("verify")
    (place / "known.toml").write_text('[authorities.code]\nworking_tree = "."\n')
    assert "Nothing to ask about in default" in ran("verify")


# --- another time


@pytest.mark.behaviour("DO32")
def test_where_nothing_was_known_then_recall_says_so_and_since_when_something_is(place):
    said(place, "Remember, Gai Media prefers Friday deliveries.", days=30)
    question, since = "When does Gai Media want deliveries?", NOW - timedelta(days=30)
    told = data("recall", question, "--as-of", "2020-01-01T00:00Z", code=3)
    assert told["nothing_known"]
    assert told["note"].startswith("no related memory was true at 2020-01-01 00:00 UTC; the earliest is from ")
    assert f"{since:%Y-%m-%d %H:%M} UTC" in told["note"]
    assert "none reaches" not in told["note"]
    known = data("recall", question, "--known-at", f"{since + timedelta(days=1):%Y-%m-%dT%H:%MZ}", code=3)["note"]
    assert known.startswith(f"no related memory was known at {since + timedelta(days=1):%Y-%m-%d}")
    assert f"the earliest is from {NOW:%Y-%m-%d}" in known  # taken in today, although it was said a month ago
    assert data("recall", question, "--as-of", f"{since + timedelta(days=1):%Y-%m-%dT%H:%MZ}")["hits"]
    unsure = data("recall", question, "--as-of", f"{NOW:%Y-%m-%dT%H:%MZ}", "--min-confidence", "0.6", code=3)["note"]
    assert "none reaches confidence 0.6" in unsure
    other = data("recall", "What is the boiling point of tungsten?", "--as-of", "2020-01-01T00:00Z", code=3)["note"]
    assert other.startswith("no stored memory matches: ")


@pytest.mark.behaviour("DO33")
def test_what_has_ended_was_not_true_afterwards_and_nothing_is_said_of_a_later_beginning(place):
    said(place, "Remember, Gai Media prefers Friday deliveries.", days=30)
    said(place, "Gai Media no longer prefers Friday deliveries.", session="later", days=10)
    question = ("recall", "Which deliveries does Gai Media prefer?", "--kind", "fact")
    assert data(*question, "--as-of", f"{NOW - timedelta(days=20):%Y-%m-%dT%H:%MZ}")["hits"]
    note = data(*question, "--as-of", f"{NOW - timedelta(days=5):%Y-%m-%dT%H:%MZ}", code=3)["note"]
    assert note.startswith("no related memory was true at ")
    assert "earliest" not in note


# --- where no facts are learned, and where only a session sees them

HINT = 'preset = "facts"'


@pytest.mark.behaviour("DO34")
def test_who_looks_for_facts_that_the_policy_does_not_learn_is_told_how_to_have_them(place):
    (place / "perdure.toml").write_text('[embedder]\nmodel = "none"\n')
    (place / "talk.jsonl").write_text('{"role": "user", "content": "Remember, Gai Media prefers Friday deliveries."}\n')
    assert "facts" not in ran("ingest", "talk.jsonl")
    for words, code in {
        ("facts",): 3,
        ("facts", "Gai Media"): 3,
        ("entity", "list"): 0,
        ("entity", "show", "Gai Media"): 3,
        ("stats",): 0,
    }.items():
        assert HINT in ran(*words, code=code), words
    assert "Remember, Gai Media prefers" in ran("timeline", "Gai Media")
    (place / "perdure.toml").write_text(KNOWLEDGE)
    for words, code in {("facts",): 3, ("timeline", "Gai Media"): 0, ("entity", "list"): 0, ("stats",): 0}.items():
        assert HINT not in ran(*words, code=code), words
    assert "1 new fact" in ran("learn", "talk")
    assert "Friday" in ran("facts", "Gai Media")


@pytest.mark.behaviour("DO36")
def test_a_fact_that_one_session_sees_says_so(place):
    said(place, "Remember, Gai Media prefers Friday deliveries.", session="spring")
    said(place, "Remember, Gai Media's payment terms are NET30.", session="secret one", scope="session")
    inside = ("--inside", "secret one")
    for words in (("facts",), ("timeline", "Gai Media")):
        marked = {row["value"]: "only in session secret one" in row["remarks"] for row in table(ran(*words, *inside))}
        assert marked == {"Friday": False, "NET30": True}
    assert {f["value"]: f["session"] for f in data("facts", *inside)} == {"Friday": "", "NET30": "secret one"}
    assert [f["value"] for f in data("facts")] == ["Friday"]


# --- bad input

BIG = "x" * 100_000
SQL = "'; DROP TABLE memory; --"
REFUSED = {
    "nothing asked for": (("facts", ""), 1, "ENTITY is empty"),
    "a name with SQL": (("timeline", SQL), 3, "There is no entity"),
    "the name null": (("entity", "alias", "Gai Media", "null"), 1, "is no name"),
    "an unknown id": (("confirm", "nobody"), 3, "There is no memory"),
    "an endless id": (("deny", BIG), 1, "200 are allowed"),
    "an endless value": (("correct", "FACT", BIG), 1, "at most 500 characters"),
    "no budget": (("answer-sheet", "q", "--budget-tokens", "0"), 1, "at least 50"),
    "a time beyond time": (("recall", "q", "--as-of", "9999-12-31T00:00Z"), 1, "too far in the future"),
    "an endless date": (("recall", "q", "--known-at", BIG), 2, "is not a date"),
    "an endless path": (("backtest", "--policy", BIG), 1, "cannot be read"),
    "no file": (("extract", BIG), 1, "cannot be read"),
    "a namespace with SQL": (("rates", "-n", SQL), 1, "is not allowed"),
}


@pytest.mark.behaviour("DO38")
def test_what_a_knowledge_command_cannot_take_is_refused_in_a_line_with_a_remedy_and_changes_nothing(place):
    said(place, "Remember, Gai Media prefers Friday deliveries.")
    (fact,) = data("facts")
    before = data("history")
    for name, (words, code, message) in REFUSED.items():
        told = ran(*(fact["id"] if word == "FACT" else word for word in words), code=code)
        assert message in " ".join(told.split()), name
        assert len(told) < 1000, name
        assert len(told.strip().splitlines()) >= 2, name  # what is wrong, and what to do
    assert data("history") == before
    assert data("check")["sound"]


@pytest.mark.behaviour("DO40")
def test_a_predicate_that_is_no_word_means_no_fact(place):
    said(place, "Remember, Gai Media prefers Friday deliveries.")
    for words in ("..", "value", SQL):
        assert data("facts", "--predicate", words, code=3) == []
    assert [f["value"] for f in data("facts", "--predicate", "day preference")] == ["Friday"]


@pytest.mark.behaviour("DO41")
def test_an_id_that_no_authority_knows_is_named(place):
    (place / "perdure.toml").write_text(KNOWLEDGE + '[knowledge]\nfile = "known.toml"\n')
    (place / "known.toml").write_text('[authorities.code]\nworking_tree = "."\n')
    perdure.open(place / "agent.db", embedder="none").close()
    assert "No authority covers nobody" in ran("verify", "nobody")
