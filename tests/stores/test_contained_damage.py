"""One damaged row keeps no verb from answering about others; what is asked about itself says what is damaged."""

from __future__ import annotations

import warnings

import pytest

from conftest import HashEmbedder, opened
from perdure.compose import is_server
from perdure.records.errors import DamageWarning, InvalidInput, StoreDamaged
from stores.test_damage import POLICY, ROW, lived, run_by_hand

ROWS = {
    "a fact that is no JSON": "UPDATE document SET data = '{' WHERE shelf = 'fact'",
    "names that are no object": "UPDATE document SET data = 'null' WHERE shelf = 'alias'",
    "a packed text": f"UPDATE content SET packed = {{bytes}} WHERE row = {ROW}",
    "no tag among tags": f"UPDATE content SET tags = {{tags}} WHERE row = {ROW}",
    "a vector too short": f"UPDATE {{vectors}} SET data = {{short}} WHERE row = {ROW}",
}
FORMS = {
    False: {"{bytes}": "x'00'", "{tags}": "'[null]'", "{vectors}": "vector", "{short}": "x'0102'"},
    True: {
        "{bytes}": "decode('00', 'hex')",
        "{tags}": "CAST(ARRAY[NULL] AS text[])",
        "{vectors}": "embedding",
        "{short}": "CAST('[1,2]' AS halfvec)",
    },
}
RITA = {"subject": "Rita", "predicate": "lives in"}
UNPACKABLE = {server: forms["{bytes}"] for server, forms in FORMS.items()}
UNREADABLE = ["a packed text", "no tag among tags"]


def damaged(path, clock, name):
    lived(path, clock)
    sql = ROWS[name]
    for slot, value in FORMS[is_server(str(path))].items():
        sql = sql.replace(slot, value)
    assert run_by_hand(path, sql) == 1
    return opened(path, POLICY, clock, HashEmbedder())


def calls(memory):
    yield from (memory.list, memory.digest, memory.facts, memory.stats, memory.entities, memory.alerts, memory.history)
    for question in ("harbour port", "zebra", "Where does Rita live?"):
        yield lambda question=question: memory.recall(question)
    yield lambda: memory.recall("zebra", entity="stripes")
    yield lambda: memory.remember("the quay has a crane", facts=[])


@pytest.mark.parametrize("name", ROWS)
def test_what_is_asked_about_others_is_answered_with_a_warning_that_names_the_row(path, clock, name):
    with damaged(path, clock, name) as memory, warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert "Harbour server: port 9090, Tuesday deploys" in [h.memory.content for h in memory.recall("harbour").hits]
        for call in calls(memory):
            call()
        found = {str(w.message) for w in told}
        assert {w.category for w in told} == {DamageWarning}
        for text in found:
            assert "cannot be read" in text
            assert "perdure check" in text
            assert "perdure repair" in text
        (row,) = {fault.split(", ")[1].split(":")[0] for fault in memory.check(full=True) if ", " in fault}
        assert any(row in text for text in found)


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_memory_that_cannot_be_read_is_told_as_damaged_where_it_is_asked_for(path, clock, name):
    with damaged(path, clock, name) as memory, warnings.catch_warnings():
        warnings.simplefilter("ignore", DamageWarning)
        (row,) = {fault.split(", ")[1].split(":")[0] for fault in memory.check(full=True) if ", " in fault}
        for call in (memory.get, memory.why, memory.restore):
            with pytest.raises(StoreDamaged, match=row) as refused:
                call(row)
            assert "perdure repair" in refused.value.remedy


@pytest.mark.parametrize(
    ("column", "mended_by"),
    [
        ("memory.tier", "journal"),
        ("content.task", "journal"),
        ("content.text", "backup"),
    ],
)
def test_a_text_that_is_no_utf_8_is_named_and_mended(path, clock, tmp_path, column, mended_by):
    if is_server(str(path)):
        pytest.skip("a server stores no such text")
    lived(path, clock)
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        before = memory.list(limit=1000, include_archived=True)
    copy = tmp_path / "copy.db"
    copy.write_bytes(path.read_bytes())
    table, _, name = column.partition(".")
    assert run_by_hand(path, f"UPDATE {table} SET {name} = CAST(x'41ff' AS TEXT) WHERE row = {ROW}") == 1
    assert run_by_hand(path, f"UPDATE memory SET importance = 0.9 WHERE row = {ROW} + 1") == 1
    with opened(path, POLICY, clock, HashEmbedder()) as memory, warnings.catch_warnings():
        warnings.simplefilter("ignore", DamageWarning)
        found = memory.check(full=True)
        assert [fault for fault in found if f"{column} is no text (UTF-8)" in fault]
        assert [fault for fault in found if "It differs from what the journal says: importance" in fault]
        done = memory.repair(dry_run=False)
        assert (done.left == ()) is (mended_by == "journal")
        if mended_by == "backup":
            assert memory.repair(source=str(copy), dry_run=False).left == ()
        assert memory.check(full=True) == []
        assert memory.list(limit=1000, include_archived=True) == before


