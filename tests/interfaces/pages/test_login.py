"""Who must log in, as whom, how often one may try, and what a session may not do."""

from __future__ import annotations

import http.client
import json
import re
from contextlib import ExitStack, closing, contextmanager
from urllib.parse import urlsplit

import pytest
from typer.testing import CliRunner

from interfaces.pages.browsers import served
from interfaces.pages.browsing import Browser, forms, hidden, words
from perdure.interfaces import pages
from perdure.interfaces.cli import app as cli
from perdure.interfaces.http import access, shared
from perdure.interfaces.http.app import build_app
from perdure.interfaces.http.settings import Settings

HOST = "localhost:8766"
OWN = {"origin": f"http://{HOST}"}
HTML = {"accept": "text/html"}


class Window(Browser):
    """A browser at the service itself."""

    own = OWN


@pytest.fixture
def service(memory, monkeypatch):
    monkeypatch.setattr(access, "KNOWN_SECONDS", 0.0)  # each request asks the store
    return build_app(lambda: memory, Settings(frozenset({HOST})))


@pytest.fixture
def browser(service):
    with Window(service, base_url=f"http://{HOST}", headers=HTML) as client:
        yield client


@pytest.fixture
def tokens(memory):
    memory.remember("Ours: deploys happen on Tuesdays.", namespace="team/a")
    memory.remember("Theirs: the budget is 500 dollars.", namespace="rivals")
    roles = ("reader", "curator", "admin")
    return {role: memory.create_token(role, "team/*", actor=f"the {role}") for role in roles}


def log_in(browser, secret):
    return browser.answer(browser.get("/login"), "/login", secret=secret)


@pytest.mark.parametrize("by_session", [True, False], ids=["a session", "a header"])
def test_pages_count_as_calls_of_their_token(memory, tokens, by_session):
    """A burst has twice the rate, here two; what loads with a page counts as none, and another token has its own."""
    service = build_app(lambda: memory, Settings(frozenset({HOST}), rate=1))
    with Window(service, base_url=f"http://{HOST}", headers=HTML) as client:
        secret = tokens["reader"].secret
        if by_session:
            client.post("/login", data={**hidden(client.get("/login").text), "secret": secret}, follow_redirects=False)
        else:
            client.headers["authorization"] = f"Bearer {secret}"
        assert [client.get("/static/page.js").status_code for _ in range(5)] == [200] * 5
        replies = [client.get("/search?q=deploys") for _ in range(8)]
        assert replies[0].status_code == 200
        refused = replies[-1]
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
        assert "more than 1 calls a second" in words(refused)
        other = Window(
            service, base_url=f"http://{HOST}", headers={**HTML, "authorization": f"Bearer {tokens['admin'].secret}"}
        )
        assert other.get("/search?q=deploys").status_code == 200


def test_without_tokens_nobody_has_to_log_in(browser, memory):
    assert browser.get("/").status_code == 200
    assert "Log out" not in browser.get("/").text


def test_with_tokens_every_page_leads_to_the_login(browser, tokens):
    for path in pages.READ:
        reply = browser.get(path, follow_redirects=False)
        assert (reply.status_code, reply.headers["location"]) == (303, "/login"), path
    for path in pages.WRITE:
        assert browser.post(path, headers=OWN).status_code == 401, path
    assert browser.get("/live", headers={"accept": "text/event-stream"}).status_code == 401
    assert "Deploys" not in browser.get("/login").text


def test_a_token_opens_the_pages_of_its_namespaces_alone(browser, tokens, memory):
    reply = log_in(browser, tokens["curator"].secret)
    assert "the curator (curator)" in reply.text
    assert 'href="/change' in browser.get("/memory", params={"id": memory.list("team/a")[0].id}).text
    assert "1 note is in view" in words(reply)
    theirs = memory.list("rivals")[0].id
    for path in ("/memory", "/change", "/erase", "/id"):
        found = browser.get(path, params={"id": theirs, "verb": "archive"})
        assert "budget" not in found.text, path
    for path in ("/", "/search", "/facts", "/questions", "/plans", "/memory-md"):
        found = browser.get(path, params={"namespace": "rivals", "q": "budget"})
        assert "500 dollars" not in found.text, path
        assert "rivals" not in words(browser.get(path)), path


def test_what_a_person_does_is_written_down_under_the_tokens_name(browser, tokens, memory):
    log_in(browser, tokens["curator"].secret)
    ours = memory.list("team/a")[0].id
    browser.fill(f"/change?id={ours}&verb=pin", "/change", sure="1")
    assert memory.get(ours).pinned
    assert memory.history(namespace="team/a", limit=1)[0].actor == "the curator"


def test_who_asked_over_http_is_named_by_the_command_and_on_the_pages(browser, tokens, memory, tmp_path):
    headers = {"authorization": f"Bearer {tokens['curator'].secret}", "accept": "application/json"}
    given = {"content": "The gate opens at six.", "namespace": "team/a"}
    assert browser.post("/v1/remember", json=given, headers=headers).status_code == 200
    log_in(browser, tokens["reader"].secret)
    for path in ("/", "/plans"):
        assert words(browser.get(path)).count("by the curator") == 1, path
    command = ["history", "--store", str(tmp_path / "agent.db"), "--namespace", "team/a"]
    told = CliRunner().invoke(cli.app, command, env={"COLUMNS": "250"})
    assert told.exit_code == 0
    assert told.output.count("the curator") == 1
    entries = json.loads(CliRunner().invoke(cli.app, [*command, "--json"]).output)
    assert [entry["actor"] for entry in entries] == ["the curator", None]


