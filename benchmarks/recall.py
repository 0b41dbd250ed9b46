"""What a recall costs beside a plain hybrid search in Python over the very same file: CPU and wall, by filter.

Usage: python benchmarks/recall.py [--rows 1000 10000 100000] [--quick] [--profile]

The plain hybrid is what one would write without this library: all vectors in memory as an array, BM25 of FTS5 over the
file's own index of words, both scores fused, the texts of the best ten read. It ranks nothing else, filters nothing and
counts nothing. Its vectors are searched in two ways, as float32 and as bits with the best 200 compared again; the floor
is the cheaper one. One thread each: threads of numpy's that wait for work would count as the work of what comes next.
Every call of a round is measured in turn, so that a busy moment hits all of them.
"""

from __future__ import annotations

import cProfile
import os
import pstats
import statistics
import time
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is imported

import apsw
import numpy as np

import made
from engine import opened
from perdure.records.instant import from_instant
from perdure.rules.language.words import query_words
from report import Row, finished, parser, say

if TYPE_CHECKING:
    from collections.abc import Callable

HITS, NEAR, SHORTLIST = 10, 50, 200
BOUNDS = {10_000: 2.5, 100_000: 1.8}
FILTERED = 1.3
BY_WORDS = "SELECT rowid, -bm25(words) FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?"
TEXTS = "SELECT text FROM content WHERE row = ?"


class Plain:
    """A hybrid search in a few lines over a file of ours."""

    def __init__(self, path: Path, *, bits: bool) -> None:
        self.connection = apsw.Connection(str(path))
        found = self.connection.execute("SELECT row, data FROM vector WHERE namespace = 'default' ORDER BY row")
        rows, data = zip(*found, strict=True)
        self.rows = np.array(rows)
        self.int8 = np.frombuffer(b"".join(data), np.int8).reshape(len(rows), -1)
        self.length = np.linalg.norm(self.int8.astype(np.float32), axis=1)
        self.bits = np.packbits(self.int8 > 0, axis=1).view(np.uint64).T.copy() if bits else None
        self.float = None if bits else self.int8 / self.length[:, None]

    def __call__(self, question: str, vector: bytes) -> list[str]:
        """Return the texts of the best."""
        query = np.frombuffer(vector, "<f4")
        score = {row: 0.6 * cosine for row, cosine in self._near(query)}
        match = " OR ".join(f'"{word}"' for word in query_words(question))
        words = self.connection.execute(BY_WORDS, (match, NEAR)).fetchall()
        for row, bm25 in words:
            score[row] = score.get(row, 0.0) + 0.4 * bm25 / words[0][1]
        best = sorted(score, key=score.__getitem__, reverse=True)[:HITS]
        return [self.connection.execute(TEXTS, (row,)).get for row in best]

    def _near(self, query: Any) -> list[tuple[int, float]]:
        if self.float is not None:
            places, cosines = None, self.float @ query
        else:
            code = np.packbits(query > 0).view(np.uint64)
            distance = np.bitwise_count(self.bits ^ code[:, None]).sum(axis=0, dtype=np.uint16)
            places = np.argpartition(distance, min(SHORTLIST, len(distance) - 1))[:SHORTLIST]
            cosines = self.int8[places].astype(np.float32) @ query / self.length[places]
        best = np.argpartition(-cosines, min(NEAR, len(cosines) - 1))[:NEAR]
        rows = self.rows[best if places is None else places[best]]
        return list(zip(rows.tolist(), cosines[best].tolist(), strict=True))


def interleaved(rounds: int, calls: dict[str, Callable[[int], Any]]) -> dict[str, tuple[list[float], list[float]]]:
    """Return name -> (wall, CPU) of each round in ms."""
    times: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in calls}
    for number in range(rounds):
        for name, call in calls.items():
            wall, used = time.perf_counter(), time.process_time()
            call(number)
            used, wall = time.process_time() - used, time.perf_counter() - wall
            times[name][0].append(wall * 1e3)
            times[name][1].append(used * 1e3)
    return times


