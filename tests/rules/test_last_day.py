"""Until when a text says that it holds."""

from datetime import date

from conftest import every
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
    ("Lena is on holiday from 7 to 18 December.", date(2026, 12, 18)),
    ("Lena is away from the 7th to the 18th of December 2026.", date(2026, 12, 18)),
    ("The office is closed from 20 December 2026 to 5 January 2027.", date(2027, 1, 5)),
    ("The office is closed from December 20 to January 5.", date(2027, 1, 5)),
    ("Code freeze between 7 and 18 December.", date(2026, 12, 18)),
    ("Code freeze 7-18 December.", date(2026, 12, 18)),
    ("Lena is away from 2026-12-07 to 2026-12-18.", date(2026, 12, 18)),
    ("Lena ist vom 7. bis 18. Dezember im Urlaub.", date(2026, 12, 18)),
    ("Lena ist vom 7. bis zum 18. Dezember im Urlaub.", date(2026, 12, 18)),
    ("Lena ist zwischen dem 7. und 18. Dezember verreist.", date(2026, 12, 18)),
    ("Lena est en vacances du 7 au 18 décembre.", date(2026, 12, 18)),
    ("Lena está de vacaciones del 7 al 18 de diciembre.", date(2026, 12, 18)),
    ("Lena è in ferie dal 7 al 18 dicembre.", date(2026, 12, 18)),
    ("A Lena está de férias de 7 a 18 de dezembro.", date(2026, 12, 18)),
    ("Lena is van 7 tot 18 december met vakantie.", date(2026, 12, 18)),
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
    "The office is open from 9 to 18.",
    "The office is open from Monday to Friday.",
    "The deadline moved from 7 to 18 December.",
    "Der Termin wurde vom 7. auf den 18. Dezember verschoben.",
    "Der Termin wurde von 7. Dezember zu 18. Dezember verlegt.",
    "We were in Rome from 1 to 8 November.",
    "We were in Rome from 2026-10-01 to 2026-10-08.",
    "The fair runs every year from 7 to 18 December.",
    "Lena is away from 7 to 18 December, then Tom is.",
    "The train from 7 to 18 takes an hour.",
    "The release slipped from 7 to 18 December.",
    "4 December Lima, 7-18 December Cusco, 20 December back.",
    "Versions from 7 to 18 are supported.",
]


@every(ENDS)
def test_a_day_until_which_a_text_holds_is_read_against_the_day_on_which_it_was_said(text, last):
    assert last_day(text, SAID) == last


@every(NO_END)
def test_what_is_not_clearly_limited_has_no_end(text):
    assert last_day(text, SAID) is None
