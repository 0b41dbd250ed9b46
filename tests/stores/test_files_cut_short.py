"""A file that lost its end or its beginning: what is said names a command that brings the store back."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import warnings

import pytest
from typer.testing import CliRunner

import perdure
from conftest import HashEmbedder, on_a_file, opened
from perdure.compose import backup
from perdure.interfaces.cli import app as cli
from perdure.records.errors import NotAStore, StoreDamaged
from stores.test_damage import POLICY

pytestmark = on_a_file
PAGE = 4096


@pytest.fixture
def safe(path, clock, tmp_path, monkeypatch):
    """Fill a store and back it up; return where the backup is."""
    (tmp_path / "policy.toml").write_text('[embedder]\nmodel = "none"\n')
    monkeypatch.setenv("PERDURE_POLICY", str(tmp_path / "policy.toml"))
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        for number in range(40):
            memory.remember(f"Part {number} of the engine lies on shelf {number * 7} of the hall.")
    return str(backup(path, tmp_path / "safe.db").path)


def cut(path, pages):
    """Take pages from the end of a file; return how many bytes it had."""
    length = path.stat().st_size
    os.truncate(path, length - pages * PAGE)
    return length


def perdure_says(path, *words):
    """Run a command on a store; return how it ended and what it printed."""
    result = CliRunner().invoke(cli.app, [*words, "--store", str(path)], prog_name="perdure")
    return result.exit_code, result.output


def commands_in(text):
    return [shlex.split(command) for command in re.findall(r"`([^`]+)`", " ".join(text.split()))]


@pytest.mark.parametrize("command", [("check",), ("repair",), ("repair", "--apply"), ("recall", "engine")])
@pytest.mark.parametrize("pages", [1, 5, 40])
def test_of_a_file_that_lost_its_end_each_command_names_one_that_brings_a_backup_back(path, safe, command, pages):
    cut(path, pages)
    code, text = perdure_says(path, *command)
    assert code != 0
    assert "lost its end" in text
    named = commands_in(text)
    assert "check" not in [words[1] for words in named]
    assert [words[1:4] for words in named if words[1] == "restore-backup"] == [["restore-backup", "FILE", "--force"]]
    assert perdure_says(path, "restore-backup", safe, "--force")[0] == 0
    code, text = perdure_says(path, "check", "--full")
    assert (code, "sound" in text) == (0, True)


@pytest.mark.parametrize("pages", [1, 3])
def test_without_a_backup_what_the_rest_of_the_file_holds_comes_back(path, safe, pages):
    length = cut(path, pages)
    _, text = perdure_says(path, "check")
    refill = next(words for words in commands_in(text) if words[0] == "truncate")
    subprocess.run(refill, check=True)
    assert path.stat().st_size == length
    with warnings.catch_warnings(), perdure.open(path, policy=POLICY) as memory:
        warnings.simplefilter("ignore")
        memory.repair(remove_lost=True, dry_run=False)
        assert memory.check(full=True) == []
        assert 10 < len(memory.list(limit=100)) <= 40


def test_of_a_zeroed_beginning_it_is_said_that_a_backup_brings_it_back(path, safe):
    with path.open("r+b") as file:
        file.write(bytes(100))
    with pytest.raises(NotAStore, match="not a SQLite file") as refused:
        perdure.open(path)
    assert "restore-backup FILE --force" in refused.value.remedy


def test_of_a_damaged_schema_it_is_said_that_a_backup_brings_it_back(path, safe):
    with path.open("r+b") as file:
        file.seek(100)
        file.write(bytes(PAGE - 100))
    with pytest.raises(StoreDamaged) as refused:
        perdure.open(path)
    assert "restore-backup FILE --force" in refused.value.remedy
