"""A node of a cluster that is down costs its own namespaces, and nothing else.

The server here is one: a policy raises what Citus says of a lost node, and Citus's catalog and its functions are made
up, of two nodes.
"""

from __future__ import annotations

import time
from contextlib import suppress

import pytest
import sqlglot
from sqlglot import exp

from conftest import WORDS_ONLY, Clock, HashEmbedder, as_operator, opened, servers
from perdure.records.errors import DeadlineExceeded, IncompleteWarning, NodeUnavailable, NotFound
from perdure.stores.postgres import faults
from perdure.stores.postgres.distribution import limit_to_living, tables
from stores.sql_rules import namespaced, statements

NODE = "10.0.0.9:5432"
REFUSED = f"connection to the remote node perdure@{NODE} failed with the following error: refused"
SILENT = f"could not establish any connections to the node {NODE} after 5000 ms"
CLUSTER = """
CREATE FUNCTION answers(place text) RETURNS boolean LANGUAGE plpgsql STABLE COST 100000 AS $$
BEGIN
  IF CAST(current_setting('citus.node_connection_timeout') AS integer) < 10 THEN
    RAISE 'outside the valid range' USING ERRCODE = '22023';
  END IF;
  IF place LIKE 'dark%' AND EXISTS (SELECT 1 FROM meta WHERE key = 'down') THEN
    RAISE '%', (SELECT value FROM meta WHERE key = 'down') USING ERRCODE = '08006';
  END IF;
  IF place LIKE 'dark%' AND current_setting('perdure.reach', true) <> 'fan-out'
    AND EXISTS (SELECT 1 FROM meta WHERE key = 'going') THEN
    RAISE '%', (SELECT value FROM meta WHERE key = 'going') USING ERRCODE = '08006';
  END IF;
  RETURN true;
END $$;
INSERT INTO pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
  VALUES (99999, 'citus', 10, 2200, false, '0');
CREATE TABLE asked (command text);
CREATE TABLE pg_dist_node AS SELECT * FROM (VALUES
  (1, '10.0.0.8', 5432, true, 'primary'), (2, '10.0.0.9', 5432, true, 'primary'),
  (3, '10.0.0.7', 5432, true, 'secondary')) AS n(groupid, nodename, nodeport, isactive, noderole);
CREATE TABLE pg_dist_placement AS SELECT * FROM (VALUES (1, 1), (2, 2)) AS p(groupid, shardid);
CREATE TABLE pg_dist_shard AS SELECT CAST(name AS regclass) AS logicalrelid, shardid
  FROM unnest(ARRAY['namespace', 'memory']) AS name CROSS JOIN generate_series(1, 2) AS shardid;
CREATE TABLE pg_dist_partition AS
  SELECT CAST(name AS regclass) AS logicalrelid FROM unnest(ARRAY['meta', 'memory']) AS name;
CREATE VIEW namespace_1 AS SELECT * FROM namespace WHERE namespace NOT LIKE 'dark%';
CREATE VIEW namespace_2 AS SELECT * FROM namespace WHERE namespace LIKE 'dark%';
CREATE VIEW memory_1 AS SELECT 1;
CREATE VIEW memory_2 AS SELECT 1;
CREATE FUNCTION shard_name(name regclass, shard integer) RETURNS text LANGUAGE sql
  RETURN concat_ws('_', name, shard);
CREATE FUNCTION master_run_on_worker(names text[], ports integer[], commands text[], parallel boolean)
RETURNS TABLE (node_name text, node_port integer, success boolean, result text) LANGUAGE plpgsql AS $$
BEGIN
  FOR node_name, node_port, result IN SELECT * FROM unnest(names, ports, commands) LOOP
    success := node_name = '10.0.0.8' OR NOT EXISTS (SELECT 1 FROM meta WHERE key = 'down');
    IF NOT success THEN
      result := 'failed to connect to ' || node_name || ':' || node_port;
    ELSIF result LIKE 'VACUUM%' THEN
      INSERT INTO asked VALUES (result);
    ELSE
      EXECUTE result INTO result;
    END IF;
    RETURN NEXT;
  END LOOP;
END $$;
CREATE FUNCTION run_command_on_workers(command text)
RETURNS TABLE (nodename text, nodeport integer, success boolean, result text) LANGUAGE sql
  RETURN master_run_on_worker(ARRAY['10.0.0.8', '10.0.0.9'], ARRAY[5432, 5432], ARRAY[command, command], true);
GRANT ALL ON ALL TABLES IN SCHEMA public TO perdure;
""" + "".join(
    f"CREATE POLICY node ON {table} AS RESTRICTIVE USING (answers(namespace)) WITH CHECK (answers(namespace));"
    for table, spread in tables().items()
    if spread
)
DOWN = f"Left out: the namespaces on {NODE}"

