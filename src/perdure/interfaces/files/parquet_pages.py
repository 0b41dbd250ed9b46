"""How much memory the pages of a Parquet file need, told from their headers before a page is unpacked.

What the file says of its columns at its end can be wrong; what is unpacked is what the header of a page says. Headers
are written in Thrift's compact protocol, of which only numbers are read here, and everything else is passed over.
"""

from __future__ import annotations

from typing import IO, Any, Final

_HEADER: Final = 65_536  # bytes of a page's header at most: its statistics may hold two values of the column
_DEEPEST: Final = 16  # structures within each other
_STOP, _TRUE, _FALSE, _BYTE, _I64, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 0, 1, 2, 3, 6, 7, 8, 9, 10, 12
_UNPACKED, _PACKED = 2, 3  # fields of a page's header


def unpacked_size(file: IO[bytes], column: Any) -> int:
    """Return how many bytes the pages of one column of a row group unpack to.

    Args:
        file: The Parquet file.
        column: What the file's end says of where they are: ``ColumnChunkMetaData`` of pyarrow.

    Raises:
        ValueError: There are no such pages.
    """
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
        if depth > _DEEPEST:
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
