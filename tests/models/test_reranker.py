"""A reranker behind an endpoint orders what a recall found; without it, or when it fails, the order stays."""

from __future__ import annotations

import pytest

import perdure
from models.answering import hang_up, send
from perdure import InvalidInput, ModelWarning

PLAIN = {"embedder": {"model": "none"}}
TOLD = [
    "The staging server listens on port 8081.",
    "The staging server was bought in May.",
    "The staging server runs Debian.",
    "Lunch is at noon.",
]
QUESTION = "staging server"


def reversed_order(handler, asked):
    results = [{"index": i, "relevance_score": i - 7.5} for i in reversed(range(len(asked["documents"])))]
    send(200, {"results": results})(handler, asked)


@pytest.fixture
def opened(serve):
    """Return a store that uses a server with these replies, and the server."""
    opened = []

    def open_with(*replies, **keys):
        server = serve(*replies)
        table = {"base_url": f"http://127.0.0.1:{server.server_port}/v2/", "name": "rank-1", "key_variable": ""}
        memory = perdure.open(":memory:", {**PLAIN, "reranker": table | keys})
        opened.append(memory)
        memory.remember_many(TOLD)
        return memory, server

    yield open_with
    for memory in opened:
        memory.close()


@pytest.fixture
def plain():
    with perdure.open(":memory:", PLAIN) as memory:
        memory.remember_many(TOLD)
        yield memory


def texts(answer):
    return [hit.memory.content for hit in answer.hits]


def test_the_reranker_orders_what_is_related(opened, plain):
    memory, server = opened(reversed_order)
    before, after = plain.recall(QUESTION, touch=False), memory.recall(QUESTION, touch=False)
    assert len(texts(before)) == 3
    assert texts(after) == texts(before)[::-1]
    assert server.asked == [("/v2/rerank", None, {"model": "rank-1", "query": QUESTION, "documents": texts(before)})]


def test_scores_stay_sums_of_their_parts_on_their_scale(opened, plain):
    memory, _ = opened(reversed_order)
    hits = memory.recall(QUESTION, touch=False).hits
    assert {name for hit in hits for name in hit.parts} == {"reranker", "signals"}
    assert [hit.score for hit in hits] == [pytest.approx(sum(hit.parts.values())) for hit in hits]
    assert [hit.score for hit in hits] == pytest.approx([h.score for h in plain.recall(QUESTION, touch=False).hits])


def test_no_more_are_sent_than_the_policy_says(opened, plain):
    memory, server = opened(reversed_order, candidates=2)
    first, second, third = texts(plain.recall(QUESTION, touch=False))
    assert texts(memory.recall(QUESTION, touch=False)) == [second, first, third]
    assert server.asked[0][2]["documents"] == [first, second]


def test_a_question_that_nothing_answers_is_not_sent(opened):
    memory, server = opened(reversed_order)
    assert memory.recall("boiling point of tungsten", touch=False).nothing_known
    assert server.asked == []


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (send(401, {"message": "invalid api token"}), "answered 401: .*invalid api token"),
        (send(200, b"not json"), "is not JSON"),
        (send(200, {"data": []}), "has no list `results`"),
        (send(200, {"results": [{"index": 0}]}), "has an entry without `index` or `relevance_score`"),
        (send(200, b'{"results": [{"index": 0, "relevance_score": NaN}]}'), "has an entry without"),
        (send(200, {"results": [{"index": 0, "relevance_score": 1}] * 3}), "scores a text twice"),
        (send(200, {"results": [{"index": i, "relevance_score": 1} for i in (0, 1, 9)]}), "does not score each of"),
        (send(503, {}), "answered 503"),
        (hang_up, "cannot be reached"),
    ],
)
def test_a_reranker_that_fails_leaves_the_order_and_the_answer_says_why(opened, plain, reply, reason, monkeypatch):
    monkeypatch.setattr("time.sleep", lambda _: None)
    memory, _ = opened(reply)
    with pytest.warns(ModelWarning, match=reason):
        answer = memory.recall(QUESTION, touch=False)
    assert texts(answer) == texts(plain.recall(QUESTION, touch=False))
    assert "not reranked: " in answer.note


def test_a_key_is_sent_and_a_missing_one_is_said(opened, monkeypatch):
    memory, server = opened(reversed_order, key_variable="RANK_KEY")
    with pytest.warns(ModelWarning, match="RANK_KEY is not set"):
        memory.recall(QUESTION)
    monkeypatch.setenv("RANK_KEY", "k-1")
    memory.recall(QUESTION)
    assert [key for _, key, _ in server.asked] == ["Bearer k-1"]


def test_an_address_that_is_no_web_address_is_refused_when_the_store_is_opened(tmp_path):
    with pytest.raises(InvalidInput, match="not a plain http or https address"):
        perdure.open(tmp_path / "a.db", {**PLAIN, "reranker": {"base_url": "file:///etc", "name": "x"}})
