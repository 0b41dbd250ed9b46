"""Hyperedges, and the end of a task, through the public API."""

from __future__ import annotations

import pytest

from conftest import HASHED, WORDS_ONLY, HashEmbedder, logical, tables
from perdure.records.errors import GateStopped, InvalidInput, NotFound

PORT = "The build server listens on port 8080 in Lyon."
SAME = "The build server listens on port 8080 in Lyon"


def at_work(memory, session="s"):
    """A task with two related facts that say the same, one that contradicts them, and one on its own."""
    texts = {
        "sure": (PORT, 0.9),
        "less": (SAME, 0.6),
        "other": (PORT.replace("8080", "9090"), 0.7),
        "alone": ("x", 0.5),
    }
    ids = {
        name: memory.remember(text, task="t", session=session, confidence=sure, tags=[name]).id
        for name, (text, sure) in texts.items()
    }
    ids["edge"] = memory.relate([ids["sure"], ids["less"], ids["other"]], kind="about").edge
    return ids


# --- edges


@pytest.mark.behaviour("T8")
def test_an_edge_joins_memories_and_shows_those_that_are_visible(memory):
    a, b, c = (memory.remember(f"note {i}").id for i in range(3))
    edge = memory.relate({a: "cause", b: "effect"}, kind="because", weight=0.5).edge
    (found,) = memory.edges(a)
    assert (found.id, found.kind, found.weight, found.members) == (edge, "because", 0.5, {a: "cause", b: "effect"})
    assert memory.relate([c], edge=edge, kind="ignored", weight=3).edge == edge
    assert memory.edges(c)[0].to_dict() == {
        "id": edge,
        "kind": "because",
        "weight": 0.5,
        "members": {a: "cause", b: "effect", c: ""},
    }
    assert memory.why(a).links == (("edge: because", b, 0.5), ("edge: because", c, 0.5))
    memory.archive(b, "test")
    assert memory.edges(a)[0].members == {a: "cause", c: ""}
    assert memory.why(a).links == (("edge: because", c, 0.5),)
    memory.restore(b)
    assert memory.edges(a)[0].members == {a: "cause", b: "effect", c: ""}
    assert [e.id for e in memory.edges(b)] == [edge]


def test_relating_again_changes_nothing_and_can_be_undone(memory, path):
    a, b = (memory.remember(f"note {i}").id for i in range(2))
    before = logical(path)
    edge = memory.relate([a, b]).edge
    operation = memory.history()[0].id
    after = tables(path)
    memory.relate([a, b], edge=edge)
    assert tables(path) == after
    memory.undo(operation)
    assert logical(path) == before
    assert memory.edges(a) == []


def test_an_edge_names_two_memories_of_one_namespace(memory):
    a, b = memory.remember("one").id, memory.remember("two", namespace="elsewhere").id
    for members in ([], [a], {a: "x"}, "text", [a, ""], 7):
        with pytest.raises(InvalidInput):
            memory.relate(members)
    with pytest.raises(InvalidInput, match="same namespace"):
        memory.relate([a, b])
    for missing in ([a, "no-such-id"], ["no-such-id", a]):
        with pytest.raises(NotFound):
            memory.relate(missing)
    with pytest.raises(NotFound):
        memory.relate([a, b], namespace="default")
    for weight in (0, -1, 11, float("nan"), True, "1"):
        with pytest.raises(InvalidInput):
            memory.relate([a, a + "x"], weight=weight)
    with pytest.raises(NotFound):
        memory.edges("no-such-id")


# --- the end of a task


@pytest.mark.behaviour("SPEC-03.01", "SPEC-03.05")
def test_consolidation_merges_related_facts_and_keeps_the_most_likely(meaning, raw_store):
    ids = at_work(meaning)
    done = meaning.complete_task("t")
    assert (done.merged_count, done.promoted_count, done.merged) == (1, 3, {ids["less"]: ids["sure"]})
    assert set(done.promoted) == {ids["sure"], ids["other"], ids["alone"]}
    kept = meaning.get(ids["sure"])
    assert (kept.scope, kept.content, set(kept.tags)) == ("session", PORT, {"sure", "less"})
    assert kept.confidence == pytest.approx(0.9)
    gone = meaning.get(ids["less"], include_archived=True)
    assert (gone.status, gone.content) == ("consolidated", SAME)
    links = raw_store.links("default", ids["sure"])
    assert ("summarizes", ids["less"]) in {(kind, other) for kind, other, _ in links}
    seen = {m.id for m in meaning.list(inside="s")}
    assert seen == {ids["sure"], ids["other"], ids["alone"]}
    assert meaning.list() == []


@pytest.mark.behaviour("SPEC-03.02")
def test_only_what_shares_enough_edges_is_related(opening):
    memory = opening({**WORDS_ONLY, "tasks": {"relatedness": 0.6}}, HashEmbedder())
    one, two = memory.remember(PORT, task="t", session="s").id, memory.remember(SAME, task="t", session="s").id
    assert (
        memory.complete_task("t", dry_run=True).merged_count == 0
    )  # alike, but no edge says that they belong together
    memory.relate([one, two])
    assert memory.complete_task("t", dry_run=True).merged_count == 1
    memory.relate([one, memory.remember("something else", task="t", session="s").id])
    assert memory.complete_task("t", dry_run=True).merged_count == 0  # one edge of two: 0.5


