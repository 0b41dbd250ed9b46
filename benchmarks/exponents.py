"""How the time of each verb grows with the store: CPU at several sizes, and the exponent between the ends.

    python benchmarks/exponents.py [--rows 1000 10000 100000] [--only NAME ...]

An exponent of 0 is flat, 1 is in proportion. The stores are made up (benchmarks/made.py); a tenth of the memories has a
fact of its own, ten facts for each entity. The best of three calls counts, or the first where that takes more than five
seconds. What is written has vectors near those of the store; verbs that write come last in each turn. Beside the
exponent stands what the work of the verb needs (exponents_verbs.py), and whether it grows faster than that.
"""

from __future__ import annotations

import math
import os
import time
from dataclasses import replace
from datetime import timedelta
from hashlib import blake2b
from typing import TYPE_CHECKING

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is imported: threads that spin count as work

import numpy as np

import made
import perdure
from engine import opened
from exponents_verbs import FLAT, verbs
from perdure.records.instant import from_instant
from report import parser, say

if TYPE_CHECKING:
    from pathlib import Path

    from exponents_verbs import Measured
    from made import Made

TURNS = 3
NOW = from_instant(made.NOW_MS)
SLOW = 5.0  # seconds: a call that takes longer is made once
GROWS = {True: 0.15, False: 1.15}
"""The exponent that still counts as flat, and the one that still counts as in proportion: indexes get deeper, caches
hold less, and what is sorted grows a little faster than in proportion."""
OPERATIONS = 60


class Near(dict[str, bytes]):
    """Vectors of known texts; another text has that of one of them, a little moved."""

    def __missing__(self, text: str) -> bytes:
        seed = int.from_bytes(blake2b(text.encode(), digest_size=4).digest(), "big")
        random, known = np.random.default_rng(seed), list(self.values())
        vector = np.frombuffer(known[seed % len(known)], "<f4")
        moved = vector + random.standard_normal(len(vector)) / len(vector) ** 0.5
        return bytes((moved / np.linalg.norm(moved)).astype("<f4").tobytes())


def learn(path: Path, data: Made) -> None:
    """Learn a fact for each tenth memory, ten about each of some people, in some sixty operations at every size.

    Each operation has a minute of its own, and at the end each memory has a vector, as after upkeep.
    """
    facts, at = data.rows // 10, [NOW - timedelta(minutes=2 * OPERATIONS)]
    batch = max(1, facts // OPERATIONS)
    with perdure.open(path, policy={"embedder": {"model": "none"}}, clock=lambda: at[0]) as memory:
        for start in range(0, facts, batch):
            claims = [
                {"subject": f"Person {n // 10}", "predicate": f"likes thing {n % 10}", "value": f"thing {n}"}
                for n in range(start, min(start + batch, facts))
            ]
            memory.learn(claims=claims)
            at[0] += timedelta(minutes=1)
    with opened(path, data) as memory:
        memory.reembed()


def measured(rows: int, only: list[str]) -> tuple[dict[str, float], dict[str, str]]:
    """Return verb -> CPU seconds at one size, and verb -> what its work needs."""
    data = made.store(rows)
    path = made.copied(data, "exponents")
    found: dict[str, float] = {}
    try:
        data = replace(data, vectors=Near(data.vectors))
        learn(path, data)
        say(f"  {rows:,} memories")
        with opened(path, data) as memory:
            calls = verbs(memory, data)
            for turn in range(TURNS):
                for name, verb in calls.items():
                    if (only and name not in only) or (turn and found[name] > SLOW):
                        continue
                    found[name] = min(found.get(name, math.inf), _timed(name, verb))
    finally:
        made.discard(path)
    return found, {name: calls[name].needs for name in found}


def _timed(name: str, verb: Measured) -> float:
    start = time.process_time()
    try:
        verb.call()
    except perdure.PerdureError as error:
        raise SystemExit(f"{name}: {error}") from error
    return time.process_time() - start


def main() -> None:
    """Print the table."""
    arguments = parser(__doc__)
    arguments.add_argument("--rows", nargs="+", type=int, default=[1_000, 10_000, 100_000])
    arguments.add_argument("--only", nargs="+", default=[])
    given = arguments.parse_args()
    both = {rows: measured(rows, given.only) for rows in given.rows}
    first, last = given.rows[0], given.rows[-1]
    sizes = " | ".join(f"{rows:,}" for rows in given.rows)
    print(f"| verb | {sizes} | exponent | what the work needs | grows no faster |")
    print("| --- |" + " ---: |" * (len(given.rows) + 1) + " --- | --- |")
    for name, needs in both[first][1].items():
        times = [both[rows][0][name] for rows in given.rows]
        grown = math.log(times[-1] / times[0]) / math.log(last / first) if last > first else math.nan
        told = "" if math.isnan(grown) else "yes" if grown <= GROWS[needs == FLAT] else "**missed**"
        print(f"| {name} | {' | '.join(f'{1e3 * t:.2f} ms' for t in times)} | {grown:.2f} | {needs} | {told} |")


if __name__ == "__main__":
    main()
