"""A large namespace is searched by an index of its own; small ones beside it are searched exactly."""

from __future__ import annotations

import numpy as np
import psycopg
import pytest

import perdure
from conftest import Clock, as_operator
from perdure.records.policy_recall import RecallPolicy
from perdure.records.recall import Filters, Query
from perdure.records.vector import Space
from perdure.stores.postgres.session import PostgresSession, _text
from servers import drop_database, fresh_database, reader

LARGE, SMALL, DIMENSIONS = 3000, 200, 64
POLICY = {"recall": {"cells_above": 1000}}


@pytest.fixture(scope="module")
def store():
    return "postgres"


class Given:
    """Texts are row numbers of a matrix of clustered vectors."""

    space = Space("given", DIMENSIONS, "1")

    def __init__(self):
        random = np.random.default_rng(5)
        centres = random.standard_normal((40, DIMENSIONS))
        rows = centres[random.integers(0, 40, 2 * LARGE)] + 0.7 * random.standard_normal((2 * LARGE, DIMENSIONS))
        self.rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype("<f4")

    def embed(self, texts, *, purpose):  # noqa: ARG002  # part of the port
        return [self.rows[int(t.split()[-1])].tobytes() for t in texts]


@pytest.fixture(scope="module")
def given():
    return Given()


@pytest.fixture(scope="module")
def path():
    """One database for all: building what is large takes seconds, and each test leaves the others' answers alone."""
    url = fresh_database()
    yield url
    drop_database(url)


@pytest.fixture(scope="module")
def filled(path, given):
    memory = perdure.open(path, policy=POLICY, clock=Clock(), embedder=given)
    tags = [["even"] if i % 2 == 0 else [] for i in range(LARGE)]
    items = [{"content": f"number {i}", "tags": t} for i, t in enumerate(tags)]
    memory.remember_many(items, namespace="large", embed="later")
    memory.remember_many([f"number {i}" for i in range(SMALL)], namespace="small", embed="later")
    memory.reembed()
    yield memory
    memory.close()


def found(raw_store, given, namespace, row, limit=10):
    return [i for i, *_ in raw_store.nearest(namespace, [given.rows[row].tobytes()], limit)[0]]


def exact_tens(raw_store, given, asked):
    """The ten nearest of a large namespace by every one of its vectors, as the store keeps them."""
    kept = raw_store.vectors("large", [r.id for r in raw_store.records_by_tier("large", Filters(), 2 * LARGE)])
    ids, matrix = list(kept), np.stack([np.frombuffer(v, "<f4") for v in kept.values()])
    return {row: [ids[i] for i in np.argsort(-(matrix @ given.rows[row]))[:10]] for row in asked}


def test_a_large_namespace_switches_and_finds_what_an_exact_search_finds(filled, given, path, raw_store):
    asked = range(LARGE, LARGE + 60)
    exact = exact_tens(raw_store, given, asked)
    small = {row: found(raw_store, given, "small", row) for row in asked}
    assert filled.optimize("small") == {"vectors": SMALL, "indexed": 0}
    counts = {"vectors": filled.stats("large").memories, "indexed": 1}
    assert filled.optimize("large") == counts
    assert filled.optimize("large") == counts  # twice is harmless
    with psycopg.connect(path, autocommit=True) as connection:
        connection.execute("ANALYZE embedding")
    shares = [len(set(exact[row]) & set(found(raw_store, given, "large", row))) / 10 for row in asked]
    assert np.mean(shares) >= 0.99
    assert all(len(found(raw_store, given, "large", row, 50)) == 50 for row in asked)
    assert {row: found(raw_store, given, "small", row) for row in asked} == small
    with psycopg.connect(path, autocommit=True) as connection:
        rows = connection.execute(
            "SELECT 1 FROM pg_indexes WHERE indexname LIKE 'embedding_near_%' AND schemaname = current_schema()"
        ).fetchall()
    assert len(rows) == 1


def test_the_index_is_what_a_switched_namespace_is_searched_by(filled, given, path, monkeypatch, raw_store):
    filled.optimize("large")
    with psycopg.connect(path, autocommit=True) as connection:
        connection.execute("ANALYZE embedding")
    plans = []

    def explained(self, name, text, bindings):
        if name.startswith("nearest"):
            rows = self.connection.execute("EXPLAIN " + _text(text), {**bindings, "namespace": self.place})
            plans.append((name, "\n".join(line for (line,) in rows)))
        return right(self, name, text, bindings)

    right = PostgresSession._run
    monkeypatch.setattr(PostgresSession, "_run", explained)
    found(raw_store, given, "large", LARGE)
    found(raw_store, given, "small", LARGE)
    (first, by_index), (second, exactly) = plans
    assert (first, second) == ("nearest_approximate", "nearest")
    assert "embedding_near_" in by_index
    assert "embedding_near_" not in exactly


def test_filters_and_newcomers_are_answered_in_full(filled, given, raw_store):
    filled.optimize("large")
    policy = RecallPolicy(candidates=20, rescored=100)
    query = Query("x", (), given.rows[LARGE].tobytes())
    pool = raw_store.search("large", query, Filters(tags=("even",)), policy)
    assert len(pool.candidates) == 20
    newcomer = filled.remember(f"number {LARGE}", "large")
    assert found(raw_store, given, "large", LARGE)[0] == newcomer.id
    filled.archive(newcomer.id, "test")
    assert newcomer.id not in found(raw_store, given, "large", LARGE)


@as_operator
def test_a_build_that_was_stopped_is_done_anew(filled, given, path):
    filled.optimize("large")
    index = "(SELECT oid FROM pg_class WHERE relname LIKE 'embedding_near_%')"
    with reader(path) as operator:
        operator.execute(f"UPDATE pg_index SET indisvalid = false WHERE indexrelid = {index}")
        operator.commit()
    assert filled.optimize("large")["indexed"] == 1
    with reader(path) as operator:
        assert operator.execute(f"SELECT indisvalid FROM pg_index WHERE indexrelid = {index}").fetchall() == [(True,)]


def test_upkeep_builds_the_index_of_a_large_namespace_once(given):
    url = fresh_database()
    policy = {**POLICY, "upkeep": {"index_above": SMALL}}
    with perdure.open(url, policy=policy, clock=Clock(), embedder=given) as memory:
        for place, size in (("large", SMALL), ("small", SMALL - 1)):
            memory.remember_many([f"number {i}" for i in range(size)], namespace=place)
        for indexed in (["large"], []):
            runs = memory.upkeep("worker").runs
            assert [run.namespace for run in runs if run.task == "index"] == indexed
    with psycopg.connect(url, autocommit=True) as connection:
        rows = connection.execute(
            "SELECT 1 FROM pg_indexes WHERE indexname LIKE 'embedding_near_%' AND schemaname = current_schema()"
        ).fetchall()
    drop_database(url)
    assert len(rows) == 1
