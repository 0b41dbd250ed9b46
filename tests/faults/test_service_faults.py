"""A store that fails under the service: API and page say so, and go on without a restart when it is back."""

from __future__ import annotations

import contextlib
import re
import resource
import sys
import time

import apsw
import psycopg
import pytest

import perdure
from conftest import WORDS_ONLY
from faults.server_faults import own_server
from interfaces.pages.browsing import Browser, plain, words
from perdure.interfaces.http import app as http_app
from perdure.interfaces.http.app import build_app
from perdure.interfaces.http.settings import Settings
from perdure.stores.postgres import faults
from perdure.stores.postgres.local import SUPERUSER
from perdure.stores.sqlite import store as sqlite_store
from service.test_serve import ask, served, talked

HOST = "localhost:8766"
NOTE = {"content": "The gate opens at seven."}


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    """What is gone is waited for, and tried again, within moments."""
    monkeypatch.setattr(faults, "PATIENCE", 0.3)
    monkeypatch.setattr(faults, "PAUSE", 0.0)
    monkeypatch.setattr(http_app, "READY_SECONDS", 0.0)


@contextlib.contextmanager
def serving(memory):
    app = build_app(lambda: memory, Settings(frozenset({HOST})))
    with Browser(app, base_url=f"http://{HOST}") as client:
        client.headers["accept"] = "text/html,*/*;q=0.8"  # as browsers do
        client.own = {"origin": f"http://{HOST}"}
        yield client


@pytest.fixture(scope="module")
def server():
    with own_server(fsync="off") as started:
        yield started


@pytest.fixture
def memory(server):
    with perdure.open(f"{server.dsn()}?timeout=2", WORDS_ONLY) as opened:
        yield opened


def told(reply):
    """The error of a problem, and whether it says what to do."""
    problem = reply.json()
    assert reply.headers["content-type"] == "application/problem+json"
    assert problem["remedy"]
    return reply.status_code, problem["error"]


PAGES = ("/", "/search", "/facts", "/questions", "/plans", "/memory-md")


def banner(html):
    """What a page says above all else."""
    found = re.search(r'<main[^>]*>\s*<div class="alert critical" role="status">(.*?)</div>', html, re.DOTALL)
    return plain(found.group(1)) if found else ""


def alerts_of_the_store(document):
    return [alert["severity"] for alert in document["alerts"] if alert["name"] == "unwritable"]


def is_writable(port):
    time.sleep(1.1)  # the process keeps its answer for a second
    return ask(port, "GET", "/readyz")[1]["writable"]


def set_read_only(server, value):
    server.sql(f"ALTER SYSTEM SET default_transaction_read_only = {value}")
    server.sql("SELECT pg_reload_conf()")
    deadline = time.monotonic() + 30
    with psycopg.connect(server.dsn("perdure", SUPERUSER), autocommit=True) as connection:
        while connection.execute("SHOW default_transaction_read_only").fetchone() != (value,):
            assert time.monotonic() < deadline
    server.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'perdure'")  # they may not know


def test_a_server_that_goes_and_comes_back(server, memory, caplog):
    kept = memory.remember("Deploys happen on Tuesdays.").id
    with serving(memory) as client:
        form = client.get(f"/change?id={kept}&verb=pin")
        server.kill()
        try:
            for reply in (
                client.post("/v1/remember", json=NOTE),
                client.post("/v1/recall", json={"query": "deploys"}),
                client.get("/readyz"),
            ):
                assert told(reply) == (503, "StoreUnavailable")
                assert reply.headers["retry-after"]
                assert str(server.port) not in reply.text  # where it is, is the operator's affair
            assert client.get("/healthz").status_code == 200
            for reply in (client.get("/"), client.answer(form, "/change", sure="1")):
                assert reply.status_code == 503
                assert "cannot be reached" in words(reply)
                assert str(server.port) not in reply.text
            assert any(str(server.port) in line for line in caplog.messages)
        finally:
            server.start()
        assert client.get("/readyz").json()["status"] == "ready"
        assert client.post("/v1/remember", json=NOTE).status_code == 200
        assert client.post("/v1/recall", json={"query": "deploys"}).json()["hits"]
        assert client.answer(form, "/change", sure="1").status_code in {200, 303}
        assert memory.get(kept).pinned
        assert "in view" in words(client.get("/"))


