"""A server's base backup and its archived log of writes bring back the store as it was at a moment."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

import pytest

from conftest import HashEmbedder, opened, weekly
from faults.server_faults import everything, own_server
from perdure.stores.postgres.local import SUPERUSER, _make, local_server
from perdure.stores.postgres.local_programs import HOST, PAUSE, WAIT_SECONDS, run

pytestmark = [weekly, pytest.mark.skipif(sys.platform == "win32", reason="no local server")]


@pytest.fixture
def archive():
    """A folder that the server's account may write."""
    folder = Path(tempfile.mkdtemp(prefix="perdure-archive-"))
    folder.chmod(0o777)
    yield folder
    shutil.rmtree(folder)


def awaited(server, statement, answer):
    until = time.monotonic() + WAIT_SECONDS
    while server.sql(statement) != answer:
        assert time.monotonic() < until, statement
        time.sleep(PAUSE)


def based_on(primary, **settings):
    """A server that begins with a base backup of another one, by the operator's recipe."""
    copy = local_server(**{**primary.settings, **settings})
    with (primary.data / "pg_hba.conf").open("a", encoding="utf-8") as access:
        access.write(f"host replication {SUPERUSER} {HOST}/32 scram-sha-256\n")
    primary.sql("SELECT pg_reload_conf()")
    take = [*primary._client("pg_basebackup", ""), "--checkpoint=fast", "--wal-method=stream"]
    _make(
        copy.folder,
        lambda fresh: run([*take, f"--pgdata={fresh}"], owner=fresh, password=primary._passwords()[SUPERUSER]),
    )
    signal = copy.data / "recovery.signal"
    signal.touch()
    if os.getuid() == 0:
        os.chown(signal, copy.data.stat().st_uid, copy.data.stat().st_gid)
    return copy


def test_a_store_comes_back_as_it_was_at_a_moment(archive):
    put = f"test ! -f {archive}/%f && cp %p {archive}/%f"
    with own_server(archive_mode="on", archive_command=put, wal_level="replica") as primary:
        with opened(primary.dsn(), embedder=HashEmbedder(32)) as memory:
            before = memory.remember_many([f"zebra number {i}" for i in range(20)])
            get = {"restore_command": f"cp {archive}/%f %p", "recovery_target_action": "promote"}
            copy = based_on(primary, **get)
            later = memory.remember_many([f"harbour number {i}" for i in range(20)])  # after the base backup
            known = {m.id: m.content for m in everything(memory)}
            history = [o.id for o in memory.history(limit=1000)]
            moment = primary.sql("SELECT pg_sleep(0.2); SELECT clock_timestamp(); SELECT pg_sleep(0.2)").strip()
            for stored in (*before, *later):  # what somebody wants undone, and in no backup
                memory.archive(stored.id, "by mistake")
        segment = primary.sql("SELECT pg_walfile_name(pg_switch_wal())")
        awaited(primary, f"SELECT last_archived_wal >= '{segment}' FROM pg_stat_archiver", "t")
        copy.settings |= {"recovery_target_time": moment, "archive_mode": "off"}
        with copy:
            awaited(copy, "SELECT pg_is_in_recovery()", "f")
            with opened(copy.dsn(), embedder=HashEmbedder(32)) as memory:
                assert {m.id: m.content for m in everything(memory)} == known
                assert len(memory.list(limit=1000)) == 40
                assert [o.id for o in memory.history(limit=1000)] == history
                assert memory.check(full=True) == []
                assert memory.recall("harbour number 7").hits[0].memory.id == later[7].id
                assert memory.remember("it goes on").operation
