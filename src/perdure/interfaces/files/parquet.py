"""Exports as one Parquet file: a row for each line, with columns to query by and the whole line as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import IO, Any, Final

from perdure.records.errors import InvalidInput, StoreError
from perdure.records.transfer import Line

try:
    import pyarrow as pa
    from pyarrow import parquet as pq
except ImportError as missing:
    raise StoreError(
        f"Parquet needs the package pyarrow ({missing}).", remedy='Install it with `pip install "perdure[parquet]"`.'
    ) from missing

ROWS: Final = 5000
LARGE: Final = 8_000_000  # rows, and characters, of a row group at most: it is in memory at once

_HEAD: Final = "perdure.head"
_TAIL: Final = "perdure.tail"
_NAMED: Final = ("namespace", "part", "id", "text", "kind", "tier", "status")
SCHEMA: Final = pa.schema(
    [*((name, pa.string()) for name in _NAMED), ("created_at", pa.timestamp("ms", tz="UTC")), ("data", pa.string())]
)
_to_json: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def write_parquet(out: IO[bytes], lines: Iterable[Line]) -> None:
    """Write head, rows and tail; the first and the last are the file's own metadata."""
    rest = iter(lines)
    head = next(rest)
    tail: Line = {}
    with pq.ParquetWriter(out, SCHEMA, compression="zstd") as writer:
        group: list[dict[str, Any]] = []
        size = 0
        for line in rest:
            if "part" not in line:
                tail = line
                break
            group.append(_cells(line))
            size += len(group[-1]["data"])
            if len(group) == ROWS or size > LARGE:
                writer.write_table(pa.Table.from_pylist(group, SCHEMA))
                group, size = [], 0
        if group:
            writer.write_table(pa.Table.from_pylist(group, SCHEMA))
        writer.add_key_value_metadata({_HEAD: _to_json(head), _TAIL: _to_json(tail)})


def read_parquet(path: str) -> Iterator[Line]:
    """Yield the lines of an export again.

    Raises:
        InvalidInput: It is not a valid Parquet file, or not an export.
    """
    try:
        with pq.ParquetFile(path) as file:
            own = file.metadata.metadata or {}
            yield json.loads(own.get(_HEAD.encode(), b"{}"))
            for batch in file.iter_batches(batch_size=1000, columns=["namespace", "part", "data"]):
                for row in batch.to_pylist():
                    yield {"part": row["part"], "namespace": row["namespace"], **json.loads(row["data"])}
            yield json.loads(own.get(_TAIL.encode(), b"{}"))
    except (pa.ArrowException, KeyError, OSError, TypeError, ValueError) as error:
        reason = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        raise InvalidInput(f"{path} is not a valid Parquet export ({reason}).", remedy="Export again.") from error


def _cells(line: Line) -> dict[str, Any]:
    data = {k: v for k, v in line.items() if k not in {"namespace", "part"}}
    named = {name: line.get(name) for name in _NAMED}
    return {**named, "created_at": line.get("created_ms", line.get("at_ms")), "data": _to_json(data)}
