"""Rows on the move, in every store: where a reader stands, and a part's rows as plain data or as changes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from perdure.records.errors import ConflictError
from perdure.records.plan import Change, Plan, Target
from perdure.records.transfer import COLUMNS, Cursor, Line
from perdure.records.vector import Space
from perdure.stores.packing import unpack_text
from perdure.stores.rows import UNREADABLE, json_value, unreadable

LARGE: Final = 4_000_000  # bytes of text that one page holds, about: a page is one transaction, and in memory at once

_LEAST: Final = -(2**62)
_KEYS: Final[dict[str, tuple[tuple[str, int | str], ...]]] = {
    "namespace": (("namespace", ""),),
    "memory": (("row", _LEAST),),
    "vector": (("space", _LEAST), ("row", _LEAST)),
    "link": (("id", ""), ("kind", ""), ("other", "")),
    "access": (("id", ""), ("at_ms", _LEAST)),
    "recall": (("id", ""),),
    "document": (("shelf", ""), ("id", ""), ("name", "")),
    "operation": (("number", _LEAST),),
    "journal": (("number", _LEAST), ("position", _LEAST)),
}
"""Part -> what its rows are ordered by, and what comes before every row."""

_TARGETS: Final = {
    "memory": Target.MEMORY,
    "vector": Target.VECTOR,
    "link": Target.LINK,
    "access": Target.ACCESS,
    "document": Target.DOCUMENT,
}


class SqlTransfer(ABC):
    """Rows of one store, page by page. See operations/store_protocol.py."""

    def __init__(
        self, rows: Callable[..., list[tuple[Any, ...]]], shared: Callable[..., list[tuple[Any, ...]]]
    ) -> None:
        self._rows, self._global = rows, shared

    def spaces(self) -> list[tuple[Space, bool]]:
        return [(Space(*values), bool(active)) for *values, active in self._global("all_spaces")]

    def count(self, namespace: str, part: str) -> int:
        return int(self._rows(namespace, f"size_of_{part}")[0][0])

    @abstractmethod
    def read(self, namespace: str, part: str, after: Cursor | None, limit: int) -> list[tuple[Cursor, Line]]:
        """Return the next rows of a part."""

    @abstractmethod
    def write(self, namespace: str, part: str, rows: Sequence[Line], before: int) -> None:
        """Append rows to a part."""


def resume_bindings(part: str, after: Cursor | None) -> dict[str, int | str]:
    """Return the bindings that say where to go on."""
    keys = _KEYS[part]
    values = [first for _, first in keys] if after is None else after
    return {f"{name}_after": value for (name, _), value in zip(keys, values, strict=True)}


def line_of(part: str, values: Sequence[Any]) -> tuple[Cursor, Line]:
    """Return a row as its place and its plain data, from what the store's statement gives."""
    keys = len(_KEYS[part])
    try:
        row = _plain_row(part, keys, values)
        if any(isinstance(value, bytes) for value in row.values()):
            raise TypeError("its text is not text")
    except UNREADABLE as error:
        raise unreadable(f"A row of the part {part} at {', '.join(map(str, values[:keys]))}", error) from error
    return tuple(values[:keys]), row


def _plain_row(part: str, keys: int, values: Sequence[Any]) -> dict[str, Any]:
    if part == "memory":  # `packed` is how the store keeps the text: it is no column of the part
        *values, pack, names = values
        values.append(names)
        at = keys + COLUMNS[part].index("text")
        values[at] = unpack_text(values[at], pack)
    row = dict(zip(COLUMNS[part], values[keys:], strict=True))
    if part == "memory":
        row |= {name: bool(row[name]) for name in ("pinned", "held", "firm")}
        row |= {name: json_value(row[name]) for name in ("tags", "metadata")}
        row["keys"] = sorted(json_value(row["keys"]))
    elif part == "recall":
        row["hits"] = json_value(row["hits"])
    elif part == "document":
        row["data"] = json_value(row["data"])
    elif part == "vector":
        row["data"] = b64encode(row["data"]).decode()
    return row


def size_of(values: Sequence[Any]) -> int:
    """Return how many characters a row of a statement has."""
    return sum(len(v) for v in values if isinstance(v, str))


def changes_of(part: str, rows: Iterable[Line]) -> tuple[Change, ...]:
    """Return rows of a part that plans know as the inserts that a plan would have."""
    return tuple(Change(_TARGETS[part], row["id"], None, _after_image(part, row)) for row in rows)


def _after_image(part: str, row: Line) -> Line:
    if part == "memory":
        return {**row, "key": None, "space": None}
    if part == "vector":
        return {"space": row["space"], "int8": b64decode(row["data"])}
    return row


def page_of(namespace: str, part: str, rows: Iterable[Line]) -> Plan:
    """Return a page of rows as the plan that would have made them; it is not journalled."""
    return Plan("", "copy", namespace, 0, changes_of(part, rows))


def there_already(part: str) -> ConflictError:
    """Return the error for rows that another process has written meanwhile."""
    return ConflictError(
        f"Rows of the part {part} were written by another process just now.",
        remedy="Run only one copy or import to the target at a time, then run it again.",
    )
