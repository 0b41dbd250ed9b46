"""What holds now instead: the new words stand for the old memory, which is superseded and linked, in one operation."""

from __future__ import annotations

import pytest

from conftest import WORDS_ONLY, logical, tables
from perdure.records.errors import InvalidInput, NotFound

LABELS = {
    "tags": ["ops", "db"],
    "metadata": {"owner": "Ana"},
    "importance": 0.8,
    "pinned": True,
    "kind": "procedure",
    "session": "monday",
    "task": "move",
}


def test_the_new_words_have_the_labels_of_the_old_and_stand_for_them(memory, path):
    old = memory.remember("The staging database is pg-stage-1.", **LABELS).memory
    before = logical(path)
    done = memory.update(old.id, "The staging database is pg-stage-2.")
    assert (done.changed, done.operation) == (True, memory.history()[0].id)
    assert memory.history()[0].operation == "update"
    new = memory.get(done.id)
    assert new == done.memory
    assert new.content == "The staging database is pg-stage-2."
    same = ("tags", "metadata", "importance", "pinned", "kind", "session", "task", "scope", "source", "namespace")
    assert [getattr(new, name) for name in same] == [getattr(old, name) for name in same]
    assert memory.get(old.id) is None
    assert memory.get(old.id, include_archived=True).status == "superseded"
    assert memory.why(old.id).links == (("superseded_by", new.id, 1.0),)
    found = memory.recall("staging database", inside="monday").hits
    assert [hit.memory.id for hit in found] == [new.id]
    memory.undo(done.operation)
    assert logical(path) == before


def test_the_same_words_change_nothing(memory, path):
    old = memory.remember("The staging database is pg-stage-1.")
    before = tables(path)
    done = memory.update(old.id, "The staging database is pg-stage-1.")
    assert (done.id, done.changed, done.operation) == (old.id, False, None)
    assert tables(path) == before


def test_words_may_be_written_better(memory):
    old = memory.remember("ana likes tea.")
    done = memory.update(old.id, "Ana likes tea.")
    assert (done.id != old.id, done.memory.content) == (True, "Ana likes tea.")


@pytest.mark.parametrize("archived", [False, True])
def test_words_that_another_memory_has_are_not_stored_twice(memory, path, archived):
    old = memory.remember("The deploy is on Monday.", tags=["a"], importance=0.9)
    other = memory.remember("The deploy is on Tuesday.", tags=["b"])
    if archived:
        memory.archive(other.id, "a test")
    before = logical(path)
    done = memory.update(old.id, "the deploy is on tuesday.")
    assert (done.id, set(done.memory.tags), done.memory.importance) == (other.id, {"a", "b"}, 0.9)
    assert [m.id for m in memory.list()] == [other.id]
    memory.undo(done.operation)
    assert logical(path) == before


def test_a_message_is_replaced_where_it_was_said(memory):
    memory.ingest([{"content": f"It was said as number {n}.", "role": "user"} for n in range(3)], session="talk")
    first, second, third = sorted(memory.list(session="talk"), key=lambda m: m.content)
    done = memory.update(second.id, "It was said as number 1, with a correction.")
    assert (done.memory.kind, done.memory.session) == ("episode", "talk")
    assert {m.id for m in memory.list(session="talk")} == {first.id, done.id, third.id}


def test_an_open_question_about_the_old_words_is_closed_and_comes_back_with_them(memory, path):
    old = memory.remember("The deploy is on Monday.")
    memory.used([old.id], "wrong")
    assert [q.id for q in memory.review()] == [old.id]
    before = logical(path)
    done = memory.update(old.id, "The deploy is on Tuesday.")
    assert memory.review() == []
    memory.undo(done.operation)
    assert logical(path) == before


def test_hidden_memories_and_unknown_ones_are_refused_with_a_remedy(memory, path):
    archived, replaced = (memory.remember(f"Number {n}.").id for n in range(2))
    memory.archive(archived, "a test")
    memory.update(replaced, "Number 3.")
    before = tables(path)
    last = memory.list()[0].id
    for identity, remedy in (
        (archived, "Use `restore` first."),
        (replaced, f"Update {last}, which stands in its place."),
    ):
        with pytest.raises(InvalidInput) as refused:
            memory.update(identity, "Something else.")
        assert remedy in refused.value.remedy
    with pytest.raises(NotFound):
        memory.update("019b76da-a800-7000-817f-e910d1ed13e3", "Something else.")
    assert tables(path) == before


def test_a_fact_is_corrected_instead(opening):
    memory = opening({**WORDS_ONLY, "preset": "facts"})
    memory.ingest([{"content": "Remember that Gai Media prefers Friday deliveries.", "role": "user"}], session="s")
    (fact,) = memory.facts("Gai Media")
    with pytest.raises(InvalidInput) as refused:
        memory.update(fact.id, "Gai Media prefers Thursday deliveries.")
    assert "correct" in refused.value.remedy


