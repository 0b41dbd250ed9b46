"""A repair by the public verb where single rows hold what nobody wrote."""

from __future__ import annotations

from contextlib import closing

import apsw
import pytest

import perdure
from conftest import HashEmbedder


def test_one_row_that_cannot_be_repaired_keeps_no_other_from_it(tmp_path):
    path = tmp_path / "agent.db"
    with perdure.open(path, {"embedder": {"model": "none"}}) as memory:
        odd, plain = memory.remember("The gate is locked at ten."), memory.remember("The vet is Dr. Sand.")
    with closing(apsw.Connection(str(path))) as file:
        file.execute("UPDATE memory SET pinned = 5 WHERE id = ?", (odd.id,))
        file.execute("UPDATE memory SET importance = 0.9 WHERE id = ?", (plain.id,))
    with perdure.open(path, {"embedder": {"model": "none"}}) as memory:
        done = memory.repair(dry_run=False)
        assert [text.split(", ")[1].split(":")[0] for text in done.repairs] == [plain.id]
        assert [fault for fault in done.left if plain.id in fault] == []
        assert memory.get(plain.id).importance == pytest.approx(plain.memory.importance, abs=0.01)


def test_a_vector_of_another_type_is_repaired_and_the_journal_stays_readable(tmp_path):
    path = tmp_path / "agent.db"
    with perdure.open(path, {}, embedder=HashEmbedder()) as memory:
        memory.remember("The gate is locked at ten.")
    with closing(apsw.Connection(str(path))) as file:
        file.execute("UPDATE vector SET data = 'abc'")
    with perdure.open(path, {}, embedder=HashEmbedder()) as memory:
        memory.repair(dry_run=False)
        assert memory.check(full=True) == []


def test_a_document_in_no_journal_is_deleted_and_comes_back_with_undo(tmp_path):
    """It was refused as a document that nobody could read."""
    path, data = tmp_path / "agent.db", '{"a":1}'
    with perdure.open(path, {"embedder": {"model": "none"}}) as memory:
        note = memory.remember("The gate is locked at ten.").id
    put = "INSERT INTO document (namespace, shelf, id, name, data) VALUES ('default', 'lesson', ?, 'y', ?)"
    with closing(apsw.Connection(str(path))) as file:
        file.execute(put, (note, data))
    with perdure.open(path, {"embedder": {"model": "none"}}) as memory:
        done = memory.repair(dry_run=False)
        assert done.repairs == (f"default, {note}: document row deleted.",)
        memory.undo(done.operation)
    with closing(apsw.Connection(str(path))) as file:
        assert file.execute("SELECT data FROM document WHERE shelf = 'lesson'").fetchall() == [(data,)]


def test_what_a_repair_restores_hides_nothing_that_it_deletes(tmp_path):
    path = tmp_path / "agent.db"
    with perdure.open(path, {"embedder": {"model": "none"}}) as memory:
        old = memory.remember("The gate is locked at ten.")
        memory.update(old.id, "The gate is locked at nine.")
        other = memory.remember("The vet is Dr. Sand.")
    with closing(apsw.Connection(str(path))) as file:
        file.execute("UPDATE link SET other = ?", (other.id,))
    with perdure.open(path, {"embedder": {"model": "none"}}) as memory:
        told = memory.repair(dry_run=False).repairs
        assert any("link row restored, link row deleted." in text for text in told), told
        assert memory.check(full=True) == []


def test_a_store_without_an_index_of_its_journal_answers(tmp_path):
    path = tmp_path / "agent.db"
    with perdure.open(path, {"embedder": {"model": "none"}}) as memory:
        old = memory.remember("The gate is locked at ten.")
    with closing(apsw.Connection(str(path))) as file:
        file.execute("DROP INDEX journal_memory")
    with perdure.open(path, {"embedder": {"model": "none"}}) as memory:
        assert memory.why(old.id).id == old.id
        assert len(memory.history(old.id)) == 1
        confirm = memory.erase([old.id], reason="asked").confirm
        memory.erase([old.id], reason="asked", confirm=confirm, dry_run=False)
        assert memory.get(old.id) is None
