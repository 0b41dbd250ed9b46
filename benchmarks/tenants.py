"""What a look at a whole store of many namespaces costs: stats, alerts, readiness, figures of metrics, a page.

Usage: python benchmarks/tenants.py [--namespaces 1000] [--each 5] [--server]

The store is made up in a temporary folder, or on a PostgreSQL server of its own. CPU is that of this process: with a
server the time of the clock is told beside it.
"""

from __future__ import annotations

import tempfile
import time
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from starlette.testclient import TestClient

import perdure
from perdure.compose import local_postgres
from perdure.interfaces.http.app import build_app
from perdure.interfaces.http.metrics import store_figures
from perdure.interfaces.http.settings import Settings
from report import Row, finished, parser

if TYPE_CHECKING:
    from collections.abc import Callable

START = datetime(2026, 5, 1, tzinfo=UTC)
LATER = START + timedelta(days=60)  # moves wait in all of them
HOST = "localhost:8766"
ROUNDS = 3


def filled(path: str, namespaces: int, each: int) -> None:
    """Store so many memories in so many namespaces."""
    with perdure.open(path, policy={"embedder": {"model": "none"}}, clock=lambda: START) as memory:
        for n in range(namespaces):
            memory.remember_many([f"Note {i} of tenant {n}" for i in range(each)], f"tenant-{n:05}")


def measured(name: str, call: Callable[[], Any]) -> list[Row]:
    """Return CPU of this process and the time of the clock, the median of some rounds; the first does not count."""
    times = []
    for _ in range(ROUNDS + 1):
        began, cpu = time.perf_counter(), time.process_time()
        call()
        times.append((time.process_time() - cpu, time.perf_counter() - began))
    spent, passed = (median(some) for some in zip(*times[1:], strict=True))
    return [Row(f"{name}, CPU", spent, "s"), Row(f"{name}, clock", passed, "s")]


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--namespaces", type=int, default=1000)
    arguments.add_argument("--each", type=int, default=5, help="memories of a namespace")
    arguments.add_argument("--server", action="store_true", help="on a PostgreSQL server, by the extra postgres-local")
    given = arguments.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        path = stack.enter_context(local_postgres(None)) if given.server else str(folder / "a.db")
        filled(path, given.namespaces, given.each)
        memory = stack.enter_context(perdure.open(path, policy={"embedder": {"model": "none"}}, clock=lambda: LATER))
        app = build_app(lambda: memory, Settings(frozenset({HOST})))
        client = stack.enter_context(TestClient(app, base_url=f"http://{HOST}"))
        rows = [
            *measured("namespaces", memory.namespaces),
            *measured("stats", memory.stats),
            *measured("alerts", memory.alerts),
            *measured("readiness", lambda: memory.readiness),
            *measured("figures of /metrics", lambda: store_figures(memory)),
            *measured("overview of one namespace", lambda: client.get("/?namespace=tenant-00001")),
            Row("overview, size", len(client.get("/?namespace=tenant-00001").content) / 1000, "kB"),
        ]
    finished(rows, as_json=given.json)


if __name__ == "__main__":
    main()
