"""What consolidate would merge and summarize would write: looked at on the Plans page, applied there, taken back."""

from __future__ import annotations

import re
from typing import ClassVar

import pytest
from starlette.applications import Starlette

from conftest import WORDS_ONLY, ScriptedModel, opened, tables
from interfaces.pages.browsing import Browser, Hand, forms, hidden, words
from perdure.interfaces import pages
from perdure.interfaces.http.app import build_app
from perdure.interfaces.http.settings import Settings

MERGES = "/plans?preview=consolidate"
SUMMARIES = "/plans?preview=summarize"
SAME = "The build server listens on port 8080 in Lyon."
HOSTILE = "<script>window.ran=1</script><img src=x onerror=window.ran=1>"
HOST = "localhost:8766"


@pytest.fixture
def policy():
    return {**WORDS_ONLY, "preset": "facts"}


def twice(memory, *texts, namespace="default"):
    """Store each text as two episodes."""
    for text in texts:
        memory.remember_many([{"content": text, "kind": "episode"} for _ in range(2)], namespace=namespace)


@pytest.fixture
def duplicates(memory):
    twice(memory, SAME, "Lunch is at noon.")
    memory.remember("The roof is green.")


def gai_media(session):
    """What is said about one customer in a session."""
    first = (
        "Remember, Gai Media prefers Friday deliveries." if session == 0 else f"Gai Media sent order {session} today."
    )
    return [first, f"Gai Media asked about order {session}1 by mail today."]


@pytest.fixture
def talk(memory, clock):
    """Two customers, each spoken of in three sessions."""
    for session in range(3):
        for name, day in (("Gai Media", "Friday"), ("Nordlicht Shipping", "Monday")):
            first = (
                f"Remember, {name} prefers {day} deliveries." if session == 0 else f"{name} sent order {session} today."
            )
            texts = [first, f"{name} asked about order {session}1 by mail today."]
            said = [{"content": text, "at": clock().isoformat()} for text in texts]
            memory.ingest(said, session=f"{name} {session}")
        clock.passes(days=7)


def whole(page):
    return re.search(r'name="all" value="(\w+)"', page.text).group(1)


def in_view(memory):
    return sorted(m.content for m in memory.list(limit=100))


def test_previews_show_the_texts_and_write_nothing(browser, memory, duplicates, talk, tmp_path):
    before = tables(tmp_path / "agent.db")
    text = words(browser.get(MERGES))
    assert "2 merges, 2 memories out of view" in text
    (first, *_) = memory.consolidate("default").groups
    assert "Stays:" in text
    assert text.count(SAME) == 2
    assert memory.get(first.representative_id).content in text
    text = words(browser.get(SUMMARIES))
    made = memory.summarize().made
    assert len(made) == 2
    assert "2 summaries, 0 memories out of view" in text
    for one in made:
        assert one.text in text
        assert f"Stands for {len(one.sources)} memories" in text
    assert "Remember, Gai Media prefers Friday deliveries." in text
    assert tables(tmp_path / "agent.db") == before


def test_merges_are_applied_as_shown_and_undone_from_the_list(browser, memory, duplicates):
    before = in_view(memory)
    page = browser.get(MERGES)
    stays = {g.representative_id for g in memory.consolidate("default").groups}
    reply = browser.answer(page, "/apply", all=whole(page))
    assert in_view(memory) == sorted({SAME, "Lunch is at noon.", "The roof is green."})
    assert all(memory.get(i) for i in stays)
    assert "consolidate 2 memories into 2" in words(reply)
    assert "Nothing would be merged now." in words(browser.get(MERGES))
    browser.answer(browser.get("/plans"), "/undo")
    assert in_view(memory) == before


def test_chosen_summaries_are_written_and_undone(browser, memory, talk):
    page = browser.get(SUMMARIES)
    (mark, _) = re.findall(r'name="chosen" value="(\w+)"', page.text)
    (first, _) = memory.summarize().made
    browser.answer(page, "/apply", chosen=[mark])
    assert [m.content for m in memory.list(kinds=["summary"])] == [first.text]
    assert len(memory.summarize().made) == 1
    browser.answer(browser.get("/plans"), "/undo")
    assert memory.list(kinds=["summary"]) == []


