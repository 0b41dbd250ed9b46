"""Log lines and spans of a tour of all verbs: each call is in them with its operation, and nothing that was said."""

from __future__ import annotations

import json
import signal
import sys
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind

import perdure
from conftest import HashEmbedder, ScriptedModel, opened
from perdure.interfaces.http.call_log import FIELDS
from perdure.records.errors import ModelError
from perdure.verbs.declaration import VERBS
from service.conftest import ADDRESS
from service.test_client import listening, outcome, steps
from service.test_limits import serving
from service.test_metrics import NORTHWALL
from service.test_metrics import POLICY as WITH_A_MODEL
from service.test_serve import served, talked

CONTENTS = [
    *("deploy", "tuesday", "monday", "wednesday", "oslo", "bergen", "troms", "anna", "home", "fence", "paint", "tidy"),
    *("one.", "two.", "three.", "four.", "xyzzy", "plugh", "rumour", "asked", "harbour", "hermes"),
]
"""Words of what is said, asked and given as a reason on the tour, in small letters."""


def toured(remote):
    """Take the tour; return the operations that its results name, in their order."""
    told = []
    for step in steps():
        if "_found_token" in step.__code__.co_names:
            remote._found_token = remote.list_tokens()[-1].id
        found = outcome(step, remote)
        written = [
            getattr(one, "operations", ())[:1] or (one.operation,)
            for one in (found if isinstance(found, list) else [found])
            if getattr(one, "changed", False)
        ]
        told += written[0] if written else ()
    return told


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_each_line_of_the_log_names_its_operation_and_nothing_that_was_said(tmp_path):
    with perdure.open(tmp_path / "a.db", {"embedder": {"model": "none"}}) as memory:
        token = memory.create_token("admin", "*", actor="auditor").secret
    with served(tmp_path, "--log") as (process, port):
        with perdure.connect(f"http://127.0.0.1:{port}", token=token) as remote:
            told = toured(remote)
        lines = {"accept": "application/x-ndjson", "content-type": "application/json"}
        body = json.dumps({"items": ["The harbour freezes."]})
        sent = talked(port, "POST", "/v1/remember-many", body, {**lines, "authorization": f"Bearer {token}"})
        told.append(json.loads(sent[2])["operation"])
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
        text = process.stderr.read()
    calls = [json.loads(line) for line in text.splitlines()]
    assert [line for line in calls if line["log"] != "perdure.calls"] == []
    assert [line["operation"] for line in calls if "operation" in line] == told
    assert len(told) > 30
    assert {line["verb"] for line in calls} == set(VERBS)
    assert {(line["actor"], line["level"], line["method"]) for line in calls} == {("auditor", "info", "POST")}
    assert all(line["ms"] > 0 and line["at"][:2] == "20" for line in calls)
    assert {("error" in line, line["status"] < 300) for line in calls} == {(True, False), (False, True)}
    assert [word for word in CONTENTS if word in text.lower()] == []


# --- tools of MCP


def tool(client, token, name, **arguments):
    """Call a tool over MCP, and return its structured answer; of a failure, its class."""
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
    headers = {"authorization": f"Bearer {token}", "accept": "application/json, text/event-stream"}
    result = client.post("/mcp", json=body, headers={**headers, "mcp-protocol-version": "2025-06-18"}).json()["result"]
    return result["_meta"]["perdure/error"]["error"] if result.get("isError") else result["structuredContent"]


def test_a_call_of_a_tool_is_logged_counted_and_traced_like_one_of_a_route(caplog):
    with (
        exported() as spans,
        perdure.open(":memory:", {"embedder": {"model": "none"}}) as memory,
        caplog.at_level("INFO", "perdure.calls"),
    ):
        token = memory.create_token("agent", "*", actor="auditor").secret
        metrics = memory.create_token("admin", "*", actor="operator").secret
        with serving(memory, traces="spans") as client:
            kept = tool(client, token, "remember", content="We deploy on Tuesdays.")
            assert tool(client, token, "recall", query="When do we deploy?")["hits"]
            assert tool(client, token, "why", id="0" * 36) == "NotFound"
            assert tool(client, token, "list", limit=-1) == "InvalidInput"
            counted = client.get("/metrics", headers={"authorization": f"Bearer {metrics}"}).text
    lines = [{name: getattr(record, name, None) for name in (*FIELDS, "ms")} for record in caplog.records]
    assert all(line.pop("ms") > 0 for line in lines)
    assert len({line.pop("token") for line in lines} - {None}) == 1
    assert [line.pop("namespace") for line in lines] == ["default", "default", None, "default"]
    told = {"method": "MCP", "actor": "auditor", **dict.fromkeys(("status", "operation", "error", "path"))}
    assert lines == [
        {**told, "verb": "remember", "operation": kept["operation"], "client": None},
        {**told, "verb": "recall", "client": None},
        {**told, "verb": "why", "error": "NotFound", "client": ADDRESS},
        {**told, "verb": "list", "error": "InvalidInput", "client": ADDRESS},
    ]
    for verb, ended in (("remember", "ok"), ("recall", "ok"), ("why", "NotFound"), ("list", "InvalidInput")):
        assert f'perdure_calls_total{{outcome="{ended}",verb="{verb}"}} 1.0' in counted
    assert "perdure_recall_hits_total 1.0" in counted
    found = [dict(span.attributes) for span in spans() if "perdure.verb" in span.attributes]  # others are the library's
    assert [one["perdure.verb"] for one in found] == ["remember", "recall", "why", "list"]
    assert [one.get("perdure.operation") for one in found] == [kept["operation"], None, None, None]
    assert [one.get("gen_ai.memory.record.count") for one in found] == [None, 1, None, None]
    assert [one.get("error.type") for one in found] == [None, None, "NotFound", "InvalidInput"]
    assert [word for span in spans() for word in CONTENTS if word in span.to_json().lower()] == []


