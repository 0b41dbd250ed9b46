"""What is stored without a vector waits in a queue: maintenance embeds it, and from then on it is found by meaning."""

from __future__ import annotations

import pytest

import perdure
from conftest import STORES, Clock, HashEmbedder
from perdure.interfaces.http import metrics
from service.test_limits import serving

POLICY = {"embedder": {"model": "none"}}
MANY = 30


class Meanings(HashEmbedder):
    """Takes a car for an automobile; keeps what it was given to store, and fails when it is told to."""

    def __init__(self):
        super().__init__()
        self.texts, self.fails = [], False

    def embed(self, texts, *, purpose):
        if self.fails:
            raise perdure.EmbedderError("It is off.", remedy="Turn it on.")
        self.texts += [text for text in texts if purpose == "document"]
        return super().embed([text.lower().replace("car ", "automobile ") for text in texts], purpose=purpose)


@pytest.fixture(params=STORES[:2])
def store(request):
    return request.param


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    """Figures are counted for each reply."""
    monkeypatch.setattr(metrics, "FIGURES_SECONDS", 0.0)


def queue(client):
    (line,) = [x for x in client.get("/metrics").text.splitlines() if x.startswith("perdure_without_vector ")]
    return float(line.split()[1])


def found(client, query):
    return [hit["memory"]["content"] for hit in client.post("/v1/recall", json={"query": query}).json()["hits"]]


def test_what_came_without_a_vector_is_embedded_by_maintenance(path):
    embedder, clock = Meanings(), Clock()
    with perdure.open(path, POLICY, embedder=embedder, clock=clock) as memory, serving(memory) as client:
        items = [{"content": "Automobile automobile behind the mill."}]
        items += [{"content": f"Stone {n} lies in field {n}."} for n in range(MANY)]
        reply = client.post("/v1/remember-many", json={"items": items, "embed": "later"})
        assert reply.status_code == 200
        assert embedder.texts == []
        assert queue(client) == MANY + 1
        assert items[0]["content"] not in found(client, "My car or whose car ?")
        assert "mill" in found(client, "Who parks behind the mill?")[0]  # words find it at once
        clock.passes(minutes=1)
        memory.upkeep("worker")
        assert queue(client) == 0
        assert sorted(embedder.texts) == sorted(item["content"] for item in items)
        assert found(client, "My car or whose car ?")[0] == items[0]["content"]
        assert client.get("/v1/stats").json()["without_vector"] == 0
        assert memory.check() == []


def test_the_queue_waits_while_the_embedder_is_gone(path):
    embedder, clock = Meanings(), Clock()
    with perdure.open(path, POLICY, embedder=embedder, clock=clock) as memory, serving(memory) as client:
        client.post(
            "/v1/remember-many", json={"items": [{"content": "Automobile automobile is red."}], "embed": "later"}
        )
        embedder.fails = True
        clock.passes(minutes=1)
        memory.upkeep("worker")
        assert queue(client) == 1
        embedder.fails = False
        clock.passes(days=1)
        memory.upkeep("worker")
        assert queue(client) == 0
        assert found(client, "My car or whose car ?") == ["Automobile automobile is red."]
