"""MEMORY.md with a language model: sentences that join lines stand only where they say the same in fewer tokens."""

from __future__ import annotations

import re

import pytest

from conftest import WORDS_ONLY, ScriptedModel
from perdure import ModelError, ModelWarning

POLICY = {**WORDS_ONLY, "model": {"base_url": "http://localhost:1/v1", "name": "m", "digest": True}}
PORT = "The Northwall staging server listens on port 8081."
OWNER = "The Northwall staging server is run by Jonas."
LUNCH = "Lunch on Fridays is at noon."
JOINED = "The Northwall staging server is run by Jonas and listens on port 8081."


def sentences(*pairs):
    return {"sentences": [{"text": text, "of": of} for text, of in pairs]}


@pytest.fixture
def digest_of(opening):
    """Return the lines of a digest as a model's replies leave them, and the model."""

    def lines(*replies, policy=POLICY, told=(PORT, OWNER, LUNCH), times=1):
        model = ScriptedModel(*replies)
        memory = opening(policy, model=model)
        ids = [memory.remember(text).id for text in told]
        found = [memory.digest() for _ in range(times)][-1]
        assert sorted(re.findall(r"\[([0-9a-f]{8})\]", found)) == sorted(i[-8:] for i in ids)
        return [line[2:] for line in found.splitlines() if line.startswith("- ")], model

    return lines


def words(lines):
    return sorted(line.partition(" (")[0] for line in lines)


def of(model, *texts):
    """Return the numbers under which a model was shown some texts."""
    shown = dict(reversed(line.split(". ", 1)) for line in model.asked[0][1].splitlines() if line)
    return [int(shown[text]) for text in texts]


@pytest.fixture
def both(digest_of):
    """Return the numbers of the two lines about the server."""
    _, model = digest_of(sentences())
    return of(model, PORT, OWNER)


def test_a_sentence_stands_for_the_lines_that_it_joins_and_names_both_ids(digest_of, both):
    lines, _ = digest_of(sentences((JOINED, both)))
    assert words(lines) == [LUNCH, JOINED]
    joined = next(line for line in lines if line.startswith(JOINED))
    assert len(re.findall(r"\[[0-9a-f]{8}\]", joined)) == 2
    assert joined.endswith("]")


@pytest.mark.parametrize(
    "text",
    [
        "The Northwall staging server is run by Jonas and listens on port 8082.",  # another number
        "The Northwall staging server is run by Jonas.",  # one is lost
        "The Northwall staging server is not run by Jonas and listens on port 8081.",  # denied
        "The Northwall staging server is run by Jonas and Mia and listens on port 8081.",  # a name more
        "Northwall staging: excellent reliable server run by Jonas with love, listens on port 8081 for deployments.",
        "The Northwall staging server listens on port 8081. The Northwall staging server is run by Jonas. " * 2,
        "",
    ],
)
def test_what_says_something_else_or_is_longer_does_not_stand(digest_of, both, text):
    lines, _ = digest_of(sentences((text, both)))
    assert words(lines) == sorted([LUNCH, OWNER, PORT])


@pytest.mark.parametrize("numbers", [[1], [1, 1], [0, 1], [1, 99], [], ["1", "2"], [1, True]])
def test_a_sentence_that_does_not_name_its_lines_does_not_stand(digest_of, numbers):
    lines, _ = digest_of(sentences((JOINED, numbers)))
    assert words(lines) == sorted([LUNCH, OWNER, PORT])


@pytest.mark.parametrize("reply", [{}, {"sentences": "no"}, {"sentences": ["no", 1, None]}])
def test_a_reply_of_another_form_changes_nothing(digest_of, reply):
    lines, _ = digest_of(reply)
    assert words(lines) == sorted([LUNCH, OWNER, PORT])


def test_a_line_is_joined_once(digest_of, both):
    lines, _ = digest_of(sentences((JOINED, both), (JOINED, both)))
    assert words(lines) == [LUNCH, JOINED]


def test_a_model_that_fails_leaves_the_lines_and_says_so(digest_of):
    with pytest.warns(ModelWarning, match="could not join lines of the memory summary: it is down"):
        lines, _ = digest_of(ModelError("it is down", remedy="Wait."))
    assert words(lines) == sorted([LUNCH, OWNER, PORT])


def test_the_same_lines_are_asked_about_once(digest_of):
    _, model = digest_of(sentences(), times=3)
    assert len(model.asked) == 1


@pytest.mark.parametrize("model", [{**POLICY["model"], "digest": False}, {}])
def test_no_model_is_asked_that_the_policy_does_not_want(digest_of, model):
    lines, asked = digest_of(policy={**WORDS_ONLY, "model": model})
    assert words(lines) == sorted([LUNCH, OWNER, PORT])
    assert asked.asked == []


def test_what_is_not_about_one_thing_is_not_shown_to_the_model(digest_of):
    _, model = digest_of(sentences())
    assert LUNCH not in model.asked[0][1]
    assert "data and no instruction" in model.asked[0][0]


def test_a_session_starts_without_waiting_for_a_model(opening):
    model = ScriptedModel()
    memory = opening(POLICY, model=model)
    memory.remember_many([PORT, OWNER])
    assert PORT in memory.agent.opening("s", "default")
    assert model.asked == []


def test_the_file_that_maintenance_keeps_up_has_the_joined_sentences_with_their_ids(opening, both, tmp_path):
    model = ScriptedModel(sentences((JOINED, both)))
    file = tmp_path / "MEMORY.md"
    file.write_text("# Mine\n", "utf-8")
    memory = opening({**POLICY, "digest": {"file": str(file)}}, model=model)
    ids = [memory.remember(text).id for text in (PORT, OWNER, LUNCH)]
    memory.upkeep("one")
    text = file.read_text("utf-8")
    assert text.startswith("# Mine\n")
    (line,) = [line for line in text.splitlines() if line.startswith(f"- {JOINED}")]
    assert sorted(re.findall(r"\[([0-9a-f]{8})\]", line)) == sorted(i[-8:] for i in ids[:2])
    assert PORT not in text
