"""Backups of a file: one moment of a store that others write, and never half of one; and the way back."""

from __future__ import annotations

import os
import shutil
import sys
import threading
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from conftest import HashEmbedder, finished, logical, opened, tables
from perdure.compose import backup, restore_backup, store_at
from perdure.records.errors import (
    DiskFull,
    InvalidInput,
    NotAStore,
    NotFound,
    PerdureError,
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreReadOnly,
    StoreTooNew,
)
from perdure.stores.sqlite import backup as sqlite_backup
from perdure.stores.statements import migrations
from starts import forked_python
from stores.test_upgrade import old_file

posix = pytest.mark.skipif(sys.platform == "win32", reason="file locks and modes of POSIX")


@pytest.fixture
def agent(tmp_path):
    """A store with everything in it: vectors, tags, sessions, an archived memory, accesses."""
    path = tmp_path / "agent.db"
    with opened(path, embedder=HashEmbedder()) as memory:
        kept = memory.remember_many([f"note {i} about tea" for i in range(40)])
        memory.remember("elsewhere", namespace="team/b", tags=["x"])
        memory.ingest([{"content": f"said {i}"} for i in range(5)], session="s")
        memory.archive(kept[0].id, "test")
        memory.recall("tea")
    return path


def names(folder):
    """The files of a folder, without what looking into a store with ``tables`` leaves beside it."""
    return sorted(p.name for p in folder.iterdir() if p.name not in ("agent.db-wal", "agent.db-shm"))


def spoiled(path, at=0.5, width=4096):
    """Overwrite some of a file's middle."""
    data = bytearray(path.read_bytes())
    begin = int(len(data) * at) // 4096 * 4096
    data[begin : begin + width] = b"\xa5" * len(data[begin : begin + width])
    path.write_bytes(data)


def test_a_backup_holds_every_row_and_stands_alone(agent, tmp_path):
    target = tmp_path / "safe.db"
    done = backup(agent, target)
    assert (done.path, done.memories, done.kept) == (target, 46, None)
    assert done.operations == len(tables(agent)["operation"])
    assert done.size == target.stat().st_size
    assert tables(target) == tables(agent)
    assert logical(target) == logical(agent)
    assert names(tmp_path) == ["agent.db", "safe.db"]


def test_a_backup_can_be_read_where_nothing_can_be_written(agent, tmp_path):
    target = tmp_path / "safe.db"
    backup(agent, target)
    assert target.read_bytes()[18:20] == b"\x01\x01"  # a rollback journal: no -wal and no -shm is needed
    before = target.read_bytes()
    done = restore_backup(target, tmp_path / "new.db")
    assert done.memories == 46
    assert target.read_bytes() == before
    assert names(tmp_path) == ["agent.db", "new.db", "safe.db"]


def test_a_connection_can_be_backed_up_and_is_left_as_it_was(agent, tmp_path):
    with store_at(agent) as store, opened(agent) as memory:
        connection = store._connection
        assert sqlite_backup.backup(connection, tmp_path / "safe.db").memories == 46
        assert not connection.in_transaction
        memory.remember("one more")
    assert len(tables(tmp_path / "safe.db")["memory"]) == 46
    with opened(":memory:") as memory:
        memory.remember("only here")
        assert sqlite_backup.backup(memory._context.store._connection, tmp_path / "ram.db").memories == 1


def test_a_backup_is_one_moment_while_others_write(agent, tmp_path, monkeypatch):
    """Small steps, and a writer that commits in between: the copy is the store as it was when it began."""
    monkeypatch.setattr(sqlite_backup, "_PAGES", 1)
    stop, written, failed = threading.Event(), [], []

    def write():
        try:
            with opened(agent) as memory:
                while not stop.is_set():
                    written.append(memory.remember_many([f"later {len(written)} {j}" for j in range(3)]))
        except BaseException as error:  # noqa: BLE001  # told by the main thread
            failed.append(error)

    thread = threading.Thread(target=write)
    thread.start()
    results = []
    try:
        while len(results) < 5 or (len(written) <= 5 and len(results) < 500):  # until they have met
            results.append(backup(agent, tmp_path / f"safe{len(results)}.db"))
    finally:
        stop.set()
        thread.join()
    assert failed == []
    assert len(written) > 5
    assert [r.memories for r in results] == sorted(r.memories for r in results)
    for result in results:
        found = tables(result.path)
        assert len(found["memory"]) == len(found["content"]) == result.memories
        assert (result.memories - 46) % 3 == 0
        with opened(result.path) as memory:
            assert memory.check() == []


def test_an_existing_file_is_only_replaced_when_told(agent, tmp_path):
    target = tmp_path / "safe.db"
    target.write_text("mine")
    with pytest.raises(InvalidInput, match="already exists"):
        backup(agent, target)
    assert target.read_text() == "mine"
    backup(agent, target, overwrite=True)
    assert tables(target) == tables(agent)


