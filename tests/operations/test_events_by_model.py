"""What a message does, said by rules and, where one is configured, by a language model."""

from __future__ import annotations

import pytest

from conftest import WORDS_ONLY, ScriptedModel, logical
from perdure.knowledge.extraction import model_replies as claim_replies
from perdure.records.errors import ModelError

ASKED = {**WORDS_ONLY, "preset": "facts", "model": {"learn": True}}
BASE = {"question": 0.4, "statement": 0.6, "command": 0.7, "correction": 0.9, "confirmation": 0.8}


@pytest.fixture
def memory(opening):
    return opening(ASKED)


def answered(memory, *answers):
    """Have a model answer so from now on."""
    memory._context.model = ScriptedModel(*answers)
    return memory._context.model


def said(memory, text, *answers):
    """Take a message in while the model answers so; its episode, as it is then."""
    answered(memory, *answers)
    return taken_in(memory, text)


def taken_in(memory, text):
    memory.ingest([{"content": text}], session="s")
    return next(m for m in memory.list(kinds=["episode"]) if m.content == text)


def reply(event, *facts):
    return {"event": event, "facts": list(facts)}


@pytest.mark.behaviour("CL-M1")
@pytest.mark.parametrize(
    ("text", "rules", "model", "event"),
    [
        ("I wonder when the parcel comes", "statement", "question", "question"),
        ("The parcel goes out today, if you would", "statement", "command", "command"),
        ("Could it be that the parcel is late, then it is late", "question", "statement", "question"),
        ("Could it be that the parcel is late, then it is late", "question", "command", "command"),
        ("Send word of it was what he told me", "command", "statement", "statement"),
        ("The parcel came", "statement", "correction", "statement"),
        ("The parcel came", "statement", "confirmation", "statement"),
        ("Yes, that is still right", "confirmation", "statement", "confirmation"),
        ("Actually, they prefer Thursday", "correction", "question", "correction"),
        ("The parcel came", "statement", "statement", "statement"),
        ("The parcel came", "statement", "delete everything", "statement"),
    ],
)
def test_rules_decide_what_corrects_and_confirms_and_the_model_between_the_others(memory, text, rules, model, event):
    found = said(memory, text, reply(model))
    assert found.metadata["event"] == event
    assert found.state.importance == pytest.approx(BASE[event], abs=0.06)
    assert found.metadata.get("event_by") == ("model" if event != rules else None)
    assert found.content == text


@pytest.mark.behaviour("CL-M2")
def test_one_call_reads_facts_and_type(memory):
    text = "I heard: Gai Media wants deliveries on Friday. I wonder when the parcel comes"
    fact = {
        "quote": "Gai Media wants deliveries on Friday",
        "subject": "Gai Media",
        "predicate": "delivery_day",
        "value": "Friday",
        "type": "preference",
        "denied": False,
    }
    model = answered(memory, reply("question", fact))
    found = taken_in(memory, text)
    assert [schema for _, _, schema in model.asked] == [claim_replies.schema()]
    assert found.metadata["event"] == "question"
    assert [f.value for f in memory.facts(predicate="delivery_day")] == ["Friday"]
    assert any("says that it is a question, not a statement" in e.because for e in memory.history(found.id))


@pytest.mark.behaviour("CL-M3")
@pytest.mark.parametrize(
    "answer", [ModelError("It is away."), {"event": ["question"], "facts": None}, {"facts": []}, {}]
)
def test_a_failure_or_nonsense_leaves_what_the_rules_said(memory, answer):
    text = "I wonder when the parcel comes"
    if isinstance(answer, Exception):
        with pytest.warns(UserWarning, match="by rules only"):
            found = said(memory, text, answer)
    else:
        found = said(memory, text, answer)
    assert (found.metadata["event"], found.metadata.get("event_by")) == ("statement", None)
    assert found.state.importance == pytest.approx(0.6)


@pytest.mark.behaviour("CL-M4")
def test_what_was_learned_of_a_message_is_taken_back_with_its_type(memory, path):
    answered(memory, reply("question"))
    done = memory.ingest([{"content": "I wonder when the parcel comes"}], session="s")
    after = logical(path)
    undo = memory.undo(done.operations[-1])
    (episode,) = memory.list(kinds=["episode"])
    assert (episode.metadata["event"], episode.state.importance) == ("statement", 0.6)
    memory.undo(undo.operation)
    assert logical(path) == after


def test_without_the_policys_leave_no_model_is_asked(opening):
    memory = opening({**WORDS_ONLY, "preset": "facts"})
    model = answered(memory)
    found = taken_in(memory, "I wonder when the parcel comes")
    assert model.asked == []
    assert found.metadata["event"] == "statement"
