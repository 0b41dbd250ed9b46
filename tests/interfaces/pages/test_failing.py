"""A store that does not answer: the page says so in words, and goes on when it is back."""

from __future__ import annotations

from threading import Event
from unittest import mock

from starlette.testclient import TestClient

from interfaces.pages.browsing import words
from perdure.interfaces import pages
from perdure.interfaces.http.app import build_app
from perdure.interfaces.http.settings import Settings
from perdure.memory import Memory
from perdure.records.errors import StoreUnavailable
from perdure.stores.sqlite.store import SqliteStore


def test_a_store_that_is_gone_is_told_of_on_every_page_and_comes_back(browser, memory):
    kept = memory.remember("Deploys happen on Tuesdays.").id
    gone = StoreUnavailable("The server cannot be reached.", remedy="Look whether it runs.")
    lost = dict.fromkeys(("_read", "_everywhere", "_has_none"), mock.Mock(side_effect=gone))
    with mock.patch.multiple(SqliteStore, **lost):
        for path in pages.READ:
            reply = browser.get(path, params={"id": kept, "verb": "pin"})
            if path != "/erase":  # it reads nothing yet
                assert reply.status_code == 503, path
                assert "The server cannot be reached. Try again later." in words(reply), path
    assert "1 note is in view" in words(browser.get("/"))


def test_a_bug_shows_no_internals(browser, memory, caplog):
    with mock.patch.object(Memory, "stats", side_effect=ZeroDivisionError("secret words")):
        reply = browser.get("/")
    assert reply.status_code == 500
    assert "secret words" not in reply.text
    assert "Perdure has a bug here" in words(reply)
    assert "secret words" in caplog.text


def test_a_busy_service_says_so_without_asking_the_store(memory):
    """One thread is taken and nobody may wait."""
    app = build_app(lambda: memory, Settings(frozenset({"localhost:8766"}), threads=1, waiting=0))
    with TestClient(app, base_url="http://localhost:8766") as client:
        assert client.get("/").status_code == 200
        with mock.patch.object(app.state.limits.threads, "taken", 1):
            reply = client.get("/")
        assert (reply.status_code, "retry-after" in reply.headers) == (503, True)
        assert "The service is busy" in words(reply)
        assert client.get("/").status_code == 200


def test_a_page_that_takes_too_long_is_answered(memory):
    app = build_app(lambda: memory, Settings(frozenset({"localhost:8766"}), call_seconds=0.05))
    done = Event()
    with (
        mock.patch.object(Memory, "stats", side_effect=lambda *_, **__: done.wait(30)),
        TestClient(app, base_url="http://localhost:8766") as client,
    ):
        reply = client.get("/")
        done.set()
    assert reply.status_code == 504
    assert "takes longer than" in words(reply)
