"""Limits of the service: overload, deadlines, slow clients, repeats, rates, an end in order; metrics and the log."""

from __future__ import annotations

import asyncio
import json
import logging
import random
import signal
import socket
import threading
import time
from contextlib import closing
from http.client import HTTPException
from io import StringIO

import apsw
import pytest
from starlette.testclient import TestClient

import perdure
from conftest import STORES, opened
from perdure.interfaces.http import connection
from perdure.interfaces.http.app import build_app
from perdure.interfaces.http.call_log import JsonLines
from perdure.interfaces.http.settings import Settings
from perdure.records.deadline import may_wait, within
from service.conftest import ADDRESS, BASE, HOST, POLICY
from service.test_serve import ask, raw, served


def serving(memory, client_type=TestClient, **limits):
    app = build_app(lambda: memory, Settings(frozenset({HOST}), **limits))
    return client_type(app, base_url=BASE, client=(ADDRESS, 50_000))


@pytest.fixture
def held(memory, monkeypatch):
    """Make ``stats`` wait until it is let go; returns (that it runs, let it go)."""
    runs, go = threading.Semaphore(0), threading.Event()
    usual = type(memory).stats

    def stats(self, *args, **named):
        runs.release()
        assert go.wait(60)
        return usual(self, *args, **named)

    monkeypatch.setattr(type(memory), "stats", stats)
    yield runs, go
    go.set()


def in_thread(work):
    found = []
    thread = threading.Thread(target=lambda: found.append(work()))
    thread.start()
    return thread, found


def test_overload_is_refused_at_once_and_passes(memory, held):
    runs, go = held
    with serving(memory, threads=1, waiting=1) as client:
        first = in_thread(lambda: client.get("/v1/stats").status_code)
        assert runs.acquire(timeout=30)
        second = in_thread(lambda: client.get("/v1/stats").status_code)
        while client.app.state.limits.threads.taken < 2:
            assert not go.wait(0.01)
        refused = client.get("/v1/list")
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "2")
        assert refused.json()["fault"] == "machine"
        assert client.get("/healthz").status_code == 200  # it needs no thread of these
        go.set()
        for thread, found in (first, second):
            thread.join(30)
            assert found == [200]
        assert client.get("/v1/list").status_code == 200


def watched_searches(memory, monkeypatch, seconds):
    """Let each search of a store last; returns a list that gets how many are inside at once, at each."""
    inside, most = [], []
    kind = type(memory._context.store)
    usual = kind.search

    def searched(self, *args, **named):
        inside.append(1)
        most.append(len(inside))
        time.sleep(seconds)
        inside.pop()
        return usual(self, *args, **named)

    monkeypatch.setattr(kind, "search", searched)
    return most


def test_recalls_of_a_file_take_turns_and_lend_theirs_while_the_embedder_is_asked(tmp_path, monkeypatch):
    both = threading.Barrier(2)

    def embed(texts):
        if texts[0].startswith("Who"):
            both.wait(60)  # breaks unless a second recall has got as far as this one
        return [[float(len(text)), 1.0] for text in texts]

    with perdure.open(tmp_path / "a.db", embedder=embed) as memory:
        memory.remember("Ana paints the fence.")
        most = watched_searches(memory, monkeypatch, 0.05)  # long enough for another one to come in, if it may
        with serving(memory, file=tmp_path / "a.db") as client:
            ask_for = [{"query": f"Who paints the {what}?"} for what in ("fence", "old gate")]
            asked = [in_thread(lambda q=q: client.post("/v1/recall", json=q).status_code) for q in ask_for]
            for thread, found in asked:
                thread.join(60)
                assert found == [200]
    assert set(most) == {1}


