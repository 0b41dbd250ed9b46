"""A check finds whatever was changed behind the store's back, and says where; and it finds nothing in a sound store."""

from __future__ import annotations

import atexit
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import apsw
import pytest

from conftest import STORES, Clock, HashEmbedder, edit, on_a_file, opened, servers
from perdure.compose import backup, is_server
from perdure.records.errors import MemoryErased
from perdure.stores.postgres.schema import new_schema, schema_of
from perdure.stores.rows import STATE_COLUMNS
from perdure.stores.statements import migrations, registry
from stores.test_upgrade import old_file

POLICY = {"preset": "facts", "embedder": {"model": "none"}}


@cache
def _kept():
    """A folder for a file in which much has happened."""
    return Path(mkdtemp(prefix="perdure-lived-"))


def lived(path, clock):
    """Fill a store with whatever a store keeps: updates, facts, links, forms, recalls, keys, undone operations.

    A file is filled once and copied afterwards, and so is a database.
    """
    if is_server(str(path)):
        servers().copied(str(path), lambda place: _live(place, Clock(clock.now)))
    else:
        if not (kept := _kept() / "lived.db").exists():
            atexit.register(shutil.rmtree, kept.parent, ignore_errors=True)
            _live(kept, Clock(clock.now))
        shutil.copyfile(kept, path)
    clock.passes(days=3, hours=1)


def _live(path, clock):
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        first = memory.remember(
            "Harbour server: port 8080, Tuesday deploys", tags=["ops"], metadata={"n": 1.5}, idempotency_key="k-1"
        )
        memory.remember("zebra stripes", facts=[{"subject": "Rita", "predicate": "lives in", "value": "Oslo"}])
        clock.passes(hours=1)
        memory.update(first.id, "Harbour server: port 9090, Tuesday deploys")
        gone = memory.remember("a passing thought")
        memory.undo(gone.operation)
        memory.ingest(
            [
                {"role": "user", "content": f"message {i} about the harbour, and lunch at {i} o'clock"}
                for i in range(12)
            ],
            session="s1",
        )
        memory.recall("harbour port")
        clock.passes(days=3)
        memory.sweep()
        memory.weaken([first.id], 0.1)


def run_by_hand(path, sql):
    """Change a store with no regard for what Perdure promises; return how many rows were hit."""
    if is_server(str(path)):
        if "PERDURE_TEST_DSN" in os.environ:
            pytest.skip("a given server is not ours to change")
        with servers().reader(path) as connection:
            return connection.execute(sql).rowcount
    with closing(apsw.Connection(str(path))) as connection:
        return edit(connection, sql)


def faults(path, clock, *, full=True):
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        return memory.check(full=full)


ONE = "(SELECT id FROM memory WHERE kind = 'note' AND status = 'active' ORDER BY id LIMIT 1)"
ROW = "(SELECT row FROM memory WHERE kind = 'note' AND status = 'active' ORDER BY id LIMIT 1)"

