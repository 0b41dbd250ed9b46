"""A whole store of many namespaces: all are counted, some are looked into, and what waits in any of them is told."""

from __future__ import annotations

import inspect
from collections import Counter
from functools import partial

import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

from conftest import STORES, WORDS_ONLY, on_a_file, weekly, weekly_on_a_server
from perdure.interfaces.cli import app as cli
from perdure.interfaces.http import app as http_app
from perdure.interfaces.http import metrics as http_metrics
from perdure.interfaces.http.app import build_app
from perdure.interfaces.http.settings import Settings
from perdure.operations import monitoring
from perdure.operations.store_protocol import Documents, Store
from perdure.records.access import Grant
from perdure.stores.postgres.store import PostgresStore
from perdure.stores.reading import SqlDocuments
from perdure.stores.sqlite.store import SqliteStore
from service.test_metrics import figures

POLICY = {
    **WORDS_ONLY,
    "archive": {"rule": "value", "value_below": 0.99, "cold_days": 1},
    "tiers": {"hot_messages": 0, "hot_entry_value": 1.0},
    "gates": {"loss_free_count": 0, "loss_share": 0},
}
HOST = "localhost:8766"
on_both = pytest.mark.parametrize("store", STORES[:2], indirect=True)
weekly_on_servers = pytest.mark.parametrize(
    "store", [STORES[0], *(pytest.param(*s.values, marks=[*s.marks, weekly]) for s in STORES[1:])], indirect=True
)
MORE = 12
PLACES = 8
"""So many namespaces are looked into here: what holds of these holds of the 50 of a store in use."""


@pytest.fixture(autouse=True)
def _few_places(monkeypatch):
    monkeypatch.setattr(monitoring, "PLACES", PLACES)
    for module in (http_app, http_metrics):  # a busy machine may take longer than a store in use
        monkeypatch.setattr(module, "STORE_SECONDS", 60.0)


def fill(memory, names, each=1):
    for name in names:
        memory.remember_many([f"The {word} gate of {name} squeaks." for word in "abcdefgh"[:each]], name)


def named(prefix, count):
    return [f"{prefix}/{n:03}" for n in range(count)]


@pytest.fixture
def asked(monkeypatch):
    """What the stores are asked: method -> how often."""
    counts = Counter()

    def counted(name, method):
        def ask(*args, **named):
            counts[name] += 1
            return method(*args, **named)

        return ask

    for kind, protocol in ((SqliteStore, Store), (PostgresStore, Store), (SqlDocuments, Documents)):
        for name, _ in inspect.getmembers(protocol, inspect.isfunction):
            if not name.startswith("_"):
                monkeypatch.setattr(kind, name, counted(name, getattr(kind, name)))
    return counts


def taken(counts, look):
    """Return the counts of one look, but for what a service asks once a second for as long as the look takes."""
    counts.clear()
    look()
    return {name: count for name, count in counts.items() if name != "erasures"}


LOOKS = {
    "stats": lambda memory: memory.stats(),
    "alerts": lambda memory: memory.alerts(),
    "readiness": lambda memory: memory.readiness,
    "metrics": lambda memory: through(memory, "/metrics"),
    "stats of a token": lambda memory: memory.confine(Grant("reader", "*", "ana")).stats(),
    "alerts of a token": lambda memory: memory.confine(Grant("reader", "*", "ana")).alerts(),
}


def through(memory, address):
    with TestClient(build_app(lambda: memory, Settings(frozenset({HOST}))), base_url=f"http://{HOST}") as client:
        reply = client.get(address)
        assert reply.status_code == 200
        return reply


def overdue(alerts):
    return {a.namespace for a in alerts if a.name == "overdue_hours"}


@weekly_on_a_server
def test_a_store_is_asked_as_much_however_many_namespaces_it_has(opening, clock, asked):
    memory = opening(POLICY)
    fill(memory, named("a", PLACES + 1))
    clock.passes(days=12)
    before = {name: taken(asked, partial(look, memory)) for name, look in LOOKS.items()}
    clock.passes(days=-12)
    fill(memory, named("b", MORE))
    clock.passes(days=12)
    assert {name: taken(asked, partial(look, memory)) for name, look in LOOKS.items()} == before
    assert before["readiness"] == {"health": 1, "overdue_namespaces": 1}


@weekly_on_servers
def test_what_waits_in_any_namespace_is_told_and_all_are_counted(opening, clock):
    memory = opening(POLICY)
    large = named("large", PLACES + 2)
    fill(memory, large, each=2)
    clock.passes(days=11)
    memory.sweep()  # all is held back there
    held_since = clock()
    clock.passes(days=8)
    fill(memory, ["small/late"])
    clock.passes(days=12)
    fill(memory, ["small/new"], each=3)

    stats = memory.stats()
    assert (stats.namespaces, stats.namespaces_sampled) == (PLACES + 4, PLACES)
    assert stats.memories == sum(stats.statuses.values()) == 2 * len(large) + 1 + 3
    assert stats.due_now == 2 * len(large) + 1
    assert stats.overdue_since is not None
    found = memory.alerts()
    assert overdue(found) == {"small/late"}
    waits = {a.namespace for a in found if a.name == "held_days"}
    assert waits == set(large)
    assert stats.held == {"loss budget": 2 * PLACES}
    assert held_since > min(since for _, since in stats.held_first)
    lag = memory.readiness.worker_lag_seconds
    assert lag == pytest.approx((clock() - stats.overdue_since).total_seconds())


