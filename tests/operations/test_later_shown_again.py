"""What was shown in a session is shown again beside an earlier memory that would pass for current without it."""

from __future__ import annotations

import pytest

from conftest import START, WORDS_ONLY
from perdure.records.memory import Message

CANCELLED = {
    "en": (
        "New customer: Claybank in Cork, Solo plan, pays yearly.",
        "Claybank cancelled; the studio in Cork closes in December.",
        "Which customers do we have in Cork?",
    ),
    "en, without a name": (
        "The standup is every morning in the kitchen.",
        "We gave up the standup; the kitchen is rebuilt.",
        "When is the standup in the kitchen?",
    ),
    "de": (
        "Der Kunde Bergmann in Ulm hat den Tarif Pro.",
        "Bergmann in Ulm hat gekündigt.",
        "Welchen Tarif hat der Kunde in Ulm?",
    ),
    "es": (
        "El proveedor de harina es Molinos Rey, entrega los lunes.",
        "Molinos Rey cerró; no tenemos otro proveedor.",
        "¿Qué proveedor entrega la harina los lunes?",
    ),
    "pt": (
        "O armazém em Gdynia é alugado da Polmag.",
        "A Polmag terminou o contrato do armazém em Gdynia.",
        "De quem é alugado o armazém em Gdynia?",
    ),
}


@pytest.mark.parametrize("language", CANCELLED)
def test_an_earlier_message_never_stands_without_the_later_note_that_was_shown_before(opening, clock, language):
    message, cancelled, question = CANCELLED[language]
    memory = opening(WORDS_ONLY)
    clock.passes(days=9)
    memory.remember(cancelled)
    clock.passes(days=2)
    assert cancelled in memory.agent.opening("s", "default")
    memory.ingest([Message(message, role="user", at=START)])  # what an older session has left behind
    shown = memory.agent.beside(question, "s", "default")
    assert shown.index(cancelled) < shown.index(message)


def test_what_only_says_an_earlier_message_again_is_not_shown_again(opening, clock):
    message = "La métrica de negocio es recall@5%, así lo pidió Joaquim en mayo."
    note = "La métrica de negocio es recall@5%, lo pidió Joaquim."
    memory = opening(WORDS_ONLY)
    clock.passes(minutes=1)
    memory.remember(note)
    clock.passes(days=2)
    assert note in memory.agent.opening("s", "default")
    memory.ingest([Message(message, role="user", at=START)])
    shown = memory.agent.beside("¿Cuál es la métrica de negocio que pidió Joaquim en mayo?", "s", "default")
    assert (message in shown, note in shown) == (True, False)
