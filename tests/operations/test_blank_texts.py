"""A text of which nothing shows is no text: every verb that takes one refuses it."""

from __future__ import annotations

import pytest

from conftest import tables
from perdure.records.errors import InvalidInput

BLANK = {
    "joiners": "\u200b\u200b",
    "a mark of direction": " \u200e\ufeff",
    "fillers": "\u3164\u2800\u115f",
    "a soft hyphen and a variant": "\u00ad\ufe0f",
}
GIVE = {
    "remember": lambda memory, _, text: memory.remember(text),
    "remember_many": lambda memory, _, text: memory.remember_many(["The kettle is blue.", text]),
    "update": lambda memory, kept, text: memory.update(kept, text),
    "correct": lambda memory, kept, text: memory.correct(kept, text),
    "extract": lambda memory, _, text: memory.extract(text),
    "recall": lambda memory, _, text: memory.recall(text),
    "answer_sheet": lambda memory, _, text: memory.answer_sheet(text),
    "archive": lambda memory, kept, text: memory.archive(kept, text),
    "tags": lambda memory, _, text: memory.remember("The kettle is blue.", tags=[text]),
}


@pytest.mark.parametrize("blank", BLANK)
@pytest.mark.parametrize("verb", GIVE)
def test_what_shows_nothing_is_refused_as_empty(memory, path, verb, blank):
    kept = memory.remember("The deploy is on Tuesday.").id
    before = tables(path)
    with pytest.raises(InvalidInput, match="is empty"):
        GIVE[verb](memory, kept, BLANK[blank])
    assert tables(path) == before


@pytest.mark.parametrize("text", ["\U0001f642", "\u2764\ufe0f", "?", "e\u0301", "\u200f\u05d0"])
def test_what_shows_anything_is_a_text(memory, text):
    assert memory.remember(text).memory.content == text
