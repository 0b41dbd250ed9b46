"""Each fact that a call ends says what took its place: a fact, or the memory that replaced what said it."""

import pytest

import perdure


@pytest.fixture
def memory():
    with perdure.open(":memory:", {"embedder": {"model": "none"}}) as opened:
        yield opened


def claim(subject, predicate, value):
    return {"subject": subject, "predicate": predicate, "value": value}


CALLS = [claim("user", "company", "Kilndesk"), claim("user", "earliest call", "10:00")]
LATER = [claim("user", "company", "Kilndesk"), claim("user", "latest call", "17:00")]


def test_an_update_that_says_it_no_more_is_named(memory):
    first = memory.remember("The user runs Kilndesk and takes no calls before 10:00.", facts=CALLS)
    done = memory.update(first.id, "The user runs Kilndesk; no calls after 17:00.", facts=LATER)
    assert [(fact.content, fact.by) for fact in done.facts.replaced] == [("user: earliest call: 10:00", done.id)]


def test_a_note_that_replaces_the_only_one_that_said_it_is_named(memory):
    first = memory.remember("La reunión es los martes.", facts=[claim("reunión", "día", "martes")])
    done = memory.remember("Ya no hay reunión; Beatriz prefiere un resumen escrito.", replaces=[first.id])
    assert [(fact.content, fact.by) for fact in done.facts.replaced] == [("reunión: día: martes", done.id)]


def test_a_fact_that_took_its_place_goes_before_the_note(memory):
    first = memory.remember("The port is 7410.", facts=[claim("tollbooth", "port", "7410")])
    done = memory.update(first.id, "The port is 7411.", facts=[claim("tollbooth", "port", "7411")])
    assert [fact.by for fact in done.facts.replaced] == list(done.facts.created)
