"""A fact whose words say from which day to which it holds ends with the last one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from conftest import WORDS_ONLY, Clock

SAID = datetime(2026, 12, 1, tzinfo=UTC)
LIMITED = {
    "Lena is on holiday until 18 December.": "on holiday",
    "Lena is on holiday from 7 to 18 December.": "on holiday",
    "Lena is away from 2026-12-07 to 2026-12-18.": "away",
    "Lena ist vom 7. bis 18. Dezember im Urlaub.": "Urlaub",
    "Lena est en vacances du 7 au 18 décembre.": "en vacances",
    "Lena está de vacaciones del 7 al 18 de diciembre.": "vacaciones",
    "Lena è in ferie dal 7 al 18 dicembre.": "ferie",
    "A Lena está de férias de 7 a 18 de dezembro.": "férias",
    "Lena is van 7 tot 18 december met vakantie.": "met vakantie",
}
UNLIMITED = {
    "Lena, who works at Acme, is on holiday from 7 to 18 December.": "Acme",
    "Lena's holiday moved from 7 to 18 December.": "holiday",
    "Lena is on holiday from 7 to 18 December, then in Rome.": "on holiday",
    "Lena is on holiday every year from 7 to 18 December.": "on holiday",
    "Lena reads pages from 7 to 18.": "pages",
}


@pytest.fixture
def clock():
    return Clock(SAID)


def handed(memory, text, value):
    memory.remember(text, facts=[{"subject": "Lena", "predicate": "status", "value": value}])
    return memory.facts("Lena")[0]


@pytest.mark.parametrize("text", LIMITED)
def test_a_fact_ends_with_the_last_day_that_stands_beside_its_value(opening, clock, text):
    memory = opening(WORDS_ONLY)
    assert handed(memory, text, LIMITED[text]).valid_to == "2026-12-18 23:59 UTC"
    clock.passes(days=17)
    assert len(memory.facts("Lena")) == 1
    clock.passes(days=1)
    assert memory.facts("Lena") == []
    assert memory.digest().count("Lena") == 0


@pytest.mark.parametrize("text", UNLIMITED)
def test_what_is_not_limited_clearly_has_no_end(opening, text):
    assert handed(opening(WORDS_ONLY), text, UNLIMITED[text]).valid_to == ""


def test_an_end_that_the_caller_states_wins_and_of_two_facts_none_is_guessed(opening):
    memory = opening(WORDS_ONLY)
    text = "Lena is on holiday from 7 to 18 December."
    fact = {"subject": "Lena", "predicate": "status", "value": "on holiday"}
    memory.remember(text, facts=[{**fact, "valid_to": "2026-12-20"}])
    assert memory.facts("Lena")[0].valid_to.startswith("2026-12-20")
    other = {**fact, "subject": "Tom"}
    memory.remember("Tom and Ida are on holiday from 7 to 18 December.", facts=[other, {**other, "subject": "Ida"}])
    assert [f.valid_to for name in ("Tom", "Ida") for f in memory.facts(name)] == ["", ""]


def test_a_message_that_is_read_gives_its_fact_the_end_and_not_the_beginning(opening, clock):
    memory = opening({**WORDS_ONLY, "preset": "facts"})
    said = {"content": "I live in Berlin from 7 to 18 December.", "role": "user", "at": clock().isoformat()}
    memory.ingest([said], session="s1")
    (fact,) = memory.facts()
    assert (fact.value, fact.valid_from[:10], fact.valid_to[:10]) == ("Berlin", "2026-12-01", "2026-12-18")
    clock.now += timedelta(days=30)
    assert memory.facts() == []
