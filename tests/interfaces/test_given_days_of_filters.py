"""A day instead of a time: tools and commands take it whole."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime

import pytest
from typer.testing import CliRunner

import perdure
from interfaces.test_mcp_talk import call, over, refused, talk
from perdure.interfaces.cli.app import app

DAYS = ("2026-10-31", "2026-11-01", "2026-11-02")


@pytest.fixture
def place(tmp_path):
    return tmp_path / "a.db"


@pytest.fixture
def memory(place, clock):
    clock.now = datetime(2026, 11, 20, tzinfo=UTC)
    with perdure.open(place, {"embedder": {"model": "none"}}, clock) as opened:
        for day in DAYS:
            opened.remember(f"The gate squeaks on {day}.", at=datetime.fromisoformat(f"{day}T23:30:00+00:00"))
        yield opened


@pytest.fixture
def zone(monkeypatch):
    """Return what puts the machine into a time zone."""

    def put(name):
        monkeypatch.setenv("TZ", name)
        time.tzset()

    yield put
    monkeypatch.undo()
    time.tzset()


def test_a_tool_takes_a_day_whole(memory, zone):
    zone("UTC")

    async def story(client):
        async def days(**given):
            found = await call(client, "list", **given)
            return sorted(m["content"][-11:-1] for m in found["memories"])

        assert await days(since="2026-11-01") == [*DAYS[1:]]
        assert await days(until="2026-11-01") == [*DAYS[:2]]
        assert await days(since="2026-11-01", until="2026-11-01") == [DAYS[1]]
        assert await days(until="2026-11-01T00:00:00Z") == [DAYS[0]]
        error = await refused(client, "list", since="2026-11-01T10:00:00")
        assert "no time zone" in error["message"]
        assert "a day such as 2026-11-21" in error["remedy"]
        error = await refused(client, "list", since="1 November")
        assert "ISO 8601" in error["message"]
        assert "a day such as 2026-11-21" in error["remedy"]
        assert await refused(client, "remember", content="It rains.", at="2026-11-01")

    talk(over(memory), story)


def test_what_was_known_on_a_day_is_what_was_known_at_its_end(memory, clock):
    home = {"subject": "Ana", "predicate": "home", "value": "Oslo"}
    clock.now = datetime(2026, 11, 21, 18, tzinfo=UTC)
    memory.remember("Ana lives in Oslo.", facts=[home])
    clock.now = datetime(2026, 11, 22, 0, 0, tzinfo=UTC)
    memory.remember("Ana moved to Rome.", facts=[{**home, "value": "Rome", "replaces": "Oslo"}])

    async def story(client):
        async def homes(**given):
            return [f["value"] for f in (await call(client, "facts", entity="Ana", **given))["facts"]]

        assert await homes(known_at="2026-11-20") == []
        assert await homes(known_at="2026-11-21") == await homes(as_of="2026-11-21") == ["Oslo"]
        assert await homes(known_at="2026-11-22") == await homes(as_of="2026-11-22") == ["Rome"]

    talk(over(memory), story)


HERE = {"UTC": DAYS[1], "Europe/Berlin": DAYS[0]}  # 23:30 in UTC is the next day in Berlin


@pytest.mark.parametrize("name", HERE)
def test_a_command_takes_a_day_whole_where_the_machine_is(memory, place, zone, name):
    memory.close()
    zone(name)
    given = ["list", "--since", "2026-11-01", "--until", "2026-11-01", "--store", str(place), "--json"]
    done = CliRunner().invoke(app, given, prog_name="perdure")
    assert done.exit_code == 0, done.output
    assert [m["content"][-11:-1] for m in json.loads(done.stdout)] == [HERE[name]]


@pytest.mark.parametrize("name", HERE)
def test_a_tool_of_a_server_on_this_machine_takes_the_same_days_as_a_command(memory, zone, name):
    zone(name)

    async def story(client):
        found = await call(client, "list", since="2026-11-01", until="2026-11-01")
        assert [m["content"][-11:-1] for m in found["memories"]] == [HERE[name]]
        [tool] = [t for t in (await client.list_tools()).tools if t.name == "list"]
        assert tool.input_schema["properties"]["since"]["description"].endswith(
            "since this time. A local day counts whole."
        )

    talk(over(memory), story)
