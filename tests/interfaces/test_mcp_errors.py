"""Bad input and failures over MCP: tool errors that say what to do, and nothing half done."""

import json
import re
import time
from contextlib import closing
from itertools import count

import apsw
import pytest

import perdure
from conftest import WORDS_ONLY
from interfaces.test_mcp_talk import MODES, call, over, refused, talk
from perdure.interfaces.mcp.run import LazyStore, build
from perdure.records.errors import PolicyError, StoreError


@pytest.fixture
def memory():
    with perdure.open(":memory:", {"embedder": {"model": "none"}}) as opened:
        yield opened


def test_a_store_that_cannot_be_opened_is_a_tool_error_and_is_tried_again(memory):
    attempts = count()

    def opener():
        match next(attempts):
            case 0:
                raise PolicyError(("tiers.hot is 7; at most 1 is allowed.",))
            case 1:
                raise RuntimeError("secret: /home/me/.key")
            case _:
                return memory

    async def story(client):
        error = await refused(client, "digest")
        assert error["error"] == "PolicyError"
        assert "tiers.hot" in error["message"]
        error = await refused(client, "digest")
        assert error["error"] == "InternalError"
        assert "secret" not in json.dumps(error)
        assert (await call(client, "digest"))["ids"] == []

    talk(build(opener), story)


def test_a_closed_server_says_so(memory):
    opened = LazyStore(lambda: memory)
    opened()
    opened.close()
    opened.close()
    with pytest.raises(StoreError, match="shutting down"):
        opened()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("tool", "arguments", "error", "says"),
    [
        ("remember", {"content": "   "}, "InvalidInput", "content is empty"),
        ("remember", {"content": ""}, "InvalidInput", "content"),
        ("remember", {"content": "a\x00b"}, "InvalidInput", "NUL"),
        ("remember", {"content": "x" * (1 << 20 | 1)}, "InvalidInput", "1,048,576"),
        ("remember", {"content": "x", "at": "2999-01-01T00:00:00Z"}, "InvalidInput", "future"),
        ("remember", {"content": "x", "at": "2026-01-01T00:00:00"}, "InvalidInput", "no time zone"),
        ("remember", {"content": "x", "at": "yesterday"}, "InvalidInput", "at is not an ISO 8601"),
        ("remember", {"content": "x", "importance": 1.5}, "InvalidInput", "importance"),
        ("remember", {"content": "x", "kind": "rumour"}, "InvalidInput", "kind"),
        ("remember", {"content": "x", "namespace": "../etc"}, "InvalidInput", "namespace"),
        ("remember", {"content": "x", "tags": [f"t{i}" for i in range(10_000)]}, "InvalidInput", "10,000 tags"),
        ("remember", {"content": "x", "tag": ["y"]}, "InvalidInput", "'tag'"),
        ("remember", {}, "InvalidInput", "content"),
        ("recall", {"query": " "}, "InvalidInput", "query is empty"),
        ("recall", {"query": "x", "limit": 0}, "InvalidInput", "limit"),
        ("recall", {"query": "x", "since": "soon"}, "InvalidInput", "since"),
        ("get", {"id": "nothing"}, "NotFound", "nothing"),
        ("why", {"id": "nothing"}, "NotFound", "nothing"),
        ("archive", {"id": "nothing", "reason": "x"}, "NotFound", "nothing"),
        ("archive", {"id": "nothing"}, "InvalidInput", "reason"),
        ("restore", {"id": "nothing"}, "NotFound", "nothing"),
        ("undo", {"operation_id": "nothing"}, "NotFound", "nothing"),
        ("digest", {"budget_tokens": 3}, "InvalidInput", "budget_tokens"),
        ("list", {"before": "nothing"}, "NotFound", "nothing"),
        ("forecast", {"days": -1}, "InvalidInput", "days"),
        ("ingest", {"messages": [{"role": "user"}]}, "InvalidInput", "content"),
        ("ingest", {"messages": [{"content": "x", "at": "noon"}]}, "InvalidInput", "noon"),
        ("unheard_of", {}, "NotFound", "unheard_of"),
    ],
)
def test_bad_input_is_a_tool_error_with_a_remedy_and_stores_nothing(memory, mode, tool, arguments, error, says):
    async def story(client):
        told = await refused(client, tool, **arguments)
        assert told["error"] == error
        assert says in told["message"]
        assert (await call(client, "stats"))["memories"] == 0

    talk(over(memory, "full"), story, mode)


@pytest.mark.parametrize(
    "content", ['["a", "b"]', '{"a": 1}', "3", "null", "emoji 🦊 and \n\n lines", "' OR 1=1 --", "*"]
)
def test_text_that_looks_like_something_else_stays_text(memory, content):
    async def story(client):
        kept = await call(client, "remember", content=content)
        assert (await call(client, "get", id=kept["id"]))["content"] == content
        await call(client, "recall", query=content)

    talk(over(memory), story)


