"""Made-up stores for the benchmarks: clustered vectors, words of a Zipf vocabulary, sessions of 20 turns.

A store is built once for each size, through the engine's own plans, and kept under the temporary folder. Its key holds
the schema and this recipe, so that a changed schema never measures an old file.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw
import numpy as np

from codes_scan import DIMENSIONS, clustered, corpus
from perdure.records.memory import Draft, Kind, Scope
from perdure.records.plan import Plan
from perdure.records.policy import Policy
from perdure.records.vector import Space
from perdure.rules.insertion import PreparedDraft, initial_states, insertions, new_record
from perdure.rules.language.words import STOP_WORDS
from perdure.stores.sqlite.store import SqliteStore
from perdure.stores.statements import migrations

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

BASE_MS = 1_767_225_600_000  # 2026-01-01: made-up stores live at a made-up time
WINDOW_MS = 12 * 3_600_000  # everything happened in twelve hours, so that nothing is due at their end
NOW_MS = BASE_MS + WINDOW_MS
BATCH = 500  # as operations/remember.py
SMALL = 1000
QUERIES = 120
SEED = 7
SPACE = Space("made-up", DIMENSIONS)
RECIPE = "3"
VOCABULARY = 40_000


@dataclass(frozen=True)
class Made:
    """A built store and what is known about it."""

    path: Path
    rows: int
    questions: list[str]
    vectors: dict[str, bytes]
    truth: Any
    """Ids of the exact ten nearest rows of each question, [questions, 10]."""
    tenth: Any
    plan_seconds: float
    apply_seconds: float


class Given:
    """An embedder that only looks up: the vectors are given."""

    space = SPACE

    def __init__(self, vectors: dict[str, bytes]) -> None:
        self.vectors = vectors

    def embed(self, texts: Sequence[str], *, purpose: str) -> list[bytes]:  # noqa: ARG002  # the port's signature
        """Return the vectors of these texts."""
        return [self.vectors[text] for text in texts]


class Words:
    """Texts of words whose frequencies follow Zipf's law: English stop words first, then made-up words."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        syllables = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "el", "or")]
        parts = self.random.choice(syllables, (2 * VOCABULARY, 3))
        made = dict.fromkeys("".join(p[: 2 + i % 2]) for i, p in enumerate(parts.tolist()))
        self.stop = [w for w in sorted(STOP_WORDS) if len(w) > 1]
        self.words = np.array([*self.stop, *[w for w in made if w not in STOP_WORDS]][:VOCABULARY])
        ranks = np.arange(1, len(self.words) + 1) + 2.7
        self.edges = np.cumsum(1 / ranks**1.05)
        self.edges /= self.edges[-1]

    def texts(self, count: int) -> list[str]:
        """Return texts of 6 to 24 words."""
        lengths = self.random.integers(6, 25, count)
        drawn = self.words[np.searchsorted(self.edges, self.random.random(int(lengths.sum())))].tolist()
        ends = np.cumsum(lengths).tolist()
        return [" ".join(drawn[e - n : e]) + "." for e, n in zip(ends, lengths.tolist(), strict=True)]

    def question(self, text: str) -> str:
        """Return a question that shares up to five words with a text."""
        words = [w for w in text.rstrip(".").split() if w not in STOP_WORDS]
        chosen = self.random.permutation(words)[:5].tolist()
        return f"When did the {' '.join(chosen)} happen to you?"


def identity(number: int, place: int = 0) -> str:
    """Return the id of a row: in the form and order of UUIDv7."""
    return f"01900000-{place:04x}-7000-8000-{number:012x}"


def drafts(texts: list[str], first: int, rows: int, random: np.random.Generator) -> Iterator[Draft]:
    """Yield drafts: seven in ten are messages of sessions of 20 turns, one in ten has tags."""
    draws = random.random((len(texts), 3))
    for i, text in enumerate(texts):
        number, (what, tagged, which) = first + i, draws[i].tolist()
        message = what < 0.7
        tags = (f"project-{int(which * 10)}", "decision") if tagged < 0.1 else ()
        yield Draft(
            text=text,
            kind=Kind.EPISODE if message else Kind.FACT if what > 0.9 else Kind.NOTE,
            scope=Scope.LONG_TERM,
            importance=0.5,
            confidence=1.0 if message else 0.8,
            at=BASE_MS + WINDOW_MS * number // rows,
            tags=tags,
            speaker=("Ann", "Ben")[number % 2] if message else None,
            session=f"session-{number // 20}",
            turn=number % 20,
            message=message,
        )


