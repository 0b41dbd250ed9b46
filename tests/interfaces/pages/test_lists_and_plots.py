"""What the overview lists of memories that need somebody, and that every plot has its figures in a table."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from urllib.parse import urlencode

import pytest

from conftest import HARSH, WORDS_ONLY
from interfaces.pages.browsing import words
from perdure.interfaces import pages

HELD = {**HARSH, "gates": {"loss_free_count": 0, "loss_share": 0}}


def listed(browser, title):
    """Return what a list of the overview shows: memory -> what is told of it."""
    reply = browser.get("/")
    section = reply.text.partition(f">{title}</h2>")[2].partition("</section>")[0]
    rows = re.findall(r'<a href="(/memory\?id=([^"]+))">.*?</a><span class="faint">([^<]*)</span>', section)
    for link, identity, _ in rows:
        assert browser.get(link).status_code == 200, identity
    return {identity: told for _, identity, told in rows}


@pytest.mark.parametrize("policy", [HARSH])
def test_what_is_at_risk_or_about_to_fade_is_listed_with_its_value_and_its_day(browser, memory):
    memory.remember_many(
        [{"content": f"The {word} gate squeaks.", "importance": n / 5} for n, word in enumerate("abcd")]
    )
    stats = memory.stats("default")
    risky = {i: f"value {value:.2f}, on {at:%Y-%m-%d}" for i, value, at in stats.at_risk}
    fading = {i: f"value {value:.2f}, on {at:%Y-%m-%d}" for i, value, at in stats.about_to_fade if i not in risky}
    assert len(risky) + len(fading) == 4
    assert risky
    assert fading
    assert listed(browser, "At risk") == risky
    assert listed(browser, "About to fade") == fading


@pytest.mark.parametrize("policy", [HELD])
def test_what_a_gate_holds_back_is_listed_since_when(browser, memory, clock):
    memory.remember_many([f"The {word} gate squeaks." for word in "abcd"])
    clock.passes(days=9)
    memory.sweep()
    clock.passes(days=1)
    found = memory.stats("default").held_first
    assert len(found) == 4
    assert listed(browser, "Held back") == {i: f"since {at:%Y-%m-%d}" for i, at in found}


@pytest.mark.parametrize("policy", [{**WORDS_ONLY, "tiers": {"vault_full_accesses": 15}}])
def test_what_is_nearly_worth_the_vault_is_listed(browser, memory, clock):
    memory.remember("The gate opens at six.", confidence=1.0)
    while not memory.stats("default").vault_candidates:
        clock.passes(minutes=1)
        assert memory.recall("gate opens", limit=1).hits
        memory.sweep()
    ((identity, value, times),) = memory.stats("default").vault_candidates
    assert listed(browser, "Nearly worth the vault") == {identity: f"value {value:.2f}, {times} accesses"}


class PlotsAndTables(HTMLParser):
    """Finds plots that have no table in the card or section where they stand, and are in none."""

    def __init__(self):
        super().__init__()
        self.open, self.plots, self.bare = [], 0, []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if tag == "table":
            for place in self.open:
                place["table"] = True
        if tag in {"table", "section", "div", "li"}:
            holds = tag in {"table", "section"} or "card" in (given.get("class") or "").split()
            self.open.append({"tag": tag, "holds": holds, "table": tag == "table", "plots": []})
        if tag == "svg" and "plot" in (given.get("class") or "").split():
            self.plots += 1
            next(place for place in reversed(self.open) if place["holds"])["plots"].append(given["aria-label"])

    def handle_endtag(self, tag):
        if self.open and self.open[-1]["tag"] == tag:
            place = self.open.pop()
            self.bare += [] if place["table"] else place["plots"]


TRIED = {"try": 1, "policy": "[archive]\nrule = 'value'\nvalue_below = 0.6\ncold_days = 20"}


def test_every_plot_has_its_figures_in_a_table(browser, memory, clock):
    kept = memory.remember_many([f"The {name} server listens on port {n}." for n, name in enumerate("abcd", 8080)])
    memory.remember("Maya drinks tea.", facts=[{"subject": "Maya", "predicate": "drink", "value": "tea"}])
    clock.passes(days=10)
    memory.sweep()
    memory.recall("Which server listens on port 8080?")
    clock.passes(days=30)
    asked = [(path, {"id": kept[0].id, "verb": "pin", "q": "server port"}) for path in pages.READ]
    asked += [("/plans", query) for query in ({"preview": 1}, {"preview": "consolidate"}, {"ahead": 1}, TRIED)]
    asked.append(("/facts", {"entity": "maya"}))
    drawn = set()
    for path, query in asked:
        reply = browser.get(f"{path}?{urlencode(query)}")
        assert reply.status_code == 200, (path, query, words(reply))
        page, main = PlotsAndTables(), reply.text.partition("<main")[2]
        page.feed(main.partition(">")[2])
        assert page.plots == len(re.findall(r"<(?:svg|canvas)\b", main)), (path, query)  # nothing else is drawn
        assert (page.bare, page.open) == ([], []), (path, query)
        drawn |= {(path, *query)} if page.plots else set()
    places = {place[0] for place in drawn}
    assert places == {"/", "/search", "/memory", "/id", "/plans", "/facts"}
    assert {("/plans", "preview"), ("/plans", "ahead"), ("/plans", *TRIED)} <= drawn
