"""Write a trained model as an ONNX file with int8 weights.

Usage: python training/export.py [--weights FILE] [--package FOLDER] [--record]

Writes ``model.onnx`` into the package's folder and its digest into the package's ``__init__.py``, where there is one.
Weights that lose too much against float, or are too large, are not put there, and neither are weights of the shipped
conversations and recipe that reach something else than the shipped ones (``trained.py``); the script ends with 1.
``--record`` makes the weights the shipped ones.

Only the weights are int8, one scale for each row of a table or column of a matrix; the arithmetic stays float32. So a
text's vector does not depend on the texts that it is embedded with. The runtime turns the matrices back into float32
once, when it loads them.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from onnx import helper, numpy_helper
from safetensors.torch import load_file

from encoder import Encoder
from loss import english_test_chats, export_faults, found_by, lost, recall_of
from perdure.models.local import LocalEmbedder
from pools import Kept
from trained import conversations_digest, differences, read_record, write_record

ROOT = Path(__file__).resolve().parents[1]
SMALLEST = 10_000
"""Weights with fewer values stay float32: biases, norms, the two token types."""
OPSET = 18


class States(torch.nn.Module):
    """The model with the three inputs and the one output that the engine knows."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, input_ids: Any, attention_mask: Any, token_type_ids: Any) -> Any:
        """Return the token states, of shape (texts, tokens, 384)."""
        return self.model(
            input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids
        ).last_hidden_state


def export_float(encoder: Encoder, path: Path) -> None:
    """Write the model as it is, in float32."""
    encoder.model.eval()
    example = torch.ones((2, 7), dtype=torch.int64)
    axes = {0: torch.export.Dim("texts", min=1, max=4096), 1: torch.export.Dim("tokens", min=2, max=512)}
    torch.onnx.export(
        States(encoder.model),
        # Three tensors of their own: the exporter takes one that is passed twice for one input.
        (example, example.clone(), torch.zeros_like(example)),
        str(path),
        input_names=["input_ids", "attention_mask", "token_type_ids"],
        output_names=["last_hidden_state"],
        dynamic_shapes=dict.fromkeys(("input_ids", "attention_mask", "token_type_ids"), axes),
        opset_version=OPSET,
        dynamo=True,
        external_data=False,
        optimize=True,
    )


