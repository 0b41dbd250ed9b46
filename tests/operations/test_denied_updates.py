"""What is believed after a newer value was denied, and which of several displaced values comes back."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

import perdure
from conftest import WORDS_ONLY, logical
from perdure.interfaces.views import Request
from perdure.interfaces.views.memory import view_remember_result
from perdure.interfaces.views.model import render_text

BERLIN = {"subject": "Lena", "predicate": "lives_in", "value": "Berlin"}
MUNICH = {**BERLIN, "value": "Munich"}
QUESTION = "Where does Lena live?"
OLD, NEW = "Lena lives in Berlin.", "Lena lives in Munich."


@pytest.fixture
def memory(opening):
    return opening(WORDS_ONLY)


def believed(memory, subject="Lena", **then):
    return sorted(f.shown_value for f in memory.facts(subject, **then))


def note(memory, text):
    return next(m.id for m in memory.list(include_archived=True) if m.content == text)


def fact(memory, value):
    return next(f.id for f in memory.facts() if f.shown_value == value)


def moved(memory, clock, how):
    """Lena's home of ten days, in whose place another was put."""
    first = memory.remember(OLD, facts=[BERLIN])
    clock.passes(days=10)
    if how == "update":
        memory.update(first.id, NEW, facts=[MUNICH])
    elif how == "replaces":
        memory.remember(NEW, facts=[{**MUNICH, "replaces": "Berlin"}])
    else:
        memory.remember(NEW, facts=[MUNICH])
    clock.passes(days=1)


@pytest.mark.parametrize("denied", ["fact", "note"])
@pytest.mark.parametrize("how", ["update", "replaces", "newer"])
def test_what_a_denied_value_displaced_is_believed_again_wherever_it_is_shown(memory, clock, path, how, denied):
    moved(memory, clock, how)
    before = logical(path)
    done = memory.deny(fact(memory, "Munich") if denied == "fact" else note(memory, NEW))
    assert believed(memory) == ["Berlin"]
    first = memory.recall(QUESTION, touch=False).hits[0]
    assert ("Berlin" in first.memory.content, first.updated_by, first.over) == (True, None, ())
    sheet = memory.answer_sheet(QUESTION)
    assert ([entry.says for entry in sheet.known], sheet.unknown) == (["Lena: home: Berlin"], ())
    assert OLD in memory.digest()
    assert "Munich" not in memory.digest()
    assert memory.get(note(memory, OLD)).status == "active"
    assert memory.review() == []
    memory.undo(done.operation)
    assert logical(path) == before


def test_who_asks_about_another_time_learns_what_was_true_and_what_was_believed_then(memory, clock):
    moved(memory, clock, "update")
    between = datetime(2026, 1, 11, 12, tzinfo=UTC)
    memory.deny(fact(memory, "Munich"))
    clock.passes(days=1)
    assert believed(memory, as_of=between) == ["Berlin"]
    assert believed(memory, as_of=datetime(2026, 1, 5, tzinfo=UTC)) == ["Berlin"]
    assert believed(memory, known_at=between) == ["Munich"]


def test_only_what_the_denied_value_alone_displaced_comes_back(memory, clock):
    moved(memory, clock, "newer")
    memory.remember("Lena moved to Paris.", facts=[{**BERLIN, "value": "Paris", "replaces": "Munich"}])
    clock.passes(days=1)
    memory.deny(fact(memory, "Paris"))
    assert believed(memory) == ["Munich"]
    clock.passes(days=1)
    memory.deny(fact(memory, "Munich"))
    assert believed(memory) == ["Berlin"]


def test_nothing_comes_back_beside_what_is_believed_or_after_its_end(memory, clock):
    memory.remember("Lena lives in Berlin until 5 January.", facts=[{**BERLIN, "valid_to": "2026-01-05"}])
    clock.passes(days=1)
    memory.remember(NEW, facts=[{**MUNICH, "replaces": "Berlin"}])
    memory.remember("Lena lives in Bonn.", facts=[{**BERLIN, "value": "Bonn"}])
    assert believed(memory) == ["Bonn", "Munich"]  # nobody has decided
    munich = fact(memory, "Munich")
    memory.deny(fact(memory, "Bonn"))
    assert believed(memory) == ["Munich"]
    clock.passes(days=10)
    memory.deny(munich)
    assert believed(memory) == []


