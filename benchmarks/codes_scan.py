"""Speed, recall and memory of the 1-bit vector index.

Usage: python benchmarks/codes_scan.py [--cells COUNT,...] [--queries N] [--spread row] [SIZE ...]
(default sizes: 100000 1000000)

Data: SIZE / 100 cluster centres on the sphere, 384 dimensions, neighbours at cosine 0.6 to 0.9; queries are perturbed
rows. Recall@10 is against exact float32 cosine, three ways: "bits", the ten are among the 400 candidates; "strict",
they are the ten best after rescoring from int8 rows; "eps", as ann-benchmarks counts: a returned row is right when its
cosine is not more than 0.001 below the tenth's. (Rows of one synthetic cluster are nearly equally far from a query:
that is where int8 swaps the tenth and the eleventh. --spread row makes clusters that have near and far rows.) Every
time is a median in milliseconds; "floor" is numpy reading the same bytes once in the same run, because this is meant
to be run on noisy machines.
"""

from __future__ import annotations

import argparse
import gc
import os
import statistics
import time
from typing import TYPE_CHECKING, Any, NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is imported: one thread, as on the recall path

import numpy as np

from perdure.stores.cells import CellLists, Cells
from perdure.stores.codes import Codes, encode, quantize, similarities

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DIMENSIONS = 384
CANDIDATES = 400
SEGMENT = 4096
PROBES = (1, 2, 4, 8, 16, 32, 64, 128)


class Corpus(NamedTuple):
    """int8 rows [n, d], queries [q, d], their exact ten nearest rows [q, 10] and the cosine of the tenth [q]."""

    rows: np.ndarray[Any, Any]
    queries: np.ndarray[Any, Any]
    truth: np.ndarray[Any, Any]
    tenth: np.ndarray[Any, Any]


