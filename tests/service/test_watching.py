"""What operators are told: calls of models, leases and gates as metrics; alerts in the log and by webhook; traces."""

from __future__ import annotations

import base64
import hmac
import json
import logging
import os
import subprocess
import sys
import threading
from datetime import UTC, datetime
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from mcp.shared import _otel as mcp_spans
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind

import perdure
from conftest import HASHED, Clock, HashEmbedder, finished, opened, python
from operations.test_tasks import at_work
from perdure.memory import Memory
from perdure.records.errors import EmbedderError, InvalidInput
from service.conftest import POLICY
from service.test_limits import serving

KEY = base64.b64decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")  # of the standard's own example
SECRETS = {"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw": KEY, "whsec-of-a-test": b"whsec-of-a-test"}  # of no service


class Receiver(BaseHTTPRequestHandler):
    """Keeps what it is sent; answers as it is told to."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.got.append((self.headers, body))
        status = self.server.answers.pop(0) if self.server.answers else 200
        self.send_response(status)
        if status == 302:
            self.send_header("location", "/elsewhere")
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture
def receiver():
    with HTTPServer(("127.0.0.1", 0), Receiver) as server:
        server.got, server.answers = [], []
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def watched(tmp_path, clock, **alerts):
    keys = {"journal_changes": 0.5, "at_risk": 0, "fading_share": 0, "vault_candidates": 0, **alerts}
    return opened(tmp_path / "a.db", {**POLICY, "alerts": keys}, clock)


def runs(memory):
    return [(r.outcome, r.note) for r in memory.upkeep("w").runs if r.task == "alert"]


def told(server):
    rows = [row for _, body in server.got for row in json.loads(body)["data"]["alerts"]]
    assert {datetime.fromisoformat(json.loads(body)["timestamp"]).tzinfo for _, body in server.got} <= {UTC}
    return [(row["name"], row["severity"], row["state"]) for row in rows]


def signed(key, identity, at, body):
    """Return a signature as the standard describes it."""
    digest = hmac.new(key, f"{identity}.{at}.".encode() + body, sha256).digest()
    return f"v1,{base64.b64encode(digest).decode()}"


def test_the_signatures_compared_with_are_those_of_the_standard():
    example = signed(KEY, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}')
    assert example == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


@pytest.mark.parametrize("secret", SECRETS)
def test_alerts_are_posted_when_they_come_and_go_signed_and_without_content(tmp_path, receiver, monkeypatch, secret):
    monkeypatch.setenv("PERDURE_WEBHOOK_SECRET", secret)
    clock = Clock()
    with watched(tmp_path, clock, webhook=f"http://127.0.0.1:{receiver.server_port}/hook") as memory:
        memory.remember_many([f"Stone {n} lies in field {n}." for n in range(120)])
        assert runs(memory) == [("done", "1 alerts, 1 of them news")]
        clock.passes(hours=2)
        assert runs(memory) == [("done", "1 alerts, 0 of them news")]
        clock.passes(days=2)
        assert runs(memory) == [("done", "0 alerts, 1 of them news")]
    assert told(receiver) == [("journal_changes", "warning", "firing"), ("journal_changes", "warning", "resolved")]
    for headers, body in receiver.got:
        expected = signed(SECRETS[secret], headers["webhook-id"], headers["webhook-timestamp"], body)
        assert headers["webhook-signature"] == expected
        assert b"Stone" not in body


def test_a_store_that_waits_for_maintenance_says_so_once_before_the_sweep(tmp_path, receiver):
    clock, url = Clock(), f"http://127.0.0.1:{receiver.server_port}/hook"
    with watched(tmp_path, clock, webhook=url, webhook_secret_variable="") as memory:
        memory.remember("The staging server listens on port 8081.")
        memory.upkeep("w")
        assert told(receiver) == []
        clock.passes(days=138)
        memory.remember("The store is in use.")
        first = memory.upkeep("w")
        assert told(receiver) == [("overdue_hours", "critical", "firing")]
        assert first.swept.moves == 1
        clock.passes(hours=2)
        memory.upkeep("w")
        memory.upkeep("w")
        assert told(receiver)[1:] == [("overdue_hours", "critical", "resolved")]


@pytest.mark.parametrize("command", [["maintain", "--once"], ["serve", "--port", "0"]])
@pytest.mark.parametrize(("secret", "why"), [("", "is not set"), ("whsec_no base64", "is not base64")])
def test_what_could_not_send_alerts_does_not_start(tmp_path, command, secret, why):
    policy = tmp_path / "policy.toml"
    policy.write_text('[embedder]\nmodel = "none"\n[alerts]\nwebhook = "http://127.0.0.1:9/hook"\n')
    line = [sys.executable, "-m", "perdure", *command, "--store", str(tmp_path / "a.db"), "--policy", str(policy)]
    environment = {**os.environ, "PERDURE_WEBHOOK_SECRET": secret}
    done = subprocess.run(line, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, "Alerts are not sent: " in done.stderr, why in done.stderr) == (1, True, True), done.stderr


def test_a_receiver_that_fails_is_told_again_and_a_redirect_is_not_followed(tmp_path, receiver, monkeypatch):
    monkeypatch.setenv("PERDURE_WEBHOOK_SECRET", "whsec-of-a-test")
    clock = Clock()
    receiver.answers = [302]
    with watched(tmp_path, clock, webhook=f"http://127.0.0.1:{receiver.server_port}/hook") as memory:
        memory.remember_many([f"Stone {n} lies in field {n}." for n in range(120)])
        assert [outcome for outcome, _ in runs(memory)] == ["failed"]
        assert len(receiver.got) == 1
        clock.passes(minutes=10)
        memory.remember("Another stone.")  # the figures have changed, and the event is the same
        assert runs(memory) == [("done", "1 alerts, 1 of them news")]
        for expected in ("0 alerts, 1 of them news", "1 alerts, 1 of them news"):  # it is over, and comes again
            clock.passes(days=2)
            if expected.startswith("1"):
                memory.remember_many([f"Brick {n} lies in field {n}." for n in range(200)])
            assert runs(memory) == [("done", expected)]
    assert told(receiver) == [("journal_changes", "warning", s) for s in ("firing", "firing", "resolved", "firing")]
    first, again, over, anew = [headers["webhook-id"] for headers, _ in receiver.got]
    assert first == again
    assert len({first, over, anew}) == 3
    events = [json.loads(body)["data"]["alerts"][0]["id"] for _, body in receiver.got]
    assert events[0] == events[1]
    assert len(set(events)) == 3


def test_without_the_secret_nothing_is_sent(tmp_path, receiver, monkeypatch):
    monkeypatch.delenv("PERDURE_WEBHOOK_SECRET", raising=False)
    with watched(tmp_path, Clock(), webhook=f"http://127.0.0.1:{receiver.server_port}/hook") as memory:
        memory.remember_many([f"Stone {n} lies in field {n}." for n in range(120)])
        [(outcome, note)] = runs(memory)
    assert (outcome, "PERDURE_WEBHOOK_SECRET is not set" in note) == ("failed", True)
    assert receiver.got == []


def test_alerts_are_logged(tmp_path, caplog):
    with watched(tmp_path, Clock(), log=True) as memory, caplog.at_level(logging.WARNING, "perdure.alerts"):
        memory.remember_many([f"Stone {n} lies in field {n}." for n in range(120)])
        runs(memory)
    [line] = [r.message for r in caplog.records if r.name == "perdure.alerts"]
    assert line.startswith("alert name=journal_changes namespace=default severity=warning state=firing value=1.0")


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://host/x", "http://user:word@host/"])
def test_only_a_plain_address_may_be_told(tmp_path, url):
    with pytest.raises(InvalidInput):
        watched(tmp_path, Clock(), webhook=url).close()


class Failing(HashEmbedder):
    fails = False

    def embed(self, texts, *, purpose):
        if self.fails:
            raise EmbedderError("It is off.", remedy="Turn it on.")
        return super().embed(texts, purpose=purpose)


def test_metrics_tell_of_models_and_gates():
    embedder = Failing()
    policy = {"embedder": {"model": "none"}, "gates": {"loss_free_count": 0, "loss_share": 0.0}}
    with perdure.open(":memory:", policy, embedder=embedder) as memory, serving(memory) as client:
        kept = [client.post("/v1/remember", json={"content": f"Stone {n}."}).json()["id"] for n in range(3)]
        client.post("/v1/recall", json={"query": "Where is the stone?"})
        embedder.fails = True
        with pytest.warns(match="It is off"):
            client.post("/v1/recall", json={"query": "Where is another stone?"})
        assert client.post("/v1/move", json={"id": kept[0], "tier": "vault", "reason": "x"}).status_code == 200
        lines = client.get("/metrics").text.splitlines()
    for expected in (
        'perdure_model_calls_total{model="embedder",outcome="ok"} 4.0',
        'perdure_model_calls_total{model="embedder",outcome="EmbedderError"} 1.0',
        'perdure_model_texts_total{model="embedder"} 5.0',
        'perdure_model_seconds_count{model="embedder"} 5.0',
        "perdure_gate_refusals_total 0.0",
    ):
        assert expected in lines, expected


def test_a_gate_that_refuses_a_call_is_counted():
    policy = {**HASHED, "gates": {"loss_free_count": 0}}
    with perdure.open(":memory:", policy, embedder=HashEmbedder()) as memory, serving(memory) as client:
        at_work(memory)
        assert client.post("/v1/complete-task", json={"task_id": "t"}).status_code == 409
        assert "perdure_gate_refusals_total 1.0" in client.get("/metrics").text


# --- traces


@pytest.fixture
def spans(monkeypatch):
    """Return what OpenTelemetry's own SDK would send: the finished spans, in the order in which they began."""
    kept = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    monkeypatch.setattr("opentelemetry.trace.get_tracer", provider.get_tracer)
    yield lambda: sorted(kept.get_finished_spans(), key=lambda span: span.start_time)
    provider.shutdown()


