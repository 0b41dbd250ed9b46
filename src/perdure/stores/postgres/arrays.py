"""Lists as PostgreSQL's binary arrays: a batch of memories is a few dozen of them, so their making must be quick.

The driver's own dumper goes through Python for each element; numbers go through numpy here (decision 0010).
"""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any, Final

import numpy as np
import psycopg
from psycopg.adapt import Buffer, Dumper, Loader
from psycopg.pq import Format
from psycopg.types import TypeInfo

_CAST: Final = re.compile(r"CAST\(%\((\w+)\)b\s+AS\s+([a-z\s]+?)\[\]\)")
_HEADER: Final = struct.Struct(">iiIii")
_LENGTH: Final = struct.Struct(">i")
_NULL: Final = b"\xff\xff\xff\xff"
_NUMBERS: Final = {
    "bigint": (20, np.dtype([("size", ">i4"), ("value", ">i8")])),
    "integer": (23, np.dtype([("size", ">i4"), ("value", ">i4")])),
    "double precision": (701, np.dtype([("size", ">i4"), ("value", ">f8")])),
    "boolean": (16, np.dtype([("size", ">i4"), ("value", "?")])),
}
"""SQL type -> its number in the catalogue, and how an element lies in an array."""

_TEXT: Final = 25
_SHORT: Final = 24  # shorter texts are words and names, which come again and again: their elements are remembered

_ARRAY_OF: Final = {20: 1016, 23: 1007, 701: 1022, 16: 1000, _TEXT: 1009}


class Array:
    """A list that goes to the server as an array of one element type."""

    def __init__(self, oid: int, data: bytes) -> None:
        self.oid, self.data = oid, data


class Halfvecs:
    """Vectors of int8 that go to the server as an array of halfvec; int8 [n, d]."""

    def __init__(self, rows: Sequence[np.ndarray[Any, np.dtype[np.int8]]]) -> None:
        self.rows = rows


@cache
def array_types(text: str) -> tuple[tuple[str, str], ...]:
    """Return (binding, element type) for each list that a statement casts to an array."""
    return tuple({name: " ".join(kind.split()) for name, kind in _CAST.findall(text)}.items())


def array_of(kind: str, values: Sequence[Any]) -> Array | Sequence[Any]:
    """Return a list as an array; None inside stays NULL. Element types unknown here are left to the driver."""
    if kind == "text":
        return Array(_ARRAY_OF[_TEXT], _head(_TEXT, values) + b"".join(map(_element, values)))
    if kind not in _NUMBERS:
        return values
    oid, layout = _NUMBERS[kind]
    if None in values:
        plain = {"bigint": ">q", "integer": ">i", "double precision": ">d", "boolean": ">?"}[kind]
        packed = struct.Struct(plain)
        size = _LENGTH.pack(packed.size)
        return Array(
            _ARRAY_OF[oid], _head(oid, values) + b"".join(_NULL if v is None else size + packed.pack(v) for v in values)
        )
    out = np.empty(len(values), layout)
    out["size"] = layout["value"].itemsize
    out["value"] = values
    return Array(_ARRAY_OF[oid], _head(oid, values) + out.tobytes())


def _head(oid: int, values: Sequence[Any]) -> bytes:
    if not values:
        return struct.pack(">iiI", 0, 0, oid)
    return _HEADER.pack(1, int(None in values), oid, len(values), 1)


def _element(value: str | None) -> bytes:
    if value is None:
        return _NULL
    return _short(value) if len(value) <= _SHORT else _pack_text(value)


def _pack_text(value: str) -> bytes:
    data = value.encode()
    return _LENGTH.pack(len(data)) + data


_short = lru_cache(maxsize=20_000)(_pack_text)


class _ArrayDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: Array) -> bytes:
        return obj.data

    def get_key(self, obj: Array, format: object) -> Any:  # noqa: A002, ARG002  # the driver's signature
        return (Array, obj.oid)

    def upgrade(self, obj: Array, format: object) -> Dumper:  # noqa: A002, ARG002  # the driver's signature
        dumper = type(self)(Array)
        dumper.oid = obj.oid
        return dumper


def prepare(connection: psycopg.Connection[Any]) -> None:
    """Teach a new connection the arrays; a database without pgvector is refused later, with a better message."""
    connection.adapters.register_dumper(Array, _ArrayDumper)
    info = TypeInfo.fetch(connection, "halfvec")
    if info is None:
        return

    one, many = info.oid, info.array_oid

    class _HalfvecsDumper(Dumper):
        format = Format.BINARY
        oid = many

        def dump(self, obj: Halfvecs) -> bytes:
            return _halfvecs(one, obj.rows)

    connection.adapters.register_dumper(Halfvecs, _HalfvecsDumper)
    connection.adapters.register_loader(one, _HalfvecLoader)


class _HalfvecLoader(Loader):
    """A vector on the grid of int8, as its bytes."""

    def load(self, data: Buffer) -> bytes:
        return np.fromstring(bytes(data)[1:-1], dtype=np.float32, sep=",").astype(np.int8).tobytes()


def _halfvecs(oid: int, rows: Sequence[np.ndarray[Any, np.dtype[np.int8]]]) -> bytes:
    parts = [_HEADER.pack(1, 0, oid, len(rows), 1)]
    for row in rows:
        parts += (struct.pack(">ihh", 4 + 2 * len(row), len(row), 0), row.astype(">f2").tobytes())
    return b"".join(parts)
