"""Every text that can reach a database keeps the rules of SQL, in every engine; and the rules can be broken."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
import sqlglot

import perdure.stores
from conftest import every
from perdure.stores.statements import migrations, registry
from stores.sql_rules import ENGINES, FOLDER, broken_migration, broken_statement, namespaced, statements

STORES = Path(perdure.stores.__file__).parent
ALL = [(engine, name) for engine in ENGINES for name in statements(engine)]


def test_there_is_a_registry_of_every_engine():
    assert "sqlite" in ENGINES
    for engine in ENGINES:
        files = (FOLDER / "common.sql", FOLDER / engine / "statements.sql")
        text = "".join(file.read_text("utf-8") for file in files)
        assert re.findall(r"^-- name: (.*)$", text, re.MULTILINE) == list(registry(engine))  # none stands twice
        assert len(namespaced(engine)) >= 10


WAYS = ((r"= ANY\(CAST\((:\w+) AS text\[\]\)\)", r"IN (SELECT value FROM json_each(\1))"), (r"\bembedding\b", "vector"))
"""What only the server writes so -> how a file writes the same: common.sql has a slot for each."""


def own_texts(engine, common):
    """What an engine's own statements say, whatever their names, lines, comments, capitals and the server's ways."""
    texts = {}
    for name, statement in registry(engine).items():
        sql = statement.sql
        for way, same in WAYS:
            sql = re.sub(way, same, sql)
        if name not in common:
            texts[tuple(t.text.casefold() for t in sqlglot.tokenize(sql, read="sqlite"))] = name
    return texts


def test_what_both_engines_say_stands_once():
    common = set(re.findall(r"^-- name: (.*)$", (FOLDER / "common.sql").read_text("utf-8"), re.MULTILINE))
    one, other = (own_texts(engine, common) for engine in ENGINES)
    assert len(common) > 100
    assert {one[text]: other[text] for text in one.keys() & other.keys()} == {}
    assert len(own_texts(ENGINES[0], set()).keys() & own_texts(ENGINES[1], set()).keys()) == len(common)


def test_no_engine_says_the_same_under_two_names():
    for engine in ENGINES:
        assert len(own_texts(engine, set())) == len(registry(engine))


def bodies(folder):
    """What the functions of a folder do, in whatever file and under whatever name; stubs and operators are no work."""
    found = {}
    for file in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("__"):
                work = [ast.dump(n) for n in (node.body[1:] if ast.get_docstring(node) else node.body)]
                found.setdefault("".join(work), []).append(f"{file.name}:{node.name}")
    return {work: places for work, places in found.items() if work not in {"", ast.dump(ast.Expr(ast.Constant(...)))}}


def test_what_a_method_of_a_store_does_stands_once():
    done = bodies(STORES)
    assert len(done) > 600
    assert [places for places in done.values() if len(places) > 1] == []


def test_a_method_that_stands_twice_is_found(tmp_path):
    for name in ("one", "other"):
        (tmp_path / f"{name}.py").write_text(f'def {name}(x):\n    """{name}."""\n    return x + 1\n', "utf-8")
    assert [sorted(places) for places in bodies(tmp_path).values()] == [["one.py:one", "other.py:other"]]


@every(ALL)
def test_a_statement_breaks_no_rule(engine, name):
    kind, sql = statements(engine)[name]
    assert not re.search(r"\{\w|COLUMN\b", sql)
    assert broken_statement(engine, name, kind, sql) == []


@pytest.mark.parametrize(("engine", "number"), [(e, n) for e in ENGINES for n, _ in migrations(e)])
def test_a_migration_breaks_no_rule(engine, number):
    assert broken_migration(engine, dict(migrations(engine))[number]) == []


BAD = {
    "a table without the namespace": ("routed", "SELECT id FROM memory WHERE id = :id;"),
    "the namespace only in an OR": ("routed", "SELECT id FROM memory WHERE namespace = :namespace OR pinned = 1;"),
    "the namespace perhaps": ("routed", "SELECT id FROM memory WHERE :namespace IS NULL OR namespace = :namespace;"),
    "a join by the row alone": (
        "routed",
        "SELECT m.id FROM memory AS m JOIN content AS c ON c.row = m.row WHERE m.namespace = :namespace;",
    ),
    "a subquery without it": (
        "routed",
        "SELECT id FROM memory WHERE namespace = :namespace AND EXISTS (SELECT 1 FROM tag AS t WHERE t.tag = :tag);",
    ),
    "a tie that an outer join does not make": (
        "routed",
        "SELECT m.id FROM memory AS m LEFT JOIN link AS l ON m.namespace = :namespace AND l.namespace = m.namespace;",
    ),
    "a tie in a subquery": (
        "routed",
        "SELECT 1 FROM memory AS m WHERE NOT EXISTS (SELECT 1 FROM tag AS t WHERE m.namespace = :n);",
    ),
    "half a union": (
        "routed",
        "SELECT id FROM link WHERE namespace = :namespace UNION ALL SELECT other FROM link WHERE id = :id;",
    ),
    "two namespaces": (
        "routed",
        "SELECT a.id FROM memory AS a JOIN memory AS b ON b.id = a.id WHERE a.namespace = :one AND b.namespace = :two;",
    ),
    "two unnamed namespaces": (
        "routed",
        "SELECT a.id FROM memory AS a JOIN memory AS b ON b.id = a.id WHERE a.namespace = ? AND b.namespace = ?;",
    ),
    "tied to each other and to nothing": (
        "routed",
        "SELECT m.id FROM memory AS m JOIN content AS c ON c.namespace = m.namespace WHERE m.id = :id;",
    ),
    "a list of namespaces": ("routed", "SELECT id FROM memory WHERE namespace IN (:namespace, :other);"),
    "nothing of a namespace": ("routed", "SELECT number FROM space WHERE name = :name;"),
    "an update of all": ("routed", "UPDATE memory SET held = 0 WHERE id = :id;"),
    "a delete of all": ("routed", "DELETE FROM tag WHERE row = :row;"),
    "an insert of a constant": ("routed", "INSERT INTO tag (namespace, tag, row) VALUES ('a', :tag, :row);"),
    "an insert that reads everywhere": (
        "routed",
        "INSERT INTO access (namespace, id, at_ms, times) SELECT m.namespace, m.id, 1, 1 FROM memory AS m;",
    ),
    "an insert with the namespace last": (
        "routed",
        "INSERT INTO tag (tag, row, namespace) VALUES (:tag, :row, :namespace);",
    ),
    "an insert without columns": ("routed", "INSERT INTO tag VALUES (:namespace, :tag, :row);"),
    "a conflict on the id alone": (
        "routed",
        (
            "INSERT INTO access (namespace, id, at_ms, times) VALUES (:namespace, :id, 1, 1) "
            "ON CONFLICT (id) DO UPDATE SET times = 2;"
        ),
    ),
    "a conflict that moves a row": (
        "routed",
        (
            "INSERT INTO access (namespace, id, at_ms, times) VALUES (:namespace, :id, 1, 1) "
            "ON CONFLICT (namespace, id) DO UPDATE SET namespace = :other;"
        ),
    ),
    "a row that moves": ("routed", "UPDATE memory SET namespace = :to WHERE namespace = :namespace AND id = :id;"),
    "a fan-out that writes": ("fan-out", "DELETE FROM access WHERE at_ms < :at RETURNING id;"),
    "an admin that looks into memories": ("admin", "SELECT count(*) FROM memory;"),
    "an admin that empties a table": ("admin", "DELETE FROM journal;"),
    "no kind": ("other", "SELECT number FROM space;"),
    "two statements": ("fan-out", "SELECT id FROM memory; SELECT id FROM content;"),
    "a clock": ("fan-out", "SELECT count(*) FROM memory WHERE due_ms < now();"),
    "another clock": ("fan-out", "SELECT count(*) FROM memory WHERE due_ms < CURRENT_TIMESTAMP;"),
    "a clock by its word": ("fan-out", "SELECT strftime('%s', 'now');"),
    "chance": ("fan-out", "SELECT id FROM memory ORDER BY random() LIMIT 1;"),
    "an id from the database": ("admin", "SELECT gen_random_uuid();"),
    "a number from the database": ("admin", "SELECT nextval('numbers');"),
    "a merge": ("routed", "MERGE INTO tag USING tag AS t ON tag.row = t.row WHEN MATCHED THEN DELETE;"),
    "recursion": ("fan-out", "WITH RECURSIVE r AS (SELECT 1 UNION SELECT 2) SELECT * FROM r;"),
    "a lock of its own": ("admin", "SELECT pg_advisory_xact_lock(1);"),
    "a bell": ("admin", "NOTIFY changes;"),
    "a lasting setting": ("admin", "SET work_mem = '1GB';"),
    "a lasting setting by function": ("admin", "SELECT set_config('hnsw.ef_search', '100', false);"),
    "a replacement": ("routed", "INSERT OR REPLACE INTO tag (namespace, tag, row) VALUES (:namespace, :tag, :row);"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_statement_is_refused(name):
    kind, sql = BAD[name]
    assert broken_statement("sqlite", name, kind, sql)


ON_A_CLUSTER = {
    "an insert of a list": "INSERT INTO tag (namespace, tag, row) SELECT :namespace, i.* FROM unnest(:t, :r) AS i;",
    "a list beside a table, and the parameter": (
        "INSERT INTO tag (namespace, tag, row) SELECT :namespace, i.* FROM namespace AS n "
        "CROSS JOIN unnest(:t, :r) AS i WHERE n.namespace = :namespace;"
    ),
}


@pytest.mark.parametrize("name", ON_A_CLUSTER)
def test_an_insert_that_a_worker_cannot_run_is_refused(name):
    assert any("distributed" in broken for broken in broken_statement("postgres", "x", "routed", ON_A_CLUSTER[name]))


IN_THE_ROW_AROUND = "SELECT v.row FROM embedding AS v WHERE v.namespace = c.namespace AND v.row = c.row"
ASKED_OF_ALL = {
    "a value": f"SELECT c.id, ({IN_THE_ROW_AROUND}) FROM content AS c WHERE c.namespace = :namespace;",
    "a test": f"SELECT c.id, EXISTS ({IN_THE_ROW_AROUND}) FROM content AS c WHERE c.namespace = :namespace;",
    "an alternative": (
        f"SELECT c.id FROM content AS c WHERE c.namespace = :namespace AND (c.row = 1 OR EXISTS ({IN_THE_ROW_AROUND}));"
    ),
    "a list": f"SELECT c.id FROM content AS c WHERE c.namespace = :namespace AND c.row IN ({IN_THE_ROW_AROUND});",
    "a table": (
        f"SELECT c.id FROM content AS c CROSS JOIN LATERAL ({IN_THE_ROW_AROUND}) AS x WHERE c.namespace = :namespace;"
    ),
    "what an update sets": f"UPDATE content AS c SET length = ({IN_THE_ROW_AROUND}) WHERE c.namespace = :namespace;",
}


@pytest.mark.parametrize("name", ASKED_OF_ALL)
def test_a_sub_select_for_which_every_node_would_be_asked_is_refused(name):
    sql = ASKED_OF_ALL[name]
    assert any("every node" in broken for broken in broken_statement("postgres", "x", "routed", sql))
    named = sql.replace("v.namespace = c.namespace", "v.namespace = :namespace")
    assert broken_statement("postgres", "x", "routed", named) == []


@pytest.mark.parametrize("test", ["EXISTS", "NOT EXISTS"])
def test_a_test_that_becomes_a_join_may_have_its_namespace_from_the_row_around_it(test):
    sql = f"SELECT c.id FROM content AS c WHERE c.namespace = :namespace AND {test} ({IN_THE_ROW_AROUND});"
    assert broken_statement("postgres", "x", "routed", sql) == []


@pytest.mark.parametrize(
    "function", ["run_command_on_placements", "run_command_on_shards", "citus_total_relation_size"]
)
def test_a_question_to_a_node_for_each_piece_of_a_table_is_refused(function):
    sql = f"SELECT * FROM {function}('memory', 'SELECT 1');"
    assert any("each piece" in broken for broken in broken_statement("postgres", "x", "admin", sql))


@pytest.mark.parametrize(
    "start", ["(SELECT namespace FROM namespace ORDER BY namespace LIMIT 9) AS n", "space AS n", "first AS n"]
)
def test_an_outer_join_by_which_the_coordinator_crashes_is_refused(start):
    sql = "WITH first AS (SELECT 1 AS namespace) SELECT d.id FROM {} LEFT JOIN document AS d USING (namespace);"
    assert any("outer join" in broken for broken in broken_statement("postgres", "x", "fan-out", sql.format(start)))
    assert broken_statement("postgres", "x", "fan-out", sql.format("namespace AS n")) == []


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE POLICY own ON memory USING (namespace = (SELECT current_setting('perdure.namespace', true)));",
        "CREATE POLICY own ON journal FOR INSERT WITH CHECK (op IN (SELECT id FROM operation)) USING (SELECT true);",
    ],
)
def test_a_policy_with_a_sub_select_is_refused(sql):
    assert any("sub-select" in broken for broken in broken_migration("postgres", sql))


BAD_SCHEMA = {
    "a table without a namespace": "CREATE TABLE x (id TEXT PRIMARY KEY);",
    "a key of its own": "CREATE TABLE x (namespace TEXT, id TEXT PRIMARY KEY);",
    "a key that ends with it": "CREATE TABLE x (namespace TEXT, id TEXT, PRIMARY KEY (id, namespace));",
    "a unique column": "CREATE TABLE x (namespace TEXT, id TEXT UNIQUE);",
    "a unique pair": "CREATE TABLE x (namespace TEXT, id TEXT, UNIQUE (id, namespace));",
    "a unique index": "CREATE UNIQUE INDEX i ON memory (id);",
    "a foreign key": "CREATE TABLE x (namespace TEXT, id TEXT, FOREIGN KEY (id) REFERENCES memory (id));",
    "a reference": "CREATE TABLE x (namespace TEXT PRIMARY KEY, id TEXT REFERENCES memory (id));",
    "a clock as default": "CREATE TABLE x (namespace TEXT PRIMARY KEY, at TEXT DEFAULT CURRENT_TIMESTAMP);",
    "a clock in a default": "CREATE TABLE x (namespace TEXT PRIMARY KEY, at TEXT DEFAULT (datetime('now')));",
    "a number that counts": "CREATE TABLE x (namespace TEXT, number INTEGER PRIMARY KEY AUTOINCREMENT);",
    "a serial": "CREATE TABLE x (namespace TEXT, number BIGSERIAL, PRIMARY KEY (namespace, number));",
    "an identity": "CREATE TABLE x (namespace TEXT PRIMARY KEY, n BIGINT GENERATED ALWAYS AS IDENTITY);",
    "a sequence": "CREATE SEQUENCE numbers;",
    "a trigger": "CREATE TRIGGER t AFTER INSERT ON memory BEGIN SELECT 1; END;",
    "a storage parameter": "CREATE TABLE x (namespace TEXT PRIMARY KEY) WITH (fillfactor = 70);",
    "a range": "CREATE TABLE x (namespace TEXT PRIMARY KEY, valid tstzrange);",
    "what cannot be read": "CREATE VIRTUAL TABLE others USING fts5 (text);",
}


@pytest.mark.parametrize("name", BAD_SCHEMA)
def test_a_bad_migration_is_refused(name):
    assert broken_migration("sqlite", BAD_SCHEMA[name])


GOOD = {
    "a planner's hint for one transaction": ("admin", "SELECT set_config('hnsw.ef_search', '100', true);"),
    "a subquery that is tied outward": (
        "routed",
        (
            "SELECT m.id FROM memory AS m WHERE m.namespace = :namespace AND NOT EXISTS "
            "(SELECT 1 FROM tag AS t WHERE t.namespace = m.namespace AND t.row = m.row);"
        ),
    ),
    "a chain of ties": (
        "routed",
        (
            "SELECT c.id FROM memory AS m JOIN content AS c ON c.namespace = m.namespace AND c.row = m.row "
            "JOIN vector AS v ON v.namespace = c.namespace AND v.row = c.row WHERE v.namespace = :namespace;"
        ),
    ),
}


@pytest.mark.parametrize("name", GOOD)
def test_a_good_statement_passes(name):
    kind, sql = GOOD[name]
    assert broken_statement("sqlite", name, kind, sql) == []


SQL = re.compile(r"\bSELECT\b.*\bFROM\b|\bINSERT\s+INTO\b|\bUPDATE\b.*\bSET\b|\bDELETE\s+FROM\b", re.DOTALL)


def sql_texts(source):
    """The string literals of a file that hold SQL; f-strings as they are written, docstrings excepted."""
    tree = ast.parse(source)
    bare = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr)}  # texts that stand alone document
    texts = []
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            texts.append("".join(p.value if isinstance(p, ast.Constant) else "{}" for p in node.values))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in bare:
            texts.append(node.value)
    return [text for text in texts if SQL.search(text)]


NO_STORE = {"local.py", "statements.py"}
"""The first sets up a server of its own as its superuser: users, a database, replicas. No table of Perdure's is
touched. The second reads the statements, and fills in how each engine tests against a list."""
CODE = sorted(p for p in STORES.rglob("*.py") if p.name not in NO_STORE)


@pytest.mark.parametrize("path", CODE, ids=lambda p: p.relative_to(STORES).as_posix())
def test_no_code_holds_sql(path):
    assert sql_texts(path.read_text("utf-8")) == []


def test_sql_in_code_is_found():
    assert sql_texts('x = "SELECT a FROM b"')
    assert sql_texts('x = f"DELETE FROM {table}"')
    assert sql_texts('x = ("UPDATE memory "\n"SET held = 0")')
    assert sql_texts('"""SELECT a FROM b"""\nx = "select one"') == []