def test_all_summaries_are_written_and_supersede_earlier_ones(browser, memory, talk, clock):
    page = browser.get(SUMMARIES)
    browser.answer(page, "/apply", all=whole(page))
    assert len(memory.list(kinds=["summary"])) == 2
    assert "No summary is due now." in words(browser.get(SUMMARIES))
    memory.ingest([{"content": "Actually, Gai Media prefers Tuesday deliveries."}], session="later")
    assert "1 summary, 1 memory out of view" in words(browser.get(SUMMARIES))


def test_all_summaries_are_told_of_and_taken_back_together(browser, memory, talk):
    page = browser.get(SUMMARIES)
    done = browser.answer(page, "/apply", all=whole(page))
    assert len(memory.list(kinds=["summary"])) == 2
    assert re.search(r"Done: summarize\. gai-media: \d.*; nordlicht-shipping: \d.* \(2 operations\)", words(done))
    browser.answer(done, "/undo")
    assert memory.list(kinds=["summary"]) == []


def test_what_would_be_otherwise_by_now_is_refused_whole(browser, memory, duplicates, talk, clock):
    merges, summaries = browser.get(MERGES), browser.get(SUMMARIES)
    (mark, _) = re.findall(r'name="chosen" value="(\w+)"', summaries.text)
    twice(memory, "A third thing.")
    memory.ingest([{"content": "Gai Media sent an order today.", "at": clock().isoformat()}], session="later")
    before = in_view(memory)
    for page, given in ((merges, {"all": whole(merges)}), (summaries, {"chosen": [mark]})):
        reply = browser.answer(page, "/apply", **given)
        assert reply.status_code == 409
        assert "would do has changed since; nothing was written" in words(reply)
    assert in_view(memory) == before


@pytest.mark.parametrize("policy", [{**WORDS_ONLY, "gates": {"loss_free_count": 0}}])
def test_what_the_gates_stop_is_told_and_not_written(browser, memory, duplicates):
    before = in_view(memory)
    page = browser.get(MERGES)
    reply = browser.answer(page, "/apply", all=whole(page))
    assert reply.status_code >= 400
    assert "loss budget" in words(reply)
    assert in_view(memory) == before


def test_time_alone_changes_no_merge(browser, memory, duplicates, clock):
    page = browser.get(MERGES)
    clock.passes(minutes=9)
    assert browser.answer(page, "/apply", all=whole(page)).status_code == 200
    assert in_view(memory).count(SAME) == 1


def test_made_up_choices_and_forms_of_others_are_refused(browser, memory, duplicates, talk):
    before = in_view(memory)
    for address in (MERGES, SUMMARIES):
        page = browser.get(address)
        assert browser.answer(page, "/apply").status_code == 422
        assert browser.answer(page, "/apply", chosen=["0000"]).status_code == 409
        assert browser.answer(page, "/apply", all="0000").status_code == 409
        assert browser.answer(page, "/apply", all=whole(page), token="made up").status_code == 403  # noqa: S106  # not one
    page = browser.get(MERGES)
    fields = hidden(next(inside for action, inside in forms(page.text) if action == "/apply"))
    sent = browser.post("/apply", data={**fields, "all": whole(page)}, headers={"origin": "https://elsewhere.example"})
    assert sent.status_code == 403
    assert in_view(memory) == before


def test_foreign_text_is_escaped(browser, memory, talk, clock):
    twice(memory, HOSTILE)
    for session in range(3):
        memory.ingest([{"content": f"Gai Media wrote {HOSTILE}", "at": clock().isoformat()}], session=f"x{session}")
        clock.passes(days=1)
    assert HOSTILE in words(browser.get(MERGES))
    for address in (MERGES, SUMMARIES):
        html = browser.get(address).text
        assert "&lt;script&gt;window.ran=1" in html, address
        assert not re.search(r"<(script>|img)", html), address


@pytest.fixture
def model():
    return ScriptedModel(*[{"summary": "Gai Media prefers Friday deliveries.", "sentences": []}] * 20)


