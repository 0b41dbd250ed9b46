"""A damaged file answers or says what is damaged, a check finds it, and a repair mends what can be mended.

One case for each way in which a file is changed by hand: its schema, what a column holds, what is derived.
"""

from __future__ import annotations

import warnings
from contextlib import closing

import apsw
import pytest

from conftest import HashEmbedder, on_a_file, opened
from perdure.records.errors import BUG, DamageWarning, PerdureError, StoreDamaged
from perdure.stores.sqlite.lines import add_functions
from stores.test_damage import ONE, POLICY, ROW, faults, lived, told

pytestmark = on_a_file
DEEP = "replace(hex(zeroblob(50000)), '0', '[')"
HIDDEN = (
    "PRAGMA writable_schema = ON;"
    " INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql) VALUES ('trigger', 'sqlite_eat', 'link', 0,"
    " 'CREATE TRIGGER sqlite_eat AFTER INSERT ON link BEGIN DELETE FROM link; END')"
)
SESSION = "(SELECT min(id) FROM memory WHERE session = 's1')"

MENDED = {
    # the schema
    "a hidden trigger": HIDDEN,
    "a trigger that refuses": "CREATE TRIGGER no BEFORE INSERT ON memory BEGIN SELECT RAISE(ABORT, 'no'); END",
    "no table of memories": "DROP TABLE memory",
    "no table of documents": "DROP TABLE document",
    "no table of links": "DROP TABLE link",
    "no table of namespaces": "DROP TABLE namespace",
    "no table of settings": "DROP TABLE meta",
    "a view in place of a table": "ALTER TABLE tag RENAME TO old_tag; CREATE VIEW tag AS SELECT * FROM old_tag LIMIT 1",
    "a lost column": "ALTER TABLE memory DROP COLUMN importance",
    "a lost column of texts": "ALTER TABLE content DROP COLUMN tags",
    "a renamed column": "ALTER TABLE content RENAME COLUMN text TO words",
    "no index of words": "DROP TABLE words",
    "an index of words without a part": "DROP TABLE words_config",
    # what a column holds
    "a text as bytes": f"UPDATE content SET text = CAST(text AS BLOB) WHERE row = {ROW}",
    "a speaker as bytes": f"UPDATE memory SET speaker = x'ff' WHERE id = {SESSION}",
    "a number as a word": f"UPDATE memory SET created_ms = 'soon' WHERE id = {ONE}",
    "a number as bytes": f"UPDATE memory SET importance = x'00' WHERE id = {ONE}",
    "a number beyond all dates": f"UPDATE memory SET created_ms = 9223372036854775807 WHERE id = {ONE}",
    "deep tags": f"UPDATE content SET tags = {DEEP} WHERE row = {ROW}",
    "tags cut off": f"UPDATE content SET tags = '[\"o' WHERE row = {ROW}",
    "a deep document": f"UPDATE document SET data = {DEEP} WHERE shelf = (SELECT min(shelf) FROM document)",
    "deep hits": f"UPDATE recall_log SET hits = {DEEP}",
    "another session": f"UPDATE memory SET session = 's9' WHERE id = {SESSION}",
    "another speaker": f"UPDATE memory SET speaker = 'Bob' WHERE id = {SESSION}",
    "another place in the session": f"UPDATE memory SET turn = 99 WHERE id = {SESSION}",
    "another size of vectors": "UPDATE space SET dimensions = 32",
    "another model of vectors": "UPDATE space SET model = x'ff'",
    "no active space": "UPDATE space SET active = 0",
    # what is derived or kept beside
    "a memory told as gone": f"INSERT INTO gone VALUES ('default', 1000000, {ROW})",
    "forged codes": "INSERT INTO segment VALUES ('default', 1, 0, 1000000, 1000000, x'0100', x'00', x'', NULL)",
    "a forged access": f"INSERT INTO access VALUES ('default', {ONE}, 1767225600000, -5)",
    "a lower last row": "UPDATE sqlite_sequence SET seq = 1",
    "an emptied index of words": "INSERT INTO words (words) VALUES ('delete-all')",
    "another average length": "UPDATE words_data SET block = x'0a0a' WHERE id = 1",
    "no idempotency key": "DELETE FROM idempotency WHERE packed = 'k-1'",
    "another's idempotency key": "UPDATE idempotency SET row = row + 1 WHERE packed = 'k-1'",
    "a forged idempotency key": f"INSERT INTO idempotency VALUES ('default', 'mine', {ROW} + 1)",
}
LEFT = {
    "an operation that is gone with its lines": (
        "DELETE FROM journal WHERE operation = 4; DELETE FROM operation WHERE number = 4",
        "operations missing in the numbering",
    ),
    "no journal": ("DROP TABLE journal", "operations with missing journal lines"),
    "deep metadata": (f"UPDATE content SET metadata = {DEEP} WHERE metadata <> '{{}}'", "cannot be read"),
    "a text of no characters": (f"UPDATE content SET text = CAST(x'c3ff' AS TEXT) WHERE row = {ROW}", "not the one"),
}


