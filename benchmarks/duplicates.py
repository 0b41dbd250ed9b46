"""Near-duplicates among all memories: seconds, memory, and the share found against comparing everything.

Usage: python benchmarks/duplicates.py [--rows N,...] [--quick]

Data: clustered 384-dimensional vectors, neighbours at cosine 0.6 to 0.9; one row in fifty is a near-duplicate of
another (cosine 0.95 to 0.99), one in fifty comes close to being one (0.70 to 0.84). The floor is the plain product of
all rows with all others, above the diagonal, in the same run. :func:`texts` makes sentences for what judges words.
"""

from __future__ import annotations

import os
import time
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

# codes_scan asks for one thread, as on the recall path; a search of everything may use what is there.
os.environ.setdefault("OPENBLAS_NUM_THREADS", str(os.cpu_count() or 1))

import numpy as np

from codes_scan import clustered
from perdure.formulas.likeness import cosine_needed
from perdure.formulas.pairs import EXACT_UP_TO, similar_pairs
from perdure.rules.duplicates import groups, likenesses
from report import Row, finished, parser, say

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SIZES = "10000,100000"
SEED = 7
THRESHOLD = 0.85
SECONDS = {10_000: 1.0, 100_000: 40.0}
RESIDENT_MB = {100_000: 1000.0}
BLOCK = 2048


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
    judge, _ = timed(lambda: groups(likenesses(ids, said, found, least=THRESHOLD), THRESHOLD))
    return [
        Row(f"near-duplicates of {size:,} as consolidation asks for them (cosine {needed:.3f})", search, "s"),
        Row(f"shared words and groups of {len(found):,} pairs", judge, "s"),
    ]


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--rows", default=SIZES, help="sizes, separated by commas")
    arguments.add_argument("--quick", action="store_true", help="the first size only")
    given = arguments.parse_args()
    sizes = [int(size) for size in given.rows.split(",")][: 1 if given.quick else None]
    finished([row for size in sizes for row in measured(size)], as_json=given.json)


if __name__ == "__main__":
    main()
