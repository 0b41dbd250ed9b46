"""Every figure of /metrics by its value, after a life of twenty days whose calls are known."""

from __future__ import annotations

import threading
from time import sleep
from types import SimpleNamespace

import pytest
from prometheus_client.parser import text_string_to_metric_families

from conftest import HARSH, HASHED, Clock, HashEmbedder, ScriptedModel, opened
from operations.test_tasks import at_work
from perdure.interfaces.http import access
from perdure.interfaces.http import app as http_app
from perdure.records.deadline import deadline_error, is_over
from perdure.records.errors import ModelError, StoreUnavailable
from service.test_limits import in_thread, serving

POLICY = {
    **HASHED,
    **HARSH,
    "model": {"base_url": "http://localhost:1/v1", "name": "m", "digest": True},
    "upkeep": {"jitter": 0.0},
}
NORTHWALL = ["The Northwall staging server listens on port 8081.", "The Northwall staging server is run by Jonas."]
GREEN = "The vault door is green in März."
SLOW = 0.03  # seconds, more than one of the buckets
B = {"namespace": "b"}


class SlowModel(ScriptedModel):
    """Waits until it is let go, and takes its time."""

    def __init__(self, *answers):
        super().__init__(*answers)
        self.runs, self.go = threading.Event(), threading.Event()

    def ask(self, *asked):
        self.runs.set()
        assert self.go.wait(60)
        threading.Event().wait(SLOW)
        return super().ask(*asked)


def lived(memory, client, clock, model):
    """Fill a store; return the figures as they are while a model is asked."""

    def post(verb, **given):
        return client.post(f"/v1/{verb}", json=given)

    post("remember-many", items=[f"The {letter} gate squeaks." for letter in "abcdefgh"])
    clock.passes(days=10)
    assert (memory.upkeep("w").swept.moves, post("remember", content=NORTHWALL[0], **B).status_code) == (11, 200)
    last = post("remember", content=NORTHWALL[1], **B).json()["id"]
    asking, answers = in_thread(lambda: post("digest", **B))
    assert model.runs.wait(60)
    during = figures(client.get("/metrics").text)
    model.go.set()
    asking.join(60)
    assert answers[0].status_code == 200
    post("remember", content="The Northwall staging server stands in Lyon.", **B)
    with pytest.warns(match="It is busy"):
        assert post("digest", **B).status_code == 200
    post("remember-many", items=[GREEN], embed="later", **B)
    assert len(post("recall", query="Which port does the Northwall staging server listen on?", **B).json()["hits"]) == 3
    assert post("recall", query="xyzzy plugh", **B).json()["hits"] == []
    assert post("used", ids=[last], outcome="wrong").status_code == 200
    at_work(memory)
    assert post("complete-task", task_id="t").status_code == 409
    clock.passes(days=5)
    post("remember", content="Tea is green.", namespace="c")
    clock.passes(days=4)
    assert [post("pin", id=name).status_code for name in (last, "no-such-id")] == [200, 404]
    assert memory._context.store.take_lease("b", "w", memory._context.clock(), 60_000)
    return during


def figures(text):
    """Return name -> (labels, in the order of their names) -> value."""
    return {
        family.name: {
            (s.name.removeprefix(family.name), *(s.labels[label] for label in sorted(s.labels))): s.value
            for s in family.samples
        }
        for family in text_string_to_metric_families(text)
    }


