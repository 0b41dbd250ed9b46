import time
from dataclasses import replace

import pytest

import perdure
from models.answering import cut_off, hang_up, send
from perdure.models import endpoint
from perdure.models.endpoint import EndpointEmbedder
from perdure.models.vectors import to_vector
from perdure.records.errors import EmbedderError, InvalidInput


def row(text):
    return [float(len(text)), 1.0, -2.0]


def good(handler, asked):
    data = [{"object": "embedding", "index": i, "embedding": row(text)} for i, text in enumerate(asked["input"])]
    send(200, {"object": "list", "data": data, "model": asked["model"]})(handler, asked)


def shuffled(handler, asked):
    data = [{"index": i, "embedding": row(text)} for i, text in enumerate(asked["input"])]
    send(200, {"data": data[::-1]})(handler, asked)


def slow(handler, asked):
    time.sleep(0.5)
    good(handler, asked)


def embedder(server, **keywords):
    keywords = {"key_variable": None, "pause": 0.01, "timeout": 5.0} | keywords
    return EndpointEmbedder(f"http://127.0.0.1:{server.server_port}/v1/", "small", **keywords)


def test_texts_become_vectors_in_order(serve):
    server = serve(good)
    model = embedder(server, version="2")
    assert model.embed(["a", "abc"], purpose="query") == [to_vector(row("a")), to_vector(row("abc"))]
    assert server.asked == [("/v1/embeddings", None, {"model": "small", "input": ["a", "abc"]})]
    assert model.space.name == "small/3/2"


def test_a_policy_without_a_variable_for_the_key_sends_none(serve, tmp_path):
    server = serve(good)
    table = {"base_url": f"http://127.0.0.1:{server.server_port}/v1", "name": "small", "key_variable": ""}
    with perdure.open(tmp_path / "a.db", {"embedder": {"model": "endpoint", **table}}) as memory:
        memory.remember("Tea is at four.")
        assert memory.recall("When is tea?").note == ""
    assert {key for _, key, _ in server.asked} == {None}


def test_shuffled_entries_are_ordered_by_index(serve):
    vectors = embedder(serve(shuffled)).embed(["a", "bb", "ccc"], purpose="document")
    assert vectors == [to_vector(row(text)) for text in ("a", "bb", "ccc")]


def test_texts_are_sent_64_at_a_time(serve):
    server = serve(good)
    texts = ["x" * length for length in range(1, 131)]
    assert embedder(server).embed(texts, purpose="document") == [to_vector(row(text)) for text in texts]
    assert [len(asked["input"]) for _, _, asked in server.asked] == [64, 64, 2]


def test_no_texts_no_request(serve):
    server = serve(good)
    assert embedder(server).embed([], purpose="query") == []
    assert server.asked == []


@pytest.mark.parametrize(
    "bad", [send(500, b""), send(503, b"busy"), send(429, b"slow down", Retry_After="0"), hang_up, cut_off]
)
def test_passing_failures_are_tried_again(serve, bad):
    server = serve(bad, bad, good)
    assert embedder(server).embed(["a"], purpose="query") == [to_vector(row("a"))]
    assert len(server.asked) == 3


@pytest.mark.parametrize(("bad", "match"), [(send(500, b"no model"), "500: no model"), (hang_up, "cannot be reached")])
def test_after_two_retries_the_failure_is_told(serve, bad, match):
    server = serve(bad)
    with pytest.raises(EmbedderError, match=match):
        embedder(server).embed(["a"], purpose="query")
    assert len(server.asked) == 3


def test_the_pause_doubles_and_heeds_the_server(serve, monkeypatch):
    pauses = []
    monkeypatch.setattr("perdure.models.posting.time.sleep", pauses.append)
    embedder(serve(send(500, b""), send(500, b""), good), pause=0.5).embed(["a"], purpose="query")
    embedder(serve(send(429, b"", Retry_After="3"), good)).embed(["a"], purpose="query")
    assert pauses == [0.5, 1.0, 3.0]


def test_a_server_that_asks_for_a_long_pause_is_not_asked_again(serve):
    server = serve(send(429, b"", Retry_After="999"))
    with pytest.raises(EmbedderError, match="429"):
        embedder(server).embed(["a"], purpose="query")
    assert len(server.asked) == 1


@pytest.mark.parametrize("status", [400, 401, 404])
def test_a_refusal_is_not_tried_again(serve, status):
    server = serve(send(status, {"error": {"message": "no such model"}}))
    with pytest.raises(EmbedderError, match=rf"{status}: .*no such model"):
        embedder(server).embed(["a"], purpose="query")
    assert len(server.asked) == 1


