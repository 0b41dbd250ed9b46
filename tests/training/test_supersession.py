"""The data of the model that tells what a later statement makes untrue: its form, and that nothing judges itself."""

import json
from pathlib import Path

import pytest

TRAINING = Path(__file__).parents[2] / "training"
LATER = {"over", "other", "same", "conflict"}


def rows(name):
    return [json.loads(line) for line in (TRAINING / "supersession" / f"{name}.jsonl").read_text("utf-8").splitlines()]


@pytest.fixture(scope="module")
def groups():
    return rows("groups")


@pytest.fixture(scope="module")
def conversations():
    return rows("conversations")


def test_every_group_has_later_statements_of_both_sorts(groups):
    assert len(groups) >= 1400
    assert {key for g in groups for key in g} == LATER | {"lang", "kind", "earlier"}
    assert [g["earlier"] for g in groups if not g["over"] or len(g["other"]) < 2] == []
    texts = [(g["earlier"], text) for g in groups for key in LATER for text in g.get(key, ())]
    assert len(texts) == len(set(texts))


def test_pairs_of_a_conversation_name_a_later_and_an_earlier_message(conversations):
    assert len(conversations) >= 250
    for row in conversations:
        pairs = [*map(tuple, row["outdates"]), *map(tuple, row["conflicts"])]
        assert len(pairs) == len(set(pairs))
        assert [p for p in pairs if not 0 <= p[1] < p[0] < len(row["messages"])] == []


def test_nothing_that_judges_the_model_is_trained_on(groups, conversations):
    judged = "\n".join(
        path.read_text("utf-8")
        for folder, end in (("days", "toml"), ("changed", "jsonl"))
        for path in (TRAINING / folder).glob(f"*.{end}")
    )
    own = [text for row in conversations for text in row["messages"]]
    own += [text for g in groups for text in (g["earlier"], *(t for key in LATER for t in g.get(key, ())))]
    assert [text for text in own if len(text) > 25 and text in judged] == []