def test_a_fact_that_its_new_words_say_again_is_confirmed_and_stays_believed(memory, path):
    claim = {"subject": "Odile", "predicate": "prefers", "value": "Sunday deliveries"}
    memory.remember("Odile prefers Sunday deliveries.", facts=[claim])
    [fact] = memory.facts()
    rows = logical(path)
    changed = memory.update(fact.id, "Odile still prefers Sunday deliveries, she said.", facts=[claim])
    assert changed.facts.reinforced == (fact.id,)
    [still] = memory.facts()
    assert (still.id, still.state, still.confirmations, still.superseded_by) == (fact.id, "active", 2, ())
    memory.undo(changed.operation)
    assert logical(path) == rows


def test_secrets_in_the_new_words_are_replaced_and_outsiders_words_stay_theirs(opening):
    memory = opening(WORDS_ONLY)
    old = memory.remember("The key is elsewhere.", source="https://example.org")
    with pytest.warns(match="1 secret was replaced"):
        done = memory.update(old.id, "The key is AKIAQ7ZK3TNWV5LPX2RD, use it.")
    assert "AKIAQ7ZK3TNWV5LPX2RD" not in done.memory.content
    assert done.memory.metadata == old.memory.metadata == {"trust": "external"}


def test_what_is_forgotten_is_archived_with_a_reason_and_comes_back(memory):
    kept = memory.remember("The deploy is on Monday.")
    done = memory.forget(kept.id)
    assert (done.id, done.memory.status, done.operation) == (kept.id, "archived", memory.history()[0].id)
    assert "forgotten by request" in memory.history(kept.id)[-1].because
    assert memory.forget(kept.id).operation is None
    assert memory.restore(kept.id).memory.status == "active"
    assert memory.forget(kept.id, "it moved").changed
    assert "it moved" in memory.history(kept.id)[-1].because


def test_why_says_that_an_update_was_undone(memory):
    kept = memory.remember("The staging server listens on port 8081.")
    memory.undo(memory.update(kept.id, "The staging server listens on port 9090.").operation)
    assert "Last entry: undone: superseded: updated" in memory.why(kept.id).summary


HOME, DRINK, PET = (
    {"subject": "Tom", "predicate": predicate, "value": value}
    for predicate, value in (("home", "Rome"), ("drink", "tea"), ("pet", "a dog"))
)


def fact_of(memory, value):
    return next(fact.id for fact in memory.facts() if fact.value == value)


def test_a_fact_that_is_kept_rests_on_the_new_words_and_the_others_are_named(memory, path):
    old = memory.remember("Tom of Rome drinks tea and has a dog.", facts=[HOME, DRINK, PET])
    home, drink, pet = (fact_of(memory, value) for value in ("Rome", "tea", "a dog"))
    before = logical(path)
    done = memory.update(old.id, "Tom of Rome drinks coffee.", keeps=[home, pet[-8:]])
    assert {fact.id for fact in memory.facts()} == {home, pet}
    assert [(fact.id, fact.content) for fact in done.facts.replaced] == [(drink, "Tom: drink: tea")]
    assert set(done.facts.reinforced) == {home, pet}
    quotes = {fact.id: dict(fact.sources)[done.id] for fact in memory.facts()}
    assert quotes == {home: "Rome", pet: "Tom of Rome drinks coffee."}
    again = memory.update(done.id, "Tom drinks coffee.")
    assert {fact.id for fact in again.facts.replaced} == {home, pet}
    memory.undo(again.operation)
    memory.undo(done.operation)
    assert logical(path) == before


def test_only_facts_of_the_old_memory_that_hold_beside_the_new_ones_can_be_kept(memory, path):
    old = memory.remember("Tom lives in Rome.", facts=[HOME])
    memory.remember("Tom drinks tea.", facts=[DRINK])
    home, drink = fact_of(memory, "Rome"), fact_of(memory, "tea")
    before = tables(path)
    turin = [{**HOME, "value": "Turin"}]
    for keeps, facts, said in (([drink], (), "rests on"), ([old.id], (), "rests on"), ([home], turin, "replaced")):
        with pytest.raises(InvalidInput, match=said) as refused:
            memory.update(old.id, "Tom has moved.", facts, keeps=keeps)
        assert "nothing was stored" in str(refused.value)
    unknown = "019b76da-a800-7000-817f-e910d1ed13e3"
    with pytest.raises(InvalidInput, match="rests on"):
        memory.update(old.id, "Tom has moved.", keeps=[unknown])
    assert tables(path) == before
    plain = memory.remember("The deploy is on Monday.")
    before = tables(path)
    with pytest.raises(InvalidInput, match="rests on"):
        memory.update(plain.id, "The deploy is on Tuesday.", keeps=[drink])
    assert tables(path) == before
