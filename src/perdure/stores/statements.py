"""Named SQL statements, read from the .sql files beside the stores, and how they are run in one namespace."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final, Literal, Protocol, cast

from perdure.records.recall import Filters
from perdure.stores.rows import STATE_COLUMNS

Kind = Literal["routed", "fan-out", "admin", "part"]

_LISTS: Final = frozenset({"filter_tags", "filter_entity", "filter_said_in"})
_STATEMENT: Final = re.compile(r"-- name: (?P<name>\w+)\n-- kind: (?P<kind>[\w-]+)\n(?P<sql>.*?;)\n", re.DOTALL)
_LIST_SLOT: Final = re.compile(r"\{listed:(\w+)\}")
_LIST: Final = {"sqlite": r"IN (SELECT value FROM json_each(:\1))", "postgres": r"= ANY(CAST(:\1 AS text[]))"}
_VECTORS: Final = {"sqlite": "vector", "postgres": "embedding"}
_MIGRATION: Final = re.compile(r"(\d{4})_\w+\.sql")


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement: its name, whether it names one namespace, and its text."""

    name: str  # as in the file
    # ``routed`` names one namespace, ``fan-out`` may see several and only reads, ``admin`` is about the database
    # itself, ``part`` is a condition that fills a slot of the others
    kind: Kind
    sql: str  # the text; of a part without the semicolon


@cache
def registry(engine: str) -> dict[str, Statement]:
    """Return the statements of an engine by name: those of every engine, and its own.

    In those of every engine ``{listed:NAME}`` stands for the test against a bound list of texts, and ``{vectors}`` for
    the table of vectors.
    """
    folder = files("perdure.stores") / "sql"
    shared = (folder / "common.sql").read_text("utf-8").replace("{vectors}", _VECTORS[engine])
    text = _LIST_SLOT.sub(_LIST[engine], shared) + (folder / engine / "statements.sql").read_text("utf-8")
    found = {}
    for m in _STATEMENT.finditer(text.replace("{state}", ", ".join(f"m.{column}" for column in STATE_COLUMNS))):
        sql = m["sql"].rstrip(";") if m["kind"] == "part" else m["sql"]
        found[m["name"]] = Statement(m["name"], cast("Kind", m["kind"]), sql)
    return found


@cache
def fill_filters(engine: str, name: str, parts: tuple[str, ...]) -> str:
    """Return a statement whose slot ``{filters}`` holds some parts of the registry, joined by AND.

    Where it has a slot ``{among}``, those parts that list rows stand there.
    """
    statements = registry(engine)
    text = statements[name].sql
    listing = [p for p in parts if p in _LISTS] if "{among}" in text else []
    testing = [p for p in parts if p not in listing]
    for slot, names in (("{among}", listing), ("{filters}", testing)):
        text = text.replace(slot, " AND ".join(statements[p].sql for p in names) or "true")
    return text


_REPEATED_SLOT: Final = re.compile(r"\{(sets|tests|after|before):([^{}]*)\}")
_SEPARATORS: Final = {"sets": ", ", "tests": " AND ", "after": "", "before": ""}


@cache
def with_columns(
    engine: str,
    name: str,
    columns: tuple[str, ...],
    checked: tuple[str, ...],
    news: str = "",
    types: tuple[tuple[str, str], ...] = (),
) -> str:
    """Return the update statement for some columns: each slot's pattern is repeated for each column.

    A slot ``{sets:PATTERN}`` or ``{after:PATTERN}`` repeats its pattern for the columns that are set,
    ``{tests:PATTERN}`` or ``{before:PATTERN}`` for those that are compared. ``COLUMN`` stands for the name, ``TYPE``
    for its SQL type. ``checked`` are columns whose value before is compared, ``news`` names a part that is set besides,
    ``types`` are SQL types where the engine's statement asks for them.
    """
    type_of = dict(types)

    def repeat_pattern(match: re.Match[str]) -> str:
        slot, pattern = match[1], match[2]
        targets = columns if slot in {"sets", "after"} else checked
        parts = [pattern.replace("COLUMN", c).replace("TYPE", type_of.get(c, "")) for c in targets]
        if slot == "sets" and news:
            parts.append(registry(engine)[news].sql)
        return _SEPARATORS[slot].join(parts) or ("true" if slot == "tests" else "")

    return _REPEATED_SLOT.sub(repeat_pattern, registry(engine)[name].sql)


def filter_parts(filters: Filters) -> tuple[tuple[str, ...], dict[str, object]]:
    """Return the names of the parts that a filter needs, and their bindings; lists stay lists.

    The entity is not among them: it is a matter of words.
    """
    bindings: dict[str, object] = {}
    names: list[str] = [] if filters.include_archived else ["filter_active"]
    if filters.isolated:
        inside = filters.seen_inside
        names.append("filter_shared" if inside is None else "filter_inside")
        bindings |= {} if inside is None else {"inside": inside}
    tests: Sequence[tuple[str, str, object]] = (
        ("filter_kinds", "kinds", [k.value for k in filters.kinds] or None),
        ("filter_scopes", "scopes", [s.value for s in filters.scopes] or None),
        ("filter_session", "session", filters.session),
        ("filter_since", "since", filters.since),
        ("filter_until", "until", filters.until),
        ("filter_as_of", "as_of", filters.as_of),
        ("filter_known_at", "known_at", filters.known_at),
        # What is stored is at least what is left of it now.
        ("filter_confidence", "min_confidence", filters.min_confidence or None),
        ("filter_tags", "tags", list(dict.fromkeys(filters.tags)) or None),
    )
    for part, binding, value in tests:
        if value is not None:
            names.append(part)
            bindings[binding] = value
    if filters.tags:
        bindings["tag_count"] = len(set(filters.tags))
    return tuple(names), bindings


@cache
def migrations(engine: str) -> tuple[tuple[int, str], ...]:
    """Return an engine's migrations as (number, SQL), in order."""
    folder = files("perdure.stores") / "sql" / engine / "migrations"
    found = [
        (int(m[1]), item.read_text("utf-8")) for item in folder.iterdir() if (m := _MIGRATION.fullmatch(item.name))
    ]
    return tuple(sorted(found))


Line = tuple[str, str, str, str | None, str | None, str | None]
"""Operation, target, id, before, after, because."""


class Session(Protocol):
    """Runs named statements; routed ones are bound to its namespace. Lists are bound as lists in every dialect."""

    def run(self, name: str, /, **bindings: Any) -> Any:
        """Run a statement whose answer does not matter."""

    def rows(self, name: str, parts: tuple[str, ...] | None = None, /, **bindings: Any) -> list[tuple[Any, ...]]:
        """Return all rows of a statement. ``parts`` are conditions of the registry that fill the slot ``{filters}``."""

    def lines(self, name: str, /, **bindings: Any) -> list[Line]:
        """Return lines of the journal that a statement finds, as texts."""

    def several(self, *calls: tuple[str, dict[str, Any]]) -> list[list[tuple[Any, ...]]]:
        """Return the rows of statements that do not need each other's answers; a server is asked them all at once."""

    def value(self, name: str, /, **bindings: Any) -> Any:
        """Return the one value of a statement, None where there is no row."""
