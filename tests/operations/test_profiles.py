"""Summaries of entities: when they are due, what they say, how long, what takes their place."""

from __future__ import annotations

import re
from contextlib import nullcontext

import pytest

from conftest import WORDS_ONLY, ScriptedModel, tables
from perdure.records.errors import ModelError
from perdure.rules.language.tokens import count_tokens

KNOWLEDGE = {**WORDS_ONLY, "preset": "facts"}
FRIDAY = "Remember, Gai Media prefers Friday deliveries."


@pytest.fixture
def memory(opening):
    return opening(KNOWLEDGE)


def say(memory, clock, text, session):
    memory.ingest([{"content": text, "at": clock().isoformat()}], session=session)
    clock.passes(minutes=1)


def told(memory, clock, sessions, messages=3, days=7):
    """A fact, and talk about its customer in some sessions."""
    for session in range(sessions):
        for message in range(messages):
            text = (
                FRIDAY if session == message == 0 else f"Gai Media asked about order {session}{message} by mail today."
            )
            say(memory, clock, text, f"s{session}")
        clock.passes(days=days)


@pytest.mark.behaviour("002-stage-7-trigger")
@pytest.mark.parametrize(("sessions", "messages", "due"), [(2, 3, False), (3, 3, True), (1, 19, False), (1, 20, True)])
def test_three_sessions_or_twenty_messages_make_a_summary(memory, clock, sessions, messages, due):
    told(memory, clock, sessions, messages)
    assert bool(memory.summarize(dry_run=False).made) == due


@pytest.mark.behaviour("WH19")
def test_an_open_conflict_is_told_with_all_its_values_or_not_at_all(memory, clock):
    told(memory, clock, 3)
    for budget in ("$500", "$700"):
        say(memory, clock, f"Remember that Gai Media's budget is {budget}.", "s3")
    (made,) = memory.summarize(dry_run=False).made
    assert "Contested: budget: $700 or $500." in made.text
    assert made.text.count("$500") - made.text.count("budget is $500") == 1  # nowhere as if it were known
    assert (made.key_facts["budget"]["value"], made.key_facts["budget"]["contested_by"]) == ("$700", ["$500"])
    say(memory, clock, "Actually, Gai Media's budget is $700.", "s4")
    (after,) = memory.summarize(dry_run=False).made
    assert "budget: $700" in after.text
    assert "contested_by" not in after.key_facts["budget"]


@pytest.mark.behaviour("002-stage-7-output")
def test_it_says_facts_how_sure_how_often_and_what_was_last(memory, clock, raw_store):
    told(memory, clock, 4)
    (made,) = memory.summarize(dry_run=False).made
    head = "Gai Media, as of 2026-01-29: delivery day preference: Friday (perhaps). "
    assert made.text.startswith(head)  # 28 days: 0.7 x e^-0.28 is 0.53
    assert "Spoken of in 4 sessions, every 7 days, last on 2026-01-22." in made.text
    assert "2026-01-22: Gai Media asked about order 32 by mail today." in made.text
    (fact,) = memory.facts("Gai Media")
    key = made.key_facts["delivery_day_preference"]
    assert key == {
        "value": "Friday",
        "confidence": pytest.approx(fact.confidence, abs=1e-4),
        "sources": [fact.id, fact.sources[0][0]],
    }
    stored = memory.get(made.id)
    assert (stored.kind, stored.scope, stored.metadata["entity"]) == ("summary", "long_term", "gai-media")
    links = {other for kind, other, _ in raw_store.links("default", made.id) if kind == "summarizes"}
    assert links == set(made.sources)


@pytest.mark.parametrize("sessions", [3, 9, 30])
def test_it_is_never_longer_than_half_of_what_it_stands_for(memory, clock, sessions):
    told(memory, clock, sessions)
    (made,) = memory.summarize(dry_run=False).made
    whole = sum(count_tokens(memory.get(i).content) for i in made.sources)
    assert 0 < count_tokens(made.text) <= whole / 2


@pytest.mark.behaviour("KN92")
@pytest.mark.parametrize("end", [".", "!", "?", "...", " (paid)", ""])
def test_its_sentences_end_once_and_no_figure_in_it_ages(memory, clock, end):
    told(memory, clock, 3, messages=6)
    say(memory, clock, "Remember, Gai Media prefers Friday deliveries.", "s8")
    say(memory, clock, f"Another word from Gai Media on deliveries{end}", "s9")
    (made,) = memory.summarize(dry_run=False).made
    assert "(sure, said 2 times)" in made.text  # 0.7 and 0.15 more, said today
    assert f"deliveries{end}" in made.text
    assert ".." not in made.text.replace("...", "")
    assert not re.search(r"[!?…]\.|\.{4}|0\.\d", made.text)
    assert memory.get(made.id).metadata["as_of"].startswith("2026-01-22")


