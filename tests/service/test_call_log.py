"""The log of calls: what is refused or fails before a verb runs has a line too, with nothing of what was sent."""

from __future__ import annotations

import json
import logging
import signal
import sys
from collections import Counter
from contextlib import contextmanager
from functools import partial
from io import StringIO

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.testclient import TestClient

from interfaces.pages.browsing import Browser
from perdure.interfaces.http import access, shared
from perdure.interfaces.http import lines as line_streams
from perdure.interfaces.http.call_log import LOG, JsonLines
from perdure.memory import Memory
from perdure.records.errors import StoreUnavailable
from service.conftest import ADDRESS, BASE
from service.test_limits import serving
from service.test_metrics import figures
from service.test_serve import ask, raw, served

NOTE = {"content": "The harbour freezes."}
WRONG = {"secret": "perdure_xyzzy"}
SAID = ("harbour", "xyzzy", "perdure_", "evil")
"""Parts of what is sent: content, names, tokens, paths that are no route's, queries and hosts."""


@contextmanager
def logged():
    """Give a function that returns the lines of the log since the last time, in a block."""
    stream = StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines())
    level = LOG.level
    LOG.addHandler(handler)
    LOG.setLevel(logging.INFO)

    def take():
        text = stream.getvalue()
        stream.seek(0)
        stream.truncate()
        assert [word for word in SAID if word in text] == []
        found = [json.loads(line) for line in text.splitlines()]
        assert all(one.pop("at")[:2] == "20" and one.pop("level") == "info" for one in found)
        assert {one.pop("log") for one in found} <= {"perdure.calls"}
        assert all(bool(one.pop("token", "")) == ("actor" in one) for one in found)
        return found

    try:
        yield take
    finally:
        LOG.removeHandler(handler)
        LOG.setLevel(level)


def line(status, *, error="RequestRefused", method="POST", **more):
    """What a line says of a refused request."""
    return {"method": method, "status": status, "error": error, "client": ADDRESS, **more}


many = partial(line, error="TooManyCalls")


def bearer(secret):
    return {"authorization": f"Bearer {secret}"}


def without_time(rows):
    """Lines without how long their calls took, which those of verbs have."""
    assert all(("ms" in row) == ("verb" in row) for row in rows)
    return [{name: value for name, value in row.items() if name != "ms"} for row in rows]


def test_each_request_that_is_refused_before_a_verb_runs_has_one_line(memory):
    """Guessing at tokens was in no log."""
    agent = memory.create_token("agent", "team/*", actor="Ana").secret
    known, mcp = bearer(agent), {"accept": "application/json, text/event-stream"}
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    long = {"content": "harbour" * 2000}
    refusals = [
        (("GET", "/v1/list?query=xyzzy", {}), line(401, method="GET", path="/v1/list")),
        (("POST", "/v1/remember", {"json": NOTE, "headers": bearer("xyzzy")}), line(401, path="/v1/remember")),
        (("POST", "/mcp", {"json": NOTE, "headers": bearer("perdure_x")}), line(401, path="/mcp")),
        (("GET", "/metrics", {"headers": bearer("perdure_x")}), line(401, method="GET", path="/metrics")),
        (("GET", "/v1/export", {}), line(401, method="GET", path="/v1/export")),
        (("GET", "/xyzzy", {}), line(401, method="GET")),
        (("GET", "/v1/list", {"headers": {"host": "evil.example"}}), line(421, method="GET", path="/v1/list")),
        (("GET", "/v1/xyzzy", {"headers": {"host": "evil.example"}}), line(421, method="GET")),
        (("POST", "/v1/sweep", {"headers": {"origin": "http://evil.example"}}), line(403, path="/v1/sweep")),
        (("GET", "/v1/get", {"headers": {"x": "xyzzy" * 900}}), line(431, method="GET", path="/v1/get")),
        (("GET", "/v1/xyzzy", {"headers": known}), line(404, method="GET", actor="Ana")),
        (("GET", "/static/xyzzy", {"headers": known}), line(404, method="GET")),
        (("PUT", "/v1/list", {"headers": known}), line(405, method="PUT", path="/v1/list", actor="Ana")),
        (("GET", "/mcp", {"headers": known}), line(405, method="GET", path="/mcp", actor="Ana")),
        (("POST", "/mcp", {"json": long, "headers": known}), line(413, path="/mcp", actor="Ana")),
        (
            ("POST", "/mcp", {"json": ping, "headers": {**known, "accept": "text/html"}}),
            line(406, path="/mcp", actor="Ana"),
        ),
        (("POST", "/mcp", {"json": NOTE, "headers": {**known, **mcp}}), line(400, path="/mcp", actor="Ana")),
        (
            ("GET", "/metrics", {"headers": known}),
            line(403, error="NotAllowed", method="GET", path="/metrics", actor="Ana"),
        ),
    ]
    with serving(memory, body_bytes=10_000, header_bytes=4000) as client, logged() as take:
        for (method, path, sent), told in refusals:
            assert client.request(method, path, **sent).status_code == told["status"], path
            assert take() == [told], path


