"""A node of a cluster that is down costs its own namespaces, and nothing else.

The server here is one: a policy raises what Citus says of a lost node, and a function answers as Citus's own does.
"""

from __future__ import annotations

import time

import pytest
import sqlglot
from sqlglot import exp

from conftest import WORDS_ONLY, Clock, HashEmbedder, as_operator, opened, servers
from perdure.records.errors import IncompleteWarning, NodeUnavailable, NotFound
from perdure.stores.postgres import faults
from perdure.stores.postgres.distribution import limited, tables
from stores.sql_rules import namespaced, statements

NODE = "10.0.0.9:5432"
CLUSTER = f"""
CREATE FUNCTION answers(place text) RETURNS boolean LANGUAGE plpgsql STABLE COST 100000 AS $$
BEGIN
  IF place LIKE 'dark%' AND EXISTS (SELECT 1 FROM meta WHERE key = 'down') THEN
    RAISE 'connection to the remote node perdure@{NODE} failed with the following error: refused'
      USING ERRCODE = '08006';
  END IF;
  RETURN true;
END $$;
CREATE FUNCTION run_command_on_placements(name text, command text) RETURNS TABLE (success boolean, result text)
LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY SELECT false, 'failed to connect to {NODE}';
  RETURN QUERY EXECUTE format('SELECT true, CAST((' || command || ') AS text)',
    '(SELECT * FROM namespace WHERE namespace = ANY(''{{light,lamp}}''))');
END $$;
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

        def turn(*, down):
            operator.execute("DELETE FROM meta WHERE key = 'down'")
            if down:
                operator.execute("INSERT INTO meta VALUES ('down', 'yes')")

        yield turn


@pytest.fixture
def memory(path, switch, monkeypatch):
    monkeypatch.setattr(faults, "PATIENCE", 0.3)
    monkeypatch.setattr(faults, "PAUSE", 0.0)
    clock = Clock()
    with opened(path, WORDS_ONLY, clock, HashEmbedder()) as memory:
        for place in ("light", "dark", "lamp"):
            memory.remember_many([f"{place} tea", f"{place} bicycle"], namespace=place)
        clock.passes(days=100)
        yield memory


def test_other_namespaces_are_read_and_written_as_ever(memory, switch):
    switch(down=True)
    with pytest.raises(NodeUnavailable, match=NODE):
        memory.recall("tea", "dark")
    with pytest.raises(NodeUnavailable, match=NODE):
        memory.remember("more", "dark")
    assert memory.recall("tea", "light").hits
    assert memory.remember("more tea", "lamp").id


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
    """What a check finds, but for the policies by which these tests hide a node's rows."""
    return [fault for fault in memory.check() if ".node is not Perdure's" not in fault]


def test_upkeep_goes_on_elsewhere_and_catches_up_later(memory, switch):
    switch(down=True)
    with pytest.warns(IncompleteWarning, match=DOWN):
        done = memory.maintain("worker")
    assert (done.due, done.swept, done.failed) == (2, 2, {})
    switch(down=False)
    done = memory.maintain("worker")
    assert (done.due, done.swept) == (1, 1)


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
    (tree,) = sqlglot.parse(limited(statements("postgres")[name][1]), dialect="postgres")
    read = [table for table in tree.find_all(exp.Table) if table.name in namespaced("postgres")]
    assert read
    for table in read:
        assert (
            table.find_ancestor(exp.Select)
            .sql("postgres")
            .endswith(f"FROM {table.name} WHERE namespace = ANY(CAST(%(living)s AS TEXT[]))")
        )