def test_who_is_logged_in_is_told_that_the_server_is_gone_and_stays_logged_in(server, caplog):
    with perdure.open(f"{server.dsn()}?timeout=2&namespace_prefix=guarded/", WORDS_ONLY) as memory:
        secret = memory.create_token("curator", "*", actor="Ana").secret
        with serving(memory) as client:
            client.fill("/login", "/login", secret=secret)
            assert "Nothing is known here yet" in words(client.get("/"))
            time.sleep(1.1)  # what is known of a token holds for a second
            server.kill()
            try:
                reply = client.get("/")
                assert (reply.status_code, "cannot be reached" in words(reply)) == (503, True)
                with caplog.at_level("INFO", "perdure.calls"):
                    assert told(client.get("/v1/list", headers={"authorization": f"Bearer {secret}"}))[0] == 503
                assert [(r.path, r.status, r.error) for r in caplog.records if r.name == "perdure.calls"] == [
                    ("/v1/list", 503, "StoreUnavailable")
                ]
            finally:
                server.start()
            assert "Nothing is known here yet" in words(client.get("/"))


def test_a_login_while_the_server_is_gone_is_told_and_is_no_wrong_token(server):
    with perdure.open(f"{server.dsn()}?timeout=2&namespace_prefix=login/", WORDS_ONLY) as memory:
        secret = memory.create_token("curator", "*", actor="Ana").secret
        with serving(memory) as client:
            page = client.get("/login")
            server.kill()
            try:
                reply = client.answer(page, "/login", secret=secret)
                assert (reply.status_code, "cannot be reached" in words(reply)) == (503, True)
            finally:
                server.start()
            assert "Nothing is known here yet" in words(client.answer(page, "/login", secret=secret))


def test_a_server_that_takes_no_writes_for_a_while(server, memory):
    kept = memory.remember("Deploys happen on Tuesdays.").id
    secret = memory.create_token("agent", "*", actor="Ana").secret
    bearer = {"authorization": f"Bearer {secret}"}
    with serving(memory) as client:
        set_read_only(server, "on")
        try:
            assert told(client.post("/v1/remember", json={"content": "The fence is green."}, headers=bearer)) == (
                503,
                "StoreReadOnly",
            )
            found = client.post("/v1/recall", json={"query": "deploys"}, headers=bearer)
            assert [hit["memory"]["id"] for hit in found.json()["hits"]][:1] == [kept]
            assert client.get("/readyz").json()["writable"] is False
            assert "the store is read-only" in banner(client.get("/", headers=bearer).text)
        finally:
            set_read_only(server, "off")
        assert client.post("/v1/remember", json={"content": "The fence is green."}, headers=bearer).status_code == 200
        assert client.get("/readyz").json()["writable"] is True
        assert banner(client.get("/", headers=bearer).text) == ""


@pytest.mark.skipif(sys.platform != "linux", reason="limits of another process")
def test_a_full_disk_is_told_and_reading_goes_on(tmp_path):
    with served(tmp_path) as (process, port):
        status, kept = ask(port, "POST", "/v1/remember", {"content": "Deploys happen on Tuesdays."})
        assert status == 200
        _, made = ask(port, "POST", "/v1/create-token", {"role": "agent", "namespace": "*", "actor": "Ana"})
        bearer = {"authorization": f"Bearer {made['secret']}"}
        size = (tmp_path / "a.db-wal").stat().st_size
        before = resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
        status, problem = ask(port, "POST", "/v1/remember", NOTE, bearer)
        assert (status, problem["error"], bool(problem["remedy"])) == (507, "DiskFull", True)
        status, found = ask(port, "POST", "/v1/recall", {"query": "When do we deploy?"}, bearer)
        assert (status, [hit["memory"]["id"] for hit in found["hits"]]) == (200, [kept["id"]])
        assert "not counted" in found["note"]
        assert is_writable(port) is False
        assert alerts_of_the_store(ask(port, "GET", "/v1/alerts", headers=bearer)[1]) == ["critical"]
        for path in PAGES:
            assert "the disk is full" in banner(talked(port, "GET", path, None, bearer)[2]), path
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, before)
        assert ask(port, "POST", "/v1/remember", NOTE, bearer)[0] == 200
        assert ask(port, "GET", "/v1/stats", headers=bearer)[1]["memories"] == 2
        assert is_writable(port) is True
        assert alerts_of_the_store(ask(port, "GET", "/v1/alerts", headers=bearer)[1]) == []
        assert [banner(talked(port, "GET", path, None, bearer)[2]) for path in PAGES] == [""] * len(PAGES)
    with perdure.open(tmp_path / "a.db", WORDS_ONLY) as memory:
        assert memory.check() == []


def set_query_only(connections, value):
    """Let SQLite refuse every write of the connections that were made, as on a file system that became read-only."""
    for connection in connections:
        connection.execute(f"PRAGMA query_only = {value}")