DAMAGES = {
    "a letter of a text": f"UPDATE content SET text = replace(text, 'zebra', 'zebrA') WHERE row = {ROW}",
    "a word of a text": f"UPDATE content SET text = replace(text, 'zebra', 'horse') WHERE row = {ROW}",
    "metadata": "UPDATE content SET metadata = '{\"n\": 2.5}' WHERE CAST(metadata AS text) LIKE '%1.5%'",
    "a source": f"UPDATE content SET source = 'elsewhere' WHERE row = {ROW}",
    "an importance": f"UPDATE memory SET importance = 0.51 WHERE id = {ONE}",
    "a status": f"UPDATE memory SET status = 'archived' WHERE id = {ONE}",
    "a tier": f"UPDATE memory SET tier = 'vault' WHERE id = {ONE}",
    "a date": f"UPDATE memory SET created_ms = created_ms - 1 WHERE id = {ONE}",
    "a due instant": f"UPDATE memory SET due_ms = NULL WHERE id = {ONE}",
    "an unknown tier": f"UPDATE memory SET tier = 'wrm' WHERE id = {ONE}",
    "a missing memory": f"DELETE FROM memory WHERE id = {ONE}",
    "a missing content": f"DELETE FROM content WHERE row = {ROW}",
    "an invented memory's id": f"UPDATE memory SET id = '01900000-0000-7000-8000-000000000001' WHERE id = {ONE}",
    "a missing tag": "DELETE FROM tag",
    "a tag that nobody gave": f"INSERT INTO tag SELECT namespace, 'odd', row FROM memory WHERE id = {ONE}",
    "a missing link": "DELETE FROM link",
    "the weight of a link": "UPDATE link SET weight = 0.25",
    "a missing document": "DELETE FROM document WHERE shelf = 'fact' OR shelf LIKE 'fact%'",
    "a document's data": "UPDATE document SET data = replace(data, 'Oslo', 'Rome')",
    "a missing key": "DELETE FROM idempotency",
    "a reason in the journal": "UPDATE journal SET because = because || ' indeed' WHERE position = 0",
    "an image in the journal": "UPDATE journal SET after = replace(after, '0.5', '0.6') WHERE after LIKE '%0.5%'",
    "broken JSON in the journal": "UPDATE journal SET after = '{' WHERE after IS NOT NULL",
    "a missing journal line": "DELETE FROM journal WHERE position = 1",
    "an operation's instant": "UPDATE operation SET at_ms = at_ms + 1 WHERE operation = 'update'",
    "a missing operation": "DELETE FROM operation WHERE operation = 'update'",
    "a namespace's policy": "UPDATE namespace SET policy = 'balanced@999'",
    "a vector's space": "UPDATE {vectors} SET space = space + 1",
    "a line of the log of recalls": "UPDATE recall_log SET hits = '{'",
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_check_finds_what_was_changed_by_hand(path, clock, name):
    lived(path, clock)
    assert faults(path, clock) == []
    if is_server(str(path)) and "recalls" in name:
        pytest.skip("the server's column is an array of texts")
    vectors = "embedding" if is_server(str(path)) else "vector"
    assert run_by_hand(path, DAMAGES[name].replace("{vectors}", vectors)) > 0
    assert faults(path, clock)


@on_a_file
@pytest.mark.parametrize("column", [*sorted({*STATE_COLUMNS} - {"held"}), "session", "turn", "speaker", "op"])
def test_a_check_names_each_column_of_each_memory_that_was_changed_by_hand(path, clock, column):
    lived(path, clock)
    other = f"CASE typeof({column}) WHEN 'text' THEN {column} || 'x' WHEN 'null' THEN 7 ELSE {column} + 1000 END"
    assert run_by_hand(path, f"UPDATE memory SET {column} = {other}") > 10  # noted, updated, said in a session
    with closing(apsw.Connection(str(path))) as connection:
        ids = {identity for (identity,) in connection.execute("SELECT id FROM memory")}
    found = faults(path, clock)
    assert {identity for identity in ids if any(identity in fault for fault in found)} == ids


def test_a_check_finds_an_altered_vector(path, clock):
    lived(path, clock)
    if is_server(str(path)):
        assert run_by_hand(path, "UPDATE embedding SET data = (data * array_fill(-1, ARRAY[64])::vector::halfvec)") > 0
    else:
        assert run_by_hand(path, "UPDATE vector SET data = CAST(x'01' || substr(data, 2) AS BLOB)") > 0
    assert any("vector differs" in fault for fault in faults(path, clock))


@on_a_file
def test_a_check_finds_an_altered_vector_that_was_made_anew(path, clock):
    lived(path, clock)
    with opened(path, POLICY, clock, HashEmbedder(version="2")) as memory:
        memory.reembed()
    sql = "UPDATE vector SET data = CAST(x'01' || substr(data, 2) AS BLOB)"
    assert faults(path, clock) == []
    assert run_by_hand(path, sql) > 0
    assert any("vector differs from what the journal says: data." in fault for fault in faults(path, clock))


@on_a_file
@pytest.mark.parametrize(("column", "value"), [("tags", '["x"]'), ("metadata", '{"n":1}'), ("shown", "less")])
def test_a_check_finds_what_was_added_to_a_memory_that_had_none(path, clock, column, value):
    lived(path, clock)
    bare = "SELECT min(row) FROM content WHERE tags = '[]' AND metadata = '{}' AND shown IS NULL"
    assert run_by_hand(path, f"UPDATE content SET {column} = '{value}' WHERE row = ({bare})") == 1
    assert any(column in fault for fault in faults(path, clock))


def told(memory):
    """What a store says of its memories, by every verb that tells something of them."""
    listed = memory.list(limit=1000, include_archived=True)
    found = [[(h.memory.id, h.score) for h in memory.recall(q, touch=False).hits] for q in ("harbour port", "zebra")]
    return listed, [memory.history(m.id) for m in listed], found, memory.facts(), memory.digest()


def test_an_altered_line_of_the_log_of_recalls_changes_nothing_that_a_memory_is(path, clock):
    lived(path, clock)
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        before = told(memory)
    assert run_by_hand(path, "UPDATE recall_log SET query = 'another question'") > 0
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        assert told(memory) == before
        assert memory.check(full=True) == []  # what can be read has no second copy there


def test_it_names_what_differs_and_where(path, clock):
    lived(path, clock)
    run_by_hand(path, f"UPDATE memory SET importance = 0.51 WHERE id = {ONE}")
    (found,) = faults(path, clock)
    assert found.startswith("default, ")
    assert found.endswith("It differs from what the journal says: importance.")


def test_a_sample_finds_it_in_a_small_store(path, clock):
    lived(path, clock)
    run_by_hand(path, f"UPDATE memory SET importance = 0.51 WHERE id = {ONE}")
    assert len(faults(path, clock, full=False)) == 1


SCHEMAS = {
    "a trigger that eats writes": "CREATE TRIGGER eat AFTER INSERT ON link BEGIN DELETE FROM link; END",
    "a missing index": "DROP INDEX journal_memory",
    "a foreign table": "CREATE TABLE notes (text)",
    "a column more": "ALTER TABLE memory ADD COLUMN odd TEXT",
}


@on_a_file
@pytest.mark.parametrize("name", SCHEMAS)
def test_a_check_compares_the_schema_with_that_of_a_new_store(path, clock, name):
    lived(path, clock)
    run_by_hand(path, SCHEMAS[name])
    assert faults(path, clock, full=False)


@on_a_file
@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE words SET text = 'other words', place = 'n' WHERE rowid = 1",
        "UPDATE words_docsize SET sz = x'3201' WHERE id = 1",  # the length of a text, by which hits are ranked
    ],
)
def test_a_whole_check_compares_the_index_of_words_with_the_texts(path, clock, sql):
    lived(path, clock)
    run_by_hand(path, sql)
    assert any("keyword index" in fault for fault in faults(path, clock))


