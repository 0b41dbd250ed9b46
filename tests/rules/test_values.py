"""Values: which words mean the same."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import every
from perdure.knowledge.extraction.dates import dates_in
from perdure.knowledge.extraction.values import same_value, value_of
from perdure.knowledge.records.facts import ValueKind
from perdure.records.instant import to_instant

SAID = to_instant(datetime(2024, 6, 5, 15, 30, tzinfo=UTC))  # a Wednesday
SAME = [
    ("Friday", "Fridays"),
    ("friday", "FRIDAY."),
    ("$1,350", "1350 dollars"),
    ("$1,350", "1.35k usd"),
    ("1 350€".replace(" ", ""), "1350 euros"),
    ("NET30", "NET 30"),
    ("NET30", "net-30"),
    ("250ms", "0.25 seconds"),
    ("1,200 words per week", "1200 words weekly"),
    ("1,200 words/week", "1200 words a week"),
    ("95%", "95 percent"),
    ("5kg", "5,000 g"),
    ("2 hours", "120 minutes"),
    ("three cats", "3 cats"),
    ("April 25", "2024-04-25"),
    ("10 May 2024", "May 10th, 2024"),
    ("last month", "2024-05-01"),
    ("next Tuesday", "11 June 2024"),
    ("yes", "True"),
    ("the blue car", "Blue cars"),
    ('"Dune"', "dune"),
]
DIFFERENT = [
    ("Friday", "Thursday"),
    ("$50", "50 euros"),
    ("$50", "$500"),
    ("1.5", "15"),
    ("-5", "5"),
    ("10 books", "10 films"),
    ("10 books a week", "10 books a month"),
    ("C", "C++"),
    ("C++", "C#"),
    ("NET30", "NET 60"),
    ("v1.2", "v12"),
    ("yes", "no"),
    ("April 25", "April 26"),
    ("ab@example.com", "a.b@example.com"),
    ("10 to 12", "1012"),
]
DATES = {
    "last month": "2024-05-01",
    "next month": "2024-07-01",
    "this month": "2024-06-01",
    "last week": "2024-05-27",
    "next Tuesday": "2024-06-11",
    "last Friday": "2024-05-31",
    "next Wednesday": "2024-06-12",
    "this Friday": "2024-06-07",
    "yesterday": "2024-06-04",
    "tomorrow": "2024-06-06",
    "the day before yesterday": "2024-06-03",
    "two weeks ago": "2024-05-22",
    "a couple of days ago": "2024-06-03",
    "in 3 days": "2024-06-08",
    "a month ago": "2024-05-01",
    "April 25": "2024-04-25",
    "25th of April": "2024-04-25",
    "December 20": "2023-12-20",
    "May 10, 2023": "2023-05-10",
    "13/05/2024": "2024-05-13",
    "last year": "2023-01-01",
    "last May": "2024-05-01",
    "last June": "2023-06-01",
    "next June": "2025-06-01",
}


@pytest.mark.behaviour("CL13", "002-stage-3-equal")
@every(SAME)
def test_words_that_mean_the_same_have_one_normal_form(one, other):
    assert value_of(one, SAID).norm == value_of(other, SAID).norm
    assert same_value(value_of(one, SAID), value_of(other, SAID))


@every(DIFFERENT)
def test_words_that_mean_something_else_differ(one, other):
    assert not same_value(value_of(one, SAID), value_of(other, SAID))


@pytest.mark.behaviour("CL14")
@every(DATES.items())
def test_a_day_is_read_against_the_time_of_the_message(text, day):
    value = value_of(text, SAID)
    assert (value.kind, value.norm) == (ValueKind.DATE, day)
    assert value.at == to_instant(datetime.fromisoformat(day).replace(tzinfo=UTC))


@every(["10/05/2024", "February 30", "April 25,000", "2024-13-01", "Friday", "in May be"])
def test_what_is_no_single_day_is_no_date(text):
    assert value_of(text, SAID).kind is not ValueKind.DATE


def test_a_number_keeps_its_unit():
    value = value_of("1,200 words per week", SAID)
    assert (value.kind, value.number, value.unit) == (ValueKind.NUMBER, 1200.0, "word/week")
    assert value.text == "1,200 words per week"


@pytest.mark.parametrize(("year", "text"), [(2, "999 years ago"), (9998, "in 999 years")])
def test_a_day_beyond_the_calendar_is_none(year, text):
    said = to_instant(datetime(year, 1, 1, tzinfo=UTC))
    assert list(dates_in(text, said)) == []
    assert value_of(text, said).kind is not ValueKind.DATE


SOME = st.one_of(
    st.text(max_size=60),
    st.lists(
        st.sampled_from(
            [
                "the",
                "a",
                "5",
                "05",
                "1,350",
                "$",
                "€",
                "k",
                "usd",
                "%",
                "words",
                "per",
                "week",
                "(",
                ")",
                "-",
                "cats",
                "yes",
                "2024-05-10",
                "last",
                "month",
                "NET30",
                ".",
                "三",
            ]
        ),
        max_size=6,
    ).map(" ".join),
)


@given(SOME)
def test_the_normal_form_is_its_own_normal_form(text):
    value = value_of(text, SAID)
    assert value_of(value.norm, SAID).norm == value.norm


@pytest.mark.behaviour("CL15")
@given(SOME, SOME, SOME)
def test_being_the_same_is_an_equivalence(a, b, c):
    one, two, three = (value_of(text, SAID) for text in (a, b, c))
    assert same_value(one, one)
    assert same_value(one, two) == same_value(two, one)
    assert not (same_value(one, two) and same_value(two, three)) or same_value(one, three)


@every(["", " ", "!!!", "\ud800", "\x00", "'; DROP TABLE fact; --", "9" * 5000, "a " * 5000])
def test_bad_input_is_a_text_like_any_other(text):
    assert len(value_of(text, SAID).norm) <= 1000
