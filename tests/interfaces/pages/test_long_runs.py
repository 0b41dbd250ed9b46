"""A run over more memories than one operation holds: the page counts all of it, and takes all of it back."""

from __future__ import annotations

import re
from html import unescape

import pytest

from conftest import WORDS_ONLY
from interfaces.pages.browsing import forms, hidden, words
from perdure.operations import documents, journal

MANY = 2_300
CROWDED = {**WORDS_ONLY, "compression": {"visible_tokens": 40}, "gates": {"loss_free_count": 100}}


def states(memory, ids):
    """Id -> where a memory is, and in which form."""
    found = ((i, memory.get(i, include_archived=True)) for i in ids)
    return {i: (m.tier, m.form, m.status) for i, m in found}


def whole(page):
    """The mark of "Apply all" of a preview."""
    return re.search(r'name="all" value="(\w+)"', page.text).group(1)


def applied(browser):
    """What the page says after all of the previewed maintenance was applied."""
    page = browser.get("/plans?preview=1")
    return browser.answer(page, "/apply", all=whole(page))


def to_undo(page):
    """The operations that "Undo this" or "Undo the rest" of a page takes back, in its order."""
    inside = next(inside for action, inside in forms(page.text) if action.startswith("/undo"))
    found = hidden(inside)["operation"]
    return found if isinstance(found, list) else [found]


@pytest.fixture
def small(monkeypatch):
    """Operations hold three memories at most."""
    monkeypatch.setattr(documents, "PAGE", 3)


@pytest.fixture
def due(memory, clock, small):
    """Seven memories that maintenance would move, which takes three operations."""
    kept = [memory.remember(f"The {name} server listens on port {n}.").id for n, name in enumerate("abcdefg", 8080)]
    clock.passes(days=40)
    return kept


def test_all_moves_of_a_run_are_counted_and_taken_back(browser, memory, clock):
    texts = [f"Stone {number} lies in field {number * 3}." for number in range(MANY)]
    kept = [one.id for start in range(0, MANY, 1000) for one in memory.remember_many(texts[start : start + 1000])]
    clock.passes(days=40)
    before = states(memory, kept)
    page = browser.get("/plans?preview=1")
    assert "2,300 moves" in words(page)
    done = browser.answer(page, "/apply", all=whole(page))
    assert "Done: sweep. 2,300 moves, 0 archived (2 operations)" in words(done)
    assert all(now != before[i] for i, now in states(memory, kept).items())
    undone = browser.answer(done, "/undo")
    assert "Undone: sweep. 2,300 moves, 0 archived (2 operations)" in words(undone)
    assert states(memory, kept) == before
    browser.answer(undone, "/undo")  # what was taken back is done again, whole too
    assert all(now != before[i] for i, now in states(memory, kept).items())


def test_a_part_that_lies_in_several_operations_is_one_thing_to_undo(browser, memory, due):
    before = states(memory, due)
    page = browser.get("/plans?preview=1")
    marks = [unescape(mark) for mark in re.findall(r'name="chosen" value="([^"]*)"', page.text)]
    done = browser.answer(page, "/apply", chosen=[m for m in marks if m.partition(":")[0] in due[1:5]])
    assert "Done: sweep. the part chosen by a person, 4 memories (2 operations)" in words(done)
    assert sum(now != before[i] for i, now in states(memory, due).items()) == 4
    browser.answer(done, "/undo")
    assert states(memory, due) == before


def test_what_cannot_be_taken_back_is_named_and_the_rest_is_taken_back_later(browser, memory, due):
    before = states(memory, due)
    done = applied(browser)
    *_, first = to_undo(done)
    assert memory.history(due[0])[-1].operation_id == first
    memory.pin(due[0])
    partly = browser.answer(done, "/undo")
    assert partly.status_code == 409
    text = words(partly)
    assert "2 of 3 operations are undone. The next one, sweep (3 moves, 0 archived), is not" in text
    assert due[0] in text
    assert "Undo the later operations first." in text
    assert to_undo(partly) == [first]
    still = {i for i, now in states(memory, due).items() if now != before[i]}
    assert still == set(due[:3])
    assert browser.answer(partly, "/undo").status_code == 409  # alone it is told of as any other
    memory.undo("last")  # the pin
    undone = browser.answer(partly, "/undo")
    assert "Undone: sweep." in words(undone)
    assert states(memory, due) == before


def test_what_was_undone_meanwhile_does_not_keep_the_rest(browser, memory, due):
    before = states(memory, due)
    done = applied(browser)
    memory.undo(to_undo(done)[0])
    browser.answer(done, "/undo")
    assert states(memory, due) == before
    refused = browser.answer(done, "/undo")
    assert refused.status_code == 422
    assert "already undone" in words(refused)
    assert states(memory, due) == before


def test_a_run_is_undone_whole_also_where_others_have_written_much_since(browser, memory, due):
    before = states(memory, due)
    done = applied(browser)
    for number in range(30):
        memory.remember(f"Note {number}.")
    browser.answer(browser.get(done.url), "/undo")
    assert states(memory, due) == before


def test_an_address_that_names_an_unknown_operation_tells_of_none(browser, memory, due):
    memory.sweep()
    known = memory.history()[0].id
    for named in (f"{known} {known[::-1]}", f"{known} no-such", f"{known} ../x"):
        assert "Undo this" not in words(browser.get("/plans", params={"done": named}))
    assert "Undo this" in words(browser.get("/plans", params={"done": known}))


@pytest.mark.parametrize("policy", [CROWDED])
def test_what_keeps_the_budget_goes_on_from_the_moves_beside_it(browser, memory, due):
    before = states(memory, due)
    page = browser.get("/plans?preview=1")
    chosen = [m for m in map(unescape, re.findall(r'name="chosen" value="([^"]*)"', page.text)) if m[:36] in due[1:5]]
    done = browser.answer(page, "/apply", chosen=chosen)
    assert done.status_code == 200
    part = states(memory, due)
    assert {i for i in due if part[i] != before[i]} == set(due[1:5])
    assert {(tier, form) for tier, form, _ in (part[i] for i in due[1:5])} == {("cold", "summary")}
    assert browser.answer(done, "/undo").status_code == 200
    assert states(memory, due) == before
    done = applied(browser)
    assert done.status_code == 200
    assert {(tier, form) for tier, form, _ in states(memory, due).values()} == {("cold", "summary")}
    assert memory.sweep().operations == ()
    browser.answer(done, "/undo")
    assert states(memory, due) == before


def test_what_was_written_before_a_refusal_is_offered_to_undo(browser, memory, due, monkeypatch):
    """A person pins a memory of the last operation while the first two are written."""
    before = states(memory, due)
    page = browser.get("/plans?preview=1")
    apply = journal.apply_gated

    def pin_meanwhile(context, plan, **more):
        if due[6] in {change.id for change in plan.changes}:
            memory.pin(due[6])
        return apply(context, plan, **more)

    monkeypatch.setattr(journal, "apply_gated", pin_meanwhile)
    refused = browser.answer(page, "/apply", all=whole(page))
    assert refused.status_code == 409
    assert "2 of 3 plans were applied; the next was refused" in words(refused)
    assert all(states(memory, due)[i] != before[i] for i in due[:6])
    undone = browser.answer(refused, "/undo")
    assert "Undone: sweep." in words(undone)
    memory.unpin(due[6])
    left = states(memory, due)
    assert {i: left[i] for i in due[:6]} == {i: before[i] for i in due[:6]}
