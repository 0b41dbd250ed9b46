"""The index for approximate search that a large namespace has of its own."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import Final

import psycopg
from psycopg import sql

from perdure.stores.postgres.connections import Connection
from perdure.stores.postgres.faults import translate_error
from perdure.stores.postgres.searching import SearchStatistics
from perdure.stores.postgres.server import Address, Server, connect
from perdure.stores.statements import registry

_MOST_KB: Final = 1_000_000
_GRAPH: Final = 700  # bytes of a vector's neighbours in memory while an index is built


def build_index(address: Address, server: Server, namespace: str, above: int) -> Mapping[str, int]:
    """Build the index of a namespace that has grown large; writers go on meanwhile.

    Outside of any transaction, and from ``above`` vectors on.

    Returns:
        ``vectors`` of the namespace, and ``indexed``: 1 if it is searched by the index from now on.
    """
    statistics = server.read(namespace, lambda s: SearchStatistics.of(s.rows("search_statistics")))
    if statistics.space is None or statistics.vectors < above:
        return {"vectors": statistics.vectors, "indexed": 0}
    place = address.prefix + namespace
    digest = blake2b(f"{place}\x00{statistics.space}".encode(), digest_size=8).hexdigest()
    name = f"embedding_near_{digest}"
    slots = {
        "index": sql.Identifier(name),
        "dimensions": sql.Literal(int(statistics.dimensions)),
        "place": sql.Literal(place),
        "space": sql.Literal(int(statistics.space)),
    }
    with connect(address) as connection:
        try:
            if connection.execute(_text("near_index_valid"), {"index": name}).fetchone() == (False,):
                connection.execute(_text("drop_near_index", **slots))
            _give_memory(connection, statistics)
            connection.execute(_text("create_near_index", **slots))
            connection.execute("RESET maintenance_work_mem")  # a pooler may give the connection to others
        except psycopg.Error as error:
            raise translate_error(error) from error
    server.write(namespace, lambda s, _: s.run("set_approximate", space=statistics.space).rowcount)
    return {"vectors": statistics.vectors, "indexed": 1}


def _give_memory(connection: Connection, statistics: SearchStatistics) -> None:
    """Let a build keep its whole graph in memory, within bounds: one that does not fit takes many times as long."""
    needed = min(_MOST_KB, statistics.vectors * (2 * statistics.dimensions + _GRAPH) // 1000)
    row = connection.execute("SELECT pg_size_bytes(current_setting('maintenance_work_mem')) / 1000").fetchone()
    if row is not None and needed > int(row[0]):
        connection.execute(sql.SQL("SET maintenance_work_mem = {}").format(sql.Literal(f"{needed}kB")))


def _text(name: str, **slots: sql.Composable) -> sql.Composed:
    text = registry("postgres")[name].sql.replace(":index", "%(index)s")
    return sql.SQL(text).format(**slots)
