"""Sessions of the page outlive the service: in the store is what recognizes a cookie, and nothing that makes one."""

from __future__ import annotations

import re
import signal
from datetime import timedelta
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient

import perdure
from conftest import START, Clock, tables
from perdure.interfaces.http import access, sessions
from perdure.interfaces.http.app import build_app
from perdure.interfaces.http.settings import Settings
from service.conftest import BASE, HOST, POLICY
from service.test_serve import served, talked

COOKIE = "perdure_session"
OWN = {"origin": BASE}
HTML = {"accept": "text/html"}


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setattr(access, "KNOWN_SECONDS", 0.0)  # each request asks the store
    return tmp_path / "a.db"


@pytest.fixture
def token(place, clock):
    with perdure.open(place, POLICY, clock=clock) as memory:
        return memory.create_token("curator", "*", actor="ana")


class Service:
    """A service that was started on a file."""

    def __init__(self, place, clock):
        self.memory = perdure.open(place, POLICY, clock=clock)
        self.client = TestClient(
            build_app(lambda: self.memory, Settings(frozenset({HOST}))), base_url=BASE, headers=HTML
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.memory.close()

    def log_in(self, secret):
        page = self.client.get("/login")
        return self.send("/login", page, secret=secret)

    def send(self, path, page, **fields):
        """Send the form of a page."""
        return self.client.post(path, data={"token": form_token(page.text), **fields}, headers=OWN)

    def shows(self, cookie):
        """Whether the pages are open to who has a cookie."""
        self.client.cookies.clear()
        self.client.cookies.set(COOKIE, cookie, domain="localhost.local", path="/")
        reply = self.client.get("/", follow_redirects=False)
        assert (reply.status_code, reply.headers.get("location")) in ((200, None), (303, "/login"))
        return reply.status_code == 200


def form_token(html):
    return re.search(r'name="token" value="([^"]*)"', html).group(1)


@pytest.fixture
def cookie(place, clock, token):
    """The cookie of a session that a service began, which has ended since."""
    with Service(place, clock) as service:
        assert service.log_in(token.secret).status_code == 200
        return service.client.cookies[COOKIE]


def test_a_session_and_its_forms_outlive_the_service(place, clock, token):
    with Service(place, clock) as service:
        service.log_in(token.secret)
        cookie = service.client.cookies[COOKIE]
        kept = service.memory.remember("Deploys happen on Tuesdays.")
        page = service.client.get(f"/change?id={kept.id}&verb=pin")
    with Service(place, clock) as service:
        assert service.shows(cookie)
        assert service.client.cookies[COOKIE] == cookie
        reply = service.send("/change", page, id=kept.id, verb="pin", sure="1")  # it was open meanwhile
        assert reply.status_code == 200
        assert service.memory.get(kept.id).pinned
        assert service.memory.history(limit=1)[0].actor == "ana"


@pytest.mark.parametrize("ended", ["revoked", "expired", "old"])
def test_it_ends_with_its_token_and_after_some_hours(place, clock, token, cookie, ended):
    if ended == "expired":
        with perdure.open(place, POLICY, clock=clock) as memory:
            token = memory.create_token("reader", "*", actor="ben", expires=START + timedelta(minutes=5))
        with Service(place, clock) as service:
            service.log_in(token.secret)
            cookie = service.client.cookies[COOKIE]
    with Service(place, clock) as service:
        assert service.shows(cookie)
        if ended == "revoked":
            service.memory.revoke_token(token.token.id)
        clock.passes(seconds={"revoked": 0, "expired": 301, "old": sessions.LIFE + 1}[ended])
        assert not service.shows(cookie)
    with Service(place, clock) as service:
        assert not service.shows(cookie)
    assert cookie.partition(".")[0] not in repr(tables(place)["login"])


def test_logging_out_ends_it_for_good(place, clock, token, cookie):
    with Service(place, clock) as service:
        assert service.shows(cookie)
        service.send("/logout", service.client.get("/"))
        assert service.client.cookies[COOKIE] != cookie
        assert not service.shows(cookie)
    with Service(place, clock) as service:
        assert not service.shows(cookie)
    assert tables(place)["login"] == []


def test_who_reads_the_table_cannot_log_in_with_it(place, clock, token, cookie):
    (row,) = tables(place)["login"]
    values = [str(value) for value in row]
    name, secret = cookie.split(".")
    assert name in values
    assert not [value for value in values if secret in value or token.secret in value]
    with Service(place, clock) as service:
        for value in values:
            assert not service.shows(f"{name}.{value}")
            assert not service.shows(f"{name}.{value[:43]}")
        assert not service.shows(name)
        assert service.client.get("/v1/namespaces", headers={"authorization": f"Bearer {secret}"}).status_code == 401
        assert service.shows(cookie)


def test_old_sessions_leave_the_table(place, clock, token, cookie):
    clock.passes(seconds=sessions.LIFE)
    with Service(place, clock) as service:
        service.log_in(token.secret)
    assert len(tables(place)["login"]) == 1


def test_a_killed_service_knows_who_had_logged_in(tmp_path):
    with perdure.open(tmp_path / "a.db", POLICY) as memory:
        token = memory.create_token("reader", "*", actor="ana")
    with served(tmp_path) as (process, port):
        _, heads, page = talked(port, "GET", "/login", None, HTML)
        first = heads["set-cookie"].partition(";")[0]
        given = urlencode({"token": form_token(page), "secret": token.secret})
        form = {"content-type": "application/x-www-form-urlencoded", "cookie": first, **HTML}
        status, heads, _ = talked(port, "POST", "/login", given, form)
        assert status == 303
        cookie = {"cookie": heads["set-cookie"].partition(";")[0], **HTML}
        process.send_signal(signal.SIGKILL)
        process.wait(30)
    with served(tmp_path) as (_, port):
        status, _, page = talked(port, "GET", "/", None, cookie)
        assert (status, "Log out" in page) == (200, True)
        assert talked(port, "GET", "/", None, {"cookie": first, **HTML})[0] == 303
