"""Near-duplicates among all memories: seconds, memory, and the share found against comparing everything.

Usage: python benchmarks/duplicates.py [--rows N,...] [--quick]

Data: clustered 384-dimensional vectors, neighbours at cosine 0.6 to 0.9; one row in fifty is a near-duplicate of
another (cosine 0.95 to 0.99), one in fifty comes close to being one (0.70 to 0.84). The floor is the plain product of
all rows with all others, above the diagonal, in the same run. :func:`texts` makes sentences for what judges words.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

# codes_scan asks for one thread, as on the recall path; a search of everything may use what is there.
os.environ.setdefault("OPENBLAS_NUM_THREADS", str(os.cpu_count() or 1))

import numpy as np

import perdure
from codes_scan import clustered
from perdure.formulas.likeness import cosine_needed
from perdure.formulas.pairs import EXACT_UP_TO, similar_pairs
from perdure.records.vector import Space
from perdure.rules.consolidation.duplicates import compare_found, connected_groups
from perdure.rules.consolidation.similarity_index import SimilarityIndex
from report import Row, finished, parser, say

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

SIZES = "10000,100000"
SEED = 7
THRESHOLD = 0.85
SECONDS = {10_000: 1.0, 100_000: 40.0}
RESIDENT_MB = {100_000: 1000.0}
SECONDS_IN_ALL = {10_000: 2.0, 100_000: 40.0}
SMALL = 10_000
BLOCK = 2048
POLICY = {
    "embedder": {"model": "none"},
    "consolidate": {"require_dry_run": False},
    "gates": {"loss_free_count": 1_000_000},
}


class Triple(NamedTuple):
    """A text, one that says the same in nearly the same words, and one of the same words that says something else."""

    text: str
    same: str
    other: str
    changed: str
    """What tells ``other`` apart: number, date, name, negation, identifier or unit."""


class Planted(NamedTuple):
    """Vectors, and the positions of planted pairs [p, 2]: near-duplicates, and those that only come close."""

    rows: np.ndarray[Any, Any]
    near: np.ndarray[Any, Any]
    close: np.ndarray[Any, Any]


TEMPLATES = {
    "number": (
        "The {thing} listens on port {n} in {place}.",
        "the {thing} is listening on port {n} in {place}",
        "The {thing} listens on port {m} in {place}.",
    ),
    "date": (
        "{name} moves the {thing} to {place} on {n} March.",
        "{name} will move the {thing} to {place} on {n} March.",
        "{name} moves the {thing} to {place} on {m} March.",
    ),
    "name": (
        "{name} owns the {thing} and answers for it in {place}.",
        "{name} owns the {thing}, and answers for it in {place}",
        "{rival} owns the {thing} and answers for it in {place}.",
    ),
    "negation": (
        "The {thing} in {place} is backed up every night, says {name}.",
        "{name} says the {thing} in {place} is backed up every night.",
        "The {thing} in {place} is not backed up every night, says {name}.",
    ),
    "identifier": (
        "{name} set max_retries of the {thing} to {n} in config_{place}.yaml.",
        "In config_{place}.yaml {name} set max_retries of the {thing} to {n}.",
        "{name} set min_retries of the {thing} to {n} in config_{place}.yaml.",
    ),
    "unit": (
        "The {thing} in {place} times out after {n} seconds.",
        "the {thing} in {place} times out after {n} seconds",
        "The {thing} in {place} times out after {n} minutes.",
    ),
}
THINGS = ("build server", "invoice queue", "search index", "mail gateway", "login page", "price cache", "sensor hub")
PLACES = ("Lyon", "Oslo", "Porto", "Quito", "Turin")
NAMES = ("Ann", "Ben", "Chloe", "Dinesh", "Elif")


def texts() -> Iterator[Triple]:
    """Yield triples, the same ones every time: each template with each thing, place and name."""
    for number, (thing, place, (which, name)) in enumerate(product(THINGS, PLACES, enumerate(NAMES))):
        words = {"thing": thing, "place": place, "name": name, "rival": NAMES[which - 1]}
        words |= {"n": str(2 + number % 26), "m": str(3 + number % 26)}
        for changed, (text, same, other) in TEMPLATES.items():
            yield Triple(text.format(**words), same.format(**words), other.format(**words), changed)


def planted(rows: int) -> Planted:
    """Return clustered vectors in which one row in fifty is a near-duplicate, and one in fifty comes close."""
    data = np.concatenate(list(clustered(rows, SEED, per_row=False)))
    random = np.random.default_rng(SEED + 1)
    count = rows // 50
    chosen = random.permutation(rows)[: 4 * count].reshape(4, count)
    for of, to, low, high in ((chosen[0], chosen[1], 0.95, 0.99), (chosen[2], chosen[3], 0.70, 0.84)):
        cosine = random.uniform(low, high, (count, 1)).astype(np.float32)
        away = random.standard_normal((count, data.shape[1]), np.float32)
        away -= (away * data[of]).sum(axis=1, keepdims=True) * data[of]
        away /= np.linalg.norm(away, axis=1, keepdims=True)
        data[to] = cosine * data[of] + np.sqrt(1 - cosine**2) * away
    return Planted(data, np.sort(chosen[:2].T, axis=1), np.sort(chosen[2:].T, axis=1))


def keys(pairs: Any, rows: int) -> Any:
    """Return one number for each pair."""
    return pairs.i.astype(np.int64) * rows + pairs.j


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def highest_mb() -> float:
    """Return the most memory that this process has held; 0 where the system does not say."""
    status = Path("/proc/self/status")
    lines = status.read_text("ascii").splitlines() if status.exists() else []
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")), 0.0)


def plain_product(rows: np.ndarray[Any, Any]) -> None:
    """Multiply all rows with all others, above the diagonal, and look at nothing."""
    out = np.empty(BLOCK * 2 * BLOCK, np.float32)
    for start in range(0, len(rows), BLOCK):
        left = rows[start : start + BLOCK]
        for other in range(start, len(rows), 2 * BLOCK):
            right = rows[other : other + 2 * BLOCK]
            np.matmul(left, right.T, out=out[: len(left) * len(right)].reshape(len(left), len(right)))


def measured(size: int) -> list[Row]:
    """Measure one size."""
    data = planted(size)
    seconds, found = timed(lambda: similar_pairs(data.rows, THRESHOLD))
    memory = highest_mb()
    floor, _ = timed(lambda: plain_product(data.rows))
    whole, every = timed(lambda: similar_pairs(data.rows, THRESHOLD, exact_up_to=size))
    here, there = keys(found, size), keys(every, size)
    near, close = (pairs[:, 0].astype(np.int64) * size + pairs[:, 1] for pairs in (data.near, data.close))
    way = "all pairs" if size <= EXACT_UP_TO else "through cells"
    say(f"{size:,}: {seconds:.2f} s, {len(found):,} pairs; {np.isin(close, here).sum()} of those that only come close")
    rows = [
        Row(f"near-duplicates of {size:,}, {way} (floor: the plain product)", seconds, "s", SECONDS.get(size), floor),
        Row(f"near-duplicates of {size:,}: memory at its highest", memory, "MB", RESIDENT_MB.get(size)),
        Row(f"near-duplicates of {size:,}: planted ones found", np.isin(near, here).mean(), "", 0.99, at_least=True),
        Row(f"near-duplicates of {size:,}: pairs found, of all", np.isin(there, here).mean(), "", 0.99, at_least=True),
        Row(f"near-duplicates of {size:,}: wrong pairs", float(np.isin(here, there, invert=True).sum()), "", 0.0),
    ]
    if size > EXACT_UP_TO:
        rows.append(Row(f"near-duplicates of {size:,}, all pairs (floor: the plain product)", whole, "s", None, floor))
    return [*rows, *judging(size, data)]


def judging(size: int, data: Planted) -> list[Row]:
    """Measure what follows: the search as consolidation asks for it, shared words, groups."""
    sentences = [text for triple in texts() for text in triple[:3]]
    ids, said = [f"m{n:09}" for n in range(size)], [sentences[n % len(sentences)] for n in range(size)]
    needed = cosine_needed(THRESHOLD)
    search, found = timed(lambda: similar_pairs(data.rows, needed))
    judge, _ = timed(lambda: connected_groups(compare_found(ids, said, found, least=THRESHOLD), THRESHOLD))
    return [
        Row(f"near-duplicates of {size:,} as consolidation asks for them (cosine {needed:.3f})", search, "s"),
        Row(f"shared words and groups of {len(found):,} pairs", judge, "s"),
    ]


class Given:
    """An embedder whose vectors are given: each text has its row."""

    def __init__(self, said: Sequence[str], rows: np.ndarray[Any, Any]) -> None:
        self.space = Space("given", rows.shape[1], "1")
        self._vectors = dict(zip(said, rows, strict=True))

    def embed(self, texts: Sequence[str], *, purpose: str) -> list[bytes]:
        """Return the rows of the texts."""
        del purpose
        return [self._vectors[text].astype("<f4").tobytes() for text in texts]


def stored(size: int, folder: Path) -> tuple[Path, Planted, list[str]]:
    """Make a store of so many memories: planted pairs say the same in both, or nearly and something else."""
    data = planted(size)
    triples = list(texts())
    said = [f"{triples[n % len(triples)].text} {n}" for n in range(size)]  # a number of its own keeps each apart
    for number, (one, other) in enumerate(data.near):
        said[one], said[other] = (f"{triples[number % len(triples)].text[:-1]} at {number}{end}" for end in ("", "."))
    for number, (one, other) in enumerate(data.close):
        triple = triples[number % len(triples)]
        said[one], said[other] = f"{triple.text} At {number}.", f"{triple.other} At {number}."
    path = folder / f"consolidate-{size}.db"
    with perdure.open(path, policy=POLICY, embedder=Given(said, data.rows)) as memory:
        memory.remember_many(said, embed="later")
        memory.reembed()
    return path, data, said


CHILD = """
import json, os, sys, time
os.environ["OPENBLAS_NUM_THREADS"] = str(os.cpu_count() or 1)
import duplicates, perdure
with perdure.open(sys.argv[1], policy=duplicates.POLICY) as memory:
    start = time.perf_counter()
    done = memory.consolidate("default", max_groups=100)
    seconds = time.perf_counter() - start
