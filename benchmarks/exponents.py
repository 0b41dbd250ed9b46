"""How the time of each verb grows with the store: CPU at several sizes, and the exponent between the ends.

    python benchmarks/exponents.py [--rows 1000 10000 100000] [--only NAME ...]

An exponent of 0 is flat, 1 is in proportion. The stores are made up (benchmarks/made.py); a tenth of the memories has a
fact of its own, so that ``facts`` and ``entities`` have as much to list. The best of three calls counts. What is
written has vectors near those of the store; verbs that write come last in each turn.
"""

from __future__ import annotations

import math
import time
from dataclasses import replace
from functools import partial
from hashlib import blake2b
from itertools import count, cycle
from typing import TYPE_CHECKING, Any

import numpy as np

import made
import perdure
from engine import opened
from perdure.records.instant import from_instant
from report import parser

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from made import Made

TURNS = 3
NOW = from_instant(made.NOW_MS)
_BATCH = 500
_MANY = 50


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
        **writing_verbs(memory, new_texts(data)),
    }


def new_texts(data: Made) -> Iterator[str]:
    """Yield texts that no store holds, without an end."""
    return (f"{text} (number {n})" for n, text in zip(count(), cycle(data.questions), strict=False))


def writing_verbs(memory: perdure.Memory, texts: Iterator[str]) -> dict[str, Callable[[], Any]]:
    """Return the verbs that write, by name; each of them changes what the one before it left."""
    last: list[str] = []

    def remember() -> None:
        last[:] = [memory.remember(next(texts)).id]

    return {
        "remember": remember,
        f"remember_many of {_MANY}": lambda: memory.remember_many([next(texts) for _ in range(_MANY)]),
        "ingest of 10": lambda: memory.ingest([{"role": "user", "content": next(texts)} for _ in range(10)]),
        "pin": lambda: memory.pin(last[0]),
        "update": lambda: last.append(memory.update(last[0], next(texts)).id),
        "forget": lambda: memory.forget(last[1]),
        "restore": lambda: memory.restore(last[1]),
        "undo": lambda: memory.undo(memory.history(limit=1)[0].id),
        "learn one claim": lambda: memory.learn(
            claims=[{"subject": "Person 1", "predicate": "lives in", "value": next(texts)}]
        ),
    }


class Near(dict[str, bytes]):
    """Vectors of known texts; another text has that of one of them, a little moved."""

    def __missing__(self, text: str) -> bytes:
        seed = int.from_bytes(blake2b(text.encode(), digest_size=4).digest(), "big")
        random, known = np.random.default_rng(seed), list(self.values())
        vector = np.frombuffer(known[seed % len(known)], "<f4")
        moved = vector + random.standard_normal(len(vector)) / len(vector) ** 0.5
        return bytes((moved / np.linalg.norm(moved)).astype("<f4").tobytes())


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
        with opened(path, replace(data, vectors=Near(data.vectors))) as memory:
            calls = verbs(memory, data)
            for _ in range(TURNS):
                for name, call in calls.items():
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
