"""The model of what a later statement makes untrue, run as it is shipped."""

from __future__ import annotations

import time

import pytest

from perdure.models import inference
from perdure.models.supersession import MAX_TOKENS, SupersessionModel
from perdure.records.deadline import within
from perdure.records.errors import DeadlineExceeded, EmbedderError

pytest.importorskip("onnxruntime")
PAIRS = [
    ("We're going for Dagster as the scheduler", "Nobody wants to run a second scheduler, so Airflow it is"),
    ("Standup is at nine", "Standup moved to ten"),
    ("My sister works at a bakery", "My brother works at a bank"),
    ("Postgres runs on port 5433", "Redis runs on port 6380"),
    ("I live in Leeds", "The train to Leeds was late again"),
]


@pytest.fixture(scope="module")
def model():
    return SupersessionModel()


def test_what_changes_a_value_is_told_from_what_is_about_another_thing(model):
    changed, moved, *others = model.chances(PAIRS)
    assert min(changed, moved) >= 0.6
    assert max(others) < 0.3


def test_the_chance_of_a_pair_does_not_depend_on_the_pairs_beside_it_or_on_threads(model):
    together = model.chances(PAIRS * 5)
    alone = [SupersessionModel(threads=1).chances([pair])[0] for pair in PAIRS]
    assert together == pytest.approx(alone * 5, abs=1e-5)


def test_the_order_of_the_two_counts(model):
    (forward,), (back,) = model.chances(PAIRS[:1]), model.chances([PAIRS[0][::-1]])
    assert forward != pytest.approx(back, abs=0.01)


def test_nothing_costs_nothing():
    assert SupersessionModel(weights=None).chances([]) == []


class RecordingSession:
    def __init__(self):
        self.feeds = []

    def run(self, _, feed):
        self.feeds.append(feed)
        return [feed["input_ids"][:, 0] * 0.0]


@pytest.mark.parametrize(("first", "second"), [(1000, 1000), (1000, 3), (3, 1000), (62, 63), (100, 30)])
def test_both_texts_are_seen_up_to_128_tokens_together(monkeypatch, first, second):
    session = RecordingSession()
    monkeypatch.setattr(inference, "supersession_weights", lambda: None)
    monkeypatch.setattr(inference, "open_session", lambda *_: session)
    SupersessionModel().chances([("tea " * first, "milk " * second)])
    ((ids,), (types,)) = (session.feeds[0][name].tolist() for name in ("input_ids", "token_type_ids"))
    tea, milk = ids.count(5572), ids.count(6501)
    assert ids == [101] + [5572] * tea + [102] + [6501] * milk + [102]
    assert types == [0] * (tea + 2) + [1] * (milk + 1)
    assert len(ids) == min(first + second + 3, MAX_TOKENS)
    assert tea >= min(first, 62)
    assert milk >= min(second, 62)


def test_many_pairs_are_left_when_the_calls_time_is_over(monkeypatch, model):
    run = inference.run_session

    def slow(*given):
        time.sleep(0.02)
        return run(*given)

    model.chances(PAIRS)  # loads the model
    monkeypatch.setattr(inference, "run_session", slow)
    with within(0.3), pytest.raises(DeadlineExceeded):
        model.chances(PAIRS * 400)


def test_weights_with_another_digest_are_refused(tmp_path):
    other = tmp_path / "other.onnx"
    other.write_bytes(b"other weights")
    with pytest.raises(EmbedderError, match="SHA-256"):
        SupersessionModel(weights=inference.Weights(other, "other", "0" * 64)).chances(PAIRS)


def test_a_package_without_this_model_is_told(monkeypatch):
    class Older:
        pass

    monkeypatch.setattr(inference, "_package", Older)
    with pytest.raises(EmbedderError, match="older") as caught:
        SupersessionModel().chances(PAIRS)
    assert "--upgrade" in caught.value.remedy
