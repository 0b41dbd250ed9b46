"""The tables of a server: spreading them over a cluster, the schema that a URL names, and what a database must be."""

from __future__ import annotations

import re

import psycopg
import pytest

from conftest import WORDS_ONLY, Clock, HashEmbedder, opened, servers
from perdure.compose import migrate
from perdure.records.errors import InvalidInput, StoreError, StoreTooOld
from perdure.stores.postgres.schema import distribution, undistributed
from perdure.stores.statements import migrations


@pytest.fixture(scope="module")
def store():
    return "postgres"


def named():
    return re.findall(r"SELECT create_(reference|distributed)_table\('(\w+)'", "\n".join(distribution()))


def test_every_table_is_distributed_by_its_namespace_or_kept_on_every_node():
    made = {t for _, sql in migrations("postgres") for t in re.findall(r"^CREATE TABLE (\w+)", sql, re.MULTILINE)}
    assert {t for _, t in named()} == made | {"meta"}
    assert {t for kind, t in named() if kind == "reference"} == {"meta", "space"}
    spread = [s for s in distribution() if "create_distributed_table" in s]
    assert all("'namespace'" in s.split(",", 1)[1] for s in spread)
    assert all("colocate_with => 'namespace'" in s for s in spread[1:])


def test_an_interrupted_distribution_goes_on_with_the_tables_that_are_left():
    done = {"meta", "space", "namespace", "lease"}
    left = undistributed(done)
    assert not [s for s in left for t in done if f"table('{t}'" in s]
    assert len(left) == len(distribution()) - len(done)
    assert [s for s in undistributed({t for _, t in named()}) if "table(" in s] == []


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
        connection.execute("CREATE SCHEMA app2")
    url = f"{path}{'&' if '?' in path else '?'}options=-csearch_path%3Dapp2,public"
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
    with psycopg.connect(server.superuser_dsn, autocommit=True) as operator:
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


def test_the_previous_release_works_on_tables_that_a_later_one_has_extended(path):
    """What a migration may do under a running service: more columns, more tables, and the mark that says so."""
    later = migrations("postgres")[-1][0] + 1
    with servers().reader(path) as operator:
        for table in ("namespace", "memory", "content", "embedding", "link", "access", "operation", "journal"):
            operator.execute(f"ALTER TABLE {table} ADD COLUMN of_a_later_release text DEFAULT 'x'")
        operator.execute("CREATE TABLE of_a_later_release (namespace text PRIMARY KEY)")
        operator.execute(f"UPDATE meta SET value = '{later}' WHERE key = 'schema'")
        operator.execute(f"INSERT INTO meta VALUES ('oldest', '{later - 1}')")
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


CITUS = """
CREATE TABLE pg_dist_partition (logicalrelid regclass);
GRANT SELECT ON pg_dist_partition TO PUBLIC;
CREATE FUNCTION create_reference_table(t regclass) RETURNS void LANGUAGE sql AS
  'INSERT INTO pg_dist_partition VALUES (t)';
CREATE FUNCTION create_distributed_table(t regclass, c text, colocate_with text DEFAULT '') RETURNS void
  LANGUAGE plpgsql AS
  $$ BEGIN
    IF t::text = (SELECT value FROM meta WHERE key = 'breaks at') THEN
      RAISE 'the connection to a worker was lost';
    END IF;
    INSERT INTO pg_dist_partition VALUES (t);
  END $$;
SET allow_system_table_mods = on;
INSERT INTO pg_extension SELECT 999999, 'citus', extowner, extnamespace, extrelocatable, '13.2', NULL, NULL
  FROM pg_extension WHERE extname = 'plpgsql';
"""
"""What Perdure calls of Citus, as functions that write down what they were asked: no cluster is at hand."""


def test_the_statements_of_a_cluster_are_run_once_for_each_table_also_after_a_stop(path):
    with servers().reader(path) as operator:
        operator.execute(CITUS)
        operator.execute("INSERT INTO meta VALUES ('breaks at', 'posting')")
        url = servers().server().dsn(path.rsplit("/", 1)[1], "postgres")
        with pytest.raises(StoreError, match="worker was lost"):
            migrate(url, distribute=True)
        before = {t for (t,) in operator.execute("SELECT CAST(logicalrelid AS text) FROM pg_dist_partition")}
        assert "memory" in before
        assert "posting" not in before
        operator.execute("DELETE FROM meta WHERE key = 'breaks at'")
        steps = []
        migrate(url, say=steps.append, distribute=True)
        after = [t for (t,) in operator.execute("SELECT CAST(logicalrelid AS text) FROM pg_dist_partition")]
        assert sorted(after) == sorted({t for _, t in named()})
        assert not [s for s in steps for t in before if f"table('{t}'" in s]
