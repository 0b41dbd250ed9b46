"""What a message does, by its words and by how its clauses start."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import every
from perdure.knowledge.extraction.event_types import (
    asks_whether_still,
    event_by_model,
    event_importance,
    event_of,
    grounded_importance,
    is_bare_denial,
    reweigh_importance,
)
from perdure.knowledge.records.facts import EventType

SEED = {
    "What's the status of Gai Media's order?": "question",
    "Remember, they prefer Friday deliveries": "statement",
    "Schedule delivery for Gai Media next week": "command",
    "Yes, Friday works": "confirmation",
    "What's Gai Media's delivery preference?": "question",
    "Schedule delivery for Gai Media": "command",
    "Yes, that's correct": "confirmation",
    "Actually, they switched to Thursday deliveries last month": "correction",
    "Actually, they prefer Thursday, not Friday": "correction",
}
OTHERS = {
    "I actually like it": "statement",
    "I actually prefer tea": "statement",
    "No, thanks": "statement",
    "No thanks!": "statement",
    "No, not really": "statement",
    "No worries, see you then": "statement",
    "No problem": "statement",
    "Nothing new here": "statement",
    "No, Thursday": "correction",
    "No, it is Thursday": "correction",
    "That's wrong": "correction",
    "that\u2019s wrong.": "correction",
    "I meant Thursday": "correction",
    "Correction: the deadline is April 26": "correction",
    "Thanks! Actually, they prefer Thursday.": "correction",
    "It's Thursday, not Friday": "correction",
    "Did you know that's wrong?": "question",
    "Friday is still right": "confirmation",
    "Yes, Friday is still right": "confirmation",
    "Yes": "confirmation",
    "Exactly!": "confirmation",
    "Yes, but it is Thursday now": "statement",
    "Right?": "question",
    "Could you please schedule a delivery?": "command",
    "Can you tell me more about it?": "question",
    "Remember to call Bob": "command",
    "Note: we use tabs": "statement",
    "I live in Lyon": "statement",
    "": "statement",
    "...": "statement",
    "???": "question",
}


@pytest.mark.behaviour("CL1", "002-stage-1-events")
@every([*SEED.items(), *OTHERS.items()])
def test_each_message_has_its_event(text, event):
    assert event_of(text).value == event


@pytest.mark.behaviour("CL2", "002-stage-1-importance")
@every(
    [
        ("question", 0, False, 0.4),
        ("statement", 0, False, 0.6),
        ("command", 0, False, 0.7),
        ("correction", 0, False, 0.9),
        ("confirmation", 0, False, 0.8),
        ("question", 2, False, 0.5),
        ("question", 2, True, 0.6),
        ("statement", 9, False, 0.8),
        ("correction", 9, True, 1.0),
        ("statement", -3, False, 0.6),
    ]
)
def test_importance_follows_the_seeds_table(event, entities, grounded, importance):
    found = event_importance(EventType(event), entities)
    assert (grounded_importance(found) if grounded else found) == pytest.approx(importance)


@pytest.mark.behaviour("CL3")
@pytest.mark.parametrize("text", ["That's wrong", "No, that's not right", "No.", "That is incorrect!", "Wrong."])
def test_a_bare_denial_says_nothing_else(text):
    assert is_bare_denial(text)


@every(["No, thanks", "No, Thursday", "That's wrong, it's Thursday", "That's wrong. They prefer Thursday.", "", "Yes"])
def test_what_says_more_or_something_else_is_no_bare_denial(text):
    assert not is_bare_denial(text)


@pytest.mark.behaviour("CL4")
@every(
    [
        ("I have a note from 3 May that they prefer Friday deliveries - is that still accurate?", True),
        ("They prefer Friday. Is that still right?", True),
        ("Do they still prefer Friday?", True),
        ("Is that correct?", True),
        ("It is still raining.", False),
        ("What is the capital of France?", False),
        ("", False),
    ]
)
def test_a_turn_that_asks_whether_something_is_still_right_is_recognised(text, asks):
    assert asks_whether_still(text) is asks


@given(st.text(max_size=300))
def test_any_text_has_an_event(text):
    assert event_of(text) in EventType
    assert not (is_bare_denial(text) and event_of(text) is EventType.CONFIRMATION)
    asks_whether_still(text)


@every(["no, ", "actually ", "is ", "is still ", "(", "yes but ", "a", "please "])
def test_a_hostile_text_does_not_both_confirm_and_deny(piece):
    text = piece * 2_000
    assert not (is_bare_denial(text) and event_of(text) is EventType.CONFIRMATION)


@given(st.sampled_from(EventType), st.sampled_from([*EventType, None]))
def test_a_model_decides_between_question_statement_and_command_alone(rules, model):
    certain = {EventType.CORRECTION, EventType.CONFIRMATION}
    found = event_by_model(rules, model)
    asked = rules is EventType.QUESTION and model is EventType.STATEMENT  # what asks states nothing
    assert found is (rules if model is None or rules in certain or model in certain or asked else model)


@given(st.floats(0, 1), st.sampled_from(EventType), st.sampled_from(EventType))
def test_importance_moves_by_the_difference_of_the_types(importance, before, after):
    found = reweigh_importance(importance, before, after)
    assert 0 <= found <= 1
    plain = event_importance(after, 0) - event_importance(before, 0)
    assert found == pytest.approx(min(1.0, max(0.0, importance + plain)))
