"""Predicates near in meaning: a question to a person, once for each pair; never a decision."""

from __future__ import annotations

import numpy as np
import pytest

from conftest import WORDS_ONLY, HashEmbedder, logical
from perdure.compose_models import EmbedderWarning
from perdure.records.errors import EmbedderError, InvalidInput, NotFound

KNOWLEDGE = {**WORDS_ONLY, "preset": "facts"}


ALIKE = {"beverage": "drink", "tipple": "drink", "refreshment": "drink", "film": "movie", "picture": "movie"}


class Meaning(HashEmbedder):
    """Words of one meaning have one direction: beverage is drink, film is movie. What was embedded is counted."""

    def __init__(self):
        super().__init__()
        self.asked, self.broken = [], False

    def embed(self, texts, *, purpose):
        named = [t for t in texts if t.startswith("favorite ")]
        if self.broken and named:
            raise EmbedderError("The model is gone.", remedy="Bring it back.")
        self.asked += [named] if named else []
        said = [" ".join(ALIKE.get(w, w) for w in t.lower().split()) for t in texts]
        return super().embed(said, purpose=purpose)


@pytest.fixture
def embedder():
    return Meaning()


@pytest.fixture
def memory(opening, embedder):
    return opening(KNOWLEDGE, embedder)


@pytest.fixture
def say(memory, clock):
    def each(*texts, speaker="user"):
        for text in texts:
            clock.passes(minutes=1)
            memory.ingest([{"content": text, "speaker": speaker, "at": clock().isoformat()}], session=speaker)

    return each


def asked(memory):
    return [q.same for q in memory.review(limit=100) if q.same]


def told(memory, predicate="favorite_drink"):
    return {(f.value, bool(f.contested)) for f in memory.facts() if f.predicate == predicate}


def question(memory):
    return next(q for q in memory.review(limit=100) if q.same)


@pytest.mark.behaviour("LE-synonyms-1")
def test_two_names_of_one_meaning_are_asked_about_and_nothing_is_decided(memory, say):
    say("My favorite drink is tea.", "My favorite color is red.", "My favorite beverage is coffee.")
    (one,) = (q for q in memory.review(limit=100) if q.same)
    assert one.same == ("favorite_beverage", "favorite_drink")
    assert "'favorite beverage' and 'favorite drink'" in one.question
    assert "tea" in one.question
    assert "coffee" in one.question
    assert "1.00" in one.why
    assert told(memory) == {("tea", False)}
    assert told(memory, "favorite_beverage") == {("coffee", False)}
    (pair,) = memory.rates().alike
    assert (pair.goes, pair.stays, pair.said) == ("favorite_beverage", "favorite_drink", "open")


@pytest.mark.behaviour("LE-synonyms-2")
def test_yes_gives_all_facts_the_one_name_now_and_later(memory, say):
    say("My favorite drink is tea.", "My favorite beverage is coffee.")
    say("My favorite beverage is cola.", speaker="Ana")
    memory.same(question(memory).id)
    assert asked(memory) == []
    assert told(memory, "favorite_beverage") == set()
    assert told(memory) == {("tea", True), ("coffee", True), ("cola", False)}
    say("My favorite beverage is gin.", speaker="Bob")
    assert ("gin", False) in told(memory)
    assert {f.value for f in memory.facts(predicate="favorite beverage")} == {"tea", "coffee", "cola", "gin"}
    assert memory.rates().alike[0].said == "same"


def test_equal_values_become_one_fact(memory, say):
    say("My favorite drink is tea.", "My favorite beverage is tea.")
    memory.same(question(memory).id)
    assert told(memory) == {("tea", False)}
    say("My favorite beverage is tea.")
    (fact,) = memory.facts(predicate="favorite_drink")
    assert fact.confirmations == 2


@pytest.mark.behaviour("LE-synonyms-3")
def test_no_is_remembered(memory, say):
    say("My favorite drink is tea.", "My favorite beverage is coffee.")
    memory.same(question(memory).id, yes=False)
    assert asked(memory) == []
    say("My favorite beverage is cola.", "My favorite drink is milk.", speaker="Ana")
    assert asked(memory) == []
    assert told(memory, "favorite_beverage") == {("coffee", False), ("cola", False)}
    assert memory.rates().alike[0].said == "different"


@pytest.mark.behaviour("LE-synonyms-4")
def test_a_pair_is_asked_about_once_whoever_says_it_and_in_whatever_order(memory, say):
    say("My favorite drink is tea.", "My favorite beverage is coffee.")
    say("My favorite beverage is cola.", "My favorite drink is milk.", speaker="Ana")
    say("My favorite drink is rum.", "My favorite beverage is gin.", speaker="Bob")
    assert asked(memory) == [("favorite_beverage", "favorite_drink")]