def change(path, sql):
    with closing(apsw.Connection(str(path))) as connection:
        add_functions(connection)
        connection.execute(sql)


def calls(memory):
    yield lambda: told(memory)
    yield from (memory.stats, memory.history, memory.namespaces, memory.entities, memory.alerts, memory.review)
    yield lambda: list(memory.export())
    yield lambda: memory.recall("harbour", tags=["ops"], session="s1", include_archived=True)
    yield lambda: memory.remember("the quay has a crane", tags=["ops"], idempotency_key="new")
    yield lambda: memory.ingest([{"role": "user", "content": "and lunch once more"}], session="s1")
    yield memory.sweep
    yield lambda: memory.undo("last")


def assert_no_foreign_error(path, clock):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with opened(path, POLICY, clock, HashEmbedder()) as memory:
            for call in calls(memory):
                try:
                    call()
                except PerdureError as error:
                    assert error.remedy  # noqa: PT017  # either outcome is allowed, a foreign error is not
                    assert BUG not in error.remedy  # noqa: PT017  # as above


@pytest.mark.parametrize("name", MENDED)
def test_damage_is_told_found_and_mended(path, clock, tmp_path, name):
    lived(path, clock)
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        before = told(memory)
    change(path, MENDED[name])
    tried = tmp_path / "tried.db"
    tried.write_bytes(path.read_bytes())
    assert_no_foreign_error(tried, clock)
    assert faults(path, clock)
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        assert memory.repair(dry_run=False).left == ()
        assert memory.check(full=True) == []
        listed, _, found, facts, digest = told(memory)
        assert (listed, found, facts, digest) == (before[0], *before[2:])
        memory.remember("Harbour server: port 8080, Tuesday deploys", idempotency_key="k-1")
        memory.remember("stored after the repair")
        assert memory.recall("after repair").hits[0].memory.content == "stored after the repair"
        assert memory.check(full=True) == []


@pytest.mark.parametrize("name", ["another session", "no idempotency key", "a text as bytes"])
def test_a_repair_of_rows_that_are_stored_anew_can_be_taken_back(path, clock, name):
    lived(path, clock)
    change(path, MENDED[name])
    with warnings.catch_warnings(), opened(path, POLICY, clock, HashEmbedder()) as memory:
        warnings.simplefilter("ignore")
        damaged = memory.list(limit=1000, include_archived=True)
        done = memory.repair(dry_run=False)
        mended = memory.list(limit=1000, include_archived=True)
        memory.undo(done.operation)
        # What cannot be read is in no journal: there the undo brings what was stored.
        assert memory.list(limit=1000, include_archived=True) == (mended if "bytes" in name else damaged)
        assert memory.check(full=True) == []


@pytest.mark.parametrize("name", LEFT)
def test_what_no_repair_can_mend_is_named(path, clock, tmp_path, name):
    lived(path, clock)
    sql, named = LEFT[name]
    change(path, sql)
    tried = tmp_path / "tried.db"
    tried.write_bytes(path.read_bytes())
    assert_no_foreign_error(tried, clock)
    assert faults(path, clock)
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        assert any(named in fault for fault in memory.repair(dry_run=False).left)


def test_a_file_that_names_another_schema_is_told_as_damaged(path, clock):
    lived(path, clock)
    change(path, "PRAGMA user_version = 3")
    with pytest.raises(StoreDamaged, match="not of the schema that it names"):
        opened(path, POLICY, clock)


WORDS_DAMAGED = [
    f"UPDATE content SET text = x'00ff00' WHERE row = {ROW}",
    f"UPDATE content SET text = CAST(x'41ff41' AS TEXT) WHERE row = {ROW}",
    f"UPDATE content SET source = 5, packed = 'abc' WHERE row = {ROW}",
    "UPDATE operation SET note = x'4142' WHERE number = 1",
    "UPDATE operation SET note = CAST(x'ff' AS TEXT) WHERE number = 1",
    "UPDATE document SET data = CAST(x'ff' AS TEXT)",
    "UPDATE journal SET data = x'ff7b00ff'",
]


@pytest.mark.parametrize("sql", WORDS_DAMAGED)
def test_an_erasure_ends_and_searches_on_whatever_another_row_holds(path, clock, sql):
    lived(path, clock)
    change(path, sql)
    with opened(path, POLICY, clock, HashEmbedder()) as memory, warnings.catch_warnings():
        warnings.simplefilter("ignore", DamageWarning)
        gone = memory.remember("The code word of the vault is heliotrope seven.", "other")
        memory.remember("Ben: The code word of the vault is heliotrope seven. He wrote it down.", "other")
        word = memory.erase([gone.id], namespace="other", reason="asked").confirm
        done = memory.erase([gone.id], namespace="other", reason="asked", confirm=word, dry_run=False)
        assert memory.get(gone.id) is None
    assert [place for place in done.places if "holds words" in place]
