"""What comes in by an import, or by a copy that says so, has no secrets either, and the result is a sound store."""

from __future__ import annotations

import json
import warnings
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import pytest
from typer.testing import CliRunner

from conftest import WORDS_ONLY, opened, places, tables
from perdure.compose import copy, scratch_store, store_at
from perdure.interfaces.cli import app as cli
from perdure.interfaces.files.export_files import export_reader, write_export
from perdure.operations.import_export import import_lines
from perdure.operations.transfer import export_lines
from perdure.records.errors import InvalidInput
from perdure.records.policy import Policy

TOKEN = "ghp_" + "aBcD1234eFgH5678iJkL9012mNoP3456qRsT"
PASSWORD = "Tr0ub4dor&3xyz"  # noqa: S105  # made up
KEEPS = {**WORDS_ONLY, "preset": "facts", "knowledge": {"redact": False}}
AT = "2025-05-01T09:00:00Z"


def fill(place, clock):
    """Make a store that kept secrets wherever there is a place for them."""
    with warnings.catch_warnings(), opened(place, KEEPS, clock) as memory:
        warnings.simplefilter("ignore")
        note = memory.remember(
            f"The deploy key is {TOKEN}.",
            tags=[f"key {TOKEN}", "plain"],
            source=f"https://bot:{PASSWORD}@example.org/",
            metadata={"password": PASSWORD, "deep": [{"n": 1}]},
            idempotency_key=f"note {TOKEN}",
        )
        memory.remember("Nothing to hide here.", tags=["plain"])
        fact = memory.remember(
            f"Ana's token is {TOKEN}.", facts=[{"subject": "Ana", "predicate": "token", "value": TOKEN}]
        )
        said = {"role": "user", "content": f"Remember that the password is {PASSWORD} for the build.", "at": AT}
        memory.ingest([said, {**said, "role": "assistant", "speaker": f"bot {TOKEN}"}], session="s")
        memory.recall(f"Which deploy key is {TOKEN}?")
        memory.correct(memory.remember(f"The old key was {TOKEN}").id, f"The new password is {PASSWORD}")
        memory.archive(note.id, f"leaked: password={PASSWORD}")
        memory.forget(fact.id, f"{TOKEN} is out")
        memory.undo(memory.history()[0].id)
        memory.restore(note.id)


def leaks(place):
    return sorted(
        name for name, rows in tables(place).items() if any(s in repr(rows) for s in (TOKEN, PASSWORD, TOKEN[6:20]))
    )


def is_sound(place):
    with opened(place, WORDS_ONLY) as memory:
        return memory.check(full=True) == []


@pytest.fixture(params=["sqlite", "postgres"])
def way(request, tmp_path, clock):
    with places(request.param, tmp_path) as place:
        source = place()
        fill(source, clock)
        yield source, place()


def test_an_import_brings_no_secret_and_a_sound_store(way, tmp_path):
    source, target = way
    file = str(tmp_path / "a.jsonl")
    with store_at(source) as store:
        write_export(file, export_lines(store))
    with store_at(target) as store:
        done = import_lines(export_reader(file), lambda: nullcontext(store), scratch_store, policy=Policy())
        again = import_lines(export_reader(file), lambda: nullcontext(store), scratch_store, policy=Policy())
    assert leaks(source)
    assert leaks(target) == []
    assert "[redacted: github token]" in repr(tables(target))
    assert is_sound(source)
    assert is_sound(target)
    assert done.redacted > 10
    assert (done.parts, again.written) == (again.parts, 0)
    with opened(target, WORDS_ONLY) as memory:
        held = [one.content for one in memory.list(include_archived=True)]
    assert "Nothing to hide here." in held
    assert "The deploy key is [redacted: github token]." in held


def test_an_import_that_keeps_secrets_is_the_same_store(way, tmp_path):
    source, target = way
    file = str(tmp_path / "a.jsonl")
    with store_at(source) as store:
        write_export(file, export_lines(store))
    with store_at(target) as store:
        assert import_lines(export_reader(file), lambda: nullcontext(store), scratch_store).redacted == 0
        assert list(export_lines(store)) == [json.loads(line) for line in Path(file).read_text("utf-8").splitlines()]


def test_a_copy_replaces_secrets_where_it_is_told_to(way, tmp_path):
    source, target = way
    done = copy(source, target, policy=Policy())
    assert done.redacted > 10
    assert leaks(target) == []
    assert is_sound(target)


def test_an_import_that_was_interrupted_goes_on_without_secrets(way, tmp_path):
    source, target = way
    with store_at(source) as store:
        lines = list(export_lines(store))

    def until_some_are_written(done, total):
        if done > total * 0.4:
            raise KeyboardInterrupt

    with store_at(target) as store, pytest.raises(KeyboardInterrupt):
        import_lines(
            partial(iter, lines),
            lambda: nullcontext(store),
            scratch_store,
            policy=Policy(),
            progress=until_some_are_written,
        )
    with store_at(target) as store:
        done = import_lines(lambda: iter(lines), lambda: nullcontext(store), scratch_store, policy=Policy())
    assert 0 < done.written < sum(done.parts.values())
    assert leaks(target) == []
    assert is_sound(target)


@pytest.mark.parametrize("part", ["memory", "operation", "journal", "document"])
def test_what_is_damaged_in_an_export_stays_damaged(way, part):
    source, target = way
    with store_at(source) as store:
        lines = list(export_lines(store))
    place = next(n for n, line in enumerate(lines) if line.get("part") == part)
    name = {"memory": "text", "operation": "note", "journal": "because", "document": "data"}[part]
    lines[place] = {**lines[place], name: {"a": TOKEN} if part == "document" else f"another {TOKEN}"}
    with store_at(target) as store, pytest.raises(InvalidInput, match="does not match its checksum"):
        import_lines(partial(iter, lines), lambda: nullcontext(store), scratch_store, policy=Policy())
    assert leaks(target) == []


def test_the_command_replaces_secrets_also_from_standard_input(tmp_path, clock, monkeypatch):
    fill(tmp_path / "a.db", clock)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "policy.toml").write_text('[embedder]\nmodel = "none"\n')
    monkeypatch.setenv("PERDURE_POLICY", str(tmp_path / "policy.toml"))

    def ran(store, *words, **more):
        done = CliRunner().invoke(cli.app, ["--store", f"{store}.db", *words], prog_name="perdure", **more)
        assert done.exit_code == 0, done.output
        return done.stdout_bytes

    exported = ran("a", "export", "-")
    assert b"held secrets, which were replaced" in ran("b", "import", "-", input=exported)
    ran("c", "import", "-", "--keep-secrets", input=exported)
    ran("d", "copy", "--redact", "a.db", "d.db")
    assert {name: bool(leaks(tmp_path / f"{name}.db")) for name in "abcd"} == {
        "a": True,
        "b": False,
        "c": True,
        "d": False,
    }
