"""A question that names somebody by an alias that stands in no memory is searched by the name that memories have."""

from __future__ import annotations

import pytest

from conftest import WORDS_ONLY

HOME = {"subject": "Anna Weber", "predicate": "home", "value": "Kiel"}


@pytest.fixture(params=["balanced", "facts"])
def memory(opening, request):
    memory = opening({**WORDS_ONLY, "preset": request.param})
    memory.learn(claims=[HOME, {**HOME, "subject": "Tom Smith", "value": "Rome"}])
    memory.alias("anna-weber", "Annika")
    memory.remember("The printer of room 7 is out of paper.")
    return memory


def contents(found):
    return [hit.memory.content for hit in found.hits]


@pytest.mark.parametrize(
    ("question", "searched"),
    [
        ("Where does Annika live?", "Where does Anna Weber live?"),
        ("Wo wohnt Annika?", "Wo wohnt Anna Weber?"),
        ("annika", "Anna Weber"),
        ("What is Annika's home?", "What is Anna Weber's home?"),
    ],
)
def test_an_alias_that_no_memory_has_is_searched_as_the_name_that_memories_have(memory, question, searched):
    found = memory.recall(question, touch=False)
    assert contents(found)[0] == "Anna Weber: home: Kiel"
    assert f'searched as "{searched}"' in found.note
    assert found.query == question
    assert memory.why_not(found.hits[0].memory.id, question).rank == 1


def test_an_alias_that_stands_in_a_memory_is_searched_as_it_is(memory):
    memory.remember("Annika has a key to room 7.")
    found = memory.recall("Does Annika have a key?", touch=False)
    assert contents(found) == ["Annika has a key to room 7."]
    assert "searched as" not in found.note


def test_a_name_that_several_share_and_one_that_nobody_has_are_left_as_they_are(memory):
    memory.alias("tom-smith", "Annika")
    for question in ("Wo wohnt Annika?", "Wo wohnt Ottokar?"):
        assert "searched as" not in memory.recall(question, touch=False).note


def test_an_alias_of_one_that_was_merged_names_whom_it_was_merged_into(memory):
    memory.learn(claims=[{**HOME, "subject": "A. Weber", "predicate": "phone", "value": "555-1234"}])
    memory.alias("a-weber", "Nika")
    memory.merge_entities("a-weber", "anna-weber")
    assert contents(memory.recall("Wo wohnt Nika?", touch=False))[0] == "Anna Weber: home: Kiel"
    memory.undo(memory.history()[0].id)
    assert 'searched as "Wo wohnt A. Weber?"' in memory.recall("Wo wohnt Nika?", touch=False).note
