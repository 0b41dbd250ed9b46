"""A predicate is shown in the words that were handed over; two are the same by their normal form."""

import pytest

import perdure

WORDS = (
    "OS",
    "RTOS",
    "battery cut-off",
    "measured sleep current",
    "Next.js version",
    "CI/CD",
    "LEDs",
    "Ansprechpartner",
    "DNS",
)


@pytest.fixture
def memory(tmp_path):
    with perdure.open(tmp_path / "a.db", {"embedder": {"model": "none"}}) as opened:
        yield opened


def fact(predicate, value):
    return {"subject": "sensor box", "predicate": predicate, "value": value}


@pytest.mark.behaviour("FD44")
@pytest.mark.parametrize("words", WORDS)
def test_a_predicate_is_shown_as_it_was_handed_over(memory, words):
    memory.learn(claims=[fact(words, "one")])
    (line,) = memory.facts()
    assert line.shown_predicate == words
    assert memory.get(line.id).content == f"sensor box: {words}: one"
    assert f"sensor box: {words}: one" in memory.digest()
    memory.remember("Two says so.", facts=[fact(words.casefold(), "two")])
    (question,) = memory.review()
    assert f"sensor box's {words} is one" in question.question
    corrected = memory.correct(line.id, "three")
    assert corrected.memory.content == f"sensor box: {words}: three"
    assert [f.value for f in memory.facts(predicate=words)] == ["three"]


def test_a_predicate_that_the_table_knows_has_its_name_there(memory):
    memory.remember("Ana lives in Berlin.", facts=[{"subject": "Ana", "predicate": "lives in", "value": "Berlin"}])
    (line,) = memory.facts()
    assert (line.predicate, line.shown_predicate, line.called) == ("home", "home", "")


def test_what_a_person_said_is_the_same_has_one_name(memory):
    memory.remember("A.", facts=[fact("RTOS", "FreeRTOS")])
    memory.remember("B.", facts=[fact("rto", "FreeRTOS")])
    assert [f.shown_predicate for f in memory.facts()] == ["RTOS"]
    assert memory.facts()[0].confirmations == 2
