"""Removing what deleted rows leave on a server, and saying what no store can reach: replicas and archives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import psycopg
from psycopg import sql

from perdure.records.erasure import Purged
from perdure.stores.erasing import passages, places, rows_with
from perdure.stores.postgres.server import Address, PostgresSession, Server, connect
from perdure.stores.statements import registry

_TABLES: Final = ("memory", "content", "journal", "document", "recall_log", "operation", "embedding", "idempotency")


def purge(address: Address, server: Server, texts: Sequence[str]) -> Purged:
    """Vacuum the tables, search them for passages, and name replicas and archives, which keep what they have."""
    notes = ["Pages of the server's disk and its log of writes keep dead rows until the server reuses them."]
    notes += vacuum(address) + _copies(address)
    wanted = passages(texts)

    def rows(session: PostgresSession) -> dict[str, list[str]]:
        return rows_with(session.rows, wanted)

    found = {
        passage: some
        for part in server.everywhere(lambda s: [rows(s)], limited=False)
        for passage, some in part.items()
    }
    notes += [f"The node {node} of the cluster cannot be reached; it was not searched." for node in server.unreachable]
    return Purged(len(wanted), places(found), tuple(notes))


def vacuum(address: Address) -> list[str]:
    """Vacuum the tables outside of any transaction; return what could not be."""
    notes = []
    with connect(address) as connection:
        for table in _TABLES:
            try:
                connection.execute(sql.SQL("VACUUM {}").format(sql.Identifier(table)))
            except psycopg.Error as error:
                notes.append(f"The table {table} could not be vacuumed: {str(error).strip()}")
    return notes


def _copies(address: Address) -> list[str]:
    """Return what else holds the rows, and is out of reach."""
    notes = []
    with connect(address) as connection:
        replicas, archived = connection.execute(registry("postgres")["copies_of_server"].sql).fetchone() or (0, "off")
    if replicas:
        notes.append(f"{replicas} replicas of the server follow with their own delay; check them.")
    if archived != "off":
        notes.append("The server archives its log of writes: backups made from it hold what was erased.")
    return notes
