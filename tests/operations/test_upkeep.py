"""Upkeep by a schedule: one worker runs each task of a namespace, missed runs are caught up once, failures wait."""

from __future__ import annotations

import json
import logging
from contextlib import closing, nullcontext
from pathlib import Path

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import STORES, WORDS_ONLY, HashEmbedder, finished, in_processes, on_a_file, servers
from laws.memories import LAW
from perdure.compose import scratch_store, store_at
from perdure.interfaces.files.export_files import export_reader
from perdure.operations.import_export import import_lines
from perdure.records.errors import DamageWarning, StoreError, StoreUnavailable
from perdure.records.instant import to_instant
from perdure.records.plan import Change, Plan, Target
from perdure.records.policy_lifecycle import UpkeepPolicy
from perdure.rules.lifecycle.schedule import Task, begin_run, earliness, fail_run, finish_run, interval, next_run
from perdure.stores.backups import BackupFolder
from perdure.stores.postgres.server import Server
from perdure.stores.postgres.session import PostgresSession
from starts import forked_python

HOUR, DAY = 3_600_000, 86_400_000
PLAIN = {"jitter": 0.0, "check_days": 0, "compact_share": 1}
"""Other files ask about the daily check, the journal's horizon, and compacting."""
POLICY = {**WORDS_ONLY, "upkeep": PLAIN, "journal": {"horizon_days": 0}}


def tasks(report):
    return sorted((r.namespace, r.task) for r in report.runs)


@pytest.fixture
def kept(opening, tmp_path):
    memory = opening({**POLICY, "upkeep": {**PLAIN, "backup_folder": str(tmp_path / "backups")}})
    for place in ("a", "b"):
        memory.remember_many([f"note {i} of {place}" for i in range(3)], namespace=place)
    return memory


def vaulted(raw_store, memory, identity, namespace="a"):
    op = raw_store.states(namespace, [identity])[identity][1]
    change = Change(Target.MEMORY, identity, {"tier": "warm", "op": op}, {"tier": "vault", "op": f"v-{identity}"}, "")
    raw_store.apply(Plan(f"v-{identity}", "test", namespace, 0, (change,), memory.policy.version))


@pytest.mark.behaviour("G30")
def test_every_task_runs_once_and_then_by_its_interval(kept, clock):
    everything = [("a", "backup"), ("a", "report"), ("b", "backup"), ("b", "report")]
    assert tasks(kept.upkeep("one")) == everything  # nothing is due to be swept
    assert kept.upkeep("one").runs == ()
    clock.passes(hours=23.9)
    assert kept.upkeep("one").runs == ()
    clock.passes(hours=0.1)
    assert tasks(kept.upkeep("one")) == [("a", "report"), ("b", "report")]
    clock.passes(days=7)
    assert tasks(kept.upkeep("one")) == sorted([*everything, ("a", "sweep"), ("b", "sweep")])


def test_sweeps_keep_their_interval_unless_told_to_be_eager(kept, clock):
    clock.passes(days=8)
    done = kept.upkeep("one")
    assert (done.swept.swept, done.swept.moves) == (2, 6)
    kept.recall("note 1", namespace="a")
    clock.passes(minutes=30)
    assert kept.upkeep("one").swept.swept == 0
    clock.passes(minutes=30)
    assert kept.upkeep("one").swept.swept == 1
    kept.recall("note 1", namespace="b")
    clock.passes(minutes=1)
    assert kept.upkeep("one", eager=True).swept.swept == 1


def test_a_sweep_that_was_wanted_is_written_down_once_an_hour_where_nothing_was_due(kept, clock):
    kept.upkeep("one")
    assert [kept.upkeep_state(place).get("sweep") for place in "ab"] == [None, None]
    known = []
    for minutes in (0, 30, 31):
        clock.passes(minutes=minutes)
        kept.upkeep("one", eager=True)
        swept = [kept.upkeep_state(place)["sweep"] for place in "ab"]
        assert [(run["outcome"], run["note"]) for run in swept] == [("done", "nothing was due")] * 2
        known.append(swept[0]["last_ms"])
    assert [at - known[0] for at in known] == [0, 0, 61 * 60_000]