@on_a_file
def test_an_index_of_words_in_many_pieces_is_found_sound(path, clock):
    """Updates and erasures leave marks in it that a new index has not."""
    with opened(path, {"embedder": {"model": "none"}}, clock) as memory:
        ids = [memory.remember(f"note {number} about the harbour").id for number in range(30)]
        word = memory.erase(ids[::3], reason="asked to").confirm
        memory.erase(ids[::3], reason="asked to", confirm=word, dry_run=False)
        for identity in ids[1::3]:
            memory.update(identity, f"what was noted about the harbour changed: {identity}")
        assert memory.check(full=True) == []


on_a_server = pytest.mark.parametrize("store", STORES[1:2], indirect=True)

SERVER_SCHEMAS = {
    "a trigger that eats writes": (
        (
            "CREATE FUNCTION eat() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;"
            " CREATE TRIGGER eat BEFORE INSERT ON link FOR EACH ROW EXECUTE FUNCTION eat()"
        ),
        "The trigger link.eat is not Perdure's.",
    ),
    "a rule that eats writes": (
        "CREATE RULE eat AS ON INSERT TO link DO INSTEAD NOTHING",
        "The rule link.eat is not Perdure's.",
    ),
    "a dropped policy": ("DROP POLICY one_namespace ON memory", "The policy memory.one_namespace is missing."),
    "a policy that lets all through": (
        "ALTER POLICY one_namespace ON memory USING (true)",
        "The policy memory.one_namespace is not as Perdure made it.",
    ),
    "a policy more": (
        "CREATE POLICY all_of_it ON content USING (true)",
        "The policy content.all_of_it is not Perdure's.",
    ),
    "no row-level security": (
        "ALTER TABLE memory DISABLE ROW LEVEL SECURITY",
        "The table memory is not as Perdure made it.",
    ),
    "row-level security that spares the owner": (
        "ALTER TABLE memory NO FORCE ROW LEVEL SECURITY",
        "The table memory is not as Perdure made it.",
    ),
    "a missing index": ("DROP INDEX journal_memory", "The index journal.journal_memory is missing."),
    "an index that refuses rows": (
        "CREATE UNIQUE INDEX one_text ON content (namespace, md5(text))",
        "The index content.one_text is not Perdure's.",
    ),
}
REPORTED = {
    "a column more": ("ALTER TABLE memory ADD COLUMN odd text", "The column memory.odd is not Perdure's."),
    "a constraint that refuses rows": (
        "ALTER TABLE link ADD CONSTRAINT light CHECK (weight < 2)",
        "The constraint link.light is not Perdure's.",
    ),
    "a function in the place of PostgreSQL's own": (
        "CREATE FUNCTION starts_with(text, varchar) RETURNS boolean LANGUAGE sql AS 'SELECT true'",
        "The function starts_with(text, character varying) is not Perdure's.",
    ),
}


