"""Speed and memory of the engine on made-up stores: recall, writing, counting, sweeping, opening.

Usage: python benchmarks/engine.py [--rows 10000 100000 1000000] [--quick]

Vectors are given, so no embedder takes part. Every figure is a median; a floor is measured in the same run: reading
the bytes of all codes once for a search, one write of 4 kB with fsync for a durable write. Stores are built once and
kept under the temporary folder; a million rows take some minutes and 2 GB.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw
import numpy as np

import made
import perdure
from made import NOW_MS, SMALL, SPACE, Given, Made
from perdure.records.instant import from_instant
from perdure.records.plan import Change, Plan, Target
from perdure.records.policy_recall import RecallPolicy
from perdure.records.recall import Filters, Query
from perdure.stores.sqlite.store import SqliteStore
from report import Row, finished, interleaved, parser, say

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

RECALL_MS = {10_000: 3.0, 100_000: 6.0, 1_000_000: 40.0}
CELLS_MS = 15.0
RESIDENT_MB = {100_000: 100.0, 1_000_000: 400.0}
MILLION = 1_000_000


def opened(path: Path, data: Made, at: int = NOW_MS) -> perdure.Memory:
    """Return a store whose clock stands still."""
    return perdure.open(path, policy={}, clock=lambda: from_instant(at), embedder=Given(data.vectors))


# --- recall


def recalls(path: Path, data: Made, name: str, target: float | None, rounds: int) -> list[Row]:
    """Measure recall end to end, without and with filters, counted and not."""
    asked = data.questions
    half = from_instant(NOW_MS - made.WINDOW_MS // 2)
    codes = np.ones(data.rows * 6, np.uint64)
    with opened(path, data) as memory:

        def ask(**given: Any) -> Callable[[int], Any]:
            return lambda i: memory.recall(asked[i % len(asked)], limit=10, **given)

        variants = {
            "no filter": ask(),
            "no filter, not counted": ask(touch=False),
            "kind and time": ask(kinds=["episode"], since=half),
            "tag": ask(tags=["decision"]),
            "tag, kind and time": ask(tags=["decision"], kinds=["episode"], since=half),
            "entity": ask(entity="Ann"),
        }
        for call in variants.values():
            call(0)
        floor = lambda _: np.add.reduce(codes)  # noqa: E731  # one name among the measured calls
        # The floor empties the processor's caches: the call after it is not counted.
        times = interleaved(rounds, floor=floor, settle=variants["no filter"], **variants)
    return [
        Row(f"recall, {name}, {variant}", times[variant], "ms", target, times["floor"], note="floor: reading all codes")
        for variant in variants
    ]


def exactness(path: Path, data: Made, name: str) -> list[Row]:
    """Measure recall@10 of the search by meaning against exact cosine over all rows."""
    strict, near = [], []
    with _store(path) as store:
        for position, text in enumerate(data.questions):
            pool = store.search("default", Query(text, (), data.vectors[text]), Filters(), RecallPolicy())
            best = sorted(pool.candidates, key=lambda c: -(c.cosine or 0.0))[:10]
            right = [c.id in set(data.truth[position]) for c in best]
            close = [bool((c.cosine or 0.0) > data.tenth[position] - 0.001) for c in best]
            strict.append(statistics.mean(right))
            near.append(statistics.mean(r or c for r, c in zip(right, close, strict=True)))
    note = f"within 0.001 of the tenth's cosine; the very ten: {statistics.mean(strict):.4f}"
    return [Row(f"recall@10 by meaning, {name}", statistics.mean(near), "", 0.99, at_least=True, note=note)]


def small_namespace(path: Path, data: Made, rounds: int) -> list[Row]:
    """Measure recall in a namespace of 1,000 inside the large store."""
    with opened(path, data) as memory:
        call = lambda i: memory.recall(data.questions[i % len(data.questions)], "small", limit=10)  # noqa: E731
        call(0)
        times = interleaved(rounds, small=call)
    return [Row(f"recall, namespace of {SMALL:,} inside {data.rows:,}", times["small"], "ms", 3.0)]


FIRST = """
import json, sys, time
before = time.perf_counter()
import perdure
from perdure.records.instant import from_instant
from made import Given
imported = time.perf_counter()
path, at, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
asked = json.load(sys.stdin)
vectors = {text: bytes.fromhex(vector) for text, vector in asked}
started = time.perf_counter()
memory = perdure.open(path, policy={}, clock=lambda: from_instant(at), embedder=Given(vectors))
opened = time.perf_counter()
memory.recall(asked[0][0], limit=10)
done = time.perf_counter()
for text, _ in asked[1:count]:
    memory.recall(text, limit=10)
