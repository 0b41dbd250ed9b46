"""What a page costs over a store of 100,000 memories: CPU of one rendering, and bytes with everything it loads.

Run: ``python benchmarks/page.py [memories]``. The store is made up, maintained, and kept under the temporary folder.
"""

from __future__ import annotations

import os
import random
import re
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median

from starlette.testclient import TestClient

import perdure
from perdure.interfaces.http.app import build_app
from perdure.interfaces.http.settings import Settings

START = datetime(2026, 5, 1, tzinfo=UTC)
NAMES = ["Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gus", "Hana", "Ian", "Jo"]
WORDS_ONLY = {"embedder": {"model": "none"}}
HOST = "localhost:8766"
TIMES = 5
LIMIT_MS, LIMIT_KB = 200, 150


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
    """Print CPU and size of each page."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    clock = Clock()
    clock.now = START + timedelta(days=282)
    with perdure.open(made(count), policy=WORDS_ONLY, clock=clock) as memory:
        identity, fact = memory.list(limit=1)[0].id, memory.facts(limit=1)[0]
        addresses = [
            "/",
            "/search",
            "/search?q=What+did+Ada+say+of+w17",
            f"/memory?id={identity}",
            f"/memory?id={fact.id}",
        ]
        addresses += [
            "/facts",
            f"/facts?entity={fact.subject}",
            "/questions",
            "/plans",
            "/plans?preview=1",
            "/memory-md",
        ]
        addresses += [f"/change?id={identity}&verb=archive", f"/erase?id={identity}"]
        app = build_app(lambda: memory, Settings(frozenset({HOST})))
        with TestClient(app, base_url=f"http://{HOST}") as client:
            print(f"{count:,} memories, Python {sys.version.split()[0]}, {os.cpu_count()} cores; median of {TIMES}")
            print(f"{'page':48} {'CPU ms':>8} {'kB in all':>10}")
            for address in addresses:
                measure(client, address)


def measure(client: TestClient, address: str) -> None:
    """Print the figures of one page."""
    spent, reply = [], client.get(address)
    for _ in range(TIMES):
        began = time.process_time()
        reply = client.get(address)
        spent.append((time.process_time() - began) * 1000)
    loaded = [a for a in re.findall(r'(?:src|href)="([^"]+)"', reply.text) if a.startswith("/static/")]
    size = (len(reply.content) + sum(len(client.get(a).content) for a in set(loaded))) / 1000
    over = "" if median(spent) <= LIMIT_MS and size <= LIMIT_KB else "  over"
    shown = re.sub(r"[0-9a-f-]{36}", "…", address)
    print(f"{shown:48} {median(spent):8.0f} {size:10.1f}{over}  {reply.status_code}")


if __name__ == "__main__":
    main()
