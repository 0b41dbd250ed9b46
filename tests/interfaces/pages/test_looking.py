"""What the pages show, and that looking changes nothing."""

from __future__ import annotations

import re
import time

import pytest

from conftest import HARSH, tables
from interfaces.pages.browsing import words
from perdure.interfaces import pages
from perdure.interfaces.pages import overview
from perdure.interfaces.pages.memories import curves
from perdure.interfaces.pages.overview import knowledge_sentence
from perdure.records.instant import DAY_MS, to_instant
from perdure.rules.alerts import find_alerts


@pytest.fixture
def known(memory, clock):
    """A memory that was used once, a day after it was stored, and another one."""
    kept = memory.remember("Deploys happen on Tuesdays at 10:00.", tags=["ops"], importance=0.8)
    clock.passes(days=1)
    memory.recall("When are deploys?")
    clock.passes(days=1)
    memory.sweep()
    memory.remember("Maya prefers tea.", facts=[{"subject": "Maya", "predicate": "drink", "value": "tea"}])
    return kept.id


ADDRESSES = {"/memory": "?id={id}", "/id": "?id={id}", "/change": "?id={id}&verb=pin", "/erase": "?id={id}"}
"""What each page needs, where it needs anything; every other page is asked for as it is."""


def every_page(browser, identity):
    for path in pages.READ:
        reply = browser.get(path + ADDRESSES.get(path, "").format(id=identity))
        assert reply.status_code == 200, (path, words(reply))
        yield path, reply


def test_looking_at_every_page_changes_no_row(browser, known, memory, tmp_path):
    before = tables(tmp_path / "agent.db")
    assert len(list(every_page(browser, known))) == len(pages.READ)
    browser.get("/search?q=deploys")
    assert tables(tmp_path / "agent.db") == before


def test_no_page_has_a_script_or_a_style_of_its_own_and_each_forbids_them(browser, known):
    for path, reply in every_page(browser, known):
        rule = reply.headers["content-security-policy"]
        assert "script-src 'self'" in rule, path
        assert "unsafe" not in rule
        assert re.findall(r"<script(?![^>]* src=\"/static/)|<style|\sstyle=|\son\w+=|javascript:", reply.text) == [], (
            path
        )


def test_the_pages_ask_for_nothing_from_elsewhere_and_are_small(browser, known):
    for path, reply in every_page(browser, known):
        named = set(re.findall(r'(?:src|href)="([^"#]+)"', reply.text))
        assert {a for a in named if not a.startswith("/")} == set(), path
        sent = sum(len(browser.get(a).content) for a in named if a.startswith("/static/"))
        assert sent + len(reply.content) < 150_000, path


def test_the_overview_says_in_a_sentence_what_is_known(browser, known, memory):
    text = words(browser.get("/"))
    assert "2 notes and 1 fact are in view" in text
    assert "ingest" not in text
    assert text.count("remember") == 2


def test_the_overview_adds_up_whatever_it_is_grouped_by(known, memory):
    stats = memory.stats("default")
    assert set(stats.sizes) == {"tier", "kind", "form", "age"}
    for groups in stats.sizes.values():
        assert sum(size.memories for size in groups.values()) == stats.memories == sum(stats.values)
        assert sum(size.tokens for size in groups.values()) == sum(m.tokens for m in memory.list(limit=10))


def test_what_was_done_leaves_out_what_maintenance_notes_of_itself(browser, known, memory, clock):
    for _ in range(9):
        clock.passes(days=1)
        memory.upkeep("worker")
    assert sum(one.operation == "upkeep" for one in memory.history(limit=30, notes=True)) > 15
    for path in ("/", "/plans"):
        shown = words(browser.get(path))
        assert "begins the" not in shown, path
        assert "remember" in shown, path


def test_an_empty_store_has_an_overview(browser, memory):
    assert "Nothing is known here yet." in words(browser.get("/"))
    assert knowledge_sentence(memory.stats("default")) == "Nothing is known here yet."