def test_no_recall_is_forgotten_while_many_come_and_go_from_the_embedder(tmp_path, monkeypatch):
    drawn = random.Random(7)  # noqa: S311  # lengths of waits

    def embed(texts):
        time.sleep(drawn.choice((0, 0.001, 0.01)))
        return [[float(len(text)), 1.0] for text in texts]

    with perdure.open(tmp_path / "a.db", embedder=embed) as memory:
        memory.remember("Ana paints the fence.")
        most = watched_searches(memory, monkeypatch, 0.001)
        with serving(memory, file=tmp_path / "a.db", threads=3, waiting=140) as client:
            asked = [
                in_thread(lambda n=n: client.post("/v1/recall", json={"query": f"fence {n}"}).status_code)
                for n in range(60)
            ]
            others = [in_thread(lambda: client.get("/v1/list").status_code) for _ in range(10)]
            for thread, found in [*asked, *others]:
                thread.join(60)
                assert found == [200]
            assert client.app.state.limits.threads.taken == 0
    assert set(most) == {1}
    assert len(most) >= 60


def test_a_call_that_takes_too_long_is_told_and_goes_on(memory, held):
    runs, go = held
    with serving(memory, call_seconds=0.05, threads=2) as client:
        answer = client.get("/v1/stats")
        assert answer.status_code == 504
        problem = answer.json()
        assert (problem["error"], problem["fault"]) == ("OutcomeUnknown", "machine")
        assert "goes on" in problem["title"]
        assert "may be stored" in problem["detail"]
        assert "history" in problem["remedy"]
        assert runs.acquire(timeout=30)
        go.set()
    with serving(memory, call_seconds=60, threads=2) as client:
        go.clear()
        assert client.get("/v1/stats", headers={"prefer": "wait=0"}).status_code == 504
        go.set()


def test_a_call_that_goes_on_is_not_made_twice_by_who_sends_it_again_with_its_key(memory, monkeypatch):
    """Its key was free as soon as it had been answered with 504, so that the same call ran again beside it."""
    go, times = threading.Event(), []
    usual = type(memory).remember_many

    def remember_many(self, *args, **named):
        times.append(1)
        assert go.wait(30)
        return usual(memory, *args, **named)

    monkeypatch.setattr(type(memory), "remember_many", remember_many)
    given = {"json": {"items": ["Ana paints the fence.", "Bo waters the garden."]}}
    key = {"idempotency-key": "k"}
    with serving(memory) as client:
        first = client.post("/v1/remember-many", **given, headers={**key, "prefer": "wait=1"})
        assert (first.status_code, first.json()["error"]) == (504, "OutcomeUnknown")
        assert "operations" not in first.json()  # nobody knows them
        second = client.post("/v1/remember-many", **given, headers={**key, "prefer": "wait=1"})
        assert (second.status_code, second.json()["error"]) == (504, "OutcomeUnknown")  # no longer than it may wait
        again, found = in_thread(lambda: client.post("/v1/remember-many", **given, headers=key))
        again.join(0.5)
        assert again.is_alive()
        go.set()
        again.join(30)
        assert found[0].status_code == 200
        ids = [one["id"] for one in next(v for v in found[0].json().values() if isinstance(v, list))]
        assert sorted(ids) == sorted(one.id for one in memory.list())
        assert len(times) == 1


def test_only_whole_seconds_are_a_time_to_wait(memory, monkeypatch):
    """Of a fraction the part before the point was taken: half a second was none."""
    allowed, within_time = [], type(memory).within

    def noted(self, seconds):
        allowed.append(round(seconds))
        return within_time(self, seconds)

    monkeypatch.setattr(type(memory), "within", noted)
    waits = {"wait=9": 9, "respond-async, wait=9": 9, "wait=9; a": 9, "wait=0.5": 60, "wait=9.5": 60, "wait=9x": 60}
    with serving(memory) as client:
        for prefer in waits:
            assert client.get("/v1/list", headers={"prefer": prefer}).status_code == 200
    assert allowed == list(waits.values())


