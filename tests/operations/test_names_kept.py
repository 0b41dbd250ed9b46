"""Names are kept between batches, and are at every moment those that the store has, whoever changed them."""

from __future__ import annotations

import threading

import pytest

from conftest import WORDS_ONLY, finished, in_processes
from perdure.knowledge.extraction.entity_names import Names, ResolvedName
from perdure.knowledge.operations.alias_index import NAMESPACES, names_of
from perdure.operations.documents import all_documents
from perdure.records.memory import Shelf
from starts import forked_python

FIRMS = ("Nova", "Delta", "Quint", "Borel", "Hydra", "Ixion", "Juno", "Laurel", "Mistral", "Onyx")
KNOWLEDGE = {**WORDS_ONLY, "preset": "facts"}


def told(names):
    return (
        {form: set(ids) for form, ids in names.known.items()},
        {i: (e.name, e.merged_into, dict(e.aliases)) for i, e in names.entities.items()},
    )


def anew(ctx, namespace="default"):
    return Names(all_documents(ctx, namespace, Shelf.ENTITY), all_documents(ctx, namespace, Shelf.ALIAS))


def right(memory):
    """Whether what is kept is what is stored; what is handed out may be changed without harm."""
    ctx = memory._context
    kept = names_of(ctx, "default")
    assert told(kept) == told(anew(ctx))
    kept.add("nobody", "Changed By The Caller")
    assert told(names_of(ctx, "default")) == told(anew(ctx))
    return kept


@pytest.fixture(autouse=True)
def _keeping_few(monkeypatch):
    """Names are kept here from the first on."""
    monkeypatch.setattr("perdure.knowledge.operations.alias_index.MANY", 0)


@pytest.fixture
def two(opening):
    """Two who have the store open, each with names of its own in mind."""
    return opening(KNOWLEDGE), opening(KNOWLEDGE)


def say(memory, text, session="s1"):
    return memory.ingest([{"content": text}], session=session).operations


@pytest.mark.behaviour("LE-names-1")
def test_whoever_changes_names_all_see_it(two):
    one, other = two
    say(one, "Remember that Gai Media prefers Friday deliveries.")
    steps = [
        lambda: say(other, "Remember that Ursa Foods prefers Monday deliveries."),
        lambda: say(one, "Remember that Kite Works prefers Monday deliveries."),
        lambda: other.alias("kite-works", "Kite", namespace="default"),
        lambda: other.merge_entities("gai-media", "ursa-foods"),
        lambda: other.undo(other.history(namespace="default", limit=1)[0].id),
        lambda: other.split_entity("kite-works", "Kite"),
        lambda: other.alias("gai-media", "Gai", namespace="default"),
        lambda: other.alias("gai-media", "Gai", namespace="default", remove=True),
        lambda: [other.undo(o) for o in reversed(say(other, "Remember that Nova Labs prefers Friday deliveries."))],
        lambda: other.undo(other.history(namespace="default", limit=1)[0].id),
        lambda: [
            say(other, f"Remember that {firm} {end} prefers Friday deliveries.")
            for firm in FIRMS
            for end in ("Ltd", "Labs", "Foods")
        ],
    ]
    right(one), right(other)
    for step in steps:
        step()
        assert told(right(one)) == told(right(other))
    assert "ursa foods" in right(one).known


@pytest.mark.behaviour("LE-names-2")
def test_a_name_that_another_has_just_learned_is_not_made_twice(two):
    one, other = two
    say(one, "Remember that Gai Media prefers Friday deliveries.")
    say(other, "Remember that Ursa Kraftwerk prefers Monday deliveries.")
    say(one, "Remember that Ursa Krafwerk prefers Monday deliveries.", "s2")  # a slip
    assert [e.id for e in one.entities()] == ["gai-media", "ursa-kraftwerk"]
    found = right(other).resolve("Ursa Kraftwrk", 0.85)
    assert isinstance(found, ResolvedName)
    assert found.id == "ursa-kraftwerk"


@pytest.mark.behaviour("LE-names-3")
def test_a_message_reads_no_shelf_once_names_are_known(opening, monkeypatch, raw_store):
    memory = opening(KNOWLEDGE)
    say(memory, "Remember that Gai Media prefers Friday deliveries.")
    kind, pages = type(raw_store.documents), []
    page = kind.page

    def told_of(self, namespace, shelf, *more):
        pages.append(shelf)
        return page(self, namespace, shelf, *more)

    monkeypatch.setattr(kind, "page", told_of)
    for firm in FIRMS:
        say(memory, f"Remember that {firm} Ltd prefers Friday deliveries.")
    assert not {Shelf.ENTITY, Shelf.ALIAS} & set(pages)
    assert len(memory.entities()) == 1 + len(FIRMS)


def test_the_names_of_few_namespaces_are_kept(opening):
    memory = opening(KNOWLEDGE)
    for n in range(NAMESPACES + 3):
        memory.ingest([{"content": "Remember that Gai Media prefers Friday deliveries."}], f"n{n}", session="s")
        assert memory.entity("gai media", namespace=f"n{n}").id == "gai-media"
    assert len(memory._context.extension.resources.names) == NAMESPACES


def test_threads_that_learn_at_once_share_no_names(opening):
    memory = opening(KNOWLEDGE)
    say(memory, "Remember that Gai Media prefers Friday deliveries.")
    failed = []

    def talk(who):
        try:
            for firm in FIRMS[:4]:
                say(memory, f"Remember that {who} {firm} prefers Friday deliveries.", who)
        except Exception as error:  # noqa: BLE001  # told below
            failed.append(error)

    threads = [threading.Thread(target=talk, args=(who,)) for who in ("Acme", "Berta", "Carlo")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    right(memory)
    assert len(memory.entities()) == 13


TALK = """
import sys, perdure
memory = perdure.open(sys.argv[1], policy={"embedder": {"model": "none"}, "preset": "facts"})
for firm in sys.argv[3:]:
    text = f"Remember that {firm} Ltd prefers {sys.argv[2]} deliveries."
    memory.ingest([{"content": text}], session=sys.argv[2])
"""


@pytest.mark.behaviour("LE-names-4")
@in_processes
def test_two_processes_that_learn_the_same_names_make_each_once(path, opening):
    memory = opening(KNOWLEDGE)
    say(memory, "Remember that Gai Media prefers Friday deliveries.")
    children = [forked_python(TALK, path, day, *FIRMS) for day in ("Monday", "Tuesday")]
    for child in children:
        finished(child)
    assert len(memory.entities()) == 1 + len(FIRMS)
    right(memory)
    assert memory.check() == []


def test_few_names_are_not_kept(opening, monkeypatch):
    memory = opening(KNOWLEDGE)
    monkeypatch.setattr("perdure.knowledge.operations.alias_index.MANY", 3)
    for count, firm in enumerate(FIRMS[:4], 1):
        say(memory, f"Remember that {firm} Ltd prefers Friday deliveries.")
        right(memory)
        assert ("default" in memory._context.extension.resources.names) == (count >= 3)
