"""Sessions apart: what a task or session noted for itself is seen only inside it, on every way there is."""

from __future__ import annotations

import pytest

from conftest import HashEmbedder, on_two_servers_too
from perdure.records.errors import InvalidInput

pytestmark = on_two_servers_too

TEXTS = ["the deploy is on tuesday", "alice likes green tea", "the river is cold in march"]


@pytest.fixture(params=["words", "meaning"])
def sessions(request, opening):
    """Two sessions and what is shared, with the same words."""
    memory = opening(embedder=HashEmbedder() if request.param == "meaning" else None)
    kept = {
        name: memory.remember_many([{"content": f"{t} {name}", "session": name, "tags": ["tag"]} for t in TEXTS])
        for name in ("s1", "s2")
    }
    kept["shared"] = memory.remember_many([{"content": f"{t} shared", "tags": ["tag"]} for t in TEXTS])
    return memory, {name: {m.id for m in some} for name, some in kept.items()}


QUESTIONS = ("deploy tuesday", "alice tea", "river march")


def asked(memory, **more):
    """What any of the questions brings up."""
    return {h.memory.id for query in QUESTIONS for h in memory.recall(query, limit=100, **more).hits}


def visible(kept, inside):
    return kept["shared"] | kept.get(inside, set())


@pytest.mark.behaviour("C06")
@pytest.mark.parametrize("inside", [None, "s1", "s2", "unknown"])
def test_each_way_of_looking_shows_what_is_shared_and_ones_own(sessions, inside):
    memory, kept = sessions
    expected = visible(kept, inside)
    assert {m.id for m in memory.list(inside=inside)} == expected
    for query in QUESTIONS:
        for extra in ({}, {"tags": ["tag"]}, {"include_archived": True}):
            found = memory.recall(query, limit=100, inside=inside, touch=False, **extra).hits
            assert found
            assert {h.memory.id for h in found} <= expected
    assert asked(memory, inside=inside, touch=False) == expected
    digest = memory.digest_details(inside=inside)
    assert set(digest.ids) <= expected
    for other in {"s1", "s2"} - {inside}:
        assert f" {other}" not in digest.text
    if inside in kept:
        assert set(digest.ids) & kept[inside]


@pytest.mark.parametrize("name", ["s1", "s2"])
def test_the_filter_on_a_session_is_inside_it(sessions, name):
    memory, kept = sessions
    assert {m.id for m in memory.list(session=name)} == kept[name]
    assert asked(memory, session=name) == kept[name]
    assert memory.list(session=name, inside="another") == []
    assert asked(memory, session=name, inside="another") == set()


def test_pages_of_a_list_do_not_leak_and_are_full(sessions):
    memory, kept = sessions
    found, page = [], memory.list(limit=2)
    while page:
        found += [m.id for m in page]
        page = memory.list(limit=2, before=page[-1].id)
    assert sorted(found) == sorted(kept["shared"])


def test_scope_and_entity_filters_do_not_open_a_session(sessions):
    memory, kept = sessions
    assert memory.list(scopes=["session"]) == []
    assert {m.id for m in memory.list(scopes=["session"], inside="s1")} == kept["s1"]
    assert {h.memory.id for h in memory.recall("tea", entity="alice").hits} <= kept["shared"]


def test_a_message_of_a_conversation_is_shared(opening):
    memory = opening()
    memory.ingest([{"content": f"{t} said", "role": "user"} for t in TEXTS], session="talk")
    assert len(memory.list()) == 3
    assert memory.recall("deploy tuesday").hits
    assert {m.scope for m in memory.list()} == {"long_term"}


def test_a_neighbour_turn_of_another_session_is_not_brought_along(opening):
    """Private notes take turns of a conversation too: they must not come in as neighbours of what was said."""
    for embedder in (None, HashEmbedder()):
        memory = opening(embedder=embedder, at=":memory:")
        memory.ingest([{"content": "what shall we deploy?", "role": "user"}], session="talk")
        private = memory.remember("the harbour key lies under the stone", session="talk")
        memory.ingest([{"content": "the deploy of the river server", "role": "assistant"}], session="talk")
        for inside in (None, "other"):
            hits = memory.recall("what shall we deploy", limit=50, inside=inside, touch=False).hits
            assert hits
            assert private.id not in {h.memory.id for h in hits}
        own = memory.recall("what shall we deploy harbour", limit=50, inside="talk", touch=False).hits
        assert private.id in {h.memory.id for h in own}


def test_why_not_does_not_pretend_that_another_sessions_memory_could_be_found(sessions):
    memory, kept = sessions
    one = next(iter(kept["s1"]))
    absence = memory.why_not(one, memory.get(one).content, limit=100)
    assert absence.kept_out_by == "filters"
    assert "isolated" in absence.explanation


def test_the_same_words_in_two_sessions_are_two_memories(opening):
    memory = opening()
    one, two, shared = (memory.remember("the same words", **more) for more in ({"session": "a"}, {"session": "b"}, {}))
    assert len({one.id, two.id, shared.id}) == 3
    assert memory.remember("the same words", session="a").id == one.id


def test_task_memories_of_a_session_are_seen_inside_it(opening):
    memory = opening()
    own = memory.remember("step one of the deploy", session="s1", task="t1")
    assert own.memory.scope == "task"
    assert memory.list() == memory.list(inside="s2") == []
    assert [m.id for m in memory.list(inside="s1")] == [own.id]
    assert [h.memory.id for h in memory.recall("deploy", inside="s1").hits] == [own.id]


def test_what_is_asked_for_by_its_id_is_given(sessions):
    """Ids are told to no other session; who knows one has been inside, or is a person looking."""
    memory, kept = sessions
    one = next(iter(kept["s1"]))
    assert memory.get(one).id == one
    assert memory.why(one).history


def test_a_hidden_memory_of_a_session_stays_apart(sessions):
    memory, kept = sessions
    one = next(iter(kept["s1"]))
    memory.archive(one, "test")
    for inside, shown in ((None, False), ("s2", False), ("s1", True)):
        found = {m.id for m in memory.list(include_archived=True, inside=inside)}
        assert (one in found) is shown
        assert (one in asked(memory, include_archived=True, inside=inside)) is shown
    assert one not in {m.id for m in memory.list(inside="s1")}


def test_an_access_is_counted_for_what_was_shown_only(sessions):
    memory, kept = sessions
    asked(memory)
    assert sum(m.access_count for i in kept["s1"] | kept["s2"] if (m := memory.get(i))) == 0
    assert sum(m.access_count for i in kept["shared"] if (m := memory.get(i))) >= 3


@pytest.mark.parametrize("bad", ["", " ", 5, ["s1"]])
def test_inside_must_name_a_session(memory, bad):
    for ask in (lambda **more: memory.recall("x", **more), memory.list, memory.digest):
        with pytest.raises(InvalidInput, match="inside"):
            ask(inside=bad)
