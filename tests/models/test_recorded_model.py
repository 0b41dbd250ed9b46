"""What a real, small language model replied to a conversation, and what of it is believed."""

from __future__ import annotations

import json
import threading

import pytest

from models.answering import Server, send
from models.conversation import CASSETTE, SILENT, STATED, read_by_a_model, told_by_the_model
from perdure.knowledge.extraction.model_replies import schema
from perdure.models.chat import _fit_to_schema, _UnfitError

RECORDED = json.loads(CASSETTE.read_text("utf-8"))


def written(reply):
    """The answer that a recorded reply holds, None where it is none that was asked for."""
    choice = reply["choices"][0]
    try:
        found = json.loads(choice["message"]["content"])
        return None if choice["finish_reason"] == "length" else _fit_to_schema(found, schema(), "")
    except (ValueError, _UnfitError):
        return None


@pytest.fixture(scope="module")
def memory():
    def reply(handler, asked):
        send(200, RECORDED[json.loads(asked["messages"][1]["content"])["message"]])(handler, asked)

    server = Server([reply])
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    with read_by_a_model(f"http://127.0.0.1:{server.server_port}/v1") as memory:
        yield memory
    server.shutdown()
    server.server_close()


def test_the_recording_holds_answers_to_every_message():
    assert set(RECORDED) == {*STATED, *SILENT}
    assert sum(written(reply) is not None for reply in RECORDED.values()) >= len(RECORDED) // 2


@pytest.mark.behaviour("SF73")
def test_what_a_real_model_says_is_believed_only_where_it_quotes_what_was_stated(memory):
    told = told_by_the_model(memory)
    assert told
    for fact, message, quote in told:
        assert message in STATED, fact
        assert quote in message
        assert fact.base == 0.5


def test_a_small_model_claims_something_of_every_message_and_little_of_it_is_believed(memory):
    claimed = [fact for reply in RECORDED.values() for fact in (written(reply) or {"facts": []})["facts"]]
    assert len(claimed) >= len(RECORDED)
    assert {(f.subject, f.value) for f, _, _ in told_by_the_model(memory)} == {("staging-database", "PostgreSQL 16")}


def test_messages_with_useless_replies_wait(memory):
    assert memory.stats().unread == sum(written(reply) is None for reply in RECORDED.values())
