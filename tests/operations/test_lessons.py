"""Whether two values that contradict each other both hold: what a person answers."""

from __future__ import annotations

import pytest

from conftest import WORDS_ONLY, logical
from perdure.records.errors import InvalidInput

KNOWLEDGE = {**WORDS_ONLY, "preset": "facts"}


@pytest.fixture
def memory(opening):
    return opening(KNOWLEDGE)


@pytest.fixture
def say(memory, clock):
    """Take in a person's messages, a day apart, each in a session of its own: a gap that no rule decides."""

    def each(*texts, speaker="user"):
        for text in texts:
            clock.passes(days=1)
            message = {"content": text, "speaker": speaker, "at": clock().isoformat()}
            memory.ingest([message], session=f"{speaker} {clock():%j}")

    return each


def drink(what):
    return f"My favorite drink is {what}."


def values(memory, predicate="favorite_drink", subject=None):
    """(entity, value) -> whether it is contested, of what is believed."""
    found = memory.facts(predicate=predicate)
    return {(f.subject, f.value): bool(f.contested) for f in found if subject in (None, f.subject)}


def contested(memory, say, *values, speaker="user"):
    """Two values that contradict each other; the id of the newer."""
    say(*(drink(v) for v in values), speaker=speaker)
    return next(q.id for q in memory.review(limit=100))


@pytest.mark.behaviour("LE-lessons-1")
def test_both_closes_the_question_and_keeps_both(memory, say):
    newer = contested(memory, say, "tea", "coffee")
    (question,) = memory.review()
    assert len(question.against) == 1
    assert "tea" in question.question
    assert "coffee" in question.question
    kept = memory.both(newer)
    assert values(memory) == {("user", "tea"): False, ("user", "coffee"): False}
    assert memory.review() == []
    assert kept.memory.confidence == pytest.approx(0.62)
    (clash,) = memory.why(newer).fact.conflicts
    assert clash.outcome == "both"
    assert memory.history(limit=1)[0].operation == "both"


@pytest.mark.behaviour("LE-lessons-2")
def test_who_has_several_may_get_more_and_others_are_still_asked(memory, say):
    memory.both(contested(memory, say, "tea", "coffee"))
    say(drink("water"))
    assert values(memory) == {("user", v): False for v in ("tea", "coffee", "water")}
    say(drink("cider"))
    assert set(values(memory).values()) == {False}
    say(drink("juice"), drink("milk"), speaker="Ana")
    assert set(values(memory, subject="ana").values()) == {True}


def test_who_replaces_one_of_several_may_still_get_more(memory, say):
    say("Remember that I drink tea.", "I drink coffee instead of tea.", "Remember that I drink water.")
    assert values(memory, "drink") == {("user", "coffee"): False, ("user", "water"): False}


@pytest.mark.behaviour("LE-lessons-7")
@pytest.mark.parametrize("where", ["shipped", "own"])
def test_what_a_table_names_no_answer_changes(opening, clock, tmp_path, where):
    file = tmp_path / "knowledge.toml"
    file.write_text("[predicates.favorite_drink]\nsort = 'preference'\nmany = false\n")
    own = {"file": str(file)} if where == "own" else {}
    memory = opening({**KNOWLEDGE, "knowledge": own})
    said = drink if where == "own" else "I live in {}.".format
    predicate = "favorite_drink" if where == "own" else "home"

    def say(*names):
        for name in names:
            clock.passes(days=1)
            memory.ingest([{"content": said(name), "at": clock().isoformat()}], session=name)

    say("Berlin", "Lyon")
    memory.both(memory.review()[0].id)
    assert values(memory, predicate) == {("user", "Berlin"): False, ("user", "Lyon"): False}
    say("Oslo")
    assert values(memory, predicate)["user", "Oslo"]


@pytest.mark.behaviour("LE-lessons-8")
def test_a_correction_still_replaces_the_one_that_it_names(memory, say):
    memory.both(contested(memory, say, "tea", "coffee"))
    say("Actually, my favorite drink is coffee, not tea.")
    assert values(memory) == {("user", "coffee"): False}
    (was,) = (f for f in memory.facts(past=True) if f.value == "tea")
    assert (was.state, len(was.superseded_by)) == ("superseded", 1)


def test_three_values_are_kept_by_one_answer(memory, say):
    say(drink("tea"), drink("coffee"), drink("water"))
    memory.both(next(f.id for f in memory.facts(predicate="favorite_drink") if f.value == "water"))
    assert set(values(memory).values()) == {False}
    assert len(values(memory)) == 3
    assert memory.review(limit=100) == []


@pytest.mark.behaviour("LE-lessons-9")
def test_both_is_taken_back_row_for_row(memory, say, path):
    newer = contested(memory, say, "tea", "coffee")
    before = logical(path)
    memory.both(newer)
    assert logical(path) != before
    memory.undo(memory.history(limit=1)[0].id)
    assert logical(path) == before
    assert len(memory.review()) == 1


def test_both_needs_something_that_contradicts(memory, say):
    say(drink("tea"))
    (fact,) = memory.facts(predicate="favorite_drink")
    with pytest.raises(InvalidInput, match="contradicts"):
        memory.both(fact.id)
    with pytest.raises(InvalidInput, match="contradicts"):
        memory.both(memory.list(kinds=["episode"])[0].id)
