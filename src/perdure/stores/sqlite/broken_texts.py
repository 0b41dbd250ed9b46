"""Texts of a file that are no UTF-8: a driver refuses the row that holds one, and all rows that are read with it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import apsw

from perdure.records.damage import Fault

NOT_UTF8: Final = "codec can't decode"
"""What the message of a fault has that came of such a text."""


def broken_texts(connection: apsw.Connection) -> Iterator[Fault]:
    """Yield where a text is none, with the id of its row where that has one. All texts are read."""
    for table, column, named in _columns(connection):
        names = ", ".join(_name(name) if name in named else "NULL" for name in ("namespace", "id"))
        for row in connection.execute(f"SELECT {names} FROM {table} WHERE {_is_broken(column)}"):
            namespace, identity = (None if value is None else _as_text(value) for value in row)
            yield Fault(
                "unreadable", f"{table[1:-1]}.{column[1:-1]} is no text (UTF-8).", namespace, identity, (column[1:-1],)
            )


def mend_texts(connection: apsw.Connection) -> None:
    """Put a sign for each byte that is none of a text, so that the row can be read and repaired as any wrong one."""
    for table, column, _ in _columns(connection):
        sets = f"{column} = as_text(CAST({column} AS BLOB))"
        connection.execute(f"UPDATE OR IGNORE {table} SET {sets} WHERE {_is_broken(column)}")


def _columns(connection: apsw.Connection) -> Iterator[tuple[str, str, set[str]]]:
    """Yield each table that is not virtual with each of its columns, and the names of all of them."""
    function: Any = _as_text
    connection.create_scalar_function("as_text", function, 1, deterministic=True)
    query = "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite%'"
    for (table,) in connection.execute(query).fetchall():
        columns = [name for (name,) in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))]
        for column in columns:
            yield f'"{table}"', f'"{column}"', set(columns)


def _name(column: str) -> str:
    """Return what has a column's bytes where it holds text: some ids are packed."""
    return f"CASE typeof({column}) WHEN 'text' THEN CAST({column} AS BLOB) END"


def _is_broken(column: str) -> str:
    as_bytes = f"CAST({column} AS BLOB)"
    return f"typeof({column}) = 'text' AND CAST(as_text({as_bytes}) AS BLOB) <> {as_bytes}"


def _as_text(value: Any) -> str:
    return bytes(value).decode("utf-8", "replace")
