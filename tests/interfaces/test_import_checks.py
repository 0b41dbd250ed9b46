"""An import lets in what the doors let in: each of their checks, by a row that breaks it, named by its line."""

from __future__ import annotations

import base64
import json
import re
from contextlib import suppress

import pytest
from typer.testing import CliRunner

from conftest import HashEmbedder, opened
from perdure.interfaces.cli import app as cli
from perdure.interfaces.files.export_files import export_reader
from perdure.records.errors import OlderThanHorizon
from perdure.rules.transfer import TallyCounter
from stores.test_horizon import KEEP, live
from stores.test_horizon import POLICY as HORIZON

POLICY = {"preset": "facts"}


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    """An export with a row of every part."""
    folder = tmp_path_factory.mktemp("checks")
    with opened(folder / "a.db", POLICY, embedder=HashEmbedder()) as memory:
        first = memory.remember(
            "The harbour server listens on port 8080.", tags=["ops"], metadata={"n": 1}, idempotency_key="k-1"
        )
        memory.remember(
            "Rita lives in Oslo.",
            facts=[{"subject": "Rita", "predicate": "lives in", "value": "Oslo", "valid_from": "2020-01-01"}],
        )
        memory.update(first.id, "The harbour server listens on port 9090.")
        memory.ingest([{"role": "user", "content": f"lunch number {i}"} for i in range(4)], session="s")
        memory.recall("harbour port")
    done = CliRunner().invoke(cli.app, ["export", str(folder / "a.jsonl"), "--store", str(folder / "a.db")])
    assert done.exit_code == 0, done.output
    return list(export_reader(str(folder / "a.jsonl"))())


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "policy.toml").write_text('preset = "facts"\n[embedder]\nmodel = "none"\n')
    monkeypatch.setenv("PERDURE_POLICY", str(tmp_path / "policy.toml"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def imported(folder, rows, *more):
    """Import rows whose end counts them as they are, as whoever forges an export would write it."""
    tallies = {}
    for line in rows[1:-1]:
        row = {k: v for k, v in line.items() if k not in ("part", "namespace")}
        with suppress(ValueError):  # what has no digest is refused before the end is read
            tallies.setdefault((line["namespace"], line["part"]), TallyCounter()).add(row)
    told = [{"namespace": n, "part": p, "rows": t.rows, "digest": t.tally().digest} for (n, p), t in tallies.items()]
    with (folder / "x.jsonl").open("w", errors="surrogatepass") as file:
        file.writelines(json.dumps(line) + "\n" for line in [*rows[:-1], {**rows[-1], "parts": told}])
    done = CliRunner().invoke(cli.app, ["import", "x.jsonl", "--store", "b.db", "--json", *more])
    return done.exit_code, json.loads(done.stdout)


def changed(lines, part, change, which=bool):
    """Return a copy of an export with one row changed, and the number of its line."""
    rows = json.loads(json.dumps(lines))
    place = next(i for i, row in enumerate(rows) if row.get("part") == part and which(row))
    change(rows[place])
    return rows, place + 1


def put(**columns):
    return lambda row: row.update(columns)


def in_journal(**columns):
    def change(row):
        row["after"] = json.dumps({**json.loads(row["after"]), **columns})

    return change


def deep(levels):
    return {"a": deep(levels - 1)} if levels else 1


def of_fact(change):
    def changes(row):
        change(row["data"])

    return changes


DAY = 86_400_000
MEMORY = {
    "content that is empty": ({"text": "  "}, "content is empty"),
    "content with a NUL": ({"text": "a\0b"}, "text"),
    "content with half a surrogate": ({"text": "\ud800"}, "text"),
    "content too large": ({"text": "x" * 1_048_577}, "content has 1,048,577"),
    "a shown text too large": ({"shown": "x" * 1_048_577}, "content has 1,048,577"),
    "a kind that is none": ({"kind": "thing"}, "kind"),
    "a scope that is none": ({"scope": "thing"}, "scope"),
    "a tag that is empty": ({"tags": [""]}, "a tag is empty"),
    "a tag too long": ({"tags": ["x" * 101]}, "a tag has 101"),
    "too many tags": ({"tags": [f"t{i}" for i in range(65)]}, "65 tags"),
    "a tag twice": ({"tags": ["a", "a"]}, "tags has a tag twice"),
    "tags that are a text": ({"tags": "ops"}, "tags"),
    "metadata that are a list": ({"metadata": [1]}, "metadata"),
    "metadata too large": ({"metadata": {"x": "y" * 70_000}}, "metadata has 70,009"),
    "metadata too deep": ({"metadata": deep(101)}, None),
    "metadata with NaN": ({"metadata": {"x": float("nan")}}, "metadata"),
    "metadata with infinity": ({"metadata": {"x": float("inf")}}, "metadata"),
    "metadata with a NUL": ({"metadata": {"x": "a\0"}}, "metadata"),
    "an importance above one": ({"importance": 1.5}, "importance must be a number from 0 to 1"),
    "an importance below nothing": ({"importance": -0.1}, "importance must be a number from 0 to 1"),
    "a confidence above one": ({"confidence": 7}, "confidence must be a number from 0 to 1"),
    "a confidence that is no number": ({"confidence": float("nan")}, "confidence"),
    "a strength above one": ({"strength": 2.0}, "strength must be"),
    "a negative count": ({"access_count": -1}, "access_count must be"),
    "a turn before the first": ({"turn": -1}, "turn must be"),
    "a source too long": ({"source": "x" * 1001}, "source has 1,001"),
    "a source that is empty": ({"source": ""}, "source is empty"),
    "a speaker too long": ({"speaker": "x" * 1001}, "speaker has 1,001"),
    "a session too long": ({"session": "x" * 1001}, "session has 1,001"),
    "a task too long": ({"task": "x" * 1001}, "task has 1,001"),
    "a key too long": ({"keys": ["x" * 1001]}, "idempotency_key has 1,001"),
    "pinned as a number": ({"pinned": 1}, "pinned"),
    "a day of the future": ({"created_ms": 4_102_444_800_000}, "created_ms is in the future"),
    "a day before all years": ({"created_ms": -(10**15)}, "created_ms must be a number"),
    "a day after all years": ({"recorded_ms": 10**15}, "recorded_ms must be a number"),
    "an id that is none": ({"id": "a b"}, "is not an id"),
    "a stability beyond the curve": ({"stability": 1e9}, "stability must be"),
}


@pytest.mark.parametrize("name", MEMORY)
def test_an_import_refuses_a_memory_that_no_door_lets_in(folder, lines, name):
    columns, told = MEMORY[name]
    rows, number = changed(lines, "memory", put(**columns))
    code, said = imported(folder, rows)
    assert (code, said["error"]) == (1, "InvalidInput")
    if told is not None:
        assert said["message"].startswith(f"Line {number} of the export: "), said["message"]
        assert told in said["message"]
    assert_untouched(folder)


def assert_untouched(folder):
    assert not (folder / "b.db").exists()


@pytest.mark.parametrize("text", ['{"hello": 1}\n', "[1, 2]\n", '"x"\n', "", '{"perdure_export": 99}\n', "no JSON\n"])
@pytest.mark.parametrize("named", [True, False])
def test_a_file_that_is_no_export_leaves_nothing_behind(folder, monkeypatch, text, named):
    monkeypatch.setenv("XDG_DATA_HOME", str(folder / "data"))
    monkeypatch.delenv("PERDURE_STORE", raising=False)
    (folder / "x.jsonl").write_text(text)
    before = sorted(folder.rglob("*"))
    done = CliRunner().invoke(cli.app, ["import", "x.jsonl", "--json", *(["--store", "b.db"] if named else [])])
    assert done.exit_code == 1
    assert json.loads(done.stdout)["remedy"]
    assert sorted(folder.rglob("*")) == before


OTHERS = {
    "a vector too short": ("vector", put(data="AAAA"), "does not fit"),
    "a vector without a direction": ("vector", put(data=base64.b64encode(bytes(64)).decode()), "no direction"),
    "a vector off the grid": ("vector", put(data=base64.b64encode(b"\x80" + bytes(63)).decode()), "not scaled"),
    "a vector that is not scaled": ("vector", put(data=base64.b64encode(b"\x10" * 64).decode()), "not scaled"),
    "a query too long": ("recall", put(query="x" * 10_001), "query has 10,001"),
    "a recall of the future": ("recall", put(at_ms=4_102_444_800_000), "at_ms is in the future"),
    "a hit that is no id": ("recall", put(hits=["a b"]), "is not an id"),
    "an access of no times": ("access", put(times=0), "times must be"),
    "a link to no id": ("link", put(other="a b"), "is not an id"),
    "an operation of the future": ("operation", put(at_ms=4_102_444_800_000), "at_ms is in the future"),
    "an operation of negative changes": ("operation", put(changes=-1), "changes must be"),
    "an image that is no JSON": ("journal", put(after="{"), "not valid JSON"),
    "an image that is no object": ("journal", put(after="[1]"), "no object"),
    "an image too deep": ("journal", put(after="[" * 5000), "JSON"),
    "an importance in an image": ("journal", in_journal(importance=9), "importance must be"),
    "a tag in an image": ("journal", in_journal(tags=["x" * 101]), "a tag has 101"),
    "a day of the future in an image": ("journal", in_journal(created_ms=4_102_444_800_000), "in the future"),
    "a namespace that is none": ("memory", put(namespace="-x/"), "namespace"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_an_import_refuses_other_rows_that_no_door_lets_in(folder, lines, name):
    part, change, told = OTHERS[name]
    rows, number = changed(lines, part, change)
    code, said = imported(folder, rows)
    assert (code, said["error"]) == (1, "InvalidInput")
    assert said["message"].startswith(f"Line {number} of the export: "), said["message"]
    assert told in said["message"]
    assert_untouched(folder)


FACTS = {
    "a subject too long": (put(subject="x" * 201), "The subject of a fact has 201"),
    "a predicate that is empty": (put(predicate=""), "The predicate of a fact is empty"),
    "a value too long": (put(value={"text": "x" * 501, "kind": "text", "norm": "x"}), "The value of a fact has 501"),
    "an end before its beginning": (put(valid_from_ms=DAY, valid_to_ms=0), "valid_to of a fact is before"),
    "a beginning before all years": (put(valid_from_ms=-(10**15)), "valid_from_ms must be"),
}


@pytest.mark.parametrize("name", FACTS)
def test_an_import_refuses_facts_that_no_door_lets_in(folder, lines, name):
    change, told = FACTS[name]
    rows, number = changed(lines, "document", of_fact(change), lambda row: row["shelf"] == "fact")
    code, said = imported(folder, rows)
    assert (code, said["error"]) == (1, "InvalidInput")
    assert said["message"].startswith(f"Line {number} of the export: "), said["message"]
    assert told in said["message"]
    assert_untouched(folder)


JOURNAL = {
    "a text": ("memory", put(text="The harbour server listens on port 6666."), "Its text|content differs"),
    "an importance": ("memory", put(importance=0.99), "importance"),
    "a status": ("memory", put(status="archived"), "status"),
    "a source": ("memory", put(source="https://example.com"), "source"),
    "metadata": ("memory", put(metadata={"trust": "owner"}), "metadata"),
    "a document": ("document", of_fact(put(predicate="works for")), "document"),
    "the weight of a link": ("link", put(weight=0.123), "weight"),
    "a reason": ("journal", put(because="because I say so"), "not as it was written"),
    "an operation": ("operation", put(note="nothing happened"), "not as it was written"),
}


@pytest.mark.parametrize("name", JOURNAL)
def test_an_import_refuses_rows_that_do_not_fit_their_journal(folder, lines, name):
    part, change, told = JOURNAL[name]
    rows, _ = changed(lines, part, change, lambda row: row.get("shelf", "fact") == "fact")
    code, said = imported(folder, rows)
    assert (code, said["error"]) == (1, "InvalidInput")
    assert re.search(told, said["message"]), said["message"]
    assert_untouched(folder)


def test_an_import_refuses_a_row_that_is_there_twice(folder, lines):
    place = next(i for i, row in enumerate(lines) if row.get("part") == "link")
    code, said = imported(folder, [*lines[:place], lines[place], *lines[place:]])
    assert (code, "are there twice" in said["message"]) == (1, True), said
    assert_untouched(folder)


def test_a_row_without_its_memory_is_refused(folder, lines):
    gone = next(i for i, row in enumerate(lines) if row.get("part") == "memory")
    code, said = imported(folder, lines[:gone] + lines[gone + 1 :])
    assert code == 1
    assert "the memory that it is about is not there" in said["message"]
    assert_untouched(folder)


def test_all_that_fails_is_listed(folder, lines):
    rows = json.loads(json.dumps(lines))
    places = [i for i, row in enumerate(rows) if row.get("part") == "memory"]
    for place in places:
        rows[place]["importance"] = 2
    _, said = imported(folder, rows)
    for place in places[:10]:
        assert f"Line {place + 1} of the export: importance" in said["message"]


def test_what_is_as_the_doors_want_it_comes_in(folder, lines):
    code, said = imported(folder, lines)
    assert (code, said["verified"], said["whole"]) == (0, True, True)
    with opened(folder / "b.db", POLICY, embedder=HashEmbedder()) as memory:
        assert memory.check(full=True) == []


def test_a_part_of_an_export_is_not_called_verified(folder, lines):
    (folder / "cut.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines[:-1]))
    done = CliRunner().invoke(cli.app, ["import", "cut.jsonl", "--store", "b.db", "--json", "--partial"])
    said = json.loads(done.stdout)
    assert (done.exit_code, said["verified"], said["whole"]) == (0, False, False)


# --- a journal that was trimmed


@pytest.fixture
def trimmed(tmp_path, clock):
    """Return the lines of an export of a store whose older journal has no images, and an old and a new operation."""
    with opened(tmp_path / "a.db", KEEP, clock, HashEmbedder()) as memory:
        first, _, late = live(memory, clock)
        memory.upkeep("worker", eager=True)
    with opened(tmp_path / "a.db", HORIZON, clock, HashEmbedder()) as memory:
        assert [run.outcome for run in memory.upkeep("worker").runs if run.task == "trim"] == ["done"]
        histories = {m.id: memory.history(m.id) for m in memory.list(limit=1000, include_archived=True)}
    file = str(tmp_path / "a.jsonl")
    done = CliRunner().invoke(cli.app, ["export", file, "--store", str(tmp_path / "a.db")])
    assert done.exit_code == 0, done.output
    return list(export_reader(file)()), histories, first, late


def test_an_import_of_a_trimmed_journal_is_the_store_that_was_exported(folder, trimmed, clock):
    lines, histories, first, late = trimmed
    code, told = imported(folder, lines)
    assert code == 0, told
    with opened(folder / "b.db", HORIZON, clock, HashEmbedder()) as memory:
        assert memory.check(full=True) == []
        assert {i: memory.history(i) for i in histories} == histories
        assert any(entry.trimmed for entry in histories[first.id])
        assert not any(entry.trimmed for entry in histories[late.id])
        with pytest.raises(OlderThanHorizon):
            memory.undo(first.operation)
        assert memory.get(late.id).state.pinned
        memory.undo(max(entry.operation_id for entry in histories[late.id]))
        assert not memory.get(late.id).state.pinned
        assert memory.check(full=True) == []


def _trimmed_birth(lines, identity):
    """Return the line of the journal that says that a memory was stored, without its image."""
    found = [
        line
        for line in lines
        if line.get("part") == "journal" and line["target"] == "memory" and line["id"] == identity
    ]
    return next(line for line in found if line["after"] and set(json.loads(line["after"])) <= {"digests", "space"})


@pytest.mark.parametrize("what", ["a digest", "an image that is gone", "a row"])
def test_an_import_refuses_a_trimmed_journal_that_was_changed(folder, trimmed, clock, what):
    lines, _, first, _ = trimmed
    lines = json.loads(json.dumps(lines))
    line = _trimmed_birth(lines, first.id)
    if what == "a digest":
        after = json.loads(line["after"])
        after["digests"]["text"] ^= 1
        line["after"] = json.dumps(after, separators=(",", ":"))
    elif what == "an image that is gone":
        line["after"] = None
    else:
        row = next(one for one in lines if one.get("part") == "memory" and one["id"] == first.id)
        row["importance"] = 0.123
    code, told = imported(folder, lines)
    assert code != 0, told
    with opened(folder / "b.db", HORIZON, clock, HashEmbedder()) as memory:
        assert memory.list(limit=10, include_archived=True) == []
