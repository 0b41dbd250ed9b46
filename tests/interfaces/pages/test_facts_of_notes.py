"""A note and the facts that rest on it: which are shown, kept, dropped and still believed when a person changes it."""

from __future__ import annotations

import re
from html import unescape

import pytest

from interfaces.pages.browsing import below, words

SAID = [{"subject": "Tom", "predicate": p, "value": v} for p, v in (("home", "Rome"), ("drink", "tea"))]
OLD, NEW = "Tom lives in Rome and drinks tea.", "Tom lives in Rome and has given up tea."
HOME, DRINK = "Tom: home: Rome", "Tom: drink: tea"


@pytest.fixture
def note(memory):
    return memory.remember(OLD, facts=SAID).id


@pytest.fixture
def facts(memory, note):
    return {fact.value: fact.id for fact in memory.facts()}


def changing(note, verb="update"):
    return f"/change?id={note}&verb={verb}"


def kept(page):
    """Return (fact, whether it is ticked) of the boxes of a form."""
    return [
        (i, bool(ticked))
        for i, ticked in re.findall(r'type="checkbox" [^>]*name="keep" value="([^"]*)"( c)?', page.text)
    ]


def test_replacing_a_note_shows_its_facts_keeps_those_ticked_and_names_the_others(browser, memory, note, facts):
    page = browser.get(changing(note))
    assert HOME in words(page)
    assert DRINK in words(page)
    assert {i for i, _ in kept(page)} == set(facts.values())
    preview = browser.answer(page, "/change", words=NEW, keep=[facts["Rome"]])
    assert dict(kept(preview)) == {facts["Rome"]: True, facts["tea"]: False}
    assert len(memory.facts()) == 2
    reply = browser.answer(preview, "/change", words=NEW, keep=[facts["Rome"]], sure="1")
    assert [fact.id for fact in memory.facts()] == [facts["Rome"]]
    told = words(reply).partition("Undo this")[0]
    assert f"No longer believed: {DRINK} ." in told
    assert HOME not in told
    assert below(reply, "Facts that rest on it alone").count("Tom: ") == 1
    browser.answer(reply, "/undo")
    assert {fact.value for fact in memory.facts()} == {"Rome", "tea"}


def test_a_note_with_hundreds_of_facts_is_replaced_and_its_address_stays_short(browser, memory):
    """The address named each fact that was dropped, and no server takes one of more than 8,000 characters."""
    said = [{"subject": "Tom", "predicate": f"key {n}", "value": f"value {n}"} for n in range(250)]
    made = [memory.remember(OLD, facts=said[start : start + 50]) for start in range(0, 250, 50)]
    reply = browser.fill(changing(made[0].id), "/change", words=NEW, sure="1")
    assert len(str(reply.url)) < 500
    assert words(reply).partition("Undo this")[0].count("Tom: key") == 250
    assert memory.facts() == []


def test_facts_that_came_since_the_form_was_shown_are_shown_before_they_are_dropped(browser, memory, note, facts):
    page = browser.get(changing(note))
    memory.remember(OLD, facts=[{"subject": "Tom", "predicate": "pet", "value": "a dog"}])
    reply = browser.answer(page, "/change", words=NEW, sure="1")
    assert reply.status_code == 409
    assert "More facts depend on it than when you opened this form. Nothing was changed." in words(reply)
    assert NEW in unescape(reply.text.partition("<textarea")[2])
    assert len(memory.facts()) == 3
    assert browser.answer(reply, "/change", words=NEW, sure="1").status_code == 200
    assert memory.facts() == []


def test_an_archived_note_tells_which_facts_are_still_believed_and_how_to_deny_them(browser, memory, note, facts):
    reply = browser.fill(changing(note, "archive"), "/change", words="moved", sure="1")
    told = below(reply, "Facts still active although their source is hidden")
    assert told.count("Tom: ") == 2
    (deny,) = [unescape(a) for a in re.findall(r'href="(/change[^"]*deny)"', told) if facts["tea"] in a]
    browser.fill(deny, "/change", sure="1")
    assert [fact.id for fact in memory.facts()] == [facts["Rome"]]
    assert "Tom: drink" not in below(
        browser.get(f"/memory?id={note}"), "Facts still active although their source is hidden"
    )


@pytest.mark.parametrize("how", ["correct", "deny"])
def test_the_pages_of_a_note_and_its_fact_say_what_holds_no_longer_and_link_to_what_does(
    browser, memory, note, facts, how
):
    assert "No longer holds" not in words(browser.get(f"/memory?id={note}"))
    done = memory.correct(facts["tea"], "coffee") if how == "correct" else memory.deny(facts["tea"])
    told = {"correct": "replaced", "deny": "denied"}[how]
    for identity in (note, facts["tea"]):
        page = browser.get(f"/memory?id={identity}")
        assert re.search(rf"No longer holds: drink: tea \({told} 2026-01-0\d\)", words(page))
        if how == "correct":
            assert "In its place: Tom: drink: coffee" in words(page)
            (link,) = re.findall(r'In its place: .*?href="([^"]*)"', page.text)
            assert str(browser.get(unescape(link)).url).endswith(f"/memory?id={done.id}")


def test_the_page_of_a_replaced_note_links_to_the_one_that_holds(browser, memory, note):
    done = memory.update(note, NEW)
    page = browser.get(f"/memory?id={note}")
    assert f"No longer holds: it was replaced. In its place: {NEW}" in words(page)
    (link,) = re.findall(r'In its place: .*?href="([^"]*)"', page.text)
    assert str(browser.get(unescape(link)).url).endswith(f"/memory?id={done.id}")


@pytest.mark.parametrize("verb", ["update", "correct"])
def test_words_typed_on_a_page_that_is_out_of_date_are_kept_beside_what_holds_now(browser, memory, note, facts, verb):
    changed = note if verb == "update" else facts["tea"]
    page = browser.get(changing(changed, verb))
    preview = browser.answer(page, "/change", words="<b>juice</b>")
    memory.update(note, NEW) if verb == "update" else memory.correct(changed, "coffee")
    before = len(memory.history(limit=100))
    for stale in (page, preview):
        reply = browser.answer(stale, "/change", words="<b>juice</b>", sure="1")
        assert reply.status_code == 409
        assert "It has been replaced" in words(reply)
        assert f"Now {NEW if verb == 'update' else 'Tom: drink: coffee'} Then <b>juice</b>" in words(reply)
        assert "<b>juice" not in reply.text
        assert len(memory.history(limit=100)) == before
    browser.answer(reply, "/change", words="<b>juice</b>", sure="1")
    assert "juice" in memory.recall("juice", touch=False).hits[0].memory.content


@pytest.mark.parametrize("gone", ["archived", "erased"])
def test_words_typed_about_what_is_hidden_or_erased_meanwhile_can_be_copied(browser, memory, note, gone):
    page = browser.get(changing(note))
    if gone == "archived":
        memory.archive(note, "a test")
    else:
        memory.erase([note], reason="a test", confirm=memory.erase([note], reason="a test").confirm, dry_run=False)
    reply = browser.answer(page, "/change", words=NEW, sure="1")
    assert reply.status_code in (404, 422)
    assert f"What you wrote {NEW}" in words(reply)
