"""MEMORY.md as a file: a person's lines stay, markers are respected, a failure leaves the old file."""

from __future__ import annotations

import errno
import json
import os
import re
import shlex
import shutil
import stat
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import perdure
from perdure.interfaces.cli import app as cli
from perdure.interfaces.cli.call import Exit
from perdure.interfaces.files.prose import read_markdown
from perdure.interfaces.files.source_lines import InputLine, InputSource
from perdure.records.errors import ConflictError, DiskFull, InvalidInput, PerdureError
from perdure.rules.lifecycle import digest as digesting
from perdure.stores import digest_file

PART = f"{digesting.BEGIN}\n# Memory (default)\n\n## Now\n- Tea. (2026-01-01) [1]\n{digesting.END}\n"
OTHER = PART.replace("Tea", "Coffee")
WRITTEN = PART.replace("begin -->", "begin 5b0240071c362f13 -->")  # with the checksum of what stands between
DOS = WRITTEN.replace("\n", "\r\n")


@pytest.fixture
def file(tmp_path):
    return tmp_path / "MEMORY.md"


def leftovers(file):
    return [p.name for p in file.parent.iterdir() if p.name.endswith(".tmp")]


def test_the_markers_are_those_of_the_digest():
    assert (digest_file.BEGIN.decode(), digest_file.END.decode()) == (digesting.BEGIN, digesting.END)


def test_a_missing_file_is_created_and_then_up_to_date(file):
    assert not digest_file.check(file, PART)
    assert digest_file.write(file, PART) is True
    assert file.read_text("utf-8") == WRITTEN
    assert digest_file.check(file, PART)
    assert digest_file.write(file, PART) is False
    assert not digest_file.check(file, OTHER)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"", WRITTEN.encode()),
        (b"mine", b"mine\n\n" + WRITTEN.encode()),
        (b"mine\n", b"mine\n\n" + WRITTEN.encode()),
        (b"mine\n\n", b"mine\n\n" + WRITTEN.encode()),
        (b"mine\r\n", b"mine\r\n\r\n" + DOS.encode()),
        (b"\xef\xbb\xbfmine\n", b"\xef\xbb\xbfmine\n\n" + WRITTEN.encode()),
        (b"caf\xe9 \xff\n", b"caf\xe9 \xff\n\n" + WRITTEN.encode()),
        (b"old\rmac\n", b"old\rmac\n\n" + WRITTEN.encode()),
    ],
)
def test_without_markers_the_digest_is_appended(file, before, after):
    file.write_bytes(before)
    digest_file.write(file, PART)
    assert file.read_bytes() == after
    assert digest_file.check(file, PART)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f"above\n{OTHER}below\n", f"above\n{WRITTEN}below\n"),
        (f"above  \n\n{OTHER}", f"above  \n\n{WRITTEN}"),
        (f"{OTHER}below, no end", f"{WRITTEN}below, no end"),
        (f"  {digesting.BEGIN}  \nold\n\t{digesting.END}\nbelow\n", f"{WRITTEN}below\n"),
        (OTHER.rstrip("\n"), WRITTEN.rstrip("\n")),
        ("\ufeff" + OTHER, "\ufeff" + WRITTEN),
        (f"a\r\n{OTHER.replace(chr(10), chr(13) + chr(10))}b\r\nc\n", f"a\r\n{DOS}b\r\nc\n"),
        (f"say `{digesting.BEGIN}` here\n{OTHER}", f"say `{digesting.BEGIN}` here\n{WRITTEN}"),
    ],
)
def test_only_the_part_between_the_markers_changes(file, before, after):
    file.write_bytes(before.encode())
    digest_file.write(file, PART)
    assert file.read_bytes() == after.encode()
    assert digest_file.check(file, PART)


LINES = st.lists(st.binary(max_size=12).filter(lambda b: b"\n" not in b and b"\x00" not in b), max_size=6)


@given(LINES, LINES, st.booleans())
def test_a_persons_bytes_are_never_altered(above, below, marked):
    before = b"".join(line + b"\n" for line in above)
    after = b"\n".join(below)
    data = before + (OTHER.encode() if marked else b"") + after
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return
    result = digest_file.merge(data, PART, "MEMORY.md")
    if marked:
        begin = b"\xef\xbb\xbf" if not before and data.startswith(b"\xef\xbb\xbf") else before
        assert result.startswith(begin)
        assert result.endswith(after)
        assert result.replace(WRITTEN.encode(), OTHER.encode()) == data
    else:
        assert result.startswith(data)
    assert digest_file.merge(result, PART, "MEMORY.md") == result


