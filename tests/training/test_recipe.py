"""What the training scripts take: the base weights by their digest, and no test conversation. PyTorch is replaced."""

import hashlib
import importlib
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
