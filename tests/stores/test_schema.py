from __future__ import annotations

import re
import shutil
from contextlib import closing
from importlib.resources import files
from pathlib import Path

import apsw
import pytest

from perdure.stores.checking import RULES
from perdure.stores.rows import STATE_COLUMNS
from perdure.stores.sqlite import broken_texts, rebuilding
from perdure.stores.sqlite.checking import OWN_RULES
from perdure.stores.sqlite.lines import add_functions
from perdure.stores.sqlite.store import SqliteStore
from perdure.stores.statements import fill_filters, migrations, registry
from stores.sql_rules import statements

SCHEMA = "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name"
FOLDER = files("perdure.stores") / "sql" / "sqlite" / "migrations"
STATEMENTS = statements("sqlite")


@pytest.fixture(scope="module")
def new(tmp_path_factory):
    path = tmp_path_factory.mktemp("schema") / "new.db"
    SqliteStore(str(path)).close()
    return path


@pytest.fixture
def file(new, tmp_path):
    """A new store of this engine, whatever the other tests run on."""
    return Path(shutil.copy(new, tmp_path / "schema.db"))


@pytest.fixture
def connection(file):
    with closing(apsw.Connection(str(file))) as connection:
        add_functions(connection)
        for name, function in (*rebuilding._FUNCTIONS.items(), ("as_text", broken_texts._as_text)):
            connection.create_scalar_function(name, function, 1)
        connection.execute(registry("sqlite")["create_entries"].sql)  # what a check makes for itself
        yield connection


def test_migrations_are_numbered_without_a_gap_and_none_is_overlooked():
    numbers = [number for number, _ in migrations("sqlite")]
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) == sum(1 for item in FOLDER.iterdir() if item.name.endswith(".sql"))


def test_the_schema_of_a_new_store_is_its_migrations_in_order(connection):
    with closing(apsw.Connection(":memory:")) as expected:
        add_functions(expected)
        for name in sorted(item.name for item in FOLDER.iterdir()):
            expected.execute((FOLDER / name).read_text("utf-8"))
        assert connection.execute(SCHEMA).fetchall() == expected.execute(SCHEMA).fetchall()
    assert connection.pragma("user_version") == len(migrations("sqlite"))
    assert connection.pragma("application_id") == int.from_bytes(b"PERD", "big")
    assert connection.pragma("journal_mode") == "wal"


def test_a_migration_cannot_run_twice(connection):
    for _, sql in migrations("sqlite"):
        with pytest.raises(apsw.SQLError, match=r"already exists|duplicate column|no such column"):
            connection.execute(sql)


def test_opening_again_changes_no_schema(file, connection):
    before = connection.execute(SCHEMA).fetchall()
    SqliteStore(str(file)).close()
    assert connection.execute(SCHEMA).fetchall() == before


def test_the_namespace_comes_first_in_every_key(connection):
    local = {"meta", "space", "token", "login"}  # of the file, not of a namespace
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


def prepared(connection, name, how="EXPLAIN QUERY PLAN "):
    sql = STATEMENTS[name][1].replace("VALUES (id)", "VALUES (:id)")  # what is salvaged is bound
    names = re.findall(r":(\w+)", sql)
    return connection.execute(how + sql, dict.fromkeys(names, 0) if names else (0,) * sql.count("?")).fetchall()


def steps(connection, name):
    return [row[3] for row in prepared(connection, name)]


def scans(connection, name):
    """What is read from end to end; not bound lists, what FTS5 finds through its index, the few embedding spaces."""
    own = re.compile(r"CONSTANT ROW|VIRTUAL TABLE|SCAN space$|\(subquery-")
    return [s for s in steps(connection, name) if s.startswith("SCAN") and not own.search(s)]


def named(kind):
    return [name for name, (its, _) in STATEMENTS.items() if its == kind]


@pytest.mark.parametrize("name", [n for n, (_, sql) in STATEMENTS.items() if re.search(r"\bid = packed_id\(", sql)])
def test_lines_of_the_journal_about_one_memory_are_found_by_an_index(connection, name):
    """Erasing 5,000 memories read the whole journal of the namespace 5,000 times."""
    about = [step for step in steps(connection, name) if re.search(r"(SEARCH|SCAN) (j|journal)\b", step)]
    assert about
    assert all("journal_memory (namespace=? AND id=?" in step for step in about)


@pytest.fixture
def repaired(connection):
    """The same with what compacting and repairs make before they run their statements."""
    for table in ("filling (zeros BLOB)", "lost (id TEXT)", "damaged_table (id TEXT)"):
        connection.execute(f"CREATE TEMP TABLE {table}")
    connection.execute("PRAGMA writable_schema = ON")
    return connection


@pytest.mark.parametrize("name", STATEMENTS)
def test_statements_prepare_against_a_fresh_store(connection, name, request):
    if STATEMENTS[name][0] == "admin":
        connection = request.getfixturevalue("repaired")
    prepared(connection, name, "EXPLAIN ")


