"""A small file that becomes large in memory is refused, with what is wrong, within a bound of memory."""

from __future__ import annotations

import gzip
import json
import os
import sys
from functools import partial

import pytest
from typer.testing import CliRunner

from conftest import WORDS_ONLY, budget, opened, weekly
from forks import Mother
from perdure.interfaces.cli import app as cli

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="limits of memory of POSIX")

MEBI = 1 << 20
BOUND = 700 * MEBI
"""What a process may have beyond what it has once everything is loaded."""

LOADED = """
from perdure.interfaces.cli import app as cli
from typer.testing import CliRunner
from pathlib import Path
import numpy, apsw, pyarrow.parquet  # they map much that they never use
import perdure
perdure.open(":memory:", policy={"embedder": {"model": "none"}}).remember("tea")
"""

BOUNDED = """
import json, os, resource, sys
from pathlib import Path
from perdure.interfaces.cli import app as cli
from typer.testing import CliRunner
os.chdir(sys.argv[1])
os.environ.update(json.loads(sys.argv[2]))
now = int(next(l for l in Path("/proc/self/status").read_text().splitlines() if l.startswith("VmSize")).split()[1])
bound = now * 1024 + int(sys.argv[3])
resource.setrlimit(resource.RLIMIT_AS, (bound, bound))
done = CliRunner().invoke(cli.app, sys.argv[4:], prog_name="perdure")
print(json.dumps([done.exit_code, done.output[-2000:], repr(done.exception)]), flush=True)
"""


@pytest.fixture(scope="module")
def mother():
    with Mother(BOUNDED, LOADED) as loaded:
        yield loaded


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "policy.toml").write_text('[embedder]\nmodel = "none"\n')
    monkeypatch.setenv("PERDURE_POLICY", str(tmp_path / "policy.toml"))
    monkeypatch.setenv("PERDURE_STORE", str(tmp_path / "a.db"))
    monkeypatch.chdir(tmp_path)
    with opened(tmp_path / "a.db", WORDS_ONLY) as memory:
        memory.remember_many([f"note {i}" for i in range(5)])
    return tmp_path


@pytest.fixture
def bounded_by(mother, folder):
    """Run a command in a process whose memory is bounded; return its exit code and what it said."""

    def run(bound, *words):
        places = {name: os.environ[name] for name in ("PERDURE_POLICY", "PERDURE_STORE")}
        mother.bear(folder, json.dumps(places), bound, *words)
        said = mother.hear("")
        assert mother.hear("ended ") == "0"
        return checked(*json.loads(said))

    return run


@pytest.fixture
def bounded(bounded_by):
    """The same within the bound that most need."""
    return partial(bounded_by, BOUND)


def checked(code, output, error):
    assert "MemoryError" not in error + output, error + output
    assert "Traceback" not in output
    return code, output


def exported(folder, name="good.jsonl"):
    CliRunner().invoke(cli.app, ["export", name])
    return (folder / name).read_bytes().splitlines(keepends=True)


def packed(folder, *chunks):
    """Write a compressed file of what can be many times larger, as many streams; return its name."""
    with (folder / "evil.jsonl.gz").open("wb") as out:
        for chunk, times in chunks:
            out.write(gzip.compress(chunk, 1) * times)
    return "evil.jsonl.gz"


