from __future__ import annotations

import os
import subprocess
from contextlib import closing
from pathlib import Path

import apsw
import pytest

import perdure
from conftest import WORDS_ONLY, edit, finished, opened
from perdure.records.errors import (
    NotAStore,
    PerdureError,
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreReadOnly,
    StoreTooNew,
)
from perdure.records.installation import how_to_upgrade
from perdure.stores.sqlite import connection
from starts import forked_python

GARBAGE = {
    "one byte": b"x",
    "ten bytes": b"0123456789",
    "a page": os.urandom(4096),
    "random": os.urandom(20_000),
    "text": b"# A file of notes\n" * 900,
    "only the header": b"SQLite format 3\x00",
    "the header and noise": b"SQLite format 3\x00" + os.urandom(9000),
}


@pytest.mark.parametrize("name", GARBAGE)
def test_a_file_that_is_no_store_is_left_as_it_is(path, name):
    path.write_bytes(GARBAGE[name])
    with pytest.raises(NotAStore) as caught:
        opened(path)
    assert str(path) in str(caught.value)
    assert caught.value.remedy
    assert path.read_bytes() == GARBAGE[name]
    assert [p.name for p in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_another_programs_database_is_left_as_it_is(path, mode):
    with closing(apsw.Connection(str(path))) as other:
        other.execute(
            f"PRAGMA journal_mode = {mode}; CREATE TABLE memory (a); INSERT INTO memory VALUES (1)"
        ).fetchall()
    before = path.read_bytes()
    with pytest.raises(NotAStore):
        opened(path)
    assert path.read_bytes() == before


def test_an_empty_file_becomes_a_store(path):
    path.touch()
    memory = opened(path)
    memory.remember("x")
    assert memory.check() == []
    memory.close()


def test_a_store_of_a_newer_version_is_left_as_it_is(path):
    opened(path).close()
    with closing(apsw.Connection(str(path))) as newer:
        newer.execute("PRAGMA user_version = 9999; CREATE TABLE of_the_future (a)").fetchall()
    before = path.read_bytes()
    with pytest.raises(StoreTooNew, match="9999") as caught:
        opened(path)
    assert how_to_upgrade() in caught.value.remedy
    assert path.read_bytes() == before


def test_a_folder_or_a_missing_one_is_said(tmp_path):
    with pytest.raises(StoreError, match="is a folder"):
        opened(tmp_path)
    with pytest.raises(StoreError, match="does not exist"):
        opened(tmp_path / "absent" / "agent.db")
    (tmp_path / "file").touch()
    with pytest.raises(StoreError):
        opened(tmp_path / "file" / "agent.db")
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_damage_is_found_and_said(path):
    memory = opened(path)
    memory.remember_many([f"text {i} of some length about things {i % 13}" for i in range(1500)])
    memory.close()
    data = bytearray(path.read_bytes())
    for page in range(9, len(data) // 4096, 3):
        data[page * 4096 : page * 4096 + 300] = bytes(300)
    path.write_bytes(data)
    found = []
    try:
        memory = opened(path)
    except StoreDamaged:
        return
    try:
        found = memory.check()
    except StoreDamaged as error:
        found = [str(error)]
    assert found
    for call in (lambda: memory.recall("things"), lambda: memory.remember("more"), memory.sweep):
        try:
            call()
        except PerdureError as error:
            assert error.remedy  # noqa: PT017  # either outcome is allowed, an untyped error is not
    try:
        memory.close()
    except PerdureError:
        return


RULES = {
    "memories without content": "DELETE FROM content WHERE row = 1",
    "contents without a memory": "DELETE FROM memory WHERE row = 1",
    "memories missing from the keyword index": "DELETE FROM words WHERE rowid = 1",
    "vectors without a memory": "INSERT INTO vector VALUES ('default', 1, 99, 1, x'00')",
    "operations with missing journal lines": "DELETE FROM journal WHERE position = 0",
    "journal lines without an operation": "DELETE FROM operation",
    "accesses without a memory": "INSERT INTO access VALUES ('default', 'nobody', 1, 1)",
    "idempotency keys without a memory": "INSERT INTO idempotency VALUES ('default', 'k', 99)",
    "memories without a namespace": "DELETE FROM namespace",
}


@pytest.mark.parametrize("rule", RULES)
def test_a_check_finds_what_does_not_fit_together(memory, path, rule):
    memory.remember_many(["one text", "two texts"])
    assert memory.check() == []
    with closing(apsw.Connection(str(path))) as other:
        edit(other, RULES[rule])
    assert any(rule in fault for fault in memory.check())


def test_a_write_lock_that_is_held_for_too_long_is_said_and_reading_goes_on(opening, path, monkeypatch):
    monkeypatch.setattr(connection, "BUSY_MS", 50)
    memory = opening()
    kept = memory.remember("zebra crossing")
    with closing(apsw.Connection(str(path))) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusy) as caught:
            memory.remember("more")
        assert "Try again" in caught.value.remedy
        assert memory.recall("zebra").hits[0].memory.id == kept.id  # never waits for its own count
        other.execute("ROLLBACK")
    assert len(memory.list()) == 1
    assert memory.get(kept.id).access_count == 1  # counted once the lock was free
    assert memory.remember("more").id


def test_reading_does_not_wait_for_the_lock_to_show_its_own_accesses(opening, path, monkeypatch):
    monkeypatch.setattr(connection, "BUSY_MS", 50)
    memory = opening()
    kept = memory.remember("zebra crossing")
    with closing(apsw.Connection(str(path))) as other:
        other.execute("BEGIN IMMEDIATE")
        for _ in range(3):
            assert memory.recall("zebra").hits  # the second one reads while the first one's count still waits
        assert memory.get(kept.id).id == kept.id
        assert memory.list()
        other.execute("ROLLBACK")
    assert memory.get(kept.id).access_count == 3


AS_NOBODY = f"""
import os, sys
import perdure
warm = perdure.open(":memory:", policy={WORDS_ONLY!r})  # imports while it still may
warm.remember('x'); warm.recall('x'); warm.sweep(); warm.stats(); warm.close()
os.setgroups([]); os.setgid(65534); os.setuid(65534)
from perdure.records.errors import *
from datetime import timedelta, datetime, UTC
path = sys.argv[1]
late = datetime(2036, 1, 1, tzinfo=UTC)
try:
    memory = perdure.open(path, policy={WORDS_ONLY!r}, clock=lambda: late)
except (StoreReadOnly, StoreError) as error:
    print("refused", type(error).__name__, bool(error.remedy))
    raise SystemExit
print("opened")
for call in (lambda: memory.remember("more"), lambda: memory.pin(sys.argv[2]), lambda: memory.sweep(),
             lambda: memory.ingest([{{"content": "x"}}]), lambda: memory.archive(sys.argv[2], "r")):
    try:
        call()
        print("written")
    except StoreReadOnly as error:
        print("read-only" if error.remedy else "no remedy")
found = memory.recall("zebra")
print(len(found.hits), "not counted" in found.note, found.id == "")
told = bool(memory.digest()), bool(memory.why(sys.argv[2])), memory.check()
print(len(memory.list()), *told, memory.get(sys.argv[2]).access_count)
memory.forecast(30); memory.stats(); memory.sweep(dry_run=True)
memory.close()
"""


@pytest.fixture
def guarded(tmp_path_factory):
    """A store in a folder that nobody else may write to, open to nobody for reading."""
    if os.getuid() != 0:
        pytest.skip("only root may become another user, and root itself may write to everything")
    import tempfile  # pytest's own folders are closed to other users

    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        path = str(Path(folder) / "agent.db")
        memory = opened(path)
        kept = memory.remember("zebra crossing")
        yield path, kept.id, memory
        memory.close()


@pytest.mark.parametrize("in_use", [True, False])
def test_a_read_only_store_says_so_and_is_not_changed(guarded, in_use):
    path, identity, memory = guarded
    if not in_use:
        memory.close()
    Path(path).chmod(0o444)
    before = Path(path).read_bytes()
    out = finished(forked_python(AS_NOBODY, path, identity)).splitlines()
    if in_use and out[0] != "opened":  # the log's shared memory is its owner's alone
        assert out[0] in {"refused StoreReadOnly True", "refused StoreError True"}
    else:
        assert out == ["opened", *["read-only"] * 5, "1 True True", "1 True True [] 0"]
    assert Path(path).read_bytes() == before


AS_NOBODY_BY_COMMANDS = """
import os, sys
from typer.testing import CliRunner
from perdure.interfaces.cli.app import app

def run(*words, store):
    done = CliRunner().invoke(app, [*words, "--store", store])
    print(words[0], done.exit_code, "zebra" in done.output, " ".join(done.stderr.split()).replace(store, "STORE"))

os.environ["PERDURE_POLICY"] = sys.argv[2]
for words in (("recall", "zebra"), ("list",), ("stats",), ("digest",), ("facts",)):
    run(*words, store=sys.argv[3])  # imports while it still may
print("now", flush=True)
os.setgroups([]); os.setgid(65534); os.setuid(65534)
for words in (("recall", "zebra"), ("list",), ("stats",), ("digest",), ("facts",), ("remember", "more")):
    run(*words, store=sys.argv[1])
"""


@pytest.fixture
def as_nobody(guarded, tmp_path):
    """Run commands as a user who may write neither to the store nor to its folder, and return what each prints."""
    policy = Path(guarded[0]).with_name("perdure.toml")
    policy.write_text('[embedder]\nmodel = "none"\n', "utf-8")
    opened(tmp_path / "warm.db").close()

    def run():
        out = finished(forked_python(AS_NOBODY_BY_COMMANDS, guarded[0], policy, tmp_path / "warm.db"))
        return out.partition("now\n")[2].splitlines()

    return run


def test_commands_read_a_store_in_a_folder_that_cannot_be_written_to(guarded, as_nobody):
    path, _, memory = guarded
    memory.close()
    Path(path).chmod(0o444)
    Path(path).parent.chmod(0o555)
    *read, written = as_nobody()
    assert [line.split()[:3] for line in read] == [
        ["recall", "0", "True"],
        ["list", "0", "True"],
        ["stats", "0", "False"],
        ["digest", "0", "True"],
        ["facts", "3", "False"],  # there are none
    ]
    assert written.startswith("remember 1 False Error: STORE was opened read-only.")
    assert {f.name for f in Path(path).parent.iterdir()} == {"agent.db", "perdure.toml"}


def test_a_log_that_cannot_be_read_there_is_told_with_what_to_do(guarded, as_nobody):
    path, _, memory = guarded
    memory.remember("zebra again")
    log = Path(f"{path}-wal").read_bytes()
    memory.close()
    Path(f"{path}-wal").write_bytes(log)  # as a process that was killed leaves it, on a copy of the two files
    for name in (path, f"{path}-wal"):
        Path(name).chmod(0o444)
    told = as_nobody()
    assert [line.split()[1] for line in told] == ["1"] * 6
    assert "the newest changes are in agent.db-wal" in told[0]
    assert "run `perdure stats --store STORE` on it once as its owner" in told[0]
    with opened(path) as again:
        assert len(again.list()) == 2


def test_a_new_store_where_nothing_may_be_written(guarded):
    path, identity, _ = guarded
    out = finished(forked_python(AS_NOBODY, path + ".new", identity)).split()
    assert out[0] == "refused"
    assert out[2] == "True"
    assert not Path(path + ".new").exists()


def test_a_file_opened_read_only_answers_and_refuses(path):
    memory = opened(path)
    kept = memory.remember("zebra crossing")
    memory.close()
    real = apsw.Connection
    try:
        apsw.Connection = lambda name: real(name, flags=apsw.SQLITE_OPEN_READONLY)
        memory = opened(path)
    finally:
        apsw.Connection = real
    assert memory.recall("zebra").hits[0].memory.id == kept.id
    assert "read-only" in memory.recall("zebra").note
    for call in (lambda: memory.remember("more"), lambda: memory.pin(kept.id), lambda: memory.archive(kept.id, "r")):
        with pytest.raises(StoreReadOnly):
            call()
    assert memory.get(kept.id).access_count == 0
    assert memory.check() == []
    memory.close()


def test_a_file_opened_read_only_is_written_again_without_a_restart(path, monkeypatch):
    opened(path).close()
    real = apsw.Connection
    with monkeypatch.context() as patched:
        patched.setattr(apsw, "Connection", lambda name: real(name, flags=apsw.SQLITE_OPEN_READONLY))
        patched.setattr("perdure.stores.sqlite.store.READ_ONLY_SECONDS", 0.0)
        with opened(path) as memory:
            with pytest.raises(StoreReadOnly):
                memory.remember("too early")
            assert not memory.readiness.store.writable
            patched.setattr(apsw, "Connection", real)
            assert memory.readiness.store.writable
            kept = memory.remember("zebra crossing")
            assert memory.recall("zebra").hits[0].memory.id == kept.id
            assert "read-only" not in memory.recall("zebra").note
            assert memory.create_token("reader", "*", actor="ana")
    with opened(path) as memory:
        assert [m.content for m in memory.list()] == ["zebra crossing"]
        assert memory.get(kept.id).access_count == 2
        assert memory.check() == []


AS_NOBODY_WAITING = f"""
import os, sys
import perdure
from perdure.records.errors import StoreReadOnly
from perdure.stores.sqlite import store
store.READ_ONLY_SECONDS = 0.0
warm = perdure.open(":memory:", policy={WORDS_ONLY!r})  # imports while it still may
warm.remember('x'); warm.recall('x'); warm.close()
os.setgroups([]); os.setgid(65534); os.setuid(65534)
memory = perdure.open(sys.argv[1], policy={WORDS_ONLY!r})
for words in ("too early", "still too early", "zebra again"):
    try:
        print(memory.remember(words).memory.content, flush=True)
    except StoreReadOnly:
        print("refused", flush=True)
    sys.stdin.readline()
memory.close()
"""


AS_NOBODY_READING = f"""
import os, sys
import perdure
from perdure.stores.sqlite import store
store.READ_ONLY_SECONDS = 0.0
warm = perdure.open(":memory:", policy={WORDS_ONLY!r})  # imports while it still may
warm.remember('x'); warm.recall('x'); warm.list(); warm.close()
os.setgroups([]); os.setgid(65534); os.setuid(65534)
memory = perdure.open(sys.argv[1], policy={WORDS_ONLY!r})
for line in sys.stdin:
    note = memory.recall("zebra").note
    print(len(memory.list()), "read-only" in note, flush=True)
memory.close()
"""


def test_what_is_written_later_is_read_in_a_folder_that_cannot_be_written_to(guarded):
    path, _, memory = guarded
    memory.close()
    Path(path).chmod(0o644)

    def read():
        child.stdin.write("\n")
        child.stdin.flush()
        return child.stdout.readline().split()

    with forked_python(AS_NOBODY_READING, path, stdin=subprocess.PIPE) as child:
        assert read() == ["1", "True"]
        with opened(path) as writer:
            writer.remember("zebra in use")
            assert read() == ["2", "True"]
        with opened(path) as writer:
            writer.remember("zebra again")
        assert read() == ["3", "True"]
        child.stdin.close()


def test_a_file_whose_permissions_were_wrong_is_written_once_they_are_right(guarded):
    path, _, memory = guarded  # it is open, so that its shared memory is there
    for name in (path, f"{path}-wal", f"{path}-shm"):
        Path(name).chmod(0o444)
    with forked_python(AS_NOBODY_WAITING, path, stdin=subprocess.PIPE) as child:
        assert child.stdout.readline() == "refused\n"
        Path(path).parent.chmod(0o777)
        for names, expected in (([path], "refused\n"), ([f"{path}-wal", f"{path}-shm"], "zebra again\n")):
            for name in names:
                Path(name).chmod(0o666)
            child.stdin.write("\n")
            child.stdin.flush()
            assert child.stdout.readline() == expected
        child.stdin.close()
    assert sorted(m.content for m in memory.list()) == ["zebra again", "zebra crossing"]


def test_closing_is_final_and_may_be_repeated(path):
    memory = opened(path)
    kept = memory.remember("x")
    memory.close()
    memory.close()
    for call in (lambda: memory.remember("y"), lambda: memory.recall("x"), lambda: memory.get(kept.id)):
        with pytest.raises(StoreError, match="closed"):
            call()
    with perdure.open(path, policy=WORDS_ONLY) as again:
        assert again.get(kept.id).content == "x"
    assert [p.name for p in path.parent.iterdir()] == [path.name]
