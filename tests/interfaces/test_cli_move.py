"""export, import and copy as real processes: what they print, how they end, what they never show."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from conftest import ENV, WORDS_ONLY, opened, places, servers, tables
from perdure.interfaces.cli import app as cli
from perdure.interfaces.cli.call import without_password
from perdure.interfaces.files.export_files import export_reader

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no local server")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "policy.toml").write_text('[embedder]\nmodel = "none"\n')
    places = {"PERDURE_STORE": "a.db", "PERDURE_POLICY": "policy.toml"}
    for name, value in {**{k: str(tmp_path / v) for k, v in places.items()}, "COLUMNS": "200"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    with opened(tmp_path / "a.db", WORDS_ONLY) as memory:
        memory.remember_many([f"note {i}" for i in range(5)])
        memory.remember("elsewhere", namespace="team/b")
    return tmp_path


def ran(folder, *words, input=None, code=0):  # noqa: A002
    done = CliRunner().invoke(cli.app, list(map(str, words)), input=input, prog_name="perdure")
    assert done.exit_code == code, done.output
    assert "Traceback" not in done.output
    return SimpleNamespace(stdout=done.stdout_bytes, stderr=done.stderr_bytes)


def process(*words, input=None):  # noqa: A002
    environment = {**os.environ, "PYTHONPATH": ENV["PYTHONPATH"]}
    command = [sys.executable, "-m", "perdure", *map(str, words)]
    done = subprocess.run(command, capture_output=True, check=False, timeout=120, env=environment, input=input)
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False), done.stderr.decode()
    return done


def told(folder, *words, **more):
    return json.loads(ran(folder, *words, "--json", **more).stdout)


def test_copy_to_a_server_and_back_never_shows_the_password(folder):
    with places("postgres", folder) as make:
        url = make()
        secret = url.split("@")[0].rsplit(":", 1)[1]
        done = process("copy", "a.db", url)
        assert secret.encode() not in done.stdout + done.stderr
        assert "Copied 2 namespaces to postgresql://perdure:***@" in done.stdout.decode()
        found = told(folder, "copy", url, "b.db")
        assert (found["verified"], found["namespaces"], found["parts"]["memory"]) == (True, 2, 6)
        assert found["written"] == found["rows"] == sum(found["parts"].values())
        assert found["seconds"] > 0
        again = told(folder, "copy", url, "b.db")
        assert (again["written"], again["rows"]) == (0, found["rows"])
    listed = ran(folder, "list", "--store", "b.db", "--limit", "10").stdout.decode()
    assert all(f"note {i}" in listed for i in range(5))


def test_a_server_without_tables_is_refused_with_what_to_run(folder):
    url = servers().fresh_database(migrated=False)
    try:
        found = told(folder, "copy", "a.db", url, code=1)
    finally:
        servers().drop_database(url)
    assert found["error"] == "StoreTooOld"
    assert "perdure migrate" in found["remedy"]


@pytest.mark.parametrize("name", ["x.jsonl", "x.jsonl.gz", "x.parquet"])
def test_export_and_import(folder, name):
    first = told(folder, "export", name)
    assert first["rows"] == 2 + 6 + 2 + 6
    assert (folder / name).stat().st_mode & 0o077 == 0
    assert told(folder, "export", name, code=1)["error"] == "InvalidInput"
    assert "Exported 16 rows" in ran(folder, "export", name, "--force").stdout.decode()
    done = told(folder, "import", name, "--store", "b.db")
    assert (done["rows"], done["written"], done["whole"], done["verified"]) == (16, 16, True, True)
    assert "0 rows written, 16 rows verified" in ran(folder, "import", name, "--store", "b.db").stdout.decode()
    assert not list(folder.glob("*.part"))


def test_a_stream_through_a_pipe(folder):
    out = process("export", "-", "-n", "team/b")
    lines = [json.loads(line) for line in out.stdout.splitlines()]
    assert {line["namespace"] for line in lines[1:-1]} == {"team/b"}
    assert b"Exported 4 rows" in out.stderr
    done = process("import", "-", "--store", "b.db", "--json", input=out.stdout)
    assert json.loads(done.stdout)["parts"]["memory"] == 1


def test_a_stream_that_ends_early_is_refused_before_anything_is_stored(folder):
    whole = ran(folder, "export", "-").stdout
    torn = whole[: whole.rindex(b"\n", 0, -1) + 1]
    found = told(folder, "import", "-", "--store", "b.db", input=torn, code=1)
    assert "truncated" in found["message"]
    assert "stored" not in found["message"]
    done = told(folder, "import", "-", "--store", "b.db", input=whole)
    assert 0 < done["written"] == sum(done["parts"].values())


def test_a_file_that_was_cut_short(folder):
    ran(folder, "export", "x.jsonl")
    data = (folder / "x.jsonl").read_bytes()
    (folder / "cut.jsonl").write_bytes(data[: len(data) // 2])
    assert "--partial" in told(folder, "import", "cut.jsonl", "--store", "b.db", code=1)["remedy"]
    done = ran(folder, "import", "cut.jsonl", "--store", "b.db", "--partial").stdout.decode()
    assert "was truncated" in done


def test_what_is_refused(folder):
    (folder / "no.jsonl").write_text("hello\n")
    (folder / "other.jsonl").write_text('{"content": "hello"}\n')
    (folder / "list.jsonl").write_text("[1]\n")
    (folder / "no.jsonl.gz").write_text("hello")
    (folder / "no.parquet").write_text("hello")
    for name in ("no.jsonl", "other.jsonl", "list.jsonl", "no.jsonl.gz", "no.parquet"):
        assert told(folder, "import", name, "--store", "b.db", code=1)["error"] == "InvalidInput", name
    assert told(folder, "import", "nowhere.jsonl", code=3)["error"] == "NotFound"
    assert told(folder, "copy", "nowhere.db", "c.db", code=3)["error"] == "NotFound"
    assert told(folder, "export", "y.jsonl", "-n", "nobody", code=3)["error"] == "NotFound"
    assert told(folder, "export", "nowhere/y.jsonl", code=1)["error"] == "DiskFull"
    assert not (folder / "c.db").exists()
    assert not (folder / "y.jsonl").exists()


def test_a_target_that_holds_something_else(folder):
    with opened(folder / "b.db", WORDS_ONLY) as memory:
        memory.remember("its own")
    before = tables(folder / "b.db")
    found = told(folder, "copy", "a.db", "b.db", code=1)
    assert (found["error"], found["fault"]) == ("TargetTaken", "conflict")
    assert tables(folder / "b.db") == before


def test_a_password_is_hidden_wherever_it_stands():
    assert without_password("postgresql://me:pw@host/db") == "postgresql://me:***@host/db"
    assert (
        without_password("postgresql://host/db?user=me&password=pw&x=1")
        == "postgresql://host/db?user=me&password=***&x=1"
    )
    assert without_password("/a/b.db") == "/a/b.db"


def test_without_pyarrow_the_error_names_the_extra(folder, monkeypatch):
    from perdure.records.errors import StoreError

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.delitem(sys.modules, "perdure.interfaces.files.parquet", raising=False)
    (folder / "x.parquet").write_bytes(b"PAR1")
    with pytest.raises(StoreError, match=r"\[parquet\]"):
        export_reader(str(folder / "x.parquet"))
