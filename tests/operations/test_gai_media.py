"""Five sessions about one customer, with a simulated clock and without a language model.

Each number was written down before the code was.
"""

from __future__ import annotations

import math

import pytest

from conftest import WORDS_ONLY
from perdure.records.memory import Shelf

KNOWLEDGE = {**WORDS_ONLY, "preset": "facts"}


@pytest.fixture
def memory(opening):
    return opening(KNOWLEDGE)


def said(memory, clock, session, *turns):
    """Take in one turn after the other, two minutes apart, every other is the assistant's."""
    for place, text in enumerate(turns):
        role = "assistant" if place % 2 else "user"
        memory.ingest([{"content": text, "role": role, "at": clock().isoformat()}], session=session)
        clock.passes(minutes=2)


def until(clock, day):
    """Let time pass until a day of the story begins."""
    clock.passes(days=day - (clock() - until.start).days)
    clock.now = clock.now.replace(hour=0, minute=0)


def the_fact(memory):
    (fact,) = memory.facts("Gai Media")
    return fact


@pytest.mark.behaviour(
    "KN1",
    "KN2",
    "KN3",
    "KN4",
    "KN5",
    "KN6",
    "KN7",
    "KN8",
    "KN9",
    "KN10",
    "KN11",
    "KN12",
    "KN13",
    "KN14",
    "KN15",
    "002-state-aging",
    "002-state-superseded",
    "002-state-validated",
    "002-stage-5-flow",
    "002-stage-6-question",
    "002-part-5",
    "KW2",
)
def test_five_sessions_about_a_customer(memory, clock, raw_store):
    until.start = clock()
    _day_0(memory, clock)
    _day_7(memory, clock)
    _day_60(memory, clock)
    _day_70(memory, clock)
    _day_150(memory, clock)
    _day_155(raw_store, memory, clock)
    assert memory.check() == []


def _day_0(memory, clock):
    question = "What's the status of Gai Media's order?"
    said(memory, clock, "s1", question, "SO-1001 is in fulfilment.", "Remember, they prefer Friday deliveries")
    (customer,) = memory.entities()
    assert (customer.id, customer.name) == ("gai-media", "Gai Media")
    asked, told = (m for m in memory.list(kinds=["episode"]) if m.speaker == "user")
    assert {m.metadata["event"]: m.state.importance for m in (asked, told)} == {
        "question": pytest.approx(0.45),  # 0.4 and 0.05 for the customer
        "statement": pytest.approx(0.6),
    }
    fact = the_fact(memory)
    assert (fact.subject, fact.predicate, fact.value) == ("gai-media", "delivery_day_preference", "Friday")
    assert (fact.type, fact.learned, fact.confirmations, fact.state) == ("preference", "explicit", 1, "active")
    assert fact.base == 0.7
    ((source, quote),) = fact.sources
    assert quote in memory.get(source).content
    assert memory.get(source).content == "Remember, they prefer Friday deliveries"


def _day_7(memory, clock):
    until(clock, 7)
    hits = memory.recall("Schedule delivery for Gai Media next week").hits
    (hit,) = (h.memory for h in hits if h.memory.kind == "fact")
    assert hit.confidence == pytest.approx(0.7 * math.exp(-7 * 0.01), abs=1e-4)  # 0.65
    said(
        memory,
        clock,
        "s2",
        "Schedule delivery for Gai Media next week",
        "I can schedule delivery for Gai Media. They prefer Friday deliveries. Next Friday is January 16.",
        "Yes, Friday works",
    )
    fact = the_fact(memory)
    assert (fact.base, fact.confirmations, fact.state) == (pytest.approx(0.85), 2, "active")


def _day_60(memory, clock):
    until(clock, 60)
    (hit,) = (h for h in memory.recall("What's Gai Media's delivery preference?").hits if h.memory.kind == "fact")
    assert hit.memory.confidence == pytest.approx(0.85 * math.exp(-53 * 0.01), abs=1e-4)  # 0.50
    assert (hit.memory.aging, hit.question) == (False, "")
    said(
        memory,
        clock,
        "s3",
        "What's Gai Media's delivery preference?",
        "Based on our records, Gai Media prefers Friday deliveries (confirmed January 8).",
    )
    assert the_fact(memory).base == pytest.approx(0.85)  # to be told is no confirmation


def _day_70(memory, clock):
    until(clock, 70)
    validated = memory.get(the_fact(memory).id).state.validated_ms
    (summary,) = memory.summarize(dry_run=False).made
    assert summary.entity == "gai-media"
    assert summary.key_facts["delivery_day_preference"]["value"] == "Friday"
    made = memory.get(summary.id)
    assert (made.kind, "Friday" in made.content, "Gai Media" in made.content) == ("summary", True, True)
    fact = the_fact(memory)
    assert fact.base == pytest.approx(0.90)
    assert memory.get(fact.id).state.validated_ms == validated  # to be summed up is no validation
    assert memory.summarize(dry_run=False).made == ()


def _day_150(memory, clock):
    until(clock, 150)
    (hit,) = (h for h in memory.recall("Schedule delivery for Gai Media").hits if h.memory.kind == "fact")
    assert hit.memory.aging
    assert "8 January 2026" in hit.question
    assert "Friday" in hit.question
    assert [q.id for q in memory.review()] == [hit.memory.id]
    assert the_fact(memory).state == "aging"
    said(
        memory,
        clock,
        "s4",
        "Schedule delivery for Gai Media",
        "I can schedule delivery for Gai Media. I have a note from January 8 that they prefer Friday deliveries - is "
        "that still accurate?",
        "Yes, that's correct",
    )
    fact = the_fact(memory)
    assert (fact.state, fact.base, fact.confirmations) == ("active", pytest.approx(0.92), 3)
    assert memory.review() == []


def _day_155(raw_store, memory, clock):
    until(clock, 155)
    before = the_fact(memory)
    said(memory, clock, "s5", "Actually, they switched to Thursday deliveries last month")
    fact = the_fact(memory)
    assert (fact.value, fact.base, fact.learned, fact.state) == ("Thursday", 0.85, "correction", "active")
    assert fact.supersedes == (before.id,)
    assert fact.valid_from.startswith("2026-05-01")  # June less one month
    (was, now) = memory.timeline("Gai Media").facts
    assert (was.value, was.state, was.superseded_by, was.valid_to) == (
        "Friday",
        "superseded",
        (now.id,),
        now.valid_from,
    )
    assert was.believed_to.startswith("2026-06-05")
    assert now.id == fact.id
    (conflict,) = raw_store.documents.find("default", Shelf.CONFLICT, [before.id])
    assert (conflict.name, conflict.data["strategy"], conflict.data["outcome"]) == (
        fact.id,
        "trust_correction",
        "replaced",
    )
    shown = [h.memory.id for h in memory.recall("When does Gai Media want deliveries?").hits]
    assert fact.id in shown
    assert before.id not in shown
    (summary,) = memory.summarize(dry_run=False).made  # a fact under it has changed
    assert "Thursday" in memory.get(summary.id).content
