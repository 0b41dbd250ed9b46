"""One caller among many: it takes a share of a worker's threads at most, and others and who watches are answered."""

from __future__ import annotations

import re
import threading
import time
from contextlib import closing
from functools import partial

import apsw
import psycopg
import pytest

import perdure
from servers import drop_database, fresh_database
from service.conftest import POLICY
from service.test_limits import in_thread, serving
from service.test_serve import ask, served, talked

CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "history", "arguments": {}}}
MCP = {"accept": "application/json, text/event-stream"}


@pytest.fixture
def held(memory, monkeypatch):
    """Make ``history`` wait until it is let go; returns (that it runs, let it go)."""
    runs, go = threading.Semaphore(0), threading.Event()
    usual = type(memory).history

    def history(self, *args, **named):
        runs.release()
        assert go.wait(20)
        return usual(self, *args, **named)

    monkeypatch.setattr(type(memory), "history", history)
    yield runs, go
    go.set()


def bearer(memory, role, namespace):
    return {"authorization": f"Bearer {memory.create_token(role, namespace, actor='x').secret}"}


def until(count, condition):
    while condition() < count:
        time.sleep(0.01)


def in_flight(port, watcher):
    text = talked(port, "GET", "/metrics", None, watcher)[2]
    assert "perdure_calls_in_flight" in text, text
    return int(float(re.search(r"^perdure_calls_in_flight (.+)$", text, re.MULTILINE)[1]))


def history_by_route(client, who):
    return client.get("/v1/history", headers=who)


def history_by_tool(client, who):
    return client.post("/mcp", json=CALL, headers={**MCP, **who})


@pytest.mark.parametrize("call", [history_by_route, history_by_tool])
def test_a_caller_holds_half_of_the_threads_and_its_further_calls_wait_or_are_refused(memory, held, call):
    runs, go = held
    greedy, other, watcher = (bearer(memory, "reader", where) for where in ("a", "b", "*"))
    with serving(memory, threads=4, waiting=6, tools="full") as client:
        asked = [in_thread(lambda: call(client, greedy).status_code) for _ in range(5)]
        assert runs.acquire(timeout=30)
        assert runs.acquire(timeout=30)
        until(5, lambda: client.app.state.limits.threads.taken)
        refused = call(client, greedy)
        assert (refused.status_code, refused.json()["error"]) == (429, "TooManyCalls")
        assert int(refused.headers["retry-after"]) > 0
        for path, who in {"/v1/list": other, "/metrics": watcher, "/readyz": {}, "/healthz": {}}.items():
            assert client.get(path, headers=who).status_code == 200, path
        assert not runs.acquire(timeout=0.2)  # two run
        go.set()
        for thread, found in asked:
            thread.join(30)
            assert found == [200]
        assert client.app.state.limits.threads.taken == 0
        assert call(client, greedy).status_code == 200


