import math
import struct

import numpy as np
import pytest

from perdure.models.vectors import SpaceOnFirstUse, text_list, to_vector
from perdure.records.errors import EmbedderError, InvalidInput


def test_a_vector_is_little_endian_float32_of_length_one():
    assert to_vector([3, 4.0]) == struct.pack("<2f", 0.6, 0.8)


@pytest.mark.parametrize("scale", [5e-324, 1e-300, 1.0, 1e308])
def test_the_length_is_one_at_any_scale(scale):
    values = struct.unpack("<4f", to_vector([scale, -scale, scale, -scale]))
    assert values == (0.5, -0.5, 0.5, -0.5)


def test_numpy_rows_of_any_number_type_are_accepted():
    expected = to_vector([1.0, 2.0, 2.0])
    assert to_vector(np.array([1, 2, 2])) == expected
    assert to_vector(np.array([1, 2, 2], dtype=np.float32)) == expected
    assert to_vector([np.float32(1), np.int64(2), 2]) == expected


BAD = {
    "nan first": [math.nan, 1.0],
    "nan last": [1.0, math.nan],
    "infinity": [1.0, -math.inf],
    "huge integer": [10**400, 1],
    "zeros": [0.0, -0.0],
    "empty": [],
    "short": [1.0],
    "long": [1.0, 1.0, 1.0],
    "string": "12",
    "strings": ["1", "2"],
    "bool": [True, 1.0],
    "none": [None, 1.0],
    "complex": [1j, 1.0],
    "nested": [[1.0], [2.0]],
    "mapping": {0: 1.0, 1: 1.0},
    "scalar": np.float64(1.0),
    "no row": None,
}


@pytest.mark.parametrize("values", BAD.values(), ids=BAD.keys())
def test_bad_values_are_refused_and_the_fault_is_named(values):
    with pytest.raises(InvalidInput) as ours:
        to_vector(values, 2)
    with pytest.raises(EmbedderError, match="some-model") as models:
        to_vector(values, 2, source="some-model")
    assert ours.value.fault == "caller"
    assert models.value.fault == "machine"
    assert ours.value.remedy
    assert models.value.remedy


def test_one_string_is_not_a_list_of_texts():
    with pytest.raises(InvalidInput, match="one string"):
        text_list("hello")
    with pytest.raises(InvalidInput, match="Text 1 is of type bytes"):
        text_list(["a", b"b"])
    assert text_list(("a", "b")) == ["a", "b"]


def test_a_refused_reply_does_not_fix_the_dimensions():
    known = SpaceOnFirstUse("m", "1", None)
    with pytest.raises(EmbedderError, match="3 values, expected 2"):
        known.pack([[1.0, 2.0], [1.0, 2.0, 3.0]], 2)
    with pytest.raises(EmbedderError, match="not known"):
        _ = known.space
    known.pack([[1.0, 2.0, 3.0]], 1)
    assert known.space.name == "m/3/1"


@pytest.mark.parametrize(("model", "version", "dimensions"), [("", "1", 3), ("m", "", 3), ("m", "1", 0)])
def test_a_space_needs_an_identity(model, version, dimensions):
    with pytest.raises(InvalidInput):
        SpaceOnFirstUse(model, version, dimensions)