BLANKS = (b" " * MEBI, 1024)
NESTED = (b"[" * 200_000, 1)
EMPTIES = (b"[]," * (MEBI // 3), 24)
DEEP = (b'{"a":' * 5000 + b"1" + b"}" * 5000 + b"\n", 1)
LINES = {
    "a gigabyte of blanks": ("longer than", [BLANKS]),
    "a gigabyte of blanks after the head": ("longer than", ["head", BLANKS]),
    "brackets without end": ("nested deeper than 100", [NESTED]),
    "millions of empty lists": ("more than 500,000 values", [(b"[", 1), EMPTIES, (b"1]\n", 1)]),
    "an object too deep": ("nested deeper than 100", ["head", DEEP]),
}


@pytest.mark.parametrize("name", LINES)
def test_an_import_needs_bounded_memory(bounded, folder, name):
    message, chunks = LINES[name]
    head = (exported(folder)[0], 1)
    file = packed(folder, *(head if chunk == "head" else chunk for chunk in chunks))
    code, said = bounded("import", file, "--store", "b.db", "--json")
    assert (code, message in said) == (1, True), said
    assert json.loads(said)["error"] == "InvalidInput"


def transcript(folder, large, small):
    """Write a transcript of messages of a megabyte, with others between them; return its size."""
    with (folder / "long.jsonl").open("w") as out:
        for i in range(large):
            words = f"Week {i} at the pier: " + "nets were mended and the tide was low, so nobody went out. " * 17_000
            out.write(json.dumps({"role": "user", "content": words, "id": f"l{i}", "session": f"s{i % 3}"}) + "\n")
            for j in range(small):
                said = f"The harbour of town {i} has {j} boats."
                out.write(json.dumps({"role": "user", "content": said, "session": f"s{i % 3}"}) + "\n")
    return (folder / "long.jsonl").stat().st_size


def test_a_long_transcript_is_taken_in_within_a_bound_of_memory(bounded_by, folder):
    """Before, all messages were in memory, and more than a thousand were refused after they had been read."""
    large, small = budget((10, 110), (300, 60))
    size = transcript(folder, large, small)
    code, said = bounded_by(budget(80, 200) * MEBI, "ingest", "long.jsonl", "--json")
    assert code == 0, said
    assert json.loads(said)["added"] == large * (1 + small)
    with opened(folder / "a.db", WORDS_ONLY) as memory:
        assert memory.stats().memories == large * (1 + small) + 5
        (hit,) = memory.recall("boats harbour town 7", limit=1).hits
        assert hit.memory.content.startswith("The harbour of town 7 has")
    assert size > large * 1_000_000


@pytest.mark.parametrize("name", LINES)
def test_an_ingest_needs_bounded_memory(bounded, folder, name):
    _, chunks = LINES[name]
    with (folder / "evil.jsonl").open("wb") as out:
        for chunk, times in [c for c in chunks if c != "head"]:
            for _ in range(min(times, 40)):
                out.write(chunk)
    code, said = bounded("ingest", "evil.jsonl", "--json")
    assert (code, json.loads(said)["error"]) == (1, "InvalidInput"), said


@weekly
def test_an_ingest_looks_at_few_long_lines_before_it_reads_on(bounded, folder):
    line = json.dumps(["x" * 15 * MEBI]).encode() + b"\n"
    with (folder / "long.jsonl").open("wb") as out:
        for _ in range(BOUND // len(line) + 5):
            out.write(line)
    code, said = bounded("ingest", "long.jsonl", "--json")
    assert (code, json.loads(said)["error"]) == (1, "InvalidInput"), said


@pytest.mark.parametrize("name", LINES)
def test_a_plan_file_needs_bounded_memory(bounded, folder, name):
    _, chunks = LINES[name]
    with (folder / "plan.json").open("wb") as out:
        for chunk, times in [c for c in chunks if c != "head"]:
            for _ in range(min(times, 150)):
                out.write(chunk)
    code, said = bounded("apply", "plan.json", "--json")
    assert (code, json.loads(said)["error"]) == (1, "InvalidInput"), said


POLICIES = {
    "a key of ten thousand parts": (b"a" + b".a" * 10_000 + b" = 1\n", 1),
    "the same with quotes": (b'"a"' + b' . "a"' * 10_000 + b" = 1\n", 1),
    "the same in a table": (b"x = {a" + b".a" * 10_000 + b" = 1}\n", 1),
    "brackets without end": (b"a = " + b"[" * 100_000, 1),
    "blanks": (b" " * 300, MEBI),
}
"""Name -> what stands in the file, how many times."""


@pytest.mark.parametrize("name", POLICIES)
def test_a_policy_needs_bounded_memory(bounded, folder, name):
    text, times = POLICIES[name]
    (folder / "evil.toml").write_bytes(text * times)
    code, said = bounded("list", "--policy", "evil.toml", "--json")
    assert (code, json.loads(said)["error"]) == (1, "PolicyError"), said


# --- Parquet


def parquet(folder, rows, **more):
    """Write a Parquet file that says it is an export, of (group of (namespace, part, data), how many times)."""
    import pyarrow as pa
    from pyarrow import parquet as pq

    head, *_, tail = exported(folder)
    kind = pa.dictionary(pa.int32(), pa.string())
    schema = pa.schema([(name, kind) for name in ("namespace", "part", "data")])
    more |= {"compression": "zstd", "write_statistics": False}
    with pq.ParquetWriter(folder / "evil.parquet", schema, **more) as out:
        for group, times in rows:
            columns = [pa.array(column, pa.string()) for column in zip(*group, strict=True)]
            places = pa.array(list(range(len(group))) * times, pa.int32())
            out.write_table(pa.table([pa.DictionaryArray.from_arrays(places, c) for c in columns], schema=schema))
        out.add_key_value_metadata({"perdure.head": head, "perdure.tail": tail})
    return "evil.parquet"


ROW = ("default", "memory")
GROUPS = {
    "one text of 140 MB": ("unpacks to", lambda: [([(*ROW, "x" * (140 * MEBI))], 1)], {"use_dictionary": False}),
    "one text in a thousand rows": (
        "a row has",
        lambda: [([(*ROW, " " * (40 * MEBI))], 1000)],
        {"dictionary_pagesize_limit": 99 * MEBI},
    ),
    "many texts": (
        "unpacks to",
        lambda: [([(*ROW, f"{i:>{MEBI}}") for i in range(150)], 1)],
        {"use_dictionary": False},
    ),
    "brackets without end": ("nested deeper", lambda: [([(*ROW, "[" * 200_000)], 1)], {}),
}


@pytest.mark.parametrize("name", GROUPS)
def test_a_parquet_file_needs_bounded_memory(bounded, folder, name):
    message, rows, more = GROUPS[name]
    code, said = bounded("import", parquet(folder, rows(), **more), "--store", "b.db", "--json")
    assert (code, message in said) == (1, True), said
    assert json.loads(said)["error"] == "InvalidInput"


@weekly
def test_a_parquet_file_that_lies_about_its_pages_is_found_out(bounded, folder):
    from pyarrow import parquet as pq

    file = folder / parquet(folder, [([(*ROW, "x" * (140 * MEBI))], 1)], use_dictionary=False)
    column = pq.ParquetFile(file).metadata.row_group(0).column(2)
    data = file.read_bytes()
    true, false = (_zigzag(size, 5) for size in (column.total_uncompressed_size, 1000))
    end = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    assert data.count(true, end) >= 1
    file.write_bytes(data[:end] + data[end:].replace(true, false))
    assert pq.ParquetFile(file).metadata.row_group(0).column(2).total_uncompressed_size == 1000
    code, said = bounded("import", "evil.parquet", "--store", "b.db", "--json")
    assert (code, "unpacks to" in said) == (1, True), said


def _zigzag(number, width):
    """Return a number as Thrift writes it, in so many bytes."""
    value = number << 1
    return bytes((value >> 7 * i & 0x7F) | (0x80 if i < width - 1 else 0) for i in range(width))
