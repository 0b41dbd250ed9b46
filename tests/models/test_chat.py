from __future__ import annotations

import json
import time

import pytest

from models.answering import cut_off, hang_up, send
from perdure.models.chat import ChatModel
from perdure.records.errors import InvalidInput, ModelError, PerdureError

FACT = {
    "type": "object",
    "properties": {"subject": {"type": "string"}, "sure": {"type": "number", "minimum": 0, "maximum": 1}},
    "required": ["subject", "sure"],
}
SCHEMA = {
    "type": "object",
    "properties": {
        "kind": {"type": "string", "enum": ["fact", "none"]},
        "count": {"type": "integer"},
        "facts": {"type": "array", "maxItems": 3, "items": FACT},
        "note": {"type": "string"},
    },
    "required": ["kind", "facts"],
}
ANSWER = {"kind": "fact", "count": 1, "facts": [{"subject": "tea", "sure": 0.75}]}


def says(content, **choice):
    """A server whose model says this; anything but text is said as JSON."""
    words = content if isinstance(content, str) else json.dumps(content)
    return send(200, {"choices": [{"message": {"role": "assistant", "content": words}, **choice}]})


def slow(handler, asked):
    time.sleep(0.4)
    handler.close_connection = True


def trickle(handler, _):
    handler.send_response(200)
    handler.end_headers()
    try:
        for _ in range(40):
            handler.wfile.write(b" ")
            time.sleep(0.02)
    except OSError:
        pass
    handler.close_connection = True


def picky(*fields):
    """A server that refuses requests with any of these fields."""

    def reply(handler, asked):
        known = not set(fields) & set(asked)
        (says(ANSWER) if known else send(400, {"error": f"unknown field {fields[0]}"}))(handler, asked)

    return reply


def model(server, **keywords):
    keywords = {"key_variable": None, "pause": 0.01, "timeout": 5.0} | keywords
    return ChatModel(f"http://127.0.0.1:{server.server_port}/v1/", "small", **keywords)


def ask(server, **keywords):
    return model(server, **keywords).ask("Find facts.", "I like tea.", SCHEMA)


def test_the_model_is_asked_for_an_answer_that_fits_the_schema(serve):
    server = serve(says(ANSWER))
    assert ask(server) == ANSWER
    [(path, authorization, asked)] = server.asked
    assert (path, authorization, asked["model"]) == ("/v1/chat/completions", None, "small")
    system, user = asked["messages"]
    assert system["role"] == "system"
    assert system["content"].startswith("Find facts.")
    assert json.dumps(SCHEMA) in system["content"]
    assert user == {"role": "user", "content": "I like tea."}
    form = asked["response_format"]["json_schema"]
    assert form["schema"]["additionalProperties"] is False
    assert form["schema"]["properties"]["facts"]["items"]["additionalProperties"] is False
    assert form["strict"] is False  # `note` and `count` may be left out


def test_a_schema_that_requires_everything_is_held_to_strictly(serve):
    server = serve(says({"subject": "tea", "sure": 1}))
    assert model(server).ask("x", "y", FACT) == {"subject": "tea", "sure": 1}
    assert server.asked[0][2]["response_format"]["json_schema"]["strict"] is True


@pytest.mark.parametrize(
    ("fields", "tries"), [(("temperature",), 2), (("response_format",), 3), (("response_format", "temperature"), 3)]
)
def test_a_server_that_knows_less_is_asked_more_simply_and_from_then_on(serve, fields, tries):
    server = serve(picky(*fields))
    asking = model(server)
    assert asking.ask("a", "b", SCHEMA) == ANSWER
    assert len(server.asked) == tries
    assert asking.ask("a", "b", SCHEMA) == ANSWER
    assert len(server.asked) == tries + 1


def test_a_refusal_of_the_simplest_form_is_told(serve):
    server = serve(send(400, {"error": {"message": "the text is too long"}}))
    with pytest.raises(ModelError, match=r"400: .*too long"):
        ask(server)
    assert len(server.asked) == 3


