"""Recall says what has changed since and what contradicts what; nothing is stored for it, so nothing needs undoing."""

from __future__ import annotations

import pytest

from conftest import WORDS_ONLY, HashEmbedder, tables

BUDGET = "what is my monthly grocery budget?"
TOLD = [
    {"content": "We have agreed on a $500 monthly grocery budget.", "role": "user", "session": "a"},
    {"content": "The recipe for lentil soup needs cumin.", "role": "user", "session": "a"},
    {"content": "My grocery budget was increased to $550 monthly.", "role": "user", "session": "b"},
]
USED = [
    {"content": "I've been using Excel to track my daily expenses.", "role": "user", "session": "a"},
    {"content": "I've never used Excel for tracking expenses.", "role": "user", "session": "b"},
]


@pytest.fixture(params=["words", "meaning"])
def told(request, opening):
    memory = opening(embedder=HashEmbedder() if request.param == "meaning" else None)
    memory.ingest(TOLD)
    return memory


def flags(answer):
    names = {hit.memory.id: hit.memory.content for hit in answer.hits}
    return [
        (hit.memory.content, names.get(hit.updated_by), [names[i] for i in hit.contested_with]) for hit in answer.hits
    ]


@pytest.mark.behaviour("UP8")
def test_the_current_value_stands_before_the_old_one(told):
    found = flags(told.recall(BUDGET))
    assert found[:2] == [(TOLD[2]["content"], None, []), (TOLD[0]["content"], TOLD[2]["content"], [])]


@pytest.mark.behaviour("UP11")
def test_only_the_order_changes(told, opening):
    plain = opening({**WORDS_ONLY, "knowledge": {"watch": False}}, embedder=told._context.embedder)
    watching, before = told.recall(BUDGET, touch=False), plain.recall(BUDGET, touch=False)
    assert {h.memory.id: h.score for h in watching.hits} == {h.memory.id: h.score for h in before.hits}
    assert all(not h.updated_by and not h.contested_with for h in before.hits)


def test_the_update_is_brought_in_where_there_is_one_place(told):
    assert [h.memory.content for h in told.recall(BUDGET, limit=1).hits] == [TOLD[2]["content"]]


@pytest.mark.behaviour("UP12")
def test_both_sides_of_a_contradiction_are_flagged(opening):
    memory = opening()
    memory.ingest(USED)
    found = flags(memory.recall("have I used Excel for my expenses?"))
    first, second = (message["content"] for message in USED)
    assert sorted(found) == sorted([(first, None, [second]), (second, None, [first])])


@pytest.mark.behaviour("UP14")
def test_one_by_one_twice_and_in_one_batch_say_the_same(told, opening):
    one_by_one = opening(embedder=told._context.embedder)
    told.ingest(TOLD)
    for message in TOLD:
        one_by_one.ingest([message], "again")
    assert flags(told.recall(BUDGET)) == flags(one_by_one.recall(BUDGET, "again"))


@pytest.mark.behaviour("UP15")
def test_undoing_what_updated_takes_the_flag_with_it(opening):
    memory = opening()
    memory.ingest(TOLD[:2])
    done = memory.ingest(TOLD[2:])
    assert memory.recall(BUDGET).hits[0].memory.content == TOLD[2]["content"]
    for operation in reversed(done.operations):
        memory.undo(operation)
    assert all(h.updated_by is None for h in memory.recall(BUDGET).hits)


def test_what_is_archived_updates_nothing(told):
    newest = next(m for m in told.list() if m.content == TOLD[2]["content"])
    told.archive(newest.id, "wrong")
    assert all(h.updated_by is None for h in told.recall(BUDGET).hits)


def test_filters_hold_for_what_is_brought_in(told):
    found = told.recall(BUDGET, session="a")
    assert TOLD[2]["content"] not in {h.memory.content for h in found.hits}


def test_another_namespace_updates_nothing(opening):
    memory = opening()
    memory.ingest(TOLD[:2])
    memory.ingest(TOLD[2:], "elsewhere")
    assert all(h.updated_by is None for h in memory.recall(BUDGET).hits)


@pytest.mark.behaviour("UP16")
def test_comparing_writes_nothing(told, path):
    before = tables(path)
    told.recall(BUDGET, touch=False)
    assert tables(path) == before


def test_why_not_knows_the_place_that_watching_gave(told):
    old = next(m for m in told.list() if m.content == TOLD[0]["content"])
    assert "place 2" in told.why_not(old.id, BUDGET).explanation
    assert told.why_not(old.id, BUDGET, limit=1).kept_out_by == "rank"


def test_an_answer_as_json_names_the_update(told):
    hits = told.recall(BUDGET).to_dict()["hits"]
    assert (hits[1]["updated_by"], hits[1]["contested_with"]) == (hits[0]["memory"]["id"], [])


@pytest.mark.behaviour("UP17")
def test_what_has_changed_since_is_not_kept_in_view(told):
    shown = told.digest()
    assert TOLD[2]["content"] in shown
    assert TOLD[1]["content"] in shown
    assert TOLD[0]["content"] not in shown
    newest = next(m for m in told.list() if m.content == TOLD[2]["content"])
    told.archive(newest.id, "wrong")
    assert TOLD[0]["content"] in told.digest()


@pytest.mark.behaviour("UP18")
def test_what_is_pinned_stays_in_view(told):
    old = next(m for m in told.list() if m.content == TOLD[0]["content"])
    told.pin(old.id)
    assert TOLD[0]["content"] in told.digest()


def test_a_digest_that_is_told_not_to_watch_shows_both(opening):
    memory = opening({**WORDS_ONLY, "knowledge": {"watch": False}})
    memory.ingest(TOLD)
    assert all(message["content"] in memory.digest() for message in TOLD)


@pytest.mark.behaviour("UP19")
def test_a_later_value_that_is_not_said_as_a_change_stands_first_but_is_not_called_one(opening):
    memory = opening()
    told = ["I have 45 sources in my Zotero library.", "The soup was good.", "I have 52 sources in my Zotero library."]
    memory.ingest([{"content": text, "role": "user", "session": "a"} for text in told])
    for question in ("How many sources are in my Zotero library?", "sources Zotero library"):
        assert flags(memory.recall(question))[:2] == [(told[2], None, []), (told[0], None, [])]
    assert all(text in memory.digest() for text in told)