@on_a_server
@pytest.mark.parametrize("name", [*SERVER_SCHEMAS, *REPORTED])
def test_a_check_compares_a_servers_schema_with_that_of_a_new_store(path, clock, name):
    lived(path, clock)
    assert faults(path, clock, full=False) == []
    sql, told = {**SERVER_SCHEMAS, **REPORTED}[name]
    run_by_hand(path, sql)
    found = faults(path, clock, full=False)
    assert found[0] == told
    assert len(found) == 1 or "policy" in name  # what a lost policy hides seems lost


@on_a_server
@pytest.mark.parametrize("name", SERVER_SCHEMAS)
def test_a_repair_restores_a_servers_schema(path, clock, name):
    lived(path, clock)
    sql, told = SERVER_SCHEMAS[name]
    run_by_hand(path, sql)
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        shown = memory.repair()
        assert shown.faults[0] == told
        assert memory.check()[0] == told
        done = memory.repair(dry_run=False)
        assert (done.left, done.operations) == ((), ())
        assert memory.check(full=True) == []


@on_a_server
def test_tables_and_indexes_of_others_may_stand_beside_a_servers(path, clock):
    lived(path, clock)
    run_by_hand(path, "CREATE TABLE notes (id bigint PRIMARY KEY, text text); CREATE INDEX notes_text ON notes (text)")
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        memory._context.store.optimize("default", 0, 1)  # builds an index for approximate search
    assert faults(path, clock) == []


COUNTS = {
    "a term's count": "UPDATE posting SET documents = documents + 1 WHERE term LIKE 'zebra%'",
    "the last row": "UPDATE namespace SET last_row = last_row - 1",
}


