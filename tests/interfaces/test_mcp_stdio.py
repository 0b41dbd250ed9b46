"""The MCP server as a process of its own, with the library's real client over real pipes and a real port."""

import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
import tomllib
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import get_args

import anyio
import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

import perdure
from interfaces.test_mcp_schema import HINTS
from perdure.interfaces.mcp import config as mcp_config
from perdure.interfaces.mcp import run as doorway

SOURCE = str(Path(perdure.__file__).parents[1])
ENV = {**os.environ, "PYTHONPATH": SOURCE, "PYTHONWARNINGS": "default"}
MODES = ("2026-07-28", "legacy")
WORDS_ONLY = {"embedder": {"model": "none"}}
LONG_AGO = (datetime.now(UTC) - timedelta(days=120)).isoformat()


@pytest.fixture
def store(tmp_path):
    return tmp_path / "agent.db"


@pytest.fixture
def policy(tmp_path):
    path = tmp_path / "policy.toml"
    path.write_text('[embedder]\nmodel = "none"\n')
    return path


def command(store, policy=None, *more):
    chosen = [] if policy is None else ["--policy", str(policy)]
    full = [] if "--profile" in more else ["--profile", "full"]
    return [sys.executable, "-m", "perdure.interfaces.mcp", "--store", str(store), *chosen, *full, *more]


@asynccontextmanager
async def connected(line, mode="auto", errors=None):
    parameters = StdioServerParameters(command=line[0], args=line[1:], env={**ENV, "HOME": str(Path.home())})
    transport = stdio_client(parameters, errlog=errors or sys.stderr)
    async with Client(transport, mode=mode, read_timeout_seconds=30) as client:
        yield client


async def call(client, tool, **arguments):
    answer = await client.call_tool(tool, arguments)
    assert not answer.is_error, answer.content
    return answer.structured_content


@pytest.mark.parametrize("mode", MODES)
def test_a_life_of_a_memory_over_stdio(store, policy, mode):
    async def story():
        async with connected(command(store, policy, "--profile", "full"), mode) as client:
            assert [t.name for t in (await client.list_tools()).tools][:2] == ["remember", "recall"]
            kept = await call(client, "remember", content="The staging server listens on port 8081.", tags=["ops"])
            old = await call(client, "remember", content="The standup was at nine.", at=LONG_AGO)
            found = await call(client, "recall", query="Which port does staging use?")
            assert [h["memory"]["id"] for h in found["hits"]] == [kept["id"]]
            assert (await call(client, "recall", query="zebra stripes"))["nothing_known"]
            assert "stored as note" in (await call(client, "why", id=kept["id"]))["history"][0]["because"]
            before = await call(client, "get", id=old["id"])
            dry = await call(client, "sweep", dry_run=True)
            assert [m["id"] for m in dry["moved"]] == [old["id"]]
            assert await call(client, "get", id=old["id"]) == before
            swept = await call(client, "sweep")
            assert swept["tally"] == dry["tally"]
            assert (await call(client, "get", id=old["id"]))["tier"] == "cold"
            for operation in swept["operations"]:
                await call(client, "undo", operation_id=operation)
            assert (await call(client, "get", id=old["id"]))["tier"] == before["tier"]
            await call(client, "archive", id=old["id"], reason="no longer true")
            assert (await call(client, "stats"))["statuses"] == {"active": 1, "archived": 1}
            assert (await call(client, "restore", id=old["id"]))["status"] == "active"
            read = (await client.read_resource("memory://digest")).contents[0].text
            assert re.search(rf"port 8081\. \([\d-]+\) \[{kept['id'][-8:]}\]", read)

    anyio.run(story)
    with perdure.open(store, WORDS_ONLY) as memory:
        assert memory.check() == []
        assert memory.stats().memories == 2