TRACE = {"traceparent": f"00-{'ab' * 16}-{'cd' * 8}-01"}


def story(client):
    client.post("/v1/remember", json={"content": "The key is under the stone."}, headers=TRACE)
    client.post("/v1/recall", json={"query": "Where is the key under the stone?", "namespace": "default"})
    client.post("/v1/pin", json={"id": "stone-stone-stone"})


def test_traces_say_what_was_done_and_nothing_of_what_was_said(spans):
    with perdure.open(":memory:", POLICY, embedder=HashEmbedder()) as memory, serving(memory, traces="spans") as client:
        story(client)
    told = spans()
    assert [span.name for span in told] == [
        "create_memory perdure",
        "embeddings",
        "search_memory perdure",
        "embeddings",
        "update_memory perdure",
    ]
    stored, embedded, searched, asked, failed = told
    assert (stored.context.trace_id, stored.parent.span_id) == (int("ab" * 16, 16), int("cd" * 8, 16))
    assert stored.parent.is_remote
    assert embedded.parent.span_id == stored.context.span_id
    assert asked.parent.span_id == searched.context.span_id
    assert {span.kind for span in (stored, searched, failed)} == {SpanKind.SERVER}
    assert {span.kind for span in (embedded, asked)} == {SpanKind.CLIENT}
    assert dict(searched.attributes) == {
        "gen_ai.operation.name": "search_memory",
        "gen_ai.provider.name": "perdure",
        "gen_ai.memory.record.count": 1,
        "perdure.verb": "recall",
        "perdure.namespace": "default",
    }
    assert stored.attributes["perdure.operation"]
    assert (failed.attributes["error.type"], failed.status.is_ok) == ("NotFound", False)
    assert all(span.end_time > span.start_time for span in told)
    assert "stone" not in "".join(span.to_json() for span in told)


