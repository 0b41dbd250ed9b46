"""The plumbing against a real language model: llama.cpp's own server with weights from a package, or any endpoint."""

from __future__ import annotations

import time

import pytest

from models.conversation import IS_HERE, NAME, SECONDS, STATED, read_by_a_model, small_model, told_by_the_model
from perdure.models.chat import ChatModel

pytestmark = pytest.mark.skipif(not IS_HERE, reason="skipped: make nightly brings a small model, or names an endpoint")


@pytest.fixture(scope="module")
def address():
    with small_model() as found:
        yield found


@pytest.mark.behaviour("SF46")
def test_a_real_model_answers_in_the_form_that_was_asked_for(address):
    model = ChatModel(address, NAME, None, timeout=SECONDS)
    schema = {
        "type": "object",
        "properties": {"city": {"type": "string"}, "cats": {"type": "integer"}},
        "required": ["city", "cats"],
    }
    start = time.monotonic()
    answer = model.ask("Name the city and the number of cats.", "Anna moved to Berlin with 3 cats.", schema)
    assert set(answer) == {"city", "cats"}
    assert isinstance(answer["city"], str)
    assert isinstance(answer["cats"], int)
    use = model.use
    assert (use.calls, use.failures) == (1, 0)
    assert use.tokens_in > 20
    assert use.tokens_out > 3
    assert 0 < use.seconds <= time.monotonic() - start


def test_what_the_model_says_is_believed_only_where_it_quotes_what_was_stated(address):
    with read_by_a_model(address) as memory:
        for fact, message, quote in told_by_the_model(memory):
            assert message in STATED, fact
            assert quote in message
        assert memory.stats().model.calls > 0
