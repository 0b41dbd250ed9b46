"""The weights of Perdure's embedder, as data: importing this loads no model. The README is the model card."""

from pathlib import Path

MODEL = "perdure-embedder"
"""The name of the model; vectors of two models are never compared."""

SHA256 = "e5412b871fee27c59394332160affe4b132bf48384f2baef8dac858a2887ca72"
"""The digest of the file at :func:`model_path`."""

DIMENSIONS = 384

SUPERSESSION_SHA256 = "80de711506d08b71100583d9006788525ed80b3528e120911a6994a01e13b4d3"
"""The digest of the file at :func:`supersession_path`."""


def model_path() -> Path:
    """Return the ONNX file: inputs ``input_ids``, ``attention_mask``, ``token_type_ids``; output the token states."""
    return Path(__file__).with_name("model.onnx")


def supersession_path() -> Path:
    """Return the ONNX file of the model of what a later statement makes untrue.

    Inputs ``input_ids``, ``attention_mask`` and ``token_type_ids`` of an earlier and a later text; output
    ``superseded``, the chance that the later one makes the earlier one untrue.
    """
    return Path(__file__).with_name("supersession.onnx")