def resident(key):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 / 1e6 for line in file if line.startswith(key + ":"))
sizes = [resident(key) for key in ("VmRSS", "RssAnon", "RssFile", "VmHWM")]
print(json.dumps([done - started, done - opened, *sizes]))
"""


def fresh_process(path: Path, data: Made, name: str, rounds: int) -> list[Row]:
    """Measure the first recall of a new process, opening included, and the memory that it holds after some more."""
    asked = json.dumps([(text, vector.hex()) for text, vector in data.vectors.items()])
    folder = str(Path(__file__).parent)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([folder, os.environ.get("PYTHONPATH", "")])}
    found = []
    for _ in range(rounds):
        command = [sys.executable, "-c", FIRST, str(path), str(NOW_MS), "40"]
        run = subprocess.run(command, input=asked, capture_output=True, text=True, check=True, env=environment)
        found.append(json.loads(run.stdout))
    first, _, resident, anonymous, mapped, highest = (statistics.median(column) for column in zip(*found, strict=True))
    note = f"{anonymous:.0f} its own, {mapped:.0f} mapped files; peak {highest:.0f}"
    return [
        Row(f"first recall of a new process, {name}", first, "s", 0.3 if data.rows == MILLION else None),
        Row(f"memory of the process, {name}", resident, "MB", RESIDENT_MB.get(data.rows), note=note),
    ]


# --- writing


def durable(path: Path, data: Made, rounds: int) -> list[Row]:
    """Measure a single durable remember, whole and the store's part of it, against one fsync on the same disk."""
    vectors = list(data.vectors.values())
    texts = [f"{text} (told once more, number {i})" for i, text in enumerate(islice(cycle(data.questions), rounds))]
    given = {text: vectors[i % len(vectors)] for i, text in enumerate(texts)}
    plans = list(islice(_singles(), rounds))
    floor = path.with_suffix(".floor")
    with (
        floor.open("wb", buffering=0) as file,
        _store(path) as store,
        opened(path, replace(data, vectors=given)) as memory,
    ):
        page = os.urandom(4096)

        def fsync(_: int) -> None:
            file.write(page)
            os.fsync(file.fileno())

        times = interleaved(
            rounds, fsync=fsync, whole=lambda i: memory.remember(texts[i]), engine=lambda i: store.apply(plans[i])
        )
    floor.unlink()
    limit = 2 * times["fsync"]
    return [
        Row(
            f"one durable remember, {data.rows:,} rows",
            times["whole"],
            "ms",
            limit,
            times["fsync"],
            note="floor: one fsync",
        ),
        Row(f"one durable Store.apply, {data.rows:,} rows", times["engine"], "ms", limit, times["fsync"]),
    ]


def batches(data: Made, folder: Path) -> list[Row]:
    """Measure batches: plans applied (engine only, vectors given), and remember_many with its search for neighbours."""
    path = folder / f"batch-{os.getpid()}.db"
    built = list(made.plans(5000))
    with _store(path) as store:
        store.add_space(SPACE, activate=True)
        start = time.perf_counter()
        for plan in built:
            store.apply(plan)
        engine = len(built) * made.BATCH / (time.perf_counter() - start)
    made.discard(path)
    afters = [change.after or {} for plan in built for change in plan.changes][:5000]
    items = [{"content": a["text"], "tags": a["tags"], "session": a["session"]} for a in afters]
    given = {a["text"]: a["vector"] for a in afters}
    with opened(path, replace(data, vectors=given)) as memory:
        start = time.perf_counter()
        memory.remember_many(items)
        whole = len(items) / (time.perf_counter() - start)
    made.discard(path)
    loaded = data.rows / data.apply_seconds
    return [
        Row("batches through Store.apply, into an empty store", engine, "rows/s", 10_000, at_least=True),
        Row(f"batches through Store.apply, up to {data.rows:,}", loaded, "rows/s", 10_000, at_least=True),
        Row("remember_many, into an empty store", whole, "rows/s", note="with near-duplicates, uniqueness and links"),
    ]


def counting(path: Path, data: Made, rounds: int) -> list[Row]:
    """Measure the counting of one recall with five hits."""
    random = np.random.default_rng(3)
    plans = []
    for i in range(rounds):
        ids = [made.identity(int(n)) for n in random.integers(0, data.rows, 5)]
        name = made.identity(i, 0xFFFD)
        changes = [Change(Target.ACCESS, k, None, {"at_ms": NOW_MS, "times": 1}) for k in ids]
        changes.append(Change(Target.RECALL, name, None, {"at_ms": NOW_MS, "query": data.questions[0], "hits": ids}))
        plans.append(Plan(name, "recall", "default", NOW_MS, tuple(changes)))
    with _store(path) as store:
        times = interleaved(rounds, count=lambda i: store.count(plans[i]))
    return [Row(f"counting one recall, {data.rows:,} rows", times["count"], "ms", 0.1)]


