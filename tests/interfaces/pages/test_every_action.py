"""Everything that can be done to a memory from its page: offered where it fits, shown first, done, and undone whole."""

from __future__ import annotations

import re
from html import unescape
from types import SimpleNamespace

import pytest

from conftest import WORDS_ONLY, logical
from interfaces.pages.browsing import plain, rows, words

LONG = "We talked about boats and weather and then about all of the other things. " * 8 + "The end."
SHORTENING = {"rule": "triggers", "summary_value": 1.0, "least_tokens": 20}


@pytest.fixture
def policy():
    return {**WORDS_ONLY, "preset": "facts", "compression": SHORTENING}


def note(memory, clock):
    return memory.remember("Deploys happen on Tuesdays.").id


def pinned(memory, clock):
    return memory.pin(note(memory, clock)).id


def archived(memory, clock):
    return memory.archive(note(memory, clock), "no longer so").id


def replaced(memory, clock):
    kept = note(memory, clock)
    memory.update(kept, "Deploys happen on Wednesdays.")
    return kept


def shortened(memory, clock):
    kept = memory.remember(LONG, importance=0.1, confidence=0.4).id
    clock.passes(days=40)
    memory.sweep()
    assert memory.get(kept).form == "summary"
    return kept


def fact(memory, clock):
    memory.remember("Maya prefers tea.", facts=[{"subject": "Maya", "predicate": "drink", "value": "tea"}])
    clock.passes(days=100)
    return memory.facts()[0].id


def denied(memory, clock):
    return memory.deny(fact(memory, clock), "no").id


def contested(memory, clock):
    for session, day in (("s1", "Friday"), ("s2", "Monday")):
        said = f"Remember, Gai Media prefers {day} deliveries."
        memory.ingest([{"content": said, "role": "user", "at": clock().isoformat()}], session=session)
        clock.passes(days=1)
    return next(f for f in memory.facts() if f.contested).id


OFFERED = {
    note: ["Pin", "Replace", "Archive"],
    pinned: ["Unpin", "Replace", "Archive"],
    archived: ["Pin", "Restore"],
    replaced: ["Pin"],
    shortened: ["Pin", "Replace", "Archive", "Show in full"],
    fact: ["Pin", "Still true", "Correct", "Not true", "Archive"],
    denied: ["Pin"],
    contested: ["Pin", "Still true", "Correct", "Not true", "Both are true", "Archive"],
}
"""A memory in some state -> what its page offers to do."""


def seen(memory, kept):
    """Return what the verbs say of a memory and of what is known."""
    facts = memory.facts()
    return SimpleNamespace(
        item=memory.get(kept, include_archived=True),
        facts=facts,
        confirmed=[f.confirmations > 1 and not f.unconfirmed_since and not f.contested for f in facts if f.id == kept],
        contents={m.content for m in memory.list()},
    )


ACTIONS = {
    "Pin": (["pinned", "no", "yes"], "", lambda now: now.item.pinned),
    "Unpin": (["pinned", "yes", "no"], "", lambda now: not now.item.pinned),
    "Still true": (["last confirmed", "earlier", "now"], "", lambda now: now.confirmed == [True]),
    "Correct": ([], "oolong", lambda now: "oolong" in {f.value for f in now.facts}),
    "Not true": (["believed", "yes", "no: invalidated"], "", lambda now: now.item.status == "invalidated"),
    "Both are true": (
        ["in conflict", "yes", "no: both are believed"],
        "",
        lambda now: [f.contested for f in now.facts] == [(), ()],
    ),
    "Replace": ([], "Deploys never happen.", lambda now: "Deploys never happen." in now.contents),
    "Archive": (
        ["in view", "yes, {tokens} tokens", "no: hidden from recall and MEMORY.md"],
        "",
        lambda now: now.item.status == "archived",
    ),
    "Restore": (["in view", "no", "yes"], "", lambda now: now.item.status == "active"),
    "Show in full": (
        ["form", "summary, {tokens} tokens", "full"],
        "",
        lambda now: (now.item.form, now.item.content) == ("full", LONG),
    ),
}
"""What is offered -> what a preview says of it, what a person writes, and whether it is done."""


def offered(page):
    """Return label -> address of what a memory's page offers to do with it, but for an erasure."""
    inside = page.text.partition('aria-label="What can be done">')[2].partition("</nav>")[0]
    found = re.findall(r'<a class="button(?: first)?" href="([^"]*)">(.*?)</a>', inside)
    return {plain(label): unescape(address) for address, label in found}


CASES = [(state, label) for state, labels in OFFERED.items() for label in labels]


@pytest.mark.parametrize(("state", "label"), CASES, ids=lambda one: getattr(one, "__name__", one))
def test_what_is_offered_is_shown_first_then_done_and_undone_whole(browser, memory, clock, tmp_path, state, label):
    kept = state(memory, clock)
    says, written, is_done = ACTIONS[label]
    page = browser.get(f"/memory?id={kept}")
    assert list(offered(page)) == OFFERED[state]
    before, item = logical(tmp_path / "agent.db"), seen(memory, kept).item
    preview = browser.get(offered(page)[label])
    assert "<h1>" + label + "</h1>" in preview.text
    assert item.content in words(preview)
    if written:
        preview = browser.answer(preview, "/change", words=written)
        sides = re.findall(r'<h2>(Now|Then)</h2><blockquote class="said (?:removed|added)">(.*?)<', preview.text)
        assert sides == [("Now", item.content), ("Then", written)]
    else:
        table = [["What changes", "Now", "Then"], [cell.format(tokens=item.tokens) for cell in says]]
        assert rows(preview.text) == table
    assert logical(tmp_path / "agent.db") == before
    assert not is_done(seen(memory, kept))
    done = browser.answer(preview, "/change", words=written, sure="1")
    assert is_done(seen(memory, kept))
    assert "Done: " in words(done)
    assert label == "Still true" or label not in offered(browser.get(f"/memory?id={kept}"))
    undone = browser.answer(done, "/undo")
    assert "Undone: " in words(undone)
    assert "Undone: undo." not in words(undone)
    assert logical(tmp_path / "agent.db") == before
    assert list(offered(browser.get(f"/memory?id={kept}"))) == OFFERED[state]


def test_undo_this_takes_back_what_was_done_there_and_not_what_somebody_did_since(browser, memory, clock):
    kept = note(memory, clock)
    done = browser.fill(f"/change?id={kept}&verb=archive", "/change", sure="1")
    memory.remember("The harbour office is painted green.")
    browser.answer(done, "/undo")
    assert {m.content for m in memory.list()} == {"Deploys happen on Tuesdays.", "The harbour office is painted green."}
