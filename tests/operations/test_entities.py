"""Entities through the public API: shown, named, merged, split, and all of it taken back."""

from __future__ import annotations

import pytest

from conftest import WORDS_ONLY, bare_fact, budget, finished, in_processes, logical, tables
from perdure.knowledge.extraction.entity_names import ResolvedName, normal_name
from perdure.knowledge.extraction.mentions import mentions
from perdure.knowledge.operations.alias_index import names_of
from perdure.knowledge.records.facts import Entity, Fact, FactOrigin, Source, Span, Value, ValueKind
from perdure.knowledge.rules.entities import alias_change, mention_change, new_entity_changes
from perdure.records.errors import InvalidInput, NotFound
from perdure.records.memory import Shelf
from perdure.records.plan import Plan
from perdure.rules.document_edits import document_change
from starts import forked_python


def write(memory, changes, namespace="default"):
    number = len(memory.history(namespace=namespace, limit=1000))
    memory.apply(Plan(f"learn-{number}", "learn", namespace, 1, tuple(changes), note="test"))


def known(memory, *entities, namespace="default"):
    """Bring entities, each (id, name, other names...)."""
    for identity, name, *others in entities:
        write(
            memory,
            [*new_entity_changes(Entity(identity, name)), *(alias_change(identity, o) for o in others)],
            namespace,
        )


def said(memory, text, *about, namespace="default"):
    """Remember a message that names some entities, each by the words in the text."""
    kept = memory.remember(text, namespace).id
    names = names_of(memory._context, namespace)
    by = {}
    for mention in mentions(text, names.known):
        found = names.resolve(mention.quote, 0.88)
        if isinstance(found, ResolvedName) and found.id in about:
            span = Span(mention.start, mention.end, mention.quote)
            by.setdefault(found.id, []).append((span, found.alias))
    assert set(by) == set(about)
    write(memory, [mention_change(kept, i, "named", words) for i, words in by.items()], namespace)
    return kept


def fact(memory, subject, predicate, value, *sources):
    kept = bare_fact(memory, f"{subject} {predicate} {value}").id
    spans = tuple(Source(s, Span(0, 1, "x")) for s in sources)
    told = Fact(
        kept, subject, predicate, "preference", Value(value, ValueKind.TEXT, value), FactOrigin.STATEMENT, spans
    )
    said = document_change(Shelf.FACT, kept, told.key, None, told.to_data(), "test")
    write(memory, [said, document_change(Shelf.ABOUT, kept, told.subject, None, {}, "test")])
    return kept


def documents(raw_store, shelf):
    return raw_store.documents.page("default", shelf, ("", ""), 1000)


# --- listed and shown


@pytest.mark.behaviour("EN13")
def test_an_entity_is_shown_with_its_names_facts_and_since_when(memory, clock):
    known(memory, ("gai-media", "Gai Media", "Gai"), ("ann", "Ann"))
    first = said(memory, "What of Gai Media?", "gai-media")
    clock.passes(days=7)
    said(memory, "Gai and Ann called, says Gai.", "gai-media", "ann")
    belief = fact(memory, "gai-media", "delivery_day", "Friday", first)
    found = memory.entity("gai media LTD")
    assert found.to_dict() == {
        "id": "gai-media",
        "name": "Gai Media",
        "type": "",
        "aliases": ["Gai", "Gai Media"],
        "memories": 2,
        "facts": [belief],
        "first_seen": "2026-01-01T00:00:00.000Z",
        "last_seen": "2026-01-08T00:00:00.000Z",
        "merged": [],
        "shared": {},
    }
    assert [(e.id, e.memories) for e in memory.entities()] == [("ann", 1), ("gai-media", 2)]
    assert [e.id for e in memory.entities(limit=1)] == ["ann"]
    assert memory.entities("elsewhere") == []
    memory.archive(first, "test")
    assert memory.entity("gai-media").memories == 1


@pytest.mark.behaviour("EN14")
def test_an_ambiguous_name_is_said_and_never_guessed(memory):
    known(memory, ("ann-smith", "Ann Smith", "Ann"), ("ann-jones", "Ann Jones"))
    done = memory.alias("ann-jones", "Ann")
    assert (done.changed, done.shared_with) == (True, ("ann-smith",))
    with pytest.raises(InvalidInput, match=r"ambiguous: which of ann-jones \(1\.00\), ann-smith \(1\.00\)"):
        memory.entity("ann")
    assert memory.entity("ann-smith").shared == {"ann": ("ann-jones",)}
    for verb in (
        lambda: memory.alias("Ann", "Annie"),
        lambda: memory.merge_entities("Ann", "ann-jones"),
        lambda: memory.split_entity("ann", "Ann"),
    ):
        with pytest.raises(InvalidInput, match="which of"):
            verb()


# --- names


