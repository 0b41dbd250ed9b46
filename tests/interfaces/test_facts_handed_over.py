"""Facts that a caller hands over, through the command line and through the tools of the profile ``agent``."""

import json
import sys

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from typer.testing import CliRunner

import perdure
from conftest import WORDS_ONLY
from perdure.interfaces.cli import app as cli

HOME = {"subject": "Ana", "predicate": "home", "value": "Paris"}
PORK = {"subject": "Ana", "predicate": "eats", "value": "pork", "denied": True}
ROME = {**HOME, "value": "Rome", "replaces": "Paris"}


@pytest.fixture
def place(tmp_path, monkeypatch):
    (tmp_path / "policy.toml").write_text('[embedder]\nmodel = "none"\n')
    monkeypatch.setenv("PERDURE_STORE", str(tmp_path / "agent.db"))
    monkeypatch.setenv("PERDURE_POLICY", str(tmp_path / "policy.toml"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words, given=None, code=0):
    done = CliRunner().invoke(cli.app, ["--json", *words], input=given, prog_name="perdure")
    assert done.exit_code == code, (done.stdout, done.stderr)
    return json.loads(done.stdout)


def believed(place):
    with perdure.open(place / "agent.db", WORDS_ONLY) as memory:
        return {(f.name, f.predicate, f.value, f.denied) for f in memory.facts()}


def test_commands_take_facts_from_a_file_and_from_standard_input(place):
    (place / "facts.json").write_text(json.dumps([HOME, PORK]))
    kept = run("remember", "Ana lives in Paris and does not eat pork.", "--facts", "facts.json")
    assert len(kept["facts"]["created"]) == 2
    moved = run("remember", "Ana moved to Rome.", "--facts", "-", given=json.dumps([ROME]))
    assert believed(place) == {("Ana", "home", "Rome", False), ("Ana", "eat", "pork", True)}
    run("undo", moved["operation"])
    assert believed(place) == {("Ana", "home", "Paris", False), ("Ana", "eat", "pork", True)}
    oslo = json.dumps([{**HOME, "value": "Oslo"}, PORK])
    run("update", kept["id"], "Ana lives in Oslo and does not eat pork.", "--facts", "-", given=oslo)
    assert believed(place) == {("Ana", "home", "Oslo", False), ("Ana", "eat", "pork", True)}


@pytest.mark.behaviour("FD40")
def test_facts_without_a_memory_are_answered_with_what_is_known_beside_them(place):
    kept = run("remember", "Ana lives in Paris and does not eat pork.", "--facts", "-", given=json.dumps([HOME, PORK]))
    done = run("learn", "--claims", "-", given=json.dumps([{**HOME, "value": "Oslo"}]))
    assert [(one["id"], one["content"]) for one in done["related"]] == [
        (kept["id"], "Ana lives in Paris and does not eat pork.")
    ]
    assert [(one["subject"], one["predicates"]) for one in done["predicates"]] == [("Ana", ["eats"])]
    told = CliRunner().invoke(cli.app, ["learn", "--claims", "-"], input=json.dumps([{**HOME, "value": "Lima"}])).stdout
    assert "1 new fact" in told
    assert "Known of Ana: eat" in told
    assert "Ana lives in Paris and does not eat pork." in told
    (printed,) = (line for line in told.splitlines() if line.startswith("If one of these no longer holds: perdure "))
    words = {"ID": kept["id"], "CONTENT": "Ana lives in Oslo and does not eat pork."}
    run(*(words.get(word, word) for word in printed.partition("perdure ")[2].split()))


def test_who_looks_for_facts_where_none_are_learned_is_told_to_hand_them_over(place):
    run("remember", "The deploy key lives in the vault.")
    told = CliRunner().invoke(cli.app, ["facts"]).stdout
    assert "Pass facts to remember" in told
    assert 'preset = "facts"' in told


@pytest.mark.parametrize(
    ("given", "code", "named"),
    [
        ("not valid JSON", 2, "--facts"),
        ("{}", 2, "a JSON list"),
        ('[{"subject": "", "predicate": "home", "colour": 1}]', 1, "Claim 1"),
    ],
)
def test_a_command_that_is_given_no_facts_stores_nothing(place, given, code, named):
    refused = run("remember", "Ana lives in Paris.", "--facts", "-", given=given, code=code)
    assert named in refused["message"]
    with perdure.open(place / "agent.db", WORDS_ONLY) as memory:
        assert memory.list() == memory.facts() == []


DAY = [
    ("Ana lives in Paris.", [HOME]),
    ("Ana isst kein Schweinefleisch.", [PORK]),
    ("El puerto de pruebas es 5433.", [{"subject": "test database", "predicate": "port", "value": "5433"}]),
]


async def call(client, tool, **arguments):
    answer = await client.call_tool(tool, arguments)
    assert not answer.is_error, answer.content
    return answer.structured_content


def test_an_agent_hands_facts_over_changes_one_and_undoes_all(place):
    line = ["-m", "perdure.interfaces.mcp", "--store", str(place / "agent.db"), "--policy", str(place / "policy.toml")]
    parameters = StdioServerParameters(command=sys.executable, args=line)
    operations = []

    async def story():
        async with Client(stdio_client(parameters), read_timeout_seconds=60) as client:
            said = [await call(client, "remember", content=words, facts=facts) for words, facts in DAY]
            wrong = await client.call_tool("remember", {"content": "x", "facts": [{"subject": "Ana"}]})
            assert wrong.is_error
            assert "Claim 1" in wrong.content[0].text
            moved = await call(client, "update", id=said[0]["id"], content="Ana moved to Rome.", facts=[ROME])
            operations.extend(o["operation"] for o in (*said, moved))
            hits = (await call(client, "recall", query="Which home has Ana moved to?"))["hits"]
            assert "Rome" in hits[0]["memory"]["content"]
            assert not any("Paris" in hit["memory"]["content"] for hit in hits)
            text = (await client.call_tool("digest", {})).content[0].text
            assert "Rome" in text
            assert "Paris" not in text

    anyio.run(story)
    facts = {("Ana", "home", "Rome", False), ("Ana", "eat", "pork", True), ("test database", "port", "5433", False)}
    assert believed(place) == facts

    async def undo_all():
        async with Client(stdio_client(parameters), read_timeout_seconds=60) as client:
            for operation in reversed(operations):
                await call(client, "undo", operation_id=operation)

    anyio.run(undo_all)
    with perdure.open(place / "agent.db", WORDS_ONLY) as memory:
        assert memory.list(include_archived=True) == memory.facts() == memory.entities() == []
        assert memory.check() == []