# --- sweeping


def sweeps(path: Path, data: Made, rounds: int) -> list[Row]:
    """Measure a sweep with nothing due, and with one memory in a hundred due."""
    with opened(path, data) as memory:
        memory.sweep()  # counts earlier recalls in
        times = interleaved(rounds, idle=lambda _: memory.sweep())
    rows = [
        Row(f"sweep, nothing due, {data.rows:,} rows", times["idle"], "ms", 5.0 if data.rows == MILLION else None),
    ]
    share = data.rows // 100
    if data.rows > 100_000:
        return rows
    spent = []
    for _ in range(5):  # each time the next share falls due
        with opened(path, data, _due_at(path, share)) as memory:
            start = time.perf_counter()
            report = memory.sweep()
            spent.append(time.perf_counter() - start)
        say(f"  {report.examined} examined, {len(report.moved)} moved in {spent[-1]:.3f} s")
    target = 0.2 if data.rows == 100_000 else None
    rows.append(Row(f"sweep, 1 % due of {data.rows:,}", statistics.median(spent), "s", target, note="reasons, journal"))
    return rows


def _due_at(path: Path, count: int) -> int:
    connection = apsw.Connection(str(path))
    sql = (
        "SELECT due_ms FROM memory WHERE namespace = 'default' AND due_ms IS NOT NULL ORDER BY due_ms LIMIT 1 OFFSET ?"
    )
    return int(connection.execute(sql, (count - 1,)).get)


def decay_reports(path: Path, data: Made, rounds: int) -> list[Row]:
    """Measure the decay report over everything, previews included; nothing is written."""
    with opened(path, data, NOW_MS + 30 * 86_400_000) as memory:
        times = interleaved(rounds, report=lambda _: memory.decay())
        found = memory.decay()
    target = 1000.0 if data.rows == 100_000 else None
    note = f"{found.memories_decayed:,} of {found.memories_analyzed:,} decayed"
    return [Row(f"decay report, {data.rows:,} rows", times["report"], "ms", target, note=note)]


# --- the whole


def with_cells(path: Path, data: Made, name: str, rounds: int) -> list[Row]:
    """Train cells, and measure recall anew."""
    say(f"{name}: training cells")
    with opened(path, data) as memory:
        start = time.perf_counter()
        made_cells = memory.optimize()["cells"]
        trained = time.perf_counter() - start
    found = [Row(f"optimize, {name}", trained, "s", note=f"{made_cells} cells")]
    found += recalls(path, data, f"{name} in cells", CELLS_MS, rounds)
    found += exactness(path, data, f"{name} in cells")
    return found + fresh_process(path, data, f"{name} in cells", 3)


def _store(path: Path) -> closing[SqliteStore]:
    return closing(SqliteStore(str(path)))


def _singles() -> Iterator[Plan]:
    """Yield plans that store one memory each."""
    for number, plan in enumerate(made.plans(2000, "small")):
        for position, change in enumerate(plan.changes):
            name = made.identity(number * made.BATCH + position, 0xFFFC)
            after = {**(change.after or {}), "op": name, "session": None, "turn": None}
            single = replace(change, id=made.identity(number * made.BATCH + position, 0xFFFB), after=after)
            yield replace(plan, id=name, namespace="default", changes=(single,))


def measure(rows: int, *, quick: bool) -> list[Row]:
    """Return everything measured at one size."""
    data = made.store(rows)
    name = f"{rows:,} rows"
    rounds = 30 if quick else 200 if rows < MILLION else 100
    path = made.copied(data, "flat")
    try:
        say(f"{name}: recall")
        found = recalls(path, data, name, RECALL_MS.get(rows), rounds)
        found += exactness(path, data, name)
        found += small_namespace(path, data, rounds)
        say(f"{name}: fresh processes")
        found += fresh_process(path, data, name, 3 if quick else 5)
        say(f"{name}: sweeping")
        found += sweeps(path, data, 30)
        if rows < MILLION:
            found += decay_reports(path, data, 5)
        say(f"{name}: counting and writing")
        found += counting(path, data, rounds)
        found += durable(path, data, 30 if quick else 100)
        found += batches(data, path.parent)
        if rows >= RecallPolicy().cells_above:
            found += with_cells(path, data, name, rounds)
    finally:
        made.discard(path)
    return found


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--rows", nargs="+", type=int, default=[10_000, 100_000])
    arguments.add_argument("--quick", action="store_true", help="fewer repetitions")
    given = arguments.parse_args()
    found = [row for rows in given.rows for row in measure(rows, quick=given.quick)]
    finished(found, as_json=given.json)


if __name__ == "__main__":
    main()
