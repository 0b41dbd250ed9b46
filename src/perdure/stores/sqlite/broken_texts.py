"""Texts of a file that are no UTF-8: a driver refuses the row that holds one, and all rows that are read with it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

import apsw

from perdure.records.damage import Fault
from perdure.stores.statements import registry

NOT_UTF8: Final = "codec can't decode"
"""What the message of a fault has that came of such a text."""
_NAMES: Final = ("namespace", "id")


def broken_texts(connection: apsw.Connection) -> Iterator[Fault]:
    """Yield where a text is none, with the id of its row where that has one. All texts are read."""
    for table, column, among in _columns(connection):
        named = ", ".join(_bytes_of(name) if name in among else "NULL" for name in _NAMES)
        for row in connection.execute(_fill_slots("broken_texts", table, column).replace("{columns}", named)):
            namespace, identity = (None if value is None else _as_text(value) for value in row)
            yield Fault("unreadable", f"{table}.{column} is no text (UTF-8).", namespace, identity, (column,))


def mend_texts(connection: apsw.Connection) -> None:
    """Put a sign for each byte that is none of a text, so that the row can be read and repaired as any wrong one."""
    for table, column, _ in _columns(connection):
        with suppress(apsw.ConstraintError):  # two rows that would be one are another fault
            connection.execute(_fill_slots("mend_texts", table, column))


def _columns(connection: apsw.Connection) -> Iterator[tuple[str, str, set[str]]]:
    """Yield each table that is not virtual with each of its columns, and the names of all of them."""
    function: Any = _as_text
    connection.create_scalar_function("as_text", function, 1, deterministic=True)
    known = registry("sqlite")
    for (found,) in connection.execute(known["every_table"].sql).fetchall():
        table = str(found)
        columns = [str(name) for name, *_ in connection.execute(known["table_columns"].sql, (table,)).fetchall()]
        for column in columns:
            yield table, column, set(columns)


def _fill_slots(name: str, table: str, column: str) -> str:
    return registry("sqlite")[name].sql.replace("{table}", f'"{table}"').replace("{column}", f'"{column}"')


def _bytes_of(column: str) -> str:
    """Return what has a column's bytes where it holds text: some ids are packed."""
    return f"CASE typeof({column}) WHEN 'text' THEN CAST({column} AS BLOB) END"


def _as_text(value: Any) -> str:
    return bytes(value).decode("utf-8", "replace")
