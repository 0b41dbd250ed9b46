"""Shorter forms of one text: what they show, when they are refused, what they are measured to keep."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import WORDS_ONLY, budget, every, on_a_file
from perdure.records.memory import Form
from perdure.records.policy import Policy
from perdure.records.policy_lifecycle import CompressionPolicy
from perdure.rules.language.tokens import count_tokens
from perdure.rules.lifecycle.compression_forms import (
    LADDER,
    FormText,
    accuracy,
    apply_forms,
    form_figures,
    judge_preservation,
    render_form,
    unit_cosine,
)
from perdure.rules.lifecycle.trajectory import replay
from perdure.rules.meaning_guard import lost_meaning
from perdure.rules.policy_check import policy_from
from rules.builders import DAY, START, state
from rules.test_shortening import sentences
from rules.test_tokens import data_file

POLICY = CompressionPolicy()
STRICT = CompressionPolicy(strictness="strict")
SEED = policy_from({"preset": "tiered"})
GARDEN = "The garden behind the house was full of roses, and the gate by the wall was open for all of the neighbours."
ANY = settings(max_examples=budget(37, 600), deadline=None, derandomize=True)


def unit(*numbers):
    row = np.array(numbers)
    return (row / np.linalg.norm(row)).astype("<f4").tobytes()


@pytest.mark.behaviour("004-3.1-full", "FORM1")
@pytest.mark.parametrize(
    ("form", "text", "tokens"),
    [
        (Form.FULL, None, 24),
        (Form.SUMMARY, GARDEN, 24),  # one sentence, none to leave out
        (Form.KEYWORDS, "garden behind house neighbours", 4),
        (Form.EMBEDDING, "", 0),
    ],
)
def test_each_form_of_a_text_has_its_size(form, text, tokens):
    made = render_form(GARDEN, form, POLICY)
    assert (made.text, made.tokens, made.whole, made.refused) == (text, tokens, 24, "")
    assert made.tokens == count_tokens(GARDEN if text is None else text)


@pytest.mark.behaviour("004-3.1-summary", "004-3.1-keywords", "FORM2")
def test_a_summary_of_a_long_text_has_the_seeds_150_tokens_and_its_keywords_20():
    words = [
        "amber",
        "birch",
        "cedar",
        "dune",
        "ember",
        "fjord",
        "grove",
        "haven",
        "islet",
        "jetty",
        "knoll",
        "lagoon",
        "meadow",
    ]
    text = " ".join(f"The {a} is by the {b} and the {c}." for a in words for b in words for c in words)
    whole = count_tokens(text)
    assert whole > 4500
    summary, keywords = (render_form(text, form, POLICY) for form in (Form.SUMMARY, Form.KEYWORDS))
    assert summary.refused == keywords.refused == ""
    assert 75 < summary.tokens <= 150
    assert summary.ratio >= 30
    assert keywords.tokens <= 20
    assert keywords.ratio >= 225
    fewer = replace(POLICY, summary_tokens=60, keyword_tokens=8)
    assert render_form(text, Form.SUMMARY, fewer).tokens <= 60
    assert render_form(text, Form.KEYWORDS, fewer).tokens <= 8 < keywords.tokens
    assert render_form(text, Form.EMBEDDING, POLICY).text == ""


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("The pump runs at 30 bar in the cellar.", "number 30 bar"),
        ("The gate must never be open at night.", "negation 'never'"),
        ("We went to the harbour with Alice.", "name alice"),
        ("The port is in the config.yaml of the house.", "code config.yaml"),
        ("It was open until Monday.", "date monday"),
    ],
)
def test_no_text_at_all_would_lose_what_the_guard_keeps(text, why):
    made = render_form(text, Form.EMBEDDING, STRICT)
    assert made.refused.startswith("it would lose ")
    assert why.split()[0] in made.refused
    assert (made.text, made.tokens) == (None, made.whole)


def test_what_a_model_wrote_passes_the_same_guard():
    good, bad = "roses in the garden, gate open", "A garden with 3 gates."
    assert render_form(GARDEN, Form.SUMMARY, POLICY, written=good).text == good
    text = "The pump runs at 30 bar, and it must not be opened by anyone but Alice at any time of the day or the night."
    assert render_form(text, Form.SUMMARY, POLICY, written=bad).refused.startswith("it would lose ")
    assert render_form(GARDEN, Form.SUMMARY, POLICY, written=GARDEN + " And more.").refused == "it is no shorter"


@pytest.mark.behaviour("FORM3")
@ANY
@given(sentences, st.sampled_from(LADDER[1:]))
def test_a_form_that_is_taken_is_shorter_and_loses_nothing_that_the_guard_checks(text, form):
    made = render_form(text, form, STRICT)
    if made.refused:
        assert (made.text, made.tokens) == (None, count_tokens(text))
        return
    assert made.tokens == count_tokens(made.text) < made.whole == count_tokens(text)
    gone = lost_meaning(text, made.text)
    assert [m for m in gone if form is Form.SUMMARY or not m.startswith("modal")] == []


PUMP = (
    "The pump of the cellar feeds all of the gardens of the house. It runs at 30 bar since Alice has repaired it. "
    "The gate must never be open at night. In the summer the gardens of the house need the pump all day long. "
    "Roses stand by the wall of the garden, and the neighbours water them in the evenings when it is dry."
)


def test_a_summary_is_whole_sentences_and_lists_what_they_do_not_say():
    shown = render_form(PUMP, Form.SUMMARY, POLICY).text
    said, listed = shown.split("\nAlso: ")
    assert set(said.replace(". ", ".|").split("|")) <= set(PUMP.replace(". ", ".|").split("|"))
    assert all(word in shown for word in ("30 bar", "never be open", "Alice"))
    assert count_tokens(listed) <= 24


def test_where_not_all_can_be_listed_what_is_denied_comes_first_then_numbers():
    towns = ["Lyon", "Porto", "Oslo", "Turin", "Bergen", "Graz", "Ghent", "Vigo", "Basel", "Bern"]
    meters = [
        f"The meter of {town} showed {n * 37 + 101} litres of rain in the garden." for n, town in enumerate(towns)
    ]
    text = " ".join([*meters, "The valve by the wall must never be closed."])
    said, listed = render_form(text, Form.SUMMARY, replace(POLICY, summary_tokens=28)).text.split("\nAlso: ")
    assert "valve" not in said
    assert listed.startswith("The valve by the wall must never be closed; ")
    assert "litres" in listed
    assert not any(town in listed for town in towns)


@on_a_file
def test_a_denial_is_listed_with_who_does_what_and_a_number_with_its_word(opening, clock):
    memory = opening({**WORDS_ONLY, "preset": "tiered"})
    towns = ("Lyon", "Porto", "Oslo", "Turin", "Bergen", "Graz", "Ghent", "Vigo", "Basel", "Bern")
    rain = " ".join(f"The meter of {town} told of rain in the garden of the house by the wall." for town in towns)
    denial = "Lena in the office of the school by the lake did not agree that the order is late"
    figures = "They met in room 31, where they paid 42 euros, or €9, and the rest was 1.1, 0.35 and 77"
    ids = [memory.remember(f"{rain} {said}.").id for said in (denial, figures)]
    clock.passes(hours=25)
    memory.sweep()
    denied, counted = (memory.get(i).content.partition("\nAlso: ")[2].removesuffix(".").split("; ") for i in ids)
    assert denial in denied
    assert {"room 31", "42 euros", "€9"} <= set(counted)
    assert not {"1.1", "0.35", "77"} & set(counted)


HABITS = """# Healthy Habits For Life
We talked with people about habits that keep people healthy over the years, and about what they do all day.
1. **Make Time for Exercise**: Walk in the park for as long as a meal takes, and take the stairs where there are some.
2. Research Shows: sleep matters more to people than food, so go to bed early and leave the phone elsewhere.
- Refresh the plan for the week, and write down what was done and what was left out of it by the others.
- Eat more fruit, and drink water instead of juice in the afternoon, which people seem to like in {town}.
Eat slowly, too. Refresh often. Habits are hard to change, which {person} of the clinic by the lake explained to us.
Research Shows: sleep matters most. NASA wrote about meals in space, where people eat from bags and lose weight.
"""


@on_a_file
def test_a_capital_that_begins_a_line_or_stands_in_a_heading_makes_no_name(opening, clock):
    memory = opening({**WORDS_ONLY, "preset": "tiered", "compression": {"summary_tokens": 40}})
    kept = memory.remember(HABITS.format(town="Turku", person="Henrike")).id
    clock.passes(hours=25)
    memory.sweep()
    said, _, listed = memory.get(kept).content.partition("\nAlso: ")
    names = {"Turku", "Henrike", "NASA"}
    assert set(listed.removesuffix(".").split("; ")) == {name for name in names if name not in said}
    assert {"Turku", "Henrike"} <= set(listed.removesuffix(".").split("; "))


@ANY
@given(sentences, st.sampled_from(LADDER[1:]))
def test_a_form_is_shorter_or_refused_for_that_alone(text, form):
    made = render_form(text, form, POLICY)
    assert made.refused in ("", "it is no shorter")
    assert made.refused or made.tokens == count_tokens(made.text)
    assert made.refused or made.tokens < made.whole or made.text == text
    assert made.text != text or form is Form.SUMMARY or not text


def test_a_sentence_longer_than_a_summary_ends_where_words_no_longer_fit():
    text = (
        f"The list of the shed has {', '.join(f'a rake of the year {year}' for year in range(1900, 1960))} and a hose."
    )
    made = render_form(text, Form.SUMMARY, POLICY)
    assert made.tokens <= 150
    assert made.text.endswith("…")
    assert text.startswith(made.text.removesuffix("…"))


def test_chinese_texts_have_forms_or_stay_whole():
    talks = json.loads(data_file("memory_bank_cn.json").read_text("utf-8"))
    texts = [
        turn[side]
        for person in talks.values()
        for day in person["history"].values()
        for turn in day
        for side in ("query", "response")
    ]
    assert len(texts) > 100
    taken = 0
    for text in texts[:300]:
        for form in LADDER[1:]:
            made = render_form(text, form, STRICT)
            taken += not made.refused
            assert made.refused or (made.tokens < made.whole and not lost_meaning(text, made.text))
    assert taken


@pytest.mark.behaviour("FORM19")
def test_ratio_preservation_and_efficiency_by_hand():
    """150 of 4,500 tokens are 30:1; cosine of (3, 4) and (4, 3) is 24/25; 30 * 0.96 = 28.8."""
    made = FormText(Form.SUMMARY, "short", 150, 4500)
    assert made.ratio == 30
    assert made.efficiency is None
    cosine = unit_cosine(unit(3.0, 4.0), unit(4.0, 3.0))
    assert cosine == 0.96
    measured = judge_preservation(made, cosine, POLICY)
    assert (measured.preservation, measured.efficiency, measured.refused) == (0.96, 28.8, "")
    assert measured.describe() == "4500 to 150 tokens (ratio 30.00), meaning kept 0.960, efficiency 28.80"
    assert FormText(Form.EMBEDDING, "", 0, 7).ratio == 7  # the seed divides by at least one token


@pytest.mark.behaviour("FORM20")
def test_preservation_and_efficiency_have_four_places():
    assert unit_cosine(unit(1.0, 0.0), unit(1.0, 2.0)) == 0.4472
    measured = replace(FormText(Form.SUMMARY, "short", 3, 10), preservation=0.4472)
    assert measured.efficiency == 1.4907


@pytest.mark.behaviour("FORM23")
@pytest.mark.parametrize(("cosine", "refused"), [(0.5, False), (0.4999, True), (-0.2, True)])
def test_a_form_whose_meaning_is_another_is_refused(cosine, refused):
    measured = judge_preservation(FormText(Form.SUMMARY, "short", 3, 10), cosine, POLICY)
    assert bool(measured.refused) is refused
    assert judge_preservation(FormText(Form.EMBEDDING, "", 0, 10), cosine, POLICY).refused == ""


@pytest.mark.behaviour("FORM21")
@every(
    [
        # precision (2/4 + 1/1) / 2, recall (2/3 + 1/2) / 2, F1 from the means
        ([("abc", "abxy"), ("de", "d")], (0.75, 0.5833, 0.6562)),
        ([("", "a")], (0.0, 1.0, 0.0)),
        ([("a", "")], (0.0, 0.0, 0.0)),
        ([("", "")], (0.0, 1.0, 0.0)),
        ([("ab", "ba")], (1.0, 1.0, 1.0)),
        ([], (1.0, 1.0, 1.0)),
    ]
)
def test_query_accuracy_by_hand(pairs, expected):
    assert accuracy([(list(a), list(b)) for a, b in pairs]) == expected


def test_the_figures_of_a_form_add_up():
    states = {
        "a": state(form=Form.SUMMARY, tokens=10),
        "b": state(form=Form.SUMMARY, tokens=30),
        "c": state(tokens=50),
    }
    data = {("a", "summary"): {"whole": 20, "preservation": 0.8}, ("b", "summary"): {"whole": 100, "preservation": 0.9}}
    found = form_figures(states, data)
    assert list(found) == ["full", "summary"]
    one = found["summary"]
    assert (one.memories, one.tokens, one.whole, one.ratio, one.preservation, one.efficiency) == (
        (2, 40, 120, 3.0, 0.85, 2.55)
    )
    assert (found["full"].ratio, found["full"].preservation, found["full"].efficiency) == (1.0, None, None)


@pytest.fixture
def trajectory():
    """A memory that the seed's triggers bring from full to no text at all."""
    low = state(confidence=0.1, uniqueness=0.1, tokens=60)
    (played,) = replay({"m": low}, {}, START + 40 * DAY, SEED)
    assert [s.state.form for s in played.transitions if s.shrinks] == [Form.SUMMARY, Form.KEYWORDS, Form.EMBEDDING]
    return played


