from __future__ import annotations

import warnings

import numpy as np
import pytest

from conftest import HashEmbedder, logical, tables, weekly_on_a_server
from perdure.compose import EmbedderWarning
from perdure.models.local import LocalEmbedder
from perdure.records.errors import EmbedderError, InvalidInput
from perdure.records.vector import Space

TEXTS = [f"alpha{i} beta{i % 9} gamma{i % 5}" for i in range(700)]


class Failing(HashEmbedder):
    def __init__(self, dimensions, after):
        super().__init__(dimensions)
        self.left = after

    def embed(self, texts, *, purpose):
        if purpose == "document":
            if self.left <= 0:
                raise EmbedderError("The endpoint is down.", remedy="Start it.")
            self.left -= 1
        return super().embed(texts, purpose=purpose)


def test_a_store_without_vectors_is_said_to_have_none(memory):
    memory.remember(TEXTS[0])
    made = memory.optimize()
    assert made.pop("vectors") == 0
    assert list(made.values()) == [0]  # parts of a file's index, or whether a server has one


def best(memory):
    return [memory.recall(t, limit=1, touch=False).hits[0].memory.content for t in TEXTS[::50]]


@weekly_on_a_server
def test_the_first_vectors_of_a_store_are_interrupted_and_it_stays_sound(opening):
    """A check called a store damaged after its first run had been ended: searches used no embedding space."""
    opening().remember_many(TEXTS)
    stopped = opening(embedder=Failing(32, after=1))
    with pytest.raises(EmbedderError):
        stopped.reembed()
    assert stopped.check(full=True) == []
    resumed = opening(embedder=HashEmbedder(32))
    assert (resumed.reembed().embedded, resumed.stats().without_vector) == (700 - 256, 0)
    assert resumed.check(full=True) == []


@weekly_on_a_server
def test_a_new_space_is_filled_in_steps_and_only_then_searched(opening, path):
    old = opening(embedder=HashEmbedder(64))
    old.remember_many(TEXTS)
    assert best(old) == TEXTS[::50]
    new = opening(embedder=Failing(32, after=2))
    seen = []

    def look(done, total):
        seen.append((done, total))
        assert old.recall(TEXTS[5], touch=False).note == ""
        assert best(old) == TEXTS[::50]  # reads go on in the old space
        assert "perdure reembed" in new.recall(TEXTS[5], touch=False).note

    with pytest.raises(EmbedderError):
        new.reembed(progress=look)
    assert seen == [(256, 700), (512, 700)]
    assert old.stats().space == new.stats().space == "hash/64/1"
    assert best(old) == TEXTS[::50]

    resumed = opening(embedder=HashEmbedder(32))
    told = resumed.reembed()
    assert (told.embedded, told.space, told.before) == (700 - 512, "hash/32/1", "hash/64/1")
    assert told.operation == resumed.history()[0].id
    for memory in (new, resumed):
        found = memory.recall(TEXTS[5], touch=False)
        assert (found.note, found.hits[0].memory.content) == ("", TEXTS[5])
        assert found.hits[0].cosine == pytest.approx(1, abs=0.02)
    assert "perdure reembed" in old.recall(TEXTS[5], touch=False).note
    assert resumed.stats().without_vector == 0
    assert resumed.reembed().embedded == 0
    assert resumed.check() == []


def test_reembedding_changes_no_memory(opening, path):
    memory = opening(embedder=HashEmbedder(64))
    memory.remember_many(TEXTS[:20])
    before = logical(path)
    opening(embedder=HashEmbedder(16)).reembed()
    after = logical(path)
    assert {**after, "vector": None} == {**before, "vector": None}
    assert len(after["vector"]) == 40


def test_vectors_of_another_space_are_refused_and_the_words_are_kept(opening, path):
    opening(embedder=HashEmbedder(64)).remember("hello world")
    other = opening(embedder=HashEmbedder(32))
    with pytest.warns(EmbedderWarning, match="reembed"):
        kept = other.remember("zebra crossing")
    assert other.recall("zebra").hits[0].memory.id == kept.id
    assert len(logical(path)["vector"]) == 1
    assert other.stats().without_vector == 1


def test_a_failing_embedder_costs_the_vector_not_the_words(opening):
    embedder = Failing(64, after=0)
    memory = opening(embedder=embedder)
    with pytest.warns(EmbedderWarning, match="endpoint is down"):
        kept = memory.remember("hello world")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # said once
        memory.remember("hello again")
    assert memory.recall("world").hits[0].memory.id == kept.id
    embedder.left = 9
    assert memory.reembed().embedded == 2
    assert memory.recall("hello world").hits[0].cosine > 0.9


