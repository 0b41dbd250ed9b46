"""The weights of Perdure's embedder, as data: importing this loads no model. The README is the model card."""

from pathlib import Path

MODEL = "perdure-embedder"
"""The name of the model; vectors of two models are never compared."""

SHA256 = "ec6be6f6be546f32905af0566143bd69d97d27c9f1247ffe0e5533e139e26c0d"
"""The digest of the file at :func:`model_path`."""

DIMENSIONS = 384


def model_path() -> Path:
    """Return the ONNX file: inputs ``input_ids``, ``attention_mask``, ``token_type_ids``; output the token states."""
    return Path(__file__).with_name("model.onnx")
