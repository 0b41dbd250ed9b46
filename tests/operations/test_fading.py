"""Facts fade by their sort: what stays true for life is not asked about for its age, and not archived for it."""

from __future__ import annotations

import pytest

from conftest import WORDS_ONLY

ALLERGY = {"subject": "Mia", "predicate": "allergic to", "value": "peanuts"}
MOOD = {"subject": "Mia", "predicate": "mood", "value": "cheerful"}


def days_pass(memory, clock, days):
    """Let days pass with a sweep each, as a server does."""
    for _ in range(days):
        clock.passes(days=1)
        memory.sweep()


@pytest.mark.parametrize("preset", ["balanced", "facts", "tiered"])
@pytest.mark.behaviour("FD1")
def test_an_allergy_said_once_is_known_after_400_days(opening, clock, preset):
    memory = opening({**WORDS_ONLY, "preset": preset})
    memory.remember("Mia is allergic to peanuts.", facts=[ALLERGY])
    days_pass(memory, clock, 400)
    (fact,) = memory.facts("Mia")
    assert (fact.value, fact.state, fact.question) == ("peanuts", "active", "")
    assert fact.confidence == pytest.approx(fact.base)
    sheet = memory.answer_sheet("Is Mia allergic to anything?")
    assert [s.id for s in sheet.known] == [fact.id]
    assert "do not rely on it" not in sheet.text
    assert fact.id in {h.memory.id for h in memory.recall("allergic Mia", touch=False).hits}
    assert "peanuts" in memory.digest()
    assert [q for q in memory.review(limit=100) if q.id == fact.id] == []


@pytest.mark.behaviour("FD2")
def test_what_faded_unanswered_is_told_as_not_confirmed_and_not_as_out_of_date(opening, clock):
    memory = opening({**WORDS_ONLY})
    memory.learn(claims=[MOOD])
    days_pass(memory, clock, 200)
    assert memory.facts("Mia") == []
    (fact,) = memory.facts("Mia", past=True)
    assert fact.state == "archived"
    sheet = memory.answer_sheet("What is the mood of Mia?")
    assert [s.id for s in sheet.aging] == [fact.id]
    assert "not confirmed since 2026-01-01" in sheet.text
    assert "do not rely on it" not in sheet.text
    memory.learn(claims=[{**MOOD, "value": "sad"}])
    sheet = memory.answer_sheet("What is the mood of Mia?")
    assert "cheerful" not in sheet.text
    assert [s.says for s in sheet.known] == ["Mia: mood: sad"]


@pytest.mark.behaviour("FD2")
def test_what_a_person_put_away_is_told_no_more(opening, clock):
    memory = opening({**WORDS_ONLY})
    (made,) = memory.learn(claims=[MOOD]).created
    memory.forget(made, "nobody needs it")
    clock.passes(days=200)
    assert "cheerful" not in memory.answer_sheet("What is the mood of Mia?").text


@pytest.mark.behaviour("FD3")
def test_the_policy_says_which_sorts_fade_and_how_fast(opening, clock):
    memory = opening({**WORDS_ONLY, "fading": {"health": 1.0, "state": 3.0}})
    memory.learn(claims=[ALLERGY, MOOD, {"subject": "Mia", "predicate": "city", "value": "Lyon"}])
    clock.passes(days=50)
    sure = {f.predicate: f.confidence / f.base for f in memory.facts("Mia")}
    assert sure["allergy"] == pytest.approx(sure["city"])
    assert sure["mood"] == pytest.approx(sure["city"] ** 3)
    days_pass(memory, clock, 60)
    assert {q.id for q in memory.review(limit=10)} == {f.id for f in memory.facts("Mia")}


@pytest.mark.behaviour("FD4")
def test_a_fact_whose_end_lies_ahead_ends_by_itself(opening, clock):
    memory = opening({**WORDS_ONLY})
    trip = {"subject": "Mia", "predicate": "city", "value": "Lyon", "valid_to": "2026-02-01"}
    memory.learn(claims=[trip])
    before = clock()
    assert [f.value for f in memory.facts("Mia")] == ["Lyon"]
    clock.passes(days=40)
    assert memory.facts("Mia") == memory.facts("Mia", known_at=clock()) == []
    assert [f.value for f in memory.facts("Mia", as_of=before)] == ["Lyon"]
    (over,) = memory.facts("Mia", past=True)
    assert (over.state, over.valid_to) == ("superseded", "2026-02-01 23:59 UTC")
    sheet = memory.answer_sheet("In which city is Mia?")
    assert [s.id for s in sheet.outdated] == [over.id]
    assert sheet.known == ()
    assert over.id not in {h.memory.id for h in memory.recall("city Mia", touch=False).hits}
    assert over.id in {h.memory.id for h in memory.recall("city Mia", as_of=before, touch=False).hits}
    assert [s.id for s in memory.answer_sheet("In which city is Mia?", as_of=before).known] == [over.id]


def test_of_very_many_the_fact_with_the_most_at_risk_is_asked_about_first(opening, clock):
    memory = opening({**WORDS_ONLY, "knowledge": {"questions_per_day": 1000}})
    memory.learn(claims=[{**MOOD, "subject": f"Person {n}"} for n in range(60)])
    asked = max(memory.facts(limit=100), key=lambda fact: fact.id)  # the last of them where none is at more risk
    clock.passes(days=119)
    for _ in range(3):
        memory.recall(f"mood of {asked.subject}", limit=1)
    clock.passes(days=1)
    at_risk = {q.id: q.value_at_risk for q in memory.review(limit=1000)}
    assert len(at_risk) == 60
    assert max(at_risk, key=at_risk.__getitem__) == asked.id
    assert [q.id for q in memory.review(limit=1)] == [asked.id]


HOSPITAL = {"subject": "Diego", "predicate": "employer", "value": "Hospital La Fe"}
CLINIC = {**HOSPITAL, "value": "Hospital Clinico"}


@pytest.mark.parametrize("days", [10, 200])
def test_what_faded_is_replaced_by_its_name(opening, clock, days):
    memory = opening(WORDS_ONLY)
    memory.remember("Diego works at Hospital La Fe.", facts=[HOSPITAL])
    days_pass(memory, clock, days)
    before = [(f.value, f.state) for f in memory.facts("Diego", past=True)]
    said = memory.remember("Diego works at Hospital Clinico.", facts=[{**CLINIC, "replaces": "Hospital La Fe"}])
    assert said.facts.unknown == ()
    found = {f.value: f.state for f in memory.facts("Diego", past=True)}
    assert found == {"Hospital La Fe": "superseded", "Hospital Clinico": "active"}
    assert "La Fe" not in memory.digest()
    assert [h.memory.content for h in memory.recall("Where does Diego work?").hits if "La Fe" in h.memory.content] == []
    memory.undo(said.operation)
    assert [(f.value, f.state) for f in memory.facts("Diego", past=True)] == before
    assert "Diego works at Hospital La Fe." in memory.digest()


def test_what_somebody_put_away_is_not_found_by_its_name(opening, clock):
    memory = opening(WORDS_ONLY)
    memory.learn(claims=[HOSPITAL])
    memory.forget(memory.facts("Diego")[0].id, reason="not ours")
    clock.passes(days=1)
    said = memory.remember("Diego works at Hospital Clinico.", facts=[{**CLINIC, "replaces": "Hospital La Fe"}])
    assert said.facts.unknown == ("Hospital La Fe",)