def test_a_line_of_the_journal_that_is_no_utf_8_is_named_and_the_rest_is_looked_at(path, clock):
    if is_server(str(path)):
        pytest.skip("a server stores no such text")
    lived(path, clock)
    assert run_by_hand(path, "UPDATE operation SET note = CAST(x'41ff' AS TEXT) WHERE number = 1") == 1
    assert run_by_hand(path, f"UPDATE memory SET importance = 0.9 WHERE row = {ROW}") == 1
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        found = memory.check()
        assert [fault for fault in found if "operation.note is no text (UTF-8)" in fault]
        assert [fault for fault in found if "It differs from what the journal says: importance" in fault]


def test_a_damaged_document_is_told_where_it_would_be_written_over(path, clock):
    lived(path, clock)
    run_by_hand(path, "UPDATE document SET data = '{' WHERE shelf IN ('alias', 'entity')")
    with opened(path, POLICY, clock, HashEmbedder()) as memory, warnings.catch_warnings():
        warnings.simplefilter("ignore", DamageWarning)
        with pytest.raises(StoreDamaged, match="The document alias"):
            memory.remember("Rita moved", facts=[{"subject": "Rita", "predicate": "lives in", "value": "Rome"}])


def test_a_page_of_documents_that_cannot_be_read_hides_no_later_ones(path, clock):
    lived(path, clock)
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        memory.remember("Ann moved", facts=[{"subject": "Ann", "predicate": "lives in", "value": "Rome"}])
    first = "(SELECT min(id) FROM document WHERE shelf = 'fact')"
    assert run_by_hand(path, f"UPDATE document SET data = '{{' WHERE shelf = 'fact' AND id = {first}") == 1
    with opened(path, POLICY, clock, HashEmbedder()) as memory, warnings.catch_warnings():
        warnings.simplefilter("ignore", DamageWarning)
        assert [fact.value for fact in memory.facts()] == ["Rome"]
        assert "Ann: home: Rome" in [h.memory.content for h in memory.recall("Where does Ann live?").hits]


def test_lines_of_the_journal_that_are_no_json_keep_nobody_from_the_statistics(path, clock):
    lived(path, clock)
    assert run_by_hand(path, "UPDATE journal SET after = '{' WHERE after IS NOT NULL") > 0
    with opened(path, POLICY, clock, HashEmbedder()) as memory, warnings.catch_warnings():
        warnings.simplefilter("ignore", DamageWarning)
        assert sum(memory.stats().statuses.values()) == len(memory.list(limit=1000, include_archived=True))
        memory.alerts()


@pytest.mark.parametrize("shelf", ["alias", "entity"])
def test_undoing_a_repair_brings_no_document_that_no_verb_can_read(path, clock, shelf):
    lived(path, clock)
    assert run_by_hand(path, f"UPDATE document SET data = '{{\"names\":5}}' WHERE shelf = '{shelf}'") == 1
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        done = memory.repair(dry_run=False)
        with pytest.raises(InvalidInput, match=f"{shelf} rita.* could not be read before the repair"):
            memory.undo(done.operation)
        assert [fact.value for fact in memory.facts()] == ["Oslo"]


