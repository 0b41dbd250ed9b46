"""Several processes with several threads each, on one file for some minutes: no error, and no acknowledged write lost.

    python benchmarks/parallel.py [--processes 4] [--threads 8] [--seconds 600]

Each thread remembers, replaces, forgets, restores, undoes and recalls, and keeps its own ledger of what it was told. In
the end every line of every ledger is compared with the store, the whole file with its journal, and the number of
memories with what was stored. The exit code is 1 where something failed, differs or is missing.
"""

from __future__ import annotations

import json
import multiprocessing
import random
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

import numpy as np

import perdure
from perdure.records.vector import Space
from report import parser, say

DIMENSIONS: Final = 64
SPACE: Final = Space("parallel", DIMENSIONS)
WORDS: Final = [
    a + b + c for a in ("ba", "den", "fi", "gor") for b in ("la", "mel", "nu", "ro") for c in ("ta", "ves", "zi")
]
SHOWN: Final = 5  # faults of each kind that are printed

Ledger = dict[str, tuple[str, str]]
"""Memory -> (its text, its status; ``gone`` where its storing was undone)."""


class Digested:
    """An embedder that makes a text's vector of its digest."""

    space = SPACE

    def embed(self, texts: Sequence[str], *, purpose: str) -> list[bytes]:  # noqa: ARG002  # the port's signature
        """Return unit vectors."""
        return [_vector(text) for text in texts]


def _vector(text: str) -> bytes:
    seed = int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")
    vector = np.random.default_rng(seed).standard_normal(DIMENSIONS)
    return (vector / np.linalg.norm(vector)).astype("<f4").tobytes()


class Worker:
    """One thread: what it does next is drawn, and what it is told is kept."""

    def __init__(self, memory: perdure.Memory, name: str, seed: int) -> None:
        self.memory, self.name = memory, name
        self.random = random.Random(seed)  # a script, no secret
        self.ledger: Ledger = {}
        self.done: Counter[str] = Counter()
        self.errors: list[str] = []
        self.slowest = 0.0
        self._told = 0
        calls: dict[str, tuple[int, Callable[[], None]]] = {
            "remember": (40, self._remember),
            "remember_many": (8, self._remember_many),
            "recall": (30, self._recall),
            "update": (8, self._update),
            "forget": (5, self._forget),
            "restore": (3, self._restore),
            "undo": (5, self._undo),
            "sweep": (1, self._sweep),
        }
        self._names, self._weights = list(calls), [weight for weight, _ in calls.values()]
        self._calls = {name: call for name, (_, call) in calls.items()}

    def work(self, until: float) -> None:
        """Work until an instant of the monotonic clock."""
        while time.monotonic() < until:
            name = self.random.choices(self._names, self._weights)[0]
            begun = time.monotonic()
            try:
                self._calls[name]()
                self.done[name] += 1
            except Exception:  # noqa: BLE001  # whatever it is, it is counted
                self.errors.append(f"{name}: {traceback.format_exc(limit=-3)}")
            self.slowest = max(self.slowest, time.monotonic() - begun)

    def _text(self) -> str:
        self._told += 1
        return f"{self.name} says {self._told}: {' '.join(self.random.choices(WORDS, k=12))}."

    def _one(self, status: str) -> str | None:
        found = [identity for identity, (_, now) in self.ledger.items() if now == status]
        return self.random.choice(found[-200:]) if found else None

    def _remember(self) -> None:
        text = self._text()
        self.ledger[self.memory.remember(text, tags=[self.name]).id] = text, "active"

    def _remember_many(self) -> None:
        texts = [self._text() for _ in range(5)]
        for text, outcome in zip(texts, self.memory.remember_many(texts), strict=True):
            self.ledger[outcome.memory.id] = text, "active"

    def _recall(self) -> None:
        identity = self._one("active")
        if identity is not None:
            asked = self.ledger[identity][0]
            if identity not in [hit.memory.id for hit in self.memory.recall(asked, limit=5).hits]:
                raise LookupError(f"{identity} is not found by its own words")

    def _update(self) -> None:
        identity, text = self._one("active"), self._text()
        if identity is not None:
            new = self.memory.update(identity, text)
            self.ledger[identity] = self.ledger[identity][0], "superseded"
            self.ledger[new.memory.id] = text, "active"

    def _forget(self) -> None:
        if identity := self._one("active"):
            self.memory.forget(identity)
            self.ledger[identity] = self.ledger[identity][0], "archived"

    def _restore(self) -> None:
        if identity := self._one("archived"):
            self.memory.restore(identity)
            self.ledger[identity] = self.ledger[identity][0], "active"

    def _undo(self) -> None:
        text = self._text()
        stored = self.memory.remember(text)
        self.ledger[stored.id] = text, "active"
        if stored.operation is not None:
            self.memory.undo(stored.operation)
            self.ledger[stored.id] = text, "gone"

    def _sweep(self) -> None:
        self.memory.sweep()


