"""What a person changes on the pages: shown first, done by a form of ours only, and undone."""

from __future__ import annotations

import pytest

from conftest import tables
from interfaces.pages.browsing import forms, hidden, words


@pytest.fixture
def kept(memory):
    return memory.remember("Deploys happen on Tuesdays at 10:00.").id


def test_a_memory_is_pinned_and_the_pin_undone(browser, memory, kept):
    reply = browser.fill(f"/change?id={kept}&verb=pin", "/change", sure="1")
    assert "Done: pin." in words(reply)
    assert memory.get(kept).pinned
    reply = browser.answer(reply, "/undo")
    assert "Undone: pin." in words(reply)
    assert "As before: Deploys happen on Tuesdays at 10:00." in words(reply)
    assert not memory.get(kept).pinned


def test_undoing_a_replacement_goes_back_to_what_was_replaced(browser, memory, kept):
    reply = browser.fill(f"/change?id={kept}&verb=update", "/change", words="Deploys happen on Mondays.", sure="1")
    assert memory.get(kept, include_archived=True).status == "superseded"
    back = browser.answer(reply, "/undo")
    assert (back.url.path, back.url.params["id"]) == ("/memory", kept)
    assert "Undone: update." in words(back)
    assert "As before: Deploys happen on Tuesdays at 10:00." in words(back)
    again = browser.answer(back, "/undo")
    assert "Undone: undo." in words(again)
    assert memory.get(kept, include_archived=True).status == "superseded"


def test_archiving_shows_what_it_takes_and_restoring_brings_it_back(browser, memory, kept):
    assert f"yes, {memory.get(kept).tokens} tokens" in words(browser.get(f"/change?id={kept}&verb=archive"))
    browser.fill(f"/change?id={kept}&verb=archive", "/change", words="no longer so", sure="1")
    assert memory.get(kept) is None
    assert "no longer so" in words(browser.get(f"/memory?id={kept}"))
    browser.fill(f"/change?id={kept}&verb=restore", "/change", sure="1")
    assert memory.get(kept) is not None


def test_new_words_are_shown_beside_the_old_ones_before_they_replace_them(browser, memory, kept):
    new = "Deploys happen on Wednesdays."
    preview = browser.fill(f"/change?id={kept}&verb=update", "/change", words=new)
    assert "Now Deploys happen on Tuesdays at 10:00. Then Deploys happen on Wednesdays." in words(preview)
    assert memory.get(kept).status == "active"
    reply = browser.answer(preview, "/change", words=new, sure="1")
    assert [m.content for m in memory.list()] == [new]
    browser.answer(reply, "/undo")
    assert [m.content for m in memory.list()] == ["Deploys happen on Tuesdays at 10:00."]


def test_a_fact_is_corrected(browser, memory):
    said = [{"subject": "Maya", "predicate": "drink", "value": "tea"}]
    memory.remember("Maya prefers tea.", facts=said)
    fact = memory.facts()[0]
    preview = browser.fill(f"/change?id={fact.id}&verb=correct", "/change", words="coffee")
    assert memory.facts()[0].value == "tea"
    browser.answer(preview, "/change", words="coffee", sure="1")
    assert [f.value for f in memory.facts()] == ["coffee"]


def test_what_does_not_fit_a_memory_is_refused(browser, memory, kept):
    page = browser.get(f"/change?id={kept}&verb=pin")
    reply = browser.answer(page, "/change", verb="restore", sure="1")
    assert reply.status_code == 422
    assert "cannot be done" in words(reply)


def test_erasing_lists_what_would_go_and_shows_the_proof(browser, memory, kept):
    preview = browser.fill(f"/erase?id={kept}", "/erase", reason="asked for", by="Maya")
    assert "This would erase 1 memory for good; it cannot be undone." in words(preview)
    assert memory.get(kept).content in words(preview)
    assert "dry_run" not in words(preview)
    inside = next(inside for action, inside in forms(preview.text) if action.startswith("/erase"))
    word = inside.partition('name="confirm" value="')[2].partition('"')[0]
    proof = browser.answer(preview, "/erase", confirm=word)
    assert "Erased 1 memory for good." in words(proof)
    assert "found in 0 places" in words(proof)
    assert memory.get(kept, include_archived=True) is None


def test_an_erasure_plan_that_is_out_of_date_leads_to_the_plan_as_it_is_now(browser, memory):
    kept = memory.remember("Maya prefers tea.", facts=[{"subject": "Maya", "predicate": "drink", "value": "tea"}])
    preview = browser.fill(f"/erase?id={kept.id}", "/erase", reason="asked for", by="Maya")
    inside = next(inside for action, inside in forms(preview.text) if action.startswith("/erase"))
    word = inside.partition('name="confirm" value="')[2].partition('"')[0]
    memory.remember("Maya prefers tea.", facts=[{"subject": "Maya", "predicate": "home", "value": "Oslo"}])
    reply = browser.answer(preview, "/erase", confirm=word)
    assert reply.status_code == 422
    assert "Nothing was erased. Preview again." in words(reply)
    assert memory.get(kept.id) is not None
    anew = browser.answer(reply, "/erase", reason="asked for", by="Maya")
    assert 'value="asked for"' in reply.text
    assert "Oslo" in words(anew)
    word = anew.text.partition('name="confirm" value="')[2].partition('"')[0]
    assert "Erased" in words(browser.answer(anew, "/erase", confirm=word))


def test_a_form_without_the_sessions_token_does_nothing(browser, memory, kept, tmp_path):
    page = browser.get(f"/change?id={kept}&verb=pin")
    fields = hidden(forms(page.text)[0][1])
    before = tables(tmp_path / "agent.db")
    own = {"origin": "http://testserver"}
    stolen = {**fields, "sure": "1"}
    refused = [
        browser.post("/change", data={**stolen, "token": ""}, headers=own),
        browser.post("/change", data={**stolen, "token": fields["token"][::-1]}, headers=own),
        browser.post("/change", data=stolen, headers={"origin": "http://evil.example"}),
        browser.post("/change", data=stolen, headers={"origin": "null"}),
        browser.post("/change", data=stolen, headers={"sec-fetch-site": "cross-site"}),
        browser.post("/undo", data={"operation": "last"}, headers=own),
        browser.post("/change", content=b"words=" + b"x" * (3 << 20), headers=own),
        browser.post("/change", content=b"\xff=\xfe", headers=own),
    ]
    browser.cookies.clear()
    refused.append(browser.post("/change", data=stolen, headers=own))
    browser.cookies.set("perdure_session", "made-up.session")
    refused.append(browser.post("/change", data=stolen, headers=own))
    assert [reply.status_code for reply in refused] == [403] * 10
    assert tables(tmp_path / "agent.db") == before
    assert not memory.get(kept).pinned


def test_the_sessions_cookie_cannot_be_read_by_scripts_or_sent_from_elsewhere(browser):
    cookie = browser.get("/").headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert "set-cookie" not in browser.get("/").headers
