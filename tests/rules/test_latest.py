"""The latest value of what is asked for comes first: stories with a question, and laws over every order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.records.memory import Kind, Status
from perdure.records.recall import Hit
from perdure.rules.updates.recency_ranking import latest_first
from rules.builders import DAY, START, memory

ZOTERO = (
    "I have 45 sources in my Zotero library for the thesis.",
    "By now there are 52 sources in my Zotero library for the thesis.",
)
ASKED = "How many sources are in my Zotero library?"


def hits(*told, **fixed):
    """Hits in this order: (day on which it was said, words, speaker)."""
    return [
        Hit(
            memory(f"m{place}", words, speaker=speaker, kind=Kind.EPISODE, created_ms=START + day * DAY, **fixed),
            0.9,
            {},
        )
        for place, (day, words, speaker) in enumerate(told)
    ]


def order(found):
    return [hit.memory.id for hit in found]


OLD, NEW, OTHER = (1, ZOTERO[0], "user"), (9, ZOTERO[1], "user"), (5, "The weather is fine.", "user")


def test_a_later_value_stands_directly_before_the_earlier_one():
    assert order(latest_first(hits(OTHER, OLD, NEW), ASKED)) == ["m0", "m2", "m1"]


def test_of_three_values_the_latest_stands_first():
    middle = (5, "There are 48 sources in my Zotero library for the thesis.", "user")
    assert order(latest_first(hits(OLD, middle, NEW), ASKED)) == ["m2", "m1", "m0"]


def test_what_was_said_again_last_stands_before_a_value_between():
    again = (9, ZOTERO[0], "user")
    between = (5, ZOTERO[1], "user")
    assert order(latest_first(hits(OLD, again, between), ASKED)) == ["m1", "m2", "m0"]


@pytest.mark.behaviour("UP20")
@pytest.mark.parametrize(
    "question",
    [
        "How many sources did I first have in my Zotero library?",
        "How many more sources are in my Zotero library than before?",
        "How did the number of sources in my Zotero library change between spring and autumn?",
        "What is in my Zotero library?",
        "How is the weather?",
        "",
        "?",
    ],
)
def test_a_question_that_looks_back_or_names_no_measure_changes_nothing(question):
    assert order(latest_first(hits(OLD, NEW, OTHER), question)) == ["m0", "m1", "m2"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (OLD, (9, ZOTERO[1], "assistant")),
        (OLD, (9, ZOTERO[1], "Ann")),
        (OLD, (9, ZOTERO[0], "user")),
        (OLD, (9, "There are 52 books in the Zotero library.", "user")),
        (OLD, (9, "There are 52 sources.", "user")),
        (OLD, (9, "Her Zotero library? Ann has 52 euros for it.", "user")),
        ((9, ZOTERO[0], "user"), (1, ZOTERO[1], "user")),
        ((1, "My budget for books is $50 a month.", "user"), (9, "My budget for books is $600 a year.", "user")),
        ((1, "My grocery budget is $500.", "user"), (9, "My holiday budget is $900, and food is extra.", "user")),
    ],
)
def test_another_person_measure_period_or_an_earlier_day_changes_nothing(one, other):
    question = ASKED if "budget" not in one[1] else "What is my budget for books or grocery?"
    assert order(latest_first(hits(one, other), question)) == ["m0", "m1"]


@pytest.mark.parametrize("fixed", [{"status": Status.INVALIDATED}, {"status": Status.SUPERSEDED}])
def test_what_was_taken_back_goes_before_nothing(fixed):
    (old,), (new,) = (
        hits(OLD),
        [Hit(memory("late", ZOTERO[1], kind=Kind.EPISODE, created_ms=START + DAY, **fixed), 0.9, {})],
    )
    assert order(latest_first([old, new], ASKED)) == ["m0", "late"]


SENTENCES = st.sampled_from(
    [*ZOTERO, "There are 48 sources in my Zotero library.", "My rent is $900.", "My rent is $950 now.", "Hello!", ""]
)


@given(
    st.lists(st.tuples(st.integers(0, 30), SENTENCES, st.sampled_from(["user", "assistant", "Ann"])), max_size=12),
    st.sampled_from([ASKED, "What is my rent?", "How is the weather?", ""]),
)
def test_the_same_hits_are_returned_and_a_second_look_changes_nothing(told, question):
    before = hits(*told)
    after = latest_first(before, question)
    assert sorted(order(after)) == sorted(order(before))
    assert {h.memory.id: h.score for h in after} == {h.memory.id: h.score for h in before}
    assert order(latest_first(after, question)) == order(after)