def measure(rows: int, rounds: int) -> list[Row]:
    """Return what was measured at one size."""
    data = made.store(rows)
    path = made.copied(data, "recall")
    half = from_instant(made.NOW_MS - made.WINDOW_MS // 2)
    asked, count = data.questions, len(data.questions)
    tag, late = {"tags": ["decision"]}, {"kinds": ["episode"], "since": half}
    ways: dict[str, dict[str, Any]] = {
        "no filter": {"touch": False},
        "counted": {},
        "tag": {"touch": False, **tag},
        "kind and time": {"touch": False, **late},
        "tag, kind and time": {"touch": False, **tag, **late},
        "entity": {"touch": False, "entity": "Ann"},
        "as of its end": {"touch": False, "as_of": half + timedelta(hours=5)},
        "as of its middle": {"touch": False, "as_of": half},
    }
    try:
        plains = {f"plain, {kind}": Plain(path, bits=kind == "bits") for kind in ("bits", "float32")}
        with opened(path, data) as memory:
            calls: dict[str, Callable[[int], Any]] = {
                name: lambda i, how=how: memory.recall(asked[i % count], limit=HITS, **how)
                for name, how in ways.items()
            }
            calls |= {
                name: lambda i, one=one: one(asked[i % count], data.vectors[asked[i % count]])
                for name, one in plains.items()
            }
            for call in calls.values():
                call(0)
            # Whatever is asked again finds its rows in memory, with a filter or without.
            first = interleaved(min(rounds, count), calls)["no filter"]
            # A scan of all float32 rows empties the processor's caches: it comes last, and a call that is not counted
            # after it.
            calls["settle"] = calls["no filter"]
            times = interleaved(rounds, {"settle": calls.pop("settle"), **calls}) | {"asked for the first time": first}
    finally:
        made.discard(path)
    return _rows(rows, times)


def _rows(rows: int, times: dict[str, tuple[list[float], list[float]]]) -> list[Row]:
    middle = {name: [statistics.median(one) for one in two] for name, two in times.items() if name != "settle"}
    plains = [name for name in middle if name.startswith("plain")]
    cheaper = min(plains, key=lambda name: middle[name][1])
    found = [
        Row(f"{name}, {rows:,} rows", middle[name][1], "ms CPU", note=f"{middle[name][0]:.2f} ms") for name in plains
    ]
    for name, (wall, used) in middle.items():
        if name in plains:
            continue
        whole = name in ("no filter", "counted", "asked for the first time")
        against, bound = (cheaper, BOUNDS.get(rows)) if whole else ("no filter", FILTERED)
        floor = middle[against][1]
        note = f"{wall:.2f} ms; floor: {against}"
        found.append(Row(f"recall, {rows:,} rows, {name}", used, "ms CPU", bound and bound * floor, floor, note=note))
    (wall, used), name = times["no filter"], f"recall, {rows:,} rows, the slowest in a hundred"
    p99, p50 = (float(np.percentile(used, p)) for p in (99, 50))
    note = f"{np.percentile(wall, 99):.2f} ms; floor: median"
    found.append(Row(name, p99, "ms CPU", 2 * p50, p50, note=note))
    return found


def profile(rows: int, rounds: int) -> None:
    """Print how many statements and Python calls a recall takes, and which take the longest."""
    data = made.store(rows)
    path = made.copied(data, "profile")
    with opened(path, data) as memory:
        for question in data.questions[:20]:
            memory.recall(question, limit=HITS, touch=False)
        seen: list[str] = []
        connection = memory._context.store._connection  # noqa: SLF001  # what it runs is what is asked
        connection.trace_v2(apsw.SQLITE_TRACE_STMT, lambda event: seen.append(event["sql"]))
        memory.recall(data.questions[0], limit=HITS, touch=False)
        connection.trace_v2(0, None)
        found = cProfile.Profile()
        found.enable()
        for i in range(rounds):
            memory.recall(data.questions[i % len(data.questions)], limit=HITS, touch=False)
        found.disable()
    made.discard(path)
    stats = pstats.Stats(found)
    say(f"{rows:,} rows: {len(seen)} statements, {stats.total_calls // rounds:,} calls a recall")  # type: ignore[attr-defined]
    stats.sort_stats("tottime").print_stats(40)


def main() -> None:
    """Print the table."""
    arguments = parser(__doc__)
    arguments.add_argument("--rows", nargs="+", type=int, default=[1_000, 10_000, 100_000])
    arguments.add_argument("--quick", action="store_true", help="fewer repetitions")
    arguments.add_argument("--profile", action="store_true", help="print what a recall's time goes to instead")
    given = arguments.parse_args()
    if given.profile:
        for rows in given.rows:
            profile(rows, 100)
        return
    found = [row for rows in given.rows for row in measure(rows, 60 if given.quick else 240)]
    finished(found, as_json=given.json)


if __name__ == "__main__":
    main()
