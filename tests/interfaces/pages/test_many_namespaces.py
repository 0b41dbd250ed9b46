"""The choice of a namespace: all are offered where they are few; of very many one is typed, and those like it shown."""

from __future__ import annotations

import re
from html import unescape

import pytest
from starlette.applications import Starlette

from interfaces.pages.browsers import served, visiting
from interfaces.pages.browsing import Browser, Hand, words
from perdure.interfaces import pages
from perdure.records.access import Grant
from programs import library

expect = library("playwright.sync_api").expect
MANY = 100


def fill(memory, count):
    for n in range(count):
        memory.remember(f"Tenant {n} likes tea.", f"tenant-{n:03}")


def offered(html):
    return [unescape(name) for name in re.findall(r'<option value="([^"]*)"', html)]


def named(*numbers):
    return [f"tenant-{n:03}" for n in numbers]


def test_few_are_offered_as_a_choice(browser, memory):
    fill(memory, MANY)
    html = browser.get("/", params={"namespace": "tenant-042"}).text
    assert offered(html) == named(*range(MANY))
    assert re.findall(r'<option value="([^"]*)" selected>', html) == ["tenant-042"]
    assert "There is no namespace" not in browser.get("/", params={"namespace": "ten"}).text


def test_of_very_many_one_is_typed_and_those_beside_it_are_offered(browser, memory):
    fill(memory, 3 * MANY)
    for shown, first in (("tenant-150", 100), ("tenant-000", 0), ("tenant-299", 200)):
        html = browser.get("/facts", params={"namespace": shown}).text
        (field,) = re.findall(r'<input id="namespace"[^>]*>', html)
        assert f'value="{shown}"' in field
        assert "<select" not in html.partition("<main")[0]
        assert offered(html) == named(*range(first, first + MANY))
        assert "There is no namespace" not in html


@pytest.mark.parametrize("path", ["/", "/facts", "/plans"])
def test_an_unknown_name_shows_those_that_contain_it(browser, memory, path):
    fill(memory, MANY + 10)
    found = browser.get(path, params={"namespace": "T-07"})
    assert "There is no namespace T-07 10 namespaces contain it." in words(found)
    assert re.findall(r'<a href="/[?]namespace=([^"]*)">', found.text.partition("<main")[2]) == named(*range(70, 80))
    assert "10 more contain it" in words(browser.get(path, params={"namespace": "ten"}))
    for typed in ("xyz", "<i>", "-"):
        reply = browser.get(path, params={"namespace": typed})
        assert reply.status_code == 200
        assert f"There is no namespace {typed} " in words(reply)
        assert "<i>" not in reply.text


def test_a_token_is_offered_its_own(memory):
    for n in range(MANY + 10):
        memory.remember("Tea is green.", f"hers/{n:03}")
    memory.remember("Tea is black.", "his/042")
    hers = memory.confine(Grant("reader", "hers/*", "ana"))
    with Browser(Hand(Starlette(routes=pages.routes()), hers)) as browser:
        assert offered(browser.get("/").text) == [f"hers/{n:03}" for n in range(MANY)]
        found = browser.get("/", params={"namespace": "042"})
        assert "1 namespace contains it. hers/042" in words(found)
        for typed in ("his/042", "his/0"):
            assert f"There is no namespace {typed} None of the" in words(browser.get("/", params={"namespace": typed}))


@pytest.mark.parametrize("width", [1200, 360])
def test_in_a_browser_a_name_is_typed(chrome, memory, width):
    fill(memory, MANY + 10)
    with served(memory) as address, visiting(chrome, address, viewport={"width": width, "height": 800}) as tab:
        tab.goto("/facts")
        tab.get_by_label("Namespace").fill("-10")
        tab.get_by_role("button", name="Go").click()
        found = tab.get_by_role("main").get_by_role("link")
        expect(found).to_have_text(named(*range(100, 110)))
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        found.get_by_text("tenant-104").click()
        expect(tab.get_by_label("Namespace")).to_have_value("tenant-104")
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        tab.get_by_label("Namespace").fill("tenant-007")
        tab.get_by_label("Namespace").press("Enter")
        expect(tab).to_have_url(re.compile("namespace=tenant-007"))
        expect(tab.get_by_role("heading", name="Overview")).to_be_visible()
