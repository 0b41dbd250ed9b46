"""How a file grows: a life of 200 messages a day, and what each part of the file holds for each message in the end.

The clock is injected. Each day brings four sessions; every tenth message states something that can be learned; one
question is asked for ten messages, and maintenance runs in the evening. ``--vectors`` gives each message a vector.
Each life is measured twice: with all that the journal was told, and with everything older than its horizon. With
``--as-lived`` it is measured as the preset's own horizon and maintenance leave it, and compacted after that.
``--horizon`` shortens the horizon of such a life: 48 days with 12 have the same share of whole lines as a year with 90.

    python benchmarks/growth.py [--days 365] [--messages 200] [--preset facts] [--vectors] [--as-lived] [--horizon 90]
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import apsw
import numpy as np

import perdure
from codes_scan import DIMENSIONS
from made import Words
from perdure.records.vector import Space
from report import say

START = datetime(2026, 1, 1, tzinfo=UTC)
SESSIONS = 4  # a day
QUESTIONS = 0.1  # for each message
PARTS = {
    "memory": "memories",
    "content": "memories",
    "tag": "memories",
    "idempotency": "memories",
    "vector": "vectors",
    "segment": "vectors",
    "cell_map": "vectors",
    "words": "index of words",
    "operation": "journal",
    "journal": "journal",
    "document": "facts and documents",
    "link": "facts and documents",
    "recall_log": "log of recalls",
    "access": "log of recalls",
}
"""Table, or beginning of the name of its indexes -> part of the table that is printed."""
_NAMES = ("Anna", "Boris", "Clara", "Dmitri", "Elena", "Farid", "Greta", "Hugo", "Ines", "Jonas", "Karin", "Leo")
_PLACES = ("Berlin", "Lisbon", "Oslo", "Vienna", "Porto", "Gdansk", "Turin", "Lyon", "Ghent", "Malmo", "Split", "Bern")
_FACTS = (
    "{name} lives in {place}.",
    "My budget for {place} is {number} euros.",
    "{name} works at {place} Consulting.",
    "I prefer {place} over everything else.",
    "{name}'s phone number is 555-{number}.",
    "Remember that {name} prefers {place} in autumn.",
    "The deadline of the {place} project is in {number} days.",
)


class Clock:
    """A clock that only the life moves."""

    now = START

    def __call__(self) -> datetime:
        """Return its instant."""
        return self.now


class Given:
    """An embedder whose vectors are drawn from the text: what they cost does not depend on what they mean."""

    space = Space("drawn", DIMENSIONS)

    def embed(self, texts: Sequence[str], *, purpose: str) -> list[bytes]:  # noqa: ARG002  # the port's signature
        """Return a unit vector for each text."""
        drawn = [np.random.default_rng(abs(hash(text))).standard_normal(DIMENSIONS) for text in texts]
        return [(vector / np.linalg.norm(vector)).astype("<f4").tobytes() for vector in drawn]


def messages(words: Words, chance: random.Random, count: int) -> list[dict[str, Any]]:
    """Return the messages of one session, alternately of a person and an assistant."""
    found = []
    for number, text in enumerate(words.texts(count)):
        names = {"name": chance.choice(_NAMES), "place": chance.choice(_PLACES), "number": chance.randint(100, 999)}
        fact = chance.choice(_FACTS).format(**names) if chance.random() < 0.1 else ""
        found.append({"role": ("user", "assistant")[number % 2], "content": f"{fact} {text}".strip()})
    return found


def live(memory: perdure.Memory, clock: Clock, days: int, each: int) -> Iterator[int]:
    """Live a life, and yield each day's number in the evening."""
    words, chance = Words(3), random.Random(3)
    known: dict[str, int] = {}
    for day in range(days):
        for session in range(SESSIONS):
            clock.now = START + timedelta(days=day, hours=8 + 3 * session)
            memory.ingest(messages(words, chance, each // SESSIONS), session=f"day-{day}-{session}")
            for _ in range(round(QUESTIONS * each / SESSIONS)):
                clock.now += timedelta(minutes=5)
                found = memory.recall(f"What about {chance.choice(_NAMES)} and {words.texts(1)[0]}", limit=5)
                if found.hits and chance.random() < 0.3:
                    memory.used([found.hits[0].memory.id], "helpful", recall_id=found.id)
        clock.now += timedelta(hours=1)
        memory.upkeep("growth", known=known)
        yield day


def sizes(path: Path) -> Counter[str]:
    """Return part -> bytes of its pages in a file."""
    found = Counter[str]()
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as file:
        tables = dict(file.execute("SELECT name, tbl_name FROM sqlite_schema"))
        for name, size in file.execute("SELECT name, sum(pgsize) FROM dbstat GROUP BY name"):
            table = tables.get(name, name)
            found[PARTS.get(table, PARTS.get(table.partition("_")[0], "other"))] += size
        found["free pages"] = file.pragma("freelist_count") * file.pragma("page_size")
    return found


def measured(preset: str, options: argparse.Namespace) -> dict[str, Counter[str]]:
    """Live one life; return its file's sizes, with all of the journal's images and with none of them."""
    keys: dict[str, Any] = {"preset": preset, "embedder": {"model": "none"}}
    if options.horizon is not None:
        keys["journal"] = {"horizon_days": options.horizon}
    whole = keys if options.as_lived else {**keys, "upkeep": {"compact_share": 1}, "journal": {"horizon_days": 0}}
    clock, embedder = Clock(), Given() if options.vectors else None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "life.db"
        began = time.process_time()
        with perdure.open(path, policy=whole, clock=clock, embedder=embedder) as memory:
            for day in live(memory, clock, options.days, options.messages):
                if day % 30 == 29:
                    size, seconds = path.stat().st_size / 1e6, time.process_time() - began
                    say(f"  {preset}: day {day + 1}, {size:.1f} MB, {seconds:.0f} s of CPU")
        if options.as_lived:
            left = sizes(path)
            with perdure.open(path, policy=whole, clock=clock, embedder=embedder) as memory:
                memory.compact(dry_run=False)
            return {f"{preset}, as lived": left, f"{preset}, compacted": sizes(path)}
        found = {f"{preset}, whole": sizes(path)}
        clock.now += timedelta(days=1)
        with perdure.open(path, policy={**whole, "journal": {"horizon_days": 0.5}}, clock=clock) as memory:
            memory.upkeep("growth")
            memory.compact(dry_run=False)
        return {**found, f"{preset}, trimmed": sizes(path)}


def main() -> None:
    """Measure, and print a table of kB for each message."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--messages", type=int, default=200, help="a day")
    parser.add_argument("--preset", nargs="+", default=["balanced", "facts"])
    parser.add_argument("--vectors", action="store_true")
    parser.add_argument("--as-lived", action="store_true", help="with the journal's own horizon and compacting")
    parser.add_argument("--horizon", type=float, help="days that the journal is kept whole, with --as-lived")
    options = parser.parse_args()
    found = {name: one for preset in options.preset for name, one in measured(preset, options).items()}
    messages = 1000 * options.days * options.messages
    print(f"| kB a message | {' | '.join(found)} |")
    print("| --- |" + " ---: |" * len(found))
    for part in (*dict.fromkeys(PARTS.values()), "other", "free pages"):
        print(f"| {part} | {' | '.join(f'{one[part] / messages:.2f}' for one in found.values())} |")
    print(f"| in all | {' | '.join(f'{sum(one.values()) / messages:.2f}' for one in found.values())} |")


if __name__ == "__main__":
    main()
