"""The nearest of many vectors at once: near-duplicates are found whatever lies around them, and so are most others."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import perdure
from conftest import Clock, budget
from perdure.compose import store_at
from perdure.records.vector import Space
from perdure.stores.codes import Codes, encode, quantize
from perdure.stores.sketches import Sketches

DIMENSIONS = 96


def unit(rows):
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype("<f4")


def clustered(random, count, dimensions=DIMENSIONS, clusters=60, spread=0.9):
    centres = unit(random.standard_normal((clusters, dimensions)))
    noise = unit(random.standard_normal((count, dimensions)))
    return unit(centres[random.integers(0, clusters, count)] + spread * noise)


def beside(random, rows, cosine):
    """Vectors at a cosine of some rows."""
    away = unit(random.standard_normal(rows.shape))
    away = unit(away - np.vecdot(away, rows)[:, None] * rows)
    return unit(cosine * rows + np.sqrt(1 - cosine**2) * away)


@settings(max_examples=budget(5, 150), deadline=None)
@given(
    n=st.sampled_from([1, 70, 75, 640, 1030, 5000]),
    asked=st.sampled_from([1, 63, 64, 130, 530]),
    dimensions=st.sampled_from([3, 64, 96, 384]),
    spread=st.sampled_from([0.3, 0.9, 3.0]),
    alive=st.sampled_from([None, 1.0, 0.7, 0.05]),
    seed=st.integers(0, 9),
)
def test_what_nearly_repeats_a_row_is_likely_to_be_near_it(n, asked, dimensions, spread, alive, seed):
    random = np.random.default_rng(seed)
    rows = clustered(random, n, dimensions, spread=spread)
    originals = random.integers(0, n, asked)
    queries = beside(random, rows[originals], 0.93)
    mask = None if alive is None else random.random(n) < alive
    vectors = quantize(rows)
    sketches = Sketches(vectors[: max(1, n // 2)])
    for some in np.array_split(vectors, 3):  # the last of which may leave a tile unfilled
        sketches.extend(some)
    allowed = np.ones(n, np.bool_) if mask is None else mask
    found = list(sketches.likely(queries, mask))
    assert len(found) == asked
    nearest = np.argsort(-(queries @ rows.T) - 2.0 * allowed, axis=1, kind="stable")[:, : min(5, allowed.sum())]
    for query, (original, positions) in enumerate(zip(originals, found, strict=True)):
        assert np.array_equal(positions, np.unique(positions))
        assert allowed[positions].all()
        assert len(positions) >= min(24, allowed.sum())
        if allowed[original] and original in nearest[query]:
            assert original in positions


def test_of_the_five_nearest_at_least_as_many_are_likely_as_among_fifty_by_signs():
    """Vectors of sentences keep 0.70 of their squares along 64 directions; these do so, too."""
    weights = (1 + np.arange(384)) ** -0.48
    drawn = unit(np.random.default_rng(1).standard_normal((6300, 384)) * weights)
    vectors, queries = quantize(drawn[300:]), drawn[:300]
    rows = unit(vectors.astype(np.float32))
    assert np.square(drawn[:, :64]).sum() / len(drawn) == pytest.approx(0.70, abs=0.02)
    sketches, codes = Sketches(vectors[::2]), Codes(384)
    sketches.extend(vectors)
    codes.extend(encode(vectors))
    nearest = np.argsort(-(queries @ rows.T), axis=1)[:, :5]
    by_sketch = sketches.likely(queries, None)
    by_signs = [codes.nearest(code, 50) for code in encode(queries)]
    shares = [
        np.mean([np.isin(*pair).mean() for pair in zip(nearest, found, strict=True)]) for found in (by_sketch, by_signs)
    ]
    assert shares[0] >= shares[1] - 0.002


class Given:
    """Texts are row numbers of a matrix."""

    space = Space("given", DIMENSIONS, "1")

    def __init__(self, rows):
        self.rows = rows

    def embed(self, texts, *, purpose):  # noqa: ARG002  # part of the port
        return [self.rows[int(t.split()[-1])].tobytes() for t in texts]


@pytest.fixture
def store():
    return "sqlite"


def test_a_batch_links_the_near_duplicates_that_one_by_one_links(tmp_path):
    """As the store grows past what the directions of sketches were chosen by, with memories gone between."""
    random = np.random.default_rng(7)
    before = clustered(random, 1200)
    early, late = beside(random, before[:200], 0.95), clustered(random, 5200, clusters=9, spread=0.5)
    batch = np.concatenate([beside(random, before[200:300], 0.95), beside(random, late[::130], 0.95)])
    given_ = Given(np.concatenate([before, early, late, batch]))
    ends = np.cumsum([0, *map(len, (before, early, late, batch))])
    parts = [[f"number {i}" for i in range(*pair)] for pair in pairwise(ends)]
    with perdure.open(tmp_path / "many.db", policy={}, clock=Clock(), embedder=given_) as memory:
        ids = [outcome.memory.id for part in parts[:3] for outcome in memory.remember_many(part)]
        for i in range(250, 260):
            memory.forget(ids[i])
        stored = [outcome.memory.id for outcome in memory.remember_many(parts[3])]

        def doubles(identity):
            return {other for kind, other, _ in memory.why(identity).links if kind == "near_duplicate"}

        assert all(ids[i] in doubles(ids[1200 + i]) for i in range(200))
        expected = [*ids[200:300], *ids[1400::130]]
        for identity, original, at in zip(stored, expected, range(200, 340), strict=True):
            assert (original in doubles(identity)) == (at not in range(250, 260))
    vector = given_.rows[ends[3]].tobytes()
    with store_at(tmp_path / "many.db") as raw_store:
        (alone,) = raw_store.nearest("default", [vector], 5)
        assert raw_store.nearest("default", [vector] * 20, 5) == [alone] * 20


OTHERS_AT_WORK = """
import resource, time
import numpy as np
from perdure.stores.sketches import Sketches

def others(work):
    def spent():
        whole, own = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_THREAD))
        return whole.ru_utime + whole.ru_stime - own.ru_utime - own.ru_stime
    before = spent()
    work()
    return spent() - before

random = np.random.default_rng(1)
large = random.standard_normal((1500, 1500)).astype(np.float32)
sample = random.integers(-127, 128, (4096, 384)).astype(np.int8)
shared = others(lambda: large @ large)
time.sleep(0.5)
chosen = others(lambda: Sketches(sample))
time.sleep(0.5)
print(shared, chosen, others(lambda: large @ large))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what each thread does")
def test_directions_are_chosen_without_the_threads_of_numpy_which_serve_its_caller_afterwards():
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "2"}
    command = [sys.executable, "-c", OTHERS_AT_WORK]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    before, meanwhile, after = map(float, run.stdout.split())
    if not before:
        pytest.skip("numpy's products take one thread here")
    assert meanwhile < 0.001
    assert after > 0
