"""Quotas of namespaces: every verb that stores is refused beyond them, and what makes room is not."""

from __future__ import annotations

import json

import pytest

import perdure
from conftest import WORDS_ONLY, finished, opened, tables
from perdure.records.errors import PerdureError, QuotaExceeded
from starts import forked_python


def limited(**quotas):
    return {**WORDS_ONLY, "limits": {f"namespace_{name}": most for name, most in quotas.items()}}


def fill(memory, count, namespace="default"):
    return [memory.remember(f"Machine {n} stands in hall {n * 7}.", namespace=namespace).id for n in range(count)]


STORING = {
    "remember": lambda m, _: m.remember("Deploys happen on Tuesdays."),
    "remember_many": lambda m, _: m.remember_many(["Deploys happen on Tuesdays.", "The gate opens at seven."]),
    "ingest": lambda m, _: m.ingest([{"content": "When do we deploy?", "role": "user"}], session="s"),
    "learn": lambda m, _: m.learn(claims=[{"subject": "Ana", "predicate": "employer", "value": "Acme"}]),
    "restore": lambda m, ids: m.restore(ids["archived"]),
    "undo": lambda m, ids: m.undo(ids["operation"]),
}


@pytest.mark.behaviour("LIM1")
@pytest.mark.parametrize("how", STORING)
def test_what_stores_is_refused_beyond_the_quota(opening, how):
    memory = opening(limited(memories=3))
    archived = fill(memory, 1)[0]
    done = memory.forget(archived)
    ids = {"archived": archived, "operation": done.operation}
    kept = [memory.remember(f"Hall {n} has {n} doors.").id for n in range(3)]
    with pytest.raises(QuotaExceeded, match="may hold 3 memories") as refused:
        STORING[how](memory, ids)
    assert "limits.namespace_memories" in refused.value.remedy
    assert (refused.value.namespace, refused.value.part) == ("default", "memories")
    assert memory.stats().memories == 3
    memory.forget(kept[0])
    assert memory.remember("There is room again.").id
    assert memory.remember("Another namespace has its own.", namespace="other").id


@pytest.mark.parametrize(("quota", "most"), [("tokens", 60), ("bytes", 300)])
def test_tokens_and_bytes_have_quotas(opening, quota, most):
    memory = opening(limited(**{quota: most}))
    with pytest.raises(QuotaExceeded, match=quota):
        fill(memory, 100)
    before = memory.stats().memories
    assert 2 < before < 40
    ids = [m.id for m in memory.list()]
    for identity in ids:
        memory.forget(identity)
    if quota == "tokens":
        assert memory.remember("Deploys happen on Tuesdays.").id
    else:  # what is out of view still lies there
        with pytest.raises(QuotaExceeded):
            memory.remember("Deploys happen on Tuesdays, and the gate opens at seven o'clock.")


def test_an_update_needs_no_room(opening):
    memory = opening(limited(memories=2))
    first, _ = fill(memory, 2)
    assert memory.update(first, "Machine 0 stands in hall 1.").id
    assert memory.stats().memories == 2


def test_the_quota_holds_for_several_openings_of_one_store(path):
    with opened(path, limited(memories=10)) as one, opened(path, limited(memories=10)) as other:
        stored = 0
        for number in range(20):
            try:
                (one, other)[number % 2].remember(f"Machine {number} stands in hall {number}.")
            except QuotaExceeded:
                continue
            stored += 1
        assert stored == 10
        assert one.stats().memories == 10


def test_what_is_refused_leaves_nothing(path):
    with opened(path, limited(memories=2)) as memory:
        fill(memory, 2)
        before = tables(path)
        with pytest.raises(PerdureError):
            memory.remember("Deploys happen on Tuesdays.")
        assert tables(path) == before
        assert memory.check() == []


def test_an_import_is_held_to_the_quota(tmp_path):
    with opened(tmp_path / "a.db") as memory:
        fill(memory, 5)
    (tmp_path / "perdure.toml").write_text('[embedder]\nmodel = "none"\n[limits]\nnamespace_memories = 4\n')
    exported = tmp_path / "a.jsonl"
    command = "import sys; from perdure.interfaces.entry import main; sys.argv[0] = 'perdure'; main()"
    finished(forked_python(command, "export", "--store", tmp_path / "a.db", exported))
    child = forked_python(
        command, "import", exported, "--store", tmp_path / "b.db", "--policy", tmp_path / "perdure.toml", "--json"
    )
    out, _ = child.communicate(timeout=60)
    assert child.returncode == 1
    assert json.loads(out)["error"] == "QuotaExceeded"
    with perdure.open(tmp_path / "b.db", WORDS_ONLY) as memory:
        assert memory.list() == []
