"""What is learned is held against an authority at once: it grounds, it wins, or it is not waited for."""

from __future__ import annotations

import sqlite3
import threading
import warnings
from contextlib import closing

import pytest

import perdure
from conftest import WORDS_ONLY, ScriptedModel
from perdure.knowledge.operations.ports import resources
from perdure.knowledge.records.authority import AnswerStatus, AuthorityAnswer

pytest.importorskip("sqlalchemy")

FILE = """
[authorities.sales]
url = "sqlite:///domain.db"
[authorities.sales.predicates]
delivery_day_preference = "SELECT delivery_day FROM customer WHERE name = :subject"
payment_term = "SELECT terms FROM customer WHERE name = :subject"
"""
DAY = "delivery_day_preference"


@pytest.fixture(params=["sqlite", "postgres"], scope="module")
def store(request):
    return request.param


@pytest.fixture
def domain(tmp_path):
    """Customers in a file of their own."""
    with closing(sqlite3.connect(tmp_path / "domain.db", isolation_level=None)) as connection:
        connection.execute("CREATE TABLE customer (name TEXT PRIMARY KEY, delivery_day TEXT, terms TEXT)")
        connection.execute("INSERT INTO customer VALUES ('Gai Media', 'Thursdays', 'NET 30'), ('Brightbox', NULL, 'x')")
    (tmp_path / "knowledge.toml").write_text(FILE)
    return tmp_path / "domain.db"


@pytest.fixture
def memory(asking):
    return asking()


@pytest.fixture
def asking(opening, domain, tmp_path):
    def make(*, gates=None, model=None, **knowledge):
        file = str(tmp_path / "knowledge.toml")
        knowledge = {"file": file, "authority_seconds": 60, **knowledge}  # a busy machine is no authority that hangs
        policy = {**WORDS_ONLY, "preset": "facts", "knowledge": knowledge}
        return opening({**policy, **({"gates": gates} if gates else {}), **({"model": model} if model else {})})

    return make


def said(memory, text, session="s"):
    done = memory.ingest([{"content": text}], session=session)
    return done, next(m for m in memory.list(kinds=["episode"]) if m.content == text)


def claim(value, predicate="delivery day preference", **more):
    return {"subject": "Gai Media", "predicate": predicate, "value": value, **more}


def importance(memory, identity):
    return memory.get(identity, include_archived=True).state.importance


def told(memory, entity="Gai Media"):
    return {f.value: (f.state, f.trust, f.base) for f in memory.facts(entity, past=True)}


TERMS = "Remember, Gai Media's payment terms are NET30."
FRIDAY = "Remember, Gai Media prefers Friday deliveries."


@pytest.mark.behaviour("KW70")
def test_a_message_that_the_authority_confirms_is_grounded(memory):
    _, message = said(memory, TERMS)
    (fact,) = memory.facts("Gai Media")
    assert (fact.base, fact.confirmations) == (pytest.approx(0.72), 2)
    assert importance(memory, fact.id) == pytest.approx(0.7)
    assert importance(memory, message.id) == pytest.approx(0.75)  # a statement that names one, and is grounded
    assert [(c.authority, c.outcome, c.value) for c in memory.why(fact.id).fact.checks] == [
        ("sales", "agrees", "NET 30")
    ]
    assert any("sales confirms it: importance 0.65 to 0.75" in e.because for e in memory.history(message.id))


@pytest.mark.behaviour("KW70")
def test_a_claim_that_the_authority_confirms_is_grounded_with_the_note_that_says_it(memory):
    kept = memory.remember("They pay within 30 days.", facts=[claim("NET30", "payment terms")], importance=0.95)
    (fact,) = memory.facts("Gai Media")
    assert (fact.base, importance(memory, fact.id)) == (pytest.approx(0.72), pytest.approx(0.7))
    assert importance(memory, kept.id) == 1.0
    again = memory.remember("Their terms are NET 30.", facts=[claim("NET 30", "payment terms")], importance=0.3)
    assert importance(memory, again.id) == pytest.approx(0.4)
    assert importance(memory, fact.id) == pytest.approx(0.7)


@pytest.mark.behaviour("KW71")
@pytest.mark.parametrize("door", ["ingest", "remember", "learn"])
def test_what_the_authority_contradicts_yields_to_it_in_the_same_operation(memory, door):
    if door == "ingest":
        done, message = said(memory, FRIDAY)
        operation = done.operations[-1]
        assert importance(memory, message.id) == pytest.approx(0.65)
    elif door == "remember":
        operation = memory.remember("Deliveries on Friday.", facts=[claim("Friday")]).operation
    else:
        (operation,) = memory.learn(claims=[claim("Friday")]).operations
    assert told(memory) == {
        "Friday": ("invalidated", "user", 0.7),
        "Thursdays": ("active", "authority", 0.95),
    }
    (now,) = memory.facts("Gai Media")
    (clash,) = memory.why(now.id).fact.conflicts
    assert (clash.value, clash.other_value, clash.told) == (
        "Thursdays",
        "Friday",
        "an authority wins; Friday was invalidated",
    )
    memory.undo(operation)
    assert memory.facts(past=True) == []


