"""Moving a file's rows out and in; what is derived from them is made anew by the one writer."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Final

import apsw

from perdure.records.errors import InvalidInput
from perdure.records.transfer import Cursor, Line
from perdure.stores.sqlite.connection import SqliteSession, run, run_many, transaction
from perdure.stores.sqlite.writing import insert_lines, write_rows
from perdure.stores.transfer import LARGE, SqlTransfer, line_of, page_of, resume_bindings, size_of, there_already

_HEX: Final = re.compile(r"[0-9a-f]{16}")
_LAST_ID: Final = 2**60  # ids of the year 10889; larger numbers would leave no room for what comes later


class SqliteTransfer(SqlTransfer):
    """Rows of one file."""

    def __init__(
        self,
        rows: Callable[..., list[tuple[Any, ...]]],
        shared: Callable[..., list[tuple[Any, ...]]],
        use: Callable[[], AbstractContextManager[apsw.Connection]],
        check_writable: Callable[[], None],
    ) -> None:
        super().__init__(rows, shared)
        self._use, self._check_writable = use, check_writable

    def read(self, namespace: str, part: str, after: Cursor | None, limit: int) -> list[tuple[Cursor, Line]]:
        found: list[tuple[Cursor, Line]] = []
        size = 0
        key = {"namespace": namespace, "limit": limit, **resume_bindings(part, after)}
        with self._use() as connection:
            for values in run(connection, f"move_{part}", key):  # the file is read on only as far as the page goes
                found.append(line_of(part, values))
                size += size_of(values)
                if size > LARGE:
                    break
        return found

    def write(self, namespace: str, part: str, rows: Sequence[Line], before: int) -> None:  # noqa: ARG002  # the protocol's
        self._check_writable()
        with self._use() as connection, transaction(connection):
            session = SqliteSession(connection, namespace)
            try:
                if part in _WRITERS:
                    _WRITERS[part](session, rows)
                else:
                    write_rows(session, page_of(namespace, part, rows))
            except apsw.ConstraintError as error:
                raise there_already(part) from error


def _write_namespace(session: SqliteSession, rows: Sequence[Line]) -> None:
    for row in rows:
        session.run("bump_version", at=row["created_ms"], policy=row["policy"], vectors=0, documents=0)


def _write_memories(session: SqliteSession, rows: Sequence[Line]) -> None:
    written = write_rows(session, page_of(session.namespace, "memory", rows)).rows
    keys = ((session.namespace, key, written[row["id"]]) for row in rows for key in row["keys"])
    run_many(session.connection, "insert_key", keys)


def _write_recalls(session: SqliteSession, rows: Sequence[Line]) -> None:
    for row in rows:
        session.run("insert_recall", **row)
        session.run("count_recall")


def _write_operations(session: SqliteSession, rows: Sequence[Line]) -> None:
    """Number them in their order; among the operations of other namespaces by the instants that their ids were made."""
    number = int(session.value("last_number"))
    for row in rows:
        number = max(number + 1, _instant_of_id(row["id"]))
        while session.value("number_taken", number=number):
            number += 1
        session.run("insert_operation", number=number, **row)


def _instant_of_id(identity: str) -> int:
    """Return a number that grows with the instant of a UUIDv7; 0 for another id."""
    digits = identity.replace("-", "")[:16]
    number = int(digits, 16) if _HEX.fullmatch(digits) else 0
    return number if number < _LAST_ID else 0


def _write_journal(session: SqliteSession, rows: Sequence[Line]) -> None:
    operations = {row["operation"] for row in rows}
    numbers = {row[1]: row[0] for row in session.rows("operations_named", operations=list(operations))}
    if missing := operations - numbers.keys():
        raise InvalidInput(
            f"The journal has lines of the operation {min(missing)}, which is not there.",
            remedy="Export again from a store that a check calls sound.",
        )
    insert_lines(session, ((numbers[row["operation"]], row) for row in rows))


_WRITERS: Final[dict[str, Callable[[SqliteSession, Sequence[Line]], None]]] = {
    "namespace": _write_namespace,
    "memory": _write_memories,
    "recall": _write_recalls,
    "operation": _write_operations,
    "journal": _write_journal,
}
"""Parts that no plan holds, or not whole."""
