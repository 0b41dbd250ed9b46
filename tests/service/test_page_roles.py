"""What the pages offer to each role: nothing that is refused for want of the role."""

from __future__ import annotations

import re
from collections import deque
from html import unescape
from urllib.parse import urlencode

import pytest

import perdure
from interfaces.pages.browsing import forms, get_forms, words
from perdure.interfaces import pages
from perdure.records.access import ROLES, Grant
from perdure.records.errors import StoreReadOnly
from perdure.stores.sqlite.store import SqliteStore
from service.test_page_tenants import POLICY, filled, visits, window_of

PLACE = "team/a"
REFUSED = 403


@pytest.fixture
def shared(tmp_path, clock):
    """A store with something for every page: moves that are due, duplicates, a conflict, a question, hidden memories.

    Somebody of each role but reader has made an operation.
    """
    with perdure.open(tmp_path / "agent.db", POLICY, clock=clock) as memory:
        agent, curator = (memory.confine(Grant(role, "team/*", role)) for role in ("agent", "curator"))
        for value in ("Lyon", "Paris"):
            fact = {"subject": "Maya", "predicate": "home", "value": value}
            agent.remember(f"Maya lives in {value}.", PLACE, facts=[fact])
        for _ in range(2):
            agent.remember_many([{"content": "The build server is in Lyon.", "kind": "episode"}], namespace=PLACE)
        curator.archive(curator.pin(agent.remember("The office is in Paris.", PLACE).id).id, "moved")
        clock.passes(days=100)
        yield memory


def secret_of(memory, role, pattern="team/*"):
    return {"token": memory.create_token(role, pattern, actor=f"the {role}").secret}


def typed(memory):
    """Return addresses that somebody may type: every page, and every form for one memory of each sort."""
    sorts = {(m.kind, m.status): m.id for m in memory.list(PLACE, include_archived=True)}
    known = {"place": PLACE, "entity": "Maya"}
    found = [(path, query) for path, query in visits(known, memory) if query.get("id") in {None, *sorts.values()}]
    done = [("/plans", {"done": operation.id}) for operation in memory.history(namespace=PLACE)]
    usual = [(path, {n: v for n, v in query.items() if n != "namespace"}) for path, query in found]
    return [*usual, *done, ("/search", {"q": "Where is Maya's home?"})]


def links(html):
    """Return the addresses that a page leads to: links, what it fetches itself, and forms that only look."""
    found = re.findall(r'<a [^>]*href="([^"#]*)|data-refresh="([^"#]*)', html)
    looks = [f"{form.action.partition('#')[0]}?{urlencode(form.fields)}" for form in get_forms(html)]
    return [*filter(None, (unescape(a or b) for a, b in found)), *looks]


def walk(browser, addresses):
    """Visit every page that links lead to, and some that are typed in.

    Returns:
        (page, address) of links that are refused, and the forms of all pages: {path: [(page, action, fields)]}.
    """
    status, offered, found = {}, [], {}
    waiting = deque(["/", *(f"{path}?{urlencode(query)}" for path, query in addresses)])
    while waiting:
        address = waiting.popleft()
        if address in status or address.startswith("/static/"):
            continue
        page = browser.get(address)
        status[address] = page.status_code
        offered += [(address, link) for link in links(page.text)]
        waiting += links(page.text)
        for action, inside in forms(page.text):
            for fields in filled(inside):
                found.setdefault(action.partition("?")[0], []).append((address, action, fields))
    return [(origin, link) for origin, link in offered if status.get(link) == REFUSED], found


def kinds(sent):
    """Return one of all forms that differ only by the memory that they are about; of an undo each."""
    one = {}
    for page, action, fields in sent:
        about = fields.get("operation") or (fields.get("verb"), fields.get("verdict"), fields.get("preview"))
        one[action, str(about), tuple(sorted(fields))] = page, action, fields
    return list(one.values())


