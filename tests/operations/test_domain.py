"""A conversation beside a real domain database: what customers prefer is said, and the database knows better.

Both values are in the answers: what was remembered, and what the database holds.
"""

from __future__ import annotations

import sqlite3

import pytest

from conftest import WORDS_ONLY

pytest.importorskip("sqlalchemy")

FILE = """
[authorities.sales]
url = "sqlite:///domain.db"
[authorities.sales.predicates]
delivery_day_preference = "SELECT delivery_day FROM customer WHERE name = :subject"
payment_term = "SELECT terms FROM customer WHERE name = :subject"
"""


@pytest.fixture
def domain(tmp_path):
    """Customers in a file of their own."""
    connection = sqlite3.connect(tmp_path / "domain.db", isolation_level=None)
    connection.execute("CREATE TABLE customer (name TEXT PRIMARY KEY, delivery_day TEXT, terms TEXT)")
    connection.execute("INSERT INTO customer VALUES ('Gai Media', 'Thursdays', 'NET 30'), ('Brightbox', NULL, 'NET60')")
    (tmp_path / "knowledge.toml").write_text(FILE)
    yield connection
    connection.close()


@pytest.fixture
def memory(opening, domain, tmp_path):
    file = str(tmp_path / "knowledge.toml")  # asked by verify and recall, not at once
    return opening({**WORDS_ONLY, "preset": "facts", "knowledge": {"file": file, "authority_seconds": 0}})


@pytest.fixture
def talked(memory, clock):
    for text in (
        "Remember, Gai Media prefers Friday deliveries.",
        "Remember, Gai Media's payment terms are NET30.",
        "Remember, Brightbox prefers Monday deliveries.",
    ):
        memory.ingest([{"content": text, "at": clock().isoformat()}], session="s1")
        clock.passes(minutes=1)
    return memory


def told(memory, entity):
    return {(f.predicate, f.value): (f.state, f.trust) for f in memory.facts(entity, past=True)}


@pytest.mark.behaviour("002-stage-4-trust_db")
def test_the_database_wins_and_both_values_are_in_the_answer(talked):
    found = talked.verify()
    (verdict,) = [v for v in found.verdicts if v.outcome == "disagrees"]
    assert (verdict.claimed, verdict.known) == ("Friday", ("Thursdays",))
    assert told(talked, "Gai Media") == {
        ("delivery_day_preference", "Friday"): ("invalidated", "user"),
        ("delivery_day_preference", "Thursdays"): ("active", "authority"),
        ("payment_term", "NET30"): ("active", "user"),  # NET 30 is the same
    }
    assert told(talked, "Brightbox") == {("delivery_day_preference", "Monday"): ("active", "user")}  # NULL says nothing
    sheet = talked.answer_sheet("Which delivery day does Gai Media prefer?")
    assert "Thursdays" in sheet.text
    assert "Friday" in sheet.text


def test_what_the_database_agrees_with_is_surer(talked):
    before = {f.value: f for f in talked.facts("Gai Media")}["NET30"]
    talked.verify()
    after = {f.value: f for f in talked.facts("Gai Media")}["NET30"]
    assert (after.base, after.confirmations) == (pytest.approx(before.base + 0.02), before.confirmations + 1)


@pytest.mark.behaviour("KW3")
def test_an_ageing_fact_is_checked_when_it_is_recalled(talked, clock):
    clock.passes(days=100)
    question = "Which delivery day does Gai Media prefer?"
    unread = talked.recall(question, kinds=["fact"], touch=False)
    assert "Friday" in unread.hits[0].memory.content  # whoever only looks changes nothing
    hits = talked.recall(question, kinds=["fact"]).hits
    assert "Thursdays" in hits[0].memory.content
    assert all("Friday" not in h.memory.content for h in hits)
    assert not hits[0].memory.aging


def test_what_was_said_against_the_database_yields(talked, clock):
    talked.verify()
    talked.ingest(
        [{"content": "Remember, Gai Media prefers Monday deliveries.", "at": clock().isoformat()}], session="s2"
    )
    states = told(talked, "Gai Media")
    assert states["delivery_day_preference", "Thursdays"] == ("active", "authority")
    assert states["delivery_day_preference", "Monday"][0] == "superseded"


@pytest.mark.behaviour("KW4")
def test_an_unreachable_database_says_so_and_changes_nothing(talked, domain, tmp_path, clock):
    domain.close()
    (tmp_path / "domain.db").unlink()
    found = talked.verify()
    assert {v.outcome for v in found.verdicts} == {"unreachable"}
    assert ("delivery_day_preference", "Friday") in told(talked, "Gai Media")
    clock.passes(days=100)
    hit = talked.recall("Which delivery day does Gai Media prefer?", kinds=["fact"]).hits[0]
    assert "Friday" in hit.memory.content
    assert hit.question


@pytest.mark.behaviour("KN96")
def test_why_tells_what_the_database_has_on_both_sides_of_a_conflict(talked):
    (verdict,) = [v for v in talked.verify().verdicts if v.outcome == "disagrees"]
    (winner,) = (f.id for f in talked.facts("Gai Media", predicate="delivery day preference"))
    for identity, mine, theirs in ((verdict.id, "Friday", "Thursdays"), (winner, "Thursdays", "Friday")):
        told = talked.why(identity).fact
        (clash,) = told.conflicts
        assert (clash.value, clash.other_value, clash.told) == (
            mine,
            theirs,
            "an authority wins; Friday was invalidated",
        )
        assert [(c.authority, c.value) for c in told.checks] == [("sales", "Thursdays")]
