"""An embedder that is a function: its first vector tells its dimensions, and a process may begin by a sweep."""

from __future__ import annotations

import numpy as np
import pytest

from conftest import HashEmbedder
from operations.test_compressing import GUARDED
from operations.test_fitting import FREE, SOME, looks, visible
from perdure.operations.lifecycle import sweep as sweeping
from perdure.records.errors import StoreError

BOUNDED = {**FREE, "compression": {**FREE["compression"], "visible_tokens": 100}}
MEASURED = {**GUARDED, "archive": {"rule": "never"}}


def as_function(texts):
    return np.stack([np.frombuffer(v, "<f4") for v in HashEmbedder().embed(texts, purpose="document")])


def failing(_texts):
    raise ConnectionError("no answer")


def figures(memory):
    return {a.name: a.value for a in memory.alerts()}


@pytest.mark.parametrize("policy", [BOUNDED, MEASURED], ids=["bounded", "by age"])
def test_a_process_that_embedded_nothing_yet_sweeps_as_with_an_embedder_of_a_known_space(
    opening, elsewhere, clock, policy
):
    found = []
    for embedder in (as_function, HashEmbedder()):
        place, start = elsewhere(), clock.now
        with opening(policy, embedder, at=place) as memory:
            memory.remember_many(SOME * 2)
        for days in (9, 1, 30):
            clock.passes(days=days)
            with opening(policy, embedder, at=place) as memory:
                assert memory.upkeep("cron").swept.failed == {}
        with opening(policy, embedder, at=place) as memory:
            memory.sweep()
            found.append((memory.fit(tokens=60, dry_run=False).after, looks(memory)))
        clock.now = start
    assert found[0] == found[1]


def test_where_the_function_fails_forms_are_made_unmeasured_and_facts_are_stored(opening, clock):
    with opening(BOUNDED, as_function) as memory:
        memory.remember_many(SOME * 2)
    clock.passes(days=9)
    memory = opening(BOUNDED, failing)
    with pytest.warns(UserWarning, match="was not measured"):
        assert memory.upkeep("cron").swept.failed == {}
    assert visible(memory) <= 100
    facts = [{"subject": "Ana", "predicate": name, "value": "Lyon"} for name in ("home town", "town of residence")]
    with pytest.warns(UserWarning, match="Stored without vectors|Nobody is asked"):
        memory.remember("Ana lives in Lyon.", facts=facts)
    assert {f.value for f in memory.facts("Ana")} == {"Lyon"}


def test_what_failed_after_the_moves_were_written_is_tried_again_and_told(opening, clock, monkeypatch):
    def fails(*_):
        raise StoreError("The disk has a fault.")

    memory = opening(BOUNDED)
    memory.remember_many(SOME * 2)
    clock.passes(days=9)
    with monkeypatch.context() as faulty:
        faulty.setattr(sweeping, "fit_after_sweep", fails)
        assert memory.upkeep("cron").swept.failed
        assert visible(memory) > 100
        for _ in range(2):
            clock.passes(hours=1)
            again = memory.upkeep("cron").swept
            assert (again.due, list(again.failed)) == (1, ["default"])
        assert figures(memory)["failures"] == 3
    clock.passes(hours=1)
    done = memory.upkeep("cron").swept
    assert (done.due, done.swept, done.kept, done.failed) == (1, 1, 0, {})
    assert visible(memory) <= 100
    assert "failures" not in figures(memory)
    assert memory.maintain("another").due == 0
