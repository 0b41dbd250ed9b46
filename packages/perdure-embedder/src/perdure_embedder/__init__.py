"""The weights of Perdure's embedder, as data: importing this loads no model. The README is the model card."""

from pathlib import Path

MODEL = "perdure-embedder"
"""The name of the model; vectors of two models are never compared."""

SHA256 = "f1e83768a3346ce301191cb788826e99b388069611c497c215369c72618e9e2a"
"""The digest of the file at :func:`model_path`."""

DIMENSIONS = 384


def model_path() -> Path:
    """Return the ONNX file: inputs ``input_ids``, ``attention_mask``, ``token_type_ids``; output the token states."""
    return Path(__file__).with_name("model.onnx")