def test_content_is_traced_where_that_is_asked_for(spans):
    with perdure.open(":memory:", POLICY) as memory, serving(memory, traces="content") as client:
        story(client)
    searched = next(span for span in spans() if span.name == "search_memory perdure")
    assert searched.attributes["gen_ai.memory.query.text"] == "Where is the key under the stone?"
    [record] = json.loads(searched.attributes["gen_ai.memory.records"])
    assert record["content"] == "The key is under the stone."


def test_a_namespace_that_is_refused_is_in_no_span(spans):
    with perdure.open(":memory:", POLICY) as memory, serving(memory, traces="spans") as client:
        token = memory.create_token("agent", "team/a", actor="ana").secret
        for namespace in ("rival/plans", "team/a " * 500, "team/a"):
            given, bearer = {"content": "x", "namespace": namespace}, {"authorization": f"Bearer {token}"}
            client.post("/v1/remember", json=given, headers=bearer)
    assert [span.attributes.get("perdure.namespace") for span in spans()] == [None, None, "team/a"]


def test_a_call_of_a_tool_is_within_the_span_of_its_request(spans, monkeypatch):
    monkeypatch.setattr(mcp_spans, "_tracer", trace.get_tracer("mcp"))
    call = {"name": "recall", "arguments": {"query": "stone"}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    accept = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18"}
    with perdure.open(":memory:", POLICY) as memory, serving(memory, traces="spans") as client:
        assert client.post("/mcp", json=body, headers={**accept, **TRACE}).status_code == 200
    found = {span.name: span for span in spans()}
    request, searched = found["tools/call recall"], found["search_memory perdure"]
    assert searched.parent.span_id == request.context.span_id
    assert (request.context.trace_id, request.parent.span_id) == (int("ab" * 16, 16), int("cd" * 8, 16))


@pytest.mark.parametrize("traces", ["spans", "content"])
def test_what_an_error_says_is_in_no_span(spans, traces, monkeypatch):
    monkeypatch.setattr(Memory, "recall", lambda *_, **__: 1 / 0)
    with perdure.open(":memory:", POLICY) as memory, serving(memory, traces=traces) as client:
        client.post("/v1/remember", json={"content": ["the stone"]})
        client.post("/v1/recall", json={"query": "Which stone?"})
    refused, failed = spans()
    assert (refused.attributes["error.type"], failed.attributes["error.type"]) == ("InvalidInput", "ZeroDivisionError")
    told = refused.to_json() + (failed.to_json() if traces == "spans" else "")
    assert "stone" not in told
    assert not [event for span in (refused, failed) for event in span.events]
    assert {span.status.description for span in (refused, failed)} == {None}


def test_neither_traces_nor_pages_are_loaded_before_they_are_asked_for():
    code = """
import sys
import perdure
from perdure.interfaces.http.app import build_app
from perdure.interfaces.http.settings import Settings
memory = perdure.open(":memory:", {"embedder": {"model": "none"}})
build_app(lambda: memory, Settings(frozenset({"localhost"})))
print("opentelemetry" in sys.modules, "jinja2" in sys.modules, "mcp" in sys.modules)
app = build_app(lambda: memory, Settings(frozenset({"localhost"}), traces="spans"))
print([len(getattr(route, "routes", ())) > 10 for route in app.routes][-1])
print("opentelemetry" in sys.modules, "jinja2" in sys.modules)
"""
    assert finished(python(code)).split() == ["False", "False", "False", "True", "True", "True"]


def test_the_lag_is_as_long_as_a_pause_until_the_first_sweep(tmp_path, monkeypatch):
    """A store that lay for months: the lag is the age of its oldest due move, and gone with the first maintenance."""
    monkeypatch.setattr("perdure.interfaces.http.app.READY_SECONDS", 0.0)
    clock, day = Clock(), 86_400
    with opened(tmp_path / "a.db", POLICY, clock) as memory, serving(memory) as client:
        memory.remember("The staging server listens on port 8081.")
        clock.passes(days=138)
        due = client.get("/readyz").json()["worker_lag_seconds"]
        assert 100 * day < due < 138 * day
        clock.passes(days=1)
        assert client.get("/readyz").json()["worker_lag_seconds"] == pytest.approx(due + day)
        memory.upkeep("worker")
        assert client.get("/readyz").json()["worker_lag_seconds"] == 0.0
