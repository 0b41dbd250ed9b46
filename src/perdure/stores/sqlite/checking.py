"""Looking for damage in a file: SQLite's own check, its schema, what must hold between tables, and search indexes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
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
_LAST_ROW: Final = 2**63 - 1


def find_faults(connection: apsw.Connection, read: NamespaceView, scope: CheckScope) -> Iterator[Fault]:
    """Yield what is wrong.

    Args:
        connection: To the file.
        read: Runs work on one consistent view of a namespace.
        scope: How much is compared with the journal.
    """
    steps = [_file_faults(connection), _schema_faults(connection), _rule_faults(connection)]
    namespaces = [namespace for (namespace,) in _readable_rows(run(connection, "namespaces"))]
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


def _readable_rows(rows: Iterator[Any]) -> Iterator[Any]:
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
    with connection, _index_beside(connection) as fresh, _index_beside(connection) as copy:
        owners: dict[int, tuple[str, str]] = {}

        def indexed() -> Iterator[tuple[int, str, str]]:
            for row, namespace, identity, text, pack, speaker in run(connection, "texts_with_rows"):
                owners[row] = namespace, identity
                yield row, searchable(unpacked(text, pack), speaker), place_of(namespace)

        with fresh:
            run_many(fresh, "insert_words", indexed())
        with copy:
            for part in ("blocks", "words_pages"):
                run_many(copy, f"insert_{part}", run(connection, part))
        sizes = [list(run(index, "sizes_of_texts")) for index in (fresh, connection)]
        if sizes[0] == sizes[1] and _merge_index(fresh) == _merge_index(copy):
            return
        sums, others = _sums(fresh), _sums(connection)
    for row in sorted(sums.keys() | others.keys()):
        if sums.get(row) != others.get(row) and row in owners:
            namespace, identity = owners[row]
            yield Fault("words", "The keyword index does not hold its words.", namespace, identity)


@contextmanager
def _index_beside(connection: apsw.Connection) -> Iterator[apsw.Connection]:
    """Give an empty index of words in memory, made as that of the file."""
    with closing(apsw.Connection(":memory:")) as beside:
        for (sql,) in run(connection, "schema_of_words"):
            beside.execute(sql)
        yield beside


def _merge_index(index: apsw.Connection) -> list[Any]:
    """Merge an index into one segment and return it: equal entries make equal bytes. A last one has it written anew."""
    with index:
        run_many(index, "insert_words", [(_LAST_ROW, "last", "")])
        run(index, "merge_words")
    return list(run(index, "blocks_in_order"))


def _sums(index: apsw.Connection) -> dict[int, int]:
    """Return row -> a sum over its entries in an index of words and their number."""
    sums = Counter[int]()
    run(index, "create_entries")
    for term, row, column, offset in run(index, "entries"):
        sums[row] += hash((term, column, offset))
    run(index, "drop_entries")
    for row, size in run(index, "sizes_of_texts"):
        sums[row] += hash(size)
    return dict(sums)


def _code_faults(connection: apsw.Connection) -> Iterator[Fault]:
    """Compare packed codes with the vectors that they were made of."""
    for namespace, space, number, row_bytes, codes in run(connection, "all_segments"):
        rows = np.frombuffer(row_bytes, "<i8")
        packed = np.frombuffer(codes, "<u8").reshape(len(rows), -1)
        for start in range(0, len(rows), _PAGE):
            page = rows[start : start + _PAGE]
            key = {"namespace": namespace, "space": space, "rows": json_list(page.tolist())}
            vectors = dict(fetch_all(connection, "vectors_at", key))
            mask = np.array([row in vectors for row in page.tolist()])
            if not mask.any():
                continue
            data = np.frombuffer(b"".join(vectors[r] for r in page[mask].tolist()), np.int8).reshape(mask.sum(), -1)
            if (encode(data).astype("<u8") != packed[start : start + _PAGE][mask]).any():
                yield Fault("codes", f"The packed codes {number} are not those of the vectors.", namespace)
                break
