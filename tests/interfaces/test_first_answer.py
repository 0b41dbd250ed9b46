"""The first answer is what was decided: a fact or a note stands above replies that only repeat it, at every door."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

import perdure
from conftest import HashEmbedder
from interfaces.test_mcp_talk import call, over, talk
from perdure.interfaces.cli import app as cli
from perdure.interfaces.http.app import build_app
from perdure.interfaces.http.settings import Settings

QUESTION = "What day do we deploy?"
POLICY = {"embedder": {"model": "none"}}
LATER = datetime(2026, 7, 1, tzinfo=UTC)
FACT = {"subject": "booking website", "predicate": "deploy day", "value": "Tuesday"}


def said(speaker, content, at, session="plans"):
    return {"role": "user", "speaker": speaker, "content": content, "at": at, "session": session}


TALK = (
    said("Maya", "We move deploy day to Tuesday, at 10:00.", "2026-03-31T08:00:00Z"),
    said("assistant", "Deploy day is now Tuesday, we deploy at 10:00.", "2026-03-31T08:01:00Z"),
    said("assistant", "Yes, today is Tuesday, the day on which we deploy.", "2026-05-19T08:00:00Z", "launch"),
    said("Maya", "The tiles for the kitchen are grey.", "2026-05-20T08:00:00Z", "kitchen"),
    said("Maya", "The invoice of the printer is paid.", "2026-05-21T08:00:00Z", "office"),
)


def taken_in(memory, talk=TALK):
    memory.ingest(talk)
    memory.remember("The team deploys every week, on Tuesday.", facts=[FACT], at=datetime(2026, 4, 1, tzinfo=UTC))
    return memory


@pytest.fixture(params=[None, HashEmbedder()], ids=["words", "meaning"])
def memory(request):
    with perdure.open(":memory:", POLICY, clock=lambda: LATER, embedder=request.param) as opened:
        yield taken_in(opened)


def first(answer):
    return answer.hits[0].memory.kind, answer.hits[0].memory.content


def test_the_current_fact_stands_above_what_only_repeats_it(memory):
    answer = memory.recall(QUESTION, touch=False)
    assert first(answer) == ("fact", "booking website: deploy day: Tuesday")
    told = [hit.memory.content for hit in answer.hits]
    assert set(told) >= {message["content"] for message in TALK[:3]}
    assert len(told) == len(set(told))


@pytest.mark.parametrize(("day", "kind"), [("20", "episode"), ("01", "fact")])
def test_what_a_person_said_later_is_not_passed(day, kind):
    reversed_ = "Deploy day Tuesday: over."
    with perdure.open(":memory:", POLICY, clock=lambda: LATER) as memory:
        taken_in(memory, [*TALK[3:], said("Maya", reversed_, f"2026-04-{day}T00:00:00Z")])
        assert first(memory.recall(QUESTION, touch=False))[0] == kind


FAST, WHEN = "How fast must the webhook be answered?", "When must the webhook be answered?"


@pytest.mark.parametrize(
    ("question", "number", "day", "kind"),
    [
        (FAST, "5", "01", "note"),
        (FAST, "9", "01", "episode"),  # the note lacks a word of the question, so it passes nothing (decision 20)
        (WHEN, "9", "01", "note"),
        (FAST, "9", "03", "episode"),
        (WHEN, "9", "03", "episode"),
    ],
)
def test_a_note_stands_above_an_earlier_reply_and_above_one_that_gives_its_number(memory, question, number, day, kind):
    reply = f"{question} Answered within {number} seconds."
    memory.ingest([said("assistant", reply, f"2026-02-{day}T08:00:00Z", "webhook")])
    memory.remember("The webhook must be answered within 5 seconds.", at=datetime(2026, 2, 2, tzinfo=UTC))
    assert first(memory.recall(question, touch=False))[0] == kind


async def asked(client, order):
    reply = await call(client, "recall", query=QUESTION)
    assert [hit["memory"]["id"] for hit in reply["hits"]] == order


def test_every_door_gives_the_same_order(tmp_path, monkeypatch):
    place = tmp_path / "agent.db"
    monkeypatch.setenv("PERDURE_STORE", str(place))
    (tmp_path / "policy.toml").write_text('[embedder]\nmodel = "none"\n')
    monkeypatch.setenv("PERDURE_POLICY", str(tmp_path / "policy.toml"))
    with perdure.open(place, POLICY, clock=lambda: LATER) as memory:
        taken_in(memory)
        order = [hit.memory.id for hit in memory.recall(QUESTION, touch=False).hits]
        assert memory.get(order[0]).kind == "fact"
        with TestClient(
            build_app(lambda: memory, Settings(frozenset({"localhost:8766"}))), base_url="http://localhost:8766"
        ) as client:
            answer = client.post("/v1/recall", json={"query": QUESTION, "touch": False}).json()
        talk(over(memory), lambda client: asked(client, order))
    done = CliRunner().invoke(cli.app, ["recall", QUESTION, "--json", "--no-touch"])
    assert [hit["memory"]["id"] for hit in json.loads(done.stdout)["hits"]] == order
    assert [hit["memory"]["id"] for hit in answer["hits"]] == order
