"""What a person reads of a damaged file: what is wrong, where the file as it was is kept, and how to go back to it."""

from __future__ import annotations

import json
import shutil
import subprocess
from contextlib import closing
from pathlib import Path

import apsw
import pytest
from typer.testing import CliRunner

import perdure
from perdure.interfaces.cli import app as cli

PAGE = 4096
WORDS = "the code word is xylophone, and nobody else may ever know of it"


@pytest.fixture
def place(tmp_path, monkeypatch):
    policy = tmp_path / "policy.toml"
    policy.write_text('[embedder]\nmodel = "none"\n')
    for name, value in {
        "PERDURE_STORE": str(tmp_path / "agent.db"),
        "PERDURE_POLICY": str(policy),
        "COLUMNS": "1000",
        "NO_COLOR": "1",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    with perdure.open("agent.db") as memory:
        for n in range(80):
            memory.remember(f"Note {n}: the harbour server of team {n} has port {8000 + n}. " + "Told at length. " * 8)
        memory.remember(WORDS)
    return tmp_path


def said(*words, code=0):
    result = CliRunner().invoke(cli.app, list(words), prog_name="perdure")
    assert result.exit_code == code, result.output
    return result.stdout


def data(*words, code=0):
    return json.loads(said(*words, "--json", code=code))


def damage(path, *tables):
    with closing(apsw.Connection(str(path))) as connection, path.open("r+b") as file:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        for name in tables:
            for (page,) in connection.execute("SELECT pageno FROM dbstat WHERE name = ?", (name,)).fetchall():
                file.seek((page - 1) * PAGE)
                file.write(bytes(PAGE))


def test_each_thing_that_sqlite_finds_is_a_line_of_its_own_and_told_once(place):
    damage(place / "agent.db", "content", "memory")
    for words, code in ((("check",), 1), (("repair",), 0), (("check", "--full"), 1)):
        shown = said(*words, code=code)
        lines = [line.strip() for line in shown.splitlines() if "SQLite:" in line]
        assert any("btreeInitPage" in line for line in lines)
        assert any("pages are never used" in line for line in lines)  # one line, not one for each page
        assert len(lines) == len(set(lines)) < 20
        assert "\\n" not in shown
        assert "***" not in shown


def test_a_repair_names_the_file_that_it_keeps_and_says_how_to_go_back(place):
    damage(place / "agent.db", "memory_identity")
    damaged = (place / "agent.db").read_bytes()
    kept = place / "agent.db.before-repair"
    before = said("repair")
    assert f"it is kept as {kept}," in before
    assert not kept.exists()
    after = said("repair", "--apply")
    assert f"it is kept as {kept}," in after
    assert not any(word in before + after for word in ("NAME", "Found before"))
    assert "Nothing is wrong now." in after
    [back] = [line for line in after.splitlines() if " mv " in line]
    subprocess.run(["sh", "-c", back.partition(": ")[2]], check=True)  # as a person would
    assert (place / "agent.db").read_bytes()[PAGE:] == damaged[PAGE:]  # the head counts who opened it
    assert not kept.exists()
    assert data("repair", "--apply")["kept"] == str(kept)
    damage(place / "agent.db", "memory_identity")
    assert f"it is kept as {kept}-2," in said("repair")
    shown, done = data("repair"), data("repair", "--apply")
    assert (shown["kept"], done["kept"], done["repairs"]) == (None, f"{kept}-2", shown["repairs"])


def test_a_repair_that_writes_no_file_anew_keeps_none(place):
    with closing(apsw.Connection("agent.db")) as connection:
        connection.execute("DROP INDEX memory_identity")
    shown = said("repair", "--apply")
    assert "Nothing is wrong now." in shown
    assert "before-repair" not in shown
    assert not (place / "agent.db.before-repair").exists()
    assert said("repair", "--apply") == "Nothing is wrong.\n"


def test_a_repair_without_operations_says_that_it_changed_something(place):
    damage(place / "agent.db", "memory_identity")
    with perdure.open("agent.db") as memory:
        assert not memory.repair().changed
        assert memory.repair(dry_run=False).changed
        assert not memory.repair(dry_run=False).changed


def test_an_erasure_and_a_check_tell_of_copies_that_repairs_and_restores_kept(place):
    said("backup", "safe.db")
    assert data("check")["kept_copies"] == []
    said("restore-backup", "safe.db", "--force")
    damage(place / "agent.db", "memory_identity")
    said("repair", "--apply")
    kept = [str(place / f"agent.db.before-{why}") for why in ("repair", "restore")]
    shutil.copyfile("safe.db", "agent.db.before-us")  # somebody's own
    assert data("check")["kept_copies"] == kept
    assert [line.split()[-1] for line in said("check").splitlines() if "before-" in line] == kept
    with perdure.open("agent.db") as memory:
        gone = memory.recall("xylophone").hits[0].memory.id
        word = memory.erase([gone], reason="she asked").confirm
        done = memory.erase([gone], reason="she asked", confirm=word, dry_run=False)
        for path in kept:
            [told] = [note for note in done.unreachable if f"{path} " in note]
            assert "delete it" in told
            assert b"xylophone" in Path(path).read_bytes()


def test_a_repair_that_leaves_something_wrong_ends_with_exit_code_1(place):
    with closing(apsw.Connection("agent.db")) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    said("backup", "safe.db")
    path = place / "agent.db"
    found = path.read_bytes()
    path.write_bytes(found.replace(b"the code word is xylophone", b"the code word is xylofhone"))
    assert path.read_bytes() != found
    said("repair")  # a preview
    assert "Still wrong" in said("repair", "--apply", code=1)
    assert data("repair", "--apply", code=1)["left"]
    said("check", "--full", code=1)
    said("repair", "--source", "safe.db", "--apply")
    said("check", "--full")