@pytest.mark.behaviour("G31")
def test_a_year_of_missed_runs_is_caught_up_once(kept, clock):
    kept.upkeep("one")
    clock.passes(days=365)
    caught = kept.upkeep("one")
    assert tasks(caught) == sorted((p, t) for p in "ab" for t in ("backup", "report", "sweep"))
    assert kept.upkeep("one").runs == ()
    clock.passes(hours=25)
    assert {t for _, t in tasks(kept.upkeep("one"))} == {"report"}
    clock.passes(days=5.9)
    assert {t for _, t in tasks(kept.upkeep("one"))} == {"report"}
    clock.passes(days=0.1)
    assert ("a", "backup") in tasks(kept.upkeep("one"))


def test_of_two_workers_one_works(kept, opening, clock):
    other = opening(kept.policy)
    assert len(kept.upkeep("one").runs) == 4
    assert other.upkeep("two").runs == ()
    clock.passes(days=1)
    assert len(other.upkeep("two").runs) == 2
    assert kept.upkeep("one").runs == ()


@pytest.mark.behaviour("G32")
def test_of_two_workers_that_see_the_same_one_writes_itself_in(kept, opening, monkeypatch):
    """Both have read that a task is due; the second one finds the first one's name when it writes."""
    other = opening(kept.policy)
    store = kept._context.store
    right, met = type(store).apply, []

    def apply(self, plan, **more):
        if not met and self is store and plan.operation == "upkeep":
            met.append(other.upkeep("two"))
        return right(self, plan, **more)

    monkeypatch.setattr(type(store), "apply", apply)
    mine = kept.upkeep("one")
    assert len(met[0].runs) == 4
    assert mine.runs == ()
    assert {d["owner"] for p in "ab" for d in kept.upkeep_state(p).values()} == {"two"}


@pytest.mark.behaviour("G38")
def test_the_documents_say_how_it_went(kept, clock):
    kept.upkeep("one")
    now = to_instant(clock())
    state = kept.upkeep_state("a")
    assert set(state) == {"report", "backup"}
    report = state["report"]
    assert (report["last_ms"], report["next"], report["outcome"], report["failures"]) == (now, now + DAY, "done", 0)
    assert report["owner"] == "one"
    assert report["report"] == {
        "at_ms": now,
        "memories": 3,
        "tiers": {"warm": 3},
        "statuses": {"active": 3},
        "hidden_soon": 0,
        "soon_days": 30,
        "importance": {"p10": 0.7, "p50": 0.7, "p90": 0.7},
        "sampled": 3,
        "alerts": [],
    }
    assert kept.upkeep_state("nowhere") == {}


def test_a_report_foresees_what_will_be_hidden(opening, clock):
    memory = opening({**POLICY, "archive": {"rule": "value", "value_below": 0.5, "cold_days": 10}})
    memory.remember_many([f"note {i}" for i in range(4)])
    clock.passes(days=5)
    memory.upkeep("one")
    assert memory.upkeep_state()["report"]["report"]["hidden_soon"] == 4


def test_upkeep_tries_once_a_day_what_a_gate_holds(opening, clock):
    memory = opening(
        {**POLICY, "archive": {"rule": "value", "value_below": 0.5, "cold_days": 1}, "gates": {"loss_free_count": 0}}
    )
    memory.remember_many([f"note {i}" for i in range(30)])
    clock.passes(days=8)
    assert memory.upkeep("one").swept.held == 27
    clock.passes(hours=2)
    assert memory.upkeep("one").swept.due == 0
    clock.passes(days=1)
    assert memory.upkeep("one").swept.held == 25


# --- failures


class Broken:
    def __init__(self, error):
        self.error = error

    def write(self, namespace, at, lines):  # noqa: ARG002  # part of the port
        if namespace == "a":
            raise self.error
        assert list(lines)
        return "somewhere"