@pytest.mark.behaviour("EN15")
def test_a_name_is_added_once_and_removed_and_both_are_undone(memory, path):
    known(memory, ("gai-media", "Gai Media"))
    before = logical(path)
    done = memory.alias("Gai Media", "The GM Group")
    assert (done.changed, done.entity, done.shared_with) == (True, "gai-media", ())
    assert memory.entity("gm group").id == "gai-media"
    again = tables(path)
    assert memory.alias("gai-media", "gm group").changed is False
    assert tables(path) == again
    with_it = logical(path)
    gone = memory.alias("gai-media", "GM  GROUP", remove=True)
    assert logical(path) == before
    memory.undo(gone.operation)
    assert logical(path) == with_it
    memory.undo(done.operation)
    assert logical(path) == before


@pytest.mark.behaviour("EN16")
def test_circular_names_and_merges_are_refused(memory, path):
    known(memory, ("a-one", "Alpha One"), ("b-two", "Beta Two", "Beta"))
    before = tables(path)
    for refused in (
        lambda: memory.alias("a-one", "Beta Two"),
        lambda: memory.alias("b-two", "alpha one"),
        lambda: memory.alias("a-one", "Alpha One", remove=True),
        lambda: memory.merge_entities("a-one", "a-one"),
        lambda: memory.merge_entities("Alpha One", "a-one"),
        lambda: memory.split_entity("a-one", "Alpha One"),
    ):
        with pytest.raises(InvalidInput):
            refused()
    for missing in (
        lambda: memory.entity("nobody"),
        lambda: memory.alias("nobody", "x y"),
        lambda: memory.alias("a-one", "Beta", remove=True),
        lambda: memory.merge_entities("a-one", "nobody"),
        lambda: memory.merge_entities("nobody", "a-one"),
        lambda: memory.split_entity("a-one", "Beta"),
        lambda: memory.entity("a-one", namespace="elsewhere"),
    ):
        with pytest.raises(NotFound):
            missing()
    assert tables(path) == before
    memory.merge_entities("a-one", "b-two")
    with pytest.raises(InvalidInput, match="Both are a-one"):
        memory.merge_entities("b-two", "a-one")


@pytest.mark.behaviour("EN17")
def test_what_is_no_name_is_refused_and_odd_names_do_no_harm(memory):
    known(memory, ("gai-media", "Gai Media"))
    for nothing in ("", " ", "null", "None", "undefined", "...", "they", "x" * 10_000, "y " * 300, "\x00", "\ud800", 7):
        with pytest.raises(InvalidInput):
            memory.alias("gai-media", nothing)
    for nobody in ("null", "...", "'; DROP TABLE document; --"):
        with pytest.raises(NotFound):
            memory.entity(nobody)
    odd = "Robert'); DROP TABLE document; --"
    memory.alias("gai-media", odd)
    assert memory.entity(odd).aliases == ("Gai Media", odd)
    assert memory.split_entity("gai-media", odd).entity == "robert-drop-table-document"
    assert [e.id for e in memory.entities()] == ["gai-media", "robert-drop-table-document"]


# --- merging


@pytest.mark.behaviour("EN18")
def test_a_merge_moves_names_mentions_and_facts_and_undo_restores_every_row(memory, path, raw_store):
    known(memory, ("gai-media", "Gai Media"), ("gm", "GMX Studio", "Gai Media"))
    one = said(memory, "GMX Studio called", "gm")
    both = memory.remember("Gai Media is GMX Studio").id
    write(
        memory,
        [
            mention_change(both, "gai-media", "named", [(Span(0, 9, "Gai Media"), "gai media")]),
            mention_change(both, "gm", "subject", [(Span(13, 23, "GMX Studio"), "gmx studio")]),
        ],
    )
    belief = fact(memory, "gm", "delivery_day", "Friday", one)
    before = logical(path)
    done = memory.merge_entities("gai-media", "GMX Studio")
    assert (done.into, done.other, done.memories, done.facts) == ("gai-media", "gm", 2, (belief,))
    assert done.aliases == ("Gai Media", "GMX Studio")
    assert (
        memory.entity("gm").to_dict() == memory.entity("GMX Studio").to_dict() == memory.entity("gai-media").to_dict()
    )
    found = memory.entity("gm")
    assert (found.id, found.aliases, found.memories) == ("gai-media", ("Gai Media", "GMX Studio"), 2)
    assert (found.facts, found.merged) == ((belief,), ("gm",))
    assert [e.id for e in memory.entities()] == ["gai-media"]
    (moved,) = documents(raw_store, Shelf.FACT)
    assert (moved.name, moved.data["subject"]) == ("gai-media|delivery_day", "gai-media")
    told = {d.id: d.data for d in documents(raw_store, Shelf.MENTION)}
    assert told[both]["role"] == "subject"
    assert [w["quote"] for w in told[both]["words"]] == ["Gai Media", "GMX Studio"]
    again = memory.merge_entities("gai-media", "gm")
    assert (again.operation, again.memories) == (None, 0)
    after = logical(path)
    undone = memory.undo(done.operation)
    assert logical(path) == before
    memory.undo(undone.operation)
    assert logical(path) == after


