"""A server that is gone, or takes connections and says nothing: the service says so in time, and then at once."""

from __future__ import annotations

import time

import pytest

import perdure
from conftest import WORDS_ONLY, servers
from faults.server_faults import Line
from faults.test_service_faults import serving, told
from interfaces.pages.browsing import words
from perdure.compose_store import address_of
from perdure.interfaces.http import access
from perdure.stores.postgres import faults

PATIENT = 8
"""Far below the 30 s for which a transaction may last, far above what a busy machine adds."""


@pytest.fixture
def line(monkeypatch):
    """A line to a server; what is gone is tried again by nobody once it was waited for."""
    monkeypatch.setattr(access, "LOST_SECONDS", 2.0)
    monkeypatch.setattr(access, "KNOWN_SECONDS", 0.0)
    monkeypatch.setattr(faults, "PAUSE", 60.0)
    url = servers().fresh_database()
    made = Line(int(address_of(url).shown.rpartition("/")[0].rpartition(":")[2]))
    made.url = made.through(url)
    yield made
    made.close()
    servers().drop_database(url)


CALLS = {
    "a recall": lambda client: client.post("/v1/recall", json={"query": "deploys"}),
    "a page": lambda client: client.get("/"),
    "a remember": lambda client: client.post("/v1/remember", json={"content": "The gate opens at seven."}),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("how", ["gone", "silent"])
def test_a_call_is_answered_in_time_and_the_next_ones_at_once(line, call, how):
    with perdure.open(line.url, WORDS_ONLY) as memory, serving(memory) as client:
        memory.remember("Deploys happen on Tuesdays.")
        assert CALLS[call](client).status_code == 200
        line.silent = how == "silent"
        if how == "gone":
            line.close()
        started = time.monotonic()
        first = CALLS[call](client)
        assert first.status_code == 503
        assert time.monotonic() - started < PATIENT
        asked = len(line._sockets)
        for again in CALLS.values():
            reply = again(client)
            assert reply.status_code == 503
            if "problem" in reply.headers["content-type"]:
                assert told(reply) == (503, "StoreUnavailable")
            else:
                assert "cannot be reached" in words(reply)
        assert len(line._sockets) == asked  # nobody has asked the server
        assert time.monotonic() - started < PATIENT
