"""How often a verb waits for a server: counted by a relay that holds each answer back for a while."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest

from conftest import HASHED, HashEmbedder, opened
from servers import drop_database, fresh_database

pytestmark = pytest.mark.skipif("PERDURE_TEST_DSN" in os.environ, reason="its address may name several hosts")
HELD = 0.01  # seconds: longer than a verb takes between two statements of which it awaits neither
TIMES = 6
COMPARED = {**HASHED, "knowledge": {"supersession": "local"}}
RECALL, TAGGED, REMEMBER, IDLE_SWEEP = 8, 8, 4, 2


class Relay:
    """Passes bytes between a store and its server, and counts how often the store speaks after it was answered."""

    def __init__(self, host, port):
        self.host, self.port, self.turns = host, port, 0
        self.ready = threading.Event()
        self.thread = threading.Thread(target=lambda: asyncio.run(self._serve()))
        self.thread.start()
        self.ready.wait()

    async def _serve(self):
        self.loop, self.ended = asyncio.get_running_loop(), asyncio.Event()
        async with await asyncio.start_server(self._pass, "127.0.0.1", 0) as server:
            self.own = server.sockets[0].getsockname()[1]
            self.ready.set()
            await self.ended.wait()

    def stop(self):
        self.loop.call_soon_threadsafe(self.ended.set)
        self.thread.join()

    async def _pass(self, asks, told):
        answers, asked = await asyncio.open_connection(self.host, self.port)
        state = {"answered": True}

        async def ask():
            while data := await asks.read(1 << 16):
                self.turns += state["answered"]
                state["answered"] = False
                asked.write(data)

        async def answer():
            while data := await answers.read(1 << 16):
                await asyncio.sleep(HELD)
                state["answered"] = True
                told.write(data)

        try:
            await asyncio.wait(
                [asyncio.ensure_future(ask()), asyncio.ensure_future(answer())], return_when="FIRST_COMPLETED"
            )
        finally:
            asked.close()
            told.close()


@contextmanager
def relayed(url):
    place = urlsplit(url)
    relay = Relay(place.hostname, place.port)
    login = place.netloc.rpartition("@")[0]
    try:
        yield relay, place._replace(netloc=f"{login}@127.0.0.1:{relay.own}").geturl()
    finally:
        relay.stop()


@pytest.fixture(scope="module")
def measured():
    """Verb -> how often it waited, the fewest of some calls: the first ones open connections and load things."""
    url, found = fresh_database(), {}
    with relayed(url) as (relay, passed), opened(passed, HASHED, None, HashEmbedder()) as memory:
        said = [f"ann put the {thing} into the {place}" for thing in ("key", "map", "pen") for place in ("box", "car")]
        memory.ingest([{"content": text, "role": "user"} for text in said], session="talk")
        memory.remember_many([{"content": f"the spare {text}", "tags": ["spare"]} for text in said])
        calls = {
            "recall": lambda n: memory.recall(f"where did ann put the {('key', 'map', 'pen')[n % 3]}"),
            "tagged": lambda n: memory.recall(f"spare {('key', 'map', 'pen')[n % 3]}", tags=["spare"]),
            "remember": lambda n: memory.remember(f"{'abcdefgh'[n] * 5} {'hgfedcba'[n] * 6}"),
        }
        for verb, call in calls.items():
            found[verb] = min(_turns(relay, call, number) for number in range(TIMES))
        memory.sweep()
        with opened(passed, COMPARED, None, HashEmbedder()) as compared:  # its recalls read links, too
            asked = [f"where did ann put the {thing}" for thing in ("key", "map", "pen")]
            found["compared"] = min(_turns(relay, lambda n: compared.recall(asked[n % 3]), n) for n in range(TIMES))
        found["sweep"] = min(_turns(relay, lambda _: memory.sweep(), number) for number in range(TIMES))
    drop_database(url)
    return found


def _turns(relay, call, number):
    time.sleep(3 * HELD)  # what the call before did not wait for has come
    before = relay.turns
    call(number)
    return relay.turns - before


@pytest.mark.parametrize(
    ("verb", "most"),
    [("recall", RECALL), ("compared", RECALL), ("tagged", TAGGED), ("remember", REMEMBER), ("sweep", IDLE_SWEEP)],
)
def test_a_verb_waits_for_the_server_no_more_often_than(measured, verb, most):
    assert 0 < measured[verb] <= most
