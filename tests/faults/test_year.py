"""A year of use: daily conversation, upkeep, a weekly digest, two processes on one file, random kills."""

from __future__ import annotations

import random
import time
from dataclasses import MISSING, fields

import pytest

from conftest import budget, opened
from forks import Mother
from perdure.compose import store_at
from perdure.records.memory import State

DAYS, KILLS = budget(24, 365), budget(4, 40)
BUDGET = 400  # tokens
POLICY = {
    "preset": "tiered",
    "embedder": {"model": "none"},
    "gates": {"loss_free_count": 40, "canaries": 1},
}

WORKER = f"""
import sys, warnings
from datetime import UTC, datetime, timedelta
import random
import perdure

class Clock:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    def __call__(self):
        return self.now

clock = Clock()
memory = perdure.open(sys.argv[1], policy={POLICY!r}, clock=clock)
me = sys.argv[2]
print("ready", flush=True)
topics = "garden release budget holiday piano recipe invoice router bicycle novel".split()
for line in sys.stdin:
    day = int(line)
    chance = random.Random(f"{{me}} {{day}}")
    for hour in range(24):
        clock.now = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=day, hours=hour)
        if hour % 6 == (0 if me == "ann" else 3):  # every three hours, whichever process is at it
            memory.sweep()
        if hour == 9 and day % 2 == (me == "ann"):
            topic = chance.choice(topics)
            talk = [
                {{"role": "user", "content": f"On day {{day}} the {{topic}} of {{me}} costs {{chance.randint(10, 99)}} "
                  f"euros, and I would like to talk about it again when the others are back from their trip."}},
                {{"role": "assistant", "content": f"Noted: the {{topic}} again, {{chance.choice(topics)}} later."}},
            ]
            memory.ingest(talk, session=f"{{me}}-{{day}}")
            memory.remember(f"{{me}} decided on day {{day}} to look after the {{topic}} himself.", tags=[topic])
        if hour == 15:
            found = memory.recall(f"what about the {{chance.choice(topics)}} and its euros", limit=3)
            if found.hits and chance.random() < 0.3:
                memory.used([found.hits[0].memory.id], "helpful", recall_id=found.id)
    writes = day % 7 == 0 and (day % 2 == 0) == (me == "ben")  # weekly, whichever process is sure to live
    print("done", day, memory.digest_details(budget_tokens={BUDGET}).tokens if writes else "", flush=True)
"""


def replay(entries):
    """The columns of a memory as the journal tells them, from its birth on."""
    defaults = {f.name: f.default for f in fields(State) if f.default is not MISSING}
    row = None
    for entry in entries:
        if entry.target != "memory":
            continue
        if entry.before is None:
            row = {**defaults, **entry.after}
            continue
        for column, value in entry.before.items():
            if column in defaults or column in State.__slots__:
                assert column == "held" or row.get(column) == value, (entry.operation, column)
        row.update(entry.after)
    return row


class Workers:
    """Two processes that live through the year, each started anew after it was killed."""

    def __init__(self, path, ann, ben):
        self.path = path
        self.mothers = {"ann": ann, "ben": ben}

    def live(self, day, *, kill_after=None):
        """Send both through a day, and return the tokens of its digest, if it has one; one may be killed on the way."""
        for name, mother in self.mothers.items():
            if mother.child is None:
                mother.bear(self.path, name)
                mother.hear("ready")
        pair = list(self.mothers.values())
        for one in pair:
            one.tell(day)
        if kill_after is not None:
            time.sleep(kill_after)
            pair.pop(day % 2).kill()
        return [int(tokens) for one in pair if (tokens := one.hear(f"done {day} "))]


@pytest.mark.behaviour("LA6")
def test_a_year_of_use_ends_sound_and_explained(tmp_path):
    path = tmp_path / "year.db"
    chance = random.Random(1)  # noqa: S311  # repeatable on purpose
    doomed = set(chance.sample(range(DAYS), KILLS))
    with Mother(WORKER) as ann, Mother(WORKER) as ben:
        workers = Workers(path, ann, ben)
        digests = [workers.live(d, kill_after=chance.random() * 0.05 if d in doomed else None) for d in range(DAYS)]
    sizes = [tokens for (tokens,) in digests[::7]]
    assert 0 < min(sizes) <= max(sizes) <= BUDGET

    memory = opened(path, policy=POLICY)
    assert memory.check() == []
    with store_at(path) as store:
        ids = store.all_ids("default", "", 100_000)
        states = store.states("default", ids)
    assert len(ids) > DAYS
    kept = [n for n in State.__slots__ if n != "held"]  # holding and releasing is bookkeeping, not journalled
    for identity, (state, op) in states.items():
        told = replay(memory.history(identity))
        assert told["op"] == op
        assert {n: told[n] for n in kept} == {n: getattr(state, n) for n in kept}
    assert len({state.form for state, _ in states.values()}) > 1
    assert len({state.tier for state, _ in states.values()}) > 1
    memory.close()
