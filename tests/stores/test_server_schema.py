"""The tables of a server: spreading them over a cluster, the schema that a URL names, and what a database must be."""

from __future__ import annotations

import re

import psycopg
import pytest

from conftest import WORDS_ONLY, Clock, HashEmbedder, as_operator, opened, servers
from perdure.compose import address_of, migrate
from perdure.records.errors import InvalidInput, NodeUnavailable, StoreError, StoreTooOld
from perdure.stores.postgres import distribution, faults, schema
from perdure.stores.postgres.distribution import migration_steps, tables
from perdure.stores.statements import migrations
from stores.sql_rules import namespaced


@pytest.fixture(scope="module")
def store():
    return "postgres"


def test_every_table_is_known_and_whether_it_belongs_to_namespaces():
    made = {t for _, sql in migrations("postgres") for t in re.findall(r"^CREATE TABLE (\w+)", sql, re.MULTILINE)}
    assert set(tables()) == made | {"meta"}
    assert {table for table, spread in tables().items() if spread} == namespaced("postgres")


@pytest.mark.skipif(not servers().on_cluster(), reason="it takes a cluster")
def test_what_a_store_takes_on_a_cluster_is_what_its_nodes_keep(path):
    with opened(path, WORDS_ONLY, Clock()) as memory:
        before = memory.compact().bytes_before
        for place in ("light", "dark", "lamp"):
            memory.remember_many([f"{place} {number} " + "of the harbour " * 50 for number in range(200)], place)
        grown = memory.compact().bytes_before - before
    assert grown > 600 * 750  # the texts alone


@pytest.mark.skipif(not servers().on_cluster(), reason="it takes a cluster")
def test_pieces_of_two_stores_in_one_database_are_moved_apart(elsewhere):
    """A cluster moves, and locks, a piece of a table with those of all tables that it keeps together with it."""
    (first,), (second,) = kept_together(elsewhere()), kept_together(elsewhere())
    assert first != second


def kept_together(url):
    """The groups in which a cluster keeps the tables of a store that are spread by namespace."""
    with servers().reader(url) as connection:
        told = connection.execute(
            "SELECT DISTINCT p.colocationid FROM pg_dist_partition AS p JOIN pg_class AS c ON c.oid = p.logicalrelid"
            " WHERE p.partmethod = 'h' AND c.relnamespace = CAST(current_schema() AS regnamespace)"
        )
        return [group for (group,) in told]


@pytest.mark.skipif(not servers().on_cluster(), reason="it takes a cluster")
def test_compacting_vacuums_every_piece_of_a_table_on_a_cluster(path):
    with opened(path, WORDS_ONLY, Clock()) as memory, servers().reader(path) as connection:
        memory.remember_many([f"{number} of the harbour" for number in range(20)])
        pieces = connection.execute(
            "SELECT count(*) FROM pg_dist_shard WHERE logicalrelid = CAST('memory' AS regclass)"
        )
        before = vacuums(connection)
        memory.compact(dry_run=False)
        assert vacuums(connection) - before == pieces.fetchone()[0]


def vacuums(connection):
    """How often pieces of the table of memories were vacuumed, all together."""
    command = "SELECT vacuum_count FROM pg_stat_user_tables WHERE relid = CAST(%L AS regclass)"
    counts = connection.execute("SELECT result FROM run_command_on_placements('memory', %s)", (command,), prepare=False)
    return sum(int(count) for (count,) in counts)


def test_policies_say_the_same_on_a_cluster_without_sub_selects():
    for _, sql in migrations("postgres"):
        here, there = (migration_steps(sql, distributed=d) for d in (False, True))
        for one, other in zip(here, there, strict=True):
            bare = re.sub(r"\(SELECT (current_setting\('[a-z.]+', true\))\)", r"\1", one)
            bare = re.sub(r"\(SELECT (current_setting\('[a-z.]+', true\)) WHERE (.*?\))\)(?=\))", r"\1 AND \2", bare)
            assert bare == other


@as_operator
def test_without_citus_it_says_so_and_the_tables_stay_as_they_are(path):
    steps = []
    with pytest.raises(StoreError, match="citus"):
        migrate(path, say=steps.append, distribute=True)
    assert steps == []
    assert opened(path).check() == []


