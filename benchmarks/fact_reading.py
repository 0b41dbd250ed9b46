"""How long reading takes beside many facts: medians, each beside the same read of a store without them.

Used by benchmarks/facts.py. The store has 20,000 facts of 1,000 entities, handed over as claims, and 1,000 notes. The
store beside it has the same notes and, in place of the facts, notes of the same words.
"""

from __future__ import annotations

import random
import statistics
import tempfile
from collections.abc import Callable
from itertools import cycle
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any

import perdure
from report import Row, say

if TYPE_CHECKING:
    from perdure.memory import Memory

FACTS, ENTITIES, NOTES, PAGE = 20_000, 1000, 1000, 1000
NAMES = (
    "home", "employer", "phone", "birthday", "team", "hobby", "manager", "desk", "language", "tool",
    "city", "size", "diet", "car", "pet", "allergy", "school", "coach", "room", "badge",
)  # fmt: skip
RUNS = 21
WORDS_ONLY = {"embedder": {"model": "none"}}
"""So that what is measured is reading, and no embedder."""


def median_ms(read: Callable[[], object], runs: int = RUNS) -> float:
    """Return the median processor time of a read in milliseconds, after one that warms up."""
    read()
    times = []
    for _ in range(runs):
        begun = process_time()
        read()
        times.append(1000 * (process_time() - begun))
    return statistics.median(times)


def fill(memory: Memory, facts: int, *, as_notes: bool) -> float:
    """Store notes and facts, and return how many facts a second were taken."""
    chance = random.Random(1)
    words = [f"word{i}" for i in range(3000)]
    memory.remember_many([{"content": " ".join(chance.choices(words, k=12))} for _ in range(NOTES)])
    claims: list[dict[str, Any]] = [
        {"subject": f"Person {i // 20}", "predicate": NAMES[i % 20], "value": f"value{chance.randrange(500)}"}
        for i in range(facts)
    ]
    begun = process_time()
    for at in range(0, facts, PAGE):
        some = claims[at : at + PAGE]
        if as_notes:
            memory.remember_many([{"content": f"{c['subject']}: {c['predicate']}: {c['value']}"} for c in some])
        else:
            memory.learn(claims=some)
    return facts / (process_time() - begun)


def rows() -> list[Row]:
    """Return what reading takes."""
    with (
        tempfile.TemporaryDirectory() as folder,
        perdure.open(Path(folder) / "facts.db", WORDS_ONLY) as memory,
        perdure.open(Path(folder) / "notes.db", WORDS_ONLY) as plain,
        perdure.open(Path(folder) / "few.db", WORDS_ONLY) as few,
    ):
        say(f"  {FACTS:,} facts of {ENTITIES:,} entities")
        rate = fill(memory, FACTS, as_notes=False)
        fill(plain, FACTS, as_notes=True)
        fill(few, 100, as_notes=False)
        asked = [f"What is the {NAMES[i % 20]} of Person {i * 37 % ENTITIES}?" for i in range(40)]

        def recall(store: Memory) -> float:
            questions = cycle(asked)
            return median_ms(lambda: store.recall(next(questions), touch=False), 2 * RUNS)

        questions = cycle(asked)
        floor = recall(plain)
        return [
            Row("claims a second", rate, "/s", 1000, at_least=True),
            Row("recall beside 20,000 facts", recall(memory), "ms", 1.5 * floor, floor, note="floor: as notes"),
            Row("facts(limit=100)", median_ms(lambda: memory.facts(limit=100)), "ms", 20,
                median_ms(lambda: few.facts(limit=100)), note="floor: a store of 100 facts"),
            Row("answer sheet", median_ms(lambda: memory.answer_sheet(next(questions))), "ms", 40, floor,
                note="floor: a recall"),
            Row("digest of 21,000 memories", median_ms(memory.digest, 5), "ms", None,
                median_ms(few.digest, 5), note="floor: of 1,100 memories"),
        ]  # fmt: skip
