"""Two people whose first names are spelt alike are two; what was taken for another name can be split off by it."""

from __future__ import annotations

import pytest

from conftest import WORDS_ONLY, logical

KATHARINA = {"subject": "Katharina Weber", "predicate": "role", "value": "QA lead"}
KATARINA = {"subject": "Katarina Weber", "predicate": "role", "value": "intern"}


@pytest.fixture
def memory(opening):
    return opening(WORDS_ONLY)


def roles(memory, name):
    return [(f.name, f.value, bool(f.contested)) for f in memory.facts(name)]


def test_full_names_with_other_first_names_are_two_people(memory):
    memory.remember("Katharina Weber leads QA.", facts=[KATHARINA])
    memory.remember("Katarina Weber is the new intern.", facts=[KATARINA])
    memory.remember("Katrina Weber sells.", facts=[{**KATARINA, "subject": "Katrina Weber", "value": "sales"}])
    assert roles(memory, "Katharina Weber") == [("Katharina Weber", "QA lead", False)]
    assert roles(memory, "Katarina Weber") == [("Katarina Weber", "intern", False)]
    assert roles(memory, "Katrina Weber") == [("Katrina Weber", "sales", False)]
    erased = {line.text for line in memory.erase(subject="Katarina Weber", reason="she asked").lines}
    assert erased == {"Katarina Weber is the new intern.", "Katarina Weber: role: intern"}


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ("Katharina", "Katarina"),
        ("Katharina Weber", "Katharina Webber"),
        ("Katharina Weber", "Weber Katharina"),
        ("José Alvarez", "Jose Alvarez"),
        ("Consolidated Media Ltd", "Consolideted Media Ltd"),
        ("infrastructure branch", "infrastructere branch"),
    ],
)
def test_other_near_names_mean_the_same(memory, known, said):
    memory.remember("One.", facts=[{**KATHARINA, "subject": known}])
    memory.remember("Two.", facts=[{**KATHARINA, "subject": said, "predicate": "office", "value": "Kiel"}])
    assert [e.name for e in memory.entities()] == [known]


def test_what_was_told_to_be_an_alias_is_the_same_person_and_splits_off_with_what_was_said(memory, path):
    memory.remember("Katharina Weber leads QA.", facts=[KATHARINA])
    memory.alias("Katharina Weber", "Katarina Weber")
    said = memory.remember("Katarina Weber sits in Kiel.", facts=[{**KATARINA, "predicate": "office", "value": "Kiel"}])
    assert len(roles(memory, "Katharina Weber")) == 2
    before = logical(path)
    split = memory.split_entity("Katharina Weber", "Katarina Weber")
    assert (split.memories, split.facts) == (1, said.facts.created)
    assert roles(memory, "Katarina Weber") == [("Katarina Weber", "Kiel", False)]
    assert roles(memory, "Katharina Weber") == [("Katharina Weber", "QA lead", False)]
    memory.undo(split.operations[0])
    assert logical(path) == before


def test_a_near_name_that_was_taken_for_another_splits_off_by_the_name_that_was_written(memory):
    memory.remember("Katharina leads QA.", facts=[{**KATHARINA, "subject": "Katharina"}])
    said = memory.remember("Katarina is an intern.", facts=[{**KATARINA, "subject": "Katarina"}])
    assert [(taken.name, taken.taken_for) for taken in said.facts.taken] == [("Katarina", "Katharina")]
    assert [e.name for e in memory.entities()] == ["Katharina"]
    split = memory.split_entity("Katharina", "Katarina")
    assert (split.memories, split.facts) == (1, said.facts.created)
    assert roles(memory, "Katarina") == [("Katarina", "intern", False)]
    assert roles(memory, "Katharina") == [("Katharina", "QA lead", False)]
    assert memory.review() == []
