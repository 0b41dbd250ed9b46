"""What the filters of the search page leave over, and what MEMORY.md is for each profile: as the verbs say."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import get_args

import pytest

from interfaces.pages.browsing import below, get_forms
from perdure.records.memory import Kind
from perdure.verbs.recalling import ProfileName


def found(browser, **query):
    """Return the memories that a search shows, in order."""
    reply = browser.get("/search", params={"q": "harbour office", "limit": "20", **query})
    assert reply.status_code == 200
    return hits_of(reply)


def hits_of(reply):
    return re.findall(r'href="/memory\?id=([^"]+?)(?:&amp;namespace=\w+)?">Open this memory', reply.text)


@pytest.fixture
def office(memory, clock):
    """Memories about one thing: of two kinds, on three days, one of them out of view by now."""
    memory.remember("The harbour office opens at nine.", tags=["hours"])
    clock.passes(days=10)
    memory.remember("Ana visited the harbour office.", kind="episode")
    gone = memory.remember("The harbour office is painted green.")
    clock.passes(days=10)
    memory.remember("The harbour office closes at five.")
    memory.archive(gone.id, "repainted")
    clock.passes(days=1)


def day(text, **more):
    return datetime.fromisoformat(text).replace(tzinfo=UTC) + timedelta(**more)


END = {"hours": 23, "minutes": 59, "seconds": 59}


@pytest.mark.parametrize(
    ("query", "filters", "many"),
    [
        ({}, {}, 3),
        ({"kind": "episode"}, {"kinds": ["episode"]}, 1),
        ({"kind": "note"}, {"kinds": ["note"]}, 2),
        ({"tag": "hours"}, {"tags": ["hours"]}, 1),
        ({"since": "2026-01-11"}, {"since": day("2026-01-11")}, 2),
        ({"until": "2026-01-11"}, {"until": day("2026-01-11", **END)}, 2),
        ({"until": "2026-01-10"}, {"until": day("2026-01-10", **END)}, 1),
        ({"since": "2026-01-11", "until": "2026-01-20"}, {"since": day("2026-01-11"), "until": day("2026-01-20")}, 1),
        ({"archived": "1"}, {"include_archived": True}, 4),
        ({"archived": "1", "kind": "note"}, {"include_archived": True, "kinds": ["note"]}, 3),
        ({"as_of": "2026-01-05"}, {"as_of": day("2026-01-05", **END)}, 1),
        ({"as_of": "2026-01-12"}, {"as_of": day("2026-01-12", **END)}, 2),
    ],
)
def test_each_filter_leaves_over_what_that_of_recall_does(browser, memory, office, query, filters, many):
    hits = [h.memory.id for h in memory.recall("harbour office", limit=20, touch=False, **filters).hits]
    assert found(browser, **query) == hits
    assert len(hits) == many


FILLED = [
    ({"Kind": "episode"}, {"kinds": ["episode"]}, 1),
    ({"Tag": "hours"}, {"tags": ["hours"]}, 1),
    ({"Happened from": "2026-01-11"}, {"since": day("2026-01-11")}, 2),
    ({"until": "2026-01-20"}, {"until": day("2026-01-20", **END)}, 2),
    ({"At most": "2"}, {"limit": 2}, 2),
    ({"Also what is out of view": "1"}, {"include_archived": True}, 4),
    ({"What was true on": "2026-01-05"}, {"as_of": day("2026-01-05", **END)}, 1),
    ({"Kind": "note", "until": "2026-01-20"}, {"kinds": ["note"], "until": day("2026-01-20", **END)}, 1),
]
"""What is filled in by the labels of the form, what that is for ``recall``, and how many memories it leaves over."""


def search_form(page):
    return next(form for form in get_forms(page.text) if "kind" in form.fields)


def test_each_field_of_the_form_does_what_it_is_called_and_stays_filled_in(browser, memory, office):
    empty = search_form(browser.get("/search"))
    assert empty.options["kind"] == ["", *(kind.value for kind in Kind)]
    labels = {label for filled, *_ in FILLED for label in filled}
    assert empty.names.keys() == labels | {"Question"}  # none is left out here
    for filled, filters, many in FILLED:
        fields = {empty.names[label]: value for label, value in filled.items()}
        page = browser.look(browser.get("/search"), "/search", **{empty.names["Question"]: "harbour office"}, **fields)
        hits = memory.recall("harbour office", touch=False, **{"limit": 8, **filters}).hits
        assert hits_of(page) == [h.memory.id for h in hits], filled
        assert len(hits) == many != 3, filled  # without a filter they are three
        kept = search_form(page).fields
        assert {name: kept.get(name) for name in fields} == fields
        again = browser.look(page, "/search", q="harbour")
        hits = memory.recall("harbour", touch=False, **{"limit": 8, **filters}).hits
        assert hits_of(again) == [h.memory.id for h in hits], filled


def test_the_form_stays_in_the_namespace_of_the_page(browser, memory, office):
    memory.remember("The harbour office of the team.", namespace="team")
    page = browser.look(browser.get("/search?namespace=team"), "/search", q="harbour office")
    assert [memory.get(identity).namespace for identity in hits_of(page)] == ["team"]


def test_a_search_without_a_question_lists_the_newest_that_the_filters_leave_over(browser, memory, office):
    for fields, filters in (
        ({}, {}),
        ({"kind": "episode"}, {"kinds": ["episode"]}),
        ({"tag": "hours"}, {"tags": ["hours"]}),
    ):
        page = browser.look(browser.get("/search"), "/search", **fields)
        listed = re.findall(r'<li><a href="/memory\?id=([^"]+)">', below(page, "Newest"))
        assert listed == [m.id for m in memory.list(**filters)]


def document(html):
    inside = re.search(r'<pre class="document"[^>]*>(.*?)</pre>', html, re.DOTALL).group(1)
    return inside.replace("</ins>\n", "</ins>").replace("</del>\n", "</del>")


def plain(html):
    return unescape(re.sub(r"<[^>]+>", "", html))


def lines_without(html, tag):
    """Return the lines of a comparison without those that a tag marks, and without the sign before each."""
    marked = re.sub(rf"<{tag}>.*?</{tag}>", "", document(html), flags=re.DOTALL)
    return [line[2:] for line in plain(re.sub(r"</(?:ins|del)>", "\n", marked)).splitlines()]


@pytest.mark.parametrize("profile", get_args(ProfileName))
def test_memory_md_of_a_profile_is_what_the_verb_returns(browser, memory, profile):
    for number in range(160):
        memory.remember(f"Server {number} listens on port {8000 + number} behind the northern gateway of the site.")
    own, made = memory.digest(), memory.digest(profile=profile)
    html = browser.get("/memory-md", params={"profile": profile}).text
    if profile == memory.digest_details().profile:
        assert plain(document(html)).splitlines() == own.splitlines()
        assert "<ins>" not in html
        return
    assert made != own
    assert lines_without(html, "del") == made.splitlines()
    assert lines_without(html, "ins") == own.splitlines()
