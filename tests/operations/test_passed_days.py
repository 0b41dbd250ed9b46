"""An appointment or a deadline whose day is over: MEMORY.md says so, and has it behind what holds."""

from __future__ import annotations

import pytest

from conftest import WORDS_ONLY


@pytest.fixture
def memory(opening):
    return opening(WORDS_ONLY)


def line_with(text, words):
    return next(line for line in text.splitlines() if words in line)


APPOINTMENTS = [
    ("The grant proposal has to be submitted by 15 April 2026.", "2026-04-15"),
    ("Interview with Dana on 9 March.", "2026-03-09"),
    ("Am 17. April fliegen wir nach Oslo.", "2026-04-17"),
    ("Abgabe der Hausarbeit: 12.05.2026.", "2026-05-12"),
    ("El plazo de matrícula termina el 15 de junio de 2026.", "2026-06-15"),
    ("La déclaration d'impôts est à rendre avant le 31 mai 2026.", "2026-05-31"),
    ("La visita dal dentista è il 30 aprile 2026.", "2026-04-30"),
    ("Board meeting 12 May 2026, 10:00.", "2026-05-12"),
    ("Rendez-vous chez l'ophtalmo le 4 mai 2026 à 9 h.", "2026-05-04"),
    ("Hay que entregar el informe antes del 30 de abril de 2026.", "2026-04-30"),
]
LASTING = [
    "We released 2.0 on 28 December.",
    "Mia was born on 3 April 2019.",
    "The contract was signed on 12 December.",
    "Der Vertrag wurde am 12. Mai unterschrieben.",
    "The museum was opened on 5 June.",
    "Mias Geburtstag ist am 3. April.",
    "El cumpleaños de Mia es el 3 de abril.",
    "À partir du 1er mai 2026 le magasin ouvre à 8 h.",
    "Ab 1. Mai 2026 ist Hugo der Teamleiter.",
    "The tests run on Ubuntu 24.04.",
    "The rent is due on 1 May and then every month.",
    "The lease of the flat ends on 31 December 2028.",
    "Since 1 May 2026 invoices go to the new address.",
    "Seit dem 1. Mai 2026 zahlen wir per Lastschrift.",
    "Le nouveau tarif s'applique à compter du 1er juin 2026.",
    "The contract dated 14 April 2026 governs the prices.",
    "Der Vertrag vom 14. April 2026 regelt die Preise.",
    "El contrato del 14 de abril de 2026 fija los precios.",
    "Bruno is allergic to nuts; allergy test on 12 May 2026.",
    "Rita is vegetarian and has a blood test on 6 May 2026.",
    "Wir wohnen in der Gartenstr. 4, Besichtigung am 12. Mai 2026.",
    "Interview with Dana on 9 March, the offer comes by 20 March.",
    "Jonas sees the dentist on 30 April. He is afraid of needles.",
    "The password policy takes effect on 1 May 2026.",
    "Die Satzung tritt am 1. Juli 2026 in Kraft.",
    "La ley entra en vigor el 1 de julio de 2026.",
    "Emma moves to Lyon on 3 June 2026.",
    "Tom becomes head of sales on 1 May 2026.",
    "Our dentist retires on 30 June 2026.",
    "The exam fee rises on 1 June 2026.",
]


@pytest.mark.behaviour("UP43")
@pytest.mark.parametrize(("text", "day"), APPOINTMENTS)
def test_a_line_says_that_its_day_is_past_from_the_next_day_on(memory, clock, text, day):
    memory.remember(text)
    for shown in (memory.digest(), memory.agent.opening("s2", "default")):
        assert "past" not in line_with(shown, text)
    clock.now = clock.now.replace(year=2026, month=int(day[5:7]), day=int(day[8:]), hour=23)
    assert "past" not in line_with(memory.digest(), text)
    clock.passes(hours=2)
    for shown in (memory.digest(), memory.agent.opening("s3", "default")):
        assert f"{text} (past: {day})" in line_with(shown, text)
    assert [hit.memory.content for hit in memory.recall(text).hits] == [text]


def test_so_does_the_line_of_a_fact(memory, clock):
    memory.learn(claims=[{"subject": "beta", "predicate": "due date", "value": "3 April 2026"}])
    clock.passes(days=200)
    assert "3 April 2026 (past: 2026-04-03)" in memory.digest()


@pytest.mark.behaviour("UP43")
@pytest.mark.parametrize("text", LASTING)
def test_what_was_over_when_it_was_said_or_holds_besides_is_not_called_past(memory, clock, text):
    memory.remember(text)
    clock.passes(days=430)
    assert "(past: " not in line_with(memory.digest(), text)


def test_only_a_line_that_is_called_past_stands_last(memory, clock):
    texts = ("Emma moves to Lyon on 3 March.", "Dentist on 3 March.", "The vet is Dr. Weiss.")
    for text in texts:
        memory.remember(text)
    clock.passes(days=90)
    lines = [line for line in memory.digest().splitlines() if line.startswith("- ")]
    assert ["(past: " in line for line in lines] == [False, False, True]


def test_an_appointment_that_is_over_stands_behind_what_holds_and_makes_room_for_it(memory, clock):
    memory.remember("Bruno the dog is allergic to chicken, beef and every kind of fish.")
    clock.passes(days=1)
    memory.remember("The vet sees Bruno on 3 March.")

    def notes(budget):
        return ["vet" in line for line in memory.digest(budget_tokens=budget).splitlines() if "Bruno" in line]

    narrow = next(budget for budget in range(50, 400, 5) if notes(budget))
    assert (notes(2000), notes(narrow)) == ([True, False], [True]), "the newest note comes first"
    clock.passes(days=90)
    narrow = next(budget for budget in range(50, 400, 5) if notes(budget))
    assert (notes(2000), notes(narrow)) == ([False, True], [False])
