"""The schema of a file against that of a new one: what differs, and making it as it was."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from functools import cache
from typing import Final

import apsw

from perdure.records.damage import Fault
from perdure.stores.sqlite.connection import run
from perdure.stores.sqlite.lines import add_functions
from perdure.stores.statements import migrations, registry

_FOREIGN: Final = {"trigger", "view", "index"}
"""Kinds of objects that are dropped where they are not ours; a table may hold somebody's data."""
WORDS: Final = ("words", "vocabulary")
_PARTS: Final = "words_"  # how the tables are named that come with the index of words
_ASIDE: Final = "damaged_table"
_NOTHING: Final = {"TEXT": "''", "INTEGER": "0", "REAL": "0.0", "BLOB": "x''"}
"""Type -> what fills a column that was lost and must not be NULL."""


@cache
def new_schema() -> Mapping[tuple[str, str], str]:
    """Return (kind, name) -> statement, of a new file, in the order in which they are made."""
    with _new_file() as fresh:
        return _schema_of(fresh)


@cache
def _new_columns() -> Mapping[str, Mapping[str, str]]:
    """Return table -> column -> what fills it where it was lost, of a new file."""
    with _new_file() as fresh:
        tables = [name for kind, name in _schema_of(fresh) if kind == "table" and not name.startswith((*WORDS, _PARTS))]
        return {table: {column[0]: _filler(*column[1:]) for column in _columns(fresh, table)} for table in tables}


@contextmanager
def _new_file() -> Iterator[apsw.Connection]:
    with closing(apsw.Connection(":memory:")) as fresh:
        add_functions(fresh)
        for _, sql in migrations("sqlite"):
            fresh.execute(sql)
        yield fresh


def _schema_of(connection: apsw.Connection) -> dict[tuple[str, str], str]:
    return {(kind, name): sql for kind, name, sql in run(connection, "schema")}


def _columns(connection: apsw.Connection, table: str) -> list[tuple[str, str, bool, str | None]]:
    """Return (name, type, whether it must not be NULL, default) of the columns that a row is inserted with."""
    rows = run(connection, "table_columns", (table,))
    return [(name, kind, bool(required), default) for name, kind, required, default, _ in rows]


def _filler(kind: str, required: bool, default: str | None) -> str:
    return default or (_NOTHING[kind] if required else "NULL")


def schema_faults(connection: apsw.Connection) -> Iterator[Fault]:
    """Compare the schema with that of a new store, statement by statement: a foreign trigger can lose writes."""
    expected, found = new_schema(), _schema_of(connection)
    for kind, name in expected.keys() - found.keys():
        yield Fault("schema", f"The {kind} {name} is missing.", columns=(kind, name))
    for kind, name in found.keys() - expected.keys():
        yield Fault("schema", f"The {kind} {name} is not Perdure's.", columns=(kind, name))
    for kind, name in found.keys() & expected.keys():
        if found[kind, name] != expected[kind, name]:
            yield Fault("schema", f"The {kind} {name} is not as Perdure made it.", columns=(kind, name))


def restore_schema(connection: apsw.Connection) -> None:
    """Drop what acts and is not ours, and make what is missing or altered of ours; the index of words is empty then.

    A table keeps its rows. A column that was lost is filled with nothing: what its rows held is another's to restore.
    """
    for kind, name in _schema_of(connection).keys() - new_schema().keys():
        if kind in _FOREIGN:
            _drop(connection, kind, name)
    _drop_words(connection)
    for (kind, name), sql in new_schema().items():
        found = _schema_of(connection).get((kind, name))
        if found == sql or name.startswith(_PARTS):
            continue
        if kind == "table" and name not in WORDS:
            with suppress(apsw.Error), _all_or_nothing(connection):  # what cannot be restored goes on being a fault
                _restore_table(connection, name, sql, is_there=found is not None)
            continue
        if found is not None:
            _drop(connection, kind, name)
        connection.execute(sql)


def _drop(connection: apsw.Connection, kind: str, name: str) -> None:
    connection.execute(f"DROP {kind} {quote_name(name)}")


def quote_name(name: str) -> str:
    """Return a name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


@contextmanager
def _all_or_nothing(connection: apsw.Connection) -> Iterator[None]:
    connection.execute("SAVEPOINT restored")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK TO restored; RELEASE restored")
        raise
    connection.execute("RELEASE restored")


def _drop_words(connection: apsw.Connection) -> None:
    """Drop the index of words, also one that has lost a part and cannot be opened any more."""
    try:
        with _all_or_nothing(connection):
            for name in reversed(WORDS):
                connection.execute(f"DROP TABLE IF EXISTS {name}")
    except apsw.Error:
        connection.execute("PRAGMA writable_schema = ON")
        run(connection, "forget_words")
        connection.execute("PRAGMA writable_schema = RESET").fetchall()
    for kind, name in _schema_of(connection):
        if kind == "table" and name.startswith(_PARTS):
            _drop(connection, kind, name)


def _restore_table(connection: apsw.Connection, name: str, sql: str, *, is_there: bool) -> None:
    """Make a table of ours as it was, with the rows under its name, or else those of a table that has its columns."""
    fillers = _new_columns()[name]
    source = name if is_there else _renamed_table(connection, list(fillers))
    if source is None:
        connection.execute(sql)
        return
    present = [column for column, *_ in _columns(connection, source)]
    kept = _old_names(list(fillers), present)
    if set(present) - set(kept.values()):  # what somebody added may hold something
        return
    connection.execute(f"ALTER TABLE {quote_name(source)} RENAME TO {_ASIDE}")
    connection.execute(sql)
    values = ", ".join(quote_name(kept[c]) if c in kept else filler for c, filler in fillers.items())
    slots = {"table": name, "columns": ", ".join(fillers), "values": values}
    connection.execute(re.sub(r"\{(\w+)\}", lambda slot: slots[slot[1]], registry("sqlite")["insert_kept_rows"].sql))
    _drop(connection, "table", _ASIDE)


def _renamed_table(connection: apsw.Connection, columns: Sequence[str]) -> str | None:
    """Return a table that is not ours and has the columns of one that is missing."""
    others = [name for kind, name in _schema_of(connection).keys() - new_schema().keys() if kind == "table"]
    return next((name for name in others if [c for c, *_ in _columns(connection, name)] == columns), None)


def _old_names(columns: Sequence[str], present: Sequence[str]) -> dict[str, str]:
    """Return column -> its name now: the same, or the one in its place that none of ours has."""
    kept = {column: column for column in columns if column in present}
    for column, other in zip(columns, present, strict=False):
        if column not in kept and other not in columns:
            kept[column] = other
    return kept
