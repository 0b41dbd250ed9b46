"""How the time of each reading verb grows with the store: CPU at several sizes, and the exponent between the ends.

    python benchmarks/exponents.py [--rows 1000 10000 100000] [--only NAME ...]

An exponent of 0 is flat, 1 is in proportion. The stores are made up (benchmarks/made.py); a tenth of the memories has a
fact of its own, so that ``facts`` and ``entities`` have as much to list. The best of three calls counts.
"""

from __future__ import annotations

import math
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import made
import perdure
from engine import opened
from perdure.records.instant import from_instant
from report import parser

if TYPE_CHECKING:
    from collections.abc import Callable

    from made import Made

TURNS = 3
NOW = from_instant(made.NOW_MS)
_BATCH = 500


def verbs(memory: perdure.Memory, data: Made) -> dict[str, Callable[[], Any]]:
    """Return the verbs that are measured, by name."""
    asked, one = data.questions[0], made.identity(7)
    half = from_instant(made.NOW_MS - made.WINDOW_MS // 2)
    return {
        "recall": lambda: memory.recall(asked, limit=10, touch=False),
        "recall as of": lambda: memory.recall(asked, limit=10, touch=False, as_of=half),
        "recall, counted": lambda: memory.recall(asked, limit=10),
        "sweep after that": memory.sweep,
        "get": partial(memory.get, one),
        "list": partial(memory.list, limit=50),
        "why": partial(memory.why, one),
        "history": partial(memory.history, limit=50),
        "facts": partial(memory.facts, limit=50),
        "entities": partial(memory.entities, limit=50),
        "stats": memory.stats,
        "alerts": memory.alerts,
        "digest": memory.digest,
        "forecast": partial(memory.forecast, 30),
        "decay, dry run": memory.decay,
        "namespaces": memory.namespaces,
        "review": memory.review,
    }


def learn(memory: perdure.Memory, rows: int) -> None:
    """Learn a fact for each tenth memory, a hundred about each of some people."""
    for start in range(0, rows // 10, _BATCH):
        claims = [
            {"subject": f"Person {n // 100}", "predicate": f"likes thing {n % 100}", "value": f"thing {n}"}
            for n in range(start, min(start + _BATCH, rows // 10))
        ]
        memory.learn(claims=claims)


def measured(rows: int, only: list[str]) -> dict[str, float]:
    """Return verb -> CPU seconds at one size."""
    data = made.store(rows)
    path = made.copied(data, "exponents")
    found: dict[str, float] = {}
    try:
        with perdure.open(path, policy={"embedder": {"model": "none"}}, clock=lambda: NOW) as memory:
            learn(memory, rows)
        with opened(path, data) as memory:
            for _ in range(TURNS):
                for name, call in verbs(memory, data).items():
                    if not only or name in only:
                        start = time.process_time()
                        call()
                        found[name] = min(found.get(name, math.inf), time.process_time() - start)
    finally:
        made.discard(path)
    return found


def main() -> None:
    """Print the table."""
    arguments = parser(__doc__)
    arguments.add_argument("--rows", nargs="+", type=int, default=[1_000, 10_000, 100_000])
    arguments.add_argument("--only", nargs="+", default=[])
    given = arguments.parse_args()
    found = {rows: measured(rows, given.only) for rows in given.rows}
    first, last = given.rows[0], given.rows[-1]
    print(f"| verb | {' | '.join(f'{rows:,}' for rows in given.rows)} | exponent |")
    print("| --- |" + " ---: |" * (len(given.rows) + 1))
    for name in found[first]:
        times = [found[rows][name] for rows in given.rows]
        grown = math.log(times[-1] / times[0]) / math.log(last / first) if last > first else math.nan
        print(f"| {name} | {' | '.join(f'{1e3 * one:.2f} ms' for one in times)} | {grown:.2f} |")


if __name__ == "__main__":
    main()