@pytest.mark.parametrize(
    "fenced", ["```json\n{}\n```", "```\n{}\n```\n", "  ```JSON\r\n{}\r\n```", "```{}```", "\n{}\n"]
)
def test_an_answer_in_a_code_fence_is_taken_out(serve, fenced):
    assert ask(serve(says(fenced.replace("{}", json.dumps(ANSWER))))) == ANSWER


def test_fields_that_nobody_asked_for_are_left_out(serve):
    said = {**ANSWER, "extra": "x", "facts": [{**ANSWER["facts"][0], "why": "because"}]}
    assert ask(serve(says(said))) == ANSWER


@pytest.mark.behaviour("WH16")
@pytest.mark.parametrize("given", [{}, {"kind": "poem"}, {"kind": None}])
def test_a_part_with_a_default_costs_no_other_part_and_is_asked_for_without_it(serve, given):
    kind = {**SCHEMA["properties"]["kind"], "default": ""}
    schema = {**SCHEMA, "properties": {**SCHEMA["properties"], "kind": kind}}
    server = serve(says({**given, "facts": ANSWER["facts"]}))
    assert model(server).ask("", "", schema) == {"kind": "", "facts": ANSWER["facts"]}
    sent = server.asked[0][2]["response_format"]["json_schema"]["schema"]
    assert "default" not in sent["properties"]["kind"]


def test_a_lone_surrogate_becomes_a_replacement_both_ways(serve):
    server = serve(says({**ANSWER, "note": "a\ud800b"}))
    assert model(server).ask("x", "c\udfffd", SCHEMA)["note"] == "a\ufffdb"
    assert server.asked[0][2]["messages"][1]["content"] == "c\ufffdd"


@pytest.mark.parametrize("bad", [send(500, b""), send(503, b"busy"), send(429, b"", Retry_After="0"), hang_up, cut_off])
def test_passing_failures_are_tried_again(serve, bad):
    server = serve(bad, bad, says(ANSWER))
    assert ask(server) == ANSWER
    assert len(server.asked) == 3


def test_a_timeout_is_told_and_not_tried_again(serve):
    server = serve(slow, says(ANSWER))
    with pytest.raises(ModelError, match=r"within 0\.05 s"):
        ask(server, timeout=0.05)
    assert len(server.asked) == 1


def test_a_reply_that_trickles_is_given_up(serve):
    server = serve(trickle)
    started = time.monotonic()
    with pytest.raises(ModelError, match=r"within 0\.1 s"):
        ask(server, timeout=0.1)
    assert time.monotonic() - started < 0.7  # three tries of 0.1 s; each reply would take 0.8 s


def choice(**fields):
    return send(200, {"choices": [fields]})


WRONG = {
    "truncated reply": (send(200, b'{"choices": [{"mess'), "is not JSON"),
    "a page": (send(200, b"<html>"), "is not JSON"),
    "no text": (send(200, b"\xff\xfe"), "is not JSON"),
    "nested": (send(200, b"[" * 200_000), "is not JSON"),
    "a number": (send(200, b"1"), "no message"),
    "no choices": (send(200, {"choices": []}), "no message"),
    "choices null": (send(200, {"choices": None}), "no message"),
    "choice a word": (send(200, {"choices": ["x"]}), "no message"),
    "no message": (choice(text="x"), "no message"),
    "refused": (choice(message={"content": None, "refusal": "no"}), "without text"),
    "parts": (choice(message={"content": [{"type": "text"}]}), "without text"),
    "blank": (says("  \n"), "without text"),
    "cut short": (says('{"kind": "fa', finish_reason="length"), "was truncated"),
    "truncated answer": (says('{"kind": "fact", "facts": [{"subj'), "no readable JSON"),
    "prose": (says("Sure! Here you are: nothing."), "no readable JSON"),
    "deep answer": (says("[" * 100_000), "no readable JSON"),
    "NaN": (says('{"kind": "fact", "facts": [{"subject": "a", "sure": NaN}]}'), "no readable JSON"),
    "huge integer": (says('{"kind": "fact", "facts": [], "count": ' + "9" * 5000 + "}"), "no readable JSON"),
    "a list": (says([ANSWER]), "the answer is not an object"),
    "nonsense": (says({"weather": "fine"}), "has no 'kind'"),
    "wrong word": (says({**ANSWER, "kind": "opinion"}), "kind is not the requested string"),
    "kind a list": (says({**ANSWER, "kind": ["fact"]}), "kind is not the requested string"),
    "facts a word": (says({**ANSWER, "facts": "tea"}), "facts is not a list"),
    "too many": (says({**ANSWER, "facts": ANSWER["facts"] * 4}), "facts is not a list of the requested length"),
    "fact a word": (says({**ANSWER, "facts": ["tea"]}), r"facts\[0\] is not an object"),
    "fact without": (says({**ANSWER, "facts": [{"sure": 1}]}), r"facts\[0\] has no 'subject'"),
    "true as number": (says({**ANSWER, "facts": [{"subject": "a", "sure": True}]}), "sure is not the requested number"),
    "out of range": (says({**ANSWER, "facts": [{"subject": "a", "sure": 1.5}]}), "sure is not the requested number"),
    "infinite": (
        says('{"kind": "fact", "facts": [{"subject": "a", "sure": 1e999}]}'),
        "sure is not the requested number",
    ),
    "too large": (
        says('{"kind": "fact", "facts": [{"subject": "a", "sure": 1' + "0" * 400 + "}]}"),
        "sure is not the requested num",
    ),
    "half an integer": (says({**ANSWER, "count": 1.5}), "count is not the requested integer"),
    "null": (says({**ANSWER, "note": None}), "note is not the requested string"),
}


