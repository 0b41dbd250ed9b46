"""Facts, questions, plans and MEMORY.md on the pages: what a person decides there, and takes back."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from html import unescape
from threading import Barrier

import pytest

from conftest import WORDS_ONLY, opened, tables
from interfaces.pages.browsing import get_forms, plain, words


def said(memory, value, subject="Maya", predicate="drink", **more):
    fact = {"subject": subject, "predicate": predicate, "value": value, **more}
    return memory.remember(f"{subject} {predicate} {value}.", facts=[fact])


@pytest.fixture
def history(memory, clock):
    """A fact that replaced another one after ten days."""
    said(memory, "tea")
    clock.passes(days=10)
    said(memory, "coffee", replaces="tea")


def marks(html):
    return [unescape(mark) for mark in re.findall(r'name="chosen" value="([^"]*)"', html)]


def test_the_timeline_of_an_entity_has_both_axes(browser, history, clock):
    clock.passes(days=10)
    text = words(browser.get("/facts?entity=maya"))
    assert "tea 2026-01-01 to 2026-01-11" in re.sub(r"\s+", " ", text)
    assert "superseded" in text
    html = browser.get("/facts?entity=maya").text
    assert html.count('class="plot periods"') == 2
    # half of the axis for what was true for the first ten days of twenty
    widths = re.findall(r'class="shade0" x="([\d.]+)" y="2" width="([\d.]+)"', html)
    assert widths == [("320.0", "320.0"), ("0.0", "320.0")]


def test_entities_are_listed_with_their_facts(browser, history):
    text = words(browser.get("/facts"))
    assert "People and things Maya" in text
    assert "Maya drink coffee" in text


def test_an_entity_that_is_not_known_is_told_of(browser, history):
    assert browser.get("/facts?entity=nobody").status_code == 404


def test_an_answer_is_written_down_and_undone(browser, memory, clock):
    said(memory, "tea")
    clock.passes(days=100)
    page = browser.get("/questions")
    assert "Is that still so?" in words(page)
    reply = browser.answer(page, "/answer", verdict="confirm")
    assert "No questions wait." in words(reply)
    assert memory.review() == []
    browser.answer(reply, "/undo")
    assert len(memory.review()) == 1


def test_a_question_is_answered_with_another_value(browser, memory, clock):
    said(memory, "tea")
    clock.passes(days=100)
    browser.answer(browser.get("/questions"), "/answer", verdict="correct", value="coffee")
    assert [f.value for f in memory.facts()] == ["coffee"]


def test_an_answer_without_a_value_is_refused_in_words(browser, memory, clock):
    said(memory, "tea")
    clock.passes(days=100)
    reply = browser.answer(browser.get("/questions"), "/answer", verdict="correct", value=" ")
    assert reply.status_code == 422
    assert "The right value is missing." in words(reply)


@pytest.mark.parametrize("how", ["confirm", "deny", "mute", "archive"])
def test_the_refusal_of_a_late_answer_names_what_was_done(browser, memory, clock, how):
    said(memory, "tea")
    clock.passes(days=100)
    page = browser.get("/questions")
    fact = memory.facts()[0].id
    memory.archive(fact, "a test") if how == "archive" else memory.answer(fact, how)
    told = words(browser.answer(page, "/answer", verdict="confirm"))
    reason = {
        "archive": "archived by hand: a test",
        "mute": "a person does not want to be asked",
        "deny": "a person denied it",
    }
    assert f"UTC: {how}: " in told
    assert reason.get(how, "a person confirmed it") in told


@pytest.mark.parametrize("verdict", ["deny", "correct"])
def test_an_answer_to_what_was_answered_meanwhile_is_refused_and_told_of(browser, memory, clock, tmp_path, verdict):
    said(memory, "tea")
    clock.passes(days=100)
    page = browser.get("/questions")
    memory.confirm(memory.facts()[0].id)
    before = tables(tmp_path / "agent.db")
    reply = browser.answer(page, "/answer", verdict=verdict, **({"value": "coffee"} if verdict == "correct" else {}))
    assert reply.status_code == 409
    assert "no longer open; nothing was changed" in words(reply)
    assert "a person confirmed it" in words(reply)
    assert f'href="/memory?id={memory.facts()[0].id}"' in reply.text
    assert ("What you wrote coffee" in words(reply)) == (verdict == "correct")
    assert tables(tmp_path / "agent.db") == before
    clock.passes(days=100)  # the same doubt again is another question
    assert browser.answer(page, "/answer", verdict="deny").status_code == 409
    assert browser.answer(browser.get("/questions"), "/answer", verdict="deny").status_code == 200
    assert memory.facts() == []


@pytest.mark.parametrize("verdicts", [("confirm", "deny"), ("confirm", "confirm"), ("deny", "deny")])
def test_of_two_answers_in_the_same_moment_one_is_refused(browser, memory, clock, monkeypatch, verdicts):
    said(memory, "tea")
    clock.passes(days=100)
    page = browser.get("/questions")
    both, usual = Barrier(2), type(memory).answer
    before = len(memory.history())

    def answer(self, *given):
        both.wait(60)  # both have seen that the question is open
        return usual(self, *given)

    monkeypatch.setattr(type(memory), "answer", answer)
    with ThreadPoolExecutor(2) as pool:
        replies = [*pool.map(lambda verdict: browser.answer(page, "/answer", verdict=verdict), verdicts)]
    assert sorted(reply.status_code for reply in replies) == [200, 409]
    [refused] = [reply for reply in replies if reply.status_code == 409]
    assert "no longer open; nothing was changed" in words(refused)
    assert len(memory.history()) == before + 1


@pytest.fixture
def due(memory, clock):
    """Four memories of which maintenance would move each."""
    kept = [memory.remember(f"The {name} server listens on port {n}.").id for n, name in enumerate("abcd", 8080)]
    clock.passes(days=40)
    return kept


def test_what_maintenance_would_do_is_shown_and_applied_in_part_and_undone(browser, memory, due):
    page = browser.get("/plans?preview=1")
    assert "4 moves" in words(page)
    before = {i: memory.get(i).tier for i in due}
    reply = browser.answer(page, "/apply", chosen=marks(page.text)[:2])
    moved = [i for i in due if memory.get(i).tier != before[i]]
    assert len(moved) == 2
    assert "the part chosen by a person, 2 memories" in words(reply)
    assert len(memory.sweep(dry_run=True).moved) == 2
    browser.answer(reply, "/undo")
    assert {i: memory.get(i).tier for i in due} == before


def test_applying_all_does_what_a_sweep_would(browser, memory, due):
    page = browser.get("/plans?preview=1")
    whole = re.search(r'name="all" value="(\w+)"', page.text).group(1)
    browser.answer(page, "/apply", all=whole)
    assert memory.sweep(dry_run=True).moved == ()


def test_a_plan_that_has_changed_since_is_refused_whole(browser, memory, due):
    page = browser.get("/plans?preview=1")
    memory.pin(due[0])
    chosen = [mark for mark in marks(page.text) if mark.startswith((due[0], due[1]))]
    reply = browser.answer(page, "/apply", chosen=chosen)
    assert reply.status_code == 409
    assert "has changed for 1 memory since; nothing was written" in words(reply)
    whole = re.search(r'name="all" value="(\w+)"', page.text).group(1)
    assert browser.answer(page, "/apply", all=whole).status_code == 409
    assert len(memory.sweep(dry_run=True).moved) == 3


def test_a_mark_that_was_made_up_is_refused(browser, memory, due):
    page = browser.get("/plans?preview=1")
    assert browser.answer(page, "/apply", chosen=[f"{due[0]}:0000"]).status_code == 409
    assert browser.answer(page, "/apply").status_code == 422
    assert len(memory.sweep(dry_run=True).moved) == 4


def test_what_was_done_is_listed_and_undone(browser, memory):
    memory.remember("Deploys happen on Tuesdays.")
    page = browser.get("/plans")
    assert "remember 1 memory" in words(page)
    reply = browser.answer(page, "/undo")
    assert memory.list() == []
    assert "undone" in words(reply)
    refused = browser.answer(page, "/undo")
    assert "was already undone" in words(refused)


def test_what_was_redone_is_not_called_undone_and_can_be_undone_again(browser, memory):
    kept = memory.remember("Deploys happen on Tuesdays.").id
    undone = memory.undo("last")
    assert "remember 1 memory" in words(browser.get("/plans"))
    memory.undo(undone.operation)
    assert memory.get(kept) is not None
    page = browser.get("/plans")
    row = next(plain(li) for li in re.findall(r"<li.*?</li>", page.text, re.DOTALL) if "<b>remember" in li)
    assert (" redone " in row, " undone" in row) == (True, False)
    told = [plain(li) for li in re.findall(r"<li.*?</li>", browser.get("/").text, re.DOTALL)]
    assert [", undone" in line for line in told if line.startswith("remember")] == [False]
    browser.answer(page, "/undo")
    assert memory.list() == []
    row = next(li for li in re.findall(r"<li.*?</li>", browser.get("/plans").text, re.DOTALL) if "<b>remember" in li)
    assert " undone" in plain(row)
    assert "<form" not in row


def test_the_weeks_ahead_add_up_to_the_forecast(browser, memory, due):
    memory.sweep()
    found = memory.forecast(84, details=True)
    assert found.moved == ()
    memory.remember("A new note.")
    found = memory.forecast(84, details=True)
    page = browser.get("/plans?ahead=1")
    assert f"{len(found.moved)} move" in words(page)
    rows = re.findall(r'<th scope="row">2026-[\d-]+</th><td>(\d+)</td>', page.text)
    assert (len(rows), sum(map(int, rows))) == (12, len(found.moved))
    assert len(found.moved) > 0


def test_another_policy_is_tried_beside_todays(browser, memory, due):
    memory.recall("Which server listens on port 8080?")
    text = words(browser.get("/plans", params={"try": 1, "policy": "[tiers]\nwarm_quiet_days = 1.0"}))
    found = memory.backtest({"tiers": {"warm_quiet_days": 1.0}}, limit=200)
    assert f"in view in full {found.other.visible - found.other.shortened} " in text
    assert "1 past recall asked again" in text
    assert "cannot be read" in words(browser.get("/plans", params={"try": 1, "policy": "no = [toml"}))


@pytest.mark.parametrize("typed", ["no = [toml", "[tiers]\nwarm_keep = 0.3", "a = <b>1</b>"])
def test_a_policy_that_is_refused_stays_in_the_form_with_what_is_wrong(browser, memory, typed):
    reply = browser.get("/plans", params={"try": 1, "policy": typed, "preset": "facts"})
    assert reply.status_code == 422
    form = next(form for form in get_forms(reply.text) if "preset" in form.fields)
    assert form.fields["preset"] == "facts"
    assert unescape(reply.text.partition('name="policy"')[2].partition(">")[2].partition("</textarea>")[0]) == typed
    assert "<b>1</b>" not in reply.text
    assert 'role="alert"' in reply.text.partition('id="whatif"')[2]


def test_the_weeks_ahead_of_another_policy_stand_beside_todays_on_one_scale(browser, memory, clock, tmp_path):
    memory.remember_many([f"The {name} server listens on port {n}." for n, name in enumerate("abcd", 8080)])
    clock.passes(days=10)
    memory.sweep()
    memory.recall("Which server listens on port 8080?")
    policy = "[archive]\nrule = 'value'\nvalue_below = 0.6\ncold_days = 20"
    other = {"archive": {"rule": "value", "value_below": 0.6, "cold_days": 20}}
    foreseen = [memory.forecast(84, details=True), memory.forecast_under(other, 84, "default", details=True)]
    assert len(foreseen[0].moved) != len(foreseen[1].moved)
    html = browser.get("/plans", params={"try": 1, "policy": policy}).text
    told = re.findall(r'row">moves</th><td>([\d,]+)</td></tr>\s*<tr><th scope="row">out of view</th><td>([\d,]+)', html)
    gone = [sum(m.move.endswith("archived") for m in report.moved) for report in foreseen]
    assert [(int(a), int(b)) for a, b in told] == [(len(r.moved), n) for r, n in zip(foreseen, gone, strict=True)]
    with_moves = [r for r in foreseen if r.moved]
    assert html.count('aria-label="Moves in each of the next 12 weeks"') == len(with_moves)
    assert html.count('scope="col">Week from') == len(with_moves)  # a table behind each plot
    with opened(tmp_path / "agent.db", {**WORDS_ONLY, **other}, clock) as lived:  # what comes of the other one
        assert len(lived.forecast(84, details=True).moved) == len(foreseen[1].moved)


def test_a_dismissed_preview_changes_nothing_and_comes_again(browser, memory, due):
    page = browser.get("/plans?preview=1")
    (back,) = re.findall(r'<a class="button" href="([^"]*)">Dismiss</a>', page.text)
    before = [(m.id, m.tier) for m in memory.list()]
    assert "Preview it" in words(browser.get(back))
    assert [(m.id, m.tier) for m in memory.list()] == before
    assert marks(browser.get("/plans?preview=1").text) == marks(page.text)


def test_what_was_done_names_short_ids_alone_and_no_verb_twice(browser, memory):
    kept = memory.remember("Deploys happen on Tuesdays.")
    memory.update(kept.id, "Deploys happen on Wednesdays.")
    memory.undo("last")
    for path in ("/", "/plans"):
        shown = words(browser.get(path))
        assert "update update" not in shown, path
        assert "undoes update" in shown, path
        assert kept.id not in shown, path
        assert kept.id[-8:] in shown, path


def test_memory_md_is_shown_for_each_profile(browser, memory):
    memory.remember("Deploys happen on Tuesdays.")
    shown = browser.get("/memory-md")
    assert memory.digest().splitlines()[-2] in unescape(shown.text)
    other = browser.get("/memory-md?profile=hermes")
    assert 'aria-current="true">hermes' in other.text