def test_a_backup_never_replaces_a_store_that_may_be_in_use(agent, tmp_path):
    with pytest.raises(InvalidInput, match="the store itself"):
        backup(agent, agent, overwrite=True)
    other = tmp_path / "other.db"
    with opened(other) as memory:
        memory.remember("kept")
        with pytest.raises(InvalidInput, match="a store in use"):
            backup(agent, other, overwrite=True)
        assert memory.check() == []


@pytest.mark.parametrize("at", [0.2, 0.5, 0.8])
def test_a_damaged_store_is_told_and_gives_no_backup(agent, tmp_path, at):
    spoiled(agent, at)
    target = tmp_path / "safe.db"
    target.write_text("older backup")
    with pytest.raises(StoreDamaged):
        backup(agent, target, overwrite=True)
    assert target.read_text() == "older backup"
    assert names(tmp_path) == ["agent.db", "safe.db"]


def test_rows_that_do_not_belong_together_are_damage_too(agent, tmp_path):
    with closing(apsw.Connection(str(agent))) as connection:
        connection.execute("DELETE FROM content WHERE row IN (SELECT row FROM content LIMIT 2)")
    with pytest.raises(StoreDamaged, match="2 memories without content"):
        backup(agent, tmp_path / "safe.db")
    assert names(tmp_path) == ["agent.db"]


@pytest.mark.parametrize(
    ("content", "error"), [(None, NotFound), (b"", NotAStore), (b"no database" * 999, NotAStore)], ids=str
)
def test_what_is_no_store_is_refused_both_ways(tmp_path, content, error):
    path = tmp_path / "it.db"
    if content is not None:
        path.write_bytes(content)
    for call in (lambda: backup(path, tmp_path / "b.db"), lambda: restore_backup(path, tmp_path / "c.db")):
        with pytest.raises(error):
            call()
    assert names(tmp_path) == ([] if content is None else ["it.db"])


def test_another_programs_database_and_a_newer_store_are_refused(agent, tmp_path):
    other = tmp_path / "other.db"
    with closing(apsw.Connection(str(other))) as connection:
        connection.execute("CREATE TABLE t (x)")
    newer = tmp_path / "newer.db"
    backup(agent, newer)
    with closing(apsw.Connection(str(newer))) as connection:
        connection.execute("PRAGMA user_version = 999")
    before = names(tmp_path)
    for path, error in ((other, NotAStore), (newer, StoreTooNew)):
        with pytest.raises(error):
            restore_backup(path, tmp_path / "new.db")
        with pytest.raises(error):
            backup(path, tmp_path / "new.db")
    assert names(tmp_path) == before


def test_an_older_store_is_backed_up_as_it_is(tmp_path):
    """A backup before an upgrade must not be the upgrade."""
    old, target = tmp_path / "old.db", tmp_path / "safe.db"
    first = migrations("sqlite")[0]
    with opened(tmp_path / "newer.db") as memory:
        memory.remember("from before")
    old_file(tmp_path / "newer.db", old, schema=1)
    done = backup(old, target)
    assert done.memories == 1
    for path in (old, target):
        with closing(apsw.Connection(str(path))) as connection:
            assert connection.pragma("user_version") == first[0]
    restore_backup(target, tmp_path / "new.db")
    with opened(tmp_path / "new.db") as memory:
        assert memory.check() == []
        assert [m.content for m in memory.list()] == ["from before"]


def test_a_restored_store_replaces_one_that_is_kept(agent, tmp_path):
    safe = tmp_path / "safe.db"
    backup(agent, safe)
    then = tables(agent)
    for round_, kept in enumerate(["agent.db.before-restore", "agent.db.before-restore-2"]):
        with opened(agent) as memory:
            memory.remember(f"after the backup {round_}")
        now = tables(agent)
        with pytest.raises(InvalidInput, match="already exists"):
            restore_backup(safe, agent)
        done = restore_backup(safe, agent, overwrite=True)
        assert done.kept == tmp_path / kept
        assert tables(agent) == then
        assert tables(done.kept) == now
    assert names(tmp_path) == ["agent.db", "agent.db.before-restore", "agent.db.before-restore-2", "safe.db"]


@posix
def test_a_store_in_use_is_not_replaced(agent, tmp_path, monkeypatch):
    monkeypatch.setattr(sqlite_backup, "_ALONE_MS", 50)
    safe = tmp_path / "safe.db"
    backup(agent, safe)
    with opened(agent) as memory:
        memory.remember("in use")
        with pytest.raises(StoreBusy, match="Another process is using"):
            restore_backup(safe, agent, overwrite=True)
        memory.remember("still in use")
        assert memory.check() == []
    assert len(tables(agent)["memory"]) == 48
    assert names(tmp_path) == ["agent.db", "safe.db"]


