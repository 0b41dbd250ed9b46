"""A cluster in small: two servers, each namespace's data on only one of them, must answer as one server does.

A statement that needed rows of two namespaces in one place, or a transaction that touched two, would differ here.
"""

from __future__ import annotations

from unittest import mock

import pytest

import perdure
from conftest import HARSH, WORDS_ONLY, Clock, HashEmbedder
from perdure.stores.postgres.server import Address
from perdure.stores.postgres.store import PostgresStore
from servers import TwoServers, drop_database, fresh_database

NAMES = ("ops", "home", "garden", "music", "office")
SUBJECTS = ("the deploy", "green tea", "the river", "a bicycle", "the piano", "the budget")


@pytest.fixture(scope="module")
def store():
    return "postgres"


@pytest.fixture
def places():
    made = [fresh_database() for _ in range(3)]
    yield made
    for url in made:
        drop_database(url)


def numbered():
    """Ids in order, the same in every run."""
    count = iter(range(10**9))
    return lambda at: f"{at & (1 << 48) - 1:012x}"[:8] + f"-0000-7000-8000-{next(count):012x}"


def opened(url, policy, clock, *, embedder, server=None):
    with mock.patch("perdure.compose.IdGenerator", numbered):
        memory = perdure.open(url, policy=policy, clock=clock, embedder=embedder)
    if server is not None:
        memory._context.store.close()
        memory._context.store = PostgresStore(Address.of(url), server=server)
    return memory


def story(memory, clock):
    """Use every verb over several namespaces, and return everything that was answered."""
    said = []
    for name in NAMES:
        items = [{"content": f"{s} matters to {name}", "tags": [name]} for s in SUBJECTS]
        said += memory.remember_many(items, namespace=name)
        memory.ingest([{"content": f"what of {s} in {name}?", "role": "user"} for s in SUBJECTS], name, session="talk")
    clock.passes(days=2)
    for name in NAMES:
        for question in ("deploy", "what about green tea?", "river and piano"):
            said.append(memory.recall(question, name).to_dict())
            said.append(memory.recall(question, name, tags=[name], touch=False).to_dict())
    first = memory.list("ops")[0]
    memory.pin(first.id)
    memory.archive(memory.list("home")[0].id, "test")
    for days in (5, 10, 40):
        clock.passes(days=days)
        said.append(memory.sweep().to_dict())
    said.append(memory.maintain("worker").to_dict())
    said.append(memory.undo(memory.history(namespace="garden")[0].id).to_dict())
    said += [memory.stats().to_dict(), memory.stats("ops").to_dict(), memory.forecast(100, details=True).to_dict()]
    said += [memory.digest(n) for n in NAMES] + [memory.why(first.id).to_dict(), memory.namespaces(), memory.check()]
    said += [o.to_dict() for o in memory.history(limit=1000)] + [e.to_dict() for e in memory.history(first.id)]
    said += [memory.get(first.id).to_dict(), [m.to_dict() for m in memory.list("home", include_archived=True)]]
    return said


@pytest.mark.parametrize("policy", [WORDS_ONLY, HARSH], ids=["balanced", "harsh"])
@pytest.mark.parametrize("embedder", [None, HashEmbedder()], ids=["words", "meaning"])
def test_two_servers_answer_as_one(places, policy, embedder):
    clock = Clock()
    with opened(places[0], policy, clock, embedder=embedder) as memory:
        one = story(memory, clock)
    clock = Clock()
    both = TwoServers([Address.of(url) for url in places[1:]])
    with opened(places[1], policy, clock, embedder=embedder, server=both) as memory:
        assert story(memory, clock) == one
    assert both.asked >= set(NAMES)
    counts = []
    for url in places[1:]:
        with opened(url, policy, clock, embedder=embedder) as memory:
            counts.append(memory.namespaces())
    assert sorted([*counts[0], *counts[1]]) == sorted(NAMES)
    assert all(counts), "each server holds some of the namespaces"
