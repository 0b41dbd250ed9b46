"""A server or a command that is given a namespace acts there only, and says where something else is."""

import os
import re
import shlex
import shutil
import sys
from pathlib import Path

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from typer.testing import CliRunner

import perdure
from conftest import ENV
from perdure.interfaces.cli.app import app

PORT, BOOT = "The checkout API listens on port 4200.", "Never flash the bootloader over OTA."


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("PERDURE_STORE", str(tmp_path / "agent.db"))
    (tmp_path / "policy.toml").write_text('[embedder]\nmodel = "none"\n')
    monkeypatch.setenv("PERDURE_POLICY", str(tmp_path / "policy.toml"))
    with perdure.open(tmp_path / "agent.db", tmp_path / "policy.toml") as memory:
        port = memory.remember(PORT, namespace="shop front")
        boot = memory.remember(BOOT, namespace="sensorbox")
    return tmp_path, port, boot


def run(*words, code=0):
    done = CliRunner().invoke(app, [str(w) for w in words], prog_name="perdure")
    assert done.exit_code == code, done.output
    return done


def printed(text):
    """Return the commands that a text tells a person to run."""
    return re.findall(r"(?<=`)perdure [^`\n]+(?=`)|(?<=: )perdure [^\n]+$", text, re.MULTILINE)


def test_commands_in_an_error_name_the_namespace_and_the_store_that_were_given(place, monkeypatch):
    store = place[0] / "an agent.db"
    monkeypatch.chdir(place[0])
    given = ("-n", "shop front", "--store", store)
    (command,) = printed(run("remember", BOOT, *given).stdout)
    run(*shlex.split(command)[1:])
    (command,) = printed(run("backtest", *given, code=1).stderr)
    shutil.copy(place[0] / "policy.toml", place[0] / "other.toml")
    run(*shlex.split(command)[1:])
    (command,) = printed(run("copy", store, place[0] / "b.db", "-n", "nowhere", "--store", store, code=3).stderr)
    assert "shop front" in run(*shlex.split(command)[1:]).stdout


def test_commands_in_a_reply_name_the_store_the_policy_and_the_namespace_that_were_given(place, monkeypatch):
    monkeypatch.chdir(place[0])
    monkeypatch.delenv("PERDURE_STORE")
    monkeypatch.delenv("PERDURE_POLICY")
    (place[0] / "policy.toml").rename("my policy.toml")
    given = ("--store", "an agent.db", "--policy", "my policy.toml")
    for options in ((*given, "-n", "shop front"), given):
        (undo,) = printed(run(*options, "remember", BOOT).stdout)
        assert shlex.split(undo)[-len(given) :] == list(given)
        run(*shlex.split(undo)[1:])
        run(*options, "remember", PORT)
        undo = re.findall(r"perdure undo .*", run(*options, "history").stdout)[-1].rstrip(".")
        assert "Undone" in run(*shlex.split(undo)[1:]).stdout


def contents(namespace):
    with perdure.open(os.environ["PERDURE_STORE"], create=False) as memory:
        return [m.content for m in memory.list(namespace)]


def ENV_STORE():  # noqa: N802  # read where the test has set it
    import os

    return os.environ["PERDURE_STORE"]


def in_server(namespace, story, *more):
    words = ["-m", "perdure", "mcp", "--namespace", namespace, *more]
    environment = {**os.environ, "PYTHONPATH": ENV["PYTHONPATH"]}
    parameters = StdioServerParameters(command=sys.executable, args=words, env=environment, cwd=Path.cwd())

    async def connected():
        async with Client(stdio_client(parameters), read_timeout_seconds=60) as client:
            await story(client)

    anyio.run(connected)


def test_undo_last_of_a_server_stays_in_its_project(place):
    async def story(client):
        answer = await client.call_tool("undo", {"operation_id": "last"})
        assert [m["content"] for m in answer.structured_content["memories"]] == [PORT]
        nothing = await client.call_tool("undo", {"operation_id": "last"})
        assert nothing.is_error

    in_server("shop front", story)
    assert contents("sensorbox") == [BOOT]


def test_a_server_refuses_ids_of_another_project_and_says_where_they_are(place):
    _, _, boot = place
    operation = boot.operation

    async def story(client):
        tries = [
            ("update", {"id": boot.memory.id, "content": "changed"}),
            ("update", {"id": boot.memory.id[-8:], "content": "changed"}),
            ("forget", {"id": boot.memory.id, "reason": "a test"}),
            ("why", {"id": boot.memory.id}),
            ("get", {"id": boot.memory.id}),
            ("pin", {"id": boot.memory.id}),
            ("history", {"id": boot.memory.id}),
            ("undo", {"operation_id": operation}),
            ("undo", {"operation_id": operation[-8:]}),
            ("recall", {"query": "bootloader", "namespace": "sensorbox"}),
        ]
        for tool, arguments in tries:
            answer = await client.call_tool(tool, arguments)
            assert answer.is_error, (tool, arguments)
            assert "'sensorbox'" in answer.content[0].text, answer.content[0].text
            assert "--namespace sensorbox acts there" in answer.content[0].text

    in_server("shop front", story, "--profile", "full")
    assert contents("sensorbox") == [BOOT]


@pytest.mark.parametrize("verb", ["update", "forget", "pin", "why", "history", "undo", "get"])
def test_a_command_with_a_namespace_refuses_what_is_elsewhere(place, verb):
    _, _, boot = place
    words = {"update": [boot.memory.id, "changed"], "forget": [boot.memory.id, "--reason", "a test"]}
    words["undo"] = [boot.operation]
    told = run(verb, *words.get(verb, [boot.memory.id]), "-n", "shop front", code=1).stderr
    assert "is in the namespace 'sensorbox'" in told
    assert "acts there" in told
    assert contents("sensorbox") == [BOOT]
    run(verb, *words.get(verb, [boot.memory.id]))  # without a namespace it acts wherever the id is


def test_what_concerns_the_whole_file_needs_the_namespace_left_out(place):
    assert "Leave --namespace out" in run("compact", "--apply", "-n", "sensorbox", code=1).stderr
    run("compact", "--apply")


def test_printed_commands_name_the_namespace_and_stay_in_it(place):
    shown = run("undo", "-n", "shop front").stdout
    assert "perdure undo last -n 'shop front'" in shown
    assert "-n" not in run("undo").stdout
    done = run("undo", "last", "-n", "shop front").stdout
    assert PORT in done
    assert " -n 'shop front'" in done[done.index("Undo: perdure undo ") :]
    assert contents("sensorbox") == [BOOT]
    run("undo", "last", "-n", "shop front", code=3)