def made(form, tokens, refused=""):
    return FormText(form, "x", tokens, 60, refused)


@pytest.mark.behaviour("FORM5")
def test_what_is_carried_out_has_sizes_and_reasons(trajectory):
    forms = {f: made(f, n) for f, n in [(Form.SUMMARY, 30), (Form.KEYWORDS, 5), (Form.EMBEDDING, 0)]}
    done = apply_forms(trajectory, forms, SEED)
    assert [s.state.tokens for s in done.transitions if s.shrinks] == [30, 5, 0]
    assert all("60 to" in s.because for s in done.transitions if s.shrinks)
    assert (done.after.form, done.after.tokens, done.after.firm, done.refused) == (Form.EMBEDDING, 0, False, "")
    assert done.after.form_ms == [s for s in done.transitions if s.shrinks][-1].at


@pytest.mark.behaviour("FORM15")
def test_a_refused_form_ends_the_descent_and_is_not_due_again(trajectory):
    forms = {
        Form.SUMMARY: made(Form.SUMMARY, 30),
        Form.KEYWORDS: made(Form.KEYWORDS, 60, "it would lose name alice"),
        Form.EMBEDDING: made(Form.EMBEDDING, 0),
    }
    done = apply_forms(trajectory, forms, SEED)
    assert [s.state.form for s in done.transitions if s.shrinks] == [Form.SUMMARY]
    assert (done.after.form, done.after.tokens, done.after.firm) == (Form.SUMMARY, 30, True)
    assert done.refused == "it would lose name alice"
    again = replay({"m": done.after}, {}, START + 400 * DAY, SEED)[0]
    assert not any(s.shrinks for s in again.transitions)


def test_the_other_moves_of_a_refused_course_stay(trajectory):
    whole = {f: made(f, 60, "it is no shorter") for f in LADDER[1:]}
    done = apply_forms(trajectory, whole, Policy())
    assert [s.rule for s in done.transitions] == [s.rule for s in trajectory.transitions if not s.shrinks] != []
    assert {s.state.form for s in done.transitions} == {Form.FULL}
    assert done.after.tier is trajectory.after.tier
