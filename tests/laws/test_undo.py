"""Whatever is done can be taken back exactly, and done again: random sequences of every operation, on real stores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings

from conftest import on_a_file
from laws.conftest import World
from laws.memories import SLOW_LAW
from perdure.records.errors import ConflictError, InvalidInput, NotFound
from perdure.records.outcome import Outcome

TABLES: Final = ("memory", "content", "tag", "link", "vector", "document", "idempotency")
FEED: Final = ("changed", "seq", "op")
"""Counters of the change feed only count forward; a redone operation has an id of its own."""

POLICY: Final = {
    "preset": "tiered",
    "archive": {"value_below": 0.4, "cold_days": 3.0},
    "consolidate": {"require_dry_run": False},
    "gates": {"loss_free_count": 1000},
}
FACTS: Final = [
    "Berta said that the release moves to Tuesday at 10:00 because of the holiday in Spain.",
    "berta said that the release moves to Tuesday at 10:00, because of the holiday in Spain",
    "The garden needs water every evening when the sun is behind the houses of the neighbours.",
    "Carlos does not like the new bicycle that his brother bought in the shop near the station.",
    "Carlos does not like the new bicycle that his brother bought in the shop near the station!",
    "Invoices over 1,000 euros must be signed by two people before they are paid to the supplier.",
]


def snapshot(each: World) -> dict[str, list[str]]:
    """Every row by its memory's id: where a store keeps a row is its own business."""
    identity = {(row["namespace"], row["row"]): row["id"] for row in each.rows()}
    found = {}
    for table in TABLES:
        rows = [
            {k: identity[row["namespace"], v] if k == "row" else v for k, v in row.items()}
            for row in each.rows(table, without=FEED)
        ]
        found[table] = sorted(repr(sorted(row.items())) for row in rows)
    return found


def ids(each: World) -> list[str]:
    return [m.id for m in each.memory.list(limit=100, inside="s1")]


def filled(each: World) -> None:
    memory = each.memory
    memory.remember_many([{"content": t, "tags": ["t"], "metadata": {"n": i}} for i, t in enumerate(FACTS)])
    memory.remember_many([{"content": f"{t} (inside)", "session": "s1", "confidence": 0.9} for t in FACTS[:3]])
    memory.remember_many([{"content": f"{t} (task)", "session": "s1", "task": "t1"} for t in FACTS[3:]])
    memory.ingest([{"content": f"What about item {i}? It costs {i} euros at the moment."} for i in range(4)])
    inside = [m.id for m in memory.list(limit=100, inside="s1") if m.session == "s1"]
    memory.relate(inside[:3], "about")
    memory.relate({inside[0]: "cause", inside[-1]: "effect"}, "explains", 0.7)


def every_operation(each: World) -> dict[str, Callable[[], object]]:
    """Name -> one call of an operation that changes memories."""
    memory = each.memory
    some = ids(each)
    first, last = some[0], some[-1]
    acts: dict[str, Callable[[], object]] = {
        "remember": lambda: memory.remember(f"Another thing that was said on {each.clock()}", tags=["x"]),
        "ingest": lambda: memory.ingest([{"content": f"said at {each.clock()}"}], session="later"),
        "sweep": memory.sweep,
        "decay": lambda: memory.decay(dry_run=False),
        "reinforce": lambda: memory.reinforce(some[:4], "multiplicative", 0.3),
        "reinforce silently": lambda: memory.reinforce(some[2:5], "set_value", 0.9, update_access=False),
        "strengthen": lambda: memory.strengthen(some[:2], 2.0),
        "weaken": lambda: memory.weaken(some[:2], 2.0),
        "helpful": lambda: memory.used(some[1:3], "helpful"),
        "wrong": lambda: memory.used([last], "wrong"),
        "move": lambda: memory.move(first, "vault", "it matters"),
        "pin": lambda: memory.pin(last),
        "archive": lambda: memory.archive(first, "no longer needed"),
        "update": lambda: memory.update(last, f"What holds since {each.clock()}"),
        "forget": lambda: memory.forget(last),
        "relate": lambda: memory.relate(some[:3], "together"),
        "extract": lambda: memory.extract("We decided to use PostgreSQL 15.2 for the new billing service."),
        "fit": lambda: memory.fit(tokens=120, dry_run=False),
        "complete task": lambda: memory.complete_task("t1"),
        "promote": lambda: memory.promote("s1", confirm=True),
        "end session": lambda: memory.end_session("s1"),
    }
    for strategy in ("keep_newest", "keep_oldest", "keep_highest_importance", "merge_content"):
        acts[f"consolidate {strategy}"] = lambda s=strategy: memory.consolidate(  # type: ignore[misc]  # bound now
            "default", strategy=s, dry_run=False
        )
    return acts


