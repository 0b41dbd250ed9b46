"""A file whose pages are damaged is written anew with what they hold; what they hold no more comes from a backup."""

from __future__ import annotations

from contextlib import closing

import apsw
import pytest

from conftest import HashEmbedder, on_a_file, opened
from perdure.compose import backup
from perdure.records.errors import DamageWarning
from perdure.stores.sqlite.lines import add_functions
from stores.test_damage import POLICY, lived

pytestmark = on_a_file
PAGE = 4096


def pages_of(path, name):
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return [n for (n,) in connection.execute("SELECT pageno FROM dbstat WHERE name = ? ORDER BY path", (name,))]


def overwrite(path, page, data=bytes(PAGE), at=0):
    with path.open("r+b") as file:
        file.seek((page - 1) * PAGE + at)
        file.write(data)


def run(path, sql):
    with closing(apsw.Connection(str(path))) as connection:
        add_functions(connection)
        connection.execute(sql)


def said(memory):
    """What a store holds, by its verbs."""
    listed = memory.list(limit=1000, include_archived=True)
    operations = memory.history(limit=1000)
    facts = sorted(memory.facts(), key=lambda fact: fact.id)
    told = [(m, [e for e in memory.history(m.id) if not e.because.startswith("repaired")]) for m in listed]
    return told, facts, [o for o in operations if o.operation != "repair"]


def filled(path, clock, tmp_path, count=0):
    """Fill a store, back it up, and return (what it holds, the backup)."""
    lived(path, clock)
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        for i in range(count):
            memory.remember(
                f"note {i}: the harbour server of team {i} has port {8000 + i}. " + "It is told at length. " * 4
            )
        before = said(memory)
    return before, str(backup(path, tmp_path / "safe.db").path)


ALONE = (
    "memory",
    "link",
    "document",
    "tag",
    "memory_identity",
    "journal_memory",
    "words_data",
    "operation_at",
    "vector_seq",
)


@pytest.mark.parametrize("name", ALONE)
def test_a_lost_page_of_what_the_journal_or_other_rows_say_is_made_anew(path, clock, tmp_path, name):
    before, _ = filled(path, clock, tmp_path)
    for page in pages_of(path, name):
        overwrite(path, page)
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        assert memory.check(full=True)
        assert memory.repair(dry_run=False).left == ()
        assert memory.check(full=True) == []
        assert said(memory)[0] == before[0]
        assert memory.recall("zebra").hits[0].memory.content == "zebra stripes"
        assert memory.remember("the quay has a crane").id


@pytest.mark.parametrize("name", ["journal", "operation", "content", "memory", "vector"])
def test_what_lost_pages_held_comes_from_a_backup(path, clock, tmp_path, name):
    before, safe = filled(path, clock, tmp_path)
    for page in pages_of(path, name):
        overwrite(path, page)
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        assert memory.repair(source=safe, dry_run=False).left == ()
        assert memory.check(full=True) == []
        if name == "operation":
            assert said(memory)[2] == before[2]
        assert [m for m, _ in said(memory)[0]] == [m for m, _ in before[0]]


@pytest.mark.parametrize("name", ["memory", "content", "journal", "operation"])
def test_rows_behind_a_lost_page_that_leads_to_them_are_found(path, clock, tmp_path, name):
    before, safe = filled(path, clock, tmp_path, count=150)
    root, *others = pages_of(path, name)
    assert len(others) > 1
    overwrite(path, root)
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        left = memory.repair(dry_run=False).left
        if name in ("memory", "content", "operation"):  # no row lies on such a page
            assert left == ()
            assert said(memory) == before
        else:
            assert 0 < len([text for text in left if "lines in the journal are lost" in text]) <= len(others)
        assert memory.repair(source=safe, dry_run=False).left == ()
        assert said(memory) == before


def test_a_damaged_cell_costs_its_own_row_and_the_file_stays_beside_the_new_one(path, clock, tmp_path):
    before, _ = filled(path, clock, tmp_path, count=150)
    page = pages_of(path, "content")[2]
    overwrite(path, page, b"\xff" * 8, PAGE - 8)
    damaged = path.read_bytes()
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        assert len([text for text in memory.repair(dry_run=False).left if "note" not in text]) < 5
        with pytest.warns(DamageWarning, match="is not the one that was stored") as told:
            assert len(memory.list(limit=1000, include_archived=True)) == len(before[0]) - 1
        assert len(told) == 1
    kept = path.with_name(f"{path.name}.before-repair")
    assert kept.read_bytes()[PAGE:] == damaged[PAGE:]  # the head counts who opened it
    assert kept.stat().st_mode == path.stat().st_mode