@on_a_server
@pytest.mark.parametrize("name", COUNTS)
def test_a_servers_counts_are_compared_and_made_anew(path, clock, name):
    lived(path, clock)
    assert run_by_hand(path, COUNTS[name]) > 0
    assert faults(path, clock, full=False)
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        assert memory.repair(dry_run=False).left == ()
        memory.remember("one row more")
        assert memory.check(full=True) == []


@on_a_file
def test_a_files_count_of_memories_is_compared_and_made_anew(path, clock):
    lived(path, clock)
    assert run_by_hand(path, "UPDATE namespace SET documents = documents + 1") > 0
    (fault,) = faults(path, clock, full=False)
    assert "wrong count of memories" in fault
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        assert memory.repair(dry_run=False).left == ()
        memory.remember("one row more")
        assert memory.check(full=True) == []


WORDS = {
    "a word that is gone": "DELETE FROM posting WHERE term LIKE 'zebra%'",
    "a word that nobody said": "UPDATE posting SET term = 'horse' WHERE term LIKE 'zebra%'",
    "a word said more often": "UPDATE posting SET entries[1] = entries[1] + (1 << 24) WHERE term LIKE 'zebra%'",
    "another length": "UPDATE posting SET entries[1] = entries[1] + 1 WHERE term LIKE 'zebra%'",
    "a word of another memory": (
        "UPDATE posting SET entries[1] = entries[1] + (CAST(900 AS bigint) << 40) WHERE term LIKE 'zebra%'"
    ),
}


@on_a_server
@pytest.mark.parametrize("name", WORDS)
def test_a_whole_check_compares_a_servers_index_of_words_with_the_texts(path, clock, name):
    lived(path, clock)
    assert run_by_hand(path, WORDS[name]) > 0
    assert any("index of words" in fault for fault in faults(path, clock))
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        assert memory.repair(dry_run=False).left == ()
        assert memory.recall("zebra").hits[0].memory.content == "zebra stripes"
        memory.remember("and a zebra more")
        assert memory.check(full=True) == []


@on_a_server
def test_a_new_stores_schema_is_what_the_migrations_make(path):
    if servers().on_cluster():
        pytest.skip("policies are written in another way there")
    rows = run_query(path, registry("postgres")["schema"].sql)
    assert schema_of(rows) == new_schema(), "run tests/stores/write_schema.py"


def run_query(path, sql):
    with servers().reader(path) as connection:
        return connection.execute(sql).fetchall()


# --- repair

REPAIRED = {
    name: DAMAGES[name]
    for name in (
        *("a source", "an importance", "a status", "a tier", "a date", "a due instant", "an unknown tier"),
        *("a missing link", "the weight of a link", "a missing document", "a document's data"),
    )
}
"""What the journal repeats."""


@pytest.mark.parametrize("name", REPAIRED)
def test_a_repair_makes_rows_what_the_journal_says_and_can_be_undone(path, clock, name):
    lived(path, clock)
    run_by_hand(path, DAMAGES[name])
    damaged = faults(path, clock)
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        shown = memory.repair()
        assert (shown.dry_run, list(shown.faults), shown.left, shown.operations) == (True, damaged, (), ())
        assert memory.check(full=True) == damaged
        done = memory.repair(dry_run=False)
        assert (done.repairs, done.left) == (shown.repairs, ())
        assert memory.check(full=True) == []
        memory.undo(done.operation)  # what it brings back is in the journal now; what cannot be read stays so
        assert bool(memory.check(full=True)) == (name == "an unknown tier")


def test_what_cannot_be_read_is_no_sound_row_though_the_journal_says_the_same(path, clock):
    lived(path, clock)
    run_by_hand(path, DAMAGES["an unknown tier"])
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        found = memory.check(full=True)
        memory.undo(memory.repair(dry_run=False).operation)
        assert memory.check(full=True) == found


