"""A look at a plan before it is final: the check sees what the plan would make, and may still stop it."""

from __future__ import annotations

import pytest

from conftest import HashEmbedder, on_two_servers_too, tables
from perdure.records.errors import ConflictError, GateStopped
from perdure.records.memory import Form, Shelf, Status
from perdure.records.plan import Change, Target
from perdure.records.policy_recall import RecallPolicy
from perdure.records.recall import Filters, Query
from stores.planning import applied, document, shortened

pytestmark = on_two_servers_too


@pytest.fixture(params=["words", "meaning"])
def filled(request, opening):
    """A store with four memories about deploys, one about tea; searched before, so that its index is warm."""
    memory = opening(embedder=HashEmbedder() if request.param == "meaning" else None)
    kept = memory.remember_many([f"deploy of server {i}" for i in range(4)] + ["bob likes tea"])
    assert memory.recall("deploy", touch=False).hits
    return memory, kept


def embedder_of(memory):
    return HashEmbedder() if memory.stats().space else None


def query(memory, text):
    embedder = embedder_of(memory)
    vector = embedder.embed([text], purpose="query")[0] if embedder else None
    return Query(text, tuple(text.split()), vector)


def found(memory, glimpse, text, filters=None):
    return {c.id for c in glimpse.search(query(memory, text), filters or Filters(), RecallPolicy()).candidates}


def hide(memory, one):
    state = memory.get(one.id).state
    return Change(
        Target.MEMORY,
        one.id,
        {"status": state.status, "status_ms": state.status_ms},
        {"status": Status.ARCHIVED, "status_ms": state.status_ms + 1},
        "by the test",
    )


def test_the_check_sees_what_the_plan_makes_and_others_do_not_yet(filled, opening):
    memory, kept = filled
    seen = {}

    def check(glimpse):
        seen["search"] = found(memory, glimpse, "deploy server")
        seen["all"] = found(memory, glimpse, "deploy server", Filters(include_archived=True))
        seen["status"] = [r.state.status for r in glimpse.get([kept[0].id, "unknown", kept[1].id])]
        seen["shown"] = glimpse.get([kept[1].id])[0].content.shown

    applied(memory, hide(memory, kept[0]), shortened(memory, kept[1].id, "brief", Form.SUMMARY), check=check)
    deploys = {m.id for m in kept[:4]}
    assert seen["search"] & deploys == deploys - {kept[0].id}
    assert seen["all"] & deploys == deploys
    assert seen["status"] == [Status.ARCHIVED, Status.ACTIVE]
    assert seen["shown"] == "brief"
    for each in (memory, opening(embedder=embedder_of(memory))):
        assert {h.memory.id for h in each.recall("deploy server", touch=False).hits} & deploys == deploys - {kept[0].id}


@pytest.mark.behaviour("C08")
def test_a_check_that_raises_leaves_every_table_as_it_was(filled, path):
    memory, kept = filled
    before = tables(path)
    looked = []

    def stop(glimpse):
        looked.append(found(memory, glimpse, "deploy server"))
        raise GateStopped("The canaries were lost.", remedy="none")

    changes = (
        *(hide(memory, m) for m in kept[:4]),
        document(Shelf.EDGE, kept[0].id, "e", None, {}),
        Change(Target.LINK, kept[0].id, None, {"kind": "k", "other": kept[1].id, "weight": 0.5}, ""),
    )
    with pytest.raises(GateStopped, match="canaries"):
        applied(memory, *changes, check=stop)
    assert not looked[0] & {m.id for m in kept[:4]}
    assert tables(path) == before
    assert memory.check() == []


def test_after_a_rollback_the_searches_find_what_they_found_before(filled, opening):
    """Also those that live in memory: what the check brought into the index must be gone from it again."""
    memory, kept = filled
    before = memory.recall("deploy server", touch=False, limit=50).to_dict()

    def stop(glimpse):
        found(memory, glimpse, "deploy server")
        raise RuntimeError("stop")

    for _ in range(3):
        with pytest.raises(RuntimeError):
            applied(memory, *(hide(memory, m) for m in kept[:4]), check=stop)
    assert memory.recall("deploy server", touch=False, limit=50).to_dict() == before
    assert opening(embedder=embedder_of(memory)).recall("deploy server", touch=False, limit=50).to_dict() == before
    later = memory.remember("deploy of server 9")
    ids = {h.memory.id for h in memory.recall("deploy server", touch=False, limit=50).hits}
    assert ids >= {later.id, *(m.id for m in kept[:4])}
    applied(memory, hide(memory, kept[0]))
    assert kept[0].id not in {h.memory.id for h in memory.recall("deploy server", touch=False, limit=50).hits}


def test_after_a_rollback_a_memory_that_the_plan_would_have_brought_is_not_found(filled):
    memory, kept = filled
    born = memory.remember("zebra of the harbour")
    operation = memory.history(born.id)[0].operation_id
    (plan,) = memory.undo(operation).plans  # its inverse stores the memory anew, with its vector

    def stop(glimpse):
        assert [r.id for r in glimpse.get([born.id])] == [born.id]
        assert born.id in found(memory, glimpse, "zebra harbour")
        raise RuntimeError("stop")

    anew = plan.inverse(id="anew", at=plan.at + 1)
    with pytest.raises(RuntimeError):
        memory._context.store.apply(anew, check=stop)
    assert memory.get(born.id) is None
    assert born.id not in {h.memory.id for h in memory.recall("zebra harbour", touch=False).hits}
    kept_after = memory.remember("zebra of the river")
    assert kept_after.id in {h.memory.id for h in memory.recall("zebra", touch=False).hits}
    assert kept[0].id != kept_after.id
    assert memory.check() == []


def test_a_conflict_is_told_before_anything_is_looked_at(filled, path):
    memory, kept = filled
    change = hide(memory, kept[0])
    memory.archive(kept[0].id, "first")
    before, looked = tables(path), []
    with pytest.raises(ConflictError):
        applied(memory, change, check=looked.append)
    assert looked == []
    assert tables(path) == before


def test_the_check_keeps_sessions_apart_as_a_recall_does(opening):
    memory = opening()
    own = memory.remember("the deploy of the harbour", session="s1")
    shared = memory.remember("the deploy of the river")
    seen = {}

    def check(glimpse):
        for name, filters in {
            "nobody": Filters(isolated=True),
            "s1": Filters(isolated=True, inside="s1"),
            "s2": Filters(isolated=True, inside="s2"),
            "upkeep": Filters(),
        }.items():
            seen[name] = found(memory, glimpse, "deploy", filters)

    applied(memory, document(Shelf.EDGE, shared.id, "e", None, {}), check=check)
    assert seen["nobody"] == seen["s2"] == {shared.id}
    assert seen["s1"] == seen["upkeep"] == {own.id, shared.id}


def test_the_check_sees_one_namespace(opening):
    memory = opening()
    memory.remember("the deploy", namespace="b")
    one = memory.remember("the deploy", namespace="default")
    seen = []

    def check(glimpse):
        seen.append(found(memory, glimpse, "deploy"))

    applied(memory, document(Shelf.EDGE, one.id, "e", None, {}), check=check)
    assert seen == [{one.id}]