def test_no_link_and_no_form_is_refused_to_the_role_that_sees_it(shared, monkeypatch):
    addresses, secrets = typed(shared), {role: secret_of(shared, role) for role in ROLES}

    def refuse(*_, **__):
        raise StoreReadOnly("Nothing is written in this test.")

    monkeypatch.setattr(SqliteStore, "apply", refuse)
    offered = {}
    for role, known in secrets.items():
        with window_of(shared, known) as browser:
            refused, found = walk(browser, addresses)
            assert refused == [], role
            offered[role] = found.keys() - {"/logout"}
            for page, action, fields in (one for path in offered[role] for one in kinds(found[path])):
                reply = browser.post(action, data={**fields, "sure": "1"}, headers=browser.own)
                assert reply.status_code != REFUSED, (role, page, action, fields, words(reply))
    by_model = {"/plans"}  # a form only where a language model writes
    assert offered == {
        "reader": set(),
        "agent": {"/answer", "/change", "/undo"},
        "curator": pages.WRITE.keys() - {"/erase"} - by_model,
        "admin": pages.WRITE.keys() - by_model,
    }


@pytest.mark.parametrize("pattern", ["team/new", "new/*"])
def test_a_token_of_a_namespace_without_memories_is_refused_no_page_of_the_menu(shared, pattern):
    for role in ROLES:
        known = secret_of(shared, role, pattern)
        with window_of(shared, known) as browser:
            refused, _ = walk(browser, [])
            assert refused == [], role
            assert "Nothing is known here yet." in words(browser.get("/"))


def menu(page):
    inside = re.search(r'<nav aria-label="Sections">(.*?)</nav>', page.text, re.DOTALL)[1]
    return re.findall(r"<a [^>]*>(.*?)</a>", inside)


def test_what_a_role_may_not_do_is_not_offered_and_says_who_may(shared):
    seen = {}
    for role in ROLES:
        with window_of(shared, secret_of(shared, role)) as browser:
            overview, plans = browser.get("/"), browser.get("/plans")
            asked = browser.get("/questions")
            seen[role] = "Questions" in menu(overview), "Try it" in words(plans), asked.status_code
            assert ('href="/questions' in overview.text) == seen[role][0]
            if not seen[role][1]:
                assert "To try another policy takes a token with the role curator." in words(plans)
            if asked.status_code == REFUSED:
                assert "review needs a token with the role agent; this one has reader." in words(asked)
    allowed = {"reader": (False, False, 403), "agent": (True, False, 200), "curator": (True, True, 200)}
    assert seen == {**allowed, "admin": (True, True, 200)}


def test_a_form_is_shown_to_who_may_send_it_and_an_unknown_id_is_not_found(shared):
    (kept, *_) = [m for m in shared.list(PLACE) if m.kind == "episode"]
    unknown = f"{kept.id[:-8]}00000000"
    statuses = {}
    for role in ROLES:
        with window_of(shared, secret_of(shared, role)) as browser:
            asked = [f"{form}id={i}" for form in ("/erase?", "/change?verb=pin&") for i in (kept.id, unknown)]
            asked.append("/erase?subject=Maya")
            found = [browser.get(f"{address}&namespace={PLACE}") for address in asked]
            statuses[role] = [page.status_code for page in found]
            assert "There is no such memory." in words(found[1])
            assert "There is no such memory." in words(found[3])
            token = re.search(r'name="token" value="([^"]*)"', browser.get("/").text)[1]
            sent = {"token": token, "id": unknown, "reason": "a test"}
            reply = browser.post(f"/erase?namespace={PLACE}", data=sent, headers=browser.own)
            assert (reply.status_code, "There is no such memory." in words(reply)) == (404, True)
    assert statuses == {
        "reader": [403, 404, 403, 404, 403],
        "agent": [403, 404, 403, 404, 403],
        "curator": [403, 404, 200, 404, 403],
        "admin": [200, 404, 200, 404, 200],
    }