def quantized(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return the model with its large weights as int8 and a scale for each row or column."""
    graph = model.graph
    users: dict[str, list[onnx.NodeProto]] = {}
    for node in graph.node:
        for name in node.input:
            users.setdefault(name, []).append(node)
    fresh: list[onnx.NodeProto] = []
    for tensor in [t for t in graph.initializer if np.prod(t.dims) >= SMALLEST]:
        values = numpy_helper.to_array(tensor)
        looked_up = all(node.op_type == "Gather" for node in users[tensor.name])
        scale = np.abs(values).max(axis=1 if looked_up else 0, keepdims=True).astype(np.float32) / 127
        codes = np.clip(np.rint(values / np.maximum(scale, 1e-12)), -127, 127).astype(np.int8)
        name = tensor.name
        graph.initializer.remove(tensor)
        graph.initializer.extend(
            [numpy_helper.from_array(codes, f"{name}.int8"), numpy_helper.from_array(scale, f"{name}.scale")]
        )
        if looked_up:
            for node in users[name]:
                _look_up(node, name, fresh)
        else:
            fresh.append(helper.make_node("Cast", [f"{name}.int8"], [f"{name}.float"], to=onnx.TensorProto.FLOAT))
            fresh.append(helper.make_node("Mul", [f"{name}.float", f"{name}.scale"], [name]))
    nodes = _in_order([*fresh, *graph.node], graph)
    del graph.node[:]
    graph.node.extend(nodes)
    del graph.value_info[:]
    _forget_origin(model)
    onnx.checker.check_model(model)
    return model


def _forget_origin(model: onnx.ModelProto) -> None:
    """Remove where each node was written: the paths of this machine, by which the same weights had other bytes."""
    graph = model.graph
    for part in (model, graph, *graph.node, *graph.initializer, *graph.input, *graph.output):
        part.ClearField("metadata_props")
        part.ClearField("doc_string")


def _look_up(node: onnx.NodeProto, table: str, fresh: list[onnx.NodeProto]) -> None:
    """Look the int8 rows and their scales up, so that the table stays int8 in memory."""
    rows, scale, output = (f"{node.output[0]}.{part}" for part in ("rows", "scale", "float"))
    fresh.append(helper.make_node("Gather", [f"{table}.int8", node.input[1]], [rows], axis=0))
    fresh.append(helper.make_node("Gather", [f"{table}.scale", node.input[1]], [scale], axis=0))
    fresh.append(helper.make_node("Cast", [rows], [output], to=onnx.TensorProto.FLOAT))
    result = node.output[0]
    node.CopyFrom(helper.make_node("Mul", [output, scale], [result]))


def _in_order(nodes: list[onnx.NodeProto], graph: onnx.GraphProto) -> list[onnx.NodeProto]:
    """Return the nodes so that each comes after those whose outputs it takes."""
    known = {"", *(t.name for t in graph.initializer), *(i.name for i in graph.input)}
    ordered: list[onnx.NodeProto] = []
    while nodes:
        ready = [node for node in nodes if known.issuperset(node.input)]
        if not ready:
            raise ValueError("the graph has a circle")
        ordered += ready
        known.update(name for node in ready for name in node.output)
        taken = {id(node) for node in ready}
        nodes = [node for node in nodes if id(node) not in taken]
    return ordered


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--weights", type=Path, default=ROOT / "build/training/model.safetensors")
    parser.add_argument("--package", type=Path, default=ROOT / "packages/perdure-embedder/src/perdure_embedder")
    parser.add_argument("--record", action="store_true", help="write training/trained.json for these weights")
    given = parser.parse_args()
    encoder = Encoder()
    encoder.model.load_state_dict(load_file(given.weights))
    plain, small = (given.weights.with_suffix(ending) for ending in (".onnx", ".int8.onnx"))
    export_float(encoder, plain)
    onnx.save(quantized(onnx.load(plain)), small)
    chats = english_test_chats()
    found = [found_by(Kept(LocalEmbedder(weights=file)), chats) for file in (plain, small)]
    loss, error = lost(*found)
    said = " and ".join(f"{recall_of(each):.2%}" for each in found)
    print(f"recall@10 of our English test conversations, float and int8: {said}; lost {loss:.2%} ± {error:.2%}")
    if faults := list(export_faults(loss, error, small.stat().st_size)):
        sys.exit("\n".join(faults))
    made = {
        "conversations": conversations_digest(),
        **json.loads(given.weights.with_name("training.json").read_text("utf-8")),
        "float_sha256": hashlib.sha256(given.weights.read_bytes()).hexdigest(),
        "model_sha256": hashlib.sha256(small.read_bytes()).hexdigest(),
        "float_recall_at_10": round(100 * recall_of(found[0]), 2),
        "recall_at_10": round(100 * recall_of(found[1]), 2),
    }
    if given.record:
        write_record(made)
    elif faults := list(differences(read_record(), made)):
        sys.exit("\n".join(faults))
    else:
        same = made["model_sha256"] == read_record()["model_sha256"]
        print("the same bytes as the shipped weights" if same else "not the same bytes as the shipped weights")
    install(small, given.package)


def install(small: Path, package: Path) -> None:
    """Put the weights and their digest into the package."""
    shutil.copyfile(small, package / "model.onnx")
    digest = hashlib.sha256(small.read_bytes()).hexdigest()
    module = package / "__init__.py"
    if module.exists():
        module.write_text(re.sub(r'(?m)^SHA256 = ".*"$', f'SHA256 = "{digest}"', module.read_text("utf-8")), "utf-8")
    print(f"{package / 'model.onnx'}: {small.stat().st_size / 1e6:.1f} MB, SHA-256 {digest}")


if __name__ == "__main__":
    main()
