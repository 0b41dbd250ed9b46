"""Writing a damaged file anew from what its pages hold. SQLite gives up a table at the first page that it cannot read.

The pages of a table are found from its root, and where a page that leads to others is lost, by what they hold. Indexes
are not read. Rows are taken as they stand: a check says afterwards which of them are not as they were written.
"""

from __future__ import annotations

import math
import mmap
import os
import struct
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import apsw

from perdure.records.store_files import APPLICATION_ID
from perdure.stores.sqlite.backup import copy_as_it_is, copy_permissions
from perdure.stores.sqlite.connection import fetch_all, transaction
from perdure.stores.sqlite.kept_copies import BEFORE_REPAIR, free_name
from perdure.stores.sqlite.lines import add_functions
from perdure.stores.sqlite.schema import quote_name
from perdure.stores.statements import migrations, registry

_INNER_INDEX, _INNER_TABLE, _INDEX, _TABLE = 2, 5, 10, 13
"""How a page begins that holds keys and leads to others, only leads to others, or holds keys or rows."""
_INNER: Final = {_INNER_INDEX, _INNER_TABLE}
_INTEGERS: Final = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}  # type of a value -> its bytes
_CONSTANTS: Final = {0: None, 8: 0, 9: 1}
_REAL, _FIRST_TEXT = 7, 12
_DAMAGED: Final = (struct.error, IndexError, ValueError, KeyError)
_TYPES: Final[dict[str, tuple[type, ...]]] = {"TEXT": (str,), "INTEGER": (int,), "REAL": (int, float)}
_VARINT: Final = 9  # bytes at most

Row = list[Any]