def test_a_repair_of_a_number_that_was_bytes_and_of_tags_is_undone(path, clock):
    lived(path, clock)
    if is_server(str(path)):
        assert run_by_hand(path, f"UPDATE content SET tags = CAST(ARRAY[NULL] AS text[]) WHERE row = {ROW}") == 1
    else:
        assert run_by_hand(path, f"UPDATE memory SET created_ms = x'00' WHERE row = {ROW}") == 1
    with opened(path, POLICY, clock, HashEmbedder()) as memory, warnings.catch_warnings():
        warnings.simplefilter("ignore", DamageWarning)
        assert len(memory.list(limit=1000, include_archived=True)) == 15
        done = memory.repair(dry_run=False)
        assert done.left == ()
        memory.undo(done.operation)
        assert len(memory.list(limit=1000, include_archived=True)) == 16
        assert memory.check(full=True) == []


@pytest.mark.parametrize("lost", [False, True])
def test_no_fact_is_stored_beside_one_whose_memory_cannot_be_read(path, clock, lost):
    lived(path, clock)
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        (oslo,) = memory.facts()
    at = f"WHERE id = '{oslo.id}'"
    unreadable = f"UPDATE content SET packed = {UNPACKABLE[is_server(str(path))]} {at}"
    assert run_by_hand(path, f"DELETE FROM content {at}" if lost else unreadable) == 1
    with opened(path, POLICY, clock, HashEmbedder()) as memory, warnings.catch_warnings():
        warnings.simplefilter("ignore", DamageWarning)
        with pytest.raises(StoreDamaged, match=oslo.id) as refused:
            memory.remember("Rita lives in Rome now.", facts=[{**RITA, "value": "Rome"}])
        assert "perdure repair" in refused.value.remedy
        memory.remember("Ann lives in Rome.", facts=[{"subject": "Ann", "predicate": "lives in", "value": "Rome"}])
        assert [fact.value for fact in memory.facts("Ann")] == ["Rome"]


def test_no_fact_is_stored_beside_one_that_cannot_be_read_and_both_are_contested_after_a_repair(path, clock):
    def says(home):
        return memory.remember(f"Rita lives in {home} now.", facts=[{**RITA, "value": home}])

    lived(path, clock)
    run_by_hand(path, "UPDATE document SET data = 'garbage' WHERE shelf = 'fact'")
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        with pytest.raises(StoreDamaged, match=r"The document fact .* cannot be read") as refused:
            says("Rome")
        assert "perdure repair" in refused.value.remedy
        assert memory.repair(dry_run=False).left == ()
        says("Rome")
        assert {fact.value: bool(fact.contested) for fact in memory.facts()} == {"Oslo": True, "Rome": True}


@pytest.mark.parametrize("which", ["id = 'salt'", "id <> 'salt'"])
def test_what_was_erased_does_not_come_back_where_its_tombstone_cannot_be_read(path, clock, which):
    lived(path, clock)
    said = {"role": "user", "content": "The code word is heliotrope.", "at": clock.now.isoformat(), "session": "s7"}
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        kept = memory.remember(said["content"], idempotency_key="K")
        word = memory.erase([kept.id], reason="asked").confirm
        memory.erase([kept.id], reason="asked", confirm=word, dry_run=False)
    assert run_by_hand(path, f"UPDATE document SET data = 'garbage' WHERE shelf = 'erased' AND {which}")
    with opened(path, POLICY, clock, HashEmbedder()) as memory, warnings.catch_warnings():
        warnings.simplefilter("ignore", DamageWarning)
        for call in (
            lambda: memory.remember(said["content"], idempotency_key="K"),
            lambda: memory.ingest([said]),
        ):
            with pytest.raises(StoreDamaged, match="The document erased"):
                call()
        assert memory.recall("code word heliotrope").hits == ()


@pytest.mark.parametrize("data", ["garbage", "[1]"])
def test_a_document_of_no_journal_that_cannot_be_read_is_named_and_in_no_erasures_way(path, clock, data):
    words = "The code word of the vault is heliotrope"
    lived(path, clock)
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        kept = memory.remember(f"{words}.")
    values = f"('default', 'fact', 'x', 'y', '{data}: {words}')"
    assert run_by_hand(path, f"INSERT INTO document (namespace, shelf, id, name, data) VALUES {values}") == 1
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        assert [fault for fault in memory.check() if "The document fact y about x cannot be read" in fault]
        word = memory.erase([kept.id], reason="asked").confirm
        done = memory.erase([kept.id], reason="asked", confirm=word, dry_run=False)
        assert not [place for place in done.places if "document of x" in place]
        assert memory.repair(dry_run=False).left == ()
        assert memory.check(full=True) == []