# --- traces


@contextmanager
def exported():
    """Give what the SDK of OpenTelemetry exports within a block."""
    kept, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("opentelemetry.trace.get_tracer", provider.get_tracer)
        yield lambda: sorted(kept.get_finished_spans(), key=lambda span: span.start_time)
    provider.shutdown()


@pytest.fixture(scope="module")
def tour():
    policy = {"preset": "facts", "embedder": {"model": "none"}}
    with (
        exported() as spans,
        perdure.open(":memory:", policy) as memory,
        listening(memory, traces="spans") as url,
    ):
        token = memory.create_token("admin", "*", actor="auditor").secret
        with perdure.connect(url, token=token) as remote:
            told = toured(remote)
        found = [span for span in spans() if span.kind is SpanKind.SERVER]
    return SimpleNamespace(spans=found, told=told)


OPERATIONS = {
    "search_memory": {"recall", "answer_sheet"},
    "create_memory": {"remember", "remember_many", "ingest", "learn"},
    "update_memory": {"update", "pin", "unpin", "move", "strengthen", "reinforce", "confirm"},
    "delete_memory": {"forget", "erase"},
}
"""The conventions' names of memory operations; the other verbs go by their own."""
NAMED = {verb: name for name, verbs in OPERATIONS.items() for verb in verbs}
ALWAYS = {"gen_ai.operation.name", "gen_ai.provider.name", "perdure.verb"}
SOMETIMES = {"perdure.namespace", "perdure.operation", "gen_ai.memory.record.count", "error.type"}


def test_each_verb_has_a_span_by_the_conventions(tour):
    assert {span.attributes["perdure.verb"] for span in tour.spans} == set(VERBS)
    for span in tour.spans:
        attributes = dict(span.attributes)
        name = NAMED.get(attributes["perdure.verb"], attributes["perdure.verb"])
        assert (span.name, attributes["gen_ai.operation.name"]) == (f"{name} perdure", name)
        assert attributes["gen_ai.provider.name"] == "perdure"
        assert ALWAYS <= attributes.keys() <= ALWAYS | SOMETIMES, attributes
        assert ("error.type" in attributes) != (span.status.is_unset), attributes
        counted = attributes["perdure.verb"] == "recall" and span.status.is_unset
        assert ("gen_ai.memory.record.count" in attributes) == counted, attributes


def test_spans_name_the_operations(tour):
    assert [span.attributes["perdure.operation"] for span in tour.spans if "perdure.operation" in span.attributes] == (
        tour.told
    )


def test_no_span_holds_what_was_said(tour):
    for span in tour.spans:
        text = span.to_json().lower()
        assert [word for word in CONTENTS if word in text] == [], span.name
        assert not span.events


@pytest.mark.parametrize("traces", ["spans", "content"])
def test_calls_of_models_are_spans_within_their_call(traces):
    model = ScriptedModel({"sentences": []}, ModelError("The harbour froze."))
    with (
        exported() as spans,
        opened(":memory:", WITH_A_MODEL, embedder=HashEmbedder(), model=model) as memory,
        serving(memory, traces=traces) as client,
    ):
        client.post("/v1/remember-many", json={"items": [*NORTHWALL, "One."]})
        client.post("/v1/digest", json={})
        client.post("/v1/remember", json={"content": "The Northwall staging server stands in Lyon."})
        with pytest.warns(match="harbour"):
            client.post("/v1/digest", json={})
    found = [(span.name, dict(span.attributes)) for span in spans()]
    embeddings = {"gen_ai.operation.name": "embeddings", "perdure.texts": 3}
    chat = {"gen_ai.operation.name": "chat", "perdure.texts": 1}
    digest = {"gen_ai.operation.name": "digest", "gen_ai.provider.name": "perdure", "perdure.verb": "digest"}
    assert [one for one in found if one[0] != "create_memory perdure"] == [
        ("embeddings", embeddings),
        ("digest perdure", digest),
        ("chat", chat),
        ("embeddings", {**embeddings, "perdure.texts": 1}),
        ("digest perdure", digest),
        ("chat", {**chat, "error.type": "ModelError"}),
    ]
    by_id = {span.context.span_id: span for span in spans()}
    for span in spans():
        inner = span.name in {"chat", "embeddings"}
        assert span.kind is (SpanKind.CLIENT if inner else SpanKind.SERVER)
        assert (span.parent and by_id[span.parent.span_id].kind) == (SpanKind.SERVER if inner else None)
        assert span.status.is_unset is ("error.type" not in span.attributes)
        assert span.end_time > span.start_time
    assert "northwall" not in "".join(span.to_json().lower() for span in spans())
    assert "harbour" not in "".join(span.to_json().lower() for span in spans())
