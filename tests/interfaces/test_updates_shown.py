"""Every door says what has changed since a hit and what contradicts it."""

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


def told(memory, *texts):
    return [memory.remember(text) for text in texts]


def shown(answer):
    """Return an answer as a terminal and as a model shows it."""
    written = StringIO()
    blocks = view_of(answer, Request("recall"))
    draw(Console(file=written, width=200), blocks)
    return written.getvalue(), render_text(blocks)


def test_a_hit_says_that_a_later_message_says_otherwise(memory):
    old, new = told(memory, "My grocery budget is $500 monthly.", "My grocery budget was increased to $550 monthly.")
    answer = memory.recall("what is my grocery budget?")
    assert [(h.memory.id, h.updated_by) for h in answer.hits] == [(new.id, None), (old.id, new.id)]
    for text in shown(answer):
        assert "a later message says otherwise: number 1" in text
    assert json.loads(json.dumps(answer.to_dict()))["hits"][1]["updated_by"] == new.id


def test_both_sides_of_a_contradiction_say_so(memory):
    one, other = told(memory, "I visited Rome in May.", "I've never visited Rome.")
    answer = memory.recall("have I visited Rome?")
    assert {h.memory.id: h.contested_with for h in answer.hits} == {one.id: (other.id,), other.id: (one.id,)}
    for text in shown(answer):
        assert text.count(": ask which is right") == 2


def test_a_message_that_contradicts_itself_says_so(memory):
    told(memory, "I've never solved any chess puzzles, but I recently solved 15 chess puzzles.")
    for text in shown(memory.recall("chess puzzles")):
        assert "contradicts itself: ask which is right" in text
