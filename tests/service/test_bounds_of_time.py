"""A span of time that ends before it begins is refused, whichever way it was given."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from typer.testing import CliRunner

import perdure
from interfaces.test_mcp_talk import over, refused, talk
from perdure.interfaces.cli.app import app

LATER, EARLIER = datetime(2026, 3, 2, tzinfo=UTC), datetime(2026, 3, 1, tzinfo=UTC)
TOLD = "since (2026-03-02 00:00 UTC) is later than until (2026-03-01 00:00 UTC)."
IN_JSON = {"since": LATER.isoformat(), "until": EARLIER.isoformat()}


def test_python_refuses_it(memory):
    kept = memory.remember("The gate is green.")
    asks = (
        lambda **bounds: memory.recall("gate", **bounds),
        memory.list,
        lambda **bounds: memory.why_not(kept.id, "gate", **bounds),
    )
    for ask in asks:
        with pytest.raises(perdure.InvalidInput) as caught:
            ask(since=LATER, until=EARLIER)
        assert caught.value.message == TOLD
        ask(since=EARLIER, until=LATER)


def test_tools_refuse_it(memory):
    async def story(client):
        for tool, arguments in (("recall", {"query": "gate"}), ("list", {})):
            assert (await refused(client, tool, **arguments, **IN_JSON))["message"] == TOLD

    talk(over(memory, "full"), story)


def test_the_service_refuses_it(client):
    for path, arguments in (("recall", {"query": "gate"}), ("list", {})):
        answer = client.post(f"/v1/{path}", json={**arguments, **IN_JSON})
        assert (answer.status_code, answer.json()["detail"]) == (422, TOLD)
    assert client.post("/v1/list", json={"since": "2026-03-01", "until": "2026-03-01"}).status_code == 200


def test_the_command_line_refuses_it(tmp_path):
    store = ("--store", str(tmp_path / "a.db"), "--json")
    CliRunner().invoke(app, ["remember", "The gate is green.", *store], prog_name="perdure")
    for words in (["recall", "gate"], ["list"]):
        bounds = ("--since", "2026-03-02T00:00Z", "--until", "2026-03-01T00:00Z")
        done = CliRunner().invoke(app, [*words, *bounds, *store], prog_name="perdure")
        assert (done.exit_code, json.loads(done.stdout)["message"].replace("--", "")) == (1, TOLD)


def test_a_fact_that_ends_before_it_begins_is_refused(memory):
    claim = {"subject": "Ana", "predicate": "home", "value": "Oslo", "valid_from": LATER, "valid_to": EARLIER}
    with pytest.raises(perdure.InvalidInput, match="valid_to is before valid_from"):
        memory.remember("Ana lived in Oslo.", facts=[claim])
    assert memory.list() == []
