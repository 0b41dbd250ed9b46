"""A use that was reported as helpful keeps a fact from being asked about, and is not called a word of anybody."""

from __future__ import annotations

import pytest

PORT = {"subject": "preview map", "predicate": "port", "value": "4180"}
QUESTION = "On which port does the preview map run?"


@pytest.fixture
def fact(memory):
    memory.remember("The preview map runs on port 4180.", facts=[PORT])
    return memory.facts("preview map")[0].id


def used(memory, fact, times):
    for _ in range(times):
        memory.used([fact], "helpful", recall_id=memory.recall(QUESTION).id)


def test_why_tells_how_often_it_was_said_and_how_often_used(memory, fact):
    assert memory.why(fact).fact.next[0].startswith("It ages at")
    used(memory, fact, 2)
    assert memory.why(fact).fact.next == ("It does not age: it was said once and used twice (3 in all are enough).",)
    memory.confirm(fact)
    used(memory, fact, 1)
    assert memory.why(fact).fact.next == (
        "It does not age: it was said or confirmed twice and used 3 times (3 in all are enough).",
    )


def test_one_that_is_used_is_not_asked_about_unless_only_words_count(opening, clock):
    for needed, asked in ((3, False), (100, True)):
        memory = opening({"embedder": {"model": "none"}, "knowledge": {"aging_reinforcements": needed}}, at=":memory:")
        memory.remember("The preview map runs on port 4180.", facts=[PORT])
        fact = memory.facts("preview map")[0].id
        used(memory, fact, 2)
        clock.passes(days=100)
        assert ([q.id for q in memory.review()] == [fact]) is asked
