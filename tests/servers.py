"""Servers for tests: one local PostgreSQL for each test process, and a fresh migrated database for each test.

With PERDURE_TEST_DSN in the environment that server is used instead, and each test gets a schema of its own there.
Where that database has the extension citus, the tables of each test are distributed.
"""

from __future__ import annotations

import atexit
import itertools
import json
import os
import secrets
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import Any
from zlib import crc32

import numpy as np
import psycopg
from psycopg.rows import dict_row

from conftest import MEMORY, ROOMY
from perdure.compose import address_of, migrate
from perdure.stores.postgres import store as postgres_store
from perdure.stores.postgres.local import SUPERUSER, LocalServer, local_server
from perdure.stores.postgres.server import Address, Server

TEMPLATE = "perdure_template"
FAST = {"fsync": "off", "full_page_writes": "off", "synchronous_commit": "on", "autovacuum": "off"}
_numbers = itertools.count(1)


@contextmanager
def _in_memory() -> Iterator[None]:
    """Put temporary folders into memory where there is plenty: a database for each test is many files."""
    before = tempfile.tempdir
    if ROOMY:
        tempfile.tempdir = str(MEMORY)
    try:
        yield
    finally:
        tempfile.tempdir = before


@cache
def server() -> LocalServer:
    """The server of this process; it stops with it."""
    with _in_memory():
        started = local_server(**FAST, max_connections="100")
    started.start()
    _cheap_passwords(started)
    started.sql(f"CREATE DATABASE {TEMPLATE} OWNER perdure")
    migrate(started.dsn(TEMPLATE))
    return started


def _cheap_passwords(started: LocalServer) -> None:
    """Keep the passwords, hashed once instead of 4096 times: every test opens connections, and each hashes anew."""
    for role, password in started._passwords().items():
        started.sql(f"SET scram_iterations = 1; ALTER ROLE {role} PASSWORD '{password}'")


@cache
def _operator() -> psycopg.Connection[Any]:
    connection = psycopg.connect(server().dsn("postgres", SUPERUSER), autocommit=True)
    atexit.register(connection.close)
    return connection


@cache
def on_cluster() -> bool:
    """Whether the tests run on a cluster."""
    if not (given := os.environ.get("PERDURE_TEST_DSN")):
        return False
    with psycopg.connect(given) as connection:
        return connection.execute("SELECT 1 FROM pg_extension WHERE extname = 'citus'").fetchone() is not None


def fresh_database(*, migrated: bool = True) -> str:
    """Return the URL of an empty place for one store, with its tables unless they are the test's to make."""
    if given := os.environ.get("PERDURE_TEST_DSN"):
        schema = f"perdure_test_{secrets.token_hex(6)}"
        with psycopg.connect(given, autocommit=True) as connection:
            connection.execute(f'CREATE SCHEMA "{schema}"')
        url = with_parameter(given, f"options=-csearch_path%3D{schema},public")
        if migrated:
            migrate(url, distribute=on_cluster())
        return url
    name, template = f"test_{next(_numbers)}", TEMPLATE if migrated else "template1"
    _operator().execute(f"CREATE DATABASE {name} OWNER perdure TEMPLATE {template} STRATEGY file_copy")
    return server().dsn(name)


def copied(url: str, fill: Callable[[str], object]) -> None:
    """Give a database what a function fills a store with, which is called once; a server that is given, each time."""
    if os.environ.get("PERDURE_TEST_DSN") or url in SECOND:
        fill(url)
        return
    if (name := fill.__qualname__) not in _FILLED:
        _FILLED[name] = fresh_database()
        fill(_FILLED[name])
    _operator().execute(f"DROP DATABASE {_name(url)} WITH (FORCE)")
    _operator().execute(
        f"CREATE DATABASE {_name(url)} OWNER perdure TEMPLATE {_name(_FILLED[name])} STRATEGY file_copy"
    )


_FILLED: dict[str, str] = {}
"""Name of what fills a store -> the URL of a database that was filled so; it stays until the server stops."""


def drop_database(url: str) -> None:
    """Drop what fresh_database or fresh_spread made."""
    if url in SECOND:
        drop_database(SECOND.pop(url))
    if given := os.environ.get("PERDURE_TEST_DSN"):
        schema = url.rsplit("search_path%3D", 1)[1].split(",", maxsplit=1)[0]
        with psycopg.connect(given, autocommit=True) as connection:
            for last in (False, False, True):
                try:
                    connection.execute(f'DROP SCHEMA IF EXISTS "{schema}" CASCADE')
                except psycopg.errors.DeadlockDetected:  # with another process that makes or drops one
                    if last:
                        raise
        return
    _operator().execute(f"DROP DATABASE IF EXISTS {_name(url)} WITH (FORCE)")


def with_prefix(url: str, prefix: str) -> str:
    """Return the URL of a part of a database that sees only its own namespaces."""
    return with_parameter(url, f"namespace_prefix={prefix}")


def with_parameter(url: str, parameter: str) -> str:
    """Return a URL with one parameter more; that of a given server has some already."""
    return f"{url}{'&' if '?' in url else '?'}{parameter}"


def analyze(url: str) -> None:
    """Gather statistics for the planner, as autovacuum does on a server that is left running."""
    with reader(url) as connection:
        connection.execute("ANALYZE")


# --- a cluster in small


