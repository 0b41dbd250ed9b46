from __future__ import annotations

import pytest

from conftest import HARSH, HashEmbedder, logical, on_two_servers_too, weekly
from perdure.records.errors import NotFound

pytestmark = on_two_servers_too

TEXTS = ["the deploy is on tuesday", "alice likes green tea", "the river is cold in march"]


@pytest.fixture(params=["words", "meaning"])
def shared(request, opening):
    """Two namespaces that hold the same words."""
    memory = opening(embedder=HashEmbedder() if request.param == "meaning" else None)
    for name in ("a", "b"):
        memory.remember_many([{"content": t, "tags": ["tag"], "idempotency_key": t} for t in TEXTS], namespace=name)
        memory.ingest([{"content": f"{t} once more"} for t in TEXTS], namespace=name, session="talk")
    return memory


def test_no_answer_holds_anothers_memory(shared, raw_store):
    for name in ("a", "b"):
        others = {m.id for m in shared.list("b" if name == "a" else "a")}
        assert len(others) == 6
        for query in ("deploy tuesday", "tea", "river march deploy tea"):
            for extra in ({}, {"tags": ["tag"]}, {"session": "talk"}, {"include_archived": True}):
                found = shared.recall(query, name, limit=100, **extra).hits
                assert found
                assert {h.memory.namespace for h in found} == {name}
                assert not {h.memory.id for h in found} & others
        assert {m.namespace for m in shared.list(name)} == {name}
        assert not [i for i in others if i in shared.digest(name)]
        own = {m.id for m in shared.list(name)}
        assert {e.id for o in shared.history(namespace=name) for e in raw_store.changes(name, o.id)} <= own
        assert {o.namespace for o in shared.history(namespace=name)} == {name}
        for identity in own:
            assert not {other for _, other, _ in shared.why(identity).links} - own


def test_neighbours_and_duplicates_are_sought_at_home(opening, raw_store):
    memory = opening(embedder=HashEmbedder())
    memory.remember("alpha beta gamma", namespace="a")
    twin = memory.remember("gamma beta alpha", namespace="b")
    assert twin.memory.state.uniqueness == 1.0
    assert memory.why(twin.id).links == ()
    vector = HashEmbedder().embed(["alpha beta gamma"], purpose="query")[0]
    assert [i for i, *_ in raw_store.nearest("b", [vector], 10)[0]] == [twin.id]
    assert raw_store.nearest("c", [vector], 10) == [[]]
    same = memory.remember("alpha beta gamma", namespace="b")
    assert [other for _, other, _ in memory.why(same.id).links] == [twin.id]


def test_counts_are_of_one_namespace(shared):
    whole, one = shared.stats(), shared.stats("a")
    assert (whole.namespaces, one.namespaces) == (2, 1)
    assert (whole.memories, one.memories) == (12, 6)
    assert shared.stats("nowhere").memories == 0
    shared.archive(shared.list("b")[0].id, "test")
    assert shared.stats("a") == one
    assert shared.stats("b").statuses == {"active": 5, "archived": 1}


def test_keys_and_words_are_known_per_namespace(shared):
    first = shared.remember("new words", namespace="a", idempotency_key="k")
    second = shared.remember("new words", namespace="b", idempotency_key="k")
    third = shared.remember("new words", namespace="c")
    assert len({first.id, second.id, third.id}) == 3
    assert (second.memory.namespace, third.memory.namespace) == ("b", "c")


def test_a_sweep_or_an_undo_of_one_leaves_the_other_as_it_was(opening, clock, path):
    memory = opening()
    for name in ("a", "b"):
        memory.remember_many(TEXTS, namespace=name)
        memory.recall("deploy tea river", name)
    clock.passes(days=30)
    other = [row for rows in logical(path).values() for row in rows if "b" in row]
    report = memory.sweep(namespace="a")
    assert {m.namespace for m in report.moved} == {"a"}
    assert [row for rows in logical(path).values() for row in rows if "b" in row] == other
    memory.undo(report.operations[0])
    assert [row for rows in logical(path).values() for row in rows if "b" in row] == other
    assert {m.namespace for m in memory.forecast(30, namespace="b", details=True).moved} == {"b"}


def test_the_loss_budget_is_of_one_namespace(opening, clock):
    memory = opening(HARSH)
    memory.remember_many([f"note {i}" for i in range(30)], namespace="a")
    memory.remember_many([{"content": f"kept {i}", "pinned": True} for i in range(300)], namespace="b")
    clock.passes(days=8)  # all thirty are due; a tenth of both namespaces would be thirty-three
    report = memory.sweep()
    assert [(h.namespace, len(h.ids)) for h in report.held] == [("a", 27)]
    assert report.tally == {"warm to cold": 30, "cold to archived": 3}


def test_anothers_id_says_nothing_under_the_wrong_namespace(shared):
    identity = shared.list("a")[0].id
    with pytest.raises(NotFound):
        shared.history(identity, namespace="b")


@weekly
def test_a_small_namespace_is_found_beside_a_large_one(opening):
    for embedder in (None, HashEmbedder()):
        memory = opening(embedder=embedder, at=":memory:")
        memory.remember_many([f"the deploy {i}" for i in range(1300)], namespace="large")
        few = memory.remember("we spoke of a deploy at great length, and of much else besides", namespace="small")
        assert [h.memory.id for h in memory.recall("deploy", "small").hits] == [few.id]


def test_a_large_namespace_is_searched_though_another_has_better_matches(opening):
    memory = opening(embedder=HashEmbedder(), at=":memory:")
    memory.remember_many([f"cat {i} sat on a mat" for i in range(1100)], namespace="large")
    text = "at great length we spoke of a deploy and of much else besides that has nothing to do with it"
    items = [{"content": text, "tags": ["rare"]}]
    one = memory.remember_many(items, namespace="large", embed="later")[0]  # only words can find it
    memory.remember_many([{"content": f"deploy {i}", "tags": ["rare"]} for i in range(1000)], namespace="other")
    assert one.id in [h.memory.id for h in memory.recall("deploy", "large").hits]
    assert [h.memory.id for h in memory.recall("deploy", "large", tags=["rare"]).hits] == [one.id]