def test_alerts_come_to_the_overview_and_go(browser, memory, clock):
    memory.remember("The staging server listens on port 8081.")
    clock.passes(days=60)
    memory.remember("The project is in use.")
    assert [a.name for a in memory.alerts()] == ["overdue_hours"]
    text = words(browser.get("/"))
    assert "critical moves have been waiting for a sweep" in text
    late = memory.alerts()[0].value / 24
    assert f"{late:.0f} days, threshold 2 days" in text
    memory.sweep()
    assert "Nothing needs attention." in words(browser.get("/"))


@pytest.mark.parametrize("policy", [{**HARSH, "alerts": {"fading_share": 0.01}}])
def test_alerts_of_a_large_namespace_are_those_of_the_command(browser, memory, clock, monkeypatch):
    monkeypatch.setattr(overview, "SAMPLE", 100)
    memory.remember_many([f"Stone {number} lies in field {number * 3}." for number in range(250)])
    clock.passes(days=1)
    exact = [a.message for a in memory.alerts()]
    assert exact
    assert exact != [a.message for a in estimated(memory)]
    assert "all are being counted" in words(browser.get("/"))
    deadline = time.monotonic() + 30
    while "all are being counted" in (text := words(browser.get("/"))):
        assert time.monotonic() < deadline
    assert all(message in text for message in exact)


def table(page, heading):
    """The rows of one of the overview's tables: name -> the cells beside it."""
    card = page.text.split(f"<h3>{heading}</h3>")[1].split("</table>")[0]
    rows = re.findall(r'<th scope="row">(?:<span[^>]*></span>)?([^<]*)</th>(.*?)</tr>', card, re.DOTALL)
    return {name: re.findall(r"<td>(.*?)</td>", cells) for name, cells in rows}


def test_the_overview_counts_what_it_can_and_marks_what_it_estimates(browser, memory, monkeypatch):
    monkeypatch.setattr(overview, "SAMPLE", 100)
    kept = memory.remember_many([f"Stone {number} lies in field {number * 3}." for number in range(247)])
    for number in range(3):
        memory.remember(f"On day {number} the wall was mended.", kind="episode")
    for one in kept[:7]:
        memory.move(one.id, "hot", "looked at daily")
    page = browser.get("/")
    tiers, kinds, ages = (table(page, f"By {name}") for name in ("tier", "kind", "age"))
    assert tiers["hot"][0] == "7"
    assert {name: row[0] for name, row in kinds.items()} == {"note": "247", "episode": "3"}
    assert sum(int(row[0]) for row in tiers.values()) == 250
    assert all(cell.startswith("≈ ") for row in tiers.values() for cell in row[1:])
    assert all(row[0].startswith("≈ ") for row in ages.values())
    text = words(page)
    assert "are in view, about" in text
    assert f"≈ is estimated from {memory.stats('default', sample=100).sampled} of 250 memories." in text


def test_the_overview_of_a_small_namespace_has_no_estimates(browser, known):
    assert "≈" not in browser.get("/").text


def estimated(memory):
    stats = memory.stats("default", sample=100)
    return find_alerts(stats, "default", {}, memory.policy.alerts, memory.now)


def test_search_shows_relevance_and_what_the_score_is_made_of(browser, known, memory, clock):
    text = words(browser.get("/search?q=When+are+deploys%3F"))
    hit = memory.recall("When are deploys?", touch=False).hits[0]
    assert f"{hit.relevance:.0%} relevant" in text
    assert f"score {hit.score:.2f} =" in text
    assert "Deploys happen on Tuesdays" in text
    assert "A newer memory stands before" not in text
    for budget in ("My grocery budget is $500 monthly.", "My grocery budget was increased to $550 monthly."):
        memory.remember(budget)
        clock.passes(days=1)
    text = words(browser.get("/search?q=what+is+my+grocery+budget%3F"))
    assert text.index("A newer memory stands before") < text.index("% relevant")


