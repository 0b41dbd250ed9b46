"""Doors offer to undo what a call wrote, and nothing where it wrote nothing: never what somebody else did."""

import json

import pytest
from typer.testing import CliRunner

import perdure
from interfaces.test_mcp_talk import call, over, talk
from perdure.interfaces.cli.app import app

WORDS = "The staging database is pg-stage-2."
KNOWLEDGE = {"embedder": {"model": "none"}, "preset": "facts"}


@pytest.fixture
def memory():
    with perdure.open(":memory:", KNOWLEDGE) as opened:
        yield opened


NOTHING = {
    "unpin": {},
    "restore": {},
    "move": {"tier": "warm", "reason": "it is there"},
}
"""What changes nothing of a new note."""


@pytest.mark.parametrize("tool", NOTHING)
def test_a_decision_that_changes_nothing_offers_no_undo(memory, tool):
    async def story(client):
        identity = (await call(client, "remember", content=WORDS))["id"]
        answer = await client.call_tool(tool, {"id": identity, **NOTHING[tool]})
        assert answer.structured_content["operation"] is None
        assert memory.history(identity)[-1].operation_id[-8:] not in answer.content[0].text

    talk(over(memory, "full"), story)


@pytest.mark.parametrize(("tool", "more"), [("pin", {}), ("archive", {"reason": "a test"})])
def test_a_decision_offers_its_own_operation_and_the_second_time_none(memory, tool, more):
    async def story(client):
        identity = (await call(client, "remember", content=WORDS))["id"]
        first = await call(client, tool, id=identity, **more)
        assert first["operation"] == memory.history()[0].id
        assert memory.history()[0].operation == tool
        assert (await call(client, tool, id=identity, **more))["operation"] is None

    talk(over(memory, "full"), story)


def test_an_answer_that_was_given_before_offers_no_undo(memory):
    memory.ingest([{"content": "Remember that Gai Media prefers Friday deliveries.", "role": "user"}], session="s")
    (fact,) = memory.facts("Gai Media")

    async def story(client):
        first = await call(client, "review", id=fact.id, verdict="mute")
        assert first["answered"]["operation"] == memory.history()[0].id
        assert (await call(client, "review", id=fact.id, verdict="mute"))["answered"]["operation"] is None

    talk(over(memory, "full"), story)


def test_what_one_message_is_decided_on_never_offers_to_take_its_whole_conversation_back(memory):
    memory.ingest([{"content": f"Message {n} of a long one.", "role": "user"} for n in range(20)], session="s")
    one = memory.list(kinds=["episode"])[0]

    async def story(client):
        assert (await call(client, "unpin", id=one.id))["operation"] is None

    talk(over(memory, "full"), story)
    assert memory.stats().memories == 20


@pytest.fixture
def ran(tmp_path):
    def run(*arguments):
        done = CliRunner().invoke(app, ["--store", str(tmp_path / "a.db"), "--policy", str(policy), *arguments])
        assert done.exit_code == 0, done.output
        return done.output

    policy = tmp_path / "policy.toml"
    policy.write_text('embedder.model = "none"', encoding="utf-8")
    return run


def test_the_command_line_prints_the_operation_to_undo_and_none_where_nothing_changed(ran):
    kept = json.loads(ran("remember", WORDS, "--json"))
    assert "Undo:" not in ran("unpin", kept["id"])
    pinned = ran("pin", kept["id"])
    operation = json.loads(ran("history", "--json"))[0]["id"]
    assert f"Undo: perdure undo {operation[-8:]}" in pinned.splitlines()
    again = json.loads(ran("pin", kept["id"], "--json"))
    assert (again["operation"], again["changed"]) == (None, False)
    assert "Nothing changed" in ran("pin", kept["id"])