TOMBSTONES = {
    "lost": "DELETE FROM document WHERE shelf = 'erased' AND id <> 'salt'",
    "altered": "UPDATE document SET data = replace(data, 'she asked', 'no reason') WHERE shelf = 'erased'",
    "renamed": "UPDATE document SET name = 'another' WHERE shelf = 'erased' AND id <> 'salt'",
    "the salt": "DELETE FROM document WHERE shelf = 'erased' AND id = 'salt'",
}


@pytest.mark.parametrize("how", TOMBSTONES)
def test_what_is_left_of_an_erased_memory_is_checked_and_restored(path, clock, how):
    """Lines about it are erased, so nothing was known of it any longer: a lost tombstone let it come back."""
    with opened(path, POLICY, clock) as memory:
        gone = memory.remember("Harbour server: port 8080", idempotency_key="k-1")
        word = memory.erase([gone.id], reason="she asked").confirm
        memory.erase([gone.id], reason="she asked", confirm=word, dry_run=False)
        assert memory.check(full=True) == []
    run_by_hand(path, TOMBSTONES[how])
    with opened(path, POLICY, clock) as memory:
        assert any("document erased" in str(fault) for fault in memory.check())
        memory.repair(dry_run=False)
        assert memory.check(full=True) == []
        with pytest.raises(MemoryErased):
            memory.remember("Harbour server: port 8080", idempotency_key="k-1")


@pytest.mark.parametrize("name", ["a letter of a text", "a missing content"])
def test_taking_back_what_came_from_a_copy_leaves_nothing_half_there(path, clock, tmp_path, name):
    lived(path, clock)
    backup(path, tmp_path / "copy.db")
    run_by_hand(path, DAMAGES[name])
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        done = memory.repair(source=str(tmp_path / "copy.db"), dry_run=False)
        assert (done.left, bool(done.operation)) == ((), True)
        memory.undo(done.operation)
        assert memory.check(full=True) == []


@on_a_file
@pytest.mark.parametrize("name", ["a letter of a text", "a word of a text", "metadata", "a missing memory"])
def test_texts_and_lost_memories_come_from_a_copy(path, clock, tmp_path, name):
    lived(path, clock)
    backup(path, tmp_path / "copy.db")
    if name == "a missing memory":
        run_by_hand(path, DAMAGES["a missing content"])
    run_by_hand(path, DAMAGES[name])
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        alone = memory.repair()
        assert alone.left
        done = memory.repair(source=str(tmp_path / "copy.db"), dry_run=False)
        assert done.left == ()
        assert memory.recall("zebra").hits[0].memory.content == "zebra stripes"


@pytest.mark.parametrize("many", ["one", "all"])
def test_lost_memories_come_back_with_the_texts_that_are_left(path, clock, many):
    lived(path, clock)
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        before = {m.id: m for m in memory.list(limit=1000, include_archived=True)}
        key = memory.remember("Harbour server: port 8080, Tuesday deploys", idempotency_key="k-1").id
    run_by_hand(path, DAMAGES["a missing memory"] if many == "one" else "DELETE FROM memory")
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        lost = before.keys() - {m.id for m in memory.list(limit=1000, include_archived=True)}
        shown = memory.repair()
        done = memory.repair(dry_run=False)
        assert (shown.left, done.repairs, done.left) == ((), shown.repairs, ())
        assert memory.check(full=True) == []
        after = {m.id: m for m in memory.list(limit=1000, include_archived=True)}
        assert (after, bool(lost)) == (before, True)
        assert memory.recall("zebra").hits[0].memory.content == "zebra stripes"
        assert memory.remember("Harbour server: port 8080, Tuesday deploys", idempotency_key="k-1").id == key


