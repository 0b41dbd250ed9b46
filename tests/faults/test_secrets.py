"""Nothing of a secret stays in a store, whichever way it came: files and servers are searched byte by byte."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from conftest import WORDS_ONLY, in_processes, opened, tables
from perdure.records.memory import Message

TOKEN = "ghp_" + "aBcD1234eFgH5678iJkL9012mNoP3456qRsT"
PASSWORD = "Tr0ub4dor&3xyz"  # noqa: S105  # made up
CARD = "4111 1111" + " 1111 1111"
AT = "2025-05-01T09:00:00Z"


def everything(memory) -> None:
    """Bring secrets in by every way there is."""
    note = memory.remember(
        f"The deploy key is {TOKEN}.",
        tags=[f"key {TOKEN}"],
        source=f"https://bot:{PASSWORD}@example.org/",
        metadata={"password": PASSWORD, "deep": [{"card": CARD}]},
        idempotency_key=f"note {TOKEN}",
    )
    memory.remember_many([f"password = {PASSWORD}", {"content": f"Pay with {CARD}.", "tags": [f"card {CARD}"]}])
    said = {"role": "user", "content": f"Remember that the password is {PASSWORD} for the build.", "at": AT}
    memory.ingest(
        [said, {**said, "role": "assistant", "content": f"Noted: {CARD}", "speaker": f"bot {TOKEN}"}], session="s"
    )
    memory.ingest([{**said, "id": f"m-{TOKEN}", "content": f"Call with Authorization: Bearer {TOKEN}"}], session="s")
    memory.extract(f"We decided to use {TOKEN} for the deploys. Important: the password is {PASSWORD} from now on.")
    agent = memory.agent
    agent.begin("t", "default", "t.jsonl")
    asked = Message(f"Remember that our key is {TOKEN}, please.", "user", session="t", key="1")
    agent.take_in("t", "default", [asked], transcript="t.jsonl", mark="1")
    agent.beside(f"Is {TOKEN} our deploy key?", "t", "default")
    hit = memory.recall(f"Which deploy key is {TOKEN}?")
    memory.used([hit.hits[0].memory.id], "helpful", hit.id)
    memory.used([hit.hits[0].memory.id], "wrong", hit.id)
    memory.settle(hit.hits[0].memory.id, "keep", f"{TOKEN} is right")
    memory.move(note.id, "hot", f"needed for {TOKEN}")
    memory.archive(note.id, f"the password {PASSWORD} was leaked: password={PASSWORD}")
    memory.digest()


def leaks(data: bytes) -> list[str]:
    parts = (TOKEN, TOKEN[4:20], PASSWORD, CARD, CARD.replace(" ", ""), "dor&3xyz", "1111 1111")
    return [p for p in parts if p.encode() in data or p.encode("utf-16-le") in data]


@pytest.mark.behaviour("SF4")
def test_no_file_of_a_store_holds_a_byte_of_a_secret(tmp_path, clock):
    path = tmp_path / "m.db"
    with warnings.catch_warnings(record=True) as said, opened(path, WORDS_ONLY, clock) as memory:
        warnings.simplefilter("always")
        everything(memory)
        files = sorted(p for p in tmp_path.rglob("*") if p.is_file())
        assert any(p.name.endswith("-wal") for p in files)
        assert {p.name: leaks(p.read_bytes()) for p in files} == {p.name: [] for p in files}
    texts = [str(w.message) for w in said]
    assert any("github token" in t and "replaced before storing" in t for t in texts)
    assert [t for t in texts if leaks(t.encode())] == []
    assert leaks(path.read_bytes()) == []
    assert b"[redacted: github token]" in path.read_bytes()


@pytest.mark.behaviour("SF5")
@in_processes
def test_no_row_of_a_store_holds_a_secret(memory, path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        everything(memory)
    found = {name: [row for row in rows if leaks(repr(row).encode())] for name, rows in tables(path).items()}
    assert sum(len(rows) for rows in tables(path).values()) > 20
    assert {name: rows for name, rows in found.items() if rows} == {}


@pytest.mark.behaviour("SF6")
def test_twice_adds_nothing(memory):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        messages = [{"content": f"Use {TOKEN}.", "at": AT}, {"content": f"Use {CARD}.", "at": AT}]
        first = memory.ingest(messages, session="s")
        assert (first.added, memory.ingest(messages, session="s").added) == (2, 0)
        one = memory.remember(f"Deploy with {TOKEN}.")
        assert memory.remember(f"Deploy with {TOKEN}.").id == one.id
        assert memory.remember("Deploy with [redacted: github token].").id == one.id
        assert one.memory.content == "Deploy with [redacted: github token]."


@pytest.mark.behaviour("SF7")
def test_a_policy_may_keep_secrets(opening):
    memory = opening({**WORDS_ONLY, "knowledge": {"redact": False}})
    assert memory.remember(f"Deploy with {TOKEN}.").memory.content == f"Deploy with {TOKEN}."


@pytest.mark.behaviour("SF8")
def test_a_caller_is_warned_once_with_kinds_and_counts(memory):
    with pytest.warns(UserWarning, match=r"2 secrets were replaced before storing \(card number, github token\)"):
        memory.remember(f"{TOKEN} {CARD}")


def test_the_source_of_these_tests_holds_no_whole_token():
    assert TOKEN not in Path(__file__).read_text("utf-8")
