"""Write a trained model of ``supersession.py`` as an ONNX file with int8 weights into the package.

Usage: python training/supersession_export.py FOLDER_OF_WEIGHTS [--package FOLDER]

Printed is what int8 loses: the largest difference of a chance on held-out pairs, and how many pairs change sides of the
bound from which two statements are linked. A file in which more than a share of ``MOST`` do is not put there.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch

from export import OPSET, ROOT, quantized
from perdure.models.inference import Weights
from perdure.models.supersession import SupersessionModel
from perdure.records.policy import Policy
from supersession import PairEncoder, load, split, talks

MOST = 0.005
"""Such a share of the pairs may change sides of the bound from which two statements are linked."""


class Chances(torch.nn.Module):
    """The model with the three inputs and the one output that the engine knows."""

    def __init__(self, model: PairEncoder) -> None:
        super().__init__()
        self.base, self.head = model.base, model.head

    def forward(self, input_ids: Any, attention_mask: Any, token_type_ids: Any) -> Any:
        """Return how likely the later text of each pair makes the earlier one untrue, of shape (pairs,)."""
        states = self.base(
            input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids
        ).last_hidden_state
        weight = attention_mask.unsqueeze(-1).to(states.dtype)
        return 1.0 - self.head((states * weight).sum(1) / weight.sum(1)).softmax(-1)[:, 0]


def export_float(model: PairEncoder, path: Path) -> None:
    """Write the model as it is, in float32."""
    model.eval()
    example = torch.ones((2, 7), dtype=torch.int64)
    axes = {0: torch.export.Dim("pairs", min=1, max=4096), 1: torch.export.Dim("tokens", min=2, max=512)}
    names = ["input_ids", "attention_mask", "token_type_ids"]
    torch.onnx.export(
        Chances(model),
        (example, example.clone(), torch.zeros_like(example)),  # three tensors: one passed twice is taken for one input
        str(path),
        input_names=names,
        output_names=["superseded"],
        dynamic_shapes=dict.fromkeys(names, axes),
        opset_version=OPSET,
        dynamo=True,
        external_data=False,
        optimize=True,
    )


def held_out_pairs() -> list[tuple[str, str]]:
    """Return all pairs of the held-out conversations, the earlier text first."""
    return [
        (talk.messages[a], talk.messages[b])
        for talk in split(talks())[1]
        for b in range(len(talk.messages))
        for a in range(b)
    ]


def main() -> None:
    """Export, compare, and put the weights and their digest into the package."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("weights", type=Path)
    parser.add_argument("--package", type=Path, default=ROOT / "packages/perdure-embedder/src/perdure_embedder")
    given = parser.parse_args()
    model = load(given.weights)
    plain, small = (given.weights / name for name in ("supersession.onnx", "supersession.int8.onnx"))
    export_float(model, plain)
    onnx.save(quantized(onnx.load(plain)), small)
    pairs = held_out_pairs()
    both = [
        np.array(
            SupersessionModel(weights=Weights(file, "", hashlib.sha256(file.read_bytes()).hexdigest())).chances(pairs)
        )
        for file in (plain, small)
    ]
    bound = Policy().knowledge.superseded_from
    worst, moved = np.abs(both[0] - both[1]).max(), int(((both[0] >= bound) != (both[1] >= bound)).sum())
    print(f"{len(pairs)} pairs: int8 differs by {worst:.3f} at most, {moved} change sides of {bound}")
    if moved > MOST * len(pairs):
        sys.exit(f"More than {MOST:.1%}: not installed.")
    shutil.copyfile(small, given.package / "supersession.onnx")
    digest = hashlib.sha256(small.read_bytes()).hexdigest()
    module = given.package / "__init__.py"
    told = re.sub(r'(?m)^SUPERSESSION_SHA256 = ".*"$', f'SUPERSESSION_SHA256 = "{digest}"', module.read_text("utf-8"))
    module.write_text(told, "utf-8")
    print(f"{given.package / 'supersession.onnx'}: {small.stat().st_size / 1e6:.1f} MB, SHA-256 {digest}")


if __name__ == "__main__":
    main()
