"""Everything a server may refuse: a typed error that says what to do, without the password, and nothing half done."""

from __future__ import annotations

import re
import time
import traceback
import warnings
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

import servers
from conftest import as_operator, opened
from faults.server_faults import Line, everything
from perdure.compose import EmbedderWarning, address_of, migrate
from perdure.records.errors import (
    DiskFull,
    InvalidInput,
    NotAStore,
    StoreBusy,
    StoreClosed,
    StoreDamaged,
    StoreDenied,
    StoreError,
    StoreReadOnly,
    StoreTooNew,
    StoreTooOld,
    StoreUnavailable,
)
from perdure.records.installation import how_to_upgrade
from perdure.stores.postgres import connections, faults, schema
from perdure.stores.postgres.local_programs import free_port

WRONG = "s3cr3t-word"
pytestmark = as_operator


@pytest.fixture(scope="module")
def shared():
    """A database that tests leave as they found it."""
    url = servers.fresh_database()
    yield url
    servers.drop_database(url)


@pytest.fixture
def place():
    """A database to spoil."""
    url = servers.fresh_database()
    yield url
    servers.drop_database(url)


def refused(kind, call, *said, secret=None, remedy=""):
    """What a call raises: of exactly this kind, with a remedy, and with no secret even in the errors behind it."""
    with pytest.raises(kind) as caught:
        call()
    assert type(caught.value) is kind
    assert caught.value.message
    assert caught.value.remedy
    for word in said:
        assert word in caught.value.message
    assert remedy in caught.value.remedy
    text = "".join(traceback.format_exception(caught.value)) + repr(caught.value) + str(caught.value.to_dict())
    for word in [secret] if secret else []:
        assert word not in re.sub(r"(?m)^  .*\n(    .*\n)*", "", text)  # lines of source code may hold anything
    return caught.value


def copy_with(url, **parts):
    """A URL with another user, password, database or port, or with parameters."""
    old = urlsplit(url)
    user, password = parts.get("user", old.username), parts.get("password", old.password)
    login = f"{user}:{password}" if password else user
    port, database = parts.get("port", old.port), parts.get("database", database_of(url))
    query = f"?{parts['query']}" if "query" in parts else ""
    return f"postgresql://{login}@{old.hostname}:{port}/{database}{query}"


def password_of(url):
    return urlsplit(url).password


def database_of(url):
    return urlsplit(url).path[1:]


def sql(url, statements):
    """Run statements as the superuser in a URL's database."""
    return servers.server().sql(statements, database_of(url))


@contextmanager
def locked(url, statement):
    """Hold what a statement locks for as long as this lasts."""
    with psycopg.connect(url) as other:
        other.execute("SELECT set_config('perdure.namespace', 'default', true), set_config('perdure.prefix', '', true)")
        assert other.execute(statement).rowcount
        yield
        other.rollback()


# --- opening


def test_a_wrong_password_is_refused_at_once_and_not_shown(shared):
    began = time.monotonic()
    refused(StoreDenied, lambda: opened(copy_with(shared, password=WRONG)), secret=WRONG, remedy="URL")
    refused(StoreDenied, lambda: opened(copy_with(shared, password="")), secret=password_of(shared))
    refused(StoreDenied, lambda: migrate(copy_with(shared, password=WRONG)), secret=WRONG)
    assert time.monotonic() - began < 3


def test_a_role_that_does_not_exist_is_refused(shared):
    refused(StoreDenied, lambda: opened(copy_with(shared, user="nobody_here", password=WRONG)), secret=WRONG)


def test_a_database_that_does_not_exist_is_named(shared):
    url = copy_with(shared, database="nowhere")
    refused(StoreError, lambda: opened(url), '"nowhere"', secret=password_of(shared), remedy="createdb")
    refused(StoreError, lambda: migrate(url), '"nowhere"', secret=password_of(shared), remedy="createdb")


def test_a_server_that_does_not_run_is_told_of_at_once(shared):
    url = copy_with(shared, port=free_port())
    began = time.monotonic()
    refused(StoreUnavailable, lambda: opened(url), "refused", secret=password_of(shared), remedy="running")
    refused(StoreUnavailable, lambda: migrate(url), secret=password_of(shared))
    refused(StoreUnavailable, lambda: opened(copy_with(shared, port="1,2")), secret=password_of(shared))
    assert time.monotonic() - began < 3


