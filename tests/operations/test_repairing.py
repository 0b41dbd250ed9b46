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
