"""What a memory hangs together with, and what contradicts itself: on a memory's page, an entity's, and Questions."""

from __future__ import annotations

import re
from html import unescape

import pytest

from conftest import WORDS_ONLY
from interfaces.pages.browsing import below, hidden, plain, rows, words
from interfaces.pages.test_deciding import said


@pytest.fixture
def policy():
    return {**WORDS_ONLY, "preset": "facts"}


@pytest.fixture
def conflict(memory, clock):
    """Two values of a fact, neither clearly right: the older one, and the one that a person is asked about."""
    for session, day in (("s1", "Friday"), ("s2", "Monday")):
        sentence = f"Remember, Gai Media prefers {day} deliveries."
        memory.ingest([{"content": sentence, "role": "user", "at": clock().isoformat()}], session=session)
        clock.passes(days=1)
    older, newer = memory.facts()[::-1] if memory.facts()[0].value == "Monday" else memory.facts()
    assert (older.contested, newer.contested) == ((newer.id,), (older.id,))
    return older, newer


def listed(html):
    """Return what a list of links shows: (kind, the memory that it leads to, its words)."""
    found = re.findall(r'<li><span class="badge">(.*?)</span><a href="/memory\?id=([^"]*)">(.*?)</a></li>', html)
    return [(plain(kind), identity, plain(content)) for kind, identity, content in found]


def test_links_lead_to_what_a_memory_was_made_of_and_what_took_its_place(browser, memory, conflict):
    older, _ = conflict
    (source,) = (other for kind, other, _ in memory.why(older.id).links if kind == "derived_from")
    page = browser.get(f"/memory?id={older.id}")
    assert listed(below(page, "Links")) == [("derived from", source, memory.get(source).content)]
    assert (older.id, "Gai Media: delivery day preference: Friday") in [
        (identity, content) for _, identity, content in listed(below(browser.get(f"/memory?id={source}"), "Links"))
    ]
    gone = memory.remember("The roof leaks.")
    assert "Links" not in browser.get(f"/memory?id={gone.id}").text
    new = memory.update(gone.id, "The roof is repaired.").id
    page = browser.get(f"/memory?id={gone.id}")
    assert listed(below(page, "Links")) == [("superseded by", new, "The roof is repaired.")]


def test_edges_are_shown_with_their_kind_their_weight_and_the_roles_of_their_members(browser, memory):
    gate, roof, door = (memory.remember(text).id for text in ("The gate squeaks.", "The roof leaks.", "It rains in."))
    first = memory.relate([gate, roof], kind="both old", weight=2.5).edge
    second = memory.relate({roof: "cause", door: "effect"}, kind="leads to").edge
    html = below(browser.get(f"/memory?id={roof}"), "Links")
    assert sorted((kind, identity) for kind, identity, _ in listed(html)) == [
        ("edge: both old", gate),
        ("edge: leads to", door),
    ]
    head, *edges = rows(html)
    assert head == ["edge", "kind", "weight", "members"]
    told = {edge: (kind, float(weight)) for edge, kind, weight, _ in edges}
    assert told == {first: ("both old", 2.5), second: ("leads to", 1.0)}
    roles = {name: role for *_, members in edges for name, role in re.findall(r"(\w{8}) (cause|effect)", members)}
    assert roles == {roof[-8:]: "cause", door[-8:]: "effect"}
    assert {gate[-8:], roof[-8:]} <= set(next(members for edge, *_, members in edges if edge == first).split())
    memory.archive(door, "dry again")
    assert door not in below(browser.get(f"/memory?id={roof}"), "Links")


def test_the_page_of_a_fact_shows_what_contradicts_it_and_the_way_there(browser, memory, conflict):
    older, newer = conflict
    for own, other in ((older, newer), (newer, older)):
        html = below(browser.get(f"/memory?id={own.id}"), "Why it is believed")
        text, link = plain(html), f'<a class="id" href="/id?id={other.id}">'
        assert "Conflicts" in text
        assert "Friday" in text.partition("Conflicts")[2]
        assert "Monday" in text.partition("Conflicts")[2]
        assert text.endswith("nobody has said yet which is right")
        assert link in html.partition("Conflicts")[2]
        assert browser.get(f"/id?id={other.id}").url.path == "/memory"
    memory.both(older.id)
    text = plain(below(browser.get(f"/memory?id={older.id}"), "Why it is believed"))
    assert "nobody has said yet" not in text


def sides(html):
    """Return what stands beside each other in a conflict: each side's value, and label -> address of its buttons."""
    cards = re.findall(r'<div class="card">(.*?)</div>', html, re.DOTALL)
    values = [plain(re.search(r'<p class="value said">(.*?)</p>', card, re.DOTALL).group(1)) for card in cards]
    found = [re.findall(r'<a class="button[^"]*" href="([^"]*)">(.*?)</a>', card) for card in cards]
    return {
        value: {label: unescape(address) for address, label in buttons}
        for value, buttons in zip(values, found, strict=True)
    }