def test_a_schema_without_tables_is_not_taken_for_the_next_one_on_the_path(path):
    with opened(path) as memory:
        memory.remember("a secret of the other deployment")
    with psycopg.connect(path, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS app2 CASCADE")  # of a run before, on a given server
        connection.execute("CREATE SCHEMA app2")
    url = servers().with_parameter(path, "options=-csearch_path%3Dapp2,public")
    with pytest.raises(StoreTooOld):
        opened(url)
    migrate(url)
    with opened(url) as memory:
        assert memory.list() == []


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII", "WIN1252"])
def test_texts_are_unicode_whatever_the_client_is_said_to_speak(path, monkeypatch, encoding):
    monkeypatch.setenv("PGCLIENTENCODING", encoding)
    with opened(path) as memory:
        kept = memory.remember("na\u00efve caf\u00e9 \u4e16\u754c")
        assert memory.get(kept.id).content == "na\u00efve caf\u00e9 \u4e16\u754c"
    monkeypatch.delenv("PGCLIENTENCODING")
    with opened(path) as memory:
        assert memory.list()[0].content == "na\u00efve caf\u00e9 \u4e16\u754c"


def test_a_database_that_is_not_unicode_is_refused():
    server = servers().server()  # it takes an operator to make one
    with psycopg.connect(server.dsn("postgres", "postgres"), autocommit=True) as operator:
        operator.execute("DROP DATABASE IF EXISTS latin")
        operator.execute("CREATE DATABASE latin TEMPLATE template0 ENCODING 'SQL_ASCII' LOCALE 'C' OWNER perdure")
    with pytest.raises(StoreError, match="encoding is SQL_ASCII"):
        migrate(server.dsn("latin"))


def test_a_name_that_no_index_can_hold_is_refused_and_nothing_is_stored(path):
    long = "".join(chr(0x20000 + 37 * i % 40000) for i in range(1000))
    with opened(path, WORDS_ONLY) as memory:
        for more in ({"session": long}, {"idempotency_key": long}):
            with pytest.raises(InvalidInput, match="too long"):
                memory.remember("x", **more)
        assert memory.list() == []
        assert memory.check() == []


ADDED = "memory_of_a_later_release"


def extend(path):
    """Do what a migration may do under a running service: more columns, tables and indexes, and the mark that says so.

    Each statement is one that a cluster takes, too.
    """
    later = migrations("postgres")[-1][0] + 1
    with servers().reader(path) as operator:
        for table in ("namespace", "memory", "content", "embedding", "link", "access", "operation", "journal"):
            operator.execute(f"ALTER TABLE {table} ADD COLUMN of_a_later_release text DEFAULT 'x'")
        operator.execute("CREATE TABLE of_a_later_release (namespace text PRIMARY KEY)")
        operator.execute(f"CREATE INDEX {ADDED} ON memory (namespace, of_a_later_release)")
        operator.execute(f"UPDATE meta SET value = '{later}' WHERE key = 'schema'")
        operator.execute(f"INSERT INTO meta VALUES ('oldest', '{later - 1}')")


def has_later(path):
    """Whether what a later version has made is still there."""
    with servers().reader(path) as operator:
        return operator.execute("SELECT to_regclass(%s) IS NOT NULL", (ADDED,)).fetchone() == (True,)


def test_the_previous_release_works_on_tables_that_a_later_one_has_extended(path):
    extend(path)
    clock = Clock()
    with opened(path, WORDS_ONLY, clock, HashEmbedder()) as memory:
        kept = memory.remember_many(["the deploy is on tuesday", "alice likes green tea"])
        assert memory.recall("deploy").hits[0].memory.id == kept[0].id
        clock.passes(days=30)
        swept = memory.sweep()
        assert swept.moved
        memory.undo(swept.operations[0])
        memory.pin(kept[1].id)
        assert memory.why(kept[1].id).history
        assert memory.maintain("worker").failed == {}
        assert memory.check() == []


def test_a_process_finds_no_fault_with_what_a_later_release_adds_while_it_runs(path):
    """It took the later version's indexes and columns for somebody else's, and its repair dropped the indexes."""
    with opened(path, WORDS_ONLY, Clock()) as memory:
        memory.remember("the deploy is on tuesday")
        extend(path)
        assert memory.check(full=True) == []
        memory.repair(dry_run=False)
        assert has_later(path)


@as_operator
def test_repairing_what_is_damaged_leaves_what_a_later_release_added(path):
    extend(path)
    with opened(path, WORDS_ONLY, Clock()) as memory:
        memory.remember("the deploy is on tuesday")
        with servers().reader(path) as operator:
            operator.execute("DELETE FROM posting")
        assert memory.check(full=True) != []
        memory.repair(dry_run=False)
        assert memory.check(full=True) == []
        assert memory.recall("deploy").hits
        assert has_later(path)


CITUS = """
CREATE TABLE pg_dist_partition (logicalrelid regclass, beside text);
GRANT SELECT ON pg_dist_partition TO PUBLIC;
CREATE SEQUENCE tries;
CREATE FUNCTION create_reference_table(t regclass) RETURNS void LANGUAGE sql AS
  'INSERT INTO pg_dist_partition VALUES (t)';
CREATE FUNCTION undistribute_table(t regclass) RETURNS void LANGUAGE sql AS
  'DELETE FROM pg_dist_partition WHERE logicalrelid = t';
CREATE FUNCTION create_distributed_table(t regclass, c text, colocate_with text DEFAULT '') RETURNS void
  LANGUAGE plpgsql AS
  $$ BEGIN
    IF t::text = (SELECT value FROM meta WHERE key = 'breaks at') THEN
      RAISE 'the connection to a worker was lost';
    END IF;
    IF t::text = (SELECT value FROM meta WHERE key = 'meets at') AND nextval('tries') = 1 THEN
      RAISE 'involved in a distributed deadlock' USING ERRCODE = '40P01';
    END IF;
    INSERT INTO pg_dist_partition VALUES (t, colocate_with);
  END $$;
SET allow_system_table_mods = on;
INSERT INTO pg_extension SELECT 999999, 'citus', extowner, extnamespace, extrelocatable, '13.2', NULL, NULL
  FROM pg_extension WHERE extname = 'plpgsql';
"""
"""What Perdure calls of Citus, as functions that write down what they were asked: no cluster is at hand."""


@as_operator
def test_a_distribution_that_stops_leaves_nothing_and_the_next_one_does_all(path):
    with servers().reader(path) as operator:
        operator.execute(CITUS)
        operator.execute("INSERT INTO meta VALUES ('breaks at', 'posting')")
        url = servers().server().dsn(path.rsplit("/", 1)[1], "postgres")
        with pytest.raises(StoreError, match="worker was lost"):
            migrate(url, distribute=True)
        asked = "SELECT CAST(logicalrelid AS text) FROM pg_dist_partition"
        subselects = "SELECT count(*) FROM pg_policies WHERE concat(qual, with_check) LIKE '%SELECT%'"
        assert operator.execute(asked).fetchall() == []
        assert operator.execute(subselects).fetchone() > (0,)
        operator.execute("DELETE FROM meta WHERE key = 'breaks at'")
        migrate(url, distribute=True)
        assert {t for (t,) in operator.execute(asked)} == tables().keys() - {"token", "login"}
        beside = operator.execute("SELECT DISTINCT beside FROM pg_dist_partition WHERE beside IS NOT NULL ORDER BY 1")
        assert beside.fetchall() == [("namespace",), ("none",)]  # with no tables of others, which would move with them
        assert operator.execute(subselects).fetchone() == (0,)
        steps = []
        migrate(url, say=steps.append)
        assert not [step for step in steps if "namespace" in step]


@as_operator
def test_a_distribution_that_meets_another_transaction_is_tried_again_whole(path):
    with servers().reader(path) as operator:
        operator.execute(CITUS)
        operator.execute("INSERT INTO meta VALUES ('meets at', 'posting')")
        migrate(servers().server().dsn(path.rsplit("/", 1)[1], "postgres"), distribute=True)
        assert operator.execute("SELECT last_value FROM tries").fetchone() == (2,)
        assert operator.execute("SELECT count(*) FROM pg_dist_partition").fetchone() == (len(tables()) - 2,)


@as_operator
def test_on_a_distributed_store_it_is_noticed_where_row_level_security_does_not_hold(path):
    with servers().reader(path) as operator:
        operator.execute(CITUS)
        migrate(servers().server().dsn(path.rsplit("/", 1)[1], "postgres"), distribute=True)
        assert faults_found(path) == []
        operator.execute("ALTER TABLE memory NO FORCE ROW LEVEL SECURITY")
        operator.execute("ALTER TABLE journal DISABLE ROW LEVEL SECURITY")
        operator.execute("ALTER POLICY one_namespace ON content USING (true)")
        assert faults_found(path) == [
            "The policy content.one_namespace is not as Perdure made it.",
            "The table journal is not as Perdure made it.",
            "The table memory is not as Perdure made it.",
        ]


@pytest.mark.skipif(not servers().on_cluster(), reason="it takes a cluster")
def test_a_repair_puts_row_level_security_back_on_a_cluster(path):
    with psycopg.connect(address_of(path).dsn, autocommit=True) as owner, opened(path) as memory:
        memory.remember("the deploy is on tuesday")
        assert faults_found(path) == []
        owner.execute("ALTER TABLE memory NO FORCE ROW LEVEL SECURITY")
        owner.execute("ALTER POLICY one_namespace ON content USING (true)")
        assert faults_found(path) == [
            "The policy content.one_namespace is not as Perdure made it.",
            "The table memory is not as Perdure made it.",
        ]
        memory.repair(dry_run=False)
        assert faults_found(path) == []
        assert memory.check(full=True) == []


def faults_found(path):
    with opened(path) as memory:
        return sorted(memory.check())


NODE_DOWN = """
CREATE FUNCTION lost() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  RAISE 'connection to the remote node perdure@10.0.0.9:5432 failed' USING ERRCODE = '08006';
END $$;
"""


@as_operator
def test_tokens_are_made_and_revoked_while_a_node_is_down(path, monkeypatch):
    monkeypatch.setattr(faults, "PATIENCE", 0.1)
    with servers().reader(path) as operator:
        operator.execute(CITUS + NODE_DOWN)
        operator.execute("INSERT INTO pg_dist_partition VALUES ('token')")  # as an earlier version kept it
        url = servers().server().dsn(path.rsplit("/", 1)[1], "postgres")
        migrate(url, distribute=True)
        for (table,) in operator.execute("SELECT CAST(logicalrelid AS text) FROM pg_dist_partition").fetchall():
            operator.execute(f"CREATE TRIGGER lost BEFORE INSERT OR UPDATE ON {table} EXECUTE FUNCTION lost()")
    with opened(path) as memory:
        with pytest.raises(NodeUnavailable):
            memory.remember("what lies on the node")
        made = memory.create_token("agent", "*", actor="bob")
        assert not memory.revoke_token(made.token.id).valid


LATER = """
-- What a later version may add; a table of its own, and a policy of one that is there.
CREATE TABLE later (namespace text COLLATE "C" PRIMARY KEY, told text NOT NULL);
ALTER TABLE later ENABLE ROW LEVEL SECURITY;
ALTER TABLE later FORCE ROW LEVEL SECURITY;
CREATE POLICY one_namespace ON later USING ({own}) WITH CHECK ({own});
CREATE POLICY telling ON journal FOR DELETE USING (because = 'later' AND {own});
"""


@as_operator
def test_a_table_that_a_later_version_adds_is_distributed_without_being_asked(path, monkeypatch, request):
    with servers().reader(path) as operator:
        operator.execute(CITUS)
        url = servers().server().dsn(path.rsplit("/", 1)[1], "postgres")
        migrate(url, distribute=True)
        more = (*migrations("postgres"), (migrations("postgres")[-1][0] + 1, LATER))
        for module in (schema, distribution):
            monkeypatch.setattr(module, "migrations", lambda _: more)
        tables.cache_clear()
        request.addfinalizer(tables.cache_clear)
        steps = []
        assert migrate(url, say=steps.append) == 1
        assert steps[:2] == [f"schema {more[-1][0]}", "later: by namespace"]
        found = operator.execute(
            "SELECT policyname FROM pg_policies WHERE tablename IN ('later', 'journal')"
            " AND concat(qual, with_check) NOT LIKE '%SELECT%' ORDER BY 1"
        )
        assert {"one_namespace", "telling"} <= {name for (name,) in found}
