"""Named SQL statements, read from the .sql files beside the stores: the registry of everything a store may run."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final, Literal, cast

Route = Literal["routed", "fan-out", "admin"]

_STATEMENT: Final = re.compile(r"-- name: (?P<name>\w+)\n-- kind: (?P<kind>[\w-]+)\n(?P<sql>.*?;)\n", re.DOTALL)
_MIGRATION: Final = re.compile(r"(\d{4})_\w+\.sql")


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement: its name, whether it names one namespace, and its text."""

    name: str
    kind: Route
    sql: str


@cache
def registry(engine: str) -> dict[str, Statement]:
    """Return the statements of an engine by name."""
    text = (files("perdure.stores") / "sql" / engine / "statements.sql").read_text("utf-8")
    return {m["name"]: Statement(m["name"], cast("Route", m["kind"]), m["sql"]) for m in _STATEMENT.finditer(text)}


@cache
def migrations(engine: str) -> tuple[tuple[int, str], ...]:
    """Return an engine's migrations as (number, SQL), in order."""
    folder = files("perdure.stores") / "sql" / engine / "migrations"
    found = [
        (int(m[1]), item.read_text("utf-8")) for item in folder.iterdir() if (m := _MIGRATION.fullmatch(item.name))
    ]
    return tuple(sorted(found))