def test_no_tables_and_old_tables_name_the_command_to_run(place, monkeypatch):
    secret, empty = password_of(place), copy_with(place, database="postgres")
    refused(StoreTooOld, lambda: opened(empty), "no Perdure tables", secret=secret, remedy="perdure migrate")
    current = schema.newest()
    monkeypatch.setattr(schema, "newest", lambda: current + 1)
    error = refused(StoreTooOld, lambda: opened(place), f"needs {current + 1}", secret=secret, remedy="perdure migrate")
    assert database_of(place) in error.message


def test_newer_tables_are_refused_unless_they_say_that_this_version_may_go_on(place):
    newest = schema.newest()
    sql(place, f"UPDATE meta SET value = '{newest + 1}' WHERE key = 'schema'")
    for call in (lambda: opened(place), lambda: migrate(place)):
        refused(StoreTooNew, call, f"schema {newest + 1}", secret=password_of(place), remedy=how_to_upgrade())
    sql(place, f"INSERT INTO meta VALUES ('oldest', '{newest}')")
    with opened(place) as memory:
        memory.remember("zebra")
        assert memory.recall("zebra").hits
    assert migrate(place) == 0
    sql(place, f"UPDATE meta SET value = '{newest + 1}' WHERE key = 'oldest'")
    refused(StoreTooNew, lambda: opened(place))


@pytest.mark.parametrize("value", ["", "one", "-1", "1.5", "9" * 30])
def test_tables_whose_number_makes_no_sense_are_refused(place, value):
    sql(place, f"UPDATE meta SET value = '{value}' WHERE key = 'schema'")
    for call in (lambda: opened(place), lambda: migrate(place)):
        refused(StoreTooNew if value == "9" * 30 else NotAStore, call)


def test_a_table_of_somebody_else_named_meta_is_left_alone(place):
    sql(place, "CREATE DATABASE other_meta OWNER perdure")
    url = copy_with(place, database="other_meta")
    sql(url, "CREATE TABLE meta (page integer); ALTER TABLE meta OWNER TO perdure")
    for call in (lambda: opened(url), lambda: migrate(url)):
        refused(NotAStore, call, "meta", remedy="database")
    assert sql(url, "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") == "1"
    sql(place, "DROP DATABASE other_meta WITH (FORCE)")


def test_a_missing_extension_is_named_with_what_its_operator_must_do(place):
    sql(place, "CREATE DATABASE bare TEMPLATE template0")
    sql(copy_with(place, database="bare"), "GRANT CREATE ON SCHEMA public TO perdure")
    url = copy_with(place, database="bare")
    refused(StoreTooOld, lambda: opened(url))
    error = refused(StoreError, lambda: migrate(url), "extension vector", remedy="CREATE EXTENSION vector")
    assert "\n" not in error.message
    assert password_of(place) not in str(error)
    sql(url, "CREATE EXTENSION vector")
    assert migrate(url) > 0
    sql(place, "DROP DATABASE bare WITH (FORCE)")


def test_a_schema_that_the_role_may_not_write_to_is_named_with_the_grant(place):
    sql(place, "CREATE DATABASE closed")
    url = copy_with(place, database="closed")
    error = refused(StoreDenied, lambda: migrate(url), "schema public", remedy="GRANT CREATE ON SCHEMA")
    assert password_of(place) not in str(error)
    sql(place, "DROP DATABASE closed WITH (FORCE)")


def test_tables_of_another_role_are_refused(place):
    sql(place, f"DROP ROLE IF EXISTS guest; CREATE ROLE guest LOGIN PASSWORD '{WRONG}'")
    url = copy_with(place, user="guest", password=WRONG)
    refused(StoreDenied, lambda: opened(url), "permission denied", secret=WRONG, remedy="grant what is missing")
    sql(place, "DROP ROLE guest")


