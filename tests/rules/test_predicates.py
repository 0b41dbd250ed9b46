"""The table of predicates, and a person's own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import every
from perdure.knowledge.extension import predicates_from
from perdure.knowledge.extraction.words import base_verb, singular
from perdure.knowledge.records.facts import UNNAMED
from perdure.records.errors import PolicyError

NAMES = predicates_from({}, "")


@every(
    [
        ("Delivery day preferences", "delivery_day_preference"),
        ("preferred delivery day", "delivery_day_preference"),
        ("live in", "home"),
        ("phone number", "phone"),
        ("Payment Terms", "payment_term"),
        ("unheard of", "unheard_of"),
        ("", UNNAMED),
    ]
)
def test_words_become_the_name_of_a_predicate(said, name):
    assert NAMES.name(said) == name


@every(
    [
        ("Friday deliveries", "deliveries on Fridays"),
        ("delivery_day", "day_of_delivery"),
        ("delivery_day", "deliveryDays"),
        ("delivery day", "the day of a delivery"),
        ("number of open pages", "open page number"),
        ("Café", "cafe\N{COMBINING ACUTE ACCENT}"),
        ("配達日", "配達日 "),
    ]
)
def test_names_of_the_same_words_are_one(one, other):
    assert NAMES.name(one) == NAMES.name(other)


@pytest.mark.parametrize(
    ("one", "other"), [("पिता", "पोता"), ("أب", "أم"), ("配達日", "配達先"), ("work phone", "phone")]
)
def test_names_of_other_words_are_two_in_any_script(one, other):
    assert NAMES.name(one) != NAMES.name(other)


@pytest.mark.behaviour("CL16")
@every(
    [
        ("delivery_day_preference", "preference", False),
        ("home", "place", False),
        ("employer", "job", False),
        ("hobby", "preference", True),
        ("winter_book_goal", "plan", False),
        ("sister_name", "identity", False),
        ("favorite_color", "preference", False),
        ("draft_submission_deadline", "plan", False),
        ("nobody_knows", "attribute", False),
    ]
)
def test_an_address_supersedes_and_a_hobby_adds(name, kind, many):
    row = NAMES.row(name)
    assert (row.sort, row.many) == (kind, many)


@every(
    [
        ("day_preference", "delivery_day_preference", True),
        ("deadline", "draft_deadline", True),
        (UNNAMED, "home", True),
        ("delivery_day_preference", "call_time_preference", False),
        ("home", "employer", False),
        ("draft_deadline", "tax_deadline", False),
    ]
)
def test_a_correction_finds_the_family_of_its_predicate(one, other, akin):
    assert NAMES.akin(one, other) is akin
    assert NAMES.akin(other, one) is akin


def test_every_synonym_leads_to_a_name_that_stays():
    for said, meant in NAMES.synonyms.items():
        assert NAMES.name(said) == NAMES.name(meant)
        assert NAMES.name(NAMES.name(said)) == NAMES.name(said)
    assert {NAMES.name(name) for name in NAMES.table} <= set(NAMES.table)


@pytest.mark.behaviour("CL25")
@every(
    [
        *(
            (["want"], name)
            for name in ("preference", "like", "enjoy", "interest", "delivery_day_preference", "favorite_color")
        ),
        *(([word], "preference") for word in ("like", "likes", "prefer", "prefers", "enjoys", "love")),
        (["hates"], "dislike"),
        (["work"], "employer"),
        (["works"], "employer"),
        (["live"], "home"),
        (["old"], "age"),
        (["tall"], "height"),
        (["many", "cats"], "cat_count"),
        (["much"], "budget"),
        (["birthday"], "birthday"),
        (["born"], "birth_year"),
        (["manager"], "account_manager_name"),
        (["boss"], "manager_name"),
        (["hobbies"], "hobby"),
        (["deliver"], "delivery_day_preference"),
        (["favourite"], "favorite_restaurant"),
        (["allergic"], "allergy"),
        (["located"], "office_location"),
    ]
)
def test_a_question_means_predicates_by_other_words_too(words, name):
    assert NAMES.asked_predicates(words) & set(name.split("_"))


@every([[], ["gai", "media"], ["yesterday"], ["status quo"], [""], ["ünïcode"]])
def test_words_by_which_no_predicate_is_called_mean_none(words):
    assert NAMES.asked_predicates(words) == frozenset()


def test_what_is_asked_of_one_sort_is_not_asked_of_others():
    assert "dislike" not in NAMES.asked_predicates(["want"])
    assert not NAMES.asked_predicates(["old"]) & {"preference", "like"}
    own = predicates_from({"synonyms": {"dock day": "delivery_day", "dock": "delivery_day"}}, "facts.toml")
    assert own.asked_predicates(["dock"]) >= {"delivery", "day"}


def test_both_spellings_are_one_name():
    assert NAMES.name("favourite colour") == NAMES.name("favorite colors")


@pytest.mark.behaviour("CL17")
def test_a_persons_own_table_wins():
    own = predicates_from(
        {
            "synonyms": {"dock day": "delivery_day"},
            "predicates": {"hobby": {"many": False}, "Tax ID": {"sort": "contact"}},
            "authorities": {"url": "sqlite://"},
        },
        "facts.toml",
    )
    assert own.name("Dock days") == "delivery_day"
    assert (own.row("hobby").sort, own.row("hobby").many) == ("preference", False)
    assert own.row("tax_id").sort == "contact"
    assert own.name("live in") == "home"


def test_all_faults_are_listed():
    with pytest.raises(PolicyError) as refused:
        predicates_from(
            {
                "synonyms": {"a": 1, "b": "", "x": "y", "y": "x"},
                "predicates": {
                    "p": {"sort": "hobby"},
                    "q": {"sort": 5},
                    "r": {"many": "yes"},
                    "s": {"speed": 1},
                    "t": 5,
                    "'; ": {"sort": "job"},
                },
            },
            "facts.toml",
        )
    told = str(refused.value)
    for fault in (
        "'a'",
        "'b'",
        "'x'",
        "[predicates.p]",
        "[predicates.q]",
        "many must",
        "'speed'",
        "[predicates.t]",
        "sort must",
    ):
        assert fault in told


@pytest.mark.parametrize("data", [{"synonyms": 5}, {"predicates": []}, {"predicates": {"…": {}, 5: {}}}])
def test_what_is_no_table_is_refused(data):
    with pytest.raises(PolicyError):
        predicates_from(data, "facts.toml")


@given(st.text(max_size=50))
def test_any_words_have_a_name_that_stays(text):
    name = NAMES.name(text)
    assert name
    assert NAMES.name(name) == name
    assert NAMES.row(name).sort


@every(
    [
        *(("went", "go"), ("signed", "sign"), ("struggling", "struggle"), ("chasing", "chase"), ("scored", "score")),
        *(
            ("included", "include"),
            ("defined", "define"),
            ("stopped", "stop"),
            ("tried", "try"),
            ("mentored", "mentor"),
        ),
        *(("agreed", "agree"), ("watches", "watch"), ("prefers", "prefer"), ("called", "call"), ("use", "use")),
    ]
)
def test_verbs_have_their_base_form(said, base):
    assert base_verb(said) == base


@every(
    [
        ("fridays", "friday"),
        ("cities", "city"),
        ("boxes", "box"),
        ("children", "child"),
        ("news", "news"),
        ("bus", "bus"),
    ]
)
def test_nouns_have_their_singular(many, one):
    assert singular(many) == one
    assert singular(one) == one