def test_search_filters_by_tag_and_looks_back(browser, known):
    assert "Deploys happen" in words(browser.get("/search?q=deploys&tag=ops"))
    assert "Nothing known" in words(browser.get("/search?q=deploys&tag=other"))
    assert "Nothing known as of 2025-12-31" in words(browser.get("/search?q=deploys&as_of=2025-12-31"))
    assert "1 answer as of 2026-01-02" in words(browser.get("/search?q=deploys&as_of=2026-01-02"))


def test_a_day_that_is_none_is_refused_in_words(browser, known):
    reply = browser.get("/search?q=deploys&as_of=yesterday")
    assert reply.status_code == 422
    assert "'yesterday' is no day." in words(reply)


def test_search_tells_why_a_memory_was_not_found(browser, known, memory):
    text = words(browser.get(f"/search?q=drink+tea&why_not={known}"))
    assert memory.why_not(known, "drink tea", limit=8).explanation in text


def test_search_tells_why_not_of_what_some_words_find(browser, memory):
    for n in range(12):
        memory.remember(f"The zebra number {n} lives in the northern meadow.")
    hidden = memory.remember("The zebra of Lisbon was moved to another zoo.")
    memory.archive(hidden.id, "gone")
    fence = memory.remember("Ana paints the garden fence green.")
    found = browser.get("/search?q=zebra+meadow&limit=3&why_not=zebra+Lisbon")
    assert "The zebra of Lisbon was moved" in words(found)
    assert memory.why_not(hidden.id, "zebra meadow", limit=3).explanation in words(found)
    assert f'href="/memory?id={hidden.id}"' in found.text
    assert 0 < found.text.count('class="card absence"') <= 4
    text = words(browser.get("/search?q=zebra+meadow&limit=3&why_not=garden+fence"))
    assert "Ana paints the garden fence green." in text
    assert memory.why_not(fence.id, "zebra meadow", limit=3).explanation in text
    shown = {h.memory.id for h in memory.recall("zebra meadow", limit=3, touch=False).hits}
    below = next(m for m in memory.list() if "zebra" in m.content and m.id not in shown)
    asked = below.content.replace(" ", "+")
    text = words(browser.get(f"/search?q=zebra+meadow&limit=3&why_not={asked}"))
    assert memory.why_not(below.id, "zebra meadow", limit=3).explanation in text
    assert "it ranks" in text
    text = words(browser.get("/search?q=zebra+meadow&why_not=quarterly+budget"))
    assert "none is found by these words" in text
    text = words(browser.get("/search?q=garden+fence&kind=episode&why_not=garden+fence"))
    assert "it is found only without the filter kinds" in text


def test_a_memory_that_is_unknown_is_no_answer_to_why_not(browser, known):
    reply = browser.get("/search?q=deploys&why_not=abcdefg")
    assert reply.status_code == 200
    assert "1 answer" in words(reply)
    assert "abcdefg" in words(reply)


def test_a_memory_is_shown_with_its_signals_its_links_and_its_history(browser, memory, known):
    fact = memory.facts()[0]
    text = words(browser.get(f"/memory?id={fact.id}"))
    assert "Why it is believed" in text
    assert "derived from Maya prefers tea." in text
    item = memory.get(known)
    text = words(browser.get(f"/memory?id={known}"))
    assert all(f"{name} {getattr(item, name):.2f}" in text for name in ("value", "importance", "strength"))
    assert re.search(r"access [-0-9: ]+UTC recalled once", text)
    assert "counted one access" not in text
    assert browser.get(f"/memory?id={known}").text.count('class="plot curve"') == 5