def test_errors_over_stdio_leave_the_server_working(store, policy):
    async def story():
        async with connected(command(store, policy, "--profile", "full")) as client:
            for tool, arguments, says in (
                ("remember", {"content": " "}, "content is empty"),
                ("remember", {"content": "x", "at": "2999-01-01T00:00:00Z"}, "future"),
                ("get", {"id": "../nothing"}, "is not an id"),
                ("undo", {"operation_id": "nothing"}, "There is no operation"),
            ):
                answer = await client.call_tool(tool, arguments)
                assert answer.is_error
                assert says in answer.content[0].text
            assert (await call(client, "stats"))["memories"] == 0

    anyio.run(story)


def test_meaning_is_searched_with_the_default_embedder(store):
    pytest.importorskip("perdure_embedder")

    async def story():
        async with connected(command(store)) as client:
            kept = await call(client, "remember", content="Our physician is Dr. Meyer.")
            await call(client, "remember", content="The cat sleeps on the sofa.")
            found = await call(client, "recall", query="Who is the family doctor?", limit=1)
            assert [h["memory"]["id"] for h in found["hits"]] == [kept["id"]]
            assert found["hits"][0]["parts"]
            assert kept["id"] in (await call(client, "digest"))["ids"]

    anyio.run(story)


def test_two_servers_share_one_store(store, policy):
    async def write(client, name):
        return [(await call(client, "remember", content=f"Note {n} of {name}."))["id"] for n in range(20)]

    async def story():
        full = ("--profile", "full")
        async with (
            connected(command(store, policy, *full)) as one,
            connected(command(store, policy), "legacy") as two,
        ):
            ids = {}

            async def writer(client, name):
                ids[name] = await write(client, name)

            async with anyio.create_task_group() as group:
                group.start_soon(writer, one, "alpha")
                group.start_soon(writer, two, "omega")
            for client, other in ((one, "omega"), (two, "alpha")):
                for identity in ids[other]:
                    await call(client, "get", id=identity)
                found = await call(client, "recall", query=f"Note of {other}", limit=50)
                assert {h["memory"]["id"] for h in found["hits"]} >= set(ids[other])
            assert (await call(one, "stats"))["memories"] == 40
            await call(two, "archive", id=ids["alpha"][0], reason="noise")
            assert (await one.call_tool("get", {"id": ids["alpha"][0]})).is_error

    anyio.run(story)
    with perdure.open(store, WORDS_ONLY) as memory:
        assert memory.check() == []
        assert sum(m.access_count for m in memory.list(limit=50)) >= 40


class Pipe:
    """A client that speaks the lines themselves, so that the test sees all that comes over them."""

    def __init__(self, line, **options):
        self.process = subprocess.Popen(
            line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENV, **options
        )
        self.number = 0

    def ask(self, method, **params):
        self.number += 1
        self.tell(method, self.number, **params)
        return json.loads(self.process.stdout.readline())["result"]

    def tell(self, method, number=None, **params):
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        if number is not None:
            message["id"] = number
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def call(self, tool, **arguments):
        return self.ask("tools/call", name=tool, arguments=arguments)["structuredContent"]