@pytest.mark.parametrize("call", [history_by_route, history_by_tool])
@pytest.mark.parametrize(("threads", "greedy"), [(3, 2), (8, 3)])
def test_a_caller_is_answered_while_others_have_as_many_slow_calls_as_they_may(memory, held, call, threads, greedy):
    runs, go = held
    tokens = [bearer(memory, "reader", f"n{n}") for n in range(greedy + 1)]
    with serving(memory, threads=threads, waiting=200, tools="full", call_seconds=60) as client:
        asked = []
        for who in tokens[:-1]:
            asked += [in_thread(lambda who=who: call(client, who).status_code) for _ in range(threads // 2 + 1)]
            assert runs.acquire(timeout=30)
        until(len(asked), lambda: client.app.state.limits.threads.taken)
        for _ in range(3):
            began = time.monotonic()
            assert client.get("/v1/list", headers={**tokens[-1], "prefer": "wait=5"}).status_code == 200
            assert time.monotonic() - began < 5
        go.set()
        for thread, found in asked:
            thread.join(60)
            assert found == [200]
        assert client.app.state.limits.threads.taken == 0


def test_without_tokens_a_namespace_is_a_caller(memory, held):
    runs, go = held
    with serving(memory, threads=2, waiting=2) as client:
        asked = [in_thread(lambda: client.get("/v1/history?namespace=a").status_code) for _ in range(2)]
        assert runs.acquire(timeout=30)
        until(2, lambda: client.app.state.limits.threads.taken)
        assert client.get("/v1/history?namespace=a").status_code == 429
        assert client.get("/v1/list?namespace=b").status_code == 200
        assert client.post("/v1/list", json={"namespace": "b"}).status_code == 200
        assert client.get("/static/page.css").status_code == 200
        go.set()
        for thread, found in asked:
            thread.join(30)
            assert found == [200]


def test_a_call_that_waits_too_long_for_others_of_its_caller_is_told_so(memory, held):
    runs, go = held
    with serving(memory, threads=2, waiting=2, call_seconds=0.2) as client:
        for _ in range(2):
            thread, found = in_thread(lambda: client.get("/v1/history"))
            thread.join(30)
        assert found[0].status_code == 429
        assert "waited" in found[0].json()["detail"]
        assert runs.acquire(timeout=30)
        go.set()
        until(0, lambda: -client.app.state.limits.threads.taken)
        assert client.get("/v1/history").status_code == 200


def test_an_operator_may_say_how_many_calls_a_caller_runs(memory, held):
    runs, go = held
    with serving(memory, threads=4, waiting=6, caller_threads=1) as client:
        asked = [in_thread(lambda: client.get("/v1/history").status_code) for _ in range(2)]
        assert runs.acquire(timeout=30)
        until(2, lambda: client.app.state.limits.threads.taken)
        assert not runs.acquire(timeout=0.2)
        go.set()
        for thread, found in asked:
            thread.join(30)
            assert found == [200]


def test_an_operator_may_give_one_caller_all_threads(memory, held):
    runs, go = held
    with serving(memory, threads=2, waiting=6, caller_threads=2) as client:
        asked = [in_thread(lambda: client.get("/v1/history").status_code) for _ in range(2)]
        for _ in asked:
            assert runs.acquire(timeout=30)
        go.set()
        for thread, found in asked:
            thread.join(30)
            assert found == [200]


LOCK = """
SELECT set_config('perdure.reach', 'routed', true), set_config('perdure.prefix', '', true),
    set_config('perdure.namespace', 'a', true);
SELECT version FROM namespace WHERE namespace = 'a' FOR UPDATE
"""


def test_workers_answer_others_while_a_caller_waits_for_a_lock_everywhere(tmp_path):
    url = fresh_database()
    try:
        with perdure.open(url, POLICY) as memory:
            memory.remember("Bo waters the garden.", namespace="a")
            memory.remember("Ana paints the fence.", namespace="b")
            greedy, other = bearer(memory, "agent", "a"), bearer(memory, "agent", "b")
            watcher = bearer(memory, "reader", "*")
        options = ("--store", url, "--workers", "2", "--threads", "4", "--no-maintenance")
        with served(tmp_path, *options) as (_process, port), psycopg.connect(url) as lock:
            lock.execute(LOCK)

            def store(n):
                told = {**greedy, "prefer": "wait=25"}
                return ask(port, "POST", "/v1/remember", {"content": f"Bo has {n} cups of tea."}, told)[0]

            asked = [in_thread(partial(store, n)) for n in range(16)]
            until(16, lambda: in_flight(port, watcher) + sum(len(found) for _, found in asked))
            for _ in range(4):
                status, answer = ask(port, "POST", "/v1/recall", {"query": "fence"}, {**other, "prefer": "wait=10"})
                assert (status, len(answer.get("hits", ()))) == (200, 1), answer
                assert ask(port, "GET", "/readyz")[0] == 200
            lock.rollback()
            for thread, found in asked:
                thread.join(60)
                assert found[0] in {200, 429}
    finally:
        drop_database(url)


def test_reads_and_lookups_of_tokens_do_not_wait_for_those_who_wait_for_a_files_lock(tmp_path, monkeypatch):
    monkeypatch.setattr("perdure.stores.sqlite.connection.BUSY_MS", 300_000)
    path = str(tmp_path / "a.db")
    with (
        perdure.open(path, POLICY) as memory,
        serving(memory, call_seconds=300) as client,
        closing(apsw.Connection(path)) as other,
    ):
        memory.remember("Ana paints the fence.", namespace="b")
        writers = [bearer(memory, "agent", f"n{n}") for n in range(2)]
        readers = [bearer(memory, role, "b") for role in ("reader", "agent", "curator")]
        other.execute("BEGIN IMMEDIATE")

        def store(who):
            given = {"content": "Bo waters the garden."}
            return client.post("/v1/remember", json=given, headers={**who, "prefer": "wait=300"}).status_code

        asked = [in_thread(partial(store, who)) for who in writers]
        until(2, lambda: client.app.state.limits.threads.taken)
        time.sleep(0.5)  # they wait for the lock
        for who in readers:  # none of which was looked up before
            for verb, given in (("list", {}), ("recall", {"query": "fence"})):
                answer = client.post(f"/v1/{verb}", json=given, headers=who)
                assert (answer.status_code, "fence" in answer.text) == (200, True)
        assert [found for _, found in asked] == [[], []]
        other.execute("ROLLBACK")
        for thread, found in asked:
            thread.join(30)
            assert found == [200]
