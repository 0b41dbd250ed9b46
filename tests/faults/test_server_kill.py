"""kill -9 of the server: all that was acknowledged is there, nothing is there twice, and clients come back alone."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter

import perdure.operations.documents as paging
from conftest import Clock, opened, weekly
from faults.server_faults import everything, operations, own_server

BACK_WITHIN = 10.0
DOWN = 1.0
KILLS = 3
ENOUGH = 30


class Writer(threading.Thread):
    """Remembers and recalls until told to stop, and notes what was acknowledged when."""

    def __init__(self, memory, number, namespace):
        super().__init__()
        self.memory, self.number, self.namespace = memory, number, namespace
        self.over = threading.Event()
        self.kept, self.keys, self.verbs, self.error = [], {}, [], None

    def run(self):
        try:
            for i in range(1_000_000):
                if self.over.is_set():
                    return
                self._round(i)
        except BaseException as error:  # noqa: BLE001  # told by the main thread
            self.error = error

    def _round(self, i):
        began = time.monotonic()
        if i % 2:
            kept = [self.memory.remember(f"zebra {self.number} {i}", self.namespace, idempotency_key=self._key(i))]
            self.keys[self._key(i)] = kept[0].id
        else:  # nothing but the operation's id tells these from a second try
            texts = [{"content": f"zebra {self.number} {i} {j}", "kind": "episode"} for j in range(3)]
            kept = self.memory.remember_many(texts, self.namespace)
        self.verbs.append((began, time.monotonic(), "remember", len(kept)))
        self.kept += kept
        began = time.monotonic()
        found = self.memory.recall(f"zebra {self.number} {i}", self.namespace, limit=2)
        assert found.id, found.note
        self.verbs.append((began, time.monotonic(), "recall", len(found.hits)))

    def _key(self, i):
        return f"{self.number}-{i}"


def killed(server, seconds):
    """Kill the server, start it again after a while, and return when each of it was."""
    time.sleep(seconds)
    at = time.monotonic()
    server.kill()
    time.sleep(DOWN)
    server.start()
    return at, time.monotonic()


def unflushed(verbs, kills):
    """Hits of recalls that were acknowledged after the last flush before a kill: the disk need not know them."""
    lost = 0
    for at, _ in kills:
        flushed = max(began for began, ended, kind, _ in verbs if kind == "remember" and ended < at)
        lost += sum(n for _, ended, kind, n in verbs if kind == "recall" and flushed <= ended <= at + DOWN)
    return lost


def test_kills_in_the_middle_of_writes_cost_and_double_nothing(record_property):
    chance = random.Random(7)  # noqa: S311  # repeatable on purpose
    with own_server() as server:
        memory = opened(server.dsn())
        writers = [Writer(memory, n, place) for n, place in enumerate(("team", "team", "own"))]
        for writer in writers:
            writer.start()
        kills = [killed(server, 0.5 + chance.random() * 0.4) for _ in range(KILLS)]
        until = time.monotonic() + 6 * BACK_WITHIN
        while any(w.is_alive() and len(w.kept) <= ENOUGH for w in writers) and time.monotonic() < until:
            time.sleep(0.05)
        time.sleep(BACK_WITHIN / 10)
        for writer in writers:
            writer.over.set()
        for writer in writers:
            writer.join(BACK_WITHIN)
        assert [w.error for w in writers if w.error] == []
        verbs = [v for w in writers for v in w.verbs]
        back = [min(ended - up for _, ended, _, _ in w.verbs if ended > up) for _, up in kills for w in writers]
        record_property("seconds until verbs succeed again", [round(b, 2) for b in sorted(back)])
        assert max(back) < BACK_WITHIN
        for place in ("team", "own"):
            kept = [m for w in writers if w.namespace == place for m in w.kept]
            keys = {k: i for w in writers if w.namespace == place for k, i in w.keys.items()}
            found = everything(memory, place)
            assert Counter(m.id for m in found) == Counter(m.id for m in kept)
            assert len({m.content for m in found}) == len(kept) > ENOUGH
            assert memory._context.store.ids_of_keys(place, list(keys)) == keys
            batches = sum(v[2] == "remember" for w in writers if w.namespace == place for v in w.verbs)
            assert operations(memory, place) == {"remember": batches}
        counted = sum(m.access_count for place in ("team", "own") for m in everything(memory, place))
        hits = sum(n for _, _, kind, n in verbs if kind == "recall")
        assert hits - unflushed(verbs, kills) <= counted <= hits
        assert memory.check() == []
        memory.close()


@weekly
def test_a_kill_in_the_middle_of_a_sweep_moves_and_counts_everything_once(monkeypatch, record_property):
    monkeypatch.setattr(paging, "PAGE", 50)
    clock = Clock()
    with own_server() as server:
        memory = opened(server.dsn(), clock=clock)
        kept = [m for start in range(0, 1500, 500) for m in memory.remember_many(_texts(start))]
        clock.passes(hours=1)
        hits = sum(len(memory.recall(f"zebra {i}", limit=20).hits) for i in range(40))
        memory.remember("a flush")
        clock.passes(days=40)
        reports = []
        sweeper = threading.Thread(target=lambda: reports.append(memory.sweep()))
        sweeper.start()
        while int(server.sql("SELECT count(*) FROM operation WHERE operation = 'sweep'", "perdure")) < 5:
            assert sweeper.is_alive()
        _, up = killed(server, 0.0)
        assert sweeper.is_alive()  # it was in the middle, and is waiting
        sweeper.join(BACK_WITHIN + 20)
        record_property("seconds from the restart to the sweep's end", round(time.monotonic() - up, 2))
        (report,) = reports
        assert report.counted == hits
        assert sum(m.access_count for m in everything(memory)) == hits
        moves = [m.id + m.move for m in report.moved]
        assert len(moves) == len(set(moves)) >= len(kept)
        sweeps = [o for o in memory.history(limit=1000) if o.operation == "sweep"]
        assert sorted(o.id for o in sweeps) == sorted(report.operations)
        assert len(sweeps) >= 30
        assert memory.sweep().moved == ()
        assert memory.check() == []
        memory.close()


def _texts(start):
    return [f"zebra {i}" for i in range(start, start + 500)]
