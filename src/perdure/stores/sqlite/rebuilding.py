"""Making anew what a file derives from its rows: search indexes, counts, the schema around them. No memory changes."""

from __future__ import annotations

from contextlib import closing
from itertools import product
from typing import Any, Final

import apsw

from perdure.records.memory import searchable
from perdure.stores.packing import unpacked
from perdure.stores.sqlite.connection import transaction
from perdure.stores.sqlite.lexical import place_of
from perdure.stores.sqlite.lines import add_functions
from perdure.stores.sqlite.session import run
from perdure.stores.statements import migrations

_STEPS: Final = (
    *(f"clear_orphan_{name}" for name in ("contents", "vectors", "accesses", "keys")),
    *("clear_tags", "fill_tags", "clear_segments", "clear_cells", "recount"),
)
_FOREIGN: Final = {"trigger", "view", "index"}
"""Kinds of objects that are dropped where they are not ours; a table may hold somebody's data."""


def rebuild(connection: apsw.Connection) -> None:
    """Rebuild what is derived, in one transaction: triggers that are not ours go first, since they act on the rest."""
    with transaction(connection):
        _restore_schema(connection)
        for namespace, name in product([n for (n,) in run(connection, "namespaces")], _STEPS):
            run(connection, name, {"namespace": namespace})
        _rebuild_words(connection)


def _restore_schema(connection: apsw.Connection) -> None:
    """Drop triggers, views and indexes that are not ours, and create what is missing of ours."""
    with closing(apsw.Connection(":memory:")) as fresh:
        add_functions(fresh)
        for _, sql in migrations("sqlite"):
            fresh.execute(sql)
        expected = {(kind, name): sql for kind, name, sql in run(fresh, "schema")}
    found = {(kind, name) for kind, name, _ in run(connection, "schema")}
    for kind, name in found - expected.keys():
        if kind in _FOREIGN:
            quoted = name.replace('"', '""')
            connection.execute(f'DROP {kind} "{quoted}"')
    for key, sql in expected.items():
        if key not in found and sql and not key[1].startswith("words_"):
            connection.execute(sql)


def _rebuild_words(connection: apsw.Connection) -> None:
    made = [sql for (sql,) in run(connection, "schema_of_words")]
    run(connection, "drop_vocabulary")
    run(connection, "drop_words")
    for sql in made:
        connection.execute(sql)
    rows: list[Any] = run(connection, "texts_with_rows").fetchall()
    for row, namespace, _, text, pack, speaker in rows:
        run(connection, "insert_words", (row, searchable(unpacked(text, pack), speaker), place_of(namespace)))
