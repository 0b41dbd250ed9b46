"""used: what became of a hit. Returning a memory is no use of it (field.md, complaint 7)."""

from __future__ import annotations

import pytest

from conftest import HashEmbedder, bare_fact, logical, tables
from perdure.records.errors import InvalidInput
from perdure.records.memory import Shelf


def shelf(raw_store, name, namespace="default"):
    return raw_store.documents.page(namespace, Shelf(name), ("", ""), 100)


@pytest.fixture
def kept(memory):
    return memory.remember("the deploy is on tuesday")


@pytest.mark.behaviour("SG40")
def test_helpful_reinforces_and_remembers_the_question(memory, kept, raw_store):
    answer = memory.recall("when is the deploy")
    before = memory.get(kept.id)
    found = memory.used([kept.id], recall_id=answer.id)
    assert (found.outcome, found.counted, found.repeated, found.not_found) == ("helpful", (kept.id,), (), ())
    after = memory.get(kept.id)
    # 0.02 was added by the recall on the same day: 0.1 x 0.9^0.2
    assert after.importance - before.importance == pytest.approx(0.1 * 0.9**0.2)
    assert after.state.reinforcements == before.state.reinforcements + 1
    assert after.strength > before.strength
    assert after.access_count == before.access_count == 1  # the recall was the access
    (document,) = shelf(raw_store, "outcome")
    assert (document.id, document.name) == (kept.id, answer.id)
    assert document.data == {"outcome": "helpful", "query": "when is the deploy", "at_ms": after.state.strength_ms}


def test_the_newest_recall_that_returned_it_is_meant_where_none_is_named(memory, kept, clock, raw_store):
    memory.recall("deploy monday")
    clock.passes(minutes=1)
    newest = memory.recall("deploy tuesday")
    clock.passes(minutes=1)
    memory.remember("lunch is at noon")
    memory.recall("lunch noon")
    memory.used([kept.id])
    (document,) = shelf(raw_store, "outcome")
    assert (document.name, document.data["query"]) == (newest.id, "deploy tuesday")


def test_a_recall_that_the_log_does_not_have_is_told(memory, kept):
    found = memory.used([kept.id], recall_id="nope")
    assert found.counted == (kept.id,)
    assert found.note.startswith(f"the recall log has no recall nope that returned {kept.id};")
    other = memory.remember("lunch is at noon")
    answer = memory.recall("when is the deploy", limit=1)
    assert memory.used([other.id], recall_id=answer.id).note
    assert memory.used([kept.id], recall_id=answer.id).note == ""
    assert memory.used([kept.id]).note == ""


@pytest.mark.behaviour("SG42")
def test_the_same_memory_and_recall_count_once(memory, kept, path):
    memory.recall("deploy tuesday")
    memory.used([kept.id, kept.id])
    before = tables(path)
    again = memory.used([kept.id])
    assert (again.counted, again.repeated, again.operations) == ((), (kept.id,), ())
    assert tables(path) == before
    memory.recall("deploy tuesday")
    assert memory.used([kept.id]).counted == (kept.id,)  # another recall is another use
    assert memory.get(kept.id).state.reinforcements == 2


def test_a_use_without_a_recall_counts_as_access_once(memory, kept, clock, raw_store):
    clock.passes(days=20)
    assert memory.used([kept.id]).counted == (kept.id,)
    one = memory.get(kept.id)
    assert (one.access_count, one.tier) == (1, "warm")
    (document,) = shelf(raw_store, "outcome")
    assert (document.name, document.data["query"]) == ("", "")
    assert memory.used([kept.id]).repeated == (kept.id,)


@pytest.mark.behaviour("SG43")
def test_wrong_halves_current_confidence_and_asks(opening, clock):
    memory = opening()
    kept = bare_fact(memory, "the deploy is on tuesday")
    clock.passes(days=30)
    memory.recall("deploy tuesday")
    before = memory.get(kept.id)
    memory.used([kept.id], "wrong")
    after = memory.get(kept.id)
    assert after.confidence == pytest.approx(before.confidence / 2)
    assert after.state.stability < before.state.stability
    assert (after.importance, after.state.reinforcements) == (before.importance, before.state.reinforcements)
    (question,) = memory.review()
    assert (question.id, question.why) == (kept.id, "it was wrong as an answer to 'deploy tuesday'")


def test_wrong_counts_after_helpful_and_not_the_other_way_round(memory, kept, raw_store):
    memory.recall("deploy tuesday")
    memory.used([kept.id])
    assert memory.used([kept.id], "wrong").counted == (kept.id,)
    assert [d.data["outcome"] for d in shelf(raw_store, "outcome")] == ["wrong"]
    assert memory.used([kept.id], "helpful").repeated == (kept.id,)
    assert memory.used([kept.id], "wrong").repeated == (kept.id,)
    assert memory.get(kept.id).confidence == pytest.approx(0.4)
    memory.recall("deploy tuesday")
    memory.used([kept.id], "wrong")
    assert memory.get(kept.id).confidence == pytest.approx(0.2)
    assert len(memory.review()) == 1  # one question, however often


@pytest.mark.behaviour("SG44")
def test_unused_changes_nothing(memory, kept, path):
    memory.recall("deploy tuesday")
    before = tables(path)
    found = memory.used([kept.id, "nobody"], "unused")
    assert (found.counted, found.not_found) == ((), ("nobody",))
    assert tables(path) == before


def test_unknown_and_archived_memories_are_listed(memory, kept):
    gone = memory.remember("gone", "elsewhere")
    memory.archive(gone.id, "test")
    found = memory.used(["nobody", kept.id, gone.id])
    assert (found.counted, found.not_found) == ((kept.id,), ("nobody", gone.id))
    assert found.to_dict()["counted"] == [kept.id]


@pytest.mark.behaviour("SG41")
def test_returning_a_memory_is_no_use(memory, kept, raw_store):
    for _ in range(5):
        memory.recall("deploy tuesday")
    memory.sweep()
    one = memory.get(kept.id)
    assert (one.access_count, one.state.reinforcements) == (5, 0)
    assert shelf(raw_store, "outcome") == []


@pytest.mark.behaviour("SG45")
@pytest.mark.parametrize("outcome", ["helpful", "wrong"])
def test_undo_restores_exactly(opening, path, clock, outcome, raw_store):
    memory = opening(embedder=HashEmbedder())
    ids = [memory.remember(f"note number {i}").id for i in range(3)]
    clock.passes(days=20)
    memory.recall("note number", limit=2)
    before, documents = logical(path), (shelf(raw_store, "outcome"), shelf(raw_store, "review"))
    memory.used(ids, outcome)
    after = logical(path)
    assert after != before
    operation = memory.undo(memory.history()[0].id).operation
    assert logical(path) == before
    assert (shelf(raw_store, "outcome"), shelf(raw_store, "review")) == documents == ([], [])
    memory.undo(operation)
    assert logical(path) == after
    assert len(shelf(raw_store, "outcome")) == 3


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"ids": "one"}, "list"),
        ({"ids": [], "outcome": "great"}, "helpful, wrong, unused"),
        ({"ids": [], "recall_id": 7}, "must be text"),
    ],
)
def test_what_makes_no_sense_is_refused(memory, given, words):
    with pytest.raises(InvalidInput, match=words):
        memory.used(**given)
