"""The service is tested on files; what depends on the store is tested with the store."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from starlette.testclient import TestClient

import perdure
from perdure.interfaces.http.app import build_app
from perdure.interfaces.http.settings import Settings

POLICY = {"embedder": {"model": "none"}}
HOST = "localhost:8766"
START = datetime(2026, 1, 1, tzinfo=UTC)
BASE = f"http://{HOST}"
ADDRESS = "192.0.2.7"  # of the client


@pytest.fixture(scope="module")
def store():
    return "sqlite"


@pytest.fixture
def memory():
    with perdure.open(":memory:", POLICY, clock=lambda: START) as opened:
        yield opened


@pytest.fixture
def client(memory):
    with TestClient(build_app(lambda: memory, Settings(frozenset({HOST}))), base_url=BASE) as made:
        yield made