@on_a_file
def test_a_text_stays_where_its_lost_memory_cannot_be_restored_yet(path, clock, tmp_path):
    lived(path, clock)
    backup(path, tmp_path / "copy.db")
    run_by_hand(path, f"UPDATE operation SET at_ms = at_ms + 1 WHERE id = (SELECT op FROM memory WHERE id = {ONE})")
    run_by_hand(path, DAMAGES["a missing memory"])
    texts = "SELECT id, text FROM content ORDER BY row"
    with closing(apsw.Connection(str(path))) as connection:
        before = connection.execute(texts).fetchall()
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        done = memory.repair(dry_run=False)
        assert (bool(done.left), done.needs_copy) == (True, True)
    with closing(apsw.Connection(str(path))) as connection:
        assert connection.execute(texts).fetchall() == before


@on_a_file
def test_a_copy_of_an_older_version_is_read_and_stays_as_it_is(path, clock, tmp_path):
    with opened(path, POLICY, clock) as memory:
        memory.remember("from before")
    first = migrations("sqlite")[0][0]
    newer, copy = tmp_path / "newer.db", tmp_path / "copy.db"
    backup(path, newer)
    old_file(newer, copy, schema=first)
    before = copy.read_bytes()
    _live(path, clock)
    run_by_hand(path, "UPDATE content SET text = 'to the front' WHERE text = 'from before'")
    with opened(path, POLICY, clock) as memory:
        assert memory.repair(source=str(copy), dry_run=False).left == ()
        assert "from before" in [m.content for m in memory.list(limit=100)]
    assert copy.read_bytes() == before
    with closing(apsw.Connection(str(copy))) as connection:
        assert connection.pragma("user_version") == first


@on_a_file
@pytest.mark.parametrize("name", ["a trigger that eats writes", "a missing index"])
def test_a_repair_restores_the_schema(path, clock, name):
    lived(path, clock)
    run_by_hand(path, SCHEMAS[name])
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        assert memory.repair(dry_run=False).left == ()


@on_a_file
def test_a_repair_makes_search_indexes_anew(path, clock):
    lived(path, clock)
    run_by_hand(path, "UPDATE words SET text = 'other words', place = 'n'")
    run_by_hand(path, "DELETE FROM tag")
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        assert memory.repair(dry_run=False).left == ()
        assert memory.recall("zebra").hits[0].memory.content == "zebra stripes"


def test_an_altered_vector_is_made_anew(path, clock):
    lived(path, clock)
    if is_server(str(path)):
        run_by_hand(path, "UPDATE embedding SET data = (data * array_fill(-1, ARRAY[64])::vector::halfvec)")
    else:
        run_by_hand(path, "UPDATE vector SET data = CAST(x'01' || substr(data, 2) AS BLOB)")
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        assert memory.repair(dry_run=False).left == ()
        memory.reembed()
        assert memory.check(full=True) == []


LOST_VECTORS = {
    "a missing vector": f"DELETE FROM {{vectors}} WHERE row = {ROW}",
    "an altered vector": f"UPDATE {{vectors}} SET data = {{other}} WHERE row = {ROW}",
}


@pytest.mark.parametrize("name", LOST_VECTORS)
def test_a_vector_comes_from_a_copy_or_it_is_said_how_it_is_made_anew(path, clock, tmp_path, name):
    lived(path, clock)
    backup(path, tmp_path / "copy.db")
    table, other = ("vector", "CAST(x'01' || substr(data, 2) AS BLOB)")
    if is_server(str(path)):
        table, other = "embedding", "(data * array_fill(-1, ARRAY[64])::vector::halfvec)"
    assert run_by_hand(path, LOST_VECTORS[name].format(vectors=table, other=other)) == 1
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        alone = memory.repair()
        assert any("`perdure reembed`" in text for text in (*alone.repairs, *alone.left))
        assert not any("vector row restored" in text for text in alone.repairs)
        assert not alone.needs_copy
        done = memory.repair(source=str(tmp_path / "copy.db"), dry_run=False)
        assert (done.left, memory.check(full=True)) == ((), [])
        assert any("vector row restored." in text for text in done.repairs)
        assert memory.reembed().embedded == 0