@pytest.mark.behaviour("SPEC-03.06")
def test_every_change_of_a_completed_task_has_its_reason(meaning):
    ids = at_work(meaning)
    meaning.recall("build server", session="s")
    (operation,) = meaning.complete_task("t").operations
    entries = [e for i in ids.values() if i != ids["edge"] for e in meaning.history(i) if e.operation_id == operation]
    assert {e.operation for e in entries} == {"complete_task"}
    assert all(e.because for e in entries)
    told = " | ".join(e.because for e in entries)
    for words in ("task completed: to session", "consolidated into", "stands for", "accesses of its members"):
        assert words in told


@pytest.mark.behaviour("SPEC-03.04")
def test_edges_are_strengthened_by_use_once(meaning, clock):
    ids = at_work(meaning)
    for _ in range(3):
        clock.passes(minutes=1)
        meaning.recall("build server port", session="s", limit=1)
    done = meaning.complete_task("t")
    assert done.edges_strengthened == 1
    assert meaning.edges(ids["sure"])[0].weight == pytest.approx(1.3)
    later = meaning.remember("later", task="t", session="s").id
    meaning.relate([later], edge=ids["edge"])
    again = meaning.complete_task("t")
    assert (again.edges_strengthened, again.promoted) == (0, (later,))
    assert meaning.edges(later)[0].weight == pytest.approx(1.3)


def test_an_edge_grows_to_ten_and_no_further(opening, clock):
    memory = opening({**WORDS_ONLY, "tasks": {"edge_gain": 1.0}})
    a, b = (memory.remember(f"note {i}", task="t", session="s").id for i in range(2))
    memory.relate([a, b], weight=9.5)
    for _ in range(4):
        clock.passes(minutes=1)
        memory.recall("note", session="s")
    memory.complete_task("t")
    assert memory.edges(a)[0].weight == 10


@pytest.mark.behaviour("T1")
def test_a_task_without_a_session_goes_to_long_term_where_it_is_seen(memory):
    kept = memory.remember("learned on the way", task="t")
    assert memory.list() == []
    done = memory.complete_task("t")
    assert done.long_term == (kept.id,)
    assert [m.id for m in memory.list()] == [kept.id]
    assert memory.get(kept.id).scope == "long_term"
    assert "no session" in memory.history(kept.id)[-1].because


def test_a_task_is_completed_once_and_an_unknown_one_is_not_found(meaning, path):
    at_work(meaning)
    meaning.complete_task("t")
    before = tables(path)
    again = meaning.complete_task("t")
    assert (again.merged_count, again.promoted_count, again.edges_strengthened, again.operations) == (0, 0, 0, ())
    assert tables(path) == before
    with pytest.raises(NotFound, match="nothing"):
        meaning.complete_task("nothing")
    with pytest.raises(NotFound):
        meaning.complete_task("t", namespace="elsewhere")
    with pytest.raises(InvalidInput):
        meaning.complete_task("")


@pytest.mark.behaviour("T2")
def test_a_completed_task_can_be_previewed_applied_and_undone(meaning, clock, path):
    at_work(meaning)
    meaning.recall("build server", session="s")
    clock.passes(hours=1)
    before = logical(path)
    done = meaning.complete_task("t", dry_run=True)
    assert logical(path) == before
    meaning.apply(done.plans[0])
    after = logical(path)
    meaning.undo(done.plans[0].id)
    assert logical(path) == before
    real = meaning.complete_task("t")
    assert {k: v for k, v in done.to_dict().items() if k not in {"plans", "operations", "dry_run", "changed"}} == {
        k: v for k, v in real.to_dict().items() if k not in {"plans", "operations", "dry_run", "changed"}
    }
    redone = logical(path)
    assert [len(after[name]) for name in after] == [len(redone[name]) for name in redone]
    meaning.undo(real.operations[0])
    assert logical(path) == before
    assert meaning.check() == []


def test_the_loss_budget_holds_for_tasks_too(opening, path):
    memory = opening({**HASHED, "gates": {"loss_free_count": 0}}, HashEmbedder())
    at_work(memory)
    before = logical(path)
    with pytest.raises(GateStopped):
        memory.complete_task("t")
    assert logical(path) == before
    assert memory.complete_task("t", accept_loss="they say the same").merged_count == 1


def test_strength_goes_on_from_where_it_is_and_no_signal_falls(memory, clock):
    kept = memory.remember("learned on the way", task="t", session="s")
    clock.passes(minutes=40)
    before = memory.get(kept.id)
    memory.complete_task("t")
    after = memory.get(kept.id)
    for name in ("importance", "confidence", "strength", "retention", "value"):
        assert getattr(after, name) == pytest.approx(getattr(before, name)), name