def test_lists_and_objects_may_come_as_json_text(memory):
    async def story(client):
        kept = await call(client, "remember", content="x", tags='["a", "b"]', metadata='{"n": 1}', importance="0.9")
        whole = await call(client, "get", id=kept["id"])
        assert (whole["tags"], whole["metadata"], whole["importance"]) == (["a", "b"], {"n": 1}, 0.9)
        for limit in (3, 3.0, "3", "3.0"):
            assert (await call(client, "list", limit=limit))["memories"]

    talk(over(memory), story)


def test_a_request_says_how_long_it_may_take(tmp_path):
    async def story(client):
        asked = time.monotonic()
        answer = await client.call_tool("remember", {"content": "tea"}, meta={"perdure/timeout": 0.3})
        assert time.monotonic() - asked < 10
        assert answer.meta["perdure/error"]["error"] == "DeadlineExceeded"
        assert "longer than 0.3 s" in answer.content[0].text
        answer = await client.call_tool("recall", {"query": "tea"}, meta={"perdure/timeout": "soon"})
        assert answer.meta["perdure/error"]["error"] == "InvalidInput"

    with (
        perdure.open(tmp_path / "a.db", WORDS_ONLY) as memory,
        closing(apsw.Connection(str(tmp_path / "a.db"))) as other,
    ):
        other.execute("BEGIN IMMEDIATE")  # another process writes
        talk(over(memory), story)
        talk(build(lambda: memory, seconds=0.2), lambda client: refused(client, "remember", content="tea"))
        other.execute("ROLLBACK")


@pytest.mark.parametrize(
    ("profile", "tool", "arguments", "remedy"),
    [
        ("agent", "remember", {"content": "tea"}, "Call remember again."),
        ("agent", "recall", {"query": "tea"}, "Call recall again: it changes no memory."),
        (
            "full",
            "remember",
            {"content": "tea"},
            "Call remember again; with an idempotency_key nothing is stored twice.",
        ),
    ],
)
def test_a_call_that_took_too_long_says_what_its_tool_allows(memory, monkeypatch, profile, tool, arguments, remedy):
    seconds = count(step=10)
    monkeypatch.setattr("perdure.records.deadline.monotonic", lambda: float(next(seconds)))

    async def story(client):
        (offered,) = [t for t in (await client.list_tools()).tools if t.name == tool]
        assert ("idempotency_key" in remedy) == ("idempotency_key" in offered.input_schema["properties"])
        answer = await client.call_tool(tool, arguments, meta={"perdure/timeout": 1.0})
        assert answer.meta["perdure/error"]["error"] == "DeadlineExceeded"
        assert answer.meta["perdure/error"]["remedy"] == remedy

    talk(build(lambda: memory, profile=profile), story)


def test_what_to_do_after_an_error_is_possible_with_the_tools_of_the_profile(memory):
    unknown = "019b76da-a800-7000-817f-e910d1ed13e3"

    async def story(client):
        tools = {tool.name for tool in (await client.list_tools()).tools}
        assert "history" not in tools
        assert "why" in tools
        for tool, arguments in (
            ("why", {"id": unknown}),
            ("update", {"id": unknown, "content": "x"}),
            ("forget", {"id": unknown}),
            ("undo", {"operation_id": unknown}),
            ("undo", {"operation_id": "last"}),
        ):
            error = await refused(client, tool, **arguments)
            assert "history" not in f"{error['message']} {error['remedy']}", error
        assert "`why`" in error["remedy"]

    talk(build(lambda: memory), story)


@pytest.mark.parametrize("profile", ["agent", "lifecycle", "full"])
def test_an_error_names_only_tools_that_the_profile_has(memory, profile):
    port = {"subject": "API", "predicate": "port", "value": "8081"}
    fact = memory.remember("The API's port is 8081", facts=[port]).facts.created[0]
    gone = memory.remember("The door is green").id
    memory.forget(gone)
    old = memory.remember("The roof is red").id
    memory.update(old, "The roof is blue")

    async def story(client):
        tools = {tool.name for tool in (await client.list_tools()).tools}
        for tool, arguments in (
            ("update", {"id": fact, "content": "9000"}),
            ("update", {"id": gone, "content": "x"}),
            ("review", {"id": gone, "verdict": "confirm"}),
            ("review", {"id": old, "verdict": "confirm"}),
        ):
            error = await refused(client, tool, **arguments)
            named = re.findall(r"`([a-z_]+)`", error["remedy"])
            assert named, error
            assert set(named) <= tools, error
        error = await refused(client, "update", id=fact, content="9000")
        assert error["remedy"] == "Pass facts with the new value, or give it to `review` with verdict=correct."
        first = "`restore` first" if "restore" in tools else "`remember` with its words first, which restores it"
        assert (await refused(client, "update", id=gone, content="x"))["remedy"] == f"Use {first}."

    talk(build(lambda: memory, profile=profile), story)
