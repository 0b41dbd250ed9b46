"""What server.py measures on: a PostgreSQL server of our own, and made-up stores that it holds beside a file each."""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg

import made
from made import SPACE, identity
from perdure.compose import migrate
from perdure.stores.postgres.local import local_server
from perdure.stores.postgres.server import Address
from perdure.stores.postgres.session import PostgresSession
from perdure.stores.postgres.store import PostgresStore
from perdure.stores.sqlite.store import SqliteStore
from report import say

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from perdure.records.plan import Plan
    from perdure.stores.postgres.local import LocalServer

COPIED = ("memory", "content", "embedding", "journal")


@dataclass(frozen=True)
class Both:
    """The same memories as a file and as a database of the server.

    Attributes:
        name: Of the database.
        path: The file.
        url: The database.
        batches: (memories, seconds of the file, seconds of the server) for each plan that was applied.
        due: When the memories fall due, in order.
    """

    name: str
    path: Path
    url: str
    batches: list[tuple[int, float, float]]
    due: list[int]

    @property
    def rows(self) -> int:
        """How many memories there are."""
        return sum(rows for rows, *_ in self.batches)

    def rates(self, first: int, last: int) -> tuple[float, float]:
        """Return memories a second of some batches: the file's and the server's."""
        rows, *seconds = (sum(column) for column in zip(*self.batches[first:last], strict=True))
        return rows / seconds[0], rows / seconds[1]

    def stores(self) -> tuple[closing[SqliteStore], closing[PostgresStore]]:
        """Open both."""
        return closing(SqliteStore(str(self.path))), closing(PostgresStore(Address.of(self.url)))


class Bench:
    """A server in a temporary folder, flushing to disk as a real one does."""

    def __init__(self, server: LocalServer, folder: Path) -> None:
        self.server, self.folder = server, folder

    def superuser(self, database: str) -> psycopg.Connection[Any]:
        """Connect as the one who is not held to row-level security."""
        return psycopg.connect(self.server.dsn(database, "postgres"), autocommit=True)

    def built(self, name: str, plans: Iterable[Plan]) -> Both:
        """Apply plans to a new file and to a new database, in turns."""
        say(f"  building {name}")
        self.server.sql(f"CREATE DATABASE {name} OWNER perdure")
        both = Both(name, self.folder / f"{name}.db", self.server.dsn(name), [], [])
        migrate(both.url)
        file, server = both.stores()
        with file as one, server as other:
            for store in (one, other):
                store.add_space(SPACE, activate=True)
            for plan in plans:
                start = time.perf_counter()
                one.apply(plan)
                between = time.perf_counter()
                other.apply(plan)
                both.batches.append((len(plan.changes), between - start, time.perf_counter() - between))
                both.due.extend(c.after["due_ms"] for c in plan.changes if c.after and c.after["due_ms"])
        both.due.sort()
        self.settle(name)
        return both

    def settle(self, database: str) -> None:
        """Bring statistics up to date, and have written what the server would write at a moment of its choice."""
        self.server.sql("VACUUM ANALYZE", database)
        self.server.sql("CHECKPOINT")

    def copied(self, both: Both, name: str) -> Both:
        """Return a copy of both; nobody may be connected to what is copied."""
        self.server.sql(f"CREATE DATABASE {name} OWNER perdure TEMPLATE {both.name} STRATEGY file_copy")
        path = self.folder / f"{name}.db"
        shutil.copyfile(both.path, path)
        return replace(both, name=name, path=path, url=self.server.dsn(name))

    def drop(self, *all_of: Both) -> None:
        """Remove some stores."""
        for both in all_of:
            self.server.sql(f"DROP DATABASE {both.name}")
            made.discard(both.path)


@contextmanager
def bench() -> Iterator[Bench]:
    """Run a server for the length of a block."""
    server = local_server(shared_buffers="256MB")
    with server, tempfile.TemporaryDirectory() as folder:
        yield Bench(server, Path(folder))


def spread(namespaces: int, each: int) -> Iterator[Plan]:
    """Yield plans that fill many namespaces with so many memories each: made-up data cut into pieces."""
    changes = chain.from_iterable(plan.changes for plan in made.plans(namespaces * each))
    template = next(made.plans(made.BATCH))
    for number in range(namespaces):
        name = identity(number, 0xFFFA)
        part = tuple(replace(c, after={**(c.after or {}), "op": name}) for c in islice(changes, each))
        yield replace(template, id=name, namespace=f"ns-{number:04}", changes=part)


