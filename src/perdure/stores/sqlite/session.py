"""Running named statements on a file's connection."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final

import apsw

from perdure.stores.statements import filled, registry

_encoded: Final = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":")).encode
"""One encoder for all lists: making it costs as much as encoding ten ids."""


def json_list(values: Iterable[Any]) -> str:
    """Return values as a statement binds a list of them: one text, however many they are."""
    return _encoded(list(values))


def run(connection: apsw.Connection, name: str, bindings: Any = ()) -> apsw.Cursor:
    """Run a named statement."""
    return connection.execute(registry("sqlite")[name].sql, bindings)


def run_many(connection: apsw.Connection, name: str, bindings: Iterable[Any]) -> None:
    """Run a named statement once for each of many bindings."""
    connection.executemany(registry("sqlite")[name].sql, bindings)


def fetch_all(connection: apsw.Connection, name: str, bindings: Any = ()) -> list[tuple[Any, ...]]:
    """Return all rows of a named statement."""
    return run(connection, name, bindings).fetchall()


def fetch_value(connection: apsw.Connection, name: str, bindings: Any = ()) -> Any:
    """Return the one value of a named statement, None where there is no row."""
    return run(connection, name, bindings).get


class SqliteSession:
    """Statements in one namespace of a file. See stores/statements.py."""

    __slots__ = ("connection", "namespace")

    def __init__(self, connection: apsw.Connection, namespace: str) -> None:
        self.connection, self.namespace = connection, namespace

    def run(self, name: str, parts: tuple[str, ...] | None = None, /, **bindings: Any) -> apsw.Cursor:
        text = registry("sqlite")[name].sql if parts is None else filled("sqlite", name, parts)
        for key, value in bindings.items():
            if isinstance(value, list):
                bindings[key] = _encoded(value)
        bindings["namespace"] = self.namespace
        return self.connection.execute(text, bindings)

    def rows(self, name: str, parts: tuple[str, ...] | None = None, /, **bindings: Any) -> list[tuple[Any, ...]]:
        return self.run(name, parts, **bindings).fetchall()

    def several(self, *calls: tuple[str, dict[str, Any]]) -> list[list[tuple[Any, ...]]]:
        return [self.rows(name, **bindings) for name, bindings in calls]

    def value(self, name: str, /, **bindings: Any) -> Any:
        return self.run(name, **bindings).get
