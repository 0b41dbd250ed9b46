"""Many workers: each namespace is swept by one of them, and a worker that lost its lease writes nothing."""

from __future__ import annotations

import os
import signal
from datetime import timedelta

import pytest

from conftest import STORES, Clock, HashEmbedder, finished, in_processes, logical, tables
from perdure.operations.lifecycle.maintain import LEASE_MS
from perdure.records.errors import LeaseLost, StoreError, StoreUnavailable
from perdure.records.instant import to_instant
from perdure.records.plan import Plan
from starts import forked_python

NAMES = ["a", "b", "c", "d", "e"]
WEEK = 8


@pytest.fixture(scope="module", params=STORES)
def store(request):
    """Leases are tried on two servers as well: each namespace has its worker on one of them."""
    return request.param


@pytest.fixture
def waiting(opening, clock):
    """A store in which every namespace has something due."""
    memory = opening()
    for name in NAMES:
        memory.remember_many([f"note {i} of {name}" for i in range(3)], namespace=name)
    clock.passes(days=WEEK)
    return memory


def plan(identity, namespace="a"):
    return Plan(id=identity, operation="test", namespace=namespace, at=0, changes=(), policy="", note="")


def test_a_round_sweeps_what_is_due_once(waiting):
    done = waiting.maintain("one")
    assert (done.due, done.swept, done.moves, done.kept, done.lost, done.failed) == (5, 5, 15, 0, 0, {})
    again = waiting.maintain("one")
    assert (again.due, again.swept, again.moves) == (0, 0, 0)
    assert waiting.sweep().moved == ()


def test_it_leaves_what_a_sweep_would_have_left(opening, elsewhere, clock):
    def made(place):
        memory = opening(at=place)
        for name in NAMES:
            memory.remember(f"note of {name}", namespace=name, idempotency_key="k")
        return memory

    places = elsewhere(), elsewhere()
    swept, maintained = (made(p) for p in places)
    clock.passes(days=WEEK)
    swept.sweep()
    maintained.maintain("one")
    kinds = [[(m.namespace, m.tier, m.state.tier_ms) for n in NAMES for m in s.list(n)] for s in (swept, maintained)]
    assert kinds[0] == kinds[1]


def test_what_another_worker_keeps_is_left_to_it(waiting, clock, raw_store):
    held = raw_store.take_lease("c", "two", to_instant(clock()), LEASE_MS)
    done = waiting.maintain("one")
    assert (done.swept, done.kept) == (4, 1)
    assert {m.namespace for m in waiting.sweep(dry_run=True).moved} == {"c"}
    raw_store.release_lease(held)
    assert waiting.maintain("one").swept == 1


def test_the_lease_of_a_dead_worker_runs_out(waiting, clock, raw_store):
    raw_store.take_lease("c", "dead", to_instant(clock()), LEASE_MS)
    clock.passes(seconds=LEASE_MS / 1000 - 1)
    assert waiting.maintain("one").kept == 1
    clock.passes(seconds=2)
    assert waiting.maintain("one").swept == 1


def test_a_lease_is_taken_once_and_again_by_its_owner(waiting, raw_store):
    first = raw_store.take_lease("a", "one", 1000, 500)
    assert (first.epoch, first.until) == (1, 1500)
    assert raw_store.take_lease("a", "two", 1499, 500) is None
    assert raw_store.take_lease("a", "one", 1100, 500).epoch == 2
    assert raw_store.take_lease("b", "two", 1100, 500).epoch == 1
    assert raw_store.take_lease("a", "two", 1600, 500).epoch == 3


def test_a_write_under_a_lost_lease_is_refused_whole(waiting, path, raw_store):
    old = raw_store.take_lease("a", "one", 1000, 500)
    raw_store.apply(plan("in time"), fence=old)
    new = raw_store.take_lease("a", "two", 9999, 500)
    before = tables(path)
    with pytest.raises(LeaseLost):
        raw_store.apply(plan("too late"), fence=old)
    with pytest.raises(LeaseLost):
        raw_store.apply(plan("too late"), fence=old.extend(10**14))
    assert tables(path) == before
    raw_store.apply(plan("the new one's"), fence=new)
    raw_store.release_lease(old)  # not ours any more: nothing happens
    raw_store.apply(plan("still the new one's"), fence=new)


def test_each_write_extends_the_lease(waiting, raw_store):
    lease = raw_store.take_lease("a", "one", 1000, 500)
    raw_store.apply(plan("x"), fence=lease.extend(2000))
    assert raw_store.take_lease("a", "two", 2499, 500) is None
    assert raw_store.take_lease("a", "two", 2500, 500) is not None


@pytest.mark.parametrize("skew", [timedelta(hours=-3), timedelta(hours=3)], ids=["behind", "ahead"])
def test_a_clock_that_is_wrong_by_hours_costs_work_but_no_truth(waiting, opening, clock, skew, raw_store):
    """The other worker thinks that leases are over, or never are: the epoch decides all the same."""
    there = raw_store.take_lease("a", "one", to_instant(clock()), LEASE_MS)
    other = opening(now=Clock(clock() + skew))
    done = other.maintain("two")
    if skew > timedelta(0):
        assert (done.swept, done.kept) == (5, 0)
        with pytest.raises(LeaseLost):
            raw_store.apply(plan("late"), fence=there)
    else:
        assert done.kept == (1 if done.due else 0)
    raw_store.release_lease(there)
    waiting.maintain("one")
    assert waiting.sweep().moved == ()
    assert waiting.check() == []