def test_a_redirect_is_not_followed(serve, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    elsewhere = serve(good)
    here = serve(send(302, b"", Location=f"http://127.0.0.1:{elsewhere.server_port}/"))
    with pytest.raises(EmbedderError, match="302"):
        embedder(here, key_variable="OPENAI_API_KEY").embed(["a"], purpose="query")
    assert elsewhere.asked == []


def one_entry(**entry):
    return send(200, {"data": [entry]})


WRONG = {
    "truncated": (send(200, b'{"data": [{"index": 0, "embed'), "is not JSON"),
    "not text": (send(200, b"\xff\xfe\xfd"), "is not JSON"),
    "nested": (send(200, b"[" * 200_000), "is not JSON"),
    "a page": (send(200, b"<html>"), "is not JSON"),
    "a list": (send(200, []), "no list `data`"),
    "data null": (send(200, {"data": None}), "no list `data`"),
    "too few": (send(200, {"data": []}), "0 vectors for 1 texts"),
    "too many": (send(200, {"data": [{"index": i, "embedding": [1.0]} for i in (0, 1)]}), "2 vectors for 1 texts"),
    "same index": (send(200, {"data": [{"index": 0, "embedding": [1.0]}] * 2}), "without gaps"),
    "from one": (one_entry(index=1, embedding=[1.0]), "without gaps"),
    "no index": (one_entry(embedding=[1.0]), "without `index`"),
    "index true": (one_entry(index=True, embedding=[1.0]), "without `index`"),
    "no embedding": (one_entry(index=0), "without `index` or `embedding`"),
    "NaN": (one_entry(index=0, embedding=[1.0, float("nan")]), "NaN"),
    "overflow": (send(200, b'{"data": [{"index": 0, "embedding": [1e999]}]}'), "infinity"),
    "zeros": (one_entry(index=0, embedding=[0, 0]), "zero"),
    "base64": (one_entry(index=0, embedding="AACAPw=="), "str"),
    "strings": (one_entry(index=0, embedding=["1.0"]), "str"),
    "empty": (one_entry(index=0, embedding=[]), "0 values"),
}


@pytest.mark.parametrize(("reply", "match"), WRONG.values(), ids=WRONG.keys())
def test_a_wrong_reply_is_told_and_not_tried_again(serve, reply, match):
    server = serve(reply)
    with pytest.raises(EmbedderError, match=match) as caught:
        embedder(server).embed(["a"], purpose="query")
    assert caught.value.remedy
    assert len(server.asked) == 1


def test_dimensions_may_not_change_between_calls(serve):
    model = embedder(serve(good, one_entry(index=0, embedding=[1.0, 2.0])))
    model.embed(["a"], purpose="query")
    with pytest.raises(EmbedderError, match="2 values, expected 3"):
        model.embed(["a"], purpose="query")


def test_given_dimensions_bind_the_first_reply(serve):
    model = embedder(serve(good), dimensions=4)
    assert model.space.dimensions == 4
    with pytest.raises(EmbedderError, match="3 values, expected 4"):
        model.embed(["a"], purpose="query")


def test_a_reply_without_end_is_cut(serve, monkeypatch):
    monkeypatch.setattr("perdure.models.endpoint._ENDPOINT", replace(endpoint._ENDPOINT, largest=100))
    with pytest.raises(EmbedderError, match="larger than 100 bytes"):
        embedder(serve(send(200, b" " * 1000))).embed(["a"], purpose="query")


def test_a_slow_server_is_given_up_and_not_tried_again(serve):
    server = serve(slow)
    started = time.monotonic()
    with pytest.raises(EmbedderError, match=r"within 0\.1 s"):
        embedder(server, timeout=0.1).embed(["a"], purpose="query")
    assert time.monotonic() - started < 0.45
    assert len(server.asked) == 1


def test_nobody_listening_is_told(serve):
    server = serve(good)
    model = embedder(server)
    server.shutdown()
    server.server_close()
    with pytest.raises(EmbedderError, match="cannot be reached"):
        model.embed(["a"], purpose="query")


def test_the_key_comes_from_the_named_variable_at_each_call(serve, monkeypatch):
    server = serve(good)
    model = embedder(server, key_variable="MY_KEY")
    for key in ("sk-one", "sk-two\n"):
        monkeypatch.setenv("MY_KEY", key)
        model.embed(["a"], purpose="query")
    assert [authorization for _, authorization, _ in server.asked] == ["Bearer sk-one", "Bearer sk-two"]


@pytest.mark.parametrize(("key", "match"), [(None, "not set"), (" ", "not set"), ("a\nb", "not allowed in a header")])
def test_an_unusable_key_is_told_before_any_request(serve, monkeypatch, key, match):
    server = serve(good)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    if key is not None:
        monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(EmbedderError, match=match) as caught:
        embedder(server, key_variable="OPENAI_API_KEY").embed(["a"], purpose="query")
    assert "OPENAI_API_KEY" in str(caught.value)
    assert server.asked == []


def test_an_error_never_repeats_the_key(serve, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    server = serve(send(401, b"wrong key sk-secret"))
    with pytest.raises(EmbedderError, match=r"wrong key \*\*\*") as caught:
        embedder(server, key_variable="OPENAI_API_KEY").embed(["a"], purpose="query")
    assert "sk-secret" not in str(caught.value)


def test_a_lone_surrogate_reaches_the_server_as_a_replacement(serve):
    server = serve(good)
    embedder(server).embed(["a\ud800b", "\ud83d\ude00", "😀é"], purpose="document")
    assert server.asked[0][2]["input"] == ["a\ufffdb", "😀", "😀é"]


def test_a_proxy_is_not_used_for_this_machine(serve, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    assert len(embedder(serve(good)).embed(["a"], purpose="query")) == 1


@pytest.mark.parametrize(
    "address",
    [
        "",
        "localhost:80",
        "file:///etc/passwd",
        "http://",
        "http://a b/",
        "http://ä.example",
        "http://h:x",
        "http://h/?q",
    ],
)
def test_other_addresses_are_refused(address):
    with pytest.raises(InvalidInput):
        EndpointEmbedder(address, "small")


def test_an_address_with_a_password_is_refused_and_not_repeated():
    with pytest.raises(InvalidInput) as caught:
        EndpointEmbedder("http://user:hunter2@example.org", "small")
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("wrong", [{"timeout": 0}, {"pause": -1}, {"dimensions": 0}, {"version": ""}])
def test_wrong_settings_are_refused(wrong):
    with pytest.raises(InvalidInput):
        EndpointEmbedder("http://localhost", "small", **wrong)
