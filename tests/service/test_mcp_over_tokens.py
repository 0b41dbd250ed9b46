"""MCP in the service: real clients of both protocols, under tokens; nothing keeps a place that it does not need."""

from __future__ import annotations

import json

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from starlette.testclient import TestClient

from interfaces.test_mcp_talk import MODES
from perdure.interfaces.http.app import build_app
from perdure.interfaces.http.settings import Settings
from service.conftest import BASE, HOST
from service.test_client import listening


@pytest.mark.parametrize("mode", MODES)
def test_a_client_of_a_token_has_its_own_memory(memory, mode):
    ana, bo = (memory.create_token("agent", f"{name}/notes", actor=name).secret for name in ("ana", "bo"))

    async def ask(url, token, *calls):
        found = []
        async with httpx2.AsyncClient(headers={"authorization": f"Bearer {token}"}, timeout=30) as http:
            transport = streamable_http_client(f"{url}/mcp", http_client=http)
            client = Client(transport, mode=mode, read_timeout_seconds=30)
            await story(client, calls, found)
        return found

    async def story(made, calls, found):
        async with made as client:
            assert "recall" in [tool.name for tool in (await client.list_tools()).tools]
            for name, given in calls:
                answer = await client.call_tool(name, given)
                found.append(answer.structured_content or answer.content[0].text)
            found.append((await client.read_resource("memory://digest")).contents[0].text)

    with listening(memory) as url:
        calls = ("remember", {"content": "Ana deploys on Tuesdays."}), ("recall", {"query": "When does Ana deploy?"})
        kept, recalled, digest = anyio.run(ask, url, ana, *calls)
        assert recalled["hits"][0]["memory"]["id"] == kept["id"]
        assert "Tuesdays" in digest
        seen = anyio.run(ask, url, bo, ("recall", {"query": "When does Ana deploy?"}), ("why", {"id": kept["id"]}))
        assert "Tuesdays" not in json.dumps(seen)
        assert seen[0]["nothing_known"] is True
    assert memory.get(kept["id"]).namespace == "ana/notes"
    assert {o.actor for o in memory.history(namespace="ana/notes")} == {"ana"}


def test_a_client_without_a_token_is_refused(memory):
    memory.create_token("agent", "*", actor="ana")
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    with TestClient(build_app(lambda: memory, Settings(frozenset({HOST}))), base_url=BASE) as client:
        for headers in ({}, {"authorization": "Bearer perdure_x"}):
            assert client.post("/mcp", json=body, headers=headers).status_code == 401


def called(client, token, where, name, headers=(), **given):
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": given}}
    accept = {"accept": "application/json, text/event-stream", "authorization": f"Bearer {token}"}
    return client.post(f"/mcp{where}", json=body, headers={**accept, **dict(headers)}).json()["result"]


def test_the_url_names_one_of_the_namespaces_that_a_token_reaches(memory):
    team = memory.create_token("agent", "team/*", actor="ana").secret
    own = memory.create_token("agent", "ana/notes", actor="ana").secret
    with TestClient(build_app(lambda: memory, Settings(frozenset({HOST}))), base_url=BASE) as client:
        kept = called(client, team, "?namespace=team/a", "remember", content="The build server is called anvil.")
        assert memory.get(kept["structuredContent"]["id"]).namespace == "team/a"
        asked = {"query": "What is the build server called?"}
        assert called(client, team, "", "recall", {"perdure-namespace": "team/a"}, **asked)["structuredContent"]["hits"]
        assert not called(client, team, "?namespace=team/b", "recall", **asked)["structuredContent"]["hits"]
        for token, where in ((team, ""), (team, "?namespace=ana/notes"), (own, "?namespace=team/a")):
            refused = called(client, token, where, "recall", **asked)
            assert refused["isError"]
            assert "/mcp?namespace=" in refused["content"][0]["text"]


def test_no_stream_without_end_can_be_opened(client):
    for _ in range(3):
        assert client.get("/mcp", headers={"accept": "text/event-stream"}).status_code == 405
    assert client.delete("/mcp").status_code == 405
    assert client.app.state.limits.threads.taken == 0


def test_a_long_body_is_refused(memory):
    settings = Settings(frozenset({HOST}), body_bytes=10_000)
    with TestClient(build_app(lambda: memory, settings), base_url=BASE) as client:
        assert client.post("/mcp", content=b"x" * 11_000).status_code == 413
        assert client.app.state.limits.threads.taken == 0


def test_a_header_that_contradicts_the_namespace_of_a_call_is_refused(memory):
    """It was ignored, so that the call was about another namespace than its sender thought."""
    team = memory.create_token("agent", "team/*", actor="ana").secret
    told = {"authorization": f"Bearer {team}", "perdure-namespace": "team/b"}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    call["params"] = {"name": "remember", "arguments": {"content": "Tea."}}
    with TestClient(build_app(lambda: memory, Settings(frozenset({HOST}))), base_url=BASE) as client:
        mcp = {**told, "accept": "application/json, text/event-stream"}
        for answer in (
            client.post("/mcp?namespace=team/a", json=call, headers=mcp),
            client.post("/v1/remember", json={"content": "Tea.", "namespace": "team/a"}, headers=told),
            client.get("/v1/list?namespace=team/a", headers=told),
        ):
            assert (answer.status_code, "team/a" in answer.json()["detail"]) == (400, True), answer.text
        assert memory.list("team/a") == memory.list("team/b") == []
        assert "error" not in client.post("/mcp?namespace=team/b", json=call, headers=mcp).json()["result"]
        assert client.get("/v1/list?namespace=team/b", headers=told).status_code == 200