@pytest.mark.behaviour("G34")
@pytest.mark.parametrize(
    "error", [StoreError("The shelf fell down."), ZeroDivisionError("by zero")], ids=["ours", "any"]
)
def test_a_run_that_fails_is_written_down_logged_and_tried_again_while_others_go_on(
    kept, clock, caplog, monkeypatch, error, raw_store
):
    for place in "ab":
        vaulted(raw_store, kept, kept.list(place)[0].id, place)
    monkeypatch.setattr(BackupFolder, "write", Broken(error).write)
    with caplog.at_level(logging.WARNING):
        done = kept.upkeep("one")
    assert [(r.namespace, r.outcome) for r in done.runs if r.task == "backup"] == [("a", "failed"), ("b", "done")]
    assert "a" in done.failed
    assert any(str(error) in r.getMessage() for r in caplog.records)
    state = kept.upkeep_state("a")["backup"]
    assert (state["outcome"], state["failures"], str(error) in state["note"]) == ("failed", 1, True)

    clock.passes(minutes=4.9)
    assert kept.upkeep("one").runs == ()
    clock.passes(minutes=0.1)
    assert [(r.namespace, r.task, r.outcome) for r in kept.upkeep("one").runs] == [("a", "backup", "failed")]
    assert kept.upkeep_state("a")["backup"]["failures"] == 2
    monkeypatch.setattr(BackupFolder, "write", lambda *_: "somewhere")
    clock.passes(minutes=5)
    kept.upkeep("one")
    state = kept.upkeep_state("a")["backup"]
    assert (state["outcome"], state["failures"]) == ("done", 0)


def test_a_sweep_that_fails_is_tried_again_while_others_go_on(kept, clock, monkeypatch, raw_store):
    clock.passes(days=8)
    kind = type(raw_store)
    right = kind.states

    def states(self, namespace, ids):
        if namespace == "a":
            raise StoreError("The shelf fell down.")
        return right(self, namespace, ids)

    monkeypatch.setattr(kind, "states", states)
    done = kept.upkeep("one")
    assert done.swept.swept == 1
    assert "a" in done.failed
    monkeypatch.undo()
    assert kept.upkeep_state("a")["sweep"]["outcome"] == "failed"
    assert kept.upkeep("one").swept.swept == 0
    clock.passes(minutes=5)
    assert kept.upkeep("one").swept.swept == 1


@pytest.mark.behaviour("G35")
def test_a_worker_that_dies_is_followed_by_another(kept, opening, clock, monkeypatch, raw_store):
    vaulted(raw_store, kept, kept.list("a")[0].id)
    monkeypatch.setattr(BackupFolder, "write", Broken(KeyboardInterrupt()).write)
    with pytest.raises(KeyboardInterrupt):
        kept.upkeep("dies")
    monkeypatch.undo()
    assert kept.upkeep_state("a")["backup"]["outcome"] == "running"
    other = opening(kept.policy)
    assert ("a", "backup") not in tasks(other.upkeep("two"))
    clock.passes(minutes=5)
    assert tasks(other.upkeep("two")) == [("a", "backup")]


def test_a_server_that_is_gone_ends_the_round(kept, monkeypatch, raw_store):
    def gone(*_):
        raise StoreUnavailable("The server cannot be reached.")

    monkeypatch.setattr(type(raw_store), "tally", gone)
    with pytest.raises(StoreUnavailable):
        kept.upkeep("one")


def test_it_stops_between_namespaces_when_told_to(kept):
    asked = []
    assert len(kept.upkeep("one", stop=lambda: len(asked.append(1) or asked) > 1).runs) == 2


def test_namespaces_with_nothing_due_are_not_asked_one_by_one(kept, opening, clock, monkeypatch, raw_store):
    """A new worker asks as often as there is something to do, however many namespaces there are."""
    for i in range(20):
        kept.remember(f"note {i}", namespace=f"idle-{i:02}")
    for eager in (False, True, True):
        kept.upkeep("one", eager=eager)
        clock.passes(minutes=2)
    asked = []
    store = type(raw_store)
    for name in ("_read", "_write", "_rows", "_everywhere"):
        monkeypatch.setattr(store, name, counted(store, name, asked))
    for eager in (False, True):
        del asked[:]
        another = opening(POLICY)
        assert another.upkeep("two", eager=eager).runs == ()
        few = len(asked)
        assert few < 20
    kept.remember("late", namespace="new")
    with_task = kept.upkeep("two")
    assert {run.namespace for run in with_task.runs} == {"new"}