ACTS: Final = [
    *(
        "remember",
        "ingest",
        "sweep",
        "decay",
        "reinforce",
        "reinforce silently",
        "strengthen",
        "weaken",
        "helpful",
        "wrong",
        "move",
    ),
    *("pin", "archive", "update", "forget", "relate", "extract", "fit", "complete task", "promote", "end session"),
    *(f"consolidate {s}" for s in ("keep_newest", "keep_oldest", "keep_highest_importance", "merge_content")),
]


def undone_and_redone(each: World, act: str) -> bool:
    """Do something, take it back, do it again by taking that back; return whether it did anything."""
    known = {o.id for o in each.memory.history(limit=1000)}
    before = snapshot(each)
    try:
        result = every_operation(each)[act]()
    except (InvalidInput, NotFound):
        assert snapshot(each) == before, f"{act} was refused and left something behind"
        return False
    made = [o.id for o in each.memory.history(limit=1000) if o.id not in known]  # newest first
    named = [result.operation] if isinstance(result, Outcome) else result.operations
    assert [o for o in named if o is not None] == made[::-1], f"{act} names other operations than it wrote"
    assert (result.changed, result.operation) == (bool(made), made[0] if made else None)
    after = snapshot(each)
    assert bool(made) == (after != before), f"{act} changed something without an operation, or the other way round"
    undos = [each.memory.undo(operation).operation for operation in made]
    assert snapshot(each) == before, f"{act} was not taken back exactly"
    for undo in reversed(undos):
        each.memory.undo(undo)
    assert snapshot(each) == after, f"{act} was not done again exactly"
    return bool(made)


@pytest.mark.behaviour("LA1")
@pytest.mark.parametrize("twins", [True, False])
@pytest.mark.parametrize("act", ACTS)
def test_each_operation_is_taken_back_exactly_and_can_be_done_again(world: Callable[..., World], store, act, twins):
    if not twins and (store != "sqlite" or act.startswith("consolidate")):
        pytest.skip("without vectors only equal texts are duplicates, and the operations are tried on a file")
    each = world(POLICY, twins=twins)
    filled(each)
    each.clock.forward(days=9)
    each.memory.recall(FACTS[0], limit=3)
    each.memory.recall(FACTS[3], limit=2, inside="s1")
    each.clock.forward(hours=5)
    assert undone_and_redone(each, act), f"{act} did nothing, so this shows nothing"


@pytest.mark.behaviour("LA2")
@on_a_file
@settings(
    SLOW_LAW, suppress_health_check=[HealthCheck.function_scoped_fixture]
)  # each example opens a world of its own
@given(steps=st.lists(st.tuples(st.sampled_from(ACTS), st.sampled_from([0, 1, 30, 24 * 9])), min_size=2, max_size=8))
def test_random_sequences_are_taken_back_exactly(world: Callable[..., World], steps):
    each = world(POLICY, twins=True)
    filled(each)
    for act, hours in steps:
        each.clock.forward(hours=hours)
        if hours:
            each.memory.recall(FACTS[hours % len(FACTS)], limit=2)
        undone_and_redone(each, act)
    assert each.memory.check() == []


@pytest.mark.behaviour("LA3")
def test_a_plan_is_applied_once(world: Callable[..., World]):
    each = world(POLICY, twins=True)
    filled(each)
    each.clock.forward(days=30)
    plans = each.memory.sweep(dry_run=True).plans
    assert plans
    for plan in plans:
        each.memory.apply(plan)
    after = snapshot(each)
    for plan in plans:
        with pytest.raises(ConflictError):
            each.memory.apply(plan)
    assert snapshot(each) == after


@pytest.mark.behaviour("LA4")
def test_maintenance_never_deletes(world: Callable[..., World]):
    each = world(POLICY, twins=True)
    filled(each)
    known = {row["id"] for row in each.rows()}
    for act in ("consolidate keep_oldest", "fit", "sweep", "complete task", "end session"):
        each.clock.forward(days=40)
        undone_and_redone(each, act)
    assert known <= {row["id"] for row in each.rows()}
    texts = {row["id"]: row["text"] for row in each.rows("content")}
    assert known <= texts.keys()