def clustered(size: int, seed: int, per_row: bool) -> Iterator[np.ndarray[Any, Any]]:
    """Blocks of unit float32 rows; the same seed gives the same rows, so they need not all be kept."""
    random = np.random.default_rng(seed)
    centres = random.standard_normal((max(1, size // 100), DIMENSIONS), np.float32)
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    spread = np.sqrt(random.uniform(0.11, 0.67, (size if per_row else len(centres), 1)) / DIMENSIONS)
    spread = spread.astype(np.float32)
    for start in range(0, size, 50_000):
        of = random.integers(0, len(centres), min(50_000, size - start))
        scale = spread[start : start + len(of)] if per_row else spread[of]
        rows = centres[of] + scale * random.standard_normal((len(of), DIMENSIONS), np.float32)
        yield rows / np.linalg.norm(rows, axis=1, keepdims=True)


def corpus(size: int, queries: int, per_row: bool, seed: int = 7) -> Corpus:
    random = np.random.default_rng(seed + 1)
    asked = np.sort(random.choice(size, queries, replace=False))
    picked, start = [], 0
    for block in clustered(size, seed, per_row):
        picked.append(block[asked[(asked >= start) & (asked < start + len(block))] - start])
        start += len(block)
    query = np.concatenate(picked)
    query += 0.3 / np.sqrt(DIMENSIONS) * random.standard_normal(query.shape).astype(np.float32)
    query /= np.linalg.norm(query, axis=1, keepdims=True)
    rows = np.empty((size, DIMENSIONS), np.int8)
    best, which, start = np.full((queries, 10), -2.0, np.float32), np.zeros((queries, 10), np.int64), 0
    for block in clustered(size, seed, per_row):
        rows[start : start + len(block)] = quantize(block)
        scores = np.hstack([best, query @ block.T])
        numbers = np.hstack([which, np.broadcast_to(np.arange(start, start + len(block)), (queries, len(block)))])
        top = np.argpartition(-scores, 9, axis=1)[:, :10]
        best, which = np.take_along_axis(scores, top, 1), np.take_along_axis(numbers, top, 1)
        start += len(block)
    return Corpus(rows, query, which, best.min(axis=1))


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = call()
    return (time.perf_counter() - start) * 1e3, result


def resident_mb() -> float:
    with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123 - Linux only, like the number itself
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def found(data: Corpus, query: int, candidates: np.ndarray[Any, Any]) -> tuple[float, float, float]:
    """Recall@10 of one query: bits, strict, eps (see the module)."""
    scores = similarities(data.queries[query], data.rows[candidates])
    top = np.argsort(-scores)[:10]
    truth = data.truth[query]
    right = np.isin(candidates[top], truth)
    return np.isin(truth, candidates).mean(), right.mean(), (right | (scores[top] > data.tenth[query] - 0.001)).mean()


def recall_text(recalls: list[tuple[float, float, float]]) -> str:
    return "  ".join(f"{value:.4f}" for value in np.mean(recalls, axis=0))


def load(blobs: list[bytes]) -> Codes:
    codes = Codes(DIMENSIONS, SEGMENT * len(blobs))
    for blob in blobs:
        codes.extend(np.frombuffer(blob, np.uint64).reshape(-1, codes.words))
    return codes


def loading(codes: Codes) -> None:
    packed = codes.take(np.arange(len(codes)))
    blobs = [packed[at : at + SEGMENT].tobytes() for at in range(0, len(packed), SEGMENT)]
    megabytes = packed.nbytes / 1e6
    del packed
    gc.collect()
    before = resident_mb()
    kept = load(blobs)
    grown = resident_mb() - before
    again = [timed(lambda: load(blobs))[0] for _ in range(9)]
    print(
        f"  load from {len(blobs)} blobs: {statistics.median(again):.1f} ms (best {min(again):.1f}); "
        f"codes {megabytes:.1f} MB, reserved {kept.nbytes / 1e6:.1f} MB, resident {grown:+.1f} MB"
    )


def flat(data: Corpus, codes: Codes) -> None:
    size = len(codes)
    every = np.ones(size, np.bool_)
    half, tenth = (np.random.default_rng(3).random(size) < part for part in (0.5, 0.1))
    same_bytes = np.ones(size * codes.words, np.uint64)
    names = ("floor", "nearest", "all-alive mask", "half masked", "nine tenths masked", "rescore 400 in RAM")
    times: dict[str, list[float]] = {name: [] for name in names}
    recalls = []
    for number, query in enumerate(data.queries):
        code = encode(query[None])[0]
        elapsed, candidates = timed(lambda code=code: codes.nearest(code, CANDIDATES))
        times["nearest"].append(elapsed)
        recalls.append(found(data, number, candidates))
        times["floor"].append(timed(lambda: np.add.reduce(same_bytes))[0])
        for name, mask in zip(names[2:5], (every, half, tenth), strict=True):
            times[name].append(timed(lambda code=code, mask=mask: codes.nearest(code, CANDIDATES, mask=mask))[0])
        picked = data.rows[candidates]
        times[names[5]].append(timed(lambda query=query, picked=picked: similarities(query, picked))[0])
    floor = statistics.median(times["floor"])
    print(f"  flat: recall@10 bits, strict, eps {recall_text(recalls)}, {len(recalls)} queries")
    for name, values in times.items():
        median = statistics.median(values)
        print(f"    {name:<20} {median:7.3f} ms (best {min(values):.3f}), {median / floor:.1f} x floor")


def cells_table(data: Corpus, codes: Codes, count: int) -> None:
    sample = data.rows[np.sort(np.random.default_rng(5).choice(len(codes), min(100_000, len(codes)), replace=False))]
    train_ms, cells = timed(lambda: Cells.train(sample, count, seed=1))
    assign_ms, assignment = timed(lambda: cells.assign(data.rows))
    lists_ms, lists = timed(lambda: CellLists(assignment, count))
    total = codes.nbytes + lists.nbytes + cells.centres.nbytes
    print(
        f"  {count} cells: train {train_ms / 1e3:.1f} s, assign {assign_ms / 1e3:.1f} s, lists {lists_ms:.0f} ms; "
        f"codes + lists + centres {total / 1e6:.1f} MB"
    )
    print("    probes    bits  strict     eps   rows read  probe ms  lists ms   scan ms  total ms")
    alive = np.ones(len(codes), np.bool_)
    for probes in PROBES:
        times, recalls, read = [], [], []
        for number, query in enumerate(data.queries):
            probe_ms, near = timed(lambda query=query, probes=probes: cells.probe(query, probes))
            list_ms, some = timed(lambda near=near: lists.positions(near))
            code = encode(query[None])[0]
            scan_ms, candidates = timed(
                lambda code=code, some=some: codes.nearest_among(code, some, CANDIDATES, alive),
            )
            times.append((probe_ms, list_ms, scan_ms, probe_ms + list_ms + scan_ms))
            recalls.append(found(data, number, candidates))
            read.append(len(some))
        a, b, c, d = np.median(times, axis=0)
        print(
            f"    {probes:6}  {recall_text(recalls)}  {np.mean(read):10.0f}  {a:8.3f}  {b:8.3f}  {c:8.3f}  {d:8.3f}",
        )


def main() -> None:
    parser = argparse.ArgumentParser(description="Speed, recall and memory of the 1-bit vector index.")
    parser.add_argument("sizes", nargs="*", type=int, default=[100_000, 1_000_000])
    parser.add_argument("--cells", default="", help="cell counts to try, separated by commas")
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--spread", choices=["cluster", "row"], default="cluster", help="what shares a noise level")
    arguments = parser.parse_args()
    for size in arguments.sizes:
        data = corpus(size, arguments.queries, arguments.spread == "row")
        print(f"{size:,} rows")
        codes = Codes(DIMENSIONS)
        for start in range(0, size, SEGMENT):
            codes.extend(encode(data.rows[start : start + SEGMENT]))
        loading(codes)
        flat(data, codes)
        for count in filter(None, arguments.cells.split(",")):
            cells_table(data, codes, int(count))


if __name__ == "__main__":
    main()
