"""What looking for damage in a file costs, beside reading every row and beside SQLite's own check, in one run.

Usage: python benchmarks/checking.py [--rows 10000]
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from time import process_time
from typing import Any

import apsw

import made
import perdure
from report import Row, finished, parser

ROUNDS = 4
MOST = 3  # times the reading: what is asked of a full check


def seconds(work: Callable[[], Any]) -> float:
    """Return the processor's time of some work, the least of a few rounds."""
    times = []
    for _ in range(ROUNDS):
        start = process_time()
        work()
        times.append(process_time() - start)
    return min(times)


def read_rows(path: Path) -> None:
    """Read every row of every table, and do nothing with it."""
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as file:
        tables = file.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"
        ).fetchall()
        for (name,) in tables:
            if not str(name).startswith(("words_", "sqlite_")):
                for _ in file.execute(f"SELECT * FROM {name}"):
                    pass


def own_check(path: Path) -> None:
    """Run SQLite's own check."""
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as file:
        file.execute("PRAGMA integrity_check").fetchall()


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--rows", type=int, default=10_000)
    given = arguments.parse_args()
    store = made.store(given.rows)
    path = made.copied(store, "checking")
    reading, own = seconds(lambda: read_rows(path)), seconds(lambda: own_check(path))
    with warnings.catch_warnings(), perdure.open(path, policy={"embedder": {"model": "none"}}) as memory:
        warnings.simplefilter("ignore")
        if memory.check(full=True):
            raise SystemExit("the made-up store is damaged")
        sampled, full = seconds(memory.check), seconds(lambda: memory.check(full=True))
    made.discard(path)
    size = f"{given.rows} memories"
    rows = [
        Row("reading every row", reading * 1e3, "ms", note=size),
        Row("SQLite's own check", own * 1e3, "ms", note=size),
        Row("check", sampled * 1e3, "ms", floor=reading * 1e3, note=size),
        Row("check --full, against reading", full * 1e3, "ms", MOST * reading * 1e3, floor=reading * 1e3, note=size),
        Row(
            "check --full, against reading and SQLite's own check",
            full * 1e3,
            "ms",
            floor=(reading + own) * 1e3,
            note=size,
        ),
    ]
    finished(rows, as_json=given.json)


if __name__ == "__main__":
    main()