class TwoServers(Server):
    """Connections to two servers: a namespace lives on one of them, a fan-out asks both."""

    def __init__(self, addresses: list[Address]) -> None:
        super().__init__(addresses[0])  # opens no connection by itself
        self.each = [Server(a) for a in addresses]
        self.asked: set[str] = set()

    @property
    def unreachable(self):
        return ()

    def home(self, namespace: str) -> Server:
        self.asked.add(namespace)
        return self.each[crc32((self.address.prefix + namespace).encode()) % 2]

    def read(self, namespace, work, *, once=False):
        return self.home(namespace).read(namespace, work, once=once)

    def write(self, namespace, work, *, flush=True):
        return self.home(namespace).write(namespace, work, flush=flush)

    def everywhere(self, work, *, limited=True, once=False):  # noqa: ARG002  # the server's
        return [row for server in self.each for row in server.everywhere(work, once=once)]

    def admin(self, work, *, reading=False):  # tables of no namespace are the same on every server
        answers = [server.admin(work, reading=reading) for server in self.each]
        return answers[0]

    def close(self) -> None:
        for server in self.each:
            server.close()


SECOND: dict[str, str] = {}
"""A URL -> that of the other server, for stores that are spread over two."""


def fresh_spread() -> str:
    """Return the URL of a place whose namespaces lie on two servers, each on one of them."""
    first = fresh_database()
    SECOND[first] = fresh_database()
    return first


def _connected(address: Address) -> Server:
    for first, second in SECOND.items():
        if address_of(first).dsn == address.dsn:
            other = replace(address, dsn=address_of(second).dsn)
            return TwoServers([address, other])
    return Server(address)


postgres_store.Server = _connected  # type: ignore[misc, assignment]  # every store that a test opens asks here


# --- looking past the store: every row, whatever row-level security says


def reader(url: str) -> psycopg.Connection[Any]:
    """Return a connection that sees every row of a database; elsewhere than here in one transaction, and read-only."""
    if os.environ.get("PERDURE_TEST_DSN"):
        connection = psycopg.connect(address_of(url).dsn)
        connection.execute("SET LOCAL citus.propagate_set_commands = 'local'")  # workers take nothing else
        connection.execute("SET LOCAL perdure.reach = 'fan-out'; SET LOCAL perdure.prefix = ''")
        return connection
    return psycopg.connect(server().dsn(_name(url), SUPERUSER), autocommit=True)


def rows(url: str, table: str) -> list[dict[str, Any]]:
    """Return every row of a table as column -> value, in the order of its first three columns."""
    if url in SECOND:
        return sorted(_rows(url, table) + _rows(SECOND[url], table), key=lambda row: list(map(str, row.values()))[:3])
    return _rows(url, table)


def _rows(url: str, table: str) -> list[dict[str, Any]]:
    with reader(url) as connection:
        found = connection.cursor(row_factory=dict_row).execute(f"SELECT * FROM {table} ORDER BY 1, 2, 3")
        return found.fetchall()


def tables(url: str) -> dict[str, list[tuple[Any, ...]]]:
    """Return every row of every table, of both servers where there are two."""
    if url in SECOND:
        one, two = _tables(url), _tables(SECOND[url])
        return {t: one[t] if t in {"meta", "space"} else sorted(one[t] + two[t], key=repr) for t in one}
    return _tables(url)


def _tables(url: str) -> dict[str, list[tuple[Any, ...]]]:
    with reader(url) as connection:
        names = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = current_schema() ORDER BY 1")
        return {
            name: sorted(connection.execute(f'SELECT * FROM "{name}"').fetchall(), key=repr)
            for (name,) in names.fetchall()
        }


UNSEEN = {"row", "changed", "held", "short_id"}
LOGICAL = {
    "content": "SELECT namespace, id, text, tags, source, task, metadata, digest, shown, packed FROM content",
    "document": "SELECT namespace, shelf, id, name, data FROM document",
    "vector": "SELECT v.namespace, v.space, m.id, v.data"
    " FROM embedding AS v LEFT JOIN memory AS m USING (namespace, row)",
    "link": "SELECT namespace, id, kind, other, weight FROM link",
    "tag": "SELECT t.namespace, t.tag, m.id FROM tag AS t LEFT JOIN memory AS m USING (namespace, row)",
    "access": "SELECT namespace, id, at_ms, times FROM access",
    "idempotency": "SELECT namespace, key, id FROM idempotency",
    "words": "SELECT p.term, m.id, (e.entry >> 24) & 65535"
    " FROM posting AS p CROSS JOIN LATERAL unnest(p.entries) AS e(entry)"
    " LEFT JOIN memory AS m ON m.namespace = p.namespace AND m.row = p.first + (e.entry >> 40)",
}


def logical(url: str) -> dict[str, list[tuple[Any, ...]]]:
    """What a store means, in the form that a file's has: no row numbers, no versions, no journal."""
    if url in SECOND:
        one, two = _logical(url), _logical(SECOND[url])
        return {name: sorted(one[name] + two[name], key=repr) for name in one}
    return _logical(url)


def _logical(url: str) -> dict[str, list[tuple[Any, ...]]]:
    with reader(url) as connection:
        columns = [c.name for c in connection.execute("SELECT * FROM memory LIMIT 0").description or ()]
        chosen = ", ".join(c for c in columns if c not in UNSEEN)
        queries = {"memory": f"SELECT {chosen} FROM memory", **LOGICAL}
        found = {name: connection.execute(sql).fetchall() for name, sql in queries.items()}
    found["content"] = [(*r[:3], _json(list(r[3])), *r[4:6], _json(r[6]), *r[7:]) for r in found["content"]]
    found["vector"] = [
        (*r[:3], np.array(r[3][1:-1].split(","), np.float32).astype(np.int8).tobytes()) for r in found["vector"]
    ]
    plain = {
        name: [tuple(int(v) if isinstance(v, bool) else v for v in r) for r in rows] for name, rows in found.items()
    }
    return {name: sorted(rows, key=repr) for name, rows in plain.items()}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _name(url: str) -> str:
    return url.rsplit("/", 1)[1].split("?", maxsplit=1)[0]