def test_a_path_is_that_of_the_route_also_where_the_service_is_mounted_elsewhere(memory):
    memory.create_token("agent", "team/*", actor="Ana")
    inner = serving(memory).app
    with TestClient(Starlette(routes=[Mount("/xyzzy", inner)]), base_url=BASE) as client, logged() as take:
        assert client.get("/xyzzy/v1/list").status_code == 401
        assert [row["path"] for row in take()] == ["/v1/list"]


def test_what_the_route_of_a_verb_refuses_has_one_line_with_the_verb(memory):
    agent = memory.create_token("agent", "team/*", actor="Ana").secret
    typed = {**bearer(agent), "content-type": "application/json"}
    bodies = [
        ({"content": b"xyzzy", "headers": {**typed, "content-type": "text/plain"}}, 415, "RequestRefused"),
        ({"content": b"x" * 11_000, "headers": typed}, 413, "RequestRefused"),
        ({"content": b"[xyzzy", "headers": typed}, 400, "RequestRefused"),
        ({"json": {**NOTE, "xyzzy": 1}, "headers": typed}, 422, "InvalidInput"),
        ({"json": NOTE, "params": {"xyzzy": 1}, "headers": typed}, 422, "InvalidInput"),
        ({"json": {**NOTE, "namespace": "xyzzy"}, "headers": typed}, 403, "NotAllowed"),
    ]
    with serving(memory, body_bytes=10_000) as client, logged() as take:
        for sent, status, error in bodies:
            answer = client.post("/v1/remember", **sent)
            assert (answer.status_code, answer.json()["error"]) == (status, error)
            assert without_time(take()) == [line(status, error=error, verb="remember", actor="Ana")]
        kept = client.post("/v1/remember", json={**NOTE, "namespace": "team/a"}, headers=typed)
        (told,) = without_time(take())
        assert told == {
            "verb": "remember",
            "method": "POST",
            "status": 200,
            "namespace": "team/a",
            "actor": "Ana",
            "operation": kept.json()["operation"],
        }  # the address is of those that are refused or fail


def test_exports_have_a_line_too(memory):
    admin, reader = (memory.create_token(role, "*", actor=role).secret for role in ("admin", "reader"))
    told = {"verb": "export", "method": "GET"}
    with serving(memory) as client, logged() as take:
        assert client.get("/v1/export", headers=bearer(admin)).status_code == 200
        assert without_time(take()) == [{**told, "status": 200, "actor": "admin"}]
        assert client.get("/v1/export?xyzzy=1", headers=bearer(admin)).status_code == 422
        assert client.get("/v1/export", headers=bearer(reader)).status_code == 403
        assert without_time(take()) == [
            line(422, **told, actor="admin", error="InvalidInput"),
            line(403, **told, actor="reader", error="NotAllowed"),
        ]
        counted = figures(client.get("/metrics", headers=bearer(admin)).text)["perdure_calls"]
    assert counted == {("_total", e, "export"): 1 for e in ("ok", "InvalidInput", "NotAllowed")}