EDITS = [
    ("- Tea.", "- Mine.\n- Tea."),
    ("Tea.", "Green tea."),
    ("- Tea. (2026-01-01) [1]\n", ""),
]


def test_what_a_person_changed_between_the_markers_is_replaced_only_on_demand(file):
    for edit in EDITS:
        file.write_text("mine\n", "utf-8")
        digest_file.write(file, PART)
        written = file.read_text("utf-8")
        edited = written.replace(*edit)
        assert edited != written
        file.write_text(edited, "utf-8")
        with pytest.raises(InvalidInput, match="changed by hand between its markers; nothing was written") as refused:
            digest_file.write(file, OTHER)
        assert f"`perdure digest --out {file} --force`" in refused.value.remedy
        assert file.read_text("utf-8") == edited
        assert not digest_file.check(file, OTHER)
        assert digest_file.write(file, OTHER, force=True) is True
        assert file.read_text("utf-8").startswith("mine\n\n<!-- perdure:begin ")
        assert digest_file.digest_part(file) == OTHER
        assert digest_file.write(file, PART) is True  # it was not edited since


def test_a_marker_whose_checksum_cannot_be_read_is_replaced_on_demand(file):
    for checksum in ("5B0240071C362F13", "5b02", "5b0240071c362f13ab", "none"):
        file.write_text(f"mine\n\n{WRITTEN.replace('5b0240071c362f13', checksum)}", "utf-8")
        with pytest.raises(InvalidInput, match="changed by hand"):
            digest_file.write(file, OTHER)
        lines = [InputLine(n, words) for n, words in enumerate(file.read_text("utf-8").splitlines(), 1)]
        assert [m.content for m in read_markdown(lines, InputSource(str(file)))] == ["mine"]
        assert digest_file.write(file, OTHER, force=True) is True
        assert digest_file.digest_part(file) == OTHER
        assert file.read_text("utf-8").startswith("mine\n\n<!-- perdure:begin ")


def test_what_is_no_loss_is_replaced(file):
    for alter in (
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("[1]\n", "[1]  \n"),
        lambda text: f"mine\n{text}mine too\n",
        lambda text: re.sub(r"(?s)(begin.*?\n).*(<!-- perdure:end)", r"\1\n\2", text),  # all of it left out
        lambda text: text.replace("Tea", "Coffee"),  # as it is to be written
    ):
        digest_file.write(file, PART)
        altered = alter(file.read_text("utf-8"))
        file.write_text(altered, "utf-8", newline="")
        assert digest_file.write(file, OTHER) is True, altered
        assert digest_file.digest_part(file) == OTHER
        file.unlink()


@pytest.mark.parametrize(
    "text",
    [
        f"{digesting.BEGIN}\nno end\n",
        f"no begin\n{digesting.END}\n",
        f"{digesting.END}\n{digesting.BEGIN}\n",
        f"{digesting.BEGIN}\n{digesting.BEGIN}\n{digesting.END}\n",
        f"{OTHER}{OTHER}",
    ],
)
def test_damaged_markers_are_refused(file, text):
    file.write_text(text, "utf-8")
    for call in (digest_file.write, digest_file.check):
        with pytest.raises(InvalidInput, match="damaged"):
            call(file, PART)
    assert file.read_text("utf-8") == text


def test_what_is_no_text_is_refused(file):
    for data in ("mine\n".encode("utf-16"), b"a\x00b"):
        file.write_bytes(data)
        with pytest.raises(InvalidInput, match="UTF-8"):
            digest_file.write(file, PART)
        assert file.read_bytes() == data


def test_the_mode_is_kept_and_links_are_followed(file, tmp_path):
    file.write_text("mine\n", "utf-8")
    file.chmod(0o640)
    link = tmp_path / "link.md"
    link.symlink_to(file)
    digest_file.write(link, PART)
    assert link.is_symlink()
    assert file.read_text("utf-8").startswith("mine\n")
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert leftovers(file) == []


