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
    assert words in question.question  # as a sentence where it makes one, else quoted
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


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("rows left", "importer: rows left: 413"),
        ("widgets", "importer: widgets: 413"),
        ("ports", "importer: port: 413"),
        ("likes", "importer: likes: 413"),
        ("eats", "importer: eats: 413"),
        ("allergies", "importer: allergy: 413"),
    ],
)
def test_words_keep_their_s(memory, words, shown):
    memory.remember("It is so.", facts=[{"subject": "importer", "predicate": words, "value": "413"}])
    [line] = memory.facts("importer")
    assert memory.get(line.id).content == shown


def test_a_verb_that_is_shown_as_it_is_said_is_asked_about_in_a_sentence(memory):
    memory.remember("Tim likes gin.", facts=[{"subject": "Tim", "predicate": "likes", "value": "gin"}])
    denied = {"subject": "Tim", "predicate": "likes", "value": "gin", "denied": True}
    memory.remember("Tim doesn't like gin after all.", facts=[denied], replaces=[])
    assert {f.shown_predicate for f in memory.facts("Tim", past=True)} == {"likes"}
    memory.remember("I like tea.", facts=[{"subject": "user", "predicate": "likes", "value": "tea"}])
    assert [memory.get(f.id).content for f in memory.facts("user")] == ["user: likes: tea"]
