"""A retry of what was erased: every door refuses it with the same typed error, and stores nothing."""

from __future__ import annotations

import json
from contextlib import closing

import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

import perdure
from conftest import WORDS_ONLY
from interfaces.test_mcp_talk import over, refused, talk
from perdure.interfaces.cli import app as cli
from perdure.interfaces.cli.call import Exit
from perdure.interfaces.http.app import build_app
from perdure.interfaces.http.settings import Settings
from perdure.records.errors import MemoryErased
from service.test_client import listening

WORDS = "Anna Schmidt lives at 17 Harbour Lane."
KEY = "note-1"
HOST = "localhost:8766"


@pytest.fixture
def path(tmp_path):
    """A store in which what was stored under a key was erased."""
    with perdure.open(tmp_path / "a.db", WORDS_ONLY) as memory:
        kept = memory.remember(WORDS, idempotency_key=KEY).id
        confirm = memory.erase([kept], reason="asked").confirm
        memory.erase([kept], reason="asked", confirm=confirm, dry_run=False)
    return tmp_path / "a.db"


@pytest.fixture
def memory(path):
    with closing(perdure.open(path, WORDS_ONLY)) as opened:
        yield opened
        assert opened.list(include_archived=True) == []


def check_told(error):
    assert (error["error"], error["fault"]) == ("MemoryErased", "caller")
    assert "was erased for good" in error["message"]
    assert "Do not try it again" in error["remedy"]


def test_the_command_line(path, memory):
    words = ["remember", WORDS, "--idempotency-key", KEY, "--store", str(path)]
    said = CliRunner().invoke(cli.app, words, prog_name="perdure")
    assert (said.exit_code, said.stdout) == (Exit.FAILED, "")
    assert "was erased for good" in said.stderr
    assert "Do not try it again" in said.stderr
    told = CliRunner().invoke(cli.app, [*words, "--json"], prog_name="perdure")
    assert told.exit_code == Exit.FAILED
    check_told(json.loads(told.stdout))


def test_mcp(memory):
    async def story(client):
        check_told(await refused(client, "remember", content=WORDS, idempotency_key=KEY))

    talk(over(memory), story)


@pytest.mark.parametrize("header", [True, False])
def test_http(memory, header):
    with TestClient(build_app(lambda: memory, Settings(frozenset({HOST}))), base_url=f"http://{HOST}") as client:
        given = {"content": WORDS} if header else {"content": WORDS, "idempotency_key": KEY}
        told = client.post("/v1/remember", json=given, headers={"idempotency-key": KEY} if header else {})
    assert (told.status_code, told.headers["content-type"]) == (422, "application/problem+json")
    check_told({**told.json(), "message": told.json()["detail"]})


def test_the_client_of_a_service(memory):
    with listening(memory) as url, perdure.connect(url) as remote, pytest.raises(MemoryErased) as refusal:
        remote.remember(WORDS, idempotency_key=KEY)
    check_told(refusal.value.to_dict())