def test_too_many_calls_and_too_many_wrong_tokens_have_lines(memory):
    ana = memory.create_token("reader", "*", actor="Ana").secret
    with serving(memory, rate=0.01) as client, logged() as take:
        for _ in range(2):
            client.get("/v1/list", headers=bearer(ana))
        told = [row for row in without_time(take()) if row["status"] == 429]
        assert told == [many(429, method="GET", verb="list", actor="Ana")] * len(told) != []
        assert client.post("/mcp", json={}, headers=bearer(ana)).status_code == 429
        assert take() == [many(429, path="/mcp", actor="Ana")]
    with serving(memory) as client, logged() as take:
        for number in range(shared.TRIES + 5):
            client.get("/v1/list", headers=bearer(f"perdure_{number}"))
        assert Counter(row["status"] for row in take()) == {401: shared.TRIES, 429: 5}


def test_logging_in_with_a_wrong_token_has_a_line(memory):
    secret = memory.create_token("curator", "*", actor="Ana").secret
    with serving(memory, Browser) as client, logged() as take:
        client.own = {"origin": BASE}
        page = client.get("/login")
        assert client.answer(page, "/login", **WRONG).status_code == 401
        assert take() == [line(401, path="/login")]
        forged = {"token": "xyzzy", "secret": secret}
        assert client.post("/login", data=forged, headers=client.own).status_code == 403
        assert take() == [line(403, path="/login", error="FormRefused")]
        for _ in range(shared.TRIES):
            last = client.answer(page, "/login", **WRONG)
        assert last.status_code == 429
        assert take()[-1] == many(429, path="/login")


def test_a_page_that_fails_has_a_line_with_the_error(memory):
    with serving(memory, Browser) as client, logged() as take:
        assert client.get("/memory?id=xyzzy").status_code == 404
        assert take() == [line(404, method="GET", path="/memory", error="NotFound")]
        assert client.post("/plans", data={"token": "xyzzy"}).status_code == 403
        assert take() == [line(403, path="/plans", error="FormRefused")]
        assert client.get("/").status_code == 200
        assert take() == []


def test_an_outage_has_a_line_for_each_request_that_it_fails(memory, monkeypatch):
    secret = memory.create_token("curator", "*", actor="Ana").secret
    monkeypatch.setattr(access, "KNOWN_SECONDS", 0.0)  # each request asks the store

    def gone(*_args, **_named):
        raise StoreUnavailable("xyzzy cannot be reached.", remedy="Bring it back.")

    away = {"error": "StoreUnavailable"}
    with serving(memory, Browser) as client, logged() as take:
        client.own = {"origin": BASE}
        page = client.get("/login")
        for name in ("recognize", "log_in"):
            monkeypatch.setattr(Memory, name, gone)
        monkeypatch.setattr(Memory, "has_tokens", property(gone))
        monkeypatch.setattr(Memory, "readiness", property(gone))
        for method, path, headers in (
            ("POST", "/v1/remember", {}),
            ("POST", "/v1/remember", bearer(secret)),
            ("POST", "/mcp", bearer(secret)),
            ("GET", "/readyz", {}),
            ("GET", "/v1/export", bearer(secret)),
            ("GET", "/", {**bearer(secret), "accept": "text/html"}),
        ):
            assert client.request(method, path, headers=headers).status_code == 503, path
            assert take() == [line(503, method=method, path=path, **away)], path
        assert client.answer(page, "/login", secret=secret).status_code == 503
        assert take() == [line(503, path="/login", **away)]


def test_a_list_that_finds_no_place_has_one_line(memory, monkeypatch):
    monkeypatch.setattr(line_streams, "_CHUNK", 10)
    memory.remember_many([f"Server {n} listens on port {n}." for n in range(9)])
    with serving(memory) as client, logged() as take:
        monkeypatch.setattr(client.app.state.limits.lists, "_most", 0)
        assert client.get("/v1/list", headers={"accept": "application/x-ndjson"}).status_code == 503
        assert without_time(take()) == [line(503, method="GET", verb="list", namespace="default")]