def test_another_who_has_the_file_open_goes_on(path, clock, tmp_path):
    filled(path, clock, tmp_path)
    overwrite(path, pages_of(path, "memory_identity")[0])
    with opened(path, POLICY, clock, HashEmbedder()) as other, opened(path, POLICY, clock, HashEmbedder()) as memory:
        assert memory.repair(dry_run=False).left == ()
        stored = other.remember("the quay has a crane")
        assert memory.get(stored.id).content == "the quay has a crane"
        assert other.recall("zebra").hits[0].memory.content == "zebra stripes"
        assert other.check(full=True) == []


def test_a_dry_run_says_what_is_written_anew_and_writes_nothing(path, clock, tmp_path):
    filled(path, clock, tmp_path)
    overwrite(path, pages_of(path, "memory_identity")[0])
    before = path.read_bytes()
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        assert any("The file is written anew" in text for text in memory.repair().repairs)
    assert path.read_bytes() == before


LINES = {
    "an altered line": "UPDATE journal SET data = packed_line('', NULL, NULL, 'x') WHERE operation = 3",
    "a lost line": "DELETE FROM journal WHERE operation = 3",
    "a line of another operation": "UPDATE journal SET operation = operation + 1000 WHERE operation = 3",
    "a line among those of the next": "UPDATE journal SET operation = 4, position = position + 70 WHERE operation = 3",
    "an altered note": "UPDATE operation SET note = note || ' indeed' WHERE number = 3",
    "another number": "UPDATE operation SET number = 1000 WHERE number = 3",
    "another id": "UPDATE operation SET id = 'x' || id WHERE number = 3",
    "a lost operation": "DELETE FROM operation WHERE number = 3",
    "a lost operation and its lines": "DELETE FROM operation WHERE number = 3; DELETE FROM journal WHERE operation = 3",
    "the newest operation": "DELETE FROM operation WHERE number = (SELECT max(number) FROM operation)",
}


@pytest.mark.parametrize("name", LINES)
def test_single_operations_and_lines_come_from_a_backup(path, clock, tmp_path, name):
    before, safe = filled(path, clock, tmp_path)
    run(path, LINES[name])
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        assert memory.repair(dry_run=False).left
        shown = memory.repair(source=safe)
        done = memory.repair(source=safe, dry_run=False)
        assert any("restored from the copy" in text for text in shown.repairs)
        assert done.left == ()
        assert memory.check(full=True) == []
        assert said(memory) == before


def test_an_operation_that_only_the_copy_ever_had_is_not_brought(path, clock, tmp_path):
    _, safe = filled(path, clock, tmp_path)
    with opened(safe, POLICY, clock, HashEmbedder()) as other:
        strange = other.remember("this happened in the copy alone")
    run(path, LINES["a lost line"])
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        assert memory.repair(source=safe, dry_run=False).left == ()
        assert strange.operation not in {o.id for o in memory.history(limit=1000)}
        assert memory.check(full=True) == []


def test_what_was_erased_since_the_backup_does_not_come_back(path, clock, tmp_path):
    lived(path, clock)
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        gone = memory.remember(
            "the code word is xylophone", facts=[{"subject": "Bo", "predicate": "plays", "value": "xylophone"}]
        )
        safe = str(backup(path, tmp_path / "safe.db").path)
        word = memory.erase([gone.id], reason="she asked").confirm
        memory.erase([gone.id], reason="she asked", confirm=word, dry_run=False)
    run(path, "DELETE FROM journal WHERE operation = (SELECT max(number) - 1 FROM operation)")
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        assert memory.repair(source=safe, dry_run=False).left
    for file in (path, path.with_name(f"{path.name}-wal")):
        assert not file.exists() or b"xylophone" not in file.read_bytes()


def test_an_altered_copy_of_an_operation_is_not_taken(path, clock, tmp_path):
    _, safe = filled(path, clock, tmp_path)
    run(safe, LINES["an altered note"])
    run(path, LINES["a lost operation"])
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        done = memory.repair(source=safe, dry_run=False)
        assert done.left
        assert not any("restored from the copy" in text for text in done.repairs)