@pytest.mark.behaviour("LE-synonyms-5")
def test_few_questions_are_open_at_a_time(memory, say):
    names = ("drink", "movie", *ALIKE)
    for name, value in zip(names, ("tea", "rum", "gin", "milk", "cola", "ale", "port"), strict=True):
        say(f"My favorite {name} is {value}.")
    assert len(asked(memory)) == 3
    memory.same(question(memory).id, yes=False)
    assert len(asked(memory)) == 2


def test_a_question_about_what_is_not_believed_any_longer_rests_and_may_be_asked_of_others(memory, say):
    say("My favorite drink is tea.", "My favorite beverage is coffee.")
    memory.deny(question(memory).id)
    assert asked(memory) == []
    say("My favorite drink is rum.", "My favorite beverage is gin.", speaker="Bob")
    assert asked(memory) == [("favorite_beverage", "favorite_drink")]
    assert "gin" in question(memory).question


def test_names_far_in_meaning_values_of_other_sorts_and_what_a_table_has_are_not_asked_about(memory, say):
    say("My favorite drink is tea.", "My favorite movie is Alien.")
    say("My favorite beverage is 7.", speaker="Ana")
    say("My favorite drink is rum.", speaker="Ana")
    assert asked(memory) == []


@pytest.mark.behaviour("LE-synonyms-6")
def test_without_vectors_nothing_is_asked(opening, clock):
    memory = opening(KNOWLEDGE)
    for text in ("My favorite drink is tea.", "My favorite beverage is coffee."):
        clock.passes(minutes=1)
        memory.ingest([{"content": text}], session="s")
    assert asked(memory) == []
    assert memory.rates().alike == ()


@pytest.mark.behaviour("LE-synonyms-7")
def test_each_name_is_embedded_once_and_all_that_are_new_at_once(memory, say, embedder):
    say("My favorite drink is tea.", "My favorite movie is Alien.", "My favorite color is red.")
    count = sum(map(len, embedder.asked))
    say("My favorite drink is rum.", "My favorite movie is Jaws.", "My favorite color is blue.", speaker="Ana")
    say("My favorite drink is tea.", "My favorite drink is tea.")
    assert sum(map(len, embedder.asked)) == count == 3
    memory.ingest([{"content": f"My favorite {w} is tea."} for w in ("meal", "fruit", "soup")], session="b")
    assert len(embedder.asked[-1]) == 3


def test_a_broken_embedder_asks_nothing_and_learns_all_the_same(memory, say, embedder):
    say("My favorite drink is tea.")
    embedder.broken = True
    with pytest.warns(EmbedderWarning, match="which predicates are the same"):
        say("My favorite beverage is coffee.")
    assert asked(memory) == []
    assert told(memory, "favorite_beverage") == {("coffee", False)}


@pytest.mark.behaviour("LE-synonyms-8")
@pytest.mark.parametrize("yes", [True, False])
@pytest.mark.parametrize("value", ["tea", "coffee"])
def test_an_answer_is_taken_back_row_for_row(memory, say, path, yes, value):
    say("My favorite drink is tea.", f"My favorite beverage is {value}.")
    before = logical(path)
    memory.same(question(memory).id, yes=yes)
    assert logical(path) != before
    memory.undo(memory.history(namespace="default", limit=1)[0].id)
    assert logical(path) == before
    assert len(asked(memory)) == 1


def test_a_question_is_taken_back_with_its_message(memory, say, clock, path):
    say("My favorite drink is tea.")
    before = logical(path)
    done = memory.ingest([{"content": "My favorite beverage is coffee."}], session="user")
    assert len(asked(memory)) == 1
    for operation in reversed(done.operations):
        memory.undo(operation)
    assert logical(path) == before


def test_an_answer_needs_its_question(memory, say):
    say("My favorite drink is tea.")
    (fact,) = memory.facts(predicate="favorite_drink")
    with pytest.raises(NotFound, match="no open question"):
        memory.same(fact.id)
    with pytest.raises(InvalidInput, match="yes"):
        memory.same(fact.id, yes="perhaps")


def test_the_policy_says_how_alike(opening, clock):
    """Of two words one is shared: about one half, and less than any bound that a policy may set is not asked."""

    class Half(HashEmbedder):
        def embed(self, texts, *, purpose):
            rows = super().embed(texts, purpose=purpose)
            near = {"favorite drink": 0.0, "favorite soup": 0.5}
            angle = [near.get(t) for t in texts]
            flat = [np.zeros(64, "<f4") for _ in texts]
            for row, a in zip(flat, angle, strict=True):
                if a is not None:
                    row[:2] = (np.cos(a), np.sin(a))  # 0.878 between the two
            return [r if a is None else f.tobytes() for r, f, a in zip(rows, flat, angle, strict=True)]

    found = {}
    for bound in (0.85, 0.9):
        memory = opening({**KNOWLEDGE, "knowledge": {"synonym_at": bound}}, Half(), at=":memory:")
        for text in ("My favorite drink is tea.", "My favorite soup is miso."):
            clock.passes(minutes=1)
            memory.ingest([{"content": text}], session="s")
        found[bound] = len(asked(memory))
    assert found == {0.85: 1, 0.9: 0}