def test_a_person_is_asked_about_what_they_had_decided_against(memory, clock):
    memory.remember(OLD, facts=[BERLIN])
    clock.passes(days=10)
    done = memory.correct(fact(memory, "Berlin"), "Munich")
    clock.passes(days=1)
    memory.deny(done.id)
    (question,) = memory.review()
    assert (question.id, question.answers) == (fact(memory, "Berlin"), ("confirm", "deny", "correct", "mute"))
    assert "Berlin" in question.question
    assert "denied" in question.why
    memory.confirm(question.id)
    assert (believed(memory), memory.review()) == (["Berlin"], [])


def test_a_note_without_facts_comes_back_with_the_denial_of_what_replaced_it(memory, path):
    first = memory.remember(OLD)
    new = memory.update(first.id, NEW)
    before = logical(path)
    done = memory.deny(new.id)
    assert [h.memory.content for h in memory.recall(QUESTION, touch=False).hits] == [OLD]
    memory.undo(done.operation)
    assert logical(path) == before


def test_a_denied_denial_brings_back_what_it_denied(memory, clock):
    pork = {"subject": "Ana", "predicate": "eats", "value": "pork"}
    memory.remember("Ana eats pork.", facts=[pork])
    clock.passes(days=10)
    memory.remember("Ana does not eat pork any more.", facts=[{**pork, "denied": True}])
    assert believed(memory, "Ana") == ["not pork"]
    memory.deny(fact(memory, "not pork"))
    assert believed(memory, "Ana") == ["pork"]


# --- one of several

TEA = {"subject": "Ana", "predicate": "ritual", "value": "tea"}


@pytest.fixture
def displaced(memory, clock):
    """Two values that nobody decided between, in whose place a third came; the reply to that one."""
    memory.remember("Ana's ritual is tea.", facts=[TEA])
    clock.passes(hours=1)
    memory.remember("Ana's ritual is a walk.", facts=[{**TEA, "value": "a walk"}])
    clock.passes(days=10)
    return memory.remember("Ana's ritual is a nap.", facts=[{**TEA, "value": "a nap"}])


def test_both_of_one_of_several_displaced_values_brings_only_that_one_back(memory, displaced, path):
    assert believed(memory, "Ana") == ["a nap"]
    tea = next(f.id for f in displaced.facts.replaced if f.content.endswith("tea"))
    before = logical(path)
    done = memory.both(tea)
    assert believed(memory, "Ana") == ["a nap", "tea"]
    assert (done.memory.content, done.memory.status) == ("Ana: ritual: tea", "active")
    assert {m.content for m in memory.list(kinds=["note"])} == {"Ana's ritual is tea.", "Ana's ritual is a nap."}
    assert memory.review() == []
    with pytest.raises(perdure.InvalidInput, match="contradicts"):
        memory.both(tea)
    memory.undo(done.operation)
    assert logical(path) == before


def test_both_of_what_took_the_place_of_several_asks_which_is_meant(memory, displaced, path):
    before = logical(path)
    with pytest.raises(perdure.InvalidInput, match="took the place of several") as refused:
        memory.both(displaced.facts.created[0])
    assert all(f.id in str(refused.value) for f in displaced.facts.replaced)
    assert logical(path) == before


def test_the_reply_offers_the_call_that_names_one_of_several(memory, displaced):
    told = render_text(view_remember_result(displaced, Request("remember", {})))
    (offered,) = [f.id for f in displaced.facts.replaced if f'review(id="{f.id[-8:]}", verdict="both")' in told]
    memory.both(offered)
    assert len(believed(memory, "Ana")) == 2
