"""An error names parameters, types and values as the way in does through which the call came."""

from __future__ import annotations

import json

import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

import perdure
from conftest import WORDS_ONLY
from interfaces.test_mcp_talk import over, refused, talk
from perdure.interfaces.cli.app import app
from perdure.interfaces.http.app import build_app
from perdure.interfaces.http.settings import Settings
from perdure.verbs.declaration import VERBS

HOST = "localhost:8766"
CASES = [
    # verb, JSON arguments, what JSON is told, what Python is told
    (
        "remember",
        {"content": 5},
        "content must be text, not number. Pass a string.",
        "content must be text, not int. Pass a str.",
    ),
    (
        "remember",
        {"content": "x", "pinned": [None]},
        "pinned must be true or false, not [null]. Choose one of them.",
        "pinned must be True or False, not [None]. Choose one of them.",
    ),
    (
        "remember",
        {"content": "x", "metadata": [1]},
        "metadata must be an object, not list. Pass an object.",
        "metadata must be a dict, not list. Pass a dict.",
    ),
    (
        "recall",
        {"query": "x", "limit": True},
        "limit must be a whole number from 1 to 1000, not true. Give a number in that range.",
        "limit must be a whole number from 1 to 1000, not True. Give a number in that range.",
    ),
    (
        "erase",
        {"ids": ["x"], "confirm": "w"},
        "This is a dry run, and it takes no confirm; nothing was erased. To erase, pass dry_run=false as well.",
        "This is a dry run, and it takes no confirm; nothing was erased. To erase, pass dry_run=False as well.",
    ),
    (
        "remember_many",
        {"items": {"a": 1}},
        "items must be a list of objects, not object. Pass a list of objects.",
        "items must be a list of dicts, not dict. Pass a list of dicts.",
    ),
    (
        "ingest",
        {"messages": [3]},
        "Message 1 must be an object, not number. Nothing was stored. Pass a list of objects with content and role.",
        "Message 1 must be a dict, not int. Nothing was stored. Pass a list of dicts with content and role.",
    ),
]


@pytest.fixture
def memory():
    with perdure.open(":memory:", WORDS_ONLY) as opened:
        yield opened


@pytest.mark.parametrize(("verb", "arguments", "in_json", "in_python"), CASES)
def test_an_error_speaks_as_its_caller_does(memory, verb, arguments, in_json, in_python):
    with pytest.raises(perdure.InvalidInput) as caught:
        getattr(memory, verb)(**arguments)
    assert str(caught.value) == in_python

    async def story(client):
        error = await refused(client, verb, **arguments)
        assert f"{error['message']} {error['remedy']}" == in_json

    if VERBS[verb].tool:
        talk(over(memory, "full"), story)
    with TestClient(build_app(lambda: memory, Settings(frozenset({HOST}))), base_url=f"http://{HOST}") as client:
        told = client.post(f"/v1/{verb.replace('_', '-')}", json=arguments).json()
        assert f"{told['detail']} {told['remedy']}" == in_json


def test_a_way_in_does_not_leave_its_words_to_the_next_call(memory):
    talk(over(memory), lambda client: refused(client, "remember", content="x", metadata=[1]))
    with pytest.raises(perdure.InvalidInput, match="Pass a dict"):
        memory.remember("x", metadata=[1])


def said(tmp_path, *words):
    done = CliRunner().invoke(app, [*words, "--store", str(tmp_path / "a.db"), "--json"], prog_name="perdure")
    told = json.loads(done.stdout)
    return f"{told['message']} {told['remedy']}".strip()


def test_the_command_line_names_its_options(tmp_path):
    CliRunner().invoke(app, ["remember", "tea", "--store", str(tmp_path / "a.db")], prog_name="perdure")
    assert said(tmp_path, "remember", "x", "--importance", "1.5") == (
        "--importance must be a number from 0 to 1, not 1.5. Give a number in that range."
    )
    assert said(tmp_path, "list", "--tag", " ") == "each of --tag is empty. Give it some text."
    assert said(tmp_path, "remember", " ") == "CONTENT is empty. Give it some text."
    assert said(tmp_path, "erase", "x", "--confirm", "w").endswith("To erase, pass --apply as well.")
    for option, given, told in (
        ("--timeout", "0", "it must be at least 0.001"),
        ("--timeout", "soon", "it must be a number"),
        ("--timeout", "1e9", "it must be at most 86400"),
        ("--limit", "few", "it must be a whole number"),
    ):
        error = said(tmp_path, "list", option, given)
        assert f"Invalid value for '{option}'" in error
        assert f": {told}" in error
    assert said(tmp_path, "reinforce", "x", "--boost-amount", "7").startswith("--boost-amount must be a number")
