"""What the training scripts take: the base weights by their digest, and no test conversation. PyTorch is replaced."""

import hashlib
import importlib
import json
import site
import sys
from pathlib import Path
from unittest.mock import MagicMock

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "training"))

from corpus import conversations

HEAVY = ("torch", "torch.nn", "safetensors", "safetensors.torch", "transformers", "tokenizers")


@pytest.fixture
def script(monkeypatch):
    """Imports a training script without what it computes with."""
    for name in HEAVY:
        monkeypatch.setitem(sys.modules, name, MagicMock())
    for name in ("train", "encoder"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield importlib.import_module
    for name in ("train", "encoder"):
        sys.modules.pop(name, None)


def test_the_script_trains_on_no_test_conversation(script, tmp_path, monkeypatch):
    train, trained = script("train"), []
    monkeypatch.setattr(train, "train", lambda chats, *_: trained.extend(chats) or MagicMock())
    monkeypatch.setattr(sys, "argv", ["train.py", "--output", str(tmp_path)])
    train.main()
    assert len(trained) == 58
    assert not {c.title for c in trained} & {c.title for c in conversations("test")}


def test_another_number_of_negatives_is_another_recipe(script, tmp_path, monkeypatch):
    train = script("train")
    monkeypatch.setattr(train, "train", MagicMock())
    for asked, used in (([], 3), (["--negatives", "5"], 5)):
        monkeypatch.setattr(sys, "argv", ["train.py", "--output", str(tmp_path), *asked])
        train.main()
        assert train.train.call_args.args[1].negatives == used


def test_an_interrupted_training_goes_on_and_one_of_other_pairs_or_another_recipe_starts_anew(
    script, tmp_path, monkeypatch
):
    train, kept = script("train"), {}
    step = MagicMock(**{"return_value.item.return_value": 1.0})
    monkeypatch.setattr(train, "Encoder", MagicMock())
    monkeypatch.setattr(train, "batch_loss", step)
    monkeypatch.setattr(train, "mined_pairs", lambda _encoder, pairs, _recipe: pairs)
    monkeypatch.setattr(train.torch, "save", lambda state, path: (kept.update(state), path.touch()))
    monkeypatch.setattr(train.torch, "load", lambda _path, **_: kept)

    def steps(pairs, recipe):
        step.reset_mock()
        train.train(pairs, recipe, tmp_path)
        return step.call_count

    recipe = train.Recipe(batch=1, negatives=5)
    one, other = (train.Pair(text, "turn", ("another",), frozenset(["turn"])) for text in ("who?", "when?"))
    assert (steps([one], recipe), steps([one], recipe)) == (3, 0)
    beside = json.loads((tmp_path / "training.json").read_text("utf-8"))
    assert (beside["recipe"]["negatives"], beside["processor_seconds"] >= 0) == (5, True)
    kept["epoch"], kept["processor_seconds"] = 1, 1000.0
    assert steps([one], recipe) == 2
    resumed = json.loads((tmp_path / "training.json").read_text("utf-8"))
    assert 1000 <= resumed["processor_seconds"] < 1100  # what the interrupted run took counts
    assert steps([other], recipe) == 3
    assert steps([other], train.Recipe(batch=1, negatives=5, epochs=2)) == 2


def test_only_base_weights_with_the_digest_are_taken(script, tmp_path, monkeypatch):
    encoder = script("encoder")
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "model.safetensors").write_bytes(b"other weights")
    monkeypatch.setattr(site, "getsitepackages", lambda: [str(tmp_path)])
    monkeypatch.setattr(sys, "path", [])
    with pytest.raises(SystemExit, match=encoder.BASE_SHA256):
        encoder.base_folder()
    monkeypatch.setattr(encoder, "BASE_SHA256", hashlib.sha256(b"other weights").hexdigest())
    assert encoder.base_folder() == tmp_path / "package"