def test_a_loop_of_links_a_folder_and_a_missing_folder_are_refused(tmp_path):
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    for place in (tmp_path / "a", tmp_path, tmp_path / "gone" / "MEMORY.md"):
        with pytest.raises(InvalidInput):
            digest_file.write(place, PART)


@pytest.mark.parametrize(
    ("name", "number", "kind"),
    [("fsync", errno.ENOSPC, DiskFull), ("fsync", errno.EIO, InvalidInput), ("replace", errno.EACCES, InvalidInput)],
)
def test_the_original_stays_when_writing_fails(file, monkeypatch, name, number, kind):
    file.write_bytes(b"mine\n")

    def fails(*arguments):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(digest_file.os, name, fails)
    with pytest.raises(kind):
        digest_file.write(file, PART)
    assert file.read_bytes() == b"mine\n"
    assert leftovers(file) == []


def test_the_original_stays_when_the_process_is_interrupted(file, monkeypatch):
    file.write_bytes(b"mine\n")

    def stopped(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(digest_file.os, "fsync", stopped)
    with pytest.raises(KeyboardInterrupt):
        digest_file.write(file, PART)
    assert file.read_bytes() == b"mine\n"
    assert leftovers(file) == []


def test_a_file_saved_meanwhile_is_not_overwritten(file, monkeypatch):
    file.write_bytes(b"mine\n")
    whole = digest_file._write_whole

    def saved_meanwhile(*arguments):
        whole(*arguments)
        file.write_bytes(b"mine, and more\n")

    monkeypatch.setattr(digest_file, "_write_whole", saved_meanwhile)
    with pytest.raises(ConflictError):
        digest_file.write(file, PART)
    assert file.read_bytes() == b"mine, and more\n"


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may write everything")
def test_a_read_only_file_is_left_alone(file):
    file.write_bytes(b"mine\n")
    file.chmod(0o444)
    with pytest.raises(PerdureError, match="read-only"):
        digest_file.write(file, PART)


def test_the_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "policy.toml").write_text('[embedder]\nmodel = "none"\n')
    monkeypatch.setenv("PERDURE_POLICY", str(tmp_path / "policy.toml"))
    monkeypatch.setenv("PERDURE_STORE", "agent.db")

    def ran(*words):
        return CliRunner().invoke(cli.app, ["digest", *words])

    with perdure.open("agent.db", policy="policy.toml") as memory:
        memory.remember("Tea at noon.")
    printed = ran()
    assert printed.stdout.startswith(digesting.BEGIN)
    assert "tokens" in printed.stderr
    assert ran("--out", "MEMORY.md", "--check").exit_code == Exit.STALE
    assert "written" in ran("--out", "MEMORY.md").stdout
    written = (tmp_path / "MEMORY.md").read_text("utf-8")
    assert re.sub(r"begin [0-9a-f]{16} -->", "begin -->", written, count=1) == printed.stdout
    assert "up to date" in ran("--out", "MEMORY.md").stdout
    assert ran("--out", "MEMORY.md", "--check").exit_code == Exit.OK
    with perdure.open("agent.db", policy="policy.toml") as memory:
        memory.remember("Coffee at four.")
    edited = (tmp_path / "MEMORY.md").read_text("utf-8").replace("Tea", "Green tea")
    (tmp_path / "MEMORY.md").write_text(edited, "utf-8")
    refused = ran("--out", "MEMORY.md")
    assert (refused.exit_code, "was changed by hand between its markers" in refused.stderr) == (Exit.FAILED, True)
    remedy = json.loads(ran("--out", "MEMORY.md", "--json").stdout)["remedy"]
    first, update, new, last = (command.split() for command in re.findall("`perdure (.*?)`", remedy))
    assert first[:2] == ["digest", "|"]
    told = subprocess.run(first[2:], input=ran().stdout, capture_output=True, text=True, check=False).stdout
    changed = [line[2:] for line in told.splitlines() if line[0] in "<>"]  # not the marker, which has a checksum
    assert [line.partition(" (")[0] for line in changed] == [
        "- Green tea at noon.",
        "- Coffee at four.",
        "- Tea at noon.",
    ]
    taken = {"ID": re.search(r"\[(\w+)\]", changed[0])[1], "TEXT": "Green tea at noon."}
    for command in (update, new):
        assert CliRunner().invoke(cli.app, [taken.get(word, word) for word in command]).exit_code == Exit.OK
    assert last == ["digest", "--out", "MEMORY.md", "--force"]
    with perdure.open("agent.db", policy="policy.toml") as memory:
        assert {m.content for m in memory.list()} == {"Green tea at noon.", "Coffee at four."}
        memory.undo(memory.history()[0].id)
    assert json.loads(ran("--out", "MEMORY.md", "--json").stdout)["error"] == "InvalidInput"
    assert (tmp_path / "MEMORY.md").read_text("utf-8") == edited
    for options, reason in ((["--force"], "--force needs --out"), (["--force", "--check"], "--check writes nothing")):
        refused = ran(*options, *(["--out", "MEMORY.md"] if "--check" in options else []))
        assert (refused.exit_code, reason in refused.stderr) == (Exit.USAGE, True)
    told = " ".join(ran("--out", "MEMORY.md", "--check").stdout.split())
    assert "out of date, and was changed by hand" in told
    assert "to update it" not in told
    stale = ran("--out", "MEMORY.md", "--check", "--json")
    assert stale.exit_code == Exit.STALE
    assert json.loads(stale.stdout)["stale"] is True
    assert "written" in ran("--out", "MEMORY.md", "--force").stdout
    assert "Green" not in (tmp_path / "MEMORY.md").read_text("utf-8")
    found = json.loads(ran("--budget", "500", "--profile", "tokens", "--json").stdout)
    assert (len(found["ids"]), found["profile"]) == (2, "tokens")


