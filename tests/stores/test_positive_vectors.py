"""Vectors without negative parts (counts of words, topics): the nearest are found as of any others, in every store."""

from __future__ import annotations

import numpy as np
import pytest

from conftest import WORDS_ONLY
from perdure.records.vector import Space

COUNT, ASKED = 1500, 20


class Given:
    """Texts are row numbers of a matrix: "t5" its row 5, "q5" something near it."""

    def __init__(self, rows):
        random = np.random.default_rng(3)
        near = np.abs(rows + 0.2 * random.standard_normal(rows.shape) * rows.mean())
        self.rows = {"t": _unit(rows), "q": _unit(near)}
        self.space = Space("given", rows.shape[1], "1")

    def embed(self, texts, *, purpose):  # noqa: ARG002  # part of the port
        return [self.rows[t[0]][int(t[1:])].astype("<f4").tobytes() for t in texts]


def _unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def dense(dimensions):
    return np.abs(np.random.default_rng(1).standard_normal((COUNT, dimensions)))


def counted(dimensions):
    """A few words in each text."""
    random = np.random.default_rng(2)
    rows = np.full((COUNT, dimensions), 0.001)
    for row in rows:
        np.add.at(row, random.integers(0, dimensions, 6), 1.0)
    return rows


def mixed(dimensions):
    """Vectors with signs came first."""
    rows = dense(dimensions)
    rows[:250] = np.random.default_rng(4).standard_normal((250, dimensions))
    return rows


@pytest.mark.parametrize("dimensions", [32, 384])
@pytest.mark.parametrize("kind", [dense, counted, mixed])
def test_the_nearest_are_found_among_vectors_without_signs(opening, kind, dimensions):
    given = Given(kind(dimensions))
    memory = opening({**WORDS_ONLY, "use": {"skip_echoes": False}}, given)
    for start in range(0, COUNT, 250):
        memory.remember_many([f"t{i}" for i in range(start, start + 250)])
        memory.recall("q0", touch=False)  # what is kept in memory is that of fewer
    cosines = given.rows["q"] @ given.rows["t"].T
    for asked in range(0, COUNT, COUNT // ASKED):
        order = np.argsort(-cosines[asked])
        hits = [h.memory.content for h in memory.recall(f"q{asked}", limit=5, touch=False).hits]
        assert hits[0] == f"t{order[0]}"
        assert set(hits) <= {f"t{i}" for i in order[:10]}