def opened(path: str) -> perdure.Memory:
    """Return the store, with vectors that cost nothing to make."""
    return perdure.open(path, policy={}, embedder=Digested())


def process(path: str, number: int, threads: int, seconds: float, answer: str) -> None:
    """Run some threads on one store for so long, and write down what they were told."""
    with opened(path) as memory:
        until = time.monotonic() + seconds
        workers = [Worker(memory, f"p{number}t{thread}", 100 * number + thread) for thread in range(threads)]
        running = [threading.Thread(target=worker.work, args=(until,)) for worker in workers]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()
    told = [vars(w) for w in workers]
    kept = ("name", "ledger", "done", "errors", "slowest")
    Path(answer).write_text(json.dumps([{name: one[name] for name in kept} for one in told]), "utf-8")


def compared(path: str, told: list[dict[str, Any]]) -> list[str]:
    """Return in which ways the store differs from what its threads were told."""
    faults: list[str] = []
    with opened(path) as memory:
        for one in told:
            for identity, (text, status) in one["ledger"].items():
                faults += _difference(memory, identity, text, status)
        kept = sum(status != "gone" for one in told for _, status in one["ledger"].values())
        held = sum(memory.stats().statuses.values())
        if held != kept:
            faults.append(f"{held} memories are stored, {kept} were acknowledged")
        faults += memory.check(full=True)
    return faults


def _difference(memory: perdure.Memory, identity: str, text: str, status: str) -> list[str]:
    found = memory.get(identity, include_archived=True)
    if found is None:
        return [] if status == "gone" else [f"{identity} ({status}) is lost"]
    if (found.content, found.status.value) != (text, status):
        return [f"{identity} is {found.status} {found.content[:40]!r}, and was to be {status} {text[:40]!r}"]
    return []


def report(told: list[dict[str, Any]], faults: list[str], seconds: float) -> int:
    """Print what was done and what was wrong; return the exit code."""
    done: Counter[str] = Counter()
    for one in told:
        done.update(one["done"])
    errors = [error for one in told for error in one["errors"]]
    writes = [sum(n for name, n in one["done"].items() if name not in ("recall", "sweep")) for one in told]
    say(f"{sum(done.values()):,} calls of {len(told)} threads in {seconds:.0f} s: {dict(done)}")
    say(f"memories {sum(len(one['ledger']) for one in told):,}; slowest call {max(o['slowest'] for o in told):.2f} s")
    say(f"writes of the least and the most busy thread {min(writes)} and {max(writes)}")
    for what, some in (("errors", errors), ("differences", faults)):
        say(f"{what}: {len(some)}")
        for line in some[:SHOWN]:
            say(f"  {line}")
    return 1 if errors or faults or not sum(writes) else 0


def main(arguments: Sequence[str] | None = None) -> int:
    given = parser(__doc__)
    given.add_argument("--processes", type=int, default=4)
    given.add_argument("--threads", type=int, default=8)
    given.add_argument("--seconds", type=float, default=600.0)
    options = given.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="perdure-parallel-") as folder:
        path = str(Path(folder) / "shared.db")
        opened(path).close()
        begun = time.monotonic()
        answers = [Path(folder) / f"{number}.json" for number in range(options.processes)]
        starting = multiprocessing.get_context("spawn")
        children = [
            starting.Process(target=process, args=(path, n, options.threads, options.seconds, str(answer)))
            for n, answer in enumerate(answers)
        ]
        for child in children:
            child.start()
        for child in children:
            child.join()
        if failed := [child.exitcode for child in children if child.exitcode]:
            say(f"a process ended with {failed[0]}")
            return 1
        worked = time.monotonic() - begun
        told = [one for answer in answers for one in json.loads(answer.read_text("utf-8"))]
        return report(told, compared(path, told), worked)


if __name__ == "__main__":
    sys.exit(main())