def counted(owner, name, asked):
    right = getattr(owner, name)

    def call(self, *args, **named):
        asked.append(name)
        return right(self, *args, **named)

    return call


def test_memories_without_vectors_are_found_among_many_namespaces(opening, clock):
    policy = {"upkeep": PLAIN, "journal": {"horizon_days": 0}}
    memory = opening(policy, embedder=HashEmbedder())
    for place in ("a", "b", "c", "d"):
        memory.remember(f"note of {place}", namespace=place)
    memory.upkeep("one", eager=True)
    memory.remember_many(["a late note", "another"], namespace="c", embed="later")
    clock.passes(hours=2)
    assert [(r.namespace, r.task) for r in memory.upkeep("two", eager=True).runs if r.task == "embed"] == [
        ("c", "embed")
    ]
    assert memory.stats("c").without_vector == 0


@on_a_file
def test_documents_that_cannot_be_read_are_told_of_and_stop_nobody_else(kept, clock, path):
    kept.upkeep("one")
    clock.passes(days=1)
    with closing(apsw.Connection(str(path))) as by_hand:
        by_hand.execute("UPDATE document SET data = '{' WHERE namespace = 'a' AND shelf = 'upkeep' AND id = 'backup'")
    with pytest.warns(DamageWarning, match="upkeep"):
        found = {(r.namespace, r.task): r.outcome for r in kept.upkeep("two").runs}
    assert found["b", "report"] == "done"
    assert (found["a", "report"], found["a", "backup"]) == ("done", "failed")


def test_what_is_known_spares_the_reading(kept, clock, monkeypatch, raw_store):
    known = {}
    kept.upkeep("one", known=known)
    assert set(known) == {"a", "b"}

    def reads(*_):
        raise AssertionError

    monkeypatch.setattr(type(raw_store.documents), "find", reads)
    assert kept.upkeep("one", known=known).runs == ()
    monkeypatch.undo()
    clock.passes(days=1)
    assert len(kept.upkeep("one", known=known).runs) == 2


# --- backups


def files(tmp_path):
    return sorted((tmp_path / "backups").iterdir())


@pytest.mark.behaviour("G36")
def test_a_backup_holds_the_vault_and_can_be_brought_back(opening, elsewhere, tmp_path, clock, raw_store):
    policy = {"upkeep": {"backup_folder": str(tmp_path / "backups")}}
    memory = opening(policy, HashEmbedder())
    first, second, _ = memory.remember_many(
        ["The mill by the river.", "The mill on the hill.", "A third."], namespace="a"
    )
    for one in (first, second):
        vaulted(raw_store, memory, one.id)
    memory.upkeep("one")
    (file,) = files(tmp_path)
    assert memory.upkeep_state("a")["backup"]["file"] == str(file)
    assert file.stat().st_mode & 0o777 == 0o600
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [line["id"] for line in lines if line.get("part") == "memory"] == [first.id, second.id]

    place = elsewhere()
    back = opening(policy, HashEmbedder(), at=place)
    with store_at(place) as store:
        import_lines(export_reader(str(file)), lambda: nullcontext(store), scratch_store)
    assert {m.content for m in back.list("a")} == {first.memory.content, second.memory.content}
    assert back.recall("mill river", "a").hits[0].memory.id == first.id
    assert back.check() == []


def test_an_empty_vault_needs_no_file(kept, tmp_path):
    kept.upkeep("one")
    assert not (tmp_path / "backups").exists()
    assert kept.upkeep_state("a")["backup"]["note"] == "nothing in the vault"


@on_a_file
def test_backups_go_beside_the_file_unless_the_policy_says_where(opening, path, raw_store):
    memory = opening(POLICY)
    vaulted(raw_store, memory, memory.remember("The mill.", "a").id)
    memory.upkeep("one")
    assert len(list(Path(f"{path}.backups").iterdir())) == 1


def test_a_folder_that_cannot_be_written_is_a_failure_that_says_so(kept, tmp_path, raw_store):
    vaulted(raw_store, kept, kept.list("a")[0].id)
    (tmp_path / "backups").write_text("a file is in the way")
    assert "could not be written" in kept.upkeep("one").failed["a"]


