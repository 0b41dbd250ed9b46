"""Every door shows which hits are about one thing, which is newer, and whether they differ."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from rich.console import Console

import perdure
from perdure.interfaces.views import Request, view_of
from perdure.interfaces.views.model import render_text
from perdure.interfaces.views.terminal import draw


@pytest.fixture
def memory():
    with perdure.open(":memory:", {"embedder": {"model": "none"}}) as opened:
        yield opened


def shown(answer):
    """Return an answer as a terminal and as a model shows it."""
    written = StringIO()
    blocks = view_of(answer, Request("recall"))
    draw(Console(file=written, width=200), blocks)
    return written.getvalue(), render_text(blocks)


def test_a_hit_names_the_newer_and_the_older_one_and_says_that_they_differ(memory):
    old = memory.remember("My grocery budget is $500 monthly.")
    new = memory.remember("My grocery budget was increased to $550 monthly.")
    answer = memory.recall("what is my grocery budget?")
    assert [(h.memory.id, h.newer, h.older) for h in answer.hits] == [(new.id, (), (old.id,)), (old.id, (new.id,), ())]
    for text in shown(answer):
        assert "older, compare: number 2" in text
        assert "newer, compare: number 1" in text
    assert json.loads(json.dumps(answer.to_dict()))["hits"][1]["newer"] == [new.id]


def test_a_person_is_told_why_a_less_relevant_hit_stands_first(memory):
    memory.remember("My grocery budget is $500 monthly.")
    memory.remember("My grocery budget was increased to $550 monthly.")
    answer = memory.recall("what is my grocery budget?")
    assert answer.hits[0].relevance < answer.hits[1].relevance
    person, model = shown(answer)
    told = "A newer memory stands before an older one about the same thing."
    assert person.startswith(told)
    assert told not in model
    memory.remember("The cat sleeps in the kitchen, and the dog in the hall.")
    memory.remember("The cat sleeps.")
    answer = memory.recall("Where does the cat sleep?")
    assert len(answer.hits) > 1
    assert sorted(answer.hits, key=lambda hit: -hit.score) == list(answer.hits)
    assert not shown(answer)[0].startswith(("A newer memory stands", "Not in order"))
