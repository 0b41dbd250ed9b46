"""Exports as one Parquet file: a row for each line, with columns to query by and the whole line as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, Final

from perdure.records.bounded_json import parse_json
from perdure.records.errors import InvalidInput, StoreError
from perdure.records.installation import how_to_install
from perdure.records.transfer import Line

_HEADER: Final = 65_536  # bytes of a page's header at most: its statistics may hold two values of the column
_MOST_NESTED: Final = 16  # structures within each other
_STOP, _TRUE, _FALSE, _BYTE, _I64, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 0, 1, 2, 3, 6, 7, 8, 9, 10, 12
_UNPACKED, _PACKED = 2, 3  # fields of a page's header


def unpacked_size(file: IO[bytes], column: Any) -> int:
    """Return how many bytes the pages of a column, as pyarrow's ``ColumnChunkMetaData`` has them, unpack to."""
    begin = column.data_page_offset
    if column.has_dictionary_page and column.dictionary_page_offset is not None:
        begin = min(begin, column.dictionary_page_offset)
    end, total = begin + column.total_compressed_size, 0
    while begin < end:
        file.seek(begin)
        header = _Reader(file.read(_HEADER))
        sizes = header.numbers()
        packed, unpacked = sizes.get(_PACKED, -1), sizes.get(_UNPACKED, -1)
        if packed < 0 or unpacked < 0:
            raise ValueError("a page has no size")
        total += unpacked
        begin += header.at + packed
    return total


class _Reader:
    """Reads one structure of Thrift's compact protocol."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def numbers(self, depth: int = 0) -> dict[int, int]:
        """Return field -> value of the whole numbers of the structure that begins here, and go past it."""
        if depth > _MOST_NESTED:
            raise ValueError("a page's header is nested too deep")
        found: dict[int, int] = {}
        field = 0
        while (head := self._byte()) != _STOP:
            field = field + (head >> 4) if head >> 4 else self._number()
            kind = head & 0x0F
            if _BYTE < kind <= _I64:
                found[field] = self._number()
            else:
                self._pass(kind, depth)
        return found

    def _byte(self) -> int:
        if self.at >= len(self.data):
            raise ValueError("a page's header is cut short or too long")
        self.at += 1
        return self.data[self.at - 1]

    def _varint(self) -> int:
        value, shift = 0, 0
        while True:
            byte = self._byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:  # noqa: PLR2004  # the last byte has no high bit
                return value

    def _number(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)

    def _pass(self, kind: int, depth: int, *, item: bool = False) -> None:
        """Go past a value; among the items of a list, truth values have a byte of their own."""
        if kind in (_TRUE, _FALSE):
            self.at += item
        elif kind == _BYTE:
            self.at += 1
        elif kind <= _I64:
            self._varint()
        elif kind == _DOUBLE:
            self.at += 8
        elif kind == _BINARY:
            length = self._varint()
            self.at += length
        elif kind in (_LIST, _SET):
            self._pass_items(depth)
        elif kind == _STRUCT:
            self.numbers(depth + 1)
        else:
            raise ValueError("a page's header has a field of an unknown kind")

    def _pass_items(self, depth: int) -> None:
        head = self._byte()
        count = head >> 4 if head >> 4 < 0x0F else self._varint()  # noqa: PLR2004  # 15 says that the count follows
        for _ in range(count):
            if self.at > len(self.data):
                raise ValueError("a page's header is cut short or too long")
            self._pass(head & 0x0F, depth + 1, item=True)


try:
    import pyarrow as pa
    from pyarrow import parquet as pq
except ImportError as missing:
    raise StoreError(f"Parquet needs the package pyarrow ({missing}).", remedy=how_to_install("parquet")) from missing

ROWS: Final = 5000
LARGE: Final = 8_000_000  # rows, and characters, of a row group at most: it is in memory at once

_MOST_BYTES: Final = 64 * 1024 * 1024  # bytes that a group of rows may unpack to, besides two of the longest lines
_MOST_ENTRIES: Final = 1_000_000  # of one list in what the file says of itself
_FIELDS: Final = ["namespace", "part", "data"]
_HEAD: Final = "perdure.head"
_TAIL: Final = "perdure.tail"
_TEXTS: Final = ("namespace", "part", "id", "text", "kind", "tier", "status")
SCHEMA: Final = pa.schema(
    [*((name, pa.string()) for name in _TEXTS), ("created_at", pa.timestamp("ms", tz="UTC")), ("data", pa.string())]
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


def read_parquet(path: str, longest: int) -> Iterator[Line]:
    """Yield the lines of an export again, none of them of more than ``longest`` bytes.

    Raises:
        InvalidInput: It is not a valid Parquet file, not an export, or needs too much memory.
    """
    try:
        with (
            Path(path).open("rb") as raw,
            pq.ParquetFile(
                path,
                thrift_string_size_limit=longest,
                thrift_container_size_limit=_MOST_ENTRIES,
                read_dictionary=_FIELDS,
                pre_buffer=False,
            ) as file,
        ):
            metadata = file.metadata.metadata or {}
            yield _parse(metadata.get(_HEAD.encode(), b"{}"), longest)
            for group in range(file.num_row_groups):
                _check_group(raw, file.metadata.row_group(group), 2 * longest + _MOST_BYTES)
                for batch in file.iter_batches(batch_size=1000, row_groups=[group], columns=_FIELDS, use_threads=False):
                    yield from _lines(batch, longest)
            yield _parse(metadata.get(_TAIL.encode(), b"{}"), longest)
    except (pa.ArrowException, KeyError, OSError, TypeError, ValueError) as error:
        if isinstance(error, InvalidInput):
            raise
        reason = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        raise InvalidInput(f"{path} is not a valid Parquet export ({reason}).", remedy="Export again.") from error


def _check_group(raw: IO[bytes], group: Any, most: int) -> None:
    """Refuse a group of rows whose pages unpack to more than is held in memory."""
    size = sum(
        unpacked_size(raw, column)
        for column in map(group.column, range(group.num_columns))
        if column.path_in_schema in _FIELDS
    )
    if size > most:
        raise ValueError(f"a group of rows unpacks to {size:,} bytes; {most:,} are read")


def _lines(batch: Any, longest: int) -> Iterator[Line]:
    """Yield the lines of a batch. A text stands in the dictionary of its column once, however many rows have it."""
    for namespace, part, data in zip(*(batch.column(name) for name in ("namespace", "part", "data")), strict=True):
        size = len(data.value.as_buffer()) if data.is_valid else 0
        if size > longest:
            raise ValueError(f"a row has {size:,} bytes; {longest:,} are read")
        yield {"part": part.as_py(), "namespace": namespace.as_py(), **_parse(data.value.as_buffer(), longest)}


def _parse(data: Any, longest: int) -> Line:
    if len(data) > longest:
        raise ValueError(f"a line has {len(data):,} bytes; {longest:,} are read")
    line: Line = parse_json(bytes(data).decode("utf-8"))
    return line


def _cells(line: Line) -> dict[str, Any]:
    data = {k: v for k, v in line.items() if k not in {"namespace", "part"}}
    cells = {name: line.get(name) for name in _TEXTS}
    return {**cells, "created_at": line.get("created_ms", line.get("at_ms")), "data": _to_json(data)}