def test_a_call_ends_when_its_client_waits_no_longer(tmp_path):
    """It used to go on in its thread, which stayed taken."""
    with perdure.open(tmp_path / "a.db", POLICY) as memory, closing(apsw.Connection(str(tmp_path / "a.db"))) as other:
        other.execute("BEGIN IMMEDIATE")  # another process writes
        with serving(memory, threads=1) as client:
            asked = time.monotonic()
            answer = client.post("/v1/remember", json={"content": "tea"}, headers={"prefer": "wait=1"})
            assert time.monotonic() - asked < 10
            assert (answer.status_code, answer.json()["operations"]) == (504, [])
            assert "was ended. Nothing was written." in answer.json()["detail"]
            other.execute("ROLLBACK")
            assert client.post("/v1/remember", json={"content": "tea"}, headers={"prefer": "wait=5"}).status_code == 200
            assert len(memory.list()) == 1


def test_who_has_a_token_reads_on_while_another_process_writes(tmp_path):
    """Noting that the token was used waited for the file's lock, for 30 s before each call."""
    with perdure.open(tmp_path / "a.db", POLICY) as memory, closing(apsw.Connection(str(tmp_path / "a.db"))) as other:
        token = {"authorization": f"Bearer {memory.create_token('reader', '*', actor='ana').secret}"}
        other.execute("BEGIN IMMEDIATE")
        with serving(memory) as client:
            asked = time.monotonic()
            assert client.get("/v1/list", headers=token).status_code == 200
            assert time.monotonic() - asked < 20
            assert memory.list_tokens()[0].used_at is None
            other.execute("ROLLBACK")


def test_noting_that_a_token_was_used_does_not_wait_and_is_not_tried_again_at_once(tmp_path, clock, monkeypatch):
    """Each thread that recognised a token waited for its turn to fail."""
    waits, sleep = [], time.sleep
    with (
        opened(tmp_path / "a.db", POLICY, clock) as memory,
        closing(apsw.Connection(str(tmp_path / "a.db"))) as other,
    ):
        secret = memory.create_token("reader", "*", actor="ana").secret

        def used():
            assert memory.recognize(secret) is not None
            return memory.list_tokens()[0].used_at

        other.execute("BEGIN IMMEDIATE")
        monkeypatch.setattr(time, "sleep", lambda seconds: (waits.append(seconds), sleep(seconds)))
        assert used() is None
        assert waits == []
        with within(60), within(90, waits=0):  # the limit around it ends sooner
            assert not may_wait()
        with within(60, waits=0), within(30, waits=5):  # it waits for less
            assert not may_wait()
        other.execute("ROLLBACK")
        clock.passes(seconds=4)
        assert used() is None
        clock.passes(seconds=2)
        assert used() is not None


def test_a_repeat_with_the_same_key_is_answered_from_the_first(client, memory):
    kept = memory.remember("Deploys happen on Tuesdays.")
    given, headers = {"memory_ids": [kept.id], "amount": 0.01}, {"idempotency-key": "k1"}
    first = client.post("/v1/strengthen", json=given, headers=headers)
    assert first.status_code == 200, first.text
    before = len(memory.history())
    again = client.post("/v1/strengthen", json=given, headers=headers)
    assert again.content == first.content
    assert len(memory.history()) == before
    other = client.post("/v1/strengthen", json={**given, "amount": 0.02}, headers=headers)
    assert other.status_code == 422
    assert "another call" in other.json()["detail"]
    assert client.post("/v1/strengthen", json=given, headers={"idempotency-key": "k2"}).status_code == 200
    assert len(memory.history()) == before + 1
    assert client.post("/v1/strengthen", json=given, headers={"idempotency-key": "x" * 256}).status_code == 422


@pytest.mark.parametrize("door", ["another program", "program", "route"])
@pytest.mark.parametrize("store", STORES[:2], indirect=True)
def test_what_a_call_returned_is_forgotten_when_memories_are_erased(path, door):
    with closing(perdure.open(path, POLICY)) as memory, serving(memory) as client:
        _forgets_what_is_erased(path, client, memory, door)


