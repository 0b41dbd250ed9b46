"""Several processes, and several threads, on one server at once.

The mixed verbs run for PERDURE_FAULT_SECONDS, 6 by default; 60 before a release.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

import servers
from conftest import HashEmbedder, as_operator, budget, finished, opened
from faults.server_faults import everything, operations
from perdure.compose import store_at
from perdure.records.errors import ConflictError, InvalidInput
from starts import forked_python

HERE = str(Path(__file__).parents[1])
SECONDS = float(os.environ.get("PERDURE_FAULT_SECONDS", budget(1.5, 3)))
TOGETHER = ("shared", "team")


@pytest.fixture
def place():
    url = servers.fresh_database()
    yield url
    servers.drop_database(url)


class Worker:
    """One process's share of mixed verbs, and what the store must know of it afterwards."""

    def __init__(self, url, name):
        self.memory, self.name = opened(url), name
        self.chance = random.Random(name)  # noqa: S311  # repeatable on purpose
        self.places = (*TOGETHER, f"own-{name}")
        self.own, self.hits, self.done = {}, Counter(), Counter()
        self.turn = 0

    def work(self, seconds):
        verbs = [self.remember] * 4 + [self.recall] * 4 + [self.ingest, self.pin, self.hide, self.sweep, self.undo]
        for place in self.places:  # so that each has some, however little the time allows
            self.turn += 1
            self.remember(place)
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.turn += 1
            self.chance.choice(verbs)(self.chance.choice(self.places))
        self.memory.close()
        return {"own": self.own, "hits": self.hits, "done": self.done}

    def remember(self, place):
        key = f"{self.name}-{self.turn}" if self.turn % 2 else None
        kept = self.memory.remember(f"zebra {self.name} {self.turn}", place, tags=["t"], idempotency_key=key)
        self._store(place, [kept], "remember")

    def ingest(self, place):
        said = [{"content": f"said {self.name} {self.turn} {i}", "role": "user"} for i in range(3)]
        session = f"{self.name}-{self.turn}"
        assert self.memory.ingest(said, place, session=session).added == 3
        self._store(place, self.memory.list(place, session=session), "ingest")

    def _store(self, place, kept, operation):
        self.own |= {m.id: {"place": place, "pinned": False, "status": "active"} for m in kept}
        self.done[f"{place} {operation}"] += 1

    def recall(self, place):
        found = self.memory.recall(f"zebra {self.chance.randrange(50)} {self.name}", place, limit=4)
        assert bool(found.id) == bool(found.hits), found.note
        self.hits.update(h.memory.id for h in found.hits)

    def pin(self, place):
        if identity := self._one(place):
            turned = not self.own[identity]["pinned"]
            (self.memory.pin if turned else self.memory.unpin)(identity)
            self.own[identity]["pinned"] = turned
            self.done[f"{place} {'pin' if turned else 'unpin'}"] += 1

    def hide(self, place):
        if identity := self._one(place):
            hidden = self.own[identity]["status"] == "archived"
            if hidden:
                self.memory.restore(identity)
            else:
                self.memory.archive(identity, "test")
            self.own[identity]["status"] = "active" if hidden else "archived"
            self.done[f"{place} {'restore' if hidden else 'archive'}"] += 1

    def sweep(self, place):
        report = self.memory.sweep(namespace=place)
        self.done[f"{place} sweep"] += len(report.operations)

    def undo(self, place):
        """Take back what was done last to a memory of one's own, unless a sweep came between."""
        if not (identity := self._one(place)):
            return
        last = next((e for e in reversed(self.memory.history(identity)) if e.operation != "sweep"), None)
        if last is None or last.operation not in ("remember", "pin", "archive"):
            return
        try:
            self.memory.undo(last.operation_id)
        except (ConflictError, InvalidInput):
            return
        self.done[f"{place} undo"] += 1
        if last.operation == "remember":
            del self.own[identity]
        elif last.operation == "pin":
            self.own[identity]["pinned"] = False
        else:
            self.own[identity]["status"] = "active"

    def _one(self, place):
        ids = [i for i, seen in self.own.items() if seen["place"] == place]
        return self.chance.choice(ids) if ids else None


PROCESS = """
import json, sys
sys.path.insert(0, sys.argv[3])
from faults.test_server_processes import Worker
worker = Worker(*sys.argv[1:3])
print("ready", flush=True)
sys.stdin.readline()
print(json.dumps(worker.work(float(sys.argv[4]))))
"""


