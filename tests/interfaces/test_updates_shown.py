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