@pytest.mark.behaviour("G37")
def test_a_backup_that_reads_back_differently_is_no_backup(kept, tmp_path, monkeypatch, raw_store):
    from perdure.stores import backups

    vaulted(raw_store, kept, kept.list("a")[0].id)
    right = backups._write
    monkeypatch.setattr(backups, "_write", lambda path, lines: (right(path, lines)[0], "another digest"))
    assert "differs from what was written" in kept.upkeep("one").failed["a"]
    assert files(tmp_path) == []


def test_names_that_look_alike_have_files_of_their_own(kept, tmp_path, raw_store):
    for place in ("x/y", "x y", "x" * 150):
        vaulted(raw_store, kept, kept.remember("The mill.", place).id, place)
    assert kept.upkeep("one").failed == {}
    assert len(files(tmp_path)) == 3


# --- the schedule's arithmetic

policies = st.builds(UpkeepPolicy, jitter=st.floats(0, 0.5), retry_minutes=st.floats(0.1, 1440))


@LAW
@given(policy=policies, task=st.sampled_from(Task), early=st.floats(0, 1, exclude_max=True), ran=st.integers(0, 10**14))
def test_a_run_is_due_within_its_jitter_before_the_interval_is_over(policy, task, early, ran):
    data = finish_run(begin_run(None, ran, "one", policy), task, "", policy, {})
    span = interval(task, policy)
    due = next_run(task, data, ran, policy, early=early)
    assert ran + span * (1 - policy.jitter) - 1 <= due <= ran + span
    assert next_run(task, data, ran, policy, early=0) == ran + span


@LAW
@given(policy=policies, task=st.sampled_from(Task), ran=st.integers(0, 10**14), later=st.integers(0, 10**12))
def test_a_failed_run_waits_for_the_retry_time_and_no_longer(policy, task, ran, later):
    data = fail_run(begin_run(None, ran, "one", policy), "trouble", ran, policy)
    wait = int(policy.retry_minutes * 60_000)
    due = next_run(task, data, ran + later, policy, early=0.5)
    assert due == min(ran + wait, ran + later + wait)


def test_a_clock_that_was_far_ahead_does_not_stall_upkeep():
    policy = UpkeepPolicy()
    data = finish_run(begin_run(None, 1000 * DAY, "one", policy), Task.REPORT, "", policy, {})
    assert next_run(Task.REPORT, data, 0, policy, early=0) == 0


def test_a_shorter_interval_counts_from_the_last_run():
    data = finish_run(begin_run(None, 0, "one", UpkeepPolicy()), Task.REPORT, "", UpkeepPolicy(), {})
    assert next_run(Task.REPORT, data, 0, UpkeepPolicy(report_hours=2), early=0) == 2 * HOUR


def test_workers_are_spread_and_each_keeps_its_place():
    places = [earliness(f"worker {i}", "default", Task.SWEEP) for i in range(100)]
    assert all(0 <= p < 1 for p in places)
    assert len({round(p, 1) for p in places}) > 8
    assert places[3] == earliness("worker 3", "default", Task.SWEEP)


WORKER = """
import sys
from datetime import datetime
import perdure
now = datetime.fromisoformat(sys.argv[2])
policy = {
    "embedder": {"model": "none"},
    "upkeep": {"check_days": 0, "compact_share": 1},
    "journal": {"horizon_days": 0},
}
with perdure.open(sys.argv[1], policy=policy, clock=lambda: now) as memory:
    for run in memory.upkeep(sys.argv[3]).runs:
        print(run.namespace, run.task, run.outcome)
"""


@pytest.mark.behaviour("G33")
@in_processes
def test_workers_in_processes_of_their_own_run_each_task_once(opening, path, clock):
    memory = opening()
    for i in range(8):
        memory.remember("a note", f"room-{i}")
    clock.passes(days=8)
    children = [forked_python(WORKER, path, clock.now.isoformat(), f"worker-{i}") for i in range(2)]
    lines = [line for child in children for line in finished(child).splitlines()]
    assert sorted(lines) == sorted(f"room-{i} {t} done" for i in range(8) for t in ("sweep", "report", "backup"))
    assert memory.check() == []


# --- many small namespaces


def operations_of_upkeep(raw_store, place):
    return [o for o in raw_store.operations(place, 100) if o.operation == "upkeep"]


