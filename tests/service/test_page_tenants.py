"""Forms of another tenant's pages, sent in a session of one's own: nothing is shown, nothing changes."""

from __future__ import annotations

import re
from contextlib import contextmanager
from html import unescape

import pytest

import perdure
from interfaces.pages.browsing import Browser, forms, hidden
from perdure.interfaces import pages
from perdure.interfaces.http.app import build_app
from perdure.interfaces.pages.changes import ACTIONS
from perdure.records.access import Grant
from service.conftest import BASE, HOST
from service.test_tenants import SETTINGS, leaks, rows_of, settle, tokens_of

POLICY = {"preset": "facts", "embedder": {"model": "none"}}
PLANTED = "planted"


class Window(Browser):
    """A browser at the service itself."""

    own = {"origin": BASE}  # noqa: RUF012  # as in its parent


@pytest.fixture
def shared(tmp_path, clock):
    with perdure.open(tmp_path / "agent.db", POLICY, clock=clock) as memory:
        yield memory


@pytest.fixture
def tenants(shared, clock):
    """Two tenants, each with facts to ask about, moves that are due, and duplicates to merge."""
    found = [settle(shared, name) for name in ("alice", "bob")]
    for one in found:
        name = one["name"]
        for ending in ("", "."):
            shared.remember(
                f"{name} keeps the {name}secret in the shed behind the old garden wall{ending}", one["place"]
            )
    clock.passes(days=200)
    return found


@contextmanager
def window_of(memory, known):
    app = build_app(lambda: memory, SETTINGS)
    with Window(app, base_url=f"http://{HOST}", headers={"accept": "text/html"}) as browser:
        assert browser.answer(browser.get("/login"), "/login", secret=known["token"]).status_code == 200
        yield browser


def visits(known, memory):
    """Yield addresses of pages that have forms, for all that a tenant has."""
    place = {"namespace": known["place"]}
    for path in pages.READ:
        yield path, place
    ids = [m.id for m in memory.list(known["place"], include_archived=True)]
    for identity in ids:
        for verb in dict.fromkeys(action.verb for action in ACTIONS):
            yield "/change", {**place, "id": identity, "verb": verb}
        yield "/erase", {**place, "id": identity}
    yield "/erase", {**place, "subject": known["entity"]}
    for preview in ("1", "consolidate", "summarize"):
        yield "/plans", {**place, "preview": preview}


def filled(inside):
    """Yield what a person may send of a form: once for each of its buttons."""
    fields = hidden(inside)
    written = re.findall(r'<(?:input|textarea) (?!type="(?:hidden|checkbox))[^>]*name="([^"]*)"', inside)
    fields |= dict.fromkeys(written, PLANTED)
    if marks := re.findall(r'type="checkbox"[^>]*name="([^"]*)" value="([^"]*)"', inside):
        fields[marks[0][0]] = [unescape(mark) for _, mark in marks]
    buttons = re.findall(r'<button[^>]*name="([^"]*)" value="([^"]*)"', inside)
    yield fields
    for name, value in buttons:
        yield {**fields, name: unescape(value)}


def forms_of(browser, known, memory):
    """Return every form of a tenant's pages: path -> [(address, fields)]; what is asked twice is answered once."""
    found = {}
    for path, query in visits(known, memory):
        shown = [browser.get(path, params=query)]
        while shown:
            for action, inside in forms(shown.pop().text):
                for fields in filled(inside):
                    kept = found.setdefault(action.partition("?")[0], [])
                    if (action, fields) in kept:
                        continue
                    kept.append((action, fields))
                    if action.startswith("/erase") and "confirm" not in fields:  # it is only listed
                        shown.append(browser.post(action, data=fields, headers=browser.own))
    del found["/logout"]
    asked = f"/plans?namespace={known['place'].replace('/', '%2F')}"  # a form only where a language model writes
    return {**found, "/plans": [(asked, {"preview": what}) for what in ("1", "consolidate", "summarize")]}


def variants(action, fields):
    """Yield a form as it is, in no namespace, by short ids, and with every answer given."""
    sure = {**fields, "sure": "1"}
    yield action, sure
    yield action.partition("?")[0], sure
    short = {n: v[:18] if n in {"id", "operation"} and isinstance(v, str) else v for n, v in sure.items()}
    yield action.partition("?")[0], short


def own_token(browser):
    return hidden(forms(browser.get("/").text)[0][1])["token"]


def test_no_form_of_anothers_pages_shows_or_changes_what_is_anothers(shared, tenants):
    alice, bob = tenants
    with window_of(shared, alice) as hers:
        found = forms_of(hers, alice, shared)
    assert set(found) == set(pages.WRITE)  # a new form must stand on a page that is walked
    before, tokens = rows_of(shared, alice["place"]), tokens_of(shared)
    with window_of(shared, bob) as his:
        token = own_token(his)
        for path, sent in found.items():
            for form in sent:
                for action, fields in variants(*form):
                    reply = his.post(action, data={**fields, "token": token}, headers=his.own)
                    assert reply.status_code != 500, (action, fields)
                    assert leaks(reply.text, alice) == [], (action, fields)
                    assert "sent by another site" not in reply.text
            assert rows_of(shared, alice["place"]) == before, path
    assert tokens_of(shared) == tokens


def test_a_page_offers_and_does_an_undo_for_who_could_have_made_it(shared):
    agent, curator = (shared.confine(Grant(role, "team/a", role)) for role in ("agent", "curator"))
    kept = agent.remember("Backups run at night.", "team/a")
    pinned = curator.pin(kept.id).operation
    offered = {}
    for role in ("agent", "curator"):
        with window_of(shared, {"token": shared.create_token(role, "team/a", actor=role).secret}) as browser:
            page = browser.get("/plans", params={"namespace": "team/a"}).text
            offered[role] = {
                hidden(inside)["operation"] for action, inside in forms(page) if action.startswith("/undo")
            }
            sent = {"operation": pinned, "token": own_token(browser)}
            reply = browser.post("/undo?namespace=team/a", data=sent, headers=browser.own)
            assert reply.status_code == (403 if role == "agent" else 200)
    assert offered == {"agent": {kept.operation}, "curator": {kept.operation, pinned}}


@pytest.mark.parametrize("path", sorted(set(pages.WRITE) - {"/plans"}))  # which writes nothing
def test_the_walk_of_forms_would_notice_a_hole(shared, tenants, monkeypatch, path):
    alice, bob = tenants
    with window_of(shared, alice) as hers:
        found = forms_of(hers, alice, shared)
    monkeypatch.setattr(Grant, "covers", lambda _self, _namespace: True)
    before = rows_of(shared, alice["place"])
    with window_of(shared, bob) as his:
        token = own_token(his)
        for action, fields in found[path]:
            his.post(action, data={**fields, "sure": "1", "token": token}, headers=his.own)
    assert rows_of(shared, alice["place"]) != before
