"""What is lost of a server's tables is named, and made anew where other rows say what it held."""

from __future__ import annotations

import re
import warnings

import pytest

from conftest import HashEmbedder, opened
from perdure.compose import migrate
from perdure.records.errors import DamageWarning, StoreDamaged
from stores.test_damage import POLICY, ROW, lived, run_by_hand


@pytest.fixture(scope="module")
def store():
    return "postgres"


def reopened(path, clock):
    return opened(path, POLICY, clock, HashEmbedder())


def answers(memory):
    hits = [(h.memory.id, h.score) for h in memory.recall("zebra stripes", touch=False).hits]
    return memory.list(limit=1000, include_archived=True), memory.facts(), hits


@pytest.mark.parametrize("table", ["posting", "document", "memory", "namespace", "lease"])
def test_a_table_that_follows_from_others_is_made_anew(path, clock, table):
    lived(path, clock)
    with reopened(path, clock) as memory:
        before = answers(memory)
    run_by_hand(path, f"DROP TABLE {table}")
    assert migrate(path) == 0  # it is no older version
    with reopened(path, clock) as memory:
        if table != "lease":
            with pytest.raises(StoreDamaged, match=rf'missing \(relation "{table}".*`perdure repair`'):
                memory.recall("Where does Rita live?")
        assert memory.check() == [f"The table {table} is missing."]
        assert memory.repair(dry_run=False).left == ()
        assert memory.check(full=True) == []
        assert answers(memory) == before
        memory.remember("stored after the repair")


@pytest.mark.parametrize(
    ("sql", "lost"),
    [
        ("DROP TABLE journal", "The table journal"),
        ("DROP TABLE content", "The table content"),
        ("ALTER TABLE memory DROP COLUMN importance", "The column memory.importance"),
    ],
)
def test_of_what_nothing_else_holds_it_is_said_that_a_backup_is_needed(path, clock, sql, lost):
    lived(path, clock)
    run_by_hand(path, sql)
    with reopened(path, clock) as memory:
        told = f"{lost} is missing, and only a backup has what it held."
        assert memory.check() == [told]
        assert (memory.repair().left, memory.repair(dry_run=False).left) == ((told,), (told,))
        with pytest.raises(StoreDamaged, match="missing"):
            memory.remember("one more")


def test_tables_without_the_one_that_says_their_version_are_told_as_damaged(path, clock):
    lived(path, clock)
    run_by_hand(path, "DROP TABLE meta")
    for call in (lambda: reopened(path, clock), lambda: migrate(path)):
        with pytest.raises(StoreDamaged, match=r"The table meta.*Restore a backup"):
            call()


def test_a_namespace_without_its_row_says_so_and_gets_it_back(path, clock):
    lived(path, clock)
    with reopened(path, clock) as memory:
        before = answers(memory)
    run_by_hand(path, "DELETE FROM namespace")
    with reopened(path, clock) as memory, warnings.catch_warnings():
        warnings.simplefilter("error")
        for call in (lambda: memory.recall("zebra"), lambda: memory.remember("a crane stands at the quay")):
            with pytest.raises(StoreDamaged, match="perdure repair"):
                call()
        assert memory.repair(dry_run=False).left == ()
        assert memory.check(full=True) == []
        assert answers(memory) == before
        memory.remember("a crane stands at the quay")
        assert memory.check(full=True) == []


@pytest.mark.parametrize("data", ["{", "null", "[1]"])
def test_a_document_that_is_no_object_is_repaired(path, clock, data):
    lived(path, clock)
    run_by_hand(path, f"UPDATE document SET data = '{data}'")
    with reopened(path, clock) as memory:
        shown, done = memory.repair(), memory.repair(dry_run=False)
        assert [re.sub(r" \(.*\)", "", text) for text in shown.repairs] == list(done.repairs)
        assert (done.left, memory.check(full=True)) == ((), [])
        assert [fact.value for fact in memory.facts()] == ["Oslo"]
        memory.undo(done.operation)


def test_a_null_among_tags_or_ids_keeps_nothing_else_from_being_repaired(path, clock):
    lived(path, clock)
    run_by_hand(path, f"UPDATE content SET tags = CAST(ARRAY[NULL] AS text[]) WHERE row = {ROW}")
    run_by_hand(path, "UPDATE recall_log SET hits = CAST(ARRAY[NULL] AS text[])")
    run_by_hand(path, f"UPDATE memory SET importance = 0.9 WHERE row > {ROW}")
    with reopened(path, clock) as memory, warnings.catch_warnings():
        warnings.simplefilter("ignore", DamageWarning)
        done = memory.repair(dry_run=False)
        assert done.left == ()
        memory.undo(done.operation)
        assert len(memory.list(limit=1000, include_archived=True)) == 16