print(json.dumps([seconds, duplicates.highest_mb(), done.groups_found, list(done.notes)]))
"""


def consolidating(size: int) -> list[Row]:
    """Measure a preview through the public verb, in a process of its own; where it is small, all merges as well."""
    with TemporaryDirectory() as folder:
        path, data, said = stored(size, Path(folder))
        paths = os.pathsep.join([str(Path(__file__).parent), str(Path(perdure.__file__).parents[1])])
        out = subprocess.run(  # ourselves
            [sys.executable, "-c", CHILD, str(path)],
            env={**os.environ, "PYTHONPATH": paths},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        seconds, memory, found, notes = json.loads(out)
        say(f"consolidate {size:,}: {seconds:.2f} s, {memory:.0f} MB, {found} groups; {'; '.join(notes)}")
        name = f"consolidate {size:,} memories: a preview"
        rows = [
            Row(name, seconds, "s", SECONDS_IN_ALL.get(size)),
            Row(f"{name}, memory at its highest", memory, "MB", RESIDENT_MB.get(size)),
        ]
        if size > SMALL:
            return rows
        right, wrong = merging(path, data, said)
        return [
            *rows,
            Row(f"consolidate {size:,}: planted near-duplicates merged", right, "", 0.99, at_least=True),
            Row(f"consolidate {size:,}: changed facts merged", float(wrong), "", 0.0),
        ]


def merging(path: Path, data: Planted, said: Sequence[str]) -> tuple[float, int]:
    """Merge until nothing is left, and return the share of planted pairs that were, and how many wrong ones."""
    with perdure.open(path, policy=POLICY) as memory:
        of = {text: number for number, text in enumerate(said)}
        row: dict[str, int] = {}
        last = None
        while page := memory.list(limit=1000, before=last):
            row |= {m.id: of[m.content] for m in page}
            last = page[-1]
        together: dict[int, int] = {}
        while True:
            done = memory.consolidate("default", 0.75, dry_run=False, max_groups=100)
            for group in done.groups:
                if group.action_taken == "merged":
                    first = row[group.representative_id]
                    together |= {row[i]: first for i in group.member_ids if row[i] != first}
            if not done.memories_merged:
                break

    def stands_for(place: int) -> int:
        while place in together:
            place = together[place]
        return place

    def merged(pairs: np.ndarray[Any, Any]) -> int:
        return sum(stands_for(a) == stands_for(b) for a, b in pairs.tolist())

    return merged(data.near) / len(data.near), merged(data.close)


def real() -> list[Row]:
    """Measure sentences with the local embedder: what says the same is found, and what does not is never merged."""
    triples = list(texts())
    try:
        memory = perdure.open(":memory:", policy={**POLICY, "embedder": {"model": "local"}})
    except perdure.PerdureError as error:
        say(f"without the local embedder: {error}")
        return []
    with memory:
        stored = [m.id for m in memory.remember_many([text for t in triples for text in t[:3]])]
        ids = [stored[n : n + 3] for n in range(0, len(stored), 3)]
        if memory.stats().without_vector:
            return []
        found = sum(_alike(memory, a, b) for a, b, _ in ids)
        merged: dict[str, str] = {}
        while True:
            done = memory.consolidate("default", 0.7, dry_run=False, max_groups=100)
            for group in done.groups:
                if group.action_taken == "merged":
                    gone = (i for i in group.member_ids if i != group.representative_id)
                    merged |= dict.fromkeys(gone, group.representative_id)
            if not done.memories_merged:
                break

    def stands_for(identity: str) -> str:
        while identity in merged:
            identity = merged[identity]
        return identity

    wrong = sum(stands_for(a) == stands_for(c) for a, _, c in ids)
    right = sum(stands_for(a) == stands_for(b) for a, b, _ in ids)
    say(f"of {len(ids)} rewordings {right} were merged")
    return [
        Row("sentences: rewordings found (local embedder)", found / len(ids), "", 0.99, at_least=True),
        Row("sentences: changed facts merged (local embedder)", float(wrong), "", 0.0),
    ]


def _alike(memory: Any, one: str, other: str) -> bool:
    """Whether two memories would be in one group at the default threshold."""
    corpus = SimilarityIndex()
    store = memory._context.store  # noqa: SLF001  # vectors are no part of what memories show
    corpus.add(store.get("default", [one, other]), store.vectors("default", [one, other]))
    return all(p.reaches(THRESHOLD) for p in corpus.compared([(one, other)], memory.policy.consolidate))


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--rows", default=SIZES, help="sizes, separated by commas")
    arguments.add_argument("--quick", action="store_true", help="the first size only")
    given = arguments.parse_args()
    sizes = [int(size) for size in given.rows.split(",")][: 1 if given.quick else None]
    found = [row for size in sizes for row in (*measured(size), *consolidating(size))]
    finished([*found, *real()], as_json=given.json)


if __name__ == "__main__":
    main()
