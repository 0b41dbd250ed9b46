"""A file's log of writes is written into the file beside the calls: none of them waits for the disk."""

from __future__ import annotations

import shutil
import threading
import time

import apsw
import pytest

import perdure
from perdure.stores.sqlite import checkpoints

POLICY = {"embedder": {"model": "none"}}


class Flushes(apsw.VFS):
    """Notes which threads wait until the main file is on the disk."""

    def __init__(self):
        self.threads, self.base = [], apsw.vfs_names()[0]
        super().__init__("flushes", self.base, makedefault=True)

    def xOpen(self, name, flags):  # noqa: N802  # as the library calls it
        return _File(self, name, flags)


class _File(apsw.VFSFile):
    def __init__(self, flushes, name, flags):
        super().__init__(flushes.base, name, flags)
        self.threads = flushes.threads if flags[0] & apsw.SQLITE_OPEN_MAIN_DB else []

    def xSync(self, flags):  # noqa: N802
        self.threads.append(threading.current_thread().name)
        super().xSync(flags)


@pytest.fixture
def flushes():
    found = Flushes()
    yield found.threads
    found.unregister()


def accesses(path):
    """Return how many accesses a file has by itself, without its log."""
    alone = path.with_suffix(".alone")
    shutil.copy(path, alone)
    connection = apsw.Connection(str(alone))
    found = connection.execute("SELECT count(*) FROM access").get
    connection.close()
    return found


def test_no_recall_waits_for_the_disk_and_the_log_does_not_grow(tmp_path, monkeypatch, flushes):
    monkeypatch.setattr(checkpoints, "PAGES", 20)
    path = tmp_path / "a.db"
    with perdure.open(path, POLICY) as memory:
        memory.remember_many([f"Deploy {n} happens on Tuesdays." for n in range(50)])
        flushes.clear()
        for _ in range(100):
            memory.recall("When do we deploy?")
        deadline = time.monotonic() + 20
        while accesses(path) < 50 and time.monotonic() < deadline:
            time.sleep(0.05)
            memory.recall("When do we deploy?")
        assert accesses(path) >= 50
        assert set(flushes) == {"perdure-checkpoint"}
        assert path.with_name("a.db-wal").stat().st_size < 500 * 4200


def test_a_log_that_outgrows_it_is_written_by_who_made_it_so_long(tmp_path, monkeypatch, flushes):
    monkeypatch.setattr(checkpoints, "PAGES", 20)
    monkeypatch.setattr(checkpoints, "MOST_PAGES", 20)
    with perdure.open(tmp_path / "a.db", POLICY) as memory:
        flushes.clear()
        memory.remember_many([f"Deploy {n} happens on Tuesdays." for n in range(50)])
        assert set(flushes) == {threading.current_thread().name}