def test_a_sound_store_needs_no_repair(path, clock):
    lived(path, clock)
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        done = memory.repair(dry_run=False)
        assert (done.faults, done.repairs, done.left, done.operation) == ((), (), (), None)


@on_a_file
@pytest.mark.parametrize("readable", [True, False])
def test_all_altered_operations_are_found(path, clock, readable):
    """Of any size, and where a damaged index keeps the memories from being read to the end."""
    with opened(path, POLICY, clock) as memory:
        memory.remember_many([f"note {i}" for i in range(1200)])
        stored = [memory.remember(f"said alone {i}").operation for i in range(3)]
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute("UPDATE operation SET note = 'altered'")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        leaves = connection.execute("SELECT pageno FROM dbstat WHERE name = 'memory_identity' AND pagetype = 'leaf'")
        pages = [number for (number,) in leaves]
    if not readable:
        with path.open("r+b") as file:
            file.seek((pages[len(pages) // 2] - 1) * 4096)
            file.write(bytes(200))
    found = [fault for fault in faults(path, clock) if "The operation" in str(fault)]
    assert len(found) == len(set(found)) == 6  # 500, 500 and 200 notes, and three alone
    assert all(any(operation in fault for fault in found) for operation in stored)


JOURNAL = (
    *("an image in the journal", "a reason in the journal", "a missing journal line", "a missing operation"),
    "broken JSON in the journal",
)


@pytest.mark.parametrize("name", JOURNAL)
def test_a_damaged_journal_repairs_no_row(path, clock, name):
    lived(path, clock)
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        before = [(m.id, m.content, m.state, m.tags) for m in memory.list(limit=1000, include_archived=True)]
    assert run_by_hand(path, DAMAGES[name]) > 0
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        done = memory.repair(dry_run=False)
        assert done.operations == ()
        assert done.left
        assert [(m.id, m.content, m.state, m.tags) for m in memory.list(limit=1000, include_archived=True)] == before


@pytest.mark.parametrize("what", ["a reason", "a memory's id"])
def test_what_was_stored_after_an_altered_operation_is_repaired(path, clock, what):
    lived(path, clock)
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        clock.passes(hours=1)
        late = memory.remember("stored after the damage", importance=0.5)
        early = next(m for m in memory.list(limit=1000) if m.content == "zebra stripes")
    if what == "a reason":
        altered = "UPDATE journal SET because = because || ' indeed'"
    else:
        altered = f"UPDATE journal SET id = '{late.id}'"
    first = f"(SELECT id FROM operation WHERE id < '{late.operation}' ORDER BY number DESC LIMIT 1)"
    assert run_by_hand(path, f"{altered} WHERE operation = {first} AND position = 0") > 0
    run_by_hand(path, f"UPDATE memory SET importance = 0.25 WHERE id IN ('{late.id}', '{early.id}')")
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        memory.repair(dry_run=False)
        assert memory.get(early.id).state.importance == 0.25
        if what == "a reason":
            assert memory.get(late.id).state.importance == 0.5


@on_a_file
def test_other_threads_go_on_while_a_store_is_checked(path, clock):
    lived(path, clock)
    with opened(path, POLICY, clock, HashEmbedder()) as memory, ThreadPoolExecutor(1) as other:

        def write(_done, _total):  # the check waits in its midst until another thread has stored something
            other.submit(memory.remember, "said meanwhile").result(timeout=10)

        assert memory.check(full=True, progress=write) == []


def test_a_check_tells_how_far_it_is(memory):
    for namespace in ("a", "b"):
        for start in range(0, 450, 150):
            memory.remember_many([f"note {i} of {namespace}" for i in range(start, start + 150)], namespace)
    told = []
    assert memory.check(full=True, progress=lambda done, total: told.append((done, total))) == []
    assert len(told) >= 6  # pages of 200
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert all(0 < done <= total for done, total in told)
    assert told[-1][0] == told[-1][1] >= 906