@pytest.fixture
def connections(monkeypatch):
    """The connections that the store has made."""
    made, real = [], apsw.Connection

    def connect(*given, **named):
        made.append(real(*given, **named))
        return made[-1]

    monkeypatch.setattr(apsw, "Connection", connect)
    return made


def test_a_file_that_takes_no_writes_for_a_while(tmp_path, connections):
    with perdure.open(tmp_path / "a.db", WORDS_ONLY) as memory, serving(memory) as client:
        kept = memory.remember("Deploys happen on Tuesdays.")
        set_query_only(connections, "ON")
        reply = client.post("/v1/remember", json=NOTE)
        assert (reply.status_code, reply.json()["error"]) == (503, "StoreReadOnly")
        assert reply.json()["remedy"]
        assert reply.headers["retry-after"]
        found = client.post("/v1/recall", json={"query": "When do we deploy?"}).json()
        assert [hit["memory"]["id"] for hit in found["hits"]] == [kept.id]
        shown = client.get("/search", params={"q": "When do we deploy?"})
        assert (shown.status_code, "Deploys happen" in words(shown)) == (200, True)
        assert all("the store is read-only" in banner(client.get(path).text) for path in PAGES)
        assert alerts_of_the_store(client.get("/v1/alerts").json()) == ["critical"]
        refused = client.fill(f"/change?id={kept.id}&verb=pin", "/change", sure="1")
        assert (refused.status_code, reply.json()["remedy"] in words(refused)) == (503, True)
        assert not memory.get(kept.id).pinned
        set_query_only(connections, "OFF")
        assert client.post("/v1/remember", json=NOTE).status_code == 200
        assert client.get("/v1/stats").json()["memories"] == 2
        assert [banner(client.get(path).text) for path in PAGES] == [""] * len(PAGES)
        assert alerts_of_the_store(client.get("/v1/alerts").json()) == []
        assert memory.check() == []


def test_a_file_that_was_opened_read_only_takes_writes_as_soon_as_it_may(tmp_path, monkeypatch):
    """Nobody starts the service anew; ``/readyz``, the API and the pages notice."""
    with perdure.open(tmp_path / "a.db", WORDS_ONLY) as memory:
        kept = memory.remember("Deploys happen on Tuesdays.")
    real, closed = apsw.Connection, [True]

    def connect(path, **named):
        return real(path, **(named | {"flags": apsw.SQLITE_OPEN_READONLY} if closed else named))

    monkeypatch.setattr(apsw, "Connection", connect)
    monkeypatch.setattr(sqlite_store, "READ_ONLY_SECONDS", 0.0)
    with perdure.open(tmp_path / "a.db", WORDS_ONLY) as memory, serving(memory) as client:
        assert told(client.post("/v1/remember", json=NOTE)) == (503, "StoreReadOnly")
        assert client.get("/readyz").json()["writable"] is False
        assert "the store is read-only" in banner(client.get("/").text)
        assert "Deploys happen" in words(client.get("/search", params={"q": "When do we deploy?"}))
        assert client.fill(f"/change?id={kept.id}&verb=pin", "/change", sure="1").status_code == 503
        closed.clear()
        assert banner(client.get("/").text) == ""
        assert client.get("/readyz").json()["writable"] is True
        assert client.post("/v1/remember", json=NOTE).status_code == 200
        assert client.fill(f"/change?id={kept.id}&verb=pin", "/change", sure="1").status_code == 200
        assert memory.get(kept.id).pinned
        assert memory.upkeep("worker").failed == {}
        assert memory.check() == []


def test_a_file_that_is_removed_makes_the_service_unready_and_is_not_written(tmp_path):
    path = tmp_path / "a.db"
    with perdure.open(path, WORDS_ONLY) as memory, serving(memory) as client:
        assert client.post("/v1/remember", json=NOTE).status_code == 200
        assert client.get("/readyz").status_code == 200
        path.rename(tmp_path / "parked.db")
        for reply in (client.get("/readyz"), client.post("/v1/remember", json={"content": "Lunch is at one."})):
            assert told(reply) == (503, "StoreUnavailable")
            assert "removed or replaced" in reply.json()["detail"]
            assert str(tmp_path) not in reply.text
        assert "removed or replaced" in banner(client.get("/").text)
        (tmp_path / "parked.db").rename(path)
        assert banner(client.get("/").text) == ""
        assert client.get("/readyz").status_code == 200
        assert client.post("/v1/remember", json={"content": "Lunch is at one."}).status_code == 200
