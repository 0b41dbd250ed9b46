"""What begins later is stored in words, no fact is made of it, the reply says so, and what holds until then stays."""

from datetime import UTC, datetime

import pytest

import perdure
from interfaces.test_mcp_talk import over, talk

NOW = datetime(2026, 11, 23, 9, tzinfo=UTC)
PRICE = {"subject": "Alpenstrom", "predicate": "price", "value": "0.12 euro"}
LATER = {**PRICE, "value": "0.10 euro", "valid_from": "2027-01-01"}
PLAN = "Alpenstrom pays 0.12 euro per meter, and 0.10 euro from 2027."


@pytest.fixture
def memory(tmp_path):
    with perdure.open(tmp_path / "a.db", {"embedder": {"model": "none"}}, clock=lambda: NOW) as opened:
        yield opened


@pytest.mark.behaviour("FD43")
def test_a_plan_is_stored_in_words_and_no_fact_is_made_of_it(memory):
    freeze = {"subject": "shopfront", "predicate": "deploy freeze", "value": "on", "valid_from": "2026-11-27"}
    done = memory.remember("Deploy freeze from 27 November.", facts=[freeze, PRICE])
    assert done.facts.planned == ("shopfront: deploy freeze: on (from 2026-11-27)",)
    assert [f.value for f in memory.facts()] == ["0.12 euro"]
    assert "Deploy freeze" in memory.recall("When is the deploy freeze?").hits[0].memory.content


def test_what_holds_until_then_rests_on_the_new_words(memory):
    other = {**PRICE, "predicate": "contact", "value": "Ida"}
    note = memory.remember("Alpenstrom pays 0.12 euro per meter; contact Ida.", facts=[PRICE, other])
    done = memory.update(note.id, PLAN, facts=[LATER])
    assert done.facts.planned == ("Alpenstrom: price: 0.10 euro (from 2027-01-01)",)
    assert [(f.value, done.id in {m for m, _ in f.sources}) for f in memory.facts()] == [("0.12 euro", True)]
    memory.undo(done.operation)
    assert sorted(f.value for f in memory.facts()) == ["0.12 euro", "Ida"]


def test_a_value_that_holds_now_stands_beside_one_that_is_planned(memory):
    note = memory.remember("Alpenstrom pays 0.12 euro per meter.", facts=[PRICE])
    memory.update(
        note.id, "Alpenstrom pays 0.11 euro, and 0.10 from 2027.", facts=[{**PRICE, "value": "0.11 euro"}, LATER]
    )
    assert [f.value for f in memory.facts()] == ["0.11 euro"]


def test_what_stands_in_no_memory_is_still_refused(memory):
    with pytest.raises(perdure.InvalidInput, match="Remember what is planned as a note"):
        memory.learn(claims=[LATER])
    memory.remember("Alpenstrom pays 0.12 euro per meter.", facts=[PRICE])
    with pytest.raises(perdure.InvalidInput, match="is a fact"):
        memory.update(memory.facts()[0].id, PLAN, facts=[LATER])


def test_a_model_reads_that_the_fact_was_left_out(memory):
    async def story(client):
        answer = await client.call_tool("remember", {"content": PLAN, "facts": [LATER]})
        told = "No fact yet, it begins later: 'Alpenstrom: price: 0.10 euro (from 2027-01-01)'"
        assert told in answer.content[0].text.replace('"', "'")

    talk(over(memory, "full"), story)
