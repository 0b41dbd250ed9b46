"""Requests that name another host, or come from another site, reach no verb; answers tell browsers what they may do."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from perdure.interfaces.http.app import build_app
from perdure.interfaces.http.settings import Settings, accepted_hosts
from service.conftest import BASE, HOST

CALL = {"json": {"content": "Planted."}}


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "localhost",
        "localhost:80",
        f"{HOST}.evil.example",
        "evil.example@localhost:8766",
        "",
        "localhost:8766/",
    ],
)
def test_another_host_is_refused(client, memory, host):
    answer = client.post("/v1/remember", headers={"host": host}, **CALL)
    assert answer.status_code == 421
    assert answer.json()["error"] == "RequestRefused"
    assert "--allowed-host" in answer.json()["remedy"]
    assert memory.list() == []


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://localhost"},
        {"origin": f"http://{HOST}.evil.example"},
        {"origin": f"http://evil.example#{HOST}"},
        {"origin": "file://"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"},
    ],
)
def test_another_site_is_refused(client, memory, headers):
    assert client.post("/v1/remember", headers=headers, **CALL).status_code == 403
    assert client.get("/v1/list", headers=headers).status_code == 403
    assert memory.list() == []


def test_its_own_site_and_programs_are_not(client):
    for headers in ({}, {"origin": BASE}, {"sec-fetch-site": "same-origin"}, {"host": HOST.upper()}):
        assert client.get("/v1/list", headers=headers).status_code == 200


def test_two_hosts_are_refused(client):
    assert client.get("/v1/list", headers=[("host", HOST), ("host", HOST)]).status_code == 421


def test_headers_and_bodies_have_a_limit(memory):
    app = build_app(lambda: memory, Settings(frozenset({HOST}), body_bytes=10_000, header_bytes=4000))
    with TestClient(app, base_url=BASE) as client:
        assert client.get("/v1/list", headers={"x-long": "x" * 5000}).status_code == 431
        assert client.post("/v1/remember", json={"content": "x" * 11_000}).status_code == 413

        def endless():
            for _ in range(100):
                yield b'{"content": "' + b"x" * 1000

        answer = client.post("/v1/remember", content=endless(), headers={"content-type": "application/json"})
        assert answer.status_code == 413
        assert memory.list() == []


@pytest.mark.parametrize("path", ["/v1/list", "/v1/nothing", "/healthz", "/openapi.json", "/v1/get?id=nothing"])
def test_every_answer_tells_browsers_what_they_may_do(client, path):
    headers = client.get(path).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]
    assert "access-control-allow-origin" not in headers
    assert "server" not in headers


def test_the_accepted_hosts_have_their_port():
    assert accepted_hosts("127.0.0.1", 8766, ("Memory.Example",)) == {
        "127.0.0.1:8766",
        "localhost:8766",
        "[::1]:8766",
        "memory.example",
    }