@pytest.fixture
def with_model(tmp_path, clock, policy, model):
    wanted = {"base_url": "http://localhost:1/v1", "name": "m", "summarise": True, "digest": True}
    with opened(tmp_path / "modelled.db", {**policy, "model": wanted}, clock, model=model) as found:
        yield found


def test_looking_asks_no_language_model_and_a_form_does(with_model, model, clock):
    for session in range(3):
        said = [{"content": text, "at": clock().isoformat()} for text in gai_media(session)]
        with_model.ingest(said, session=f"Gai Media {session}")
        clock.passes(days=7)
    with_model.remember("The Northwall staging server listens on port 8081.")
    with_model.remember("The Northwall staging server is run by Jonas.")
    model.asked.clear()
    with Browser(Hand(Starlette(routes=pages.routes()), with_model)) as browser:
        for address in (*pages.READ, SUMMARIES, "/plans?preview=1", "/memory-md?profile=hermes"):
            assert browser.get(address).status_code in (200, 404, 422), address
        assert "joins lines about one thing. It is not asked for this page." in words(browser.get("/memory-md"))
        page = browser.get(SUMMARIES)
        assert "It is asked when you press a button" in words(page)
        assert "1 summary" not in words(page)
        assert model.asked == []
        token = hidden(forms(page.text)[0][1])["token"]
        refused = browser.post("/plans", data={"token": "made up", "preview": "summarize"}, headers=browser.own)
        assert (refused.status_code, model.asked) == (403, [])
        page = browser.post("/plans", data={"token": token, "preview": "summarize"}, headers=browser.own)
        assert "1 summary, 0 memories out of view" in words(page)
        assert len(model.asked) == 1
        browser.answer(page, "/apply", all=whole(page))
        assert len(with_model.list(kinds=["summary"])) == 1
    service = build_app(lambda: with_model, Settings(frozenset({HOST})))
    with Window(service, base_url=f"http://{HOST}") as client:
        asked = len(model.asked)
        assert client.get("/v1/digest").status_code == 200
        assert len(model.asked) == asked
        assert client.post("/v1/digest", json={}).status_code == 200
        assert len(model.asked) == asked + 1


class Window(Browser):
    """A browser at the service itself."""

    own: ClassVar = {"origin": f"http://{HOST}"}


@pytest.mark.parametrize(("role", "allowed"), [("reader", False), ("agent", False), ("curator", True)])
def test_only_who_may_decide_sees_previews_and_applies_them(memory, role, allowed):
    twice(memory, SAME, namespace="team/a")
    twice(memory, "The budget is 500 dollars.", namespace="rivals")
    secret = memory.create_token(role, "team/*", actor=f"the {role}").secret
    curators = memory.create_token("curator", "team/*", actor="another").secret
    service = build_app(lambda: memory, Settings(frozenset({HOST})))
    headers = {"accept": "text/html"}
    with (
        Window(service, base_url=f"http://{HOST}", headers=headers) as browser,
        Window(service, base_url=f"http://{HOST}", headers=headers) as other,
    ):
        browser.answer(browser.get("/login"), "/login", secret=secret)
        other.answer(other.get("/login"), "/login", secret=curators)
        offered = whole(other.get(MERGES))
        assert ("Preview merges" in words(browser.get("/plans"))) == allowed
        page = browser.get(MERGES)
        assert page.status_code == (200 if allowed else 403)
        assert (SAME in words(page)) == allowed
        token = re.search(r'name="token" value="([^"]*)"', browser.get("/plans").text).group(1)
        sent = {"token": token, "verb": "consolidate", "all": offered}
        reply = browser.post("/apply", data=sent, headers=browser.own)
        assert reply.status_code == (200 if allowed else 403)
        assert len(memory.list("team/a")) == (1 if allowed else 2)
        theirs = browser.get(f"{MERGES}&namespace=rivals")
        assert "500 dollars" not in theirs.text
        assert forms(theirs.text)[0][0] == "/logout"
    assert len(memory.list("rivals")) == 2
