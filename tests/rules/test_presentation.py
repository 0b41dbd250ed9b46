"""Which hits are about one thing, and the order and links that follow; laws over all answers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import every
from perdure.formulas.changes import DIFFERENCE_BY_WORDS, ORDER, pair_chances
from perdure.records.memory import Kind, Status
from perdure.records.recall import Hit
from perdure.rules.differences import LONGEST, differ, statements
from perdure.rules.language.words import may_answer
from perdure.rules.presentation import (
    BOUNDS,
    arrange_hits,
    compare_hits,
    may_differ,
    may_stand_first,
    newest_first,
)
from rules.builders import DAY, START, memory

DIFFERENT = [
    ("My rent is $1,200 a month.", "My rent was raised to $1,300 a month."),
    ("I have 45 sources in Zotero.", "There are 52 sources in Zotero by now."),
    ("The API answers in 300ms.", "The API answers in 250ms."),
    ("Meine Miete beträgt 900 Euro.", "Die Miete beträgt jetzt 950 Euro."),
    ("Mi presupuesto es de 500 euros.", "El presupuesto subió a 550 euros."),
    ("I visited Rome in May.", "I've never visited Rome."),
    ("Ich habe Berlin im Mai besucht.", "Ich habe Berlin nie besucht."),
]
SAME = [
    ("My rent is $1,200 a month.", "My rent of $1200 a month is high."),
    ("I have 3 cats.", "I have 2 dogs."),
    ("The party is on May 3.", "The exam is on May 10."),
    ("I visited Rome.", "I've never visited Paris."),
    ("I like tea.", "I like coffee."),
    ("```\nrent = 5 euros\n```", "My rent is 6 euros."),
    ("", "My rent is 6 euros."),
]


@every(DIFFERENT)
def test_another_number_beside_the_same_word_and_a_denial_differ(one, other):
    assert differ(statements(one), statements(other))
    assert differ(statements(other), statements(one))


@every(SAME)
def test_other_things_and_the_same_number_do_not_differ(one, other):
    assert not differ(statements(one), statements(other))


@given(st.text(max_size=200))
def test_a_text_gives_no_other_numbers_than_itself(text):
    found = statements(text).numbers
    assert all(numbers for numbers in found.values())
    assert statements(text + " " * LONGEST + "7 cats").numbers == found


def hits(*told, **fixed):
    """Return hits in this order, of (day, words) or (day, words, speaker)."""
    made = []
    for place, (day, text, *speaker) in enumerate(told):
        values = {"kind": Kind.EPISODE, "speaker": speaker[0] if speaker else "user", **fixed}
        made.append(Hit(memory(f"m{place:02}", text, created_ms=START + day * DAY, **values), 1 - place / 100, {}))
    return made


def order(found):
    return [int(hit.memory.id[1:]) for hit in found]


RENT = [(1, "My rent is $900."), (2, "The cat sleeps."), (5, "My rent is $1,000."), (3, "My rent is $950.")]
ASKED = "What is my rent?"


@pytest.mark.behaviour("UP25")
def test_a_group_shares_its_places_newest_first_and_others_keep_theirs():
    found = newest_first(hits(*RENT), ASKED)
    assert order(found) == [2, 1, 3, 0]
    assert [(h.newer, h.older) for h in found] == [
        ((), ("m03", "m00")),
        ((), ()),
        (("m02",), ("m00",)),
        (("m02", "m03"), ()),
    ]


@pytest.mark.behaviour("UP20")
@pytest.mark.parametrize(
    "question",
    [
        "What was my rent before?",
        "What was my first rent?",
        "What was my rent originally?",
        "What was my initial rent?",
    ],
)
def test_a_question_that_asks_for_the_past_keeps_the_order_and_shows_the_links(question):
    found = newest_first(hits(*RENT), question)
    assert order(found) == [0, 1, 2, 3]
    assert found[0].newer == ("m02", "m03")


@pytest.mark.behaviour("UP26")
@pytest.mark.parametrize(
    "fixed", [{"speaker": "assistant"}, {"kind": Kind.FACT}, {"kind": Kind.SUMMARY}, {"status": Status.INVALIDATED}]
)
def test_only_what_people_say_and_still_stands_is_compared(fixed):
    assert order(newest_first(hits(*RENT, **fixed), ASKED)) == [0, 1, 2, 3]


def test_another_number_is_a_difference_and_another_word_is_none_however_near_the_texts_are():
    vectors = {"m00": vector(1, 0), "m01": vector(0.9, 0.44)}
    rents = hits((1, "My rent is $900 a month."), (4, "The rent is $950 a month."))
    homes = hits((1, "I live in Rome."), (4, "I live in Paris."))
    assert [h.differs for h in newest_first(rents, ASKED, vectors)] == [("m00",), ("m01",)]
    assert [h.differs for h in newest_first(homes, "Where do I live?", vectors)] == [(), ()]


def test_what_the_question_does_not_ask_about_is_marked_less_readily():
    told = [(1, "My rent is $900 a month."), (4, "In May the rent for the garage was $950 a month.")]
    vectors = {"m00": vector(1, 0), "m01": vector(0.3, 0.95)}
    assert any(h.differs for h in newest_first(hits(*told), ASKED, vectors))
    assert not any(h.differs for h in newest_first(hits(*told), "Who feeds the cat?", vectors))


@pytest.mark.parametrize(("kind", "first"), [(Kind.NOTE, 0), (Kind.EPISODE, 1)])
def test_what_hardly_answers_takes_the_place_of_no_note(kind, first):
    said, later = hits((1, "My rent is $900 a month."), (5, "My rent is $1,000 a month now."), kind=kind)
    for likely, at in ((0.04, first), (0.5, 1)):
        found = newest_first([replace(said, relevance=0.7), replace(later, relevance=likely)], ASKED)
        assert order(found)[0] == at


@pytest.mark.parametrize(("question", "first"), [("What is the rent of Anna Berg?", 0), (ASKED, 1)])
def test_a_note_about_somebody_else_takes_the_place_of_none_that_is_asked_for_by_name(question, first):
    told = (1, "The rent of Anna Berg is $900 a month."), (5, "The rent of Tom Vik is $1,000 a month now.")
    assert order(newest_first(hits(*told, kind=Kind.NOTE), question))[0] == first


def vector(*values):
    return np.array(values, "<f4").tobytes()


def test_a_difference_far_down_is_marked_but_moves_nothing():
    other = [(1, f"The cat sleeps in basket number {n}.", "Ann" if n % 2 else "Ben") for n in range(BOUNDS.among)]
    made = hits(*other, (1, "My rent is $900 a month."), (5, "My rent was raised to $1,000 a month."))
    found = newest_first(made, ASKED)
    assert order(found) == order(made)
    assert [h.differs for h in found[-2:]] == [("m05",), ("m04",)]


@pytest.mark.behaviour("UP5")
def test_two_people_are_not_compared():
    found = newest_first(hits((1, "My rent is $900.", "Ann"), (2, "My rent is $1,000.", "Ben")), ASKED)
    assert [(h.memory.speaker, h.newer) for h in found] == [("Ann", ()), ("Ben", ())]


SENTENCES = st.sampled_from([*(text for pair in DIFFERENT + SAME for text in pair), "Hello!"])


@pytest.mark.behaviour("UP7")
@given(
    st.lists(st.tuples(st.integers(0, 30), SENTENCES, st.sampled_from(["user", "assistant", "Ann"])), max_size=12),
    st.sampled_from([ASKED, "What was my rent before?", ""]),
)
def test_the_same_hits_are_returned_links_go_both_ways_and_a_second_look_changes_nothing(told, question):
    before = hits(*told)
    after = newest_first(before, question)
    assert sorted(order(after)) == sorted(order(before))
    assert order(after)[BOUNDS.among :] == order(before)[BOUNDS.among :]
    assert {h.memory.id: h.score for h in after} == {h.memory.id: h.score for h in before}
    by_id = {h.memory.id: h for h in after}
    for hit in after:
        assert all(hit.memory.id in by_id[i].older for i in hit.newer)
        assert all(hit.memory.id in by_id[i].differs for i in hit.differs)
        assert set(hit.differs) <= {*hit.newer, *hit.older}
    assert newest_first(after, question) == after


@given(
    st.lists(st.tuples(st.integers(0, 30), SENTENCES, st.sampled_from(["user", "assistant", "Ann"])), max_size=12),
    st.sampled_from([ASKED, "What was my rent before?", ""]),
)
def test_pairs_whose_chances_are_not_computed_would_change_nothing(told, question):
    made = hits(*told)
    pairs, signals = compare_hits(made[: BOUNDS.compared], question, {})
    chances = pair_chances(ORDER, signals), pair_chances(DIFFERENCE_BY_WORDS, signals)
    newer, differing = set(), set()
    for pair, row, order, difference in zip(pairs, signals, *chances, strict=True):
        if order >= BOUNDS.newer and max(pair) < BOUNDS.among and may_stand_first(row):
            newer.add(pair)
        of_people = all(may_answer(made[at].memory.speaker) for at in pair)
        if difference >= BOUNDS.differs and may_differ(row) and of_people:
            differing.add(pair)
    assert newest_first(made, question) == arrange_hits(made, question, newer, differing)
