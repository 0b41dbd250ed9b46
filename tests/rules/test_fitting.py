"""What shows less and what is set aside for a budget: the cheapest first, and nothing looked at that is not needed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import budget, every
from perdure.records.memory import Form, Status, Tier
from perdure.rules.lifecycle.budget_fitting import (
    RESTED_MS,
    FitItem,
    choose_forms,
    is_rested,
    keeps_its_form,
    largest_allowed,
    worth_of,
)
from rules.builders import DAY, START, memory, state

BARER = (Form.SUMMARY, Form.KEYWORDS, Form.EMBEDDING)
ANY = settings(max_examples=budget(75, 1200), deadline=None, derandomize=True)


@st.composite
def piece_lists(draw):
    pieces = []
    for number in range(draw(st.integers(0, 12))):
        size = draw(st.integers(0, 60))
        taken = draw(st.lists(st.sampled_from(BARER), unique=True))
        forms = tuple((form, draw(st.integers(0, 60))) for form in BARER if form in taken)
        worth = draw(st.sampled_from([0.0, 0.1, 0.5, 0.5, 1.0, 3.0]))
        pieces.append(FitItem(f"m{number}", worth, ((Form.FULL, size), *forms), exempt=draw(st.booleans())))
    return pieces


def after(pieces, choice):
    """The tokens that a choice leaves, added up anew."""
    sizes = {p.id: dict(p.forms) for p in pieces}
    return sum(sizes[p.id][choice.forms.get(p.id, p.forms[0][0])] for p in pieces if p.id not in choice.archived)


@ANY
@given(piece_lists(), st.integers(0, 300))
def test_a_choice_adds_up_and_is_within_the_budget_where_that_is_possible(pieces, budget):
    choice = choose_forms(pieces, budget)
    assert choice.before == sum(p.forms[0][1] for p in pieces)
    assert choice.after == after(pieces, choice)
    assert choice.after <= max(budget, sum(p.forms[0][1] for p in pieces if p.exempt))
    exempt = {p.id for p in pieces if p.exempt}
    assert not exempt & (choice.forms.keys() | set(choice.archived))
    assert not choice.forms.keys() & set(choice.archived)
    if choice.before <= budget:
        assert (choice.forms, choice.archived) == ({}, ())


@pytest.mark.behaviour("FIT2")
@ANY
@given(piece_lists(), st.integers(0, 300))
def test_nothing_is_set_aside_while_shorter_forms_suffice(pieces, budget):
    choice = choose_forms(pieces, budget)
    barest = sum(p.forms[0][1] if p.exempt else min(n for _, n in p.forms) for p in pieces)
    if barest <= budget:
        assert choice.archived == ()


@pytest.mark.behaviour("FIT8")
@ANY
@given(piece_lists(), st.integers(0, 300), st.randoms(use_true_random=False))
def test_forms_that_become_known_on_the_way_change_nothing(pieces, budget, chance):
    """The order is as if all were known, whatever is asked together; and pieces may come in any order."""
    known = {p.id: p for p in pieces}

    def reach(some):
        found = {}
        for piece in some:
            form, *rest = piece.unknown
            sizes = [x for x in known[piece.id].forms[1:] if x[0] is form]
            found[piece.id] = replace(piece, forms=(*piece.forms, *sizes), unknown=tuple(rest))
        return found

    closed = [p if p.exempt else replace(p, forms=p.forms[:1], unknown=BARER) for p in pieces]
    chance.shuffle(closed)
    lazy, whole = choose_forms(closed, budget, reach), choose_forms(pieces, budget)
    assert (lazy.forms, lazy.archived, lazy.after) == (whole.forms, whole.archived, whole.after)


def test_only_what_may_be_next_is_looked_at():
    asked = []

    def reach(some):
        asked.extend((p.id, p.unknown[0]) for p in some)
        return {p.id: replace(p, forms=(*p.forms, (p.unknown[0], 20)), unknown=p.unknown[1:]) for p in some}

    pieces = [FitItem(f"m{i:04}", 1.0 + 100 * (i > 299), ((Form.FULL, 40),), unknown=BARER) for i in range(3000)]
    choice = choose_forms(pieces, 3000 * 40 - 200, reach)
    assert choice.forms == {f"m{i:04}": Form.SUMMARY for i in range(10)}
    assert len(asked) <= 512
    assert {form for _, form in asked} == {Form.SUMMARY}


@pytest.mark.behaviour("FIT3")
def test_what_loses_the_least_for_each_token_goes_first():
    pieces = [
        FitItem("big", 1.0, ((Form.FULL, 100), (Form.SUMMARY, 50))),
        FitItem("small", 1.0, ((Form.FULL, 10), (Form.SUMMARY, 5))),
        FitItem("dear", 50.0, ((Form.FULL, 100), (Form.SUMMARY, 50))),
    ]
    assert choose_forms(pieces, 170).forms == {"big": Form.SUMMARY}
    assert choose_forms(pieces, 158).forms == {"big": Form.SUMMARY, "small": Form.SUMMARY}
    last = choose_forms(pieces, 60)
    assert (last.forms, last.archived, last.after) == ({"dear": Form.SUMMARY, "small": Form.SUMMARY}, ("big",), 55)


def test_no_more_are_set_aside_than_may_be():
    pieces = [FitItem(f"m{i}", 1.0 + i, ((Form.FULL, 10),)) for i in range(6)]
    choice = choose_forms(pieces, 20, most=1)
    assert (choice.archived, choice.after, choice.wanted) == (("m0",), 50, 4)
    assert choose_forms(pieces, 20).archived == ("m0", "m1", "m2", "m3")


@pytest.mark.parametrize(("limit", "asked", "found"), [(0, 5, 0), (3, 5, 3), (5, 5, 5), (9, 5, 5), (4, 0, 0)])
def test_the_most_that_a_gate_lets_go(limit, asked, found):
    assert largest_allowed(lambda n: "no" if n > limit else "", asked) == found


@pytest.mark.parametrize(
    ("fixed", "exempt"),
    [
        ({}, False),
        ({"tier": Tier.COLD}, False),
        ({"tier": Tier.HOT}, True),
        ({"tier": Tier.VAULT}, True),
        ({"pinned": True}, True),
    ],
)
def test_who_shows_what_it_shows(fixed, exempt):
    assert keeps_its_form(memory("m", **fixed).state) is exempt


LATER = START + 30 * DAY


@every(
    [
        ({}, False),
        ({"form_ms": LATER}, True),  # its full text was brought back
        ({"form": Form.SUMMARY, "form_ms": LATER, "anchor_ms": LATER}, True),
        ({"form": Form.SUMMARY, "form_ms": LATER}, False),  # it was shortened
        ({"status_ms": LATER, "anchor_ms": LATER}, True),  # it was set aside, and is back
        ({"form": Form.SUMMARY, "form_ms": LATER, "anchor_ms": LATER + 1}, False),  # shortened, then used
    ]
)
def test_what_a_person_brought_back_rests_for_a_day(fixed, rested):
    fresh = state(status=Status.ACTIVE, form_ms=START)
    fresh = replace(fresh, **fixed)
    assert is_rested(fresh, LATER + 2) is rested
    assert not is_rested(fresh, LATER + RESTED_MS)
    assert not is_rested(state(), START)


def test_worth_grows_with_use_and_with_help():
    plain = memory("m")
    used, helped = memory("m", access_count=5), memory("m", reinforcements=2)
    assert worth_of(plain) == pytest.approx(plain.value)
    assert worth_of(used) > worth_of(plain)
    assert worth_of(helped) > worth_of(plain)
