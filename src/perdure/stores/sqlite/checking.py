"""Looking for damage in a file: SQLite's own check, its schema, what must hold between tables, and search indexes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import starmap, zip_longest
from operator import eq
from typing import Any, Final

import apsw
import numpy as np

from perdure.records.damage import CheckScope, Fault
from perdure.records.memory import searchable
from perdure.stores.checking import NamespaceView, broken_rules, journal_faults
from perdure.stores.codes import encode
from perdure.stores.packing import unpacked
from perdure.stores.rows import UNREADABLE
from perdure.stores.sqlite.connection import fetch_all, fetch_value, json_list, run, run_many
from perdure.stores.sqlite.lexical import place_of
from perdure.stores.sqlite.lines import add_functions
from perdure.stores.statements import migrations

OWN_RULES: Final = {"words_without_memory": "index entries without a memory"}
_PAGE: Final = 1000


def find_faults(connection: apsw.Connection, read: NamespaceView, scope: CheckScope) -> Iterator[Fault]:
    """Yield what is wrong.

    Args:
        connection: To the file.
        read: Runs work on one consistent view of a namespace.
        scope: How much is compared with the journal.
    """
    steps = [_file_faults(connection), _schema_faults(connection), _rule_faults(connection)]
    namespaces = [namespace for (namespace,) in _guarded(run(connection, "namespaces"))]
    steps += [journal_faults(read, namespace, scope) for namespace in namespaces]
    if scope.whole:
        steps += [_word_faults(connection), _code_faults(connection)]
    for step in steps:
        try:
            yield from step
        except (apsw.CorruptError, apsw.SQLError) as error:
            yield Fault("file", f"SQLite: {error}.")
        except UNREADABLE as error:
            yield Fault("file", f"A value cannot be read ({error}).")


def _guarded(rows: Iterator[Any]) -> Iterator[Any]:
    """Yield rows as far as they can be read; the file's own check says why the others cannot."""
    try:
        yield from rows
    except apsw.CorruptError:
        return


def _file_faults(connection: apsw.Connection) -> Iterator[Fault]:
    for (text,) in connection.execute("PRAGMA integrity_check"):
        if text != "ok":
            yield Fault("file", f"SQLite: {text}")
    try:
        run(connection, "check_words")
    except apsw.InterruptError:
        raise
    except apsw.ReadOnlyError:
        pass  # the words can only be checked where the file may be written
    except apsw.Error as error:
        yield Fault("words", f"The keyword index is damaged ({error}).")


def _rule_faults(connection: apsw.Connection) -> Iterator[Fault]:
    yield from broken_rules(lambda name: int(fetch_value(connection, name)), OWN_RULES)


def _schema_faults(connection: apsw.Connection) -> Iterator[Fault]:
    """Compare the schema with that of a new store, statement by statement: a foreign trigger can lose writes."""
    with closing(apsw.Connection(":memory:")) as fresh:
        add_functions(fresh)
        for _, sql in migrations("sqlite"):
            fresh.execute(sql)
        expected = {(kind, name): sql for kind, name, sql in run(fresh, "schema")}
    found = {(kind, name): sql for kind, name, sql in run(connection, "schema")}
    for kind, name in expected.keys() - found.keys():
        yield Fault("schema", f"The {kind} {name} is missing.", columns=(kind, name))
    for kind, name in found.keys() - expected.keys():
        yield Fault("schema", f"The {kind} {name} is not Perdure's.", columns=(kind, name))
    for kind, name in found.keys() & expected.keys():
        if found[kind, name] != expected[kind, name]:
            yield Fault("schema", f"The {kind} {name} is not as Perdure made it.", columns=(kind, name))


def _word_faults(connection: apsw.Connection) -> Iterator[Fault]:
    """Index all texts anew beside the file, and compare what each index knows of a memory."""
    with closing(apsw.Connection(":memory:")) as fresh:
        for (sql,) in run(connection, "schema_of_words"):
            fresh.execute(sql)
        owners: dict[int, tuple[str, str]] = {}

        def indexed() -> Iterator[tuple[int, str, str]]:
            for row, namespace, identity, text, pack, speaker in run(connection, "texts_with_rows"):
                owners[row] = namespace, identity
                yield row, searchable(unpacked(text, pack), speaker), place_of(namespace)

        with fresh:
            run_many(fresh, "insert_words", indexed())
        with _entries(fresh, "entries_by_term") as expected, _entries(connection, "entries_by_term") as found:
            if all(starmap(eq, zip_longest(expected, found))):
                return  # both indexes give their entries in the same order
        with _entries(fresh) as expected, _entries(connection) as found:
            sums, others = _sums(expected), _sums(found)
    for row in sorted(sums.keys() | others.keys()):
        if sums.get(row) != others.get(row) and row in owners:
            namespace, identity = owners[row]
            yield Fault("words", "The keyword index does not hold its words.", namespace, identity)


@contextmanager
def _entries(connection: apsw.Connection, statement: str = "entries") -> Iterator[Iterator[Any]]:
    """Give the entries of the index of words in the order of terms: (term, row, column, place), or (term, all that)."""
    run(connection, "create_entries")
    rows = run(connection, statement)
    try:
        yield rows
    finally:
        rows.close()  # not all of them may have been read
        run(connection, "drop_entries")


def _sums(entries: Iterator[Any]) -> dict[int, int]:
    """Return row -> a sum over its entries in the index of words."""
    sums = Counter[int]()
    for term, row, column, offset in entries:
        sums[row] += hash((term, column, offset))
    return dict(sums)


def _code_faults(connection: apsw.Connection) -> Iterator[Fault]:
    """Compare packed codes with the vectors that they were made of."""
    for namespace, space, number, row_bytes, codes in run(connection, "all_segments"):
        rows = np.frombuffer(row_bytes, "<i8")
        packed = np.frombuffer(codes, "<u8").reshape(len(rows), -1)
        for start in range(0, len(rows), _PAGE):
            wanted = rows[start : start + _PAGE]
            key = {"namespace": namespace, "space": space, "rows": json_list(wanted.tolist())}
            vectors = dict(fetch_all(connection, "vectors_at", key))
            known = np.array([row in vectors for row in wanted.tolist()])
            if not known.any():
                continue
            data = np.frombuffer(b"".join(vectors[r] for r in wanted[known].tolist()), np.int8).reshape(known.sum(), -1)
            if (encode(data).astype("<u8") != packed[start : start + _PAGE][known]).any():
                yield Fault("codes", f"The packed codes {number} are not those of the vectors.", namespace)
                break
