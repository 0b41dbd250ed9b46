"""How a file grows: a life of 200 messages a day, and what each part of the file holds for each message in the end.

The clock is injected. Each day brings four sessions; every tenth message states something that can be learned; one
question is asked for ten messages, and maintenance runs in the evening. ``--vectors`` gives each message a vector.

    python benchmarks/growth.py [--days 365] [--messages 200] [--preset balanced ...] [--vectors] [--set KEY=VALUE ...]
"""

from __future__ import annotations

import argparse
import json
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


def measured(preset: str, options: argparse.Namespace) -> dict[str, Any]:
    """Live one life and return what its file holds."""
    keys: dict[str, Any] = {"preset": preset, "embedder": {"model": "none"}, "upkeep": {"backup_folder": ""}}
    for setting in options.set:
        name, value = setting.split("=")
        section, key = name.split(".")
        keys.setdefault(section, {})[key] = json.loads(value)
    clock = Clock()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "life.db"
        began = time.perf_counter()
        with perdure.open(path, policy=keys, clock=clock, embedder=Given() if options.vectors else None) as memory:
            for day in live(memory, clock, options.days, options.messages):
                if day % 30 == 29:
                    size, seconds = path.stat().st_size / 1e6, time.perf_counter() - began
                    say(f"  {preset}: day {day + 1}, {size:.1f} MB, {seconds:.0f} s")
        found = sizes(path)
        if options.keep:
            Path(folder, "life.db").rename(options.keep)
    return {"preset": preset, "messages": options.days * options.messages, "bytes": dict(found)}


def main() -> None:
    """Measure, and print a table of kB for each message."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--messages", type=int, default=200)
    parser.add_argument("--preset", nargs="+", default=["balanced", "facts"])
    parser.add_argument("--vectors", action="store_true")
    parser.add_argument("--set", nargs="*", default=[], help="keys of the policy, as upkeep.journal_days=30")
    parser.add_argument("--keep", help="where to keep the file of the last life")
    options = parser.parse_args()
    lives = [measured(preset, options) for preset in options.preset]
    parts = list(dict.fromkeys((*PARTS.values(), "other", "free pages")))
    print("| kB a message | " + " | ".join(life["preset"] for life in lives) + " |")
    print("| --- |" + " ---: |" * len(lives))
    for part in (*parts, "in all"):
        cells = []
        for life in lives:
            size = sum(life["bytes"].values()) if part == "in all" else life["bytes"].get(part, 0)
            cells.append(f"{size / 1000 / life['messages']:.2f}")
        print(f"| {part} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
