"""A memory whose words are lost, and that nothing brings back, is removed where somebody says so; the rest is saved."""

import pytest
from typer.testing import CliRunner

from conftest import HashEmbedder, opened
from perdure.compose import backup, is_server
from perdure.interfaces.cli.app import app
from perdure.records.errors import InvalidInput, StoreDamaged
from stores.test_damage import POLICY, lived, run_by_hand

FRUITS = ("apple", "banana", "cherry")
LOST = {
    "content": ["DELETE FROM content WHERE id = '{}'"],
    "whole": ["DELETE FROM content WHERE id = '{}'", "DELETE FROM memory WHERE id = '{}'"],
}


def stored(path, clock):
    """Store three memories in a store that has others, with whatever may hang on one."""
    lived(path, clock)
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        fact = {"subject": "banana", "predicate": "room", "value": "7"}
        ids = [
            memory.remember(f"One {name} lies in the store room.", "fruit", tags=[name], idempotency_key=name).id
            for name in FRUITS
        ]
        memory.update(ids[1], "The banana lies in room 7.", facts=[fact])
        memory.recall("banana", "fruit")
    return ids


def lose(path, how, identity):
    for sql in LOST[how]:
        assert run_by_hand(path, sql.format(identity)) == 1


@pytest.mark.parametrize("how", LOST)
def test_what_is_lost_for_good_is_removed_where_it_is_said_and_the_rest_is_sound(path, clock, tmp_path, how):
    ids = stored(path, clock)
    lose(path, how, ids[1])
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        assert any(ids[1] in text for text in memory.repair(dry_run=False).left)
        shown = memory.repair(remove_lost=True)
        assert f"fruit, {ids[1]}: It is lost" in " ".join(shown.repairs)
        assert shown.left == ()
        done = memory.repair(remove_lost=True, dry_run=False)
        assert (done.left, memory.check(full=True)) == ((), [])
        assert {m.content for m in memory.list("fruit")} >= {
            f"One {name} lies in the store room." for name in ("apple", "cherry")
        }
        with pytest.raises(InvalidInput, match="words are lost"):
            memory.undo(done.operation)
        again = memory.remember("A banana lies in the store room.", "fruit")
        assert memory.recall("banana", "fruit").hits
        assert again.id != ids[1]
        memory.sweep()
        assert memory.check(full=True) == []
    assert backup(path, tmp_path / "saved.db").memories


def test_a_refused_backup_names_what_removes_the_lost(path, clock, tmp_path):
    ids = stored(path, clock)
    lose(path, "content", ids[1])
    with pytest.raises(StoreDamaged, match="perdure repair --remove-lost"):
        backup(path, tmp_path / "saved.db")
    with opened(path, POLICY, clock, HashEmbedder()) as memory, pytest.raises(StoreDamaged, match=ids[1]):
        memory.erase([ids[1]], namespace="fruit", reason="lost", dry_run=True)


def test_what_can_be_mended_is_mended_beside_what_is_lost(path, clock):
    ids = stored(path, clock)
    lose(path, "content", ids[1])
    assert run_by_hand(path, f"DELETE FROM memory WHERE id = '{ids[0]}'") == 1
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        left = memory.repair(dry_run=False).left
        assert memory.get(ids[0], namespace="fruit").content == "One apple lies in the store room."
        assert not any("contents without a memory" in text or "vectors without a memory" in text for text in left)
        memory.repair(remove_lost=True, dry_run=False)
        assert memory.check(full=True) == []


@pytest.mark.parametrize("trace", ["an operation without lines", "none"])
def test_a_loss_whose_lines_are_lost_too_is_reported_until_it_is_confirmed(path, clock, tmp_path, trace):
    if trace == "none" and is_server(str(path)):
        pytest.skip("a server does not number its operations without a gap")
    stored(path, clock)
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        gone, _ = (memory.remember(f"One {name} is left over.", "fruit").id for name in ("melon", "olive"))
        born = memory.history(gone, namespace="fruit")[0].operation_id
    lose(path, "whole", gone)
    assert run_by_hand(path, f"DELETE FROM journal WHERE operation = '{born}'") == 1
    if trace == "none":
        assert run_by_hand(path, f"DELETE FROM operation WHERE id = '{born}'") == 1
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        assert memory.repair(dry_run=False).left != ()
        assert memory.check(full=True) != []
        assert memory.repair(remove_lost=True).left == ()
        assert memory.repair(remove_lost=True, by="Ana", dry_run=False).left == ()
        assert memory.check(full=True) == []
        assert memory.confirmed_losses == 1
        memory.remember("A date lies in the store room.", "fruit")
        memory.sweep()
        assert memory.check(full=True) == []
    told = commanded("check", "--store", path)
    assert told.exit_code == 0
    assert "On record: 1 confirmed loss." in told.stdout
    assert commanded("export", tmp_path / "e.jsonl", "--store", path).exit_code == 0
    assert commanded("import", tmp_path / "e.jsonl", "--store", tmp_path / "b.db").exit_code == 0
    with opened(tmp_path / "b.db", POLICY, clock, HashEmbedder()) as memory:
        assert (memory.check(full=True), memory.confirmed_losses) == ([], 1)
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        (repair,) = [
            o for place in memory.namespaces() for o in memory.history(namespace=place) if o.operation == "repair"
        ]
        memory.undo(repair.id)
        assert memory.check(full=True) != []
        assert memory.confirmed_losses == 0


def commanded(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def test_an_export_names_what_is_lost_and_the_rest_can_be_imported(path, clock, tmp_path):
    ids = stored(path, clock)
    lose(path, "content", ids[1])
    file, target = tmp_path / "e.jsonl", tmp_path / "imported.db"
    exported = commanded("export", file, "--store", path)
    assert exported.exit_code == 1
    assert f"fruit: {ids[1]}" in exported.stderr
    imported = commanded("import", file, "--store", target)
    assert imported.exit_code == 0
    assert "from a damaged store" in imported.stdout
    with opened(target, POLICY, clock, HashEmbedder()) as memory:
        assert "One apple lies in the store room." in {m.content for m in memory.list("fruit")}
        memory.repair(remove_lost=True, dry_run=False)
        assert memory.check(full=True) == []


def test_a_copy_of_a_damaged_store_names_what_is_lost(path, clock, tmp_path):
    ids = stored(path, clock)
    lose(path, "content", ids[1])
    refused = commanded("copy", path, tmp_path / "copy.db")
    assert refused.exit_code == 1
    told = " ".join(refused.stderr.split())
    assert f"The source is damaged: the memory {ids[1]} of fruit is lost" in told
    assert "perdure repair --remove-lost" in told