@pytest.mark.behaviour("KN93")
@pytest.mark.parametrize(("days", "word"), [(0, "likely"), (40, "perhaps"), (60, "doubtful")])
def test_how_sure_a_fact_is_is_said_in_a_word_as_of_a_day(memory, clock, days, word):
    told(memory, clock, 3, days=0)  # 0.7, as it was said once
    clock.passes(days=days)
    (made,) = memory.summarize(dry_run=False).made
    assert f"as of {clock().date().isoformat()}: delivery day preference: Friday ({word})" in made.text


@pytest.mark.behaviour("002-stage-7-supersedes")
def test_it_is_made_anew_when_a_fact_changes_and_takes_the_place_of_the_earlier_one(memory, clock):
    told(memory, clock, 3)
    (first,) = memory.summarize(dry_run=False).made
    say(memory, clock, "Gai Media called.", "s9")
    assert memory.summarize(dry_run=False).made == ()
    memory.correct(memory.facts("Gai Media")[0].id, "Thursday")
    (second,) = memory.summarize(dry_run=False).made
    assert "Thursday" in second.text
    assert "Friday" not in second.key_facts["delivery_day_preference"]["value"]
    assert memory.get(first.id) is None
    assert memory.get(first.id, include_archived=True).status == "superseded"
    assert [m.id for m in memory.list(kinds=["summary"])] == [second.id]


@pytest.mark.behaviour("002-stage-7-boost")
def test_confirmed_facts_are_surer_for_it_once_for_each_confirmation(memory, clock):
    told(memory, clock, 3)
    memory.summarize(dry_run=False)
    assert memory.facts("Gai Media")[0].base == 0.7  # said once
    say(memory, clock, "Remember, Gai Media prefers Friday deliveries!", "s8")
    say(memory, clock, "Remember, Gai Media's payment terms are NET30.", "s8")
    assert memory.summarize(dry_run=False).made
    (friday,) = (f for f in memory.facts("Gai Media") if f.value == "Friday")
    assert (friday.confirmations, friday.base) == (2, pytest.approx(0.9))  # 0.85 and 0.05
    say(memory, clock, "Remember, Gai Media's phone number is 555-1234.", "s8")
    assert memory.summarize(dry_run=False).made
    (friday,) = (f for f in memory.facts("Gai Media") if f.value == "Friday")
    assert friday.base == pytest.approx(0.9)


def test_a_dry_run_writes_nothing_and_an_undo_takes_it_back_row_for_row(memory, clock, path):
    told(memory, clock, 3)
    before = tables(path)
    preview = memory.summarize(dry_run=True)
    assert [s.entity for s in preview.made] == ["gai-media"]
    assert tables(path) == before
    done = memory.summarize(dry_run=False)
    for operation in reversed(done.operations):
        memory.undo(operation)
    after = tables(path)
    assert {k: v for k, v in after.items() if k in {"memory", "document", "link"}} == {
        k: v for k, v in before.items() if k in {"memory", "document", "link"}
    }


def test_what_only_a_session_may_see_is_not_summed_up_for_all(memory, clock):
    for session in range(4):
        memory.ingest(
            [{"content": f"Gai Media: secret {session}.", "at": clock().isoformat()}],
            session=f"s{session}",
            scope="session",
        )
        clock.passes(days=1)
    assert memory.summarize(dry_run=False).made == ()


@pytest.mark.parametrize(
    ("said", "taken"),
    [
        ({"summary": "Gai Media wants Friday deliveries and asks about orders by mail."}, True),
        ({"summary": "Gai Media wants Monday deliveries."}, False),  # nobody said Monday
        (ModelError("It is away."), False),
    ],
)
def test_a_model_may_write_it_where_it_adds_nothing(opening, clock, said, taken):
    memory = opening({**KNOWLEDGE, "model": {"summarise": True}}, model=ScriptedModel(said))
    told(memory, clock, 3)
    with pytest.warns(UserWarning, match="rules do") if isinstance(said, Exception) else nullcontext():
        (made,) = memory.summarize(dry_run=False).made
    assert (
        (made.text == said.get("summary"))
        if taken
        else made.text.startswith("Gai Media, as of 2026-01-22: delivery day")
    )
    assert made.key_facts["delivery_day_preference"]["value"] == "Friday"


def test_key_facts_show_the_confidence_that_they_have_after_it(memory, clock):
    told(memory, clock, 3)
    (fact,) = memory.facts("Gai Media")
    memory.confirm(fact.id)
    before = memory.facts("Gai Media")[0].confidence
    preview = memory.summarize().made[0].key_facts["delivery_day_preference"]["confidence"]
    done = memory.summarize(dry_run=False)
    after = memory.facts("Gai Media")[0].confidence
    assert after == pytest.approx(before + 0.05)
    assert preview == pytest.approx(after, abs=1e-4)
    assert done.made[0].key_facts["delivery_day_preference"]["confidence"] == preview
    memory.undo(done.operation)
    assert memory.facts("Gai Media")[0].confidence == pytest.approx(before)