def test_all_tasks_of_a_namespace_are_begun_in_one_operation_and_ended_in_another(opening, raw_store, clock):
    memory = opening(WORDS_ONLY)
    memory.remember("The gateway has port 8000.", namespace="a")
    done = memory.upkeep("one", eager=True)
    assert {r.task for r in done.runs} == {"report", "backup", "check", "trim", "compact"}
    assert len(operations_of_upkeep(raw_store, "a")) == 2
    clock.passes(days=1)
    again = memory.upkeep("one", eager=True)
    assert {r.task for r in again.runs} == {"report", "check", "trim", "compact"}
    assert len(operations_of_upkeep(raw_store, "a")) == 4


def test_a_long_task_does_not_keep_others_waiting_for_its_end(opening, raw_store, clock, monkeypatch, tmp_path):
    """What was begun with it is begun anew after it, so that no other worker takes it for given up."""
    memory = opening({**POLICY, "upkeep": {**PLAIN, "check_days": 30, "backup_folder": str(tmp_path / "backups")}})
    place = "a"
    memory.remember("The gateway has port 8000.", namespace=place)
    vaulted(raw_store, memory, memory.list(place)[0].id, place)
    seen = []

    def write(*_):
        clock.passes(minutes=4)
        seen.append(memory.upkeep_state(place)["report"]["outcome"])
        return "somewhere"

    monkeypatch.setattr(BackupFolder, "write", write)
    began = to_instant(clock())
    memory.upkeep("one")
    told = memory.upkeep_state(place)
    assert seen == ["running"]
    assert {task: (run["outcome"], run["last_ms"] - began) for task, run in told.items()} == {
        "report": ("done", 0),
        "backup": ("done", 0),
        "check": ("done", 4 * 60_000),
    }


def test_a_round_tells_how_far_it_is(opening, clock):
    memory = opening(POLICY)
    for place in ("a", "b", "c"):
        memory.remember(f"note of {place}", namespace=place)
    clock.passes(days=8)
    told = []
    memory.upkeep("one", progress=lambda *so_far: told.append(so_far))
    assert told == [(1, 3), (2, 3), (3, 3)] * 2


def test_the_states_of_many_namespaces_are_read_by_few_statements(opening, raw_store, monkeypatch):
    memory = opening(POLICY)
    for number in range(12):
        memory.remember(f"note {number}", namespace=f"t/{number:02}")
    memory.upkeep("one")
    expected = {place: memory.upkeep_state(place) for place in memory.namespaces()}
    asked = []
    for name in ("_read", "_rows", "_everywhere"):
        monkeypatch.setattr(type(raw_store), name, counted(type(raw_store), name, asked))
    assert memory.upkeep_states() == expected
    assert len(asked) < 5


@pytest.mark.parametrize("store", STORES[1:2], indirect=True)
def test_a_small_namespace_takes_few_round_trips_of_a_server_also_over_one_connection(opening, path, monkeypatch):
    memory = opening(WORDS_ONLY, at=servers().with_parameter(path, "pool_size=1"))
    for number in range(5):
        memory.remember(f"The gateway of tenant {number} has port 8000.", namespace=f"t/{number}")
    asked = []
    monkeypatch.setattr(Server, "_run_transaction", counted(Server, "_run_transaction", asked))
    done = memory.upkeep("one", eager=True)
    assert (len(done.runs), done.failed) == (21, {})  # compacting is for the whole store
    assert len(asked) < 5 * 14


@pytest.mark.parametrize("store", STORES[1:2], indirect=True)
def test_a_report_whose_connection_is_lost_is_read_anew(opening, monkeypatch):
    memory = opening(POLICY)
    memory.remember("note", namespace="a")
    right, lost = PostgresSession.run, []

    def run(self, name, /, *args, **named):
        if name == "events" and not lost:
            lost.append(name)
            self.connection.execute("SELECT pg_terminate_backend(pg_backend_pid())")
        return right(self, name, *args, **named)

    monkeypatch.setattr(PostgresSession, "run", run)
    done = memory.upkeep("one")
    assert lost
    assert {r.task: r.outcome for r in done.runs} == {"report": "done", "backup": "done"}
