"""PgBouncer in transaction mode between a store and its server: each transaction may have another connection.

The program is that of PERDURE_PGBOUNCER, else the distribution's: from 1.21 on with prepared statements, before
without.
"""

from __future__ import annotations

import configparser
import os
import pwd
import re
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from conftest import HASHED, HashEmbedder, opened
from free_ports import free_port
from perdure.compose import migrate
from perdure.records.errors import InvalidInput, StoreError
from programs import program
from servers import drop_database, fresh_database

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="no PgBouncer"),
    pytest.mark.skipif("PERDURE_TEST_DSN" in os.environ, reason="the pooler stands before the local server"),
]
DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
AGAIN = 8  # more often than it takes until a statement is prepared


def pgbouncer():
    return os.environ.get("PERDURE_PGBOUNCER") or program(("pgbouncer",), "pgbouncer")


def version():
    said = subprocess.run([pgbouncer(), "--version"], capture_output=True, text=True, check=True).stdout
    return tuple(map(int, re.search(r"(\d+)\.(\d+)", said).groups()))


@contextmanager
def pooled(url, folder, **settings):
    """The URL of a database behind a pooler that has two connections to it."""
    place, port = urlsplit(url), free_port()
    users = folder / "users.txt"
    users.write_text(f'"{place.username}" "{place.password}"\n')
    kept = {
        "listen_addr": "127.0.0.1",
        "listen_port": port,
        "unix_socket_dir": "",
        "auth_type": "plain",
        "auth_file": users,
        "pool_mode": "transaction",
        "default_pool_size": 2,
        **settings,
    }
    lines = "\n".join(f"{name} = {value}" for name, value in kept.items())
    config = folder / "pgbouncer.ini"
    config.write_text(f"[databases]\n* = host={place.hostname} port={place.port}\n[pgbouncer]\n{lines}\n")
    command = [pgbouncer(), "-q", str(config)]
    if os.geteuid() == 0:
        for one in (folder, *folder.parents[:3], users, config):
            one.chmod(one.stat().st_mode | 0o055 | (0o044 if one.is_file() else 0))
        command[1:1] = ["-u", pwd.getpwnam("nobody").pw_name]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        for _ in range(200):
            with socket.socket() as line:
                if line.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.05)
        yield place._replace(netloc=f"{place.username}:{place.password}@127.0.0.1:{port}").geturl()
    finally:
        process.terminate()
        process.communicate(timeout=20)


@pytest.fixture
def database():
    url = fresh_database()
    yield url
    drop_database(url)


@pytest.fixture
def pooler(database, tmp_path: Path):
    with pooled(database, tmp_path) as url:
        yield url


def live(memory, name):
    """Use a store again and again in a namespace; what is found there, and what of others."""
    for number in range(AGAIN):
        memory.remember(f"{name} keeps the key number {number} in box {number}", name, tags=["key"])
        memory.recall("where is the key?", name, tags=["key"] if number % 2 else [])
    found = [h.memory for h in memory.recall(f"key in box {AGAIN - 1}", name, limit=50).hits]
    assert f"number {AGAIN - 1} " in found[0].content
    found += memory.list(name, limit=50)
    return {m.namespace for m in found}, {m.content.split()[0] for m in found}, len(memory.list(name, limit=50))


def test_a_store_works_behind_a_pooler_that_knows_nothing_of_prepared_statements(pooler):
    migrate(f"{pooler}?prepare=no")
    with opened(f"{pooler}?prepare=no", HASHED, None, HashEmbedder()) as memory:
        names = ["alice", "bob", "carol", "dave"]
        with ThreadPoolExecutor(len(names)) as threads:
            found = list(threads.map(lambda name: live(memory, name), names))
        for name, (namespaces, owners, hits) in zip(names, found, strict=True):
            assert namespaces == {name}
            assert owners == {name}
            assert hits == AGAIN
        memory.sweep()
        assert not memory.check()


def test_a_pooler_that_cannot_prepare_is_recognised_and_the_remedy_told(pooler):
    if version() >= (1, 21):
        pytest.skip("this one knows of prepared statements")
    names = ["alice", "bob", "carol", "dave"]
    with (
        opened(pooler, HASHED, None, HashEmbedder()) as memory,
        ThreadPoolExecutor(len(names)) as threads,
        pytest.raises(StoreError) as refused,
    ):
        list(threads.map(lambda name: live(memory, name), names))
    assert "prepare=no" in refused.value.remedy


def test_a_pooler_that_refuses_options_is_recognised_and_the_remedy_told(pooler):
    with pytest.raises(InvalidInput) as refused:
        opened(f"{pooler}?prepare=no&options=-csearch_path%3Dpublic", HASHED, None, HashEmbedder())
    assert "ALTER ROLE" in refused.value.remedy


def test_a_pooler_that_knows_of_prepared_statements_needs_no_parameter(database, tmp_path):
    if version() < (1, 21):
        pytest.skip("this one knows nothing of prepared statements")
    names = ["alice", "bob", "carol", "dave"]
    with (
        pooled(database, tmp_path, max_prepared_statements=200) as url,
        opened(url, HASHED, None, HashEmbedder()) as memory,
        ThreadPoolExecutor(len(names)) as threads,
    ):
        found = list(threads.map(lambda name: live(memory, name), names))
    assert [hits for *_, hits in found] == [AGAIN] * len(names)


def test_the_configuration_to_deploy_with_is_read_and_used(database, tmp_path):
    """What it says besides addresses and passwords; what this version is too old for is left out."""
    config = configparser.ConfigParser(comment_prefixes=(";",))
    config.read(DEPLOY / "pgbouncer.ini")
    told = dict(config["pgbouncer"])
    assert told["pool_mode"] == "transaction"
    assert int(told["max_prepared_statements"]) > 0
    old = version() < (1, 21)
    own = {"listen_addr", "listen_port", "auth_type", "auth_file"} | ({"max_prepared_statements"} if old else set())
    rest = {name: value for name, value in told.items() if name not in own}
    with (
        pooled(database, tmp_path, **rest) as url,
        opened(f"{url}?prepare=no" if old else url, HASHED, None, HashEmbedder()) as memory,
    ):
        assert live(memory, "alice") == ({"alice"}, {"alice"}, AGAIN)