@pytest.fixture(scope="module")
def life(tmp_path_factory):
    file, clock = tmp_path_factory.mktemp("metrics") / "a.db", Clock()
    model = SlowModel({"sentences": []}, ModelError("It is busy."))
    with (
        opened(file, POLICY, clock, HashEmbedder(), model) as memory,
        serving(memory, file=file) as client,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr("perdure.interfaces.http.metrics.FIGURES_SECONDS", 0.0)
        during = lived(memory, client, clock, model)
        now = figures(client.get("/metrics").text)
        sizes = [path.stat().st_size for path in (file, file.with_name("a.db-wal"))]
        shown = [m.content for name in memory.namespaces() for m in memory.list(name, inside="s")]
        changes = sum(o.changes for o in memory.history(limit=1000, notes=True))
        trimmed = memory.stats().journal.characters
        yield SimpleNamespace(during=during, now=now, sizes=sizes, shown=shown, changes=changes, trimmed=trimmed)


COUNTERS = {
    "perdure_calls": {
        ("_total", "GateStopped", "complete_task"): 1,
        ("_total", "ok", "digest"): 2,
        ("_total", "NotFound", "pin"): 1,
        ("_total", "ok", "pin"): 1,
        ("_total", "ok", "recall"): 2,
        ("_total", "ok", "remember"): 4,
        ("_total", "ok", "remember_many"): 2,
        ("_total", "ok", "used"): 1,
    },
    "perdure_responses": {("_total", "200"): 13, ("_total", "404"): 1, ("_total", "409"): 1},
    "perdure_gate_refusals": {("_total",): 1},
    "perdure_recall_hits": {("_total",): 3},
    "perdure_recalls_unknown": {("_total",): 1},
    "perdure_model_calls": {
        ("_total", "embedder", "ok"): 11,  # of the requests 5 that store and 2 recalls; 4 of what the task stored
        ("_total", "model", "ok"): 1,
        ("_total", "model", "ModelError"): 1,
    },
    "perdure_model_texts": {("_total", "embedder"): 18, ("_total", "model"): 2},
    "perdure_worker_restarts": {("_total",): 0},
}
GAUGES = {
    "perdure_calls_in_flight": {("",): 0},
    "perdure_workers": {("",): 1},
    "perdure_store_up": {("",): 1},
    "perdure_namespaces": {("",): 3},
    "perdure_namespaces_sampled": {("",): 3},
    "perdure_memories": {("", "active"): 14, ("", "archived"): 3},
    "perdure_visible_memories": {("", "warm"): 8, ("", "cold"): 6},  # what was pinned had moved on the 18th
    "perdure_due_memories": {("",): 12},
    "perdure_held_memories": {("", "loss budget"): 5},
    "perdure_without_vector": {("",): 1},
    "perdure_leases_held": {("",): 1},
    "perdure_open_questions": {("",): 1},
    "perdure_due_lag_seconds": {("",): 2 * 86_400},  # those of b fell due on the 18th, and it is the 20th
}
FOUND = {
    "perdure_journal": lambda life: {
        "day": 2,  # the pin, and the move before it
        "week": 3,
        "total": life.changes,
        "characters": life.trimmed,
        "whole": 1,
    },
    "perdure_shown_bytes": lambda life: {"": sum(len(text.encode()) for text in life.shown)},
    "perdure_file_bytes": lambda life: {"": sum(life.sizes)},
}
DURATIONS = {
    "perdure_call_seconds": {
        "complete_task": 1,
        "digest": 2,
        "pin": 2,
        "recall": 2,
        "remember": 4,
        "remember_many": 2,
        "used": 1,
    },
    "perdure_model_seconds": {"embedder": 11, "model": 2},
}


def test_no_figure_is_without_its_case(life):
    assert set(life.now) == {*COUNTERS, *GAUGES, *FOUND, *DURATIONS}


def test_counters_and_gauges(life):
    for name, expected in {**COUNTERS, **GAUGES}.items():
        assert life.now[name] == expected, name


def test_calls_that_run_are_in_flight(life):
    assert life.during["perdure_calls_in_flight"] == {("",): 1}


def test_the_journal_and_sizes(life):
    for name, expected in FOUND.items():
        assert {labels[-1]: value for labels, value in life.now[name].items()} == expected(life), name
    assert GREEN in life.shown  # longer in bytes than in characters
    assert min(life.sizes) > 0
    assert life.trimmed > 1000


def test_durations(life):
    for name, expected in DURATIONS.items():
        found = life.now[name]
        assert {labels[1]: count for labels, count in found.items() if labels[0] == "_count"} == expected, name
        for label, count in expected.items():
            buckets = {labels[1]: n for labels, n in found.items() if labels[0] == "_bucket" and labels[2] == label}
            assert [float(bound) for bound in buckets] == sorted(map(float, buckets))
            assert list(buckets.values()) == sorted(buckets.values())
            assert (buckets["+Inf"], len(buckets)) == (count, 16), (name, label)
            assert found["_sum", label] > 0
    for name, label in (("perdure_model_seconds", "model"), ("perdure_call_seconds", "digest")):
        assert life.now[name]["_sum", label] >= 2 * SLOW
        assert life.now[name]["_bucket", "0.025", label] == 0


def test_what_the_service_counts_is_told_while_the_store_is_gone(memory, client, monkeypatch):
    def gone(_):
        raise StoreUnavailable("The server cannot be reached.")

    with monkeypatch.context() as patched:
        patched.setattr(type(memory), "stats", gone)
        answer = client.get("/metrics")
    assert answer.status_code == 200
    assert "perdure_store_up 0.0" in answer.text
    assert "perdure_calls_in_flight" in answer.text
    assert "perdure_namespaces" not in answer.text
    assert "perdure_store_up 1.0" in client.get("/metrics").text


def test_a_store_that_is_silent_is_not_ready_in_time(memory, client, monkeypatch):
    def silent(_):
        for _ in range(200):
            if is_over():
                raise deadline_error()
            sleep(0.01)

    monkeypatch.setattr(http_app, "STORE_SECONDS", 0.05)
    monkeypatch.setattr(type(memory), "readiness", property(silent))
    answer = client.get("/readyz")
    assert answer.status_code in {503, 504}
    assert answer.json()["error"] == "DeadlineExceeded"


def test_who_read_metrics_before_reads_those_of_the_process_while_the_store_is_gone(memory, monkeypatch):
    """The token could not be looked up, so that the answer was 503 when it was wanted most."""
    known, other, confined = (memory.create_token("reader", where, actor="x").secret for where in ("*", "*", "team/*"))
    revoked = memory.create_token("reader", "*", actor="x")
    monkeypatch.setattr(access, "KNOWN_SECONDS", 0.0)  # each request asks the store

    def gone(*_args, **_named):
        raise StoreUnavailable("The server cannot be reached.")

    def status(client, secret, path="/metrics"):
        return client.get(path, headers={"authorization": f"Bearer {secret}"})

    with serving(memory) as client:
        for secret in (known, confined, revoked.secret):
            assert status(client, secret, "/v1/list?namespace=team/a").status_code == 200
        memory.revoke_token(revoked.token.id)
        assert status(client, revoked.secret).status_code == 401
        for name in ("recognize", "stats"):
            monkeypatch.setattr(type(memory), name, gone)
        monkeypatch.setattr(type(memory), "has_tokens", property(gone))
        answer = status(client, known)
        assert answer.status_code == 200, answer.text
        assert "perdure_store_up 0.0" in answer.text
        assert 'perdure_calls_total{outcome="ok",verb="list"} 3.0' in answer.text
        assert [status(client, secret).status_code for secret in (other, confined, revoked.secret)] == [503, 403, 503]
        assert client.get("/metrics").status_code == 503
        assert status(client, known, "/v1/list").status_code == 503


def test_a_program_of_this_machine_reads_metrics_while_the_store_is_gone(memory, monkeypatch):
    monkeypatch.setattr(access, "KNOWN_SECONDS", 0.0)

    def gone(*_args, **_named):
        raise StoreUnavailable("The server cannot be reached.")

    with serving(memory) as client:
        assert client.get("/v1/list").status_code == 200
        monkeypatch.setattr(type(memory), "stats", gone)
        monkeypatch.setattr(type(memory), "has_tokens", property(gone))
        assert "perdure_store_up 0.0" in client.get("/metrics").text
        assert client.get("/v1/list").status_code == 503
