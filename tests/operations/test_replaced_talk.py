"""Recall of a message that says a fact which was noted apart from it, and which another replaced since."""

from __future__ import annotations

import pytest

from conftest import WORDS_ONLY

FREE, QUESTION = "I am on the Free plan", "Which plan am I on?"


def plan(value, **more):
    return {"subject": "user", "predicate": "plan", "value": value, **more}


def noted_as_a_fact(memory):
    memory.learn(claims=[plan("Free")])
    (fact,) = memory.facts("user")
    return fact.id


def noted_in_a_note(memory):
    return memory.remember("The user is on the Free plan.", facts=[plan("Free")]).id


def corrected(memory, old):
    memory.correct(old, "Pro")


def handed_over(memory, _old):
    memory.learn(claims=[plan("Pro", replaces="Free")])


def updated(memory, old):
    memory.update(old, "The user is on the Pro plan.", facts=[plan("Pro")])


def hit_of(memory, content, **asked):
    [hit] = [h for h in memory.recall(QUESTION, **asked).hits if h.memory.content == content]
    return hit


@pytest.fixture(params=[{}, {"preset": "facts"}], ids=["default", "facts"])
def memory(opening, request):
    return opening({**WORDS_ONLY, **request.param})


@pytest.mark.parametrize(
    ("noted", "replaced"),
    [(noted_as_a_fact, corrected), (noted_as_a_fact, handed_over), (noted_in_a_note, updated)],
    ids=["corrected", "handed-over", "updated"],
)
def test_recall_marks_a_message_whose_fact_was_noted_apart_from_it_and_replaced(memory, clock, noted, replaced):
    memory.ingest([{"content": FREE, "role": "user", "session": "a"}])
    clock.passes(minutes=2)
    old = noted(memory)
    assert (hit_of(memory, FREE).updated_by, hit_of(memory, FREE).over) == (None, ())
    clock.passes(days=3)
    replaced(memory, old)
    [fact] = memory.facts("user")
    hit = hit_of(memory, FREE)
    assert (hit.updated_by, [one.content for one in hit.over]) == (fact.id, ["plan: Free"])
    assert memory.recall(QUESTION).hits[-1].memory.content == FREE, "what holds stands before it"
    memory.undo(memory.history()[0].id)
    assert (hit_of(memory, FREE).updated_by, hit_of(memory, FREE).over) == (None, ())


def test_a_message_that_says_more_is_marked_and_keeps_its_worth(memory, clock):
    said = "I am on the Free plan. My dog Bruno needs a sitter for the weekend in Genoa"
    memory.ingest([{"content": said, "role": "user", "session": "a"}])
    noted_as_a_fact(memory)
    clock.passes(days=3)
    handed_over(memory, None)
    hit = hit_of(memory, said)
    assert (hit.updated_by, [one.content for one in hit.over]) == (None, ["plan: Free"])


def test_what_was_said_hours_before_or_after_the_change_is_left_alone(memory, clock):
    earlier, later = "Last year I was on the Free plan as well", "I am on the Free plan again"
    memory.ingest([{"content": earlier, "role": "user", "session": "a"}])
    clock.passes(hours=5)
    noted_as_a_fact(memory)
    clock.passes(days=3)
    handed_over(memory, None)
    clock.passes(days=3)
    memory.ingest([{"content": later, "role": "user", "session": "b"}])
    assert [hit_of(memory, said).over for said in (earlier, later)] == [(), ()]


def test_a_question_about_the_time_before_the_change_shows_the_message_unmarked(memory, clock):
    memory.ingest([{"content": FREE, "role": "user", "session": "a"}])
    noted_as_a_fact(memory)
    clock.passes(days=1)
    then = clock()
    clock.passes(days=3)
    handed_over(memory, None)
    assert hit_of(memory, FREE, known_at=then).over == ()
