"""What storing memories costs, against a plain durable transaction of the same rows with the same pragmas and flushes.

Usage: python benchmarks/writing.py [--rows 1000 10000 100000] [--rounds 60] [--json]

Vectors are given, so no embedder takes part. The floor writes into a copy of the same file, through a bare connection
of apsw, what the store wrote: each table's new rows, by prepared statements, in one transaction. Its rows are at hand;
that is all that it saves. Processor time and wall time are medians of calls that take turns.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path
from typing import Any, Final

import apsw
import numpy as np

import made
from engine import opened
from made import Made
from perdure.stores.sqlite.connection import open_file
from report import Row, finished, parser, say

RATIO: Final = 3.0
RATES: Final = {10_000: 8000.0, 100_000: 5000.0}
BATCH: Final = 5000
TOGETHER: Final = 500  # as operations/remember.py
SEED: Final = 5
_DERIVED: Final = ("segment", "cell_map", "sqlite_sequence")

Written = list[tuple[str, list[tuple[Any, ...]]]]
"""(insert statement, rows) of each table."""


def _tables(connection: apsw.Connection) -> list[str]:
    """Return the tables that hold rows of their own: not what FTS5 keeps for itself, not what is derived."""
    found = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'table'")
    return [name for name, sql in found if not name.startswith(("words", "vocabulary", *_DERIVED)) and sql]


def _columns(connection: apsw.Connection, table: str) -> list[str]:
    return [c[1] for c in connection.execute(f'PRAGMA table_info("{table}")')]


def written(path: Path, before: Path) -> Written:
    """Return what a file holds that an earlier copy of it did not, with the words of the memories."""
    with closing(apsw.Connection(str(path))) as now:
        now.execute("ATTACH ? AS earlier", (str(before),))
        found: Written = []
        for table in _tables(now):
            if table == "namespace":
                continue
            names = ", ".join(_columns(now, table))
            both = f"SELECT {names} FROM main.{table} EXCEPT SELECT {names} FROM earlier.{table}"
            rows = now.execute(both).fetchall()
            if rows:
                marks = ", ".join("?" * len(rows[0]))
                found.append((f"INSERT INTO {table} ({names}) VALUES ({marks})", rows))
        fresh = "SELECT row, text FROM content WHERE row NOT IN (SELECT row FROM earlier.content)"
        texts = now.execute(fresh).fetchall()
        found.append(("INSERT INTO words (rowid, text, place) VALUES (?, ?, 'n')", texts))
        return found


def _copy(path: Path, target: Path) -> None:
    with (
        closing(apsw.Connection(str(path))) as source,
        closing(apsw.Connection(str(target))) as copied,
        copied.backup("main", source, "main") as going,
    ):
        going.step()


def _timed(calls: dict[str, Callable[[int], Any]], rounds: int) -> dict[str, tuple[float, float]]:
    """Return name -> (median processor time, median wall time) in seconds, of calls that take turns."""
    cpu: dict[str, list[float]] = {name: [] for name in calls}
    wall: dict[str, list[float]] = {name: [] for name in calls}
    for number in range(rounds):
        for name, call in calls.items():
            start, began = time.process_time(), time.perf_counter()
            call(number)
            cpu[name].append(time.process_time() - start)
            wall[name].append(time.perf_counter() - began)
    return {name: (statistics.median(cpu[name][2:]), statistics.median(wall[name][2:])) for name in calls}


def _told_again(data: Made, count: int) -> Iterator[str]:
    return (f"{text} (told once more, number {i})" for i, text in enumerate(islice(cycle(data.questions), count)))


def single(path: Path, data: Made, rounds: int) -> list[Row]:
    """Measure one durable remember, and the floor: its rows in a copy of the file."""
    vectors = list(data.vectors.values())
    texts = list(_told_again(data, rounds + 1))
    given = {text: vectors[i % len(vectors)] for i, text in enumerate(texts)}
    then, bare = path.with_suffix(".then"), path.with_suffix(".bare")
    _copy(path, then)
    with opened(path, replace(data, vectors=given)) as memory:
        for text in texts[:2]:
            memory.remember(text)
    _copy(path, bare)  # holds the rows already: so each round takes them out and puts them in again
    rows = [(sql, some[-1:]) for sql, some in written(path, then)]
    with opened(path, replace(data, vectors=given)) as memory, closing(open_file(str(bare))) as connection:
        shifted = [_shifted(rows, i + 1) for i in range(rounds)]

        def floor(number: int) -> None:
            _insert(connection, shifted[number])

        found = _timed({"floor": floor, "remember": lambda i: memory.remember(texts[i + 1])}, rounds)
    for file in (then, bare):
        made.discard(file)
    return _rows(f"remember, {data.rows:,} memories", found)


def _insert(connection: apsw.Connection, rows: Written) -> None:
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("UPDATE namespace SET version = version + 1 WHERE namespace = 'default'")
    for sql, some in rows:
        connection.executemany(sql, some)
    connection.execute("COMMIT")


def _shifted(rows: Written, by: int) -> Written:
    """Return the same rows under other ids and numbers, so that they can be stored beside the others."""

    def value(one: Any, name: str) -> Any:
        if name in ("row", "number", "rowid") or (name == "operation" and isinstance(one, int)):
            return one + 1000 * by
        if name in ("id", "op"):
            return bytes(16 - 4) + by.to_bytes(4, "big") if isinstance(one, bytes) else f"{one[:-8]}{by:08d}"
        return one

    shifted = []
    for sql, some in rows:
        names = sql.split("(")[1].split(")")[0].split(", ")
        shifted.append((sql, [tuple(map(value, row, names)) for row in some]))
    return shifted


def _rows(what: str, found: dict[str, tuple[float, float]]) -> list[Row]:
    floor = found["floor"]
    return [
        Row(
            f"{what}, {name}",
            1000 * found["remember"][place],
            "ms",
            1000 * RATIO * floor[place],
            1000 * floor[place],
            note="floor: its rows in one durable transaction",
        )
        for place, name in enumerate(("processor time", "wall time"))
    ]


def many(path: Path, data: Made, *, repeated: bool) -> list[Row]:
    """Measure remember_many with given vectors, and the floor: its rows in a copy of the file, 500 a transaction.

    Args:
        path: A copy of the made-up store.
        data: What is known about it.
        repeated: Whether 5,000 items share 120 vectors, so that each has five twins; else each has a vector of its own
            and one in ten is a twin of an earlier one.
    """
    texts = list(_told_again(data, BATCH))
    given = dict(zip(texts, _repeated(data) if repeated else _own(data), strict=True))
    then = path.with_suffix(".then")
    _copy(path, then)
    with opened(path, replace(data, vectors=given)) as memory:
        memory.recall(texts[0], limit=1, touch=False)
        start, began = time.process_time(), time.perf_counter()
        memory.remember_many([{"content": text, "tags": ["told"]} for text in texts])
        cpu, wall = time.process_time() - start, time.perf_counter() - began
    floor = _floor_of_many(path, then)
    what = f"remember_many, {data.rows:,} memories, {'each with five twins' if repeated else 'one in ten a twin'}"
    target = RATES.get(data.rows)
    return [
        Row(f"{what}, {name}", BATCH / spent, "rows/s", target, BATCH / least, at_least=True, note="floor: its rows")
        for name, spent, least in (("processor time", cpu, floor[0]), ("wall time", wall, floor[1]))
    ]


def _repeated(data: Made) -> list[bytes]:
    return list(islice(cycle(data.vectors.values()), BATCH))


def _own(data: Made) -> list[bytes]:
    """Return vectors each near a question's, as its texts are; one in ten is hardly moved from the one before it."""
    random = np.random.default_rng(SEED)
    near = np.array([np.frombuffer(vector, "<f4") for vector in _repeated(data)])
    near /= np.linalg.norm(near, axis=1, keepdims=True)
    away = random.standard_normal(near.shape).astype("<f4")
    away /= np.linalg.norm(away, axis=1, keepdims=True)
    moved = near + away
    moved[9::10] = moved[8::10] + away[9::10] / 10
    return [(one / np.linalg.norm(one)).astype("<f4").tobytes() for one in moved]