def named(function):
    """A function with a name: a lambda is refused, because its vectors could not be told from another's."""

    def embed(texts):
        return function(texts)

    return embed


def test_a_lambda_is_refused_because_two_of_them_would_share_a_space(opening):
    with pytest.raises(InvalidInput, match="lambda"):
        opening(embedder=lambda texts: [[1.0] for _ in texts])


WRONG = {
    "raises": lambda _: 1 / 0,
    "too few": lambda texts: [[1.0, 2.0]] * (len(texts) - 1),
    "sizes differ": lambda texts: [[1.0] * (2 + i) for i in range(len(texts))],
    "NaN": lambda texts: [[float("nan"), 1.0] for _ in texts],
    "zeros": lambda texts: np.zeros((len(texts), 3)),
    "text": lambda _: "vectors",
    "nothing": lambda _: None,
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_function_that_returns_nonsense_costs_the_vectors_only(opening, wrong):
    memory = opening(embedder=named(WRONG[wrong]))
    with pytest.warns(EmbedderWarning):
        kept = memory.remember_many(["hello world", "good morning"])
    assert memory.recall("hello").hits[0].memory.id == kept[0].id
    assert memory.check() == []


def test_a_wrong_vector_size_never_reaches_the_file(opening, path):
    sizes = iter([3, 4, 3])
    memory = opening(embedder=named(lambda texts: [[1.0] * next(sizes) for _ in texts]))
    memory.remember("first text")
    with pytest.warns(EmbedderWarning, match="expected 3"):
        memory.remember("second text")
    assert memory.recall("second").hits
    assert len(logical(path)["vector"]) == 1


def test_a_new_process_asks_with_its_own_function_at_once(opening, path):
    def letters(texts):
        return [[t.count(c) + 0.1 for c in "abcdefghijklmnopqrstuvwxyz"] for t in texts]

    opening(embedder=letters).remember("zebra")
    second = opening(embedder=letters)
    assert second.recall("arbez").note == ""
    third = opening(embedder=letters)
    assert third.reembed().embedded == 0


def test_without_an_embedder_there_is_nothing_to_reembed_with(memory, path):
    memory.remember("hello")
    before = tables(path)
    with pytest.raises(EmbedderError):
        memory.reembed()
    assert tables(path) == before


def test_the_real_model_finds_by_meaning(opening):
    pytest.importorskip("perdure_embedder")
    memory = opening({})
    kept = memory.remember("We roll out new versions every Tuesday morning.")
    memory.remember("Alice prefers green tea.")
    found = memory.recall("When is software released?")
    assert found.hits[0].memory.id == kept.id
    assert found.note == ""


class Before(HashEmbedder):
    """Stands for the model that came with the package before: other vectors of the same length, another space."""

    def __init__(self):
        super().__init__(384)
        self.space = Space("all-MiniLM-L6-v2-int8", 384, "8199be6f699a-mean-256-wordpiece1")


def test_a_store_of_the_model_before_is_read_on_and_moves_with_one_command(opening):
    pytest.importorskip("perdure_embedder")
    old = opening({}, embedder=Before())
    kept = old.remember("We roll out new versions every Tuesday morning.")
    old.remember("Alice prefers green tea.")

    new = opening({})
    found = new.recall("When do we roll out versions?")
    assert found.hits[0].memory.id == kept.id
    assert "perdure reembed" in found.note
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EmbedderWarning)
        new.remember("The office is closed on Fridays.")

    told = new.reembed()
    assert (told.before, told.space) == (Before().space.name, LocalEmbedder().space.name)
    moved = new.recall("When is software released?")
    assert (moved.hits[0].memory.id, moved.note) == (kept.id, "")
    assert new.stats().without_vector == 0


@pytest.mark.parametrize("which", ["last", "its id"])
def test_new_vectors_are_not_taken_back(opening, which):
    """An undo was accepted and left no vectors that a search could use."""
    old = opening(embedder=HashEmbedder(64))
    old.remember_many(TEXTS[:20])
    new = opening(embedder=HashEmbedder(32))
    (operation,) = new.reembed().operations
    with pytest.raises(InvalidInput, match="made the vectors that searches use") as refused:
        new.undo("last" if which == "last" else operation)
    assert "`perdure reembed`" in refused.value.remedy
    assert new.stats().without_vector == 0
    old = opening(embedder=HashEmbedder(64))
    assert (old.reembed().space, old.stats().without_vector) == ("hash/64/1", 0)
    assert old.recall(TEXTS[3], limit=1).hits[0].memory.content == TEXTS[3]
    assert new.check(full=True) == []