def test_every_filter_fits_alone_and_all_of_them_together(connection):
    parts = [name for name, s in registry("sqlite").items() if name.startswith("filter_") and s.kind == "part"]
    assert len(parts) == 13
    for chosen in [(), *[(p,) for p in parts], tuple(parts)]:
        sql = fill_filters("sqlite", "passing", chosen)
        connection.execute("EXPLAIN " + sql, dict.fromkeys(re.findall(r":(\w+)", sql), 0))


def test_states_are_read_in_the_order_of_their_fields():
    for name in ("records", "states"):
        read = re.findall(r"\bm\.(\w+)", STATEMENTS[name][1].split("FROM")[0])
        assert tuple(read[-len(STATE_COLUMNS) :]) == STATE_COLUMNS


WHOLE = {
    "leases",  # who works now: a few rows
    "tally",
    "count_due",
    "count_changes",
    "count_without_vector",
    "memories_without_vector",
    "operations",
    "namespaces",
    "due_namespaces",
    "overdue_namespaces",
    "find_ids",
    "words_of_memories",
    "words_of_journal",
    "words_of_documents",
    "words_of_recalls",
    "words_of_notes",
    "texts_with_rows",
    "all_segments",
    "lost_namespaces",
    "filled_spaces",
    *RULES,
    *OWN_RULES,
}
"""Reading every namespace is what these are for: statistics, searching for damage, proving that a text is gone."""


@pytest.mark.parametrize("name", named("routed"))
def test_no_routed_statement_reads_a_table_from_end_to_end(connection, name):
    assert scans(connection, name) == []


@pytest.mark.parametrize("name", named("fan-out"))
def test_only_statistics_read_all_namespaces(connection, name):
    found = scans(connection, name)
    assert not found or name in WHOLE
    # The namespaces are scanned, and what was found of each; the memories are not.
    expected = {"due_namespaces": ["n"], "overdue_namespaces": ["n", "w"], "find_ids": ["n"]}
    if name in expected:
        assert [s.split()[1] for s in found] == expected[name]


def test_rows_are_looked_up_by_their_address_or_their_whole_key(connection):
    """A list of rows or ids must not lead through an index on the namespace: that reads all of it."""
    of_rows = ("records", "states", "narrow", "texts", "vectors_at", "vectors_of", "beside", "duplicate", "new_vectors")
    checked = (
        "lines_about",
        "story_of",
        "documents_at",
        "links_at",
        "links_from",
        "links_of",
        "links_to",
        "keys_of",
        "delete_vectors",
    )
    for name in (*of_rows, *checked):
        found = [s for s in steps(connection, name) if s.startswith("SEARCH")]
        assert found
        assert not [s for s in found if s.endswith("(namespace=?)")], name


def test_documents_are_looked_up_by_their_name(connection):
    """What is known of one subject must not take a look at every fact of the namespace."""
    found = [s for s in steps(connection, "documents_named") if s.startswith("SEARCH")]
    assert found == ["SEARCH d USING INDEX document_name (namespace=? AND shelf=? AND name=?)"]


def test_ids_are_found_by_their_short_form_and_by_their_beginning_through_an_index(connection):
    for name, index in (
        ("find_ids", "memory_identity"),
        ("find_ids_of", "memory_identity"),
        ("find_short_ids", "memory_short_id"),
        ("find_short_ids_of", "memory_short_id"),
        ("find_operations", "operation_id"),
        ("find_short_operations", "operation_short_id"),
        ("find_short_operations_of", "operation_short_id"),
    ):
        (found,) = [s for s in steps(connection, name) if s.startswith("SEARCH")]
        assert re.search(rf"INDEX {index} \(.*[<>]\?", found), (name, found)


def test_memories_are_counted_along_an_index(connection):
    for name in ("tally", "tally_of"):
        told = steps(connection, name)
        assert any("INDEX memory_counts" in step for step in told), (name, told)
        assert not any("TEMP B-TREE FOR GROUP BY" in step for step in told), (name, told)


def test_what_left_the_view_is_counted_without_reading_what_is_in_view(connection):
    assert any("INDEX memory_unfit (namespace=?" in step for step in steps(connection, "gone_by_day"))


def test_the_newest_operations_come_in_order_and_documents_by_their_names(connection):
    told = steps(connection, "operations_of")
    assert any("INDEX operation_order (namespace=?)" in step for step in told), told
    assert not any("TEMP B-TREE" in step for step in told), told
    told = steps(connection, "documents_named")
    assert any("INDEX document_name (namespace=? AND shelf=? AND name=?)" in step for step in told), told


def test_due_rows_come_in_order_from_their_index(connection):
    for name in ("due_ids", "held_ids", "due_namespaces", "overdue_namespaces"):
        assert "memory_due" in " ".join(steps(connection, name))
        assert "TEMP B-TREE" not in " ".join(steps(connection, name))


def test_the_newest_memories_in_view_come_in_order_from_their_index(connection):
    sql = fill_filters("sqlite", "list_records", ("filter_active",))
    found = connection.execute(f"EXPLAIN QUERY PLAN {sql}", {"namespace": "default", "limit": 50}).fetchall()
    told = " ".join(row[3] for row in found)
    assert "memory_newest" in told
    assert "TEMP B-TREE FOR ORDER BY" not in told