def test_the_log_and_the_metrics_agree_about_what_was_refused(memory, monkeypatch):
    operator = memory.create_token("admin", "*", actor="operator").secret
    with serving(memory, body_bytes=1000) as client, logged() as take:
        monkeypatch.setattr(shared, "TRIES", 100)
        for headers in ({}, bearer("xyzzy"), {"host": "evil.example"}, bearer(operator)):
            for method, path in (("GET", "/v1/list"), ("PUT", "/v1/list"), ("GET", "/xyzzy"), ("GET", "/v1/export")):
                client.request(method, path, headers=headers)
            for path in ("/v1/pin", "/v1/remember", "/mcp", "/login"):
                client.post(path, json={"id": "xyzzy"}, headers=headers)
                client.post(path, json={"id": "xyzzy" * 1000}, headers=headers)
        counted = figures(client.get("/metrics", headers=bearer(operator)).text)["perdure_responses"]
        rows = take()
    refused = {int(status): count for (_, status), count in counted.items() if int(status) >= 400}
    assert refused == Counter(row["status"] for row in rows if row["status"] >= 400)
    assert set(refused) >= {401, 403, 404, 405, 413, 421, 422}
    assert all({"error", "client", "method"} <= set(row) for row in rows if row["status"] >= 400)


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_flood_makes_one_short_line_for_each_request_and_addresses_are_nothing_else(tmp_path):
    with served(tmp_path, "--log") as (process, port):
        for number in range(20):
            ask(port, "GET", f"/v1/xyzzy{number}?{'x' * 5000}", headers={"host": "evil.example"})
        for address in ("192.0.2.9", "2001:db8::9", "xyzzy", "evil" * 1000, "192.0.2.9 xyzzy"):
            ask(port, "PUT", "/v1/list", headers={"x-forwarded-for": address})
        head = f"GET /v1/list HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nX-Forwarded-For: fe80::1%xyzzy\r\nOrigin: x\r\n\r\n"
        assert raw(port, head.encode()).startswith(b"HTTP/1.1 403")
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
        text = process.stderr.read()
    rows = [row for row in map(json.loads, text.splitlines()) if "status" in row]
    assert [(row["status"], row.get("client")) for row in rows] == [
        *[(421, "127.0.0.1")] * 20,
        *((405, address) for address in ("192.0.2.9", "2001:db8::9", None, None, None)),
        (403, None),
    ]
    assert [word for word in SAID if word in text] == []
    assert max(map(len, text.splitlines())) < 300


def test_a_line_tells_the_namespace_and_the_token_whatever_name_it_was_given(memory):
    """A confined admin can make a token that has another admin's name: the names of its calls told nothing."""
    admin = memory.create_token("admin", "*", actor="root")
    tenant = memory.create_token("admin", "team/a", actor="ana")
    stream = StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines())
    LOG.addHandler(handler)
    try:
        with serving(memory, tools="full") as client, logged():
            made = client.post(
                "/v1/create-token",
                json={"role": "admin", "namespace": "team/a", "actor": "root"},
                headers=bearer(tenant.secret),
            ).json()
            mcp = {"accept": "application/json, text/event-stream", "perdure-namespace": "team/b"}
            tool = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list", "arguments": {}}}
            stream.truncate(stream.seek(0))
            client.get("/v1/list", headers=bearer(made["secret"]))
            client.get("/v1/list?namespace=team/b", headers=bearer(admin.secret))
            client.get("/v1/list?namespace=team/b", headers=bearer(made["secret"]))
            client.post("/mcp", json=tool, headers={**mcp, **bearer(admin.secret)})
            client.get("/v1/export?namespace=team/a", headers=bearer(admin.secret))
    finally:
        LOG.removeHandler(handler)
    rows = [json.loads(row) for row in stream.getvalue().splitlines()]
    assert [(row["verb"], row.get("namespace"), row["token"], row["actor"]) for row in rows] == [
        ("list", "team/a", made["token"]["id"], "root"),
        ("list", "team/b", admin.token.id, "root"),
        ("list", None, made["token"]["id"], "root"),
        ("list", "team/b", admin.token.id, "root"),
        ("export", "team/a", admin.token.id, "root"),
    ]
    assert not [secret for secret in (admin.secret, tenant.secret, made["secret"]) if secret in stream.getvalue()]


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("workers", ["1", "2"])
def test_all_that_the_service_says_is_json_where_it_writes_a_log(tmp_path, workers):
    with served(tmp_path, "--log", "--workers", workers) as (process, port):
        assert json.loads(process.stderr.readline())["message"].startswith("There are no tokens")
        assert ask(port, "GET", "/v1/list")[0] == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
        rows = [json.loads(row) for row in process.stderr.read().splitlines()]
    assert [row["verb"] for row in rows if "verb" in row] == ["list"]
