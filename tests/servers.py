"""Servers for tests: one local PostgreSQL for each test process, and a fresh migrated database for each test.

With PERDURE_TEST_DSN in the environment that server is used instead, and each test gets a schema of its own there.
"""

from __future__ import annotations

import atexit
import itertools
import json
import os
import secrets
from functools import cache
from typing import Any

import numpy as np
import psycopg
from psycopg.rows import dict_row

from perdure.compose import address_of, migrate
from perdure.stores.postgres.local import SUPERUSER, LocalServer, local_server

TEMPLATE = "perdure_template"
FAST = {"fsync": "off", "full_page_writes": "off", "synchronous_commit": "on", "autovacuum": "off"}
_numbers = itertools.count(1)


@cache
def server() -> LocalServer:
    """The server of this process; it stops with it."""
    started = local_server(**FAST, max_connections="100")
    started.start()
    started.sql(f"CREATE DATABASE {TEMPLATE} OWNER perdure")
    migrate(started.dsn(TEMPLATE))
    return started


@cache
def _operator() -> psycopg.Connection[Any]:
    connection = psycopg.connect(server().superuser_dsn, autocommit=True)
    atexit.register(connection.close)
    return connection


def fresh_database() -> str:
    """Return the URL of an empty, migrated place for one store."""
    if given := os.environ.get("PERDURE_TEST_DSN"):
        schema = f"perdure_test_{secrets.token_hex(6)}"
        with psycopg.connect(given, autocommit=True) as connection:
            connection.execute(f'CREATE SCHEMA "{schema}"')
        url = f"{given}{'&' if '?' in given else '?'}options=-csearch_path%3D{schema},public"
        migrate(url)
        return url
    name = f"test_{next(_numbers)}"
    _operator().execute(f"CREATE DATABASE {name} OWNER perdure TEMPLATE {TEMPLATE} STRATEGY file_copy")
    return server().dsn(name)


def drop_database(url: str) -> None:
    """Drop what fresh_database made."""
    if given := os.environ.get("PERDURE_TEST_DSN"):
        schema = url.rsplit("search_path%3D", 1)[1].split(",", maxsplit=1)[0]
        with psycopg.connect(given, autocommit=True) as connection:
            connection.execute(f'DROP SCHEMA "{schema}" CASCADE')
        return
    _operator().execute(f"DROP DATABASE IF EXISTS {_name(url)} WITH (FORCE)")


def with_prefix(url: str, prefix: str) -> str:
    """Return the URL of a part of a database that sees only its own namespaces."""
    return f"{url}{'&' if '?' in url else '?'}namespace_prefix={prefix}"


def analyze(url: str) -> None:
    """Gather statistics for the planner, as autovacuum does on a server that is left running."""
    with reader(url) as connection:
        connection.execute("ANALYZE")


# --- looking past the store: every row, whatever row-level security says


def reader(url: str) -> psycopg.Connection[Any]:
    """Return a connection that sees every row of a database."""
    if os.environ.get("PERDURE_TEST_DSN"):
        connection = psycopg.connect(address_of(url).dsn, autocommit=True)
        connection.execute("SET perdure.reach = 'fan-out'; SET perdure.prefix = ''")
        return connection
    return psycopg.connect(server().dsn(_name(url), SUPERUSER), autocommit=True)


def rows(url: str, table: str) -> list[dict[str, Any]]:
    """Return every row of a table as column -> value, in the order of its first three columns."""
    with reader(url) as connection:
        found = connection.cursor(row_factory=dict_row).execute(f"SELECT * FROM {table} ORDER BY 1, 2, 3")
        return found.fetchall()


def tables(url: str) -> dict[str, list[tuple[Any, ...]]]:
    """Return every row of every table."""
    with reader(url) as connection:
        names = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = current_schema() ORDER BY 1")
        return {
            name: sorted(connection.execute(f'SELECT * FROM "{name}"').fetchall(), key=repr)
            for (name,) in names.fetchall()
        }


UNSEEN = {"row", "changed", "held"}
LOGICAL = {
    "content": "SELECT namespace, id, text, tags, source, task, metadata, digest FROM content",
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
    with reader(url) as connection:
        columns = [c.name for c in connection.execute("SELECT * FROM memory LIMIT 0").description or ()]
        chosen = ", ".join(c for c in columns if c not in UNSEEN)
        queries = {"memory": f"SELECT {chosen} FROM memory", **LOGICAL}
        found = {name: connection.execute(sql).fetchall() for name, sql in queries.items()}
    found["content"] = [(*r[:3], _json(list(r[3])), *r[4:6], _json(r[6]), r[7]) for r in found["content"]]
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