def _floor_of_many(path: Path, then: Path) -> tuple[float, float]:
    """Return what inserting a file's new rows into an earlier copy takes: seconds of processor and of wall time."""
    rows = written(path, then)
    try:
        with closing(open_file(str(then))) as connection:
            start, began = time.process_time(), time.perf_counter()
            for part in range(0, BATCH, TOGETHER):
                connection.execute("BEGIN IMMEDIATE")
                for sql, some in rows:
                    share = len(some) * TOGETHER // BATCH
                    first = part // TOGETHER * share
                    connection.executemany(sql, some[first : first + share if part + TOGETHER < BATCH else None])
                connection.execute("COMMIT")
            return time.process_time() - start, time.perf_counter() - began
    finally:
        made.discard(then)


def measure(rows: int, rounds: int) -> list[Row]:
    """Return everything at one size."""
    data = made.store(rows)
    say(f"{rows:,} memories")
    found = []
    for kind in ("single", "repeated", "own"):
        path = made.copied(data, f"writing-{os.getpid()}")
        try:
            found += single(path, data, rounds) if kind == "single" else many(path, data, repeated=kind == "repeated")
        finally:
            made.discard(path)
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    given = parser(__doc__)
    given.add_argument("--rows", nargs="+", type=int, default=[1000, 10_000, 100_000])
    given.add_argument("--rounds", type=int, default=60)
    options = given.parse_args(arguments)
    finished([row for rows in options.rows for row in measure(rows, options.rounds)], as_json=options.json)


if __name__ == "__main__":
    main()