def test_curves_go_through_what_was_read_at_the_time_and_end_where_the_memory_is(known, memory, clock):
    then = memory.get(known)
    seen = to_instant(memory.now)
    clock.passes(days=9)
    memory.used([known])
    clock.passes(days=3)
    item, now = memory.get(known), to_instant(memory.now)
    drawn = curves(item, memory.why(known).history, memory.policy, now)
    for name, curve in drawn.items():
        assert curve.past[-1] == (0.0, pytest.approx(getattr(item, name)))
        assert curve.future[0] == (0.0, pytest.approx(getattr(item, name)))
        day = (seen - now) / DAY_MS
        near = min(curve.past, key=lambda point: abs(point[0] - day))
        assert near[1] == pytest.approx(getattr(then, name), abs=0.05), name
    clock.passes(days=45)
    later = memory.get(known)
    ahead = dict(drawn["confidence"].future)
    assert min(ahead.items(), key=lambda p: abs(p[0] - 45))[1] == pytest.approx(later.confidence, abs=0.01)


def test_a_memory_that_is_not_there_is_told_of(browser):
    reply = browser.get("/memory?id=00000000-0000-7000-8000-000000000000")
    assert reply.status_code == 404
    assert "There is no such memory." in words(reply)


def test_pages_are_about_the_namespace_that_was_chosen(browser, memory, known):
    memory.remember("The team meets on Mondays.", namespace="team")
    reply = browser.get("/?namespace=team")
    assert "1 note is in view" in words(reply)
    assert 'href="/search?namespace=team"' in reply.text
    assert "The team meets" in words(browser.get("/search?namespace=team"))


def test_the_overview_counts_what_came_moved_and_went_lately(browser, memory, clock):
    kept = [memory.remember(f"The {name} server listens on port {n}.").id for n, name in enumerate("abcd", 8080)]
    clock.passes(days=3)
    memory.archive(kept[0], "x")
    memory.forget(memory.remember("Not for long.").id)
    memory.undo("last")
    text = words(browser.get("/"))
    assert "Memories within a day within a week stored 1 5 archived 1 1 What was undone is left out." in text
    clock.passes(days=40)
    moved = len(memory.sweep().moved)
    assert moved > 0
    assert f"within a week moved to another tier {moved} {moved} What was" in words(browser.get("/"))
    assert 'href="/plans#past"' in browser.get("/").text
    clock.passes(days=8)
    assert "within a week" not in words(browser.get("/"))


def test_an_operation_that_is_not_there_is_told_of(browser, known, memory):
    for address in ("/plans?operation=nonsense", f"/plans?operation={known[::-1]}", "/plans?operation=01&preview=1"):
        reply = browser.get(address)
        assert (reply.status_code, "There is no such operation." in words(reply)) == (404, True), address
    for address in ("/id?id=01", "/id?id=nonsense", f"/id?id={known[::-1]}"):
        reply = browser.get(address)
        assert (reply.status_code, "There is no memory and no operation with this id." in words(reply)) == (404, True)
    assert browser.get("/plans?operation=..%2Fetc").status_code == 422
    assert browser.get("/id?id=..%2Fetc").status_code == 422


def named(page):
    return re.findall(r'<li class="named" id="named"><b>(\w+)</b>', page.text)


def test_an_id_leads_to_its_operation_however_it_is_written_and_how_old_it_is(browser, known, memory):
    swept = next(o.id for o in memory.history() if o.operation == "sweep")
    for number in range(20):
        memory.remember(f"Note {number}.")
    for address in (f"/plans?operation={swept}", f"/plans?operation={swept[-8:]}", f"/id?id={swept[-8:]}"):
        assert named(browser.get(address)) == ["sweep"], address
    assert browser.get(f"/id?id={known[-8:]}").url.path == "/memory"


def test_an_operation_of_another_namespace_is_shown_there(browser, known, memory):
    other = memory.remember("The wiki moves in May.", "team/a").operation
    page = browser.get(f"/plans?operation={other}")
    assert (page.url.params["namespace"], named(page)) == ("team/a", ["remember"])
