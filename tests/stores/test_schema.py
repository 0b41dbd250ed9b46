from __future__ import annotations

import re
from contextlib import closing
from importlib.resources import files

import apsw
import pytest

from perdure.stores.statements import migrations, registry

SCHEMA = "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name"
FOLDER = files("perdure.stores") / "sql" / "sqlite" / "migrations"
STATEMENTS = registry("sqlite")


@pytest.fixture
def connection(memory, path):
    with closing(apsw.Connection(str(path))) as connection:
        yield connection


def test_migrations_are_numbered_without_a_gap_and_none_is_overlooked():
    numbers = [number for number, _ in migrations("sqlite")]
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) == sum(1 for item in FOLDER.iterdir() if item.name.endswith(".sql"))


def test_the_schema_of_a_new_store_is_its_migrations_in_order(connection):
    with closing(apsw.Connection(":memory:")) as expected:
        for name in sorted(item.name for item in FOLDER.iterdir()):
            expected.execute((FOLDER / name).read_text("utf-8"))
        assert connection.execute(SCHEMA).fetchall() == expected.execute(SCHEMA).fetchall()
    assert connection.pragma("user_version") == len(migrations("sqlite"))
    assert connection.pragma("application_id") == int.from_bytes(b"PERD", "big")
    assert connection.pragma("journal_mode") == "wal"


def test_a_migration_cannot_run_twice(connection):
    for _, sql in migrations("sqlite"):
        with pytest.raises(apsw.SQLError, match="already exists"):
            connection.execute(sql)


def test_opening_again_changes_no_schema(opening, connection):
    before = connection.execute(SCHEMA).fetchall()
    opening()
    assert connection.execute(SCHEMA).fetchall() == before


def test_the_namespace_comes_first_in_every_key(connection):
    local = {"meta", "space"}  # of the file, not of a namespace
    tables = [
        name
        for name, sql in connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'table'")
        if not name.startswith(("words", "sqlite_", "vocabulary")) and name not in local
    ]
    assert len(tables) >= 12
    for table in tables:
        columns = connection.execute(f"PRAGMA table_info({table})").fetchall()
        assert "namespace" in [c[1] for c in columns], table
        key = sorted((c[5], c[1]) for c in columns if c[5])
        if key not in ([(1, "row")], [(1, "number")]):  # physical order in the file; identity is (namespace, id)
            assert key[0] == (1, "namespace"), table
        for _, name, unique, *_ in connection.execute(f"PRAGMA index_list({table})").fetchall():
            first = connection.execute(f"PRAGMA index_info({name})").fetchone()[2]
            assert first == "namespace" or not unique, name


def test_the_hot_table_holds_no_text_and_no_vector(connection):
    columns = {c[1]: c[2] for c in connection.execute("PRAGMA table_info(memory)")}
    assert not {"text", "tags", "metadata", "data", "vector"} & set(columns)
    assert set(columns.values()) == {"INTEGER", "REAL", "TEXT"}


def test_every_statement_of_the_file_is_in_the_registry():
    text = (files("perdure.stores") / "sql" / "sqlite" / "statements.sql").read_text("utf-8")
    names = re.findall(r"^-- name: (\w+)$", text, re.MULTILINE)
    assert names == list(STATEMENTS)
    assert {s.kind for s in STATEMENTS.values()} == {"routed", "fan-out", "admin"}


@pytest.mark.parametrize("name", STATEMENTS)
def test_statements_prepare_against_a_fresh_store(connection, name):
    connection.execute("EXPLAIN " + STATEMENTS[name].sql, _bound(STATEMENTS[name].sql))


def _bound(sql):
    names = re.findall(r":(\w+)", sql)
    numbered = {int(n) for n in re.findall(r"\?(\d+)", sql)}
    return dict.fromkeys(names, 0) if names else (0,) * (max(numbered) if numbered else sql.count("?"))


NAMES_ONE = re.compile(
    r"namespace = (?::namespace|\?)|INSERT INTO \w+ \(namespace,|INSERT INTO memory \(row, namespace,"
)
OF_A_ROW = {"insert_content", "insert_words"}
"""They follow insert_memory and carry the namespace as a value (insert_words as its place)."""


@pytest.mark.parametrize("name", STATEMENTS)
def test_the_kind_of_a_statement_is_true(name):
    statement = STATEMENTS[name]
    if statement.kind == "routed":
        assert NAMES_ONE.search(statement.sql) or (name in OF_A_ROW and "INSERT" in statement.sql)
        assert "IS NULL OR" not in statement.sql
    elif statement.kind == "admin":
        assert re.search(r"\b(words|vocabulary|space|sqlite_sequence)\b", statement.sql) or name == "total_rows"
    else:
        assert statement.sql.lstrip().startswith("SELECT")  # what sees several namespaces only reads


FORBIDDEN = re.compile(
    r"\bnow\s*\(|\bdatetime\s*\(|\bdate\s*\(|strftime|julianday|unixepoch|current_(time|date)|random|randomblob|nextval"
    r"|\bTRIGGER\b|\bMERGE\b|\bRECURSIVE\b|INSERT OR|REPLACE INTO|last_insert_rowid|changes\s*\(",
    re.IGNORECASE,
)


def test_clock_ids_and_randomness_are_parameters_and_nothing_fires_by_itself():
    for statement in STATEMENTS.values():
        assert not FORBIDDEN.search(statement.sql), statement.name
    for number, sql in migrations("sqlite"):
        assert not FORBIDDEN.search(re.sub(r"--.*", "", sql)), number


SCANS = {
    # Sorting a whole namespace is what these are for; they are found through an index on the namespace all the same.
    "fan-out": {"tally", "count_due", "count_without_vector", "operations", "namespaces", "due_namespaces"},
}


@pytest.mark.parametrize("name", [n for n, s in STATEMENTS.items() if s.kind == "routed"])
def test_no_routed_statement_reads_a_table_from_end_to_end(connection, name):
    sql = STATEMENTS[name].sql
    plan = [row[3] for row in connection.execute("EXPLAIN QUERY PLAN " + sql, _bound(sql))]
    assert not [step for step in plan if step.startswith("SCAN") and "CONSTANT ROW" not in step], plan


@pytest.mark.parametrize("name", [n for n, s in STATEMENTS.items() if s.kind == "fan-out"])
def test_only_statistics_read_all_namespaces(connection, name):
    sql = STATEMENTS[name].sql
    plan = [row[3] for row in connection.execute("EXPLAIN QUERY PLAN " + sql, _bound(sql))]
    scans = [step for step in plan if step.startswith("SCAN")]
    assert not scans or name in SCANS["fan-out"], plan
    if name == "due_namespaces":  # asked at every sweep: the namespaces are scanned, the memories are not
        assert [s.split()[1] for s in scans] == ["n"], plan


def test_due_rows_come_in_order_from_their_index(connection):
    for name in ("due_ids", "due_namespaces"):
        sql = STATEMENTS[name].sql
        plan = " ".join(row[3] for row in connection.execute("EXPLAIN QUERY PLAN " + sql, _bound(sql)))
        assert "memory_due" in plan
    sql = STATEMENTS["due_ids"].sql
    assert "TEMP B-TREE" not in str(connection.execute("EXPLAIN QUERY PLAN " + sql, _bound(sql)).fetchall())