def _forgets_what_is_erased(path, client, memory, door):
    earlier = memory.remember("Ann Roe has moved.").id
    memory.erase([earlier], reason="asked", confirm=memory.erase([earlier], reason="asked").confirm, dry_run=False)
    namespaces = ("default", "other")
    kept = {n: memory.remember("Ann Roe's room is 4711.", namespace=n).id for n in namespaces}

    def call(key, **given):
        return client.post("/v1/update", json=given, headers={"idempotency-key": key})

    def call_all():
        return [
            call("k1", id=kept["default"], content="Ann Roe's room is 4712."),  # names no namespace
            *(consolidate(n) for n in namespaces),
        ]

    def consolidate(namespace):
        return client.post("/v1/consolidate", json={"namespace": namespace}, headers={"idempotency-key": namespace})

    first = call_all()
    assert [a.status_code for a in first] == [200, 200, 200]
    before = len(memory.history(limit=100))
    assert [a.content for a in call_all()] == [a.content for a in first]
    ids = [m.id for m in memory.list(include_archived=True)]
    confirm = memory.erase(ids, reason="asked").confirm
    if door == "route":
        given = {"ids": ids, "reason": "asked", "confirm": confirm, "dry_run": False}
        assert client.post("/v1/erase", json=given).status_code == 200
    elif door == "another program":
        with perdure.open(path, POLICY) as other:
            other.erase(ids, reason="asked", confirm=confirm, dry_run=False)
    else:
        memory.erase(ids, reason="asked", confirm=confirm, dry_run=False)
    again = call_all()
    assert [a.status_code for a in again] == [422, 422, 200]
    for refused in again[:2]:
        assert "4712" not in refused.text
        assert (refused.json()["error"], "erased since" in refused.json()["detail"]) == ("MemoryErased", True)
    assert again[2].content == first[2].content
    assert len(memory.history(limit=100)) == before + 1


@pytest.mark.parametrize("verb", ["strengthen", "remember"])  # kept by the service, and by the verb itself
def test_several_different_keys_are_refused_and_the_same_one_twice_is_one(client, memory, verb):
    kept = memory.remember("Deploys happen on Tuesdays.")
    given = {"memory_ids": [kept.id]} if verb == "strengthen" else {"content": "Tea is green."}
    before = len(memory.history())
    refused = client.post(f"/v1/{verb}", json=given, headers=[("idempotency-key", "k1"), ("Idempotency-Key", "k2")])
    assert (refused.status_code, refused.json()["fault"]) == (400, "caller")
    assert "different keys" in refused.json()["detail"]
    assert len(memory.history()) == before
    for _ in range(2):
        done = client.post(f"/v1/{verb}", json=given, headers=[("idempotency-key", "k1"), ("idempotency-key", "k1")])
        assert done.status_code == 200
    assert len(memory.history()) == before + 1


def test_a_failed_call_may_be_repeated_with_its_key(client, memory):
    headers = {"idempotency-key": "k"}
    kept = memory.remember("Deploys happen on Tuesdays.")
    memory.forget(kept.id)
    assert client.post("/v1/update", json={"id": kept.id, "content": "x"}, headers=headers).status_code == 422
    memory.restore(kept.id)
    assert client.post("/v1/update", json={"id": kept.id, "content": "x"}, headers=headers).status_code == 200


def test_the_key_of_remember_is_kept_with_the_memory(memory):
    given, headers = {"content": "Deploys happen on Tuesdays."}, {"idempotency-key": "k"}
    with serving(memory) as client:
        first = client.post("/v1/remember", json=given, headers=headers).json()
    with serving(memory) as client:  # another process
        again = client.post("/v1/remember", json=given, headers=headers).json()
    assert again["id"] == first["id"]
    assert len(memory.list()) == 1