@on_both
def test_moves_that_nobody_missed_are_no_alarm_however_many_namespaces_there_are(opening, clock):
    memory = opening({**POLICY, "alerts": {"overdue_hours": 24}})
    names = named("a", PLACES + MORE)
    fill(memory, names)
    clock.passes(days=12)
    memory.remember("The late gate squeaks.", names[-1])
    severities = {a.namespace: a.severity for a in memory.alerts() if a.name == "overdue_hours"}
    assert severities == {name: "critical" if name == names[-1] else "info" for name in names}


@on_both
def test_what_has_waited_is_not_hidden_by_what_was_taken_in_late(opening, clock):
    memory = opening(POLICY)
    fill(memory, ["a"])
    clock.passes(days=12)
    lag = memory.readiness.worker_lag_seconds
    old = [{"content": f"The {n}th gate squeaks.", "at": clock().replace(year=2020).isoformat()} for n in range(30)]
    memory.ingest(old, "a", session="old")
    assert memory.stats().due_now == 31
    assert memory.readiness.worker_lag_seconds == lag > 86_400


@on_a_file
def test_of_other_namespaces_the_last_report_of_maintenance_is_told(opening, clock):
    memory = opening({**POLICY, "alerts": {"overdue_hours": 0, "held_days": 0}})
    fill(memory, named("large", PLACES), each=2)
    fill(memory, ["small"])
    memory.upkeep("w")
    found = {a.name: a for a in memory.alerts() if a.namespace == "small"}
    assert {"at_risk", "fading_share"} <= found.keys()
    assert found == {a.name: a for a in memory.alerts("small")}
    quiet = opening({**POLICY, "alerts": {"overdue_hours": 0, "held_days": 0, "at_risk": 0, "fading_share": 0}})
    assert [a for a in quiet.alerts() if a.namespace == "small"] == []


@on_a_file
def test_nothing_is_left_out_of_as_many_as_are_looked_into(opening, clock):
    memory = opening(POLICY)
    fill(memory, named("a", PLACES), each=2)
    clock.passes(days=3)
    stats = memory.stats()
    assert stats.namespaces_sampled == stats.namespaces == PLACES
    assert stats.sampled == stats.memories == stats.fading == 2 * PLACES


@on_both
def test_a_token_of_some_namespaces_sees_its_own(opening, clock):
    memory = opening(POLICY)
    fill(memory, named("hers", PLACES + 5))
    fill(memory, named("his", 3), each=4)
    clock.passes(days=12)
    hers, his = (memory.confine(Grant("reader", f"{who}/*", who)) for who in ("hers", "his"))
    stats = hers.stats()
    assert (stats.namespaces, stats.namespaces_sampled, stats.memories) == (PLACES + 5, PLACES, PLACES + 5)
    assert (stats.due_now, {a.namespace for a in hers.alerts()}) == (PLACES + 5, set(named("hers", PLACES + 5)))
    assert (his.stats().namespaces_sampled, his.stats().memories) == (3, 12)
    assert {a.namespace for a in his.alerts()} == set(named("his", 3))


@on_both
def test_the_service_says_how_many_namespaces_were_looked_into(opening, clock):
    memory = opening(POLICY)
    fill(memory, named("a", PLACES + 9))
    clock.passes(days=12)
    told = figures(through(memory, "/metrics").text)
    assert told["perdure_namespaces"] == {("",): PLACES + 9}
    assert told["perdure_namespaces_sampled"] == {("",): PLACES}
    assert told["perdure_memories"] == {("", "active"): PLACES + 9}
    lag = memory.readiness.worker_lag_seconds
    assert told["perdure_due_lag_seconds"] == {("",): lag}
    assert through(memory, "/readyz").json()["worker_lag_seconds"] == lag > 86_400
    assert through(memory, "/v1/stats").json()["namespaces_sampled"] == PLACES
    assert overdue(memory.alerts()) == set(named("a", PLACES + 9))


@on_a_file
def test_the_command_line_says_it_in_a_sentence(opening, path):
    def shown(*words):
        reply = CliRunner().invoke(cli.app, [*words, "--store", str(path)])
        assert reply.exit_code in {0, 5}, reply.output
        return " ".join(reply.output.split())

    memory = opening(POLICY)
    fill(memory, named("a", PLACES))
    looks = ("stats",), ("alerts",), ("watch", "--once")
    assert all("looked into" not in shown(*words) for words in looks)
    fill(memory, ["b"])
    for words in looks:
        assert f"{PLACES} of {PLACES + 1} namespaces were looked into" in shown(*words), words
        assert "looked into" not in shown(*words, "-n", "b"), words