def test_what_is_believed_already_yields_too(asking, memory):
    asking(authority_seconds=0).remember("Deliveries on Friday.", facts=[claim("Friday")])
    assert told(memory)["Friday"][0] == "active"
    memory.remember("Still Friday.", facts=[claim("Friday")])
    assert {value: state for value, (state, _, _) in told(memory).items()} == {
        "Friday": "invalidated",
        "Thursdays": "active",
    }


def test_a_wrong_query_does_not_invalidate_what_was_believed_beyond_the_loss_budget(asking, domain):
    asking(authority_seconds=0).remember("Deliveries on Friday.", facts=[claim("Friday")])
    memory = asking(gates={"loss_free_count": 0, "loss_share": 0.0})
    with pytest.warns(perdure.AuthorityWarning, match="were not replaced: loss budget"):
        memory.remember("Still Friday.", facts=[claim("Friday"), claim("NET30", "payment terms")])
    assert told(memory)["Friday"][:2] == ("active", "user")
    assert told(memory)["NET30"][2] == pytest.approx(0.72)


def test_an_authority_that_knows_nothing_grounds_nothing_and_is_no_reason_to_warn(memory):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        said(memory, "Remember, Brightbox prefers Monday deliveries.")
    (fact,) = memory.facts("Brightbox")
    assert (fact.base, importance(memory, fact.id)) == (0.7, pytest.approx(0.6))
    assert [c.outcome for c in memory.why(fact.id).fact.checks] == ["silent"]


class Counting:
    """An authority that answers as it is told, and counts how often it is asked."""

    name = "sales"

    def __init__(self, answer):
        self.answer, self.asked = answer, 0

    def knows(self, predicate, namespace):  # noqa: ARG002  # part of the port
        return predicate == DAY

    def answers(self, questions):
        self.asked += 1
        return [self.answer() for _ in questions]


def put(memory, answer):
    resources(memory._context).authorities = {"sales": Counting(answer)}
    return resources(memory._context).authorities["sales"]


@pytest.mark.behaviour("KW72")
def test_an_authority_that_fails_leaves_facts_as_they_were_said_with_one_warning(memory, clock):
    sales = put(memory, lambda: AuthorityAnswer(AnswerStatus.UNREACHABLE, evidence="the server is gone"))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        said(memory, FRIDAY)
        memory.remember("Deliveries on Monday.", facts=[claim("Monday", replaces="Friday")])
    assert [w.category for w in caught] == [perdure.AuthorityWarning]
    assert "not compared with sales: the server is gone" in str(caught[0].message)
    assert told(memory)["Monday"][:2] == ("active", "user")
    assert sales.asked == 1  # it is left alone for a minute
    sales.answer = lambda: AuthorityAnswer(AnswerStatus.KNOWN, ("Monday",), "it says so")
    clock.passes(minutes=2)
    memory.remember("Yes, Monday.", facts=[claim("Monday")])
    assert [c.outcome for c in memory.why(memory.facts("Gai Media")[0].id).fact.checks] == ["agrees"]


@pytest.mark.behaviour("KW72")
def test_an_authority_that_hangs_is_not_waited_for(asking):
    memory = asking(authority_seconds=0.1)
    over = threading.Event()

    def hang():
        over.wait(60)
        return AuthorityAnswer(AnswerStatus.KNOWN, ("Thursday",), "too late")

    put(memory, hang)
    with pytest.warns(perdure.AuthorityWarning, match=r"no answer within 0\.1 s"):
        said(memory, FRIDAY)
    assert not over.is_set()
    over.set()
    assert told(memory) == {"Friday": ("active", "user", 0.7)}


def test_a_policy_that_gives_no_time_asks_nobody(asking):
    memory = asking(authority_seconds=0)
    sales = put(memory, lambda: AuthorityAnswer(AnswerStatus.KNOWN, ("Thursday",), ""))
    said(memory, FRIDAY)
    assert sales.asked == 0
    assert told(memory) == {"Friday": ("active", "user", 0.7)}


def test_a_long_conversation_is_asked_about_at_once(asking):
    memory = asking()
    sales = put(memory, lambda: AuthorityAnswer(AnswerStatus.SILENT))
    names = [
        "Anchor",
        "Birch",
        "Cobalt",
        "Delta",
        "Ember",
        "Fjord",
        "Garnet",
        "Harbour",
        "Indigo",
        "Juniper",
        "Kestrel",
        "Lagoon",
        "Maple",
        "Nimbus",
    ]
    texts = [f"Remember, {name} prefers Friday deliveries." for name in names]
    memory.ingest([{"content": text} for text in texts], session="s")
    assert len(memory.facts(predicate="delivery day preference")) == len(names)
    assert sales.asked == 1


def test_what_a_model_reads_is_grounded_too(asking):
    text = "Gai Media has its deliveries on Thursday"
    memory = asking(model={"learn": True}, statements=False)
    read = {"quote": text, "subject": "Gai Media", "predicate": DAY, "value": "Thursday", "type": "preference"}
    away = perdure.ModelError("It is away.")
    memory._context.model = ScriptedModel(away, {"event": "statement", "facts": [{**read, "denied": False}]})
    with pytest.warns(perdure.ModelWarning):
        said(memory, text)
    memory.learn(["s"])
    (fact,) = memory.facts("Gai Media")
    assert (fact.value, fact.base) == ("Thursday", pytest.approx(0.52))
    assert [c.outcome for c in memory.why(fact.id).fact.checks] == ["agrees"]