pytestmark = as_operator


@pytest.fixture(scope="module")
def store():
    return "postgres"


@pytest.fixture
def switch(path):
    """Take the node down, or bring it back."""
    with servers().reader(path) as operator:
        operator.execute(CLUSTER)

        def turn(*, down, says=REFUSED, after_being_listed=False):
            operator.execute("DELETE FROM meta WHERE key IN ('down', 'going')")
            if down:
                key = "going" if after_being_listed else "down"
                operator.execute("INSERT INTO meta VALUES (%s, %s)", (key, says))

        yield turn


@pytest.fixture
def memory(path, switch, monkeypatch):
    monkeypatch.setattr(faults, "NODE_PATIENCE", 0.3)
    monkeypatch.setattr(faults, "PAUSE", 0.0)
    clock = Clock()
    with opened(path, WORDS_ONLY, clock, HashEmbedder()) as memory:
        for place in ("light", "dark", "lamp"):
            memory.remember_many([f"{place} tea", f"{place} bicycle"], namespace=place)
        clock.passes(days=100)
        yield memory


@pytest.mark.parametrize("says", [REFUSED, SILENT])
def test_other_namespaces_are_read_and_written_as_ever(memory, switch, says):
    switch(down=True, says=says)
    with pytest.raises(NodeUnavailable, match=NODE):
        memory.recall("tea", "dark")
    with pytest.raises(NodeUnavailable, match=NODE):
        memory.remember("more", "dark")
    assert memory.recall("tea", "light").hits
    assert memory.remember("more tea", "lamp").id


def test_a_call_that_has_hardly_any_time_left_is_no_error_of_the_store(memory):
    with suppress(DeadlineExceeded):
        assert memory.within(0.03).recall("tea", "light").hits


def test_it_is_waited_for_once_and_then_the_answer_comes_at_once(memory, switch, monkeypatch):
    monkeypatch.setattr(faults, "PAUSE", 60.0)
    switch(down=True)
    taken = []
    for _ in range(5):
        began = time.monotonic()
        with pytest.raises(NodeUnavailable, match=NODE):
            memory.recall("tea", "dark")
        taken.append(time.monotonic() - began)
    assert taken[0] >= 0.3
    assert max(taken[1:]) < 0.1
    switch(down=False)
    with pytest.raises(NodeUnavailable, match=NODE):
        memory.recall("tea", "dark")  # nobody has tried again yet
    monkeypatch.setattr(faults, "PAUSE", 0.0)
    assert memory.recall("tea", "dark").hits
    assert memory.namespaces() == ["dark", "lamp", "light"]


def test_a_node_that_a_short_call_gave_hardly_any_time_is_not_taken_for_lost(memory, switch, monkeypatch):
    monkeypatch.setattr(faults, "PAUSE", 60.0)
    switch(down=True, says=SILENT.replace("5000", "41"))
    for _ in range(2):
        with pytest.raises((DeadlineExceeded, NodeUnavailable)):
            memory.within(0.5).recall("tea", "dark")
    switch(down=False)
    assert memory.recall("tea", "dark").hits


def test_what_asks_all_namespaces_leaves_some_out_and_names_the_node(memory, switch):
    whole = memory.stats().memories
    switch(down=True)
    with pytest.warns(IncompleteWarning, match=DOWN):
        assert memory.namespaces() == ["lamp", "light"]
    with pytest.warns(IncompleteWarning, match=DOWN):
        assert memory.stats().memories == whole - 2
    with pytest.warns(IncompleteWarning, match=DOWN):
        assert {o.namespace for o in memory.history()} == {"lamp", "light"}
    with pytest.warns(IncompleteWarning, match=DOWN):
        (fault,) = faults_of(memory)
    assert NODE in str(fault)
    switch(down=False)
    assert memory.stats().memories == whole
    assert faults_of(memory) == []


def faults_of(memory):
    """What a check finds, but for policies: some hide a node's rows, and the others are those of one server."""
    return [fault for fault in memory.check() if not fault.startswith("The policy ")]


def test_what_asks_all_namespaces_is_whole_in_itself_right_after_the_node_came_back(memory, switch, monkeypatch):
    monkeypatch.setattr(faults, "PAUSE", 60.0)
    switch(down=True)
    with pytest.raises(NodeUnavailable, match=NODE):
        memory.recall("tea", "dark")
    switch(down=False)  # nobody has tried again yet
    with pytest.warns(IncompleteWarning, match=DOWN):
        assert memory.stats().memories == 4


