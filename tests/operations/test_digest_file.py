"""MEMORY.md in a file that maintenance keeps up: written when it changes; a person's lines stay, erased words go."""

from __future__ import annotations

import pytest

from conftest import WORDS_ONLY
from perdure.compose import load_policy
from perdure.records.errors import PolicyError


@pytest.fixture
def file(tmp_path):
    return tmp_path / "MEMORY.md"


@pytest.fixture
def memory(opening, file):
    return opening({**WORDS_ONLY, "digest": {"file": str(file)}, "upkeep": {"jitter": 0.0}})


def runs(report):
    return [(r.namespace, r.note.rpartition("MEMORY.md ")[2]) for r in report.runs if r.task == "digest"]


def test_maintenance_writes_the_file_when_the_digest_changes_and_leaves_a_persons_lines(memory, file, clock):
    file.write_text("# Mine\n", "utf-8")
    memory.remember("Tea is at noon.")
    memory.remember("Not of this file.", namespace="other")
    assert runs(memory.upkeep("one")) == [("default", "was written")]
    text = file.read_text("utf-8")
    assert text.startswith("# Mine\n\n<!-- perdure:begin ")
    assert "Tea is at noon." in text
    assert "Not of this file" not in text
    clock.passes(hours=1)
    written = file.stat().st_mtime_ns
    assert runs(memory.upkeep("one")) == [("default", "is up to date")]
    assert file.stat().st_mtime_ns == written
    memory.remember("Coffee is at four.")
    clock.passes(hours=1)
    assert runs(memory.upkeep("one")) == [("default", "was written")]
    assert "Coffee is at four." in file.read_text("utf-8")
    assert file.read_text("utf-8").startswith("# Mine\n")


def test_the_file_is_replaced_whole_and_never_written_in_place(memory, file, tmp_path):
    """Another name of the file that was there still holds it, so a reader meets the old file or the new one."""
    file.write_text("# Mine\n", "utf-8")
    before = tmp_path / "before"
    before.hardlink_to(file)
    memory.remember("Tea is at noon.")
    memory.upkeep("one")
    assert "Tea is at noon." in file.read_text("utf-8")
    assert before.read_text("utf-8") == "# Mine\n"
    assert [path for path in tmp_path.iterdir() if path.suffix == ".tmp"] == []


def test_what_is_erased_leaves_the_file_at_once(memory, file):
    kept = memory.remember("Ana's number is 555 0142.")
    memory.upkeep("one")
    assert "555 0142" in file.read_text("utf-8")
    word = memory.erase(ids=[kept.id], reason="she asked").confirm
    memory.erase(ids=[kept.id], reason="she asked", confirm=word, dry_run=False)
    assert "555 0142" not in file.read_text("utf-8")


@pytest.mark.filterwarnings("always")
def test_a_damaged_file_is_left_as_it_is_and_told(memory, file, caplog):
    file.write_text("<!-- perdure:begin -->\nno end\n", "utf-8")
    kept = memory.remember("Tea is at noon.")
    assert [r.outcome for r in memory.upkeep("one").runs if r.task == "digest"] == ["failed"]
    assert "damaged" in caplog.text
    word = memory.erase(ids=[kept.id], reason="test").confirm
    erased = memory.erase(ids=[kept.id], reason="test", confirm=word, dry_run=False)
    assert [note for note in erased.unreachable if "still holds" in note and "damaged" in note]
    assert file.read_text("utf-8") == "<!-- perdure:begin -->\nno end\n"


@pytest.mark.filterwarnings("always")
def test_what_a_person_changed_stays_and_maintenance_goes_on_and_tells(memory, file, clock):
    kept = memory.remember("Tea is at noon.")
    memory.upkeep("one")
    edited = file.read_text("utf-8").replace("at noon", "at one, I think")
    file.write_text(edited, "utf-8")
    memory.remember("Coffee is at four.")
    for failures in range(1, 4):
        clock.passes(hours=1)
        report = memory.upkeep("one")
        assert [r.outcome for r in report.runs if r.task == "digest"] == ["failed"]
        assert {r.outcome for r in report.runs if r.task != "digest"} <= {"done"}
        assert "was changed by hand" in report.failed["default"]
        assert file.read_text("utf-8") == edited
        alerts = [a for a in memory.alerts() if a.name == "failures"]
        assert len(alerts) == (failures == 3)
    assert "was changed by hand between its markers" in alerts[0].message
    word = memory.erase(ids=[kept.id], reason="test").confirm
    erased = memory.erase(ids=[kept.id], reason="test", confirm=word, dry_run=False)
    (held,) = [note for note in erased.unreachable if "still holds what was shown before" in note]
    assert held.endswith("Remove the erased words from it, also from lines that were changed by hand.")
    assert "Move your lines" not in held
    assert file.read_text("utf-8") == edited


def test_a_working_folders_policy_may_not_name_the_file(tmp_path, monkeypatch):
    (tmp_path / "perdure.toml").write_text('[digest]\nfile = "notes/MEMORY.md"\n', "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PERDURE_POLICY", raising=False)
    with pytest.warns(UserWarning, match="digest.file"):
        assert load_policy(None).digest.file == ""
    assert load_policy("perdure.toml").digest.file == str(tmp_path / "notes" / "MEMORY.md")
    with pytest.raises(PolicyError):
        load_policy({"digest": {"file": 3}})