def singles(count: int) -> list[Plan]:
    """Return plans that store one memory each."""
    some = []
    for number, plan in enumerate(made.plans(count, "small")):
        for position, change in enumerate(plan.changes):
            at = number * made.BATCH + position
            after = {**(change.after or {}), "op": identity(at, 0xFFFC), "session": None, "turn": None}
            single = replace(change, id=identity(at, 0xFFFB), after=after)
            some.append(replace(plan, id=identity(at, 0xFFFC), namespace="default", changes=(single,)))
    return some[:count]


def copy_rate(bench: Bench, both: Both, batches: int) -> float:
    """Return memories a second of COPY into tables without row-level security, one transaction for each batch."""
    with bench.superuser(both.name) as connection:
        for table in COPIED:
            connection.execute(f"CREATE TABLE raw_{table} (LIKE {table} INCLUDING ALL)")
        data = [_copied_out(connection, number * made.BATCH) for number in range(batches)]
        start = time.perf_counter()
        for batch in data:
            with connection.transaction():
                for table, content in zip(COPIED, batch, strict=True):
                    with connection.cursor().copy(f"COPY raw_{table} FROM STDIN (FORMAT binary)") as copy:
                        copy.write(content)
        spent = time.perf_counter() - start
        for table in COPIED:
            connection.execute(f"DROP TABLE raw_{table}")
    return batches * made.BATCH / spent


def _copied_out(connection: psycopg.Connection[Any], first: int) -> list[bytes]:
    rows = f"row BETWEEN {first + 1} AND {first + made.BATCH}"
    where = {"journal": f"operation = '{identity(first, 0xFFFF)}'"}
    found = []
    for table in COPIED:
        query = f"SELECT * FROM {table} WHERE namespace = 'default' AND {where.get(table, rows)}"
        with connection.cursor().copy(f"COPY ({query}) TO STDOUT (FORMAT binary)") as copy:
            found.append(b"".join(bytes(part) for part in copy))
    return found


def statement_times(call: Callable[[int], Any], rounds: int) -> tuple[float, dict[str, float]]:
    """Return the median of a call, and of each named statement's time in it, both in ms.

    Statements that go out without waiting for each other are waited for here, so that each has its own time.
    """
    spent: dict[str, float] = {}

    def timed(run: Callable[..., Any]) -> Callable[..., Any]:
        def around(session: PostgresSession, name: str, /, *given: Any, **bindings: Any) -> Any:
            start = time.perf_counter()
            found = run(session, name, *given, **bindings)
            session.settle()
            spent[name] = spent.get(name, 0.0) + time.perf_counter() - start
            return found

        return around

    before = PostgresSession.run, PostgresSession.run_with
    PostgresSession.run, PostgresSession.run_with = timed(PostgresSession.run), timed(PostgresSession.run_with)
    times: dict[str, list[float]] = defaultdict(list)
    whole = []
    try:
        for number in range(rounds):
            spent.clear()
            start = time.perf_counter()
            call(number)
            whole.append((time.perf_counter() - start) * 1e3)
            for name, seconds in spent.items():
                times[name].append(seconds * 1e3)
    finally:
        PostgresSession.run, PostgresSession.run_with = before
    return statistics.median(whole), {name: sum(values) / rounds for name, values in times.items()}


WORKER = """
import json, sys, perdure
from perdure.records.instant import from_instant
place, at, owner = sys.argv[1], int(sys.argv[2]), sys.argv[3]
with perdure.open(place, policy={}, clock=lambda: from_instant(at), embedder="none") as memory:
    memory.namespaces()
    print("ready", flush=True)
    sys.stdin.readline()
    done = memory.maintain(owner)
    print(json.dumps([done.swept, done.kept, done.lost, done.examined, done.moves, len(done.failed)]), flush=True)
"""


def maintained(place: str, at: int, workers: int) -> tuple[float, list[list[int]]]:
    """Let workers, each a process of its own, maintain a store; return seconds and what each of them did."""
    started = []
    for number in range(workers):
        command = [sys.executable, "-c", WORKER, place, str(at), f"worker-{number + 1}"]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        process.stdout.readline()
        started.append(process)
    start = time.perf_counter()
    for process in started:
        process.stdin.write("\n")
        process.stdin.flush()
    done = [json.loads(process.stdout.readline()) for process in started]
    spent = time.perf_counter() - start
    for process in started:
        process.communicate()
    say(f"  swept, kept, lost, examined, moved, failed of each worker: {done}")
    return spent, done