def test_compacting_names_the_node_and_vacuums_the_others(memory, switch, path):
    assert not any(NODE in note for note in memory.compact(dry_run=False).notes)
    assert vacuumed(path) == ["VACUUM memory_1", "VACUUM memory_2"]
    switch(down=True)
    done = memory.compact(dry_run=False)
    assert [note for note in done.notes if "vacuumed" in note] == [
        f"The node {NODE} of the cluster cannot be reached: it was not vacuumed."
    ]
    assert vacuumed(path) == ["VACUUM memory_1"]
    assert any(NODE in note for note in memory.compact().notes)


def vacuumed(path):
    """What the nodes were asked to vacuum since the last look."""
    with servers().reader(path) as operator:
        return sorted(command for (command,) in operator.execute("DELETE FROM asked RETURNING command"))


@pytest.fixture
def replica(path):
    """One that is away, and known to the server, which stands for the coordinator and for its two nodes."""
    with servers().reader(path) as operator:
        operator.execute("SELECT pg_create_physical_replication_slot('away')")
        yield
        operator.execute("SELECT pg_drop_replication_slot('away')")


@pytest.mark.usefixtures("replica")
def test_erasing_asks_all_nodes_what_else_holds_the_rows(memory, switch):
    assert any("Replicas of the server (3," in sentence for sentence in erased(memory, "light"))
    switch(down=True)
    told = erased(memory, "lamp")
    assert [sentence for sentence in told if NODE in sentence] == [
        f"The node {NODE} of the cluster cannot be reached: it was not vacuumed, not searched, not asked for replicas."
    ]


def erased(memory, namespace):
    """What erasing a memory of a namespace could not reach."""
    (chosen, *_) = memory.list(namespace)
    shown = memory.erase([chosen.id], reason="asked to", namespace=namespace)
    return memory.erase(
        [chosen.id], reason="asked to", namespace=namespace, confirm=shown.confirm, dry_run=False
    ).unreachable


def test_upkeep_goes_on_elsewhere_and_catches_up_later(memory, switch):
    switch(down=True)
    with pytest.warns(IncompleteWarning, match=DOWN):
        done = memory.maintain("worker")
    assert (done.due, done.swept, done.failed) == (2, 2, {})
    switch(down=False)
    done = memory.maintain("worker")
    assert (done.due, done.swept) == (1, 1)


def test_a_sweep_leaves_out_a_node_that_is_lost_after_its_namespaces_were_listed(memory, switch):
    switch(down=True, after_being_listed=True)
    with pytest.raises(NodeUnavailable, match=NODE):
        memory.sweep(namespace="dark")
    with pytest.warns(IncompleteWarning, match=NODE):
        assert {m.namespace for m in memory.sweep().moved} == {"lamp", "light"}
    switch(down=False)
    assert {m.namespace for m in memory.sweep().moved} == {"dark"}


def test_a_forecast_leaves_out_a_node_that_is_lost_after_its_namespaces_were_listed(memory, switch):
    whole = memory.forecast(days=30, details=True)
    assert {m.namespace for m in whole.moved} == {"dark", "lamp", "light"}
    switch(down=True, after_being_listed=True)
    with pytest.raises(NodeUnavailable, match=NODE):
        memory.forecast(days=30, namespace="dark")
    with pytest.warns(IncompleteWarning, match=f"{NODE}.* What would move there is left out"):
        seen = memory.forecast(days=30, details=True)
    here = [move for move in whole.moved if move.namespace != "dark"]
    assert (list(seen.moved), 0 < seen.examined < whole.examined) == (here, True)


def test_an_id_that_is_not_found_may_lie_on_the_node_that_is_down(memory, switch):
    here, there = (memory.list(place)[0].id for place in ("light", "dark"))
    switch(down=True)
    assert memory.get(here).content.startswith("light")
    with pytest.raises(NodeUnavailable, match=NODE):
        memory.get(there)
    assert memory.get(there, namespace="light") is None  # whoever knows where to look asks no other node
    assert memory.why(here, namespace="light").history
    switch(down=False)
    assert memory.get(there).id == there
    with pytest.raises(NotFound):
        memory.history("0" * 36)


def test_what_must_leave_no_namespace_out_is_refused(memory, switch):
    switch(down=True)
    with pytest.warns(IncompleteWarning, match=DOWN), pytest.raises(NodeUnavailable, match="no namespace may be left"):
        memory.reembed()


@pytest.mark.parametrize("name", [name for name, (kind, _) in statements("postgres").items() if kind == "fan-out"])
def test_a_fan_out_without_some_nodes_reads_the_named_namespaces_of_every_table(name):
    (tree,) = sqlglot.parse(limit_to_living(statements("postgres")[name][1]), dialect="postgres")
    read = [table for table in tree.find_all(exp.Table) if table.name in namespaced("postgres")]
    assert read
    for table in read:
        assert (
            table.find_ancestor(exp.Select)
            .sql("postgres")
            .endswith(f"FROM {table.name} WHERE namespace = ANY(CAST(%(living)s AS TEXT[]))")
        )