@pytest.mark.skipif(shutil.which("diff") is None, reason="no diff here")
def test_the_command_that_compares_an_edited_file_runs_as_it_is_printed(tmp_path, monkeypatch):
    (tmp_path / "policy.toml").write_text('[embedder]\nmodel = "none"\n')
    monkeypatch.setenv("PERDURE_POLICY", str(tmp_path / "policy.toml"))
    options = ["--store", str(tmp_path / "a b.db")]

    def ran(*words):
        return CliRunner().invoke(cli.app, [*words, *options], prog_name="perdure")

    ran("remember", "The surgery opens at 8:00.")
    file = tmp_path / "MY MEMORY.md"
    ran("digest", "--out", str(file))
    file.write_text(file.read_text("utf-8").replace("8:00", "9:00"), "utf-8")
    told = ran("digest", "--out", str(file)).stderr
    (command,) = re.findall(r"`(perdure [^`]*\| diff[^`]*)`", " ".join(told.split()))
    command = command.replace("perdure ", f"{shlex.quote(sys.executable)} -m perdure ", 1)
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False, timeout=120)  # noqa: S602
    assert done.returncode == 1, done.stderr  # of diff: the two differ
    assert "8:00" in done.stdout
    assert "9:00" in done.stdout


def test_what_became_of_an_edited_file_is_told_once_with_commands_that_run(tmp_path):
    file = tmp_path / "MY MEMORY.md"
    words = f'[embedder]\nmodel = "none"\n[digest]\nfile = "{file.as_posix()}"\nnamespace = "team"\n'
    (tmp_path / "perdure.toml").write_text(words, "utf-8")

    def ran(*words):
        options = ["--store", str(tmp_path / "a.db"), "--policy", str(tmp_path / "perdure.toml")]
        command = [sys.executable, "-m", "perdure", *options, *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
        return done.returncode, " ".join((done.stdout + done.stderr).split())

    ran("remember", "Tea at noon.", "-n", "team")
    ran("digest", "-n", "team", "--out", str(file))
    file.write_text(file.read_text("utf-8").replace("Tea", "Green tea"), "utf-8")
    ran("remember", "Coffee at four.", "-n", "team")
    code, told = ran("maintain", "--once")
    assert (code, told.count("was changed by hand")) == (Exit.FAILED, 1)
    assert f"`perdure digest -n team | diff -I perdure:begin '{file}' -`" in told
    assert f"`perdure digest -n team --out '{file}' --force`" in told
    erase = ["erase", "--everything", "--reason", "x", "-n", "team"]
    code, told = ran(*erase, "--apply", "--confirm", json.loads(ran(*erase, "--json")[1])["confirm"])
    assert (code, told.count("was changed by hand")) == (Exit.OK, 1)
