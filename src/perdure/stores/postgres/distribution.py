"""The tables on one server and over a Citus cluster: what row-level security says in each, and which table lies where.

On a cluster every table lies by its namespace, all of them together, so that a transaction of one namespace runs on one
worker; what is read beside them lies whole on every node, and tokens with the coordinator alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any, Final

import psycopg

from perdure.records.errors import StoreError
from perdure.stores.statements import migrations, registry

Say = Callable[[str], None]

_PLACE, _PREFIX, _REACH = (f"current_setting('perdure.{name}', true)" for name in ("namespace", "prefix", "reach"))

ON_SERVER: Final = {
    "{own}": f"namespace = (SELECT {_PLACE} WHERE starts_with({_PLACE}, {_PREFIX}))",
    "{reached}": f"(SELECT {_REACH}) = 'fan-out' AND starts_with(namespace, (SELECT {_PREFIX}))",
}
"""What policies say on one server: a sub-select is evaluated once for each statement, not for each row."""

ON_CLUSTER: Final = {
    "{own}": f"namespace = {_PLACE} AND starts_with({_PLACE}, {_PREFIX})",
    "{reached}": f"{_REACH} = 'fan-out' AND starts_with(namespace, {_PREFIX})",
}
"""The same without sub-selects, which Citus refuses in policies."""

_WITH_COORDINATOR: Final = {"token", "login"}
"""Tables that no node is asked for: who may come in does not depend on whether all nodes answer."""

_COMMENT: Final = re.compile(r"--[^\n]*")
_TABLE: Final = re.compile(r"CREATE TABLE (\w+) \(\s*(\w+)")
_POLICY: Final = re.compile(r"CREATE (POLICY \w+ ON (\w+))( FOR \w+)?")


def migration_steps(text: str, *, distributed: bool) -> list[str]:
    """Return the single statements of a migration, with the policies' conditions filled in."""
    for slot, condition in (ON_CLUSTER if distributed else ON_SERVER).items():
        text = text.replace(slot, condition)
    return [step for part in _COMMENT.sub("", text).split(";") if (step := part.strip())]


@cache
def tables() -> dict[str, bool]:
    """Return every table of the schema, in the order in which they were made -> whether it belongs to namespaces."""
    created = [found for _, text in migrations("postgres") for found in _TABLE.findall(text)]
    return {"meta": False} | {table: column == "namespace" for table, column in created}


@cache
def limit_to_living(text: str) -> str:
    """Return a fan-out that reads the namespaces of the list ``:living`` only, so that no other node is asked."""
    spread = "|".join(table for table, by_namespace in tables().items() if by_namespace)
    subselect = registry("postgres")["living_memories"].sql.rstrip(";")

    def narrow(found: re.Match[str]) -> str:
        return f"{found[1]} ({subselect.replace('memory', found[2])}) AS {found[3] or found[2]}"

    return re.sub(rf"\b(FROM|JOIN) ({spread})\b(?: AS (\w+))?", narrow, text)


def is_distributed(connection: psycopg.Connection[Any]) -> bool:
    """Whether the tables of this schema lie over a cluster."""
    return _has_citus(connection) and "meta" in _distributed_tables(connection)


def distribute(connection: psycopg.Connection[Any], say: Say) -> None:
    """Spread the tables that are not yet spread over the cluster; all of them or none, in the open transaction."""
    if not _has_citus(connection):
        raise StoreError(
            "The extension citus is not installed in this database, so tables cannot be distributed.",
            remedy="Run `CREATE EXTENSION citus` on the coordinator and its workers, or leave --distribute out.",
        )
    distributed = _distributed_tables(connection)
    for table, spread in tables().items():
        if table in _WITH_COORDINATOR:
            if table in distributed:  # earlier versions kept them on every node
                connection.execute(_text("gather_table"), {"table": table})
                say(f"{table}: with the coordinator")
        elif table not in distributed:
            _distribute(connection, table, spread=spread)
            say(f"{table}: {'by namespace' if spread else 'on every node'}")


def _distribute(connection: psycopg.Connection[Any], table: str, *, spread: bool) -> None:
    if not spread:
        connection.execute(_text("copy_table_to_nodes"), {"table": table})
        return
    for change in _policies(table):
        connection.execute(change)
    # The rows that are there are copied by COPY, which PostgreSQL refuses where row-level security holds the owner.
    connection.execute(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY")
    beside = "none" if table == "namespace" else "namespace"
    connection.execute(_text("spread_table"), {"table": table, "beside": beside})
    connection.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")


def _policies(table: str) -> list[str]:
    steps = [step for _, text in migrations("postgres") for step in migration_steps(text, distributed=True)]
    policies = [(found, step) for step in steps if (found := _POLICY.match(step)) and found[2] == table]
    return [f"ALTER {found[1]}{step[found.end() :]}" for found, step in policies]


def _has_citus(connection: psycopg.Connection[Any]) -> bool:
    return connection.execute(_text("has_citus")).fetchone() == (True,)


def _distributed_tables(connection: psycopg.Connection[Any]) -> set[str]:
    return {str(table) for (table,) in connection.execute(_text("distributed_tables")).fetchall()}


def _text(name: str) -> str:
    """Return a statement of the registry as the driver takes it."""
    return re.sub(r":(table|beside)\b", r"%(\1)s", registry("postgres")[name].sql)