def test_four_processes_lose_nothing_double_nothing_and_count_exactly(place, record_property):
    children = [forked_python(PROCESS, place, f"w{n}", HERE, SECONDS, stdin=subprocess.PIPE) for n in range(4)]
    for child in children:
        assert child.stdout.readline() == "ready\n", child.communicate()[1]
    for child in children:
        child.stdin.write("go\n")
        child.stdin.flush()
    told = [json.loads(finished(child, SECONDS + 60).splitlines()[-1]) for child in children]
    expected = {i: seen for one in told for i, seen in one["own"].items()}
    hits, done = Counter(), Counter()
    for one in told:
        hits.update(one["hits"])
        done.update(one["done"])
    record_property("operations", dict(done))
    with opened(place) as memory:
        places = {*TOGETHER, *(f"own-w{n}" for n in range(4))}
        assert set(memory.namespaces()) == places
        found = {m.id: (m, p) for p in places for m in everything(memory, p)}
        assert set(found) == set(expected)
        for identity, (m, p) in found.items():
            seen = {"place": p, "pinned": m.pinned, "status": str(m.status)}
            assert (identity, seen, m.access_count) == (identity, expected[identity], hits[identity])
        for p in places:
            counted = Counter({k.partition(" ")[2]: n for k, n in done.items() if k.startswith(f"{p} ")})
            assert operations(memory, p) == +counted
            keyed = [m for m, where in found.values() if where == p]
            assert len({m.content for m in keyed}) == len(keyed)
        assert sum(done.values()) > 40 * SECONDS / 12
        assert memory.check() == []
        memory.sweep()
        assert sum(m.access_count for p in places for m in everything(memory, p)) == sum(hits[i] for i in found)
        assert memory.check() == []


@as_operator
def test_eight_threads_on_one_memory_share_its_connections(place):
    memory = opened(servers.with_parameter(place, "pool_size=3"), embedder=HashEmbedder(32))
    memory.remember_many([f"zebra base {i}" for i in range(50)])
    failures, hits, ids, rounds = [], [], [], budget(10, 20)

    def work(n):
        try:
            for i in range(rounds):
                own = memory.remember(f"zebra thread {n} number {i}", session=f"t{n}").id
                ids.append(own)
                hits.append(len(memory.recall(f"zebra {n} {i}", limit=3, inside=f"t{n}").hits))
                if i % 10 == n:
                    memory.sweep()
                    memory.stats()
                    memory.digest()
                if i % 10 == 9:
                    memory.archive(own, "test")
                    memory.restore(own)
        except BaseException as error:  # noqa: BLE001  # told by the main thread
            failures.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    found = [*everything(memory), *(m for n in range(8) for m in memory.list(session=f"t{n}", limit=1000))]
    assert Counter(m.id for m in found if m.session) == Counter(ids)
    assert len(found) == 50 + 8 * rounds
    assert sum(m.access_count for m in found) == sum(hits)
    with store_at(place) as store:
        turns = sorted((r.content.session, r.content.turn) for r in store.get("default", ids))
    assert turns == [(f"t{n}", t) for n in range(8) for t in range(rounds)]
    used = servers.server().sql(
        f"SELECT count(*) FROM pg_stat_activity WHERE usename = 'perdure' AND datname = '{place.rpartition('/')[2]}'"
    )
    assert 1 <= int(used) <= 3
    assert memory.check() == []
    memory.close()


def test_of_eight_writers_that_ingest_at_once_none_is_refused(place):
    """Each changes the namespace that the others have read; they try again inside the call."""
    failures, rounds = [], budget(4, 14)

    def work(n):
        try:
            with opened(place) as memory:
                for turn in range(rounds):
                    said = [{"role": "user", "content": f"zebra {n} {turn} {line}"} for line in range(5)]
                    memory.ingest(said, session=f"s{n % 3}")
        except BaseException as error:  # noqa: BLE001  # told by the main thread
            failures.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    with opened(place) as memory:
        assert memory.stats().memories == 8 * rounds * 5
        assert memory.check() == []


def test_forked_children_do_no_harm(place):
    code = f"""
import os, sys
sys.path.insert(0, {HERE!r})
from conftest import opened
memory = opened(sys.argv[1])
memory.remember("zebra one")
for how in ("exit", "close", "use", "use its own", "leave"):
    child = os.fork()
    if not child:
        if how == "close":
            memory.close()
        if how == "use":
            memory.remember("zebra of the parent's memory", kind="episode")
        if how == "use its own":
            with opened(sys.argv[1]) as own:
                own.remember("zebra of a child", kind="episode")
        if how == "leave":
            os._exit(0)
        sys.exit(0)  # runs what is registered for the end, as any program does
    _, status = os.waitpid(child, 0)
    assert status == 0, (how, status)
    memory.remember(f"zebra after {{how}}")
    assert memory.recall("zebra", limit=1).id
(mine,) = [c for _, c in memory._context.store._server._connections._idle]
mine.execute("SELECT 1")  # the connection that it had before it had children
assert memory.check() == []
memory.close()
"""
    child = forked_python(code, place)
    finished(child)
    with opened(place) as memory:
        found = everything(memory)
        assert len(found) == 8
        assert sum(m.access_count for m in found) == 5