def test_the_key_of_remember_with_another_text_is_refused_whoever_used_it(memory):
    tokens = [memory.create_token("agent", "*", actor=name).secret for name in ("ana", "bo")]
    with serving(memory) as client:
        answers = [
            client.post(
                "/v1/remember",
                json={"content": f"This is text number {tokens.index(token)}.", **body},
                headers={"authorization": f"Bearer {token}", **header},
            )
            for token, header, body in (
                (tokens[0], {"idempotency-key": "note-1"}, {}),
                (tokens[1], {"idempotency-key": "note-1"}, {}),
                (tokens[1], {}, {"idempotency_key": "note-1"}),
            )
        ]
    assert [answer.status_code for answer in answers] == [200, 422, 422]
    problem = answers[1].json()
    assert problem == answers[2].json()
    assert (problem["error"], problem["detail"], problem["remedy"]) == (
        "InvalidInput",
        "The idempotency key 'note-1' was used for another text.",
        "Use a key of its own for each text.",
    )
    assert len(memory.list()) == 1


def test_two_keys_of_one_call_must_be_the_same(client, memory):
    """That of the header was left out of account."""
    given, header = {"content": "Deploys happen on Tuesdays."}, {"idempotency-key": "k1"}
    for other in ("k2", "", 7, ["k1"]):
        refused = client.post("/v1/remember", json={**given, "idempotency_key": other}, headers=header)
        problem = refused.json()
        assert (refused.status_code, problem["error"]) == (422, "InvalidInput")
        for part in ("idempotency-key", "'k1'", "idempotency_key", str(other)):
            assert part in problem["detail"]
    assert memory.list() == []
    first = client.post("/v1/remember", json={**given, "idempotency_key": "k1"}, headers=header)
    assert first.status_code == 200
    for same in ({"idempotency_key": None}, {}):  # null says nothing
        again = client.post("/v1/remember", json={**given, **same}, headers=header)
        assert again.json()["id"] == first.json()["id"]
    other = client.post("/v1/remember", json={"content": "Tea is green.", "idempotency_key": None}, headers=header)
    assert (other.status_code, len(memory.list())) == (422, 1)


def test_a_key_of_one_token_is_not_anothers(memory):
    kept = memory.remember("Deploys happen on Tuesdays.")
    tokens = [memory.create_token("agent", "*", actor=name).secret for name in ("ana", "bo")]
    given = {"memory_ids": [kept.id]}
    with serving(memory) as client:
        for token in tokens:
            headers = {"authorization": f"Bearer {token}", "idempotency-key": "k"}
            assert client.post("/v1/strengthen", json=given, headers=headers).status_code == 200
    assert [o.actor for o in memory.history() if o.operation == "strengthen"] == ["bo", "ana"]


def test_a_token_has_a_rate_and_another_token_its_own(memory):
    ana, bo = (memory.create_token("reader", "*", actor=name).secret for name in ("ana", "bo"))
    with serving(memory, rate=0.01) as client:
        answers = [client.get("/v1/list", headers={"authorization": f"Bearer {ana}"}) for _ in range(3)]
        assert [a.status_code for a in answers][-1] == 429
        assert int(answers[-1].headers["retry-after"]) > 1
        assert client.get("/v1/list", headers={"authorization": "Bearer x"}).status_code == 401
    with serving(memory, rate=5) as client:
        answers = [client.get("/v1/list", headers={"authorization": f"Bearer {ana}"}).status_code for _ in range(40)]
        assert answers.count(200) >= 10
        assert 429 in answers
        assert client.get("/v1/list", headers={"authorization": f"Bearer {bo}"}).status_code == 200


def test_sigterm_lets_what_runs_finish(tmp_path):
    with served(tmp_path) as (process, port):
        items = [{"content": f"Server {n} listens on port {n}."} for n in range(2000)]
        thread, found = in_thread(lambda: ask(port, "POST", "/v1/remember-many", {"items": items}))
        while not (tmp_path / "a.db").stat().st_size or ask(port, "GET", "/v1/list?limit=1")[1] == {"memories": []}:
            if not thread.is_alive():
                break
        process.send_signal(signal.SIGTERM)
        thread.join(60)
        assert process.wait(60) == 0
        status, answer = found[0]
        assert (status, len(answer["items"])) == (200, 2000)
    with perdure.open(tmp_path / "a.db", POLICY) as memory:
        assert memory.stats().memories == 2000