@pytest.mark.parametrize("label", ["This is right", "Both"])
@pytest.mark.parametrize("path", ["/facts?entity=gai-media", "/facts"])
def test_the_sides_of_a_conflict_are_offered_on_the_page_of_who_it_is_about(browser, memory, conflict, path, label):
    older, _ = conflict
    memory.remember("Maya prefers tea.", facts=[{"subject": "Maya", "predicate": "drink", "value": "tea"}])
    html = re.search(r'conflict"[^>]*>.*?</section>', browser.get(path).text, re.DOTALL).group(0)
    assert sides(html).keys() == {"Friday", "Monday"}
    assert 'class="grid conflict"' not in browser.get("/facts?entity=maya").text
    page = browser.get(sides(html)["Friday"][label])
    browser.answer(page, "/change", sure="1")
    left = {f.value: f.contested for f in memory.facts() if f.subject == older.subject}
    assert left == ({"Friday": ()} if label == "This is right" else {"Friday": (), "Monday": ()})
    assert "conflict" not in browser.get(path).text.partition("<main")[2]


def test_conflicts_stand_above_the_entities_with_their_sides_beside_each_other(browser, conflict):
    text = words(browser.get("/facts"))
    order = ("In conflict", "Friday", "This is right", "Monday", "People and things")
    assert [text.index(part) for part in order] == sorted(text.index(part) for part in order)


def test_both_sides_of_a_question_are_shown_and_both_may_be_true(browser, memory, conflict, clock):
    older, newer = conflict
    said(memory, "tea")
    clock.passes(days=100)
    cards = re.findall(r'<section class="card question".*?</section>', browser.get("/questions").text, re.DOTALL)
    (asked,) = (card for card in cards if f'value="{newer.id}"' in card)
    shown = re.findall(r'<blockquote class="said">(.*?)<br><span class="faint">(.*?)</span>', asked)
    items = [memory.get(side.id) for side in (newer, older)]
    assert [(plain(content), told) for content, told in shown] == [
        (m.content, f"confidence {m.confidence:.2f}, {m.created_at:%Y-%m-%d %H:%M} UTC") for m in items
    ]
    labels = re.findall(r'<button name="verdict" value="both"[^>]*>(.*?)</button>', asked)
    assert labels == ["Both are true"]
    assert not any("<blockquote" in card or 'value="both"' in card for card in cards if card != asked)
    page = browser.get("/questions")
    place = next(n for n, one in enumerate(forms_of_answers(page)) if newer.id in one)
    assert place == 0  # contradictions come first
    browser.answer(page, "/answer", verdict="both")
    assert {f.value: f.contested for f in memory.facts() if f.subject == older.subject} == {"Friday": (), "Monday": ()}
    assert newer.id not in browser.get("/questions").text


@pytest.mark.parametrize(("verdict", "label"), [("confirm", "“ {} ” holds"), ("deny", "“ {} ” does not hold")])
def test_the_buttons_of_a_question_about_a_conflict_name_what_they_make_true(browser, memory, verdict, label):
    """Nobody can know which of two a "Yes" confirms: each side has its own buttons, and each does what it says."""
    for is_denied in (False, True):
        fact = {"subject": "Ana", "predicate": "allergy", "value": "sesame", "denied": is_denied}
        memory.remember(f"Told {is_denied}.", facts=[fact])
    said_of = {"Ana is allergic to sesame": "sesame", "Ana is not allergic to sesame": "not sesame"}
    for claim, value in said_of.items():
        page = browser.get("/questions")
        assert "Yes, still so" not in page.text
        forms = forms_of_answers(page)
        found = [(form, plain(words)) for form in forms for words in buttons(form, verdict)]
        assert {words for _, words in found} == {label.format(other) for other in said_of}
        (form,) = [form for form, words in found if words == label.format(claim)]
        browser.post("/answer", data={**hidden(form), "verdict": verdict}, headers=browser.own)
        (left,) = (f.shown_value for f in memory.facts())
        assert (left == value) == (verdict == "confirm")
        memory.undo("last")
        assert {f.shown_value for f in memory.facts()} == set(said_of.values())


def buttons(form, verdict):
    return re.findall(rf'value="{verdict}"[^>]*>(.*?)</button>', form)


def forms_of_answers(page):
    return re.findall(r'<form method="post" action="/answer" class="answers">(.*?)</form>', page.text, re.DOTALL)


def test_an_answer_about_a_side_of_a_conflict_that_was_settled_meanwhile_is_refused(browser, memory, conflict):
    older, newer = conflict
    page = browser.get("/questions")
    browser.answer(page, "/answer", id=newer.id, verdict="confirm")
    assert [f.value for f in memory.facts()] == ["Monday"]
    for side, verdict in ((older, "confirm"), (newer, "deny"), (newer, "both")):
        reply = browser.answer(page, "/answer", id=side.id, verdict=verdict)
        assert reply.status_code == 409
        assert "a person confirmed it" in words(reply)
    assert [f.value for f in memory.facts()] == ["Monday"]
