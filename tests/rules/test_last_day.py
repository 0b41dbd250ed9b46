"""Until when a text says that it holds."""

from datetime import date

import pytest

from perdure.rules.language.last_day import last_day

SAID = date(2026, 11, 10)  # a Tuesday

ENDS = [
    ("Code freeze until 20 November 2026: merge nothing to main.", date(2026, 11, 20)),
    ("The lift is broken until Friday.", date(2026, 11, 13)),
    ("The lift is broken till tomorrow", date(2026, 11, 11)),
    ("Jürgen ist vom 23. bis 27. November 2026 im Urlaub, Vertretung: Selin Kaya.", date(2026, 11, 27)),
    ("Urlaub bis 3.12.2026", date(2026, 12, 3)),
    ("Le serveur est en panne jusqu'au 15 novembre.", date(2026, 11, 15)),
    ("La oficina está cerrada hasta el 16 de noviembre de 2026.", date(2026, 11, 16)),
    ("O elevador está avariado até 18 de novembro.", date(2026, 11, 18)),
    ("Ufficio chiuso fino al 14 novembre.", date(2026, 11, 14)),
    ("De lift is stuk tot vrijdag.", date(2026, 11, 13)),
    ("We keep Node 18 until 2027-03-01.", date(2027, 3, 1)),
    ("Frozen until January 5.", date(2027, 1, 5)),
]
NO_END = [
    "Code freeze.",
    "The release is not until 20 November.",
    "Der Umzug ist nicht bis Freitag fertig, sagt Ida.",
    "We use Node 18 until 1 March 2027, then Node 20.",
    "Wir nutzen Airflow bis 1. März 2027, danach Dagster.",
    "The office is open Monday until Friday.",
    "The office is open every day until 20 December.",
    "She worked at Acme until 3 May 2019.",
    "The shop is open until 20:00.",
    "We freeze until further notice.",
    "Code freeze until 20 November. Merges go to develop.",
    "Is the lift broken until Friday?",
    "Broken until 31 February 2027.",
    "Until Friday or until Monday, nobody knows.",
]


@pytest.mark.parametrize(("text", "last"), ENDS)
def test_a_day_until_which_a_text_holds_is_read_against_the_day_on_which_it_was_said(text, last):
    assert last_day(text, SAID) == last


@pytest.mark.parametrize("text", NO_END)
def test_what_is_not_clearly_limited_has_no_end(text):
    assert last_day(text, SAID) is None
