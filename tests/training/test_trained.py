"""The shipped weights are what `make train` makes; what a repetition may differ by, and what embedding may cost."""

import hashlib
import json
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "training"))

import second_reading
import speed
import trained
from corpus import conversations

ROOT = Path(__file__).parents[2]
CARD = (ROOT / "packages/perdure-embedder/README.md").read_text("utf-8")
PACKAGE = ROOT / "packages/perdure-embedder/src/perdure_embedder"


def test_the_shipped_weights_are_those_of_the_recorded_training_on_the_conversations_of_the_tree():
    record = trained.read_record()
    assert record["conversations"] == trained.conversations_digest()
    assert record["model_sha256"] == hashlib.sha256((PACKAGE / "model.onnx").read_bytes()).hexdigest()
    assert f'SHA256 = "{record["model_sha256"]}"' in (PACKAGE / "__init__.py").read_text("utf-8")


def test_the_recorded_training_is_the_recipe_of_the_script_and_took_no_longer_than_it_may():
    record, script = trained.read_record(), (ROOT / "training/train.py").read_text("utf-8")
    for name, value in record["recipe"].items():
        assert f"    {name}: {type(value).__name__} = {value}\n".replace("4e-05", "4e-5") in script
    assert 0 < record["processor_seconds"] <= 3600 * trained.MOST_HOURS


SHIPPED = {"conversations": "a", "recipe": {"epochs": 3}, "model_sha256": "b", "recall_at_10": 67.4}


@pytest.mark.parametrize(
    ("change", "repeats"),
    [
        ({}, True),
        ({"model_sha256": "c", "recall_at_10": 67.7}, True),
        ({"model_sha256": "c", "recall_at_10": 67.0}, False),
        ({"model_sha256": "c", "recall_at_10": 68.0}, False),
        ({"model_sha256": "c", "recall_at_10": 60.0, "recipe": {"epochs": 1}}, True),  # nothing to repeat
        ({"model_sha256": "c", "recall_at_10": 60.0, "conversations": "d"}, True),
    ],
    ids=["same bytes", "within", "below", "above", "another recipe", "other conversations"],
)
def test_a_training_of_the_same_data_and_recipe_that_reaches_something_else_is_refused(change, repeats):
    assert (list(trained.differences(SHIPPED, SHIPPED | change)) == []) is repeats


def test_another_conversation_or_another_question_is_another_training(tmp_path, monkeypatch):
    (tmp_path / "train").mkdir()
    monkeypatch.setattr(trained, "FOLDER", tmp_path)
    file = tmp_path / "train" / "01-one.questions.jsonl"
    file.write_text("{}\n", "utf-8")
    first = trained.conversations_digest()
    assert trained.conversations_digest() == first
    file.write_text('{"kind": "who"}\n', "utf-8")
    assert trained.conversations_digest() != first


def test_a_model_that_costs_more_than_the_one_before_is_too_slow():
    before = np.array([8.0, 10.0, 9.0])
    same, slow = (speed.ratios(before * factor, before) for factor in (1.04, 1.06))
    assert same == pytest.approx((1.04, 1.04, 1.04))
    assert list(speed.too_slow({"question": same, "message": same})) == []
    assert [fault.split()[1] for fault in speed.too_slow({"question": slow, "message": same})] == ["question"]


def rows():
    return [json.loads(line) for line in second_reading.RECORD.read_text("utf-8").splitlines()]


def test_a_second_reader_judged_a_tenth_of_every_conversations_questions():
    everything = [*conversations("train"), *conversations("test")]
    drawn = {(chat.name, number) for chat in everything for number in second_reading.drawn_questions(chat)}
    judged = [(row["conversation"], row["question"]) for row in rows()]
    assert sorted(judged) == sorted(drawn)
    assert len(judged) >= 0.1 * sum(len(chat.questions) for chat in everything)
    asked = {chat.name: chat for chat in everything}
    for row in rows():
        assert row["verdict"] in second_reading.VERDICTS
        chat = asked[row["conversation"]]
        listed = set(chat.questions[row["question"]].evidence)
        assert set(row["turns"]) <= {turn.id for turn in chat.turns}
        if row["verdict"] in ("missing", "repeated"):
            assert set(row["turns"]) - listed  # what is named is not among the listed turns
        assert bool(row["why"]) == (row["verdict"] != "right")


def test_the_model_card_states_the_error_rate_of_the_second_reading():
    rate, error = second_reading.error_rate(rows())
    count = Counter(row["verdict"] for row in rows())
    assert (
        f"of {len(rows())} questions, a tenth of each conversation's, {count['missing']} lack a turn and"
        f" {count['wrong']} have a wrong one: {100 * rate:.1f} ± {100 * error:.1f} %" in " ".join(CARD.split())
    )
    assert f"in {count['repeated']} a further turn repeats the answer" in " ".join(CARD.split())


def test_the_error_rate_is_a_mean_over_questions_with_its_error_over_conversations():
    judged = [{"conversation": name, "verdict": verdict} for name, verdict in zip("aabb", ["right"] * 4, strict=True)]
    assert second_reading.error_rate(judged) == (0, 0)
    judged[0]["verdict"], judged[1]["verdict"] = "missing", "repeated"
    assert second_reading.error_rate(judged) == (0.25, pytest.approx(0.25))
