"""What the reader takes out of messages, as the facts that are believed afterwards."""

from __future__ import annotations

import pytest

from conftest import WORDS_ONLY

KNOWLEDGE = {**WORDS_ONLY, "preset": "facts"}


@pytest.fixture
def memory(opening):
    return opening(KNOWLEDGE)


@pytest.fixture
def talk(memory, clock):
    """Take in turns a minute apart; every turn that begins with "A:" is the assistant's."""

    def turns(*texts):
        for text in texts:
            clock.passes(minutes=1)
            role = "assistant" if text.startswith("A: ") else "user"
            memory.ingest([{"content": text.removeprefix("A: "), "role": role, "at": clock().isoformat()}], session="s")

    return turns


def believed(memory):
    return {(f.name, f.predicate, f"not {f.value}" if f.denied else f.value) for f in memory.facts()}


@pytest.mark.behaviour("RD1")
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("My landlord is Mr. Petrov.", ("user", "landlord", "Mr. Petrov")),
        ("I met her at 9 a.m. on Mondays. My dentist is Dr. J. Ito.", ("user", "dentist", "Dr. J. Ito")),
    ],
)
def test_an_abbreviation_ends_no_sentence(memory, talk, text, told):
    talk(text)
    assert told in believed(memory)


@pytest.mark.parametrize(
    "text",
    [
        "A scene for my play. EVA: I am retired. TOM: I live in Lyon.",
        "Knock knock. - Who's there? - My name is Eva. Eva who?",
        "You are a sea captain. My name is Kezia and I hate rain.",
        "Correct my grammar: My name is Eva and I lives in Lyon.",
        "I like option B better.",
        "The letter reads: Dear Sir, my name is Prince Eva.",
        "User: my name is Test, I live in Lyon",
    ],
)
def test_what_is_played_or_chosen_among_what_is_shown_is_no_fact(memory, talk, text):
    talk(text)
    assert believed(memory) == set()


@pytest.mark.behaviour("RD2")
@pytest.mark.parametrize(
    "text",
    [
        "I don't eat meat on Fridays.",
        "We never eat dinner before eight in this house.",
        "My aunt Joan converted to Islam last year.",
    ],
)
def test_what_is_denied_of_a_time_alone_and_a_faith_that_is_taken_up_are_no_facts(memory, talk, text):
    talk(text)
    assert {fact for fact in believed(memory) if fact[1] in {"eat", "use"}} == set()


def test_a_denial_with_a_reason_is_believed(memory, talk):
    talk("I don't eat meat because of my heart.")
    assert ("user", "eat", "not meat") in believed(memory)


def test_who_gives_a_name_is_known_by_it(memory, talk):
    talk("My name is Ingrid.", "Ingrid prefers tea.")
    assert believed(memory) == {("user", "name", "Ingrid"), ("user", "preference", "tea")}
    assert [e.name for e in memory.entities()] == ["user"]


def test_a_name_that_is_anothers_stays_anothers(memory, talk):
    talk("Ingrid Olsen likes Oslo.", "My name is Ingrid Olsen.")
    talk("Ingrid Olsen prefers coffee.")
    assert {f.value for f in memory.facts("Ingrid Olsen")} == {"Oslo", "coffee"}


@pytest.mark.behaviour("RD3")
def test_what_is_denied_is_believed_and_conflicts_with_what_is_said(memory, talk):
    talk("I don't eat pork.")
    assert believed(memory) == {("user", "eat", "not pork")}
    talk("I don't eat pork.")
    (fact,) = memory.facts()
    assert (fact.denied, fact.confirmations) == (True, 2)


@pytest.mark.behaviour("RD4")
@pytest.mark.parametrize(
    ("question", "answer", "told"),
    [
        ("Do you live in Lyon?", "Yes.", {("user", "home", "Lyon")}),
        ("Is your landlord still Mr. Petrov?", "Yep", {("user", "landlord", "Mr. Petrov")}),
        ("So you prefer tea, right?", "Correct.", {("user", "preference", "tea")}),
        ("Do you eat pork?", "No.", {("user", "eat", "not pork")}),
        ("Do you smoke?", "never have", {("user", "smoke", "not smoke")}),
        ("Should I book a table?", "Yes.", set()),
        ("Do you want me to call Ann?", "Yes, please", set()),
    ],
)
def test_a_yes_or_no_says_what_was_asked(memory, talk, question, answer, told):
    talk(f"A: {question}", answer)
    assert believed(memory) == told


def test_a_no_with_another_value_corrects_what_was_asked(memory, talk):
    talk("A: Is your standup on Tuesday?", "No, it's Thursday.")
    assert believed(memory) == {("user", "standup_day", "Thursday")}


@pytest.mark.behaviour("RD5")
@pytest.mark.parametrize(
    "text", ["Note: das Passwort ist nicht mehr gültig.", "No, el jueves.", "Mi hermana Ana vive en Madrid."]
)
def test_in_another_language_nothing_is_read(memory, talk, text):
    talk(text)
    assert memory.facts() == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Remember: milk and eggs for Friday", {("user", "note", "milk and eggs for Friday")}),
        ("Remember, the zinc door on Mill Row 14!", set()),  # it may open any sentence
    ],
)
def test_words_that_say_nothing_are_a_note_only_where_it_is_plain_that_they_are_to_be_remembered(
    memory, talk, text, told
):
    talk(text)
    assert believed(memory) == told
