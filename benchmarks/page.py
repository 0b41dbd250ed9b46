"""What a page costs over a store of 100,000 memories: CPU of one rendering, and bytes with everything it loads.

The store is made up, maintained, and kept under the temporary folder.
"""

from __future__ import annotations

import random
import re
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median

from starlette.testclient import TestClient

import perdure
from perdure.interfaces.http.app import build_app
from perdure.interfaces.http.settings import Settings
from report import Row, finished, parser

START = datetime(2026, 5, 1, tzinfo=UTC)
NAMES = ["Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gus", "Hana", "Ian", "Jo"]
WORDS_ONLY = {"embedder": {"model": "none"}}
HOST = "localhost:8766"
TIMES = 5
LIMIT_MS, LIMIT_KB = 200, 150
OK = 200


class Clock:
    """A clock that only moves when told to."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        """Return the simulated now."""
        return self.now


def made(count: int) -> Path:
    """Return a store of so many memories of half a year, swept a day ago."""
    path = Path(tempfile.gettempdir()) / f"perdure-page-{count}.db"
    if path.exists():
        return path
    chance, words, clock = random.Random(7), [f"w{i}" for i in range(4000)], Clock()
    half = path.with_suffix(".half")
    half.unlink(missing_ok=True)
    with perdure.open(half, policy=WORDS_ONLY, clock=clock) as memory:
        step = timedelta(days=180) / count
        items = []
        for n in range(count):
            said = f"{chance.choice(NAMES)} said " + " ".join(chance.choices(words, k=14))
            items.append({"content": said, "at": START + n * step, "importance": chance.random()})
        clock.now = START + timedelta(days=180)
        for begin in range(0, count, 5000):
            memory.remember_many(items[begin : begin + 5000])
        for name in NAMES:
            memory.remember(f"{name} likes tea.", facts=[{"subject": name, "predicate": "likes", "value": "tea"}])
        clock.now += timedelta(days=1)
        memory.sweep()
        clock.now += timedelta(days=100)  # the facts are in doubt
        memory.sweep()
    half.rename(path)
    return path


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--rows", type=int, default=100_000, help="memories of the store")
    given = arguments.parse_args()
    clock = Clock()
    clock.now = START + timedelta(days=282)
    with perdure.open(made(given.rows), policy=WORDS_ONLY, clock=clock) as memory:
        app = build_app(lambda: memory, Settings(frozenset({HOST})))
        with TestClient(app, base_url=f"http://{HOST}") as client:
            found = [row for address in addresses(memory) for row in measure(client, address)]
    finished(found, as_json=given.json)


def addresses(memory: perdure.Memory) -> list[str]:
    """Return a page of each kind."""
    identity, fact = memory.list(limit=1)[0].id, memory.facts(limit=1)[0]
    return [
        *("/", "/search", "/search?q=What+did+Ada+say+of+w17", f"/memory?id={identity}", f"/memory?id={fact.id}"),
        *("/facts", f"/facts?entity={fact.subject}", "/questions", "/plans", "/plans?preview=1", "/memory-md"),
        *(f"/change?id={identity}&verb=archive", f"/erase?id={identity}"),
    ]


def measure(client: TestClient, address: str) -> list[Row]:
    """Return what a page costs, and its size with all that it loads."""
    spent, reply = [], client.get(address)
    for _ in range(TIMES):
        began = time.process_time()
        reply = client.get(address)
        spent.append((time.process_time() - began) * 1000)
    if reply.status_code != OK:
        raise RuntimeError(f"{address} answers {reply.status_code}")
    loaded = [a for a in re.findall(r'(?:src|href)="([^"]+)"', reply.text) if a.startswith("/static/")]
    size = (len(reply.content) + sum(len(client.get(a).content) for a in set(loaded))) / 1000
    shown = re.sub(r"[0-9a-f-]{36}", "…", address)
    return [Row(shown, median(spent), "ms CPU", LIMIT_MS), Row(f"{shown}, with all it loads", size, "kB", LIMIT_KB)]


if __name__ == "__main__":
    main()