def test_trouble_in_one_namespace_does_not_keep_the_others_waiting(waiting, monkeypatch, raw_store):
    right = type(raw_store).states

    def states(self, namespace, ids):
        if namespace == "c":
            raise StoreError("The shelf fell down.", remedy="Put it up.")
        return right(self, namespace, ids)

    monkeypatch.setattr(type(raw_store), "states", states)
    done = waiting.maintain("one")
    assert done.swept == 4
    assert done.failed == {"c": "The shelf fell down. Put it up."}
    monkeypatch.undo()
    assert waiting.maintain("one").swept == 1  # its lease was given back


def test_a_server_that_is_gone_ends_the_round(waiting, monkeypatch, raw_store):
    asked = []

    def gone(_self, namespace, *_rest):
        asked.append(namespace)
        raise StoreUnavailable("The server cannot be reached.")

    monkeypatch.setattr(type(raw_store), "states", gone)
    with pytest.raises(StoreUnavailable):
        waiting.maintain("one")
    assert len(asked) == 1


def test_it_stops_between_namespaces_when_told_to(waiting):
    asked = []
    done = waiting.maintain("one", stop=lambda: len(asked.append(1) or asked) > 2)
    assert done.swept == 2


WORKER = """
import sys
from datetime import datetime
import perdure
now = datetime.fromisoformat(sys.argv[2])
with perdure.open(sys.argv[1], policy={"embedder": {"model": "none"}}, clock=lambda: now) as memory:
    for _ in range(50):
        done = memory.maintain(sys.argv[3])
        if not done.due:
            break
        print(done.swept, done.moves, done.lost, len(done.failed))
"""


@in_processes
def test_workers_in_processes_of_their_own_share_the_work(opening, path, clock):
    memory = opening()
    for i in range(40):
        memory.remember_many([f"note {j}" for j in range(3)], namespace=f"room {i}")
    clock.passes(days=WEEK)
    children = [forked_python(WORKER, path, clock.now.isoformat(), f"worker {i}") for i in range(3)]
    rounds = [[int(n) for n in line.split()] for child in children for line in finished(child).splitlines()]
    assert sum(moves for _, moves, _, _ in rounds) == 120
    assert sum(failed for *_, failed in rounds) == 0
    assert memory.sweep().moved == ()
    sweeps = [o.namespace for o in memory.history(limit=1000) if o.operation == "sweep"]
    assert sorted(sweeps) == sorted({f"room {i}" for i in range(40)})
    assert memory.check() == []


PAUSED = """
import os, signal, sys
from datetime import datetime
import perdure
from perdure.compose import store_at
now = datetime.fromisoformat(sys.argv[2])
with store_at(sys.argv[1]) as store:
    kind = type(store)
with perdure.open(sys.argv[1], policy={"embedder": {"model": "none"}}, clock=lambda: now) as memory:
    right = kind.apply

    def apply(self, plan, *, fence=None, check=None):
        kind.apply = right
        print("about to write", flush=True)
        os.kill(os.getpid(), signal.SIGSTOP)
        return right(self, plan, fence=fence, check=check)

    kind.apply = apply
    done = memory.maintain("paused")
    print(done.swept, done.lost, flush=True)
"""


@in_processes
def test_a_worker_that_was_paused_past_its_lease_writes_nothing(opening, path, clock):
    memory = opening()
    memory.remember_many([f"note {i}" for i in range(5)])
    clock.passes(days=WEEK)
    child = forked_python(PAUSED, path, clock.now.isoformat())
    assert child.stdout.readline() == "about to write\n"
    os.waitpid(child.pid, os.WUNTRACED)
    clock.passes(seconds=LEASE_MS / 1000 + 1)
    assert memory.maintain("awake").swept == 1
    memory.pin(memory.list()[0].id)
    before = logical(path)
    os.kill(child.pid, signal.SIGCONT)
    assert finished(child) == "0 1\n"
    assert logical(path) == before
    assert sum(o.operation == "sweep" for o in memory.history()) == 1
    assert memory.check() == []


def test_what_was_stored_without_a_vector_gets_one_by_maintenance(opening):
    memory = opening(embedder=HashEmbedder())
    memory.remember("Deploys happen on Tuesdays.")
    memory.ingest([{"content": "The gate opens at seven.", "role": "user"}], session="s", embed="later")
    memory.ingest([{"content": "The fence is green.", "role": "user"}], "other", session="s", embed="later")
    assert memory.stats().without_vector == 2
    done = memory.upkeep("w", eager=True)
    assert [(r.namespace, r.outcome, r.note) for r in done.runs if r.task == "embed"] == [
        ("default", "done", "1 vectors made"),
        ("other", "done", "1 vectors made"),
    ]
    assert memory.stats().without_vector == 0
    assert not [r for r in memory.upkeep("w", eager=True).runs if r.task == "embed"]


def test_maintenance_changes_over_to_no_other_space(opening):
    opening(embedder=HashEmbedder()).remember("Deploys happen on Tuesdays.")
    memory = opening(embedder=HashEmbedder(version="2"))
    memory.ingest([{"content": "The gate opens at seven.", "role": "user"}], session="s", embed="later")
    told = [r.note for r in memory.upkeep("w", eager=True).runs if r.task == "embed"]
    assert ["perdure reembed" in note for note in told] == [True]
    assert memory.stats().without_vector == 1
