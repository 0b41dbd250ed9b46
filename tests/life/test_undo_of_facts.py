"""Whatever is said, answered and decided about facts that contradict each other is taken back exactly, newest first."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conftest import WORDS_ONLY, Clock, budget, logical, on_a_file, opened
from perdure.records.errors import PerdureError

POLICY = {**WORDS_ONLY, "preset": "facts", "gates": {"loss_free_count": 1000}}
ACTS = {
    "say": lambda m, n, _: m.ingest([{"role": "user", "content": SAID[n % len(SAID)]}], session=f"s{n % 3}"),
    "hand over": lambda m, n, _: m.remember(
        f"noted as number {n}", facts=[{"subject": "Anna", "predicate": "home", "value": CITIES[n % 3]}]
    ),
    "archive": lambda m, _, i: m.archive(i, "in the way"),
    "restore": lambda m, _, i: m.restore(i),
    "confirm": lambda m, _, i: m.confirm(i),
    "deny": lambda m, _, i: m.deny(i),
    "correct": lambda m, n, i: m.correct(i, CITIES[n % 3]),
    "both": lambda m, _, i: m.both(i),
    "sweep": lambda m, *_: m.sweep(),
}
CITIES = ["Rome", "Oslo", "Lyon"]
SAID = [
    *(f"Remember that Anna lives in {city}." for city in CITIES),
    *(f"Remember, Gai Media prefers {day} deliveries." for day in ("Friday", "Monday")),
    "No, Monday, not Friday.",
    "Yes, Friday is still right.",
]
steps = st.lists(
    st.tuples(st.sampled_from([*ACTS, "archive", "restore"]), st.integers(0, 20), st.sampled_from([0, 0, 0, 1, 100])),
    min_size=3,
    max_size=10,
)


@pytest.mark.behaviour("LD4")
@on_a_file
@settings(max_examples=budget(12, 50), derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps)
def test_any_sequence_about_facts_is_taken_back_exactly(store, elsewhere, steps):
    clock, path = Clock(), elsewhere()
    with opened(path, POLICY, clock) as memory:
        before = logical(path)
        for act, number, days in [("say", 0, 0), ("say", 1, 1), *steps]:
            clock.passes(days=days, minutes=1)
            facts = memory.facts(limit=50, past=True)
            identity = facts[number % len(facts)].id if facts else "00000000-0000-7000-8000-000000000000"
            with suppress(PerdureError):
                ACTS[act](memory, number, identity)
        for operation in memory.history(limit=1000):
            memory.undo(operation.id)
        assert logical(path) == before
        assert memory.check() == []
