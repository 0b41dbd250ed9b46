"""Moving a file's rows out and in; what is derived from them is made anew by the one writer."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Final

import apsw

from perdure.records.transfer import Cursor, Line
from perdure.records.vector import Space
from perdure.stores.sqlite.connection import transaction
from perdure.stores.sqlite.reading import fetched, run, single
from perdure.stores.sqlite.writing import bring_in
from perdure.stores.statements import registry
from perdure.stores.transfer import LARGE, line_of, page_of, place, size_of, there_already

_HEX: Final = re.compile(r"[0-9a-f]{16}")
_LAST_ID: Final = 2**60
"""Ids of the year 10889; larger numbers would leave no room for what comes later."""


class SqliteTransfer:
    """Rows of one file, page by page. See operations/ports.py.

    Args:
        use: Gives the store's connection for the length of a block.
    """

    def __init__(self, use: Callable[[], AbstractContextManager[apsw.Connection]]) -> None:
        self._use = use

    def spaces(self) -> list[tuple[Space, bool]]:
        """Return (space, whether searches use it)."""
        with self._use() as connection:
            return [(Space(*values), bool(active)) for *values, active in fetched(connection, "all_spaces")]

    def count(self, namespace: str, part: str) -> int:
        """Return how many rows a part has."""
        with self._use() as connection:
            return int(single(connection, f"moved_{part}", {"namespace": namespace}))

    def read(self, namespace: str, part: str, after: Cursor | None, limit: int) -> list[tuple[Cursor, Line]]:
        """Return the next rows of a part."""
        found: list[tuple[Cursor, Line]] = []
        size = 0
        key = {"namespace": namespace, "limit": limit, **place(part, after)}
        with self._use() as connection:
            for values in run(connection, f"move_{part}", key):  # the file is read on only as far as the page goes
                found.append(line_of(part, values))
                size += size_of(values)
                if size > LARGE:
                    break
        return found

    def write(self, namespace: str, part: str, rows: Sequence[Line], before: int) -> None:  # noqa: ARG002  # the port's
        """Append rows to a part."""
        writers: dict[str, Callable[[apsw.Connection, str, Sequence[Line]], None]] = {
            "namespace": _namespace,
            "memory": _memories,
            "recall": _recalls,
            "operation": _operations,
            "journal": _journal,
        }
        with self._use() as connection, transaction(connection):
            try:
                if part in writers:
                    writers[part](connection, namespace, rows)
                else:
                    bring_in(connection, page_of(namespace, part, rows))
            except apsw.ConstraintError as error:
                raise there_already(part) from error


def _namespace(connection: apsw.Connection, namespace: str, rows: Sequence[Line]) -> None:
    for row in rows:
        key = {"namespace": namespace, "at": row["created_ms"], "policy": row["policy"]}
        run(connection, "bump_version", key)


def _memories(connection: apsw.Connection, namespace: str, rows: Sequence[Line]) -> None:
    bring_in(connection, page_of(namespace, "memory", rows))
    _many(connection, "insert_key", ((namespace, key, row["id"]) for row in rows for key in row["keys"]))


def _recalls(connection: apsw.Connection, namespace: str, rows: Sequence[Line]) -> None:
    for row in rows:
        run(connection, "insert_recall", {**row, "namespace": namespace, "hits": json.dumps(row["hits"])})
        run(connection, "count_recall", {"namespace": namespace})


def _operations(connection: apsw.Connection, namespace: str, rows: Sequence[Line]) -> None:
    """Number them in their order; among the operations of other namespaces by the instants that their ids were made."""
    number = int(single(connection, "last_number", {"namespace": namespace}))
    for row in rows:
        number = max(number + 1, _made(row["id"]))
        while single(connection, "number_taken", {"number": number}):
            number += 1
        run(connection, "insert_numbered_operation", {**row, "namespace": namespace, "number": number})


def _made(identity: str) -> int:
    """Return a number that grows with the instant of a UUIDv7; 0 for another id."""
    digits = identity.replace("-", "")[:16]
    number = int(digits, 16) if _HEX.fullmatch(digits) else 0
    return number if number < _LAST_ID else 0


def _journal(connection: apsw.Connection, namespace: str, rows: Sequence[Line]) -> None:
    columns = ("operation", "position", "target", "id", "before", "after", "because")
    _many(connection, "insert_journal", ((namespace, *(row[c] for c in columns)) for row in rows))


def _many(connection: apsw.Connection, name: str, bindings: Iterable[Any]) -> None:
    connection.executemany(registry("sqlite")[name].sql, bindings)
