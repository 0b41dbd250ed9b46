"""What a command is told to write never takes the place of a store, of what lies beside it, or of a backup."""

from __future__ import annotations

import os
import shutil
import sqlite3
from pathlib import Path

import pytest
from typer.testing import CliRunner

from conftest import opened
from perdure.interfaces.cli import app as cli

NO_EMBEDDER = '[embedder]\nmodel = "none"\n'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A store with one memory, and everything that must stay as it is, each under a name that says what it is."""
    (tmp_path / "policy.toml").write_text(NO_EMBEDDER)
    monkeypatch.setenv("PERDURE_STORE", "mine.db")
    monkeypatch.setenv("PERDURE_POLICY", str(tmp_path / "policy.toml"))
    monkeypatch.chdir(tmp_path)
    for name in ("mine.db", "other.db"):
        with opened(tmp_path / name) as memory:
            memory.remember("Precious.")
    ran("backup", "backup.db")
    Path("linked.db").symlink_to("mine.db")
    os.link("mine.db", "twice.jsonl")
    Path("export.jsonl").symlink_to("mine.db")
    with sqlite3.connect("foreign.db") as foreign:
        foreign.execute("create table theirs (a)")
    foreign.close()
    return tmp_path


def ran(*words, code=0):
    done = CliRunner().invoke(cli.app, list(words), prog_name="perdure")
    assert done.exit_code == code, done.output
    return done


def refused(folder, name, *words):
    """What the command says when it refuses; the file and the store are as they were."""
    before = {p.name: p.read_bytes() for p in folder.iterdir()}
    told = ran(*words, code=1).stderr
    assert {p.name: p.read_bytes() for p in folder.iterdir()} == before
    assert name in told
    assert "Choose another file" in told
    return " ".join(told.split())


TARGETS = {
    "mine.db": "is the store itself",
    "linked.db": "is the store itself",
    "twice.jsonl": "is the store itself",
    "other.db": "is a Perdure store",
    "backup.db": "is a backup of a Perdure store",
    "foreign.db": "is a SQLite database",
    "other.db-wal": "a file that SQLite keeps beside a database",
    "mine.db-shm": "a file that SQLite keeps beside a database",
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("force", [(), ("--force",)])
def test_a_plan_is_never_written_over_a_store_or_a_backup(folder, target, force):
    told = refused(folder, target, "plan", "sweep", "-o", target, *force)
    assert TARGETS[target] in told
    assert "pass --force" not in told


def test_it_is_found_by_any_path(folder):
    told = refused(folder, "mine.db", "plan", "sweep", "-o", f"../{folder.name}/mine.db", "--force")
    assert "is the store itself" in told


@pytest.mark.parametrize("target", ["twice.jsonl", "export.jsonl"])
def test_an_export_is_never_written_over_a_store(folder, target):
    assert "is the store itself" in refused(folder, target, "export", target, "--force")


def test_an_export_is_never_written_over_a_backup_that_is_named_as_one(folder):
    shutil.copy("backup.db", "old.jsonl")
    assert "is a backup of a Perdure store" in refused(folder, "old.jsonl", "export", "old.jsonl", "--force")


@pytest.mark.parametrize("target", TARGETS)
def test_a_digest_is_never_written_into_one(folder, target):
    told = refused(folder, target, "digest", "--out", target, "--force")
    assert TARGETS[target].replace("the store itself", "a Perdure store") in told


def test_a_store_whose_beginning_is_damaged_is_not_written_over_either(folder):
    with Path("mine.db").open("r+b") as file:
        file.write(b"\0" * 4096)
    told = CliRunner().invoke(cli.app, ["plan", "sweep", "-o", "mine.db", "--force"], prog_name="perdure")
    assert told.exit_code == 1
    assert Path("mine.db").read_bytes().startswith(b"\0" * 4096)


def test_a_backup_replaces_an_older_one_and_nothing_of_other_programs(folder):
    assert "pass --force" in ran("backup", "backup.db", code=1).stderr
    assert "overwrite" not in ran("backup", "backup.db", code=1).stderr
    ran("backup", "backup.db", "--force")
    assert "is a SQLite database" in refused(folder, "foreign.db", "backup", "foreign.db", "--force")
    ran("--store", "backup.db", "list")  # a backup that somebody has looked into is one still
    ran("backup", "backup.db", "--force")
    assert "keeps beside a database" in refused(folder, "other.db-wal", "backup", "other.db-wal", "--force")


def test_the_demonstration_does_not_write_over_a_store(folder):
    (folder / "show").mkdir()
    shutil.copy("other.db", "show/MEMORY.md")
    told = ran("demo", "--out", "show", "--embedder", "none", code=1)
    assert "is a Perdure store" in " ".join(told.stderr.split())
    assert Path("show/MEMORY.md").read_bytes() == Path("other.db").read_bytes()


def test_maintenance_does_not_write_memory_md_over_a_store(folder):
    with Path("policy.toml").open("a") as policy:
        policy.write('[digest]\nfile = "other.db"\n')
    before = Path("other.db").read_bytes()
    done = CliRunner().invoke(cli.app, ["maintain", "--once"], prog_name="perdure")
    assert Path("other.db").read_bytes() == before
    assert "is a Perdure store" in " ".join(done.output.split())


def test_a_backup_that_maintenance_wrote_is_not_written_over(folder):
    with opened(folder / "mine.db") as memory:
        memory.move(memory.list()[0].id, "vault", reason="It is to be backed up.")
        memory.upkeep("worker", eager=True)
    (path,) = folder.glob("mine.db.backups/vault-*.jsonl")
    told = ran("export", str(path), "--force", code=1).stderr
    assert "is a backup of a namespace that maintenance wrote" in " ".join(told.split())


def test_other_files_are_replaced_when_told(folder):
    Path("old.json").write_text("{}")
    assert "pass --force" in ran("plan", "sweep", "-o", "old.json", code=1).stderr
    ran("plan", "sweep", "-o", "old.json", "--force")
    assert "perdure_plan" in Path("old.json").read_text()