@pytest.mark.parametrize(("reply", "match"), WRONG.values(), ids=WRONG.keys())
def test_a_wrong_reply_is_told_and_not_tried_again(serve, reply, match):
    server = serve(reply)
    with pytest.raises(ModelError, match=match) as caught:
        ask(server)
    assert caught.value.remedy
    assert len(server.asked) == 1


def test_a_reply_without_end_is_cut(serve):
    with pytest.raises(ModelError, match="larger than 4194304 bytes"):
        ask(serve(send(200, b" " * (5 * 1024 * 1024))))


@pytest.mark.parametrize(("key", "match"), [(None, "not set"), (" ", "not set"), ("a\nb", "not allowed in a header")])
def test_an_unusable_key_is_told_before_any_request(serve, monkeypatch, key, match):
    server = serve(says(ANSWER))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    if key is not None:
        monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(ModelError, match=match):
        ask(server, key_variable="OPENAI_API_KEY")
    assert server.asked == []


SPOKEN = [
    send(401, b"wrong key sk-secret"),
    send(500, b"sk-secret"),
    says("sk-secret"),
    says({"sk-secret": 1}),
    hang_up,
]


@pytest.mark.parametrize("reply", SPOKEN)
def test_an_error_never_repeats_the_key(serve, monkeypatch, reply):
    monkeypatch.setenv("MY_KEY", "sk-secret")
    server = serve(reply)
    with pytest.raises(ModelError) as caught:
        ask(server, key_variable="MY_KEY")
    assert server.asked[0][1] == "Bearer sk-secret"
    assert "sk-secret" not in f"{caught.value} {caught.value.to_dict()}"


def test_nobody_listening_is_told(serve):
    server = serve(says(ANSWER))
    asking = model(server)
    server.shutdown()
    server.server_close()
    with pytest.raises(ModelError, match="cannot be reached"):
        asking.ask("x", "y", SCHEMA)


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "string"},
        {"type": "object", "properties": {"a": {"type": "date"}}},
        {"type": "object", "properties": {"a": {"type": "array"}}},
        {"type": "object", "properties": {}, "required": ["a"]},
    ],
)
def test_a_schema_that_cannot_be_checked_is_refused_before_any_request(serve, schema):
    server = serve(says(ANSWER))
    with pytest.raises(InvalidInput):
        model(server).ask("x", "y", schema)
    assert server.asked == []


def test_wrong_settings_are_refused():
    for wrong in ({"base_url": "ftp://x"}, {"timeout": 0}, {"name": " "}, {"pause": -1}):
        with pytest.raises(InvalidInput):
            ChatModel(**{"base_url": "http://localhost", "name": "small", **wrong})
    assert issubclass(ModelError, PerdureError)