def write_anew(connection: apsw.Connection) -> None:
    """Replace all pages of a file by new ones with the rows that can be read; the damaged file is kept beside it.

    Others wait with writing meanwhile, and go on reading.
    """
    path, roots = Path(connection.filename), fetch_all(connection, "roots")
    kept = free_name(path, BEFORE_REPAIR)
    os.close(os.open(kept, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        with tempfile.TemporaryDirectory(prefix="perdure-") as folder:
            new = _new_file(connection, Path(folder) / "new.db")
            with closing(new), connection.backup("main", new, "main") as going:
                going.step(0)  # takes the lock: nothing is written between reading and replacing
                copy_as_it_is(path, kept)
                copy_permissions(kept, path)
                with transaction(new):
                    _fill(new, roots, kept)
                while not going.done:
                    going.step()
    except BaseException:
        kept.unlink()
        raise


def _new_file(connection: apsw.Connection, path: Path) -> apsw.Connection:
    new = apsw.Connection(str(path))
    add_functions(new)
    new.execute(f"PRAGMA page_size = {connection.pragma('page_size')}; PRAGMA synchronous = OFF")
    for number, sql in migrations("sqlite"):
        new.execute(f"{sql}; PRAGMA user_version = {number}")
    new.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    return new


def _fill(new: apsw.Connection, roots: Sequence[tuple[Any, ...]], copy: Path) -> None:
    """Bring the rows of all tables that can be read; those of somebody else's tables, too."""
    with copy.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        pages = _Pages(data)
        lost = []
        for kind, name, root, sql in roots:
            before = pages.lost
            found = list(pages.reached_pages(root))
            table = _table(new, name, sql) if kind == "table" else None
            for number in found:
                if table is not None:
                    table.insert_all(new, pages.rows(number))
            if table is not None and pages.lost > before:
                lost.append(table)
        for number in pages.unreached_pages() if lost else ():
            for row in pages.rows(number):
                if (owner := next((t for t in lost if t.is_like(row)), None)) is not None:
                    owner.insert_all(new, [row])


@dataclass(frozen=True, slots=True)
class _Table:
    """A table that rows are brought to."""

    name: str
    columns: tuple[tuple[str, str, bool, int], ...]  # name, type, whether it must not be NULL, place in the key or 0
    keyed: bool  # whether its rows are kept by its key, and not by a number

    def is_like(self, row: tuple[int | None, Row]) -> bool:
        """Whether a row may be one of this table."""
        number, values = row
        if self.keyed != (number is None) or not 1 < len(values) <= len(self.columns):
            return False
        return all(
            (value is None and (not required or place)) or isinstance(value, _TYPES.get(kind, (str, bytes)))
            for (_, kind, required, place), value in zip(self.columns, values, strict=False)
        )

    def insert_all(self, connection: apsw.Connection, rows: Iterator[tuple[int | None, Row]] | Sequence[Any]) -> None:
        """Insert rows as they stand; one that the table does not take is lost."""
        for number, values in rows:
            if len(values) > len(self.columns):
                continue
            columns = self.columns[: len(values)]
            numbered = [
                number if value is None and place and kind == "INTEGER" else value
                for (_, kind, _, place), value in zip(columns, values, strict=True)
            ]
            slots = {"table": self.name, "columns": ", ".join(quote_name(c[0]) for c in columns)}
            slots["values"] = ", ".join("?" * len(columns))
            with suppress(apsw.ConstraintError, apsw.MismatchError):
                connection.execute(registry("sqlite")["insert_salvaged"].sql.format(**slots), numbered)


def _table(new: apsw.Connection, name: str, sql: str) -> _Table | None:
    """Return the table of a new file that takes the rows of one; None for what is made anew from others."""
    if name.startswith(("words", "vocabulary", "sqlite_")) or sql.upper().startswith("CREATE VIRTUAL"):
        return None
    own = quote_name(name)
    if not (columns := fetch_all(new, "table_columns", (name,))):
        with suppress(apsw.Error):
            new.execute(sql)
        columns = fetch_all(new, "table_columns", (name,))
    keyed = sql.rstrip().upper().endswith("WITHOUT ROWID")
    found = [(str(c), str(kind), bool(required), int(place)) for c, kind, required, _, place in columns]
    if keyed:  # the key comes first
        found.sort(key=lambda column: column[3] or math.inf)
    return _Table(own, tuple(found), keyed) if found else None


@dataclass(slots=True)
class _Pages:
    """The pages of a file, read without SQLite. See https://www.sqlite.org/fileformat2.html."""

    data: mmap.mmap
    size: int = 0  # of a page
    usable: int = 0  # bytes of it
    seen: set[int] = field(default_factory=set)
    lost: int = 0  # pages that should be part of a tree and are not

    def __post_init__(self) -> None:
        """Read the head of the file."""
        (size,) = struct.unpack_from(">H", self.data, 16)
        self.size = 65536 if size == 1 else size
        self.usable = self.size - self.data[20]

    @property
    def count(self) -> int:
        return len(self.data) // self.size

    def page(self, number: int) -> bytes:
        """Return a page's bytes."""
        if not 1 <= number <= self.count:
            raise ValueError(number)
        return self.data[(number - 1) * self.size : number * self.size]

    def reached_pages(self, root: int) -> Iterator[int]:
        """Yield the pages of a tree that can be read."""
        waiting = [root]
        while waiting:
            number = waiting.pop()
            if number in self.seen or not self._kind(number):
                self.lost += 1
                continue
            self.seen.add(number)
            yield number
            waiting += reversed(list(self._below(number)))

    def unreached_pages(self) -> Iterator[int]:
        """Yield the pages with rows that no tree leads to and that are not free: they keep what they held."""
        free = set(self._free())
        kinds = {_INNER_INDEX, _INDEX, _TABLE}
        yield from (n for n in range(2, self.count + 1) if n not in self.seen | free and self._kind(n) in kinds)

    def rows(self, number: int) -> Iterator[tuple[int | None, Row]]:
        """Yield (number of the row, values) of a page; rows that are kept by their key have no number."""
        page, kind = self.page(number), self._kind(number)
        for at in self._cells(page, number) if kind != _INNER_TABLE else ():
            with suppress(*_DAMAGED):
                start = at + 4 if kind == _INNER_INDEX else at
                length, start = _varint(page, start)
                row = None
                if kind == _TABLE:
                    row, start = _varint(page, start)
                    row -= 2**64 if row >= 2**63 else 0
                yield row, _values(self._payload(page, start, length, is_table=kind == _TABLE))

    def _kind(self, number: int) -> int:
        """Return how a page of a tree begins; 0 for another one."""
        with suppress(ValueError):
            kind = self.page(number)[100 if number == 1 else 0]
            return kind if kind in {*_INNER, _INDEX, _TABLE} else 0
        return 0

    def _below(self, number: int) -> Iterator[int]:
        page = self.page(number)
        if self._kind(number) in _INNER:
            for at in self._cells(page, number):
                with suppress(*_DAMAGED):
                    yield _number(page, at)
            yield _number(page, (100 if number == 1 else 0) + 8)

    def _cells(self, page: bytes, number: int) -> Iterator[int]:
        """Yield where the cells of a page begin."""
        head = 100 if number == 1 else 0
        first = head + (12 if page[head] in _INNER else 8)
        (cells,) = struct.unpack_from(">H", page, head + 3)
        for place in range(min(cells, (self.usable - first) // 2)):
            yield struct.unpack_from(">H", page, first + 2 * place)[0]

    def _payload(self, page: bytes, start: int, length: int, *, is_table: bool) -> bytes:
        """Return what a cell holds, with what of it lies on pages of its own."""
        if length > len(self.data):
            raise ValueError(length)
        most = self.usable - 35 if is_table else (self.usable - 12) * 64 // 255 - 23
        least = (self.usable - 12) * 32 // 255 - 23
        here = length
        if length > most:
            here = least + (length - least) % (self.usable - 4)
            here = least if here > most else here
        found = bytearray(page[start : start + here])
        following = _number(page, start + here) if length > most else 0
        while len(found) < length:
            page = self.page(following)
            following = _number(page, 0)
            found += page[4 : self.usable]
        return bytes(found[:length])

    def _free(self) -> Iterator[int]:
        trunk, seen = _number(self.data, 32), set[int]()
        with suppress(*_DAMAGED):
            while trunk and trunk not in seen:
                seen.add(trunk)
                yield trunk
                page = self.page(trunk)
                yield from struct.unpack_from(f">{_number(page, 4)}I", page, 8)
                trunk = _number(page, 0)


def _number(data: bytes | mmap.mmap, at: int) -> int:
    return int(struct.unpack_from(">I", data, at)[0])


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a number that is written with 7 bits to a byte, and where it ends."""
    value = 0
    for place in range(_VARINT):
        byte = data[at + place]
        if place == _VARINT - 1:
            return value << 8 | byte, at + _VARINT
        value = value << 7 | byte & 0x7F
        if byte < 0x80:  # noqa: PLR2004  # the highest bit: more follows
            break
    return value, at + place + 1


def _values(payload: bytes) -> Row:
    """Return the values of a record; what does not fit its own head is none."""
    end, at = _varint(payload, 0)
    body, values = end, []
    while at < end:
        kind, at = _varint(payload, at)
        if kind in _CONSTANTS:
            values.append(_CONSTANTS[kind])
            continue
        size = _INTEGERS[kind] if kind in _INTEGERS else 8 if kind == _REAL else _length(kind)
        part = payload[body : body + size]
        body += size
        values.append(_value(kind, part))
    if at != end or body != len(payload):
        raise ValueError(payload)
    return values


def _length(kind: int) -> int:
    if kind < _FIRST_TEXT:
        raise ValueError(kind)
    return (kind - _FIRST_TEXT) // 2


def _value(kind: int, part: bytes) -> Any:
    if kind in _INTEGERS:
        return int.from_bytes(part, signed=True)
    if kind == _REAL:
        return struct.unpack(">d", part)[0]
    return part.decode("utf-8", "replace") if kind % 2 else part