@contextmanager
def piped(line):
    pipe = Pipe(line)
    try:
        info = {"name": "test", "version": "1"}
        told = pipe.ask("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=info)
        assert told["protocolVersion"] == "2025-11-25"
        pipe.tell("notifications/initialized")
        yield pipe
    finally:
        pipe.process.kill()
        pipe.process.communicate()


def ended(pipe, expected=0):
    """Wait for the end, and return what was left on standard output and error."""
    rest = pipe.process.communicate(timeout=15)
    assert pipe.process.returncode == expected, rest
    return rest


def sound(store, identity, accesses):
    with perdure.open(store, WORDS_ONLY) as memory:
        assert memory.check() == []
        assert memory.get(identity).access_count == accesses
    assert not store.with_name(store.name + "-wal").exists()


def test_the_end_of_input_closes_the_store(store, policy):
    with piped(command(store, policy)) as pipe:
        kept = pipe.call("remember", content="Deploys happen on Tuesdays.")
        pipe.call("recall", query="deploys")
        pipe.process.stdin.close()
        pipe.process.stdin = None
        assert ended(pipe) == (b"", b"")
    assert not store.with_name(store.name + "-wal").exists()  # the last connection was closed in order
    sound(store, kept["id"], 1)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_close_the_store_while_the_client_still_listens(store, policy, number):
    with piped(command(store, policy)) as pipe:
        kept = pipe.call("remember", content="Deploys happen on Tuesdays.")
        pipe.call("recall", query="deploys")
        pipe.process.send_signal(number)
        assert pipe.process.wait(10) == 0
        assert not store.with_name(store.name + "-wal").exists()
    sound(store, kept["id"], 1)


def test_kill_loses_nothing_that_was_acknowledged(store, policy):
    with piped(command(store, policy)) as pipe:
        ids = [pipe.call("remember", content=f"Note {n}.")["id"] for n in range(5)]
        pipe.process.kill()
        pipe.process.wait(10)
    with perdure.open(store, WORDS_ONLY) as memory:
        assert memory.check() == []
        assert all(memory.get(identity) for identity in ids)


def test_standard_output_holds_the_protocol_only_and_warnings_go_to_standard_error(store, tmp_path):
    unreachable = tmp_path / "policy.toml"
    unreachable.write_text('[embedder]\nmodel = "endpoint"\nbase_url = "http://127.0.0.1:9/v1"\nname = "x"\n')
    with piped(command(store, unreachable)) as pipe:
        pipe.call("remember", content="Deploys happen on Tuesdays.")
        assert len(pipe.call("recall", query="deploys")["hits"]) == 1
        pipe.process.stdin.close()
        pipe.process.stdin = None
        out, err = ended(pipe)
        assert out == b""
        assert b"EmbedderWarning" in err


def test_the_end_of_input_amid_calls_leaves_a_sound_store(store, policy):
    with piped(command(store, policy)) as pipe:
        pipe.ask("tools/list")
        for n in range(3):
            pipe.tell("tools/call", 100 + n, name="remember", arguments={"content": f"Note {n}."})
        pipe.process.stdin.close()
        pipe.process.stdin = None
        ended(pipe)
    with perdure.open(store, WORDS_ONLY) as memory:
        assert memory.check() == []
        assert memory.stats().memories <= 3  # none of them was acknowledged


def test_a_line_that_is_no_message_does_not_end_the_server(store, policy):
    with piped(command(store, policy)) as pipe:
        pipe.process.stdin.write(b"hello\n{\n\xff\n")
        pipe.process.stdin.flush()
        for _ in range(20):  # the protocol lets a server answer such lines or not
            pipe.tell("tools/list", 77)
            told = json.loads(pipe.process.stdout.readline())
            if told.get("id") == 77:
                break
        assert {t["name"] for t in told["result"]["tools"]} == HINTS.keys()


def test_a_store_that_cannot_be_opened_is_told_to_the_client(tmp_path, policy):
    with piped(command(tmp_path / "missing" / "agent.db", policy)) as pipe:
        answer = pipe.ask("tools/call", name="digest", arguments={})
        assert answer["isError"]
        assert "does not exist" in answer["content"][0]["text"]


@contextmanager
def serving(store, policy, *more):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    line = command(store, policy, "--transport", "http", "--port", str(port), *more)
    process = subprocess.Popen(line, env=ENV, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        for _ in range(200):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield process, f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        process.communicate()


def test_streamable_http_on_a_real_port(store, policy):
    async def story(url):
        for mode in MODES:
            async with Client(url, mode=mode, read_timeout_seconds=30) as client:
                await call(client, "remember", content=f"Deploys happen on Tuesdays ({mode}).")
                found = await call(client, "recall", query="deploys", namespace="default")
                assert any(mode in hit["memory"]["content"] for hit in found["hits"])
                assert "Tuesdays" in (await client.read_resource("memory://digest")).contents[0].text

    with serving(store, policy) as (process, url):
        anyio.run(story, url)
        body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        accept = {"Accept": "application/json, text/event-stream"}
        for header in ({"Host": "evil.example"}, {"Origin": "http://evil.example"}):
            answer = httpx2.post(url, json=body, headers={**accept, **header})
            assert answer.status_code in (403, 421)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=15)
        assert process.returncode == 0
        assert err.decode().startswith(f"Perdure MCP server: {url}")
        assert b"Traceback" not in err
    with perdure.open(store, WORDS_ONLY) as memory:
        assert memory.check() == []
        assert sum(m.access_count for m in memory.list()) == 3


PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


def test_hosts_that_are_allowed_are_answered_and_others_are_not(store, policy):
    with serving(store, policy, "--allowed-host", "memory.lan:*") as (_, url):
        for host, refused in (("evil.example", True), ("memory.lan:8765", False), ("localhost:1", False)):
            assert (httpx2.post(url, json=PING, headers={"Host": host}).status_code == 421) == refused


def test_http_without_tokens_is_refused_once_the_store_has_one(store, policy):
    with perdure.open(store, WORDS_ONLY) as memory, serving(store, policy) as (_, url):
        memory.remember("The walrus is a secret.")
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        headers = {"accept": "application/json, text/event-stream"}

        async def story(secret):
            async with Client(url, read_timeout_seconds=30) as client:
                found = await call(client, "recall", query="walrus")
                assert "walrus" in found["hits"][0]["memory"]["content"]
                secret.append(memory.create_token("admin", "*", actor="ana").secret)
                await anyio.sleep(1.5)
                with pytest.raises(Exception):  # noqa: B017, PT011  # the session that runs is over, too
                    await call(client, "recall", query="walrus")

        secret = []
        anyio.run(story, secret)
        for more in ({}, {"authorization": f"Bearer {secret[0]}"}):
            answer = httpx2.post(url, json=body, headers={**headers, **more})
            assert answer.status_code == 401
            assert "perdure serve" in answer.json()["remedy"]
            assert "walrus" not in answer.text


def test_http_is_not_started_for_a_store_with_tokens_or_for_a_network(store, policy):
    line = command(store, policy, "--transport", "http", "--port", "0")
    options = {"env": ENV, "capture_output": True, "text": True, "timeout": 60}
    for more, why in ((["--host", "0.0.0.0"], "on this machine only"), ([], "has tokens")):  # noqa: S104
        done = subprocess.run([*line, *more], check=False, **options)
        assert (done.returncode, why in done.stderr, "perdure serve" in done.stderr) == (1, True, True), done.stderr
        with perdure.open(store, WORDS_ONLY) as memory:
            memory.create_token("reader", "*", actor="ana")


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A data folder of its own: the launcher is written there."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path


CLIENTS = get_args(mcp_config.Client)


def server_of(text):
    """Return the server that a configuration names, in JSON or TOML."""
    if "[mcp_servers.perdure]" in text:
        return tomllib.loads(text[text.index("[mcp_servers") :])["mcp_servers"]["perdure"]
    [(key, servers)] = json.loads(text[text.index("{") :]).items()
    assert key in {"mcpServers", "servers", "context_servers"}
    return servers["perdure"]


def test_the_snippets_of_all_clients_name_the_same_server(home, store):
    servers = {client: server_of(mcp_config.config_snippet(client, str(store))) for client in CLIENTS}
    args = servers["cursor"]["args"]
    assert args[-2:] == ["--namespace", "."]  # each project by itself, as the plugin's hooks and server have it
    assert servers.pop("claude-desktop")["args"] == args[:-2]  # it works in no project
    assert all(server == servers["cursor"] for server in servers.values())
    assert len(servers) == 7
    assert server_of(mcp_config.config_snippet("zed", str(store), namespace="team"))["args"] == [*args[:-1], "team"]


def test_the_snippet_starts_a_server(home, store):
    server = server_of(mcp_config.config_snippet("cursor", str(store)))
    assert Path(server["command"]).is_absolute()
    assert str(store) in server["args"]

    async def story():
        async with connected([server["command"], *server["args"]]) as connection:
            assert len((await connection.list_tools()).tools) == 10

    anyio.run(story)


def test_a_file_of_the_project_folder_is_never_run_by_the_server(home, tmp_path):
    (tmp_path / "mcp.py").write_text("print('code of the project ran')")
    command = mcp_config.server_command(str(tmp_path / "agent.db"))
    done = subprocess.run(command, cwd=tmp_path, input="", capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (0, "")


KEYS = {"vscode": "servers", "zed": "context_servers", "codex": "mcp_servers"}
"""Under which key a client's documentation has its servers, where it is not ``mcpServers``."""


@pytest.mark.parametrize("client", CLIENTS)
def test_the_server_stands_under_the_key_that_its_client_reads(client, home, store):
    text = mcp_config.config_snippet(client, str(store))
    config = tomllib.loads(text[text.index("[") :]) if client == "codex" else json.loads(text[text.index("{") :])
    assert {key: list(servers) for key, servers in config.items()} == {KEYS.get(client, "mcpServers"): ["perdure"]}


@pytest.mark.parametrize("client", CLIENTS)
def test_a_store_of_any_name_stands_in_the_configuration_of_each_client(client, home, tmp_path):
    store = tmp_path / 'Ana\'s "own" Gedächtnis 🧠.db'
    assert str(store) in server_of(mcp_config.config_snippet(client, str(store)))["args"]


@pytest.mark.parametrize("client", ["claude-code", "codex", "gemini"])
def test_a_command_line_adds_the_same_server(client, home, tmp_path):
    text = mcp_config.config_snippet(client, str(tmp_path / "my store.db"))
    line = next(shlex.split(line) for line in text.splitlines() if " mcp add " in line)
    server = server_of(text)
    line.remove("--")
    assert line[-len(server["args"]) - 1 :] == [server["command"], *server["args"]]


def test_the_snippet_still_starts_a_server_when_its_environment_has_moved(home, store):
    """The launcher goes on to what is on PATH; the same command again records the new environment."""
    server = server_of(mcp_config.config_snippet("zed", str(store)))
    record = Path(server["args"][0]).with_name("command")
    kept = record.read_text("utf-8")
    record.write_text(str(home / "gone" / "perdure"), "utf-8")
    elsewhere = home / "bin" / "perdure"
    elsewhere.parent.mkdir()
    elsewhere.write_text('#!/bin/sh\necho "elsewhere: $*"\n')
    elsewhere.chmod(0o755)
    environment = {"PATH": f"{elsewhere.parent}:/usr/bin:/bin", "HOME": str(home)}
    done = subprocess.run(
        [server["command"], *server["args"]], env=environment, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.startswith(f"elsewhere: --store {store} mcp")
    mcp_config.config_snippet("zed", str(store))
    assert record.read_text("utf-8") == kept


def test_the_snippet_makes_relative_places_absolute(home, tmp_path, monkeypatch):
    def named(*store):
        words = mcp_config.server_command(*store)
        return words[words.index("--store") + 1]

    monkeypatch.chdir(tmp_path)
    assert named("agent.db") == str(tmp_path / "agent.db")
    monkeypatch.setenv("PERDURE_STORE", "other.db")
    assert named() == str(tmp_path / "other.db")
    monkeypatch.delenv("PERDURE_STORE")
    assert Path(named()).parent.is_dir()


def test_an_unknown_client_is_refused():
    with pytest.raises(perdure.InvalidInput, match="windsurf or zed"):
        mcp_config.config_snippet("emacs", "agent.db")


def test_run_may_be_called_outside_the_main_thread(tmp_path, monkeypatch):
    served = []

    class Server:
        def run(self, transport):
            served.append(transport)

    monkeypatch.setattr(doorway, "build", lambda *_, **__: Server())
    thread = threading.Thread(target=doorway.run, args=(tmp_path / "a.db",))
    thread.start()
    thread.join(10)
    assert served == ["stdio"]