def plan(batch: list[PreparedDraft], namespace: str, number: int, policy: Policy) -> Plan:
    """Return the plan that stores a batch, as operations/remember.py makes it."""
    name = identity(number, 0xFFFF if namespace == "default" else 0xFFFE)
    records = [
        new_record(n, s, namespace, name) for n, s in zip(batch, initial_states(batch, policy, NOW_MS), strict=True)
    ]
    changes = insertions(records, batch, policy, SPACE.name)
    return Plan(
        name, "remember", namespace, NOW_MS, tuple(changes), policy.version, f"remember: {len(records)} memories"
    )


def plans(rows: int, namespace: str = "default", policy: Policy | None = None) -> Iterator[Plan]:
    """Yield the plans that fill a namespace."""
    seed, place = (SEED, 0) if namespace == "default" else (SEED + 1, 1)
    words, random, number = Words(seed), np.random.default_rng(seed), 0
    for block in clustered(rows, seed, per_row=False):
        for start in range(0, len(block), BATCH):
            vectors = block[start : start + BATCH].astype("<f4")
            made = drafts(words.texts(len(vectors)), number, rows, random)
            batch = [PreparedDraft(identity(number + i, place), d, vectors[i].tobytes()) for i, d in enumerate(made)]
            yield plan(batch, namespace, number, policy or Policy())
            number += len(batch)


def store(rows: int) -> Made:
    """Return a store of so many rows, built now or earlier."""
    key = blake2b((repr(migrations("sqlite")) + RECIPE).encode(), digest_size=4).hexdigest()
    folder = Path(tempfile.gettempdir()) / "perdure-benchmarks"
    folder.mkdir(exist_ok=True)
    path, facts = folder / f"{rows}-{key}.db", folder / f"{rows}-{key}.npz"
    if not facts.exists():
        _build(path, facts, rows)
    with np.load(facts) as data:
        questions = data["questions"].tolist()
        queries = data["queries"].astype("<f4")
        vectors = {text: row.tobytes() for text, row in zip(questions, queries, strict=True)}
        ids = [[identity(n) for n in row] for row in data["truth"].tolist()]
        seconds = data["seconds"].tolist()
        return Made(path, rows, questions, vectors, ids, data["tenth"], *seconds)


def copied(made: Made, name: str) -> Path:
    """Return a copy that may be written to; it was last swept under today's policy."""
    path = made.path.with_name(f"copy-{os.getpid()}-{name}-{made.rows}.db")
    shutil.copyfile(made.path, path)
    connection = apsw.Connection(str(path))
    connection.execute("UPDATE namespace SET policy = ?", (Policy().version,))
    connection.close()
    return path


def discard(path: Path) -> None:
    """Remove a store with its side files."""
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _build(path: Path, facts: Path, rows: int) -> None:
    discard(path)
    data = corpus(rows, QUERIES, per_row=False, seed=SEED)
    asked = np.sort(np.random.default_rng(SEED + 1).choice(rows, QUERIES, replace=False)).tolist()
    texts: dict[int, str] = {}
    spent = [0.0, 0.0]
    target = SqliteStore(str(path))
    target.add_space(SPACE, activate=True)
    done, start, last = 0, time.perf_counter(), 0.0
    for made in (*plans(SMALL, "small"), *()):
        target.apply(made)
    for made in plans(rows):
        planned = time.perf_counter()
        target.apply(made)
        now = time.perf_counter()
        spent[1] += now - planned
        texts.update((n, made.changes[n - done].after["text"]) for n in asked if done <= n < done + BATCH)
        done += BATCH
        if now - last > 5:
            print(f"  building {rows:,}: {done:,} rows, {done / (now - start):,.0f} a second", file=sys.stderr)
            last = now
    spent[0] = time.perf_counter() - start - spent[1]
    target.close()
    words = Words(SEED + 2)
    questions = [words.question(texts[n]) for n in asked]
    np.savez(
        facts,
        questions=np.array(questions),
        queries=data.queries,
        truth=data.truth,
        tenth=data.tenth,
        seconds=np.array(spent),
    )