def test_the_grants_of_the_documentation_suffice_and_say_what_they_do_not(place):
    page = (Path(__file__).parents[2] / "docs" / "scale.md").read_text("utf-8")
    grants = re.search(r"GRANT USAGE ON SCHEMA public.*?(?=```)", page, re.DOTALL)[0]
    opened(place).remember("The gateway has port 8081.")
    for name in ("service", "reader"):
        sql(place, f"DROP ROLE IF EXISTS {name}; CREATE ROLE {name} LOGIN PASSWORD '{WRONG}'")
    sql(place, grants)
    serving, reading = (opened(copy_with(place, user=name, password=WRONG)) for name in ("service", "reader"))
    kept = serving.remember("Deploys happen on Tuesdays.")
    serving.undo(kept.operation)
    assert [hit.memory.content for hit in serving.recall("Which port has the gateway?").hits] == [
        "The gateway has port 8081."
    ]
    assert any("permission denied to vacuum" in note for note in serving.compact(dry_run=False).notes)
    assert reading.recall("Which port has the gateway?", touch=False).hits
    assert reading.check() == []
    refused(StoreDenied, lambda: reading.remember("no"), "permission denied", remedy="grant what is missing")
    for memory, name in ((serving, "service"), (reading, "reader")):
        memory.close()
        sql(place, f"DROP OWNED BY {name}; DROP ROLE {name}")


@pytest.mark.parametrize("right", ["SUPERUSER", "BYPASSRLS"])
def test_a_role_that_row_level_security_does_not_hold_is_warned_of_and_found_by_check(place, right):
    name = f"free_{right.lower()}"
    sql(place, f"CREATE ROLE {name} LOGIN {right} PASSWORD '{WRONG}'; GRANT perdure TO {name}")
    url = copy_with(place, user=name, password=WRONG)
    with pytest.warns(EmbedderWarning, match="bypasses row-level security"):
        memory = opened(url)
    memory.remember("zebra")
    (found,) = memory.check()
    assert "row-level security" in found
    memory.close()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        opened(place).close()
    sql(place, f"DROP OWNED BY {name}; DROP ROLE {name}")


def test_a_role_that_may_open_no_more_connections_is_told_so(place):
    sql(place, f"CREATE ROLE narrow LOGIN CONNECTION LIMIT 1 PASSWORD '{WRONG}'; GRANT perdure TO narrow")
    url = copy_with(place, user="narrow", password=WRONG)
    with psycopg.connect(url):
        refused(StoreBusy, lambda: opened(url), "CONNECTION LIMIT", secret=WRONG, remedy="ALTER ROLE")
    opened(url).close()
    sql(place, "DROP OWNED BY narrow; DROP ROLE narrow")


# --- URLs


GARBAGE = [
    "postgresql://u:s3cr3t@word@127.0.0.1/db",
    "postgresql://u:s3cr3t/word@127.0.0.1/db",
    "postgresql://u:s3cr3t@127.0.0.1:port/db",
    "postgresql://u:s3cr3t@127.0.0.1:999999/db",
    "postgresql://u:s3%cr3t@127.0.0.1/db",
    "postgresql://u:s3 cr3t@127.0.0.1/db",
    "postgresql://u:s3cr3t@[::1/db",
    "postgresql://u:s3cr3t\x00@127.0.0.1/db",
    "postgresql://u:s3cr3t\n@127.0.0.1/db",
    "postgresql://u:s3cr3t\ud800@127.0.0.1/db",
    "postgresql://u:s3cr3t@127.0.0.1/db?password",
    "postgresql://u:s3cr3t@127.0.0.1/db?nonsense=1",
    "postgresql://u:s3cr3t@127.0.0.1/db?password=s3cr3t&=s3cr3t",
    "postgresql://u:s3cr3t@127.0.0.1/db?pool_size=0",
    "postgresql://u:s3cr3t@127.0.0.1/db?pool_size=many",
    "postgresql://u:s3cr3t@127.0.0.1/db?pool_size=\u0665",
    "postgresql://u:s3cr3t@127.0.0.1/db?pool_size=100000",
    "postgresql://u:s3cr3t@127.0.0.1/db?namespace_prefix=a%00b",
    f"postgresql://u:s3cr3t@127.0.0.1/db?namespace_prefix={'x' * 201}",
    "postgres://u:s3cr3t@word@host?x",
]