def test_kill_9_loses_nothing_that_was_acknowledged(tmp_path):
    with served(tmp_path) as (process, port):
        acknowledged = []

        def store(worker):
            for number in range(1000):
                try:
                    status, answer = ask(port, "POST", "/v1/remember", {"content": f"Item {worker} {number}."})
                except (OSError, ValueError, HTTPException):
                    return
                if status == 200:
                    acknowledged.append(answer["id"])

        threads = [threading.Thread(target=store, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        while len(acknowledged) < 40:
            assert any(t.is_alive() for t in threads)
            time.sleep(0.01)
        process.kill()
        for thread in threads:
            thread.join(60)
    with perdure.open(tmp_path / "a.db", POLICY) as memory:
        assert [i for i in acknowledged if memory.get(i) is None] == []
        assert memory.check() == []


def test_slow_clients_hold_no_place_and_are_cut_off(tmp_path, monkeypatch):
    assert connection.HEAD_SECONDS <= 30
    with served(tmp_path, "--threads", "1", "--waiting", "1") as (_process, port):
        slow = [socket.create_connection(("127.0.0.1", port), timeout=60) for _ in range(200)]
        host = f"Host: 127.0.0.1:{port}\r\n"
        heads = (b"GET /v1/list HT", f"POST /v1/remember HTTP/1.1\r\n{host}Content-Length: 99\r\n".encode())
        told = f"{host}Content-Type: application/json\r\nContent-Length: 99\r\n\r\n{{"
        body = f"POST /v1/remember HTTP/1.1\r\n{told}".encode()
        for number, talk in enumerate(slow):
            talk.sendall((*heads, body)[number % 3])
        for _ in range(20):
            assert ask(port, "GET", "/v1/list")[0] == 200
        assert slow[0].recv(1000) == b""  # a head that does not come is cut off
        for talk in slow:
            talk.close()
        answer = raw(port, f"GET /healthz HTTP/1.1\r\n{host}\r\n".encode())
        assert answer.startswith(b"HTTP/1.1 200")


async def answered(app, method, receive, **headers):
    """Send a request to an application, and return the status of its answer."""
    named = {"host": HOST, "content-type": "application/json", **headers}
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "path": "/v1/list",
        "query_string": b"",
        "headers": [(name.replace("_", "-").encode(), value.encode()) for name, value in named.items()],
    }
    sent = []

    async def send(message):
        sent.append(message)

    await app(scope, receive, send)
    return sent[0]["status"]


def test_a_body_that_comes_too_slowly_is_refused_and_a_long_one_before_it_is_read(memory):
    app = build_app(lambda: memory, Settings(frozenset({HOST}), body_seconds=0.05, body_bytes=1000))
    parts = iter([{"type": "http.request", "body": b"{", "more_body": True}])

    async def slow():
        return next(parts, None) or await asyncio.sleep(60)

    async def never():
        raise AssertionError("it was read")

    assert asyncio.run(answered(app, "POST", slow)) == 408
    for method in ("GET", "POST"):
        assert asyncio.run(answered(app, method, never, content_length="1001")) == 413
    assert app.state.limits.threads.taken == 0


def test_metrics_tell_what_happened(client, memory):
    client.post("/v1/remember", json={"content": "Deploys happen on Tuesdays."})
    client.post("/v1/recall", json={"query": "When do we deploy?"})
    client.post("/v1/recall", json={"query": "Who paints the fence?"})
    client.post("/v1/pin", json={"id": "nothing-like-it"})
    client.get("/v1/list", headers={"host": "evil.example"})
    answer = client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    lines = answer.text.splitlines()
    for expected in (
        'perdure_calls_total{outcome="ok",verb="recall"} 2.0',
        'perdure_calls_total{outcome="NotFound",verb="pin"} 1.0',
        'perdure_call_seconds_count{verb="recall"} 2.0',
        'perdure_call_seconds_bucket{le="+Inf",verb="recall"} 2.0',
        "perdure_recall_hits_total 1.0",
        "perdure_recalls_unknown_total 1.0",
        'perdure_responses_total{status="421"} 1.0',
        'perdure_memories{status="active"} 1.0',
        'perdure_journal{figure="total"} 1.0',
        "perdure_due_lag_seconds 0.0",
    ):
        assert any(line.replace(", ", ",") == expected for line in lines), expected
    assert "Tuesdays" not in answer.text


def test_metrics_of_the_whole_store_are_not_for_a_tenant(memory):
    whole, tenant = (memory.create_token("reader", place, actor="x").secret for place in ("*", "team/*"))
    with serving(memory) as client:
        assert client.get("/metrics", headers={"authorization": f"Bearer {whole}"}).status_code == 200
        assert client.get("/metrics", headers={"authorization": f"Bearer {tenant}"}).status_code == 403
        assert client.get("/metrics").status_code == 401


def test_the_log_says_what_was_done_and_nothing_of_what_was_said(client, memory):
    stream = StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines())
    loggers = [logging.getLogger(name) for name in ("perdure.calls", "perdure")]
    before = [(logger.level, logger.propagate) for logger in loggers]
    for logger in loggers:
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
        logger.propagate = False
    try:
        kept = client.post("/v1/remember", json={"content": "The key is under the stone."}).json()
        client.post("/v1/recall", json={"query": "Where is the key under the stone?"})
        client.post("/v1/remember", json={"content": "x", "importance": "stone"})
        client.get("/v1/get", params={"id": "stone-stone"})
    finally:
        for logger, (level, propagate) in zip(loggers, before, strict=True):
            logger.removeHandler(handler)
            logger.setLevel(level)
            logger.propagate = propagate
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [(line["verb"], line["status"], line.get("error")) for line in lines] == [
        ("remember", 200, None),
        ("recall", 200, None),
        ("remember", 422, "InvalidInput"),
        ("get", 404, "NotFound"),
    ]
    assert lines[0]["operation"] == kept["operation"]
    assert "stone" not in stream.getvalue()
    assert "level" in lines[0]


