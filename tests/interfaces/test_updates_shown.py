"""Every door says what has changed since a hit and what contradicts it."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from perdure.interfaces.mcp.results import recalled
from rich.console import Console

import perdure
from perdure.interfaces.mcp import texts as mcp_texts
from perdure.interfaces.views.rendering import show_recall


@pytest.fixture
def memory():
    with perdure.open(":memory:", {"embedder": {"model": "none"}}) as opened:
        yield opened


def told(memory, *texts):
    return [memory.remember(text) for text in texts]


def shown(answer):
    written = StringIO()
    show_recall(Console(file=written, width=200), answer)
    return written.getvalue()


def test_a_hit_says_that_a_later_message_says_otherwise(memory):
    old, new = told(memory, "My grocery budget is $500 monthly.", "My grocery budget was increased to $550 monthly.")
    answer = memory.recall("what is my grocery budget?")
    assert "a later message says otherwise: number 1" in shown(answer)
    data = recalled(answer)
    assert [(h["id"], h["updated_by"]) for h in data["hits"]] == [(new.id, None), (old.id, new.id)]
    assert f"a later message says otherwise: {new.id}" in mcp_texts.recalled(data)
    assert json.loads(json.dumps(answer.to_dict()))["hits"][1]["updated_by"] == new.id


def test_both_sides_of_a_contradiction_say_so(memory):
    one, other = told(memory, "I visited Rome in May.", "I've never visited Rome.")
    answer = memory.recall("have I visited Rome?")
    assert shown(answer).count("says otherwise; ask which is right") == 2
    data = recalled(answer)
    assert {h["id"]: h["contested_with"] for h in data["hits"]} == {one.id: [other.id], other.id: [one.id]}
    assert mcp_texts.recalled(data).count("ask which is right") == 2


def test_a_message_that_contradicts_itself_says_so(memory):
    told(memory, "I've never solved any chess puzzles, but I recently solved 15 chess puzzles.")
    answer = memory.recall("chess puzzles")
    assert "it contradicts itself" in shown(answer)
    assert "contradicts itself" in mcp_texts.recalled(recalled(answer))
