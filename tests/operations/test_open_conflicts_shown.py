"""What a recall shows of two values between which nobody has decided: both, the latest word first, each marked."""

from __future__ import annotations

import pytest

from conftest import HASHED, HashEmbedder

BERLIN = {"subject": "Lena", "predicate": "lives_in", "value": "Berlin"}
MUNICH = {**BERLIN, "value": "Munich"}


@pytest.fixture
def memory(opening, clock):
    memory = opening()
    memory.berlin = memory.remember("Lena lives in Berlin.", facts=[BERLIN]).id
    clock.passes(hours=1)
    memory.munich = memory.remember("Lena moved to Munich in October.", facts=[MUNICH]).id
    return memory


def contents(memory, question, **limits):
    return [hit.memory.content for hit in memory.recall(question, **limits).hits]


def test_what_was_said_later_stands_first_and_each_side_names_the_other(memory):
    first, second = memory.recall("Where does Lena live?").hits[:2]
    assert (first.memory.content, first.contested_with) == ("Lena: home: Munich", (memory.berlin,))
    assert (second.memory.id, second.contested_with) == (memory.berlin, (first.memory.id,))


def test_notes_that_are_in_conflict_name_each_other(opening, clock):
    memory = opening(HASHED, HashEmbedder())
    old = memory.remember("Lena lives in Berlin with two cats and a dog.", facts=[BERLIN]).id
    clock.passes(hours=1)
    new = memory.remember("In October Lena moved to Munich, to a flat by the river.", facts=[MUNICH]).id
    shown = memory.recall("Does Lena live in Berlin or in Munich?").hits
    notes = [(hit.memory.id, hit.contested_with) for hit in shown if hit.memory.kind == "note"]
    assert notes == [(new, (old,)), (old, (new,))]


def test_a_question_about_the_past_keeps_the_order_of_relevance(memory):
    assert contents(memory, "Where did Lena live originally, who lives in Berlin?")[0] == "Lena lives in Berlin."


def test_what_is_not_found_by_words_is_shown_beside_what_it_conflicts_with(memory, clock):
    clock.passes(hours=1)
    memory.remember(
        "The Tuesday courier is Ruiz.", facts=[{"subject": "Alba", "predicate": "courier", "value": "Ruiz"}]
    )
    clock.passes(hours=1)
    memory.remember("Now it is Olsen.", facts=[{"subject": "Alba", "predicate": "courier", "value": "Olsen"}])
    found = contents(memory, "Tuesday courier Ruiz")
    assert {"The Tuesday courier is Ruiz.", "Alba: courier: Olsen"} <= set(found)
    assert found.index("Alba: courier: Olsen") < found.index("The Tuesday courier is Ruiz.")


def test_what_was_decided_is_marked_no_more(memory):
    older, newer = memory.facts("Lena")
    memory.confirm(max(older.id, newer.id))
    shown = memory.recall("Where does Lena live?").hits
    assert not any(hit.contested_with for hit in shown)
    assert shown[0].memory.content != "Lena lives in Berlin."


def test_the_notes_of_both_sides_are_marked_where_memories_are_listed_unasked(memory):
    for shown in (memory.digest(), memory.agent.opening("s1", "default")):
        assert "- Lena moved to Munich in October. (conflicts with Berlin - undecided)" in shown
        assert "- Lena lives in Berlin. (conflicts with Munich - undecided)" in shown
    memory.confirm(next(f.id for f in memory.facts("Lena") if f.value == "Munich"))
    assert "undecided" not in memory.digest()


def test_a_limit_and_a_kind_hold(memory):
    assert len(contents(memory, "Where does Lena live?", limit=1)) == 1
    kinds = {hit.memory.kind for hit in memory.recall("Where does Lena live?", kinds=["note"]).hits}
    assert kinds == {"note"}
