"""A day instead of a time over HTTP: one of UTC, wherever the service and its callers are."""

from __future__ import annotations

import time
from datetime import datetime

import pytest
from starlette.testclient import TestClient

from perdure.interfaces.http.app import build_app
from perdure.interfaces.http.settings import Settings
from service.conftest import BASE, HOST

DAYS = ("2025-10-31", "2025-11-01", "2025-11-02")
ASKED = {"since": DAYS[1], "until": DAYS[1]}
CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list", "arguments": ASKED}}


@pytest.fixture(params=["UTC", "Europe/Berlin"])
def zone(monkeypatch, request):
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield request.param
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def client(memory):
    with TestClient(build_app(lambda: memory, Settings(frozenset({HOST}), tools="full")), base_url=BASE) as made:
        yield made


@pytest.mark.usefixtures("zone")
def test_a_day_is_one_of_utc_for_routes_and_for_tools(memory, client):
    for day in DAYS:
        memory.remember(f"The gate squeaks on {day}.", at=datetime.fromisoformat(f"{day}T23:30:00+00:00"))
    listed = client.get("/v1/list", params=ASKED).json()["memories"]
    told = client.post("/mcp", json=CALL, headers={"accept": "application/json, text/event-stream"}).json()["result"]
    for found in (listed, told["structuredContent"]["memories"]):
        assert [m["content"][-11:-1] for m in found] == [DAYS[1]]
    described = client.get("/openapi.json").json()["paths"]["/v1/list"]["get"]["parameters"]
    [since] = [p for p in described if p.get("name") == "since"]
    assert "since this time. A UTC day counts whole." in str(since)
