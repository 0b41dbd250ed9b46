"""A note of which only a part holds: what of it is over is said in words, and the rest is not lost with it."""

from __future__ import annotations

import pytest

from conftest import WORDS_ONLY
from perdure.interfaces.views import Request
from perdure.interfaces.views.memory import view_recall
from perdure.interfaces.views.model import render_text

NOTE = "Mia is vegetarian and allergic to nuts."
FACTS = [
    {"subject": "Mia", "predicate": "diet", "value": "vegetarian"},
    {"subject": "Mia", "predicate": "allergy", "value": "nuts"},
]
QUESTION = "Is Mia vegetarian?"


@pytest.fixture
def memory(opening):
    return opening(WORDS_ONLY)


@pytest.mark.parametrize("facts", [[], FACTS], ids=["words", "facts"])
@pytest.mark.parametrize("change", ["Mia is no longer vegetarian.", "Mia is pescatarian instead of vegetarian."])
def test_what_a_later_note_takes_back_is_told_and_the_rest_still_holds(memory, clock, facts, change):
    note = memory.remember(NOTE, facts=facts)
    clock.passes(days=10)
    later = memory.remember(change)
    clock.passes(days=1)
    found = memory.recall(QUESTION, touch=False)
    hit = next(h for h in found.hits if h.memory.id == note.id)
    assert hit.updated_by is None
    assert [(o.content, o.over, o.since[:10], o.replaced_by) for o in hit.over] == [
        ("vegetarian", "replaced", "2026-01-11", later.id)
    ]
    assert "no longer holds: vegetarian (replaced 2026-01-11" in render_text(view_recall(found, Request("recall", {})))
    for shown in (memory.digest(), memory.agent.opening("s2", "default")):
        assert f"{NOTE} (no longer holds: vegetarian)" in shown


def test_beside_a_prompt_it_is_told_too(memory, clock):
    memory.remember(NOTE)
    clock.passes(days=10)
    memory.remember("Mia is no longer vegetarian.")
    assert 'no longer holds: "vegetarian"' in memory.agent.beside(QUESTION, "s1", "default")


def test_a_note_that_says_no_more_than_what_is_taken_back_is_over_as_a_whole(memory, clock):
    note = memory.remember("Mia has been vegetarian for years.")
    clock.passes(days=10)
    later = memory.remember("Mia is no longer vegetarian.")
    hit = next(h for h in memory.recall("Is Mia vegetarian?", touch=False).hits if h.memory.id == note.id)
    assert (hit.updated_by, hit.over) == (later.id, ())
    assert "for years" not in memory.digest()