@pytest.mark.parametrize("url", GARBAGE, ids=range(len(GARBAGE)))
def test_a_url_that_cannot_be_read_is_refused_and_not_quoted(url):
    for call in (lambda: opened(url), lambda: migrate(url)):
        error = refused(InvalidInput, call, secret=WRONG[:2])
        assert "cr3t" not in str(error)
        assert "word" not in error.message


@pytest.mark.parametrize(
    "query",
    ["namespace_prefix=acme", "namespace_prefix=", "namespace_prefix=/", "namespace_prefix=a/&namespace_prefix=b/"],
)
def test_a_prefix_that_could_stand_for_another_tenant_is_refused(query):
    refused(InvalidInput, lambda: address_of(f"postgresql://u@h/db?{query}"))


@pytest.mark.parametrize(
    "text",
    [
        f"host=127.0.0.1 dbname=perdure user=perdure password={WRONG}",
        f"password = {WRONG} host = h",
        f"postgresql:/perdure:{WRONG}@h/db",
        f"postgresql+psycopg://perdure:{WRONG}@h/db",
    ],
)
def test_a_server_in_another_notation_does_not_become_a_file(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    refused(InvalidInput, lambda: opened(text), secret=WRONG, remedy="postgresql://")
    assert list(tmp_path.iterdir()) == []


def test_what_is_shown_of_an_address_has_no_password():
    url = "postgresql://u:s3cr3t@127.0.0.1:5433/db?pool_size=3&namespace_prefix=a%2Fb/&options=-c%20x.y%3D1"
    address = address_of(url)
    assert "s3cr3t" not in repr(address) + address.shown
    assert (address.connections, address.prefix) == (3, "a/b/")
    assert address.shown == "postgresql://u@127.0.0.1:5433/db"
    assert psycopg.conninfo.conninfo_to_dict(address.dsn)["options"] == "-c x.y=1"
    odd = psycopg.conninfo.conninfo_to_dict(address_of("postgresql://u:a?b+c#d@h/db?pool_size=3").dsn)
    assert (odd["password"], odd["host"]) == ("a?b+c#d", "h")


# --- while it is open


def test_a_pool_whose_connections_are_all_in_use_says_so_and_serves_in_order(shared, monkeypatch):
    monkeypatch.setattr(connections, "POOL_SECONDS", 0.3)
    memory = opened(copy_with(shared, query="pool_size=1"))
    memory.remember("zebra", "pool")
    store = memory._context.store
    began = time.monotonic()
    error = store._server.read(
        "pool",
        lambda _: refused(StoreBusy, lambda: memory.remember("x", "pool"), "All 1 connections", remedy="pool_size"),
    )
    assert 0.3 <= time.monotonic() - began < 2
    assert password_of(shared) not in str(error)
    note = store._server.read("pool", lambda _: refused(StoreBusy, lambda: memory.recall("zebra", "pool")))
    assert note
    memory.remember("okapi", "pool")
    assert len(everything(memory, "pool")) == 2
    memory.close()


@pytest.mark.parametrize("limit", ["statement_timeout", "lock_timeout"])
def test_a_server_that_takes_too_long_is_busy_and_nothing_is_written(shared, limit):
    memory = opened(copy_with(shared, query=f"options=-c%20{limit}%3D200"))
    memory.remember(f"zebra {limit}")
    with locked(shared, "SELECT * FROM namespace WHERE namespace = 'default' FOR UPDATE"):
        refused(StoreBusy, lambda: memory.remember("okapi"), limit, secret=password_of(shared), remedy="Try again")
        assert memory.recall(f"zebra {limit}").id  # a recall waits for no writer
    memory.remember(f"okapi {limit}")
    assert memory.check() == []
    memory.close()


def test_a_connection_that_the_server_closed_is_replaced_at_once(shared):
    memory = opened(shared)
    memory.remember("zebra closed", "closed")
    began = time.monotonic()
    for _ in range(3):
        sql(shared, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'perdure'")
        memory.remember("quagga", "closed", kind="episode")
        assert memory.recall("zebra", "closed", limit=1).id
    assert time.monotonic() - began < 5
    assert len(everything(memory, "closed")) == 4
    memory.close()


def test_a_lost_server_that_stays_away_is_unavailable(shared, monkeypatch):
    monkeypatch.setattr(faults, "PATIENCE", 1.0)
    line = Line(servers.server().port)
    memory = opened(line.through(shared))
    memory.remember("zebra", "away")
    line.close()
    began = time.monotonic()
    refused(StoreUnavailable, lambda: memory.remember("x", "away"), secret=password_of(shared), remedy="running")
    assert 1 <= time.monotonic() - began < 4
    began = time.monotonic()
    for _ in range(5):  # it has been waited for once: now the answer comes at once
        refused(StoreUnavailable, lambda: memory.recall("zebra", "away"), secret=password_of(shared), remedy="running")
    assert time.monotonic() - began < 1
    memory.close()
    refused(StoreClosed, lambda: memory.remember("x"), "closed", remedy="Open")


@pytest.mark.parametrize("how", ["database", "url"])
def test_a_read_only_server_answers_and_says_that_it_did_not_count(place, how):
    with opened(place) as memory:
        memory.remember("zebra")
        if how == "database":
            sql(place, f"ALTER DATABASE {database_of(place)} SET default_transaction_read_only = on")
    only = copy_with(place, query="options=-cdefault_transaction_read_only%3Don")
    memory = opened(place if how == "database" else only)
    found = memory.recall("zebra")
    assert found.hits
    assert "read-only" in found.note
    refused(StoreReadOnly, lambda: memory.remember("x"), secret=password_of(place), remedy="primary")
    assert memory.check() == []
    memory.close()


def test_a_server_that_becomes_read_only_says_so(place):
    memory = opened(place)
    kept = memory.remember("zebra")
    turned = f"ALTER DATABASE {database_of(place)} SET default_transaction_read_only ="
    away = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'perdure'"
    sql(place, f"{turned} on; {away}")
    refused(StoreReadOnly, lambda: memory.remember("x"), secret=password_of(place), remedy="primary")
    found = memory.recall("zebra")
    assert found.hits[0].memory.id == kept.id
    assert "read-only" in found.note
    servers.server().sql(f"{turned} off; {away}")
    memory.remember("x")
    assert memory.recall("zebra").id
    memory.close()


BROKEN = {
    "53100": (DiskFull, "Free"),
    "53200": (StoreBusy, "memory"),
    "57014": (StoreBusy, "Try again"),
    "40001": (StoreBusy, "Try again"),
    "40P01": (StoreBusy, "Try again"),
    "XX001": (StoreDamaged, "backup"),
    "42501": (StoreDenied, "grant what is missing"),
    "58030": (StoreError, "Report"),
}


@pytest.mark.parametrize("state", BROKEN)
def test_a_statement_that_fails_in_the_middle_leaves_nothing_behind(place, state):
    memory = opened(place)
    kept = memory.remember("zebra")
    sql(
        place,
        f"""CREATE FUNCTION broken() RETURNS trigger LANGUAGE plpgsql
        AS $$ BEGIN RAISE EXCEPTION 'broken on purpose' USING ERRCODE = '{state}'; END $$;
        CREATE TRIGGER broken BEFORE INSERT ON journal EXECUTE FUNCTION broken();""",
    )
    kind, remedy = BROKEN[state]
    for call in (lambda: memory.remember("okapi", tags=["t"], idempotency_key="k"), lambda: memory.pin(kept.id)):
        refused(kind, call, secret=password_of(place), remedy=remedy)
    assert [m.pinned for m in everything(memory)] == [False]
    is_full = state == "53100"
    assert (memory.unwritable, memory.readiness.store.writable) == (("full", False) if is_full else ("", True))
    sql(place, "DROP FUNCTION broken CASCADE")
    assert memory.remember("okapi", tags=["t"], idempotency_key="k").id
    assert (memory.unwritable, memory.readiness.store.writable) == ("", True)
    assert memory.check() == []
    memory.close()