def test_the_command_writes_the_log(tmp_path):
    with served(tmp_path, "--log") as (process, port):
        ask(port, "POST", "/v1/remember", {"content": "The key is under the stone."})
        ask(port, "GET", "/v1/list")
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
        text = process.stderr.read()
    lines = [json.loads(line) for line in text.splitlines()]
    assert [line["verb"] for line in lines if line["log"] == "perdure.calls"] == ["remember", "list"]
    assert "stone" not in text


def test_an_answer_with_a_secret_is_not_kept(memory):
    admin = memory.create_token("admin", "*", actor="ana").secret
    headers = {"authorization": f"Bearer {admin}", "idempotency-key": "k"}
    with serving(memory) as client:
        made = [
            client.post("/v1/create-token", json={"role": "reader", "namespace": "*", "actor": "bo"}, headers=headers)
            for _ in "12"
        ]
    assert [answer.status_code for answer in made] == [200, 200]
    assert made[0].json()["secret"] != made[1].json()["secret"]


@pytest.mark.parametrize(("quota", "most"), [("memories", 1), ("tokens", 14), ("bytes", 60)])
def test_a_namespace_has_a_quota_and_another_one_its_own(quota, most):
    policy = {**POLICY, "limits": {f"namespace_{quota}": most}}
    with perdure.open(":memory:", policy) as memory, serving(memory) as client:
        assert client.post("/v1/remember", json={"content": "Deploys happen on Tuesdays at ten."}).status_code == 200
        more = {"content": "The gate opens at seven o'clock each day."}
        refused = client.post("/v1/remember", json=more)
        assert refused.status_code == 507
        told = {name: refused.json()[name] for name in ("error", "fault", "namespace", "part")}
        assert told == {"error": "QuotaExceeded", "fault": "caller", "namespace": "default", "part": quota}
        assert f"limits.namespace_{quota}" in refused.json()["remedy"]
        assert client.post("/v1/remember", json={**more, "namespace": "other"}).status_code == 200
        assert 'perdure_calls_total{outcome="QuotaExceeded",verb="remember"} 1.0' in client.get("/metrics").text