def test_what_a_killed_process_left_beside_a_store_never_meets_the_new_file(agent, tmp_path):
    """A -wal with committed pages of the old store: SQLite would write them into whatever has the store's name."""
    safe = tmp_path / "safe.db"
    backup(agent, safe)
    code = """
import os, sys, perdure
memory = perdure.open(sys.argv[1], policy={"embedder": {"model": "none"}})
memory.remember_many([f"lost? {i}" for i in range(200)])
os.kill(os.getpid(), 9)
"""
    forked_python(code, agent).communicate()
    assert Path(f"{agent}-wal").stat().st_size > 0
    wal, half = Path(f"{agent}-wal").read_bytes(), tmp_path / "half"
    half.mkdir()
    done = restore_backup(safe, agent, overwrite=True)
    assert len(tables(done.kept)["memory"]) == 246
    assert tables(agent) == tables(safe)
    # The same where the file itself is gone and only its -wal is left.
    lone = half / "lone.db"
    Path(f"{lone}-wal").write_bytes(wal)
    assert restore_backup(safe, lone).kept == half / "lone.db.before-restore"
    assert tables(lone) == tables(safe)
    assert names(half) == ["lone.db", "lone.db.before-restore-wal"]


def test_a_ruined_store_can_be_replaced(agent, tmp_path):
    safe = tmp_path / "safe.db"
    backup(agent, safe)
    agent.write_bytes(b"ruin" * 5000)
    done = restore_backup(safe, agent, overwrite=True)
    assert done.kept.read_bytes() == b"ruin" * 5000
    assert tables(agent) == tables(safe)


@pytest.mark.parametrize("how", ["spoiled", "cut short"])
def test_a_damaged_backup_changes_nothing(agent, tmp_path, how):
    safe = tmp_path / "safe.db"
    backup(agent, safe)
    then = tables(agent)
    if how == "spoiled":
        spoiled(safe)
    else:
        safe.write_bytes(safe.read_bytes()[:-8192])
    with pytest.raises(StoreDamaged, match=r"safe\.db"):
        restore_backup(safe, agent, overwrite=True)
    assert tables(agent) == then
    assert names(tmp_path) == ["agent.db", "safe.db"]


def test_a_plain_copy_of_a_store_can_be_restored_with_its_wal(agent, tmp_path):
    with opened(agent) as memory:
        memory.remember("only in the -wal")
        copy = tmp_path / "copy"
        copy.mkdir()
        for end in ("", "-wal"):
            shutil.copy(f"{agent}{end}", f"{copy / 'agent.db'}{end}")
    assert restore_backup(copy / "agent.db", tmp_path / "new.db").memories == 47


@posix
def test_places_that_cannot_be_written_are_told(agent, tmp_path):
    with pytest.raises(InvalidInput, match="does not exist"):
        backup(agent, tmp_path / "no" / "safe.db")
    with pytest.raises(InvalidInput, match="is a folder"):
        backup(agent, tmp_path)
    if os.geteuid() != 0:
        shut = tmp_path / "shut"
        shut.mkdir(mode=0o500)
        with pytest.raises(StoreReadOnly):
            backup(agent, shut / "safe.db")


@posix
def test_a_full_disk_leaves_nothing(agent, tmp_path):
    code = """
import resource, signal, sys
from pathlib import Path
from perdure.compose import backup
from perdure.records.errors import DiskFull
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))
try:
    backup(sys.argv[1], Path(sys.argv[2]))
except DiskFull as error:
    print(error)
"""
    assert "safe.db could not be written" in finished(forked_python(code, agent, tmp_path / "safe.db"))
    assert names(tmp_path) == ["agent.db"]
    assert issubclass(DiskFull, PerdureError)


@pytest.mark.parametrize("result", [apsw.SQLITE_IOERR_READ, apsw.SQLITE_IOERR_WRITE])
def test_a_disk_that_fails_is_not_called_full(agent, tmp_path, monkeypatch, result):
    """Whoever was told so looked for space on a disk that had plenty."""
    failed = apsw.IOError("disk I/O error")
    failed.extendedresult = result

    def fail(*_):
        raise failed

    monkeypatch.setattr(sqlite_backup, "find_faults", fail)
    with pytest.raises(StoreError) as raised:
        backup(agent, tmp_path / "safe.db")
    writing = result == apsw.SQLITE_IOERR_WRITE
    assert (isinstance(raised.value, DiskFull), "is full" in str(raised.value)) == (writing, writing)
    assert ("could not be read or written (disk I/O error)" in str(raised.value)) != writing
    assert names(tmp_path) == ["agent.db"]


@posix
def test_a_copy_is_as_private_as_its_original(agent, tmp_path):
    agent.chmod(0o640)
    backup(agent, tmp_path / "safe.db")
    assert (tmp_path / "safe.db").stat().st_mode & 0o777 == 0o640
    (tmp_path / "safe.db").chmod(0o600)
    restore_backup(tmp_path / "safe.db", agent, overwrite=True)
    assert agent.stat().st_mode & 0o777 == 0o640


def test_what_has_no_file_is_refused(tmp_path):
    for call in (lambda: backup(":memory:", tmp_path / "a.db"), lambda: restore_backup(tmp_path / "a.db", ":memory:")):
        with pytest.raises(InvalidInput, match="no file"):
            call()