@pytest.mark.behaviour("EN19")
def test_merges_go_on_through_several_and_move_what_came_too_late(memory, raw_store):
    known(memory, ("a", "Alpha One"), ("b", "Beta Two"), ("c", "Gamma Three"))
    memory.merge_entities("b", "c")
    memory.merge_entities("a", "b")
    assert memory.entity("Gamma Three").id == memory.entity("c").id == "a"
    assert memory.entity("a").merged == ("b", "c")
    late = memory.remember("Gamma Three again").id
    write(memory, [mention_change(late, "c", "named", [(Span(0, 11, "Gamma Three"), "gamma three")])])
    belief = fact(memory, "c", "size", "big", late)
    seen = memory.entity("a")
    assert (seen.memories, seen.facts) == (1, (belief,))
    assert [e.memories for e in memory.entities()] == [1]
    assert memory.merge_entities("a", "c").facts == (belief,)
    assert {d.name for d in documents(raw_store, Shelf.MENTION)} == {"a"}


def test_a_merge_of_thousands_of_mentions_is_one_operation(memory, raw_store):
    many = budget(2100, 4500)
    known(memory, ("a", "Alpha One"), ("b", "Beta Two"))
    word = [(Span(0, 8, "Beta Two"), "beta two")]
    write(memory, [mention_change(f"m{i:05}", "b", "named", word) for i in range(many)])
    done = memory.merge_entities("a", "b")
    assert done.memories == many
    assert len(raw_store.documents.find_named("default", Shelf.MENTION, ["a"])) == many
    memory.undo(done.operation)
    assert len(raw_store.documents.find_named("default", Shelf.MENTION, ["b"])) == many


# --- splitting


@pytest.mark.behaviour("EN20")
def test_a_split_takes_the_mentions_that_used_the_name_and_their_facts(memory, path):
    known(memory, ("gai-media", "Gai Media", "Gai Foods"))
    media = said(memory, "Gai Media called", "gai-media")
    foods = said(memory, "Gai Foods called", "gai-media")
    both = said(memory, "Gai Media owns Gai Foods", "gai-media")
    theirs = fact(memory, "gai-media", "likes", "fish", foods)
    mixed = fact(memory, "gai-media", "owns", "ships", foods, media)
    also = fact(memory, "gai-media", "has", "docks", both)
    other = fact(memory, "gai-media", "sells", "news", media)
    before = logical(path)
    done = memory.split_entity("gai-media", "gai foods")
    assert (done.entity, done.source, done.alias, done.memories) == ("gai-foods", "gai-media", "Gai Foods", 2)
    assert (done.facts, set(done.left)) == ((theirs,), {mixed, also})
    new, old = memory.entity("Gai Foods"), memory.entity("Gai Media")
    assert (new.id, new.memories, new.facts) == ("gai-foods", 2, (theirs,))
    assert (old.id, old.memories, set(old.facts)) == ("gai-media", 2, {mixed, also, other})
    memory.undo(done.operation)
    assert logical(path) == before


def test_an_entity_that_loses_its_own_name_takes_another(memory):
    known(memory, ("gai-media", "Gai Media", "Gai Foods"))
    done = memory.split_entity("gai-media", "Gai Media")
    assert (done.entity, memory.entity("Gai Media").id) == ("gai-media-2", "gai-media-2")
    assert memory.entity("gai-media").name == "Gai Foods"
    memory.merge_entities("gai-media", "gai-media-2")
    assert normal_name(memory.entity("Gai Media").name) == "gai foods"


# --- several processes

NAMES = """
import sys, perdure
with perdure.open(sys.argv[1], policy={"embedder": {"model": "none"}}) as memory:
    for i in range(12):
        memory.alias("a" if (i + int(sys.argv[2])) % 2 else "b", f"Name {sys.argv[2]} {i}")
    memory.merge_entities("a", "b")
"""


@pytest.mark.behaviour("EN21")
@in_processes
def test_two_processes_name_and_merge_at_once(memory, path):
    known(memory, ("a", "Alpha One"), ("b", "Beta Two"))
    for child in [forked_python(NAMES, path, number) for number in (1, 2)]:
        finished(child)
    memory.merge_entities("a", "b")
    found = memory.entity("b")
    assert found.id == "a"
    assert set(found.aliases) == {"Alpha One", "Beta Two"} | {f"Name {n} {i}" for n in (1, 2) for i in range(12)}


@pytest.mark.behaviour("WH8")
def test_a_merge_of_facts_that_contradict_asks_and_undo_takes_the_question_back(opening, clock, path):
    memory = opening({**WORDS_ONLY, "preset": "facts"})
    for text in ("Contoso prefers Friday deliveries.", "Contozo Ltd prefers Monday deliveries."):
        memory.ingest([{"content": text, "at": clock().isoformat()}], session="s1")
    before = logical(path)
    done = memory.merge_entities("Contoso", "Contozo Ltd")
    friday, monday = sorted(memory.facts("Contoso"), key=lambda f: f.value)
    assert (friday.contested, monday.contested) == ((monday.id,), (friday.id,))
    (question,) = memory.review()
    assert "that Contoso's delivery day preference is Friday" in question.question
    memory.undo(done.operation)
    assert logical(path) == before
    memory.merge_entities("Contoso", "Contozo Ltd")
    memory.confirm(monday.id)
    assert [f.value for f in memory.facts("Contoso")] == ["Monday"]
    assert memory.check() == []