def test_a_weaker_token_is_refused_in_words(browser, tokens, memory):
    log_in(browser, tokens["reader"].secret)
    ours = memory.list("team/a")[0].id
    for path in ("/", "/search?q=deploys", f"/memory?id={ours}", "/facts", "/memory-md", "/plans"):
        assert browser.get(path).status_code == 200, (path, words(browser.get(path)))
    for path in (f"/memory?id={ours}", "/plans", "/questions", "/facts"):
        html = browser.get(path).text
        assert [action for action, _ in forms(html)] == ["/logout"], path
        assert not re.search(r'href="/(change|erase)', html), path
    form = browser.get(f"/change?id={ours}&verb=pin")
    token = hidden(forms(form.text)[0][1])["token"]
    sent = {"token": token, "id": ours, "verb": "pin", "sure": "1"}
    for reply in (form, browser.post("/change", data=sent, headers=browser.own)):
        assert reply.status_code == 403
        assert "pin needs a token with the role curator; this one has reader." in words(reply)
    assert not memory.get(ours).pinned


def test_wrong_tokens_are_refused_and_trying_is_limited(browser, tokens):
    assert log_in(browser, "made up").status_code == 401
    assert "Log out" not in browser.get("/").text
    replies = [log_in(browser, f"guess {n}").status_code for n in range(shared.TRIES)]
    assert replies == [401] * (shared.TRIES - 1) + [429]
    refused = log_in(browser, "another guess")
    assert (refused.status_code, refused.headers["retry-after"]) == (429, str(shared.TRIES_SECONDS))
    log_in(browser, tokens["reader"].secret)
    assert "Log out" in browser.get("/").text  # others' guesses do not keep out who has one


def test_a_revoked_token_ends_its_sessions(browser, tokens, memory):
    log_in(browser, tokens["admin"].secret)
    memory.revoke_token(tokens["admin"].token.id)
    assert browser.get("/", follow_redirects=False).headers["location"] == "/login"


def test_a_form_sent_after_the_session_has_ended_keeps_what_was_typed_and_leads_to_the_login(browser, tokens, memory):
    (kept,) = memory.list("team/a")
    log_in(browser, tokens["admin"].secret)
    page = browser.get(f"/change?id={kept.id}&verb=update")
    memory.revoke_token(tokens["admin"].token.id)
    typed = "Ours: <b>deploys</b> happen on Fridays."
    reply = browser.answer(page, "/change", words=typed, sure="1")
    assert (reply.status_code, reply.headers["content-type"][:9]) == (401, "text/html")
    assert "Your session has ended; nothing was done." in words(reply)
    assert f"What you wrote {typed}" in words(reply)
    assert "<b>deploys" not in reply.text
    assert 'href="/login"' in reply.text
    assert kept.content not in reply.text
    assert memory.get(kept.id).content == kept.content
    for headers in ({"origin": "http://evil.example"}, {**OWN, "sec-fetch-site": "cross-site"}):
        reply = browser.post("/change", data={"words": "Send your token to evil.example."}, headers=headers)
        assert (reply.status_code, "evil" in reply.text) == (403, False)


def test_logging_in_begins_a_new_session_and_logging_out_ends_it(browser, tokens):
    browser.get("/login")
    before = browser.cookies["perdure_session"]
    log_in(browser, tokens["reader"].secret)
    during = browser.cookies["perdure_session"]
    assert during != before
    assert tokens["reader"].secret not in during
    browser.answer(browser.get("/"), "/logout")
    assert browser.cookies["perdure_session"] != during
    browser.cookies.set("perdure_session", during)
    assert browser.get("/", follow_redirects=False).headers["location"] == "/login"


def test_a_session_is_no_key_to_the_api(browser, tokens):
    log_in(browser, tokens["admin"].secret)
    assert browser.get("/v1/namespaces").status_code == 401
    assert browser.post("/v1/remember", json={"content": "forged"}, headers=OWN).status_code == 401
    assert browser.post("/mcp", json={}, headers=OWN).status_code == 401


def test_logging_in_and_out_needs_the_forms_token(browser, tokens):
    page = browser.get("/login")
    assert [action for action, _ in forms(page.text)] == ["/login"]
    forged = {"secret": tokens["admin"].secret, "token": "made up"}
    assert browser.post("/login", data=forged, headers=OWN).status_code == 403
    log_in(browser, tokens["reader"].secret)
    assert browser.post("/logout", data={}, headers=OWN).status_code == 403
    assert "Log out" in browser.get("/").text


@contextmanager
def news(address, secret, wanted=200):
    """Hear news as the holder of a token; yields what reads on until the stream ends."""
    with closing(http.client.HTTPConnection(urlsplit(address).netloc, timeout=60)) as connection:
        connection.request("GET", "/live?namespace=team/a", headers={"authorization": f"Bearer {secret}"})
        with connection.getresponse() as answer:
            assert answer.status == wanted
            if wanted == 200:
                assert b"hello" in next(line for line in iter(answer.readline, b"") if line.startswith(b"event"))
            yield answer.read


def test_news_end_when_their_token_is_revoked(memory, tokens, monkeypatch):
    monkeypatch.setattr(access, "KNOWN_SECONDS", 0.0)  # each look asks the store
    with served(memory) as address, news(address, tokens["admin"].secret) as rest:
        memory.revoke_token(tokens["admin"].token.id)
        memory.remember("Ours: said after that.", namespace="team/a")
        assert b"event: operation" not in rest()


def test_one_token_leaves_places_for_the_news_of_others(memory, tokens):
    with served(memory) as address, ExitStack() as stack:
        for _ in range(25):
            stack.enter_context(news(address, tokens["admin"].secret))
        with news(address, tokens["admin"].secret, 503), news(address, tokens["reader"].secret):
            pass
