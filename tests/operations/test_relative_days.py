"""Days that are named from the one on which something was said: where a text names one, and which date it has."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from conftest import WORDS_ONLY, on_a_file

MONDAY = datetime(2026, 9, 14, 9, tzinfo=UTC)


@pytest.fixture
def memory(opening, clock):
    clock.now = MONDAY
    return opening(WORDS_ONLY)


def line(memory, text: str) -> str:
    """Return the words of the line that MEMORY.md has for a note."""
    memory.remember(text)
    (found,) = [line for line in memory.digest().splitlines() if line.startswith("- ")]
    return found[2:].rpartition(" (")[0]


@on_a_file
@pytest.mark.behaviour("M8")
@pytest.mark.parametrize(
    "text",
    [
        "The endpoint /v1/today returns the menu.",
        "Run git log --since=yesterday first.",
        "Run git log --since yesterday first.",
        "Run `git log yesterday` first.",
        "Call today() to get the date.",
        "The default is when=tomorrow for now.",
        "The file heute.json holds the menu.",
        "The today-view is slow.",
        "The today view shows the temperature.",
        "USA Today asked for an interview.",
        "The Today show wants to film us.",
        "The band Yesterday plays in June.",
        "The newspaper Heute writes about us.",
        "We call the release 'Tomorrow'.",
        'The sign says "closed today" in red.',
        "Auf dem Schild steht „heute geschlossen“ in Rot.",
        "Le panneau dit « fermé demain » en rouge.",
        "The menu item is 'Hier bestellen'.",
        "Hier steht der Ersatzschlüssel: im Büro von Urs.",
        "Der Ersatzschlüssel liegt hier im Büro.",
        "Hier liegt die Liste der Lieferanten.",
        "De sleutel ligt hier op kantoor.",
        "Wir treffen uns am Morgen in der Halle.",
        "Ida kommt jeden morgen um acht in das Büro.",
        "Elke morgen is er koffie op kantoor.",
        "La reunión es por la mañana.",
        "Mødet er i morgen kl. 9.",
        "The menu is for today (2026-09-14) only.",
    ],
)
def test_what_is_no_day_of_the_speaker_stays_as_it_was_written(memory, text):
    assert line(memory, text) == text


@on_a_file
@pytest.mark.behaviour("M8")
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Seit heute wird Keller 3 gekühlt.", "Seit heute (2026-09-14) wird Keller 3 gekühlt."),
        ("Ab morgen gilt die neue Regel.", "Ab morgen (2026-09-15) gilt die neue Regel."),
        ("Morgen früh ist der Server aus.", "Morgen früh (2026-09-15) ist der Server aus."),
        ("Vanaf morgen is het kantoor dicht.", "Vanaf morgen (2026-09-15) is het kantoor dicht."),
        ("Depuis hier le serveur est lent.", "Depuis hier (2026-09-13) le serveur est lent."),
        ("Le fromage d'hier est vendu.", "Le fromage d'hier (2026-09-13) est vendu."),
        ("On ferme aujourd'hui à midi.", "On ferme aujourd'hui (2026-09-14) à midi."),
        ("Desde ayer por la tarde no hay luz.", "Desde ayer por la tarde (2026-09-13) no hay luz."),
        ("La reunión de mañana es a las 9.", "La reunión de mañana (2026-09-15) es a las 9."),
        ("Da ieri il server è lento.", "Da ieri (2026-09-13) il server è lento."),
        ("A loja fecha amanhã.", "A loja fecha amanhã (2026-09-15)."),
        ("Since yesterday the build is red.", "Since yesterday (2026-09-13) the build is red."),
        ("Yesterday's outage came from DNS.", "Yesterday's (2026-09-13) outage came from DNS."),
        ("We moved the server yesterday morning.", "We moved the server yesterday morning (2026-09-13)."),
        ("We froze main today; merges wait.", "We froze main today (2026-09-14); merges wait."),
    ],
)
def test_the_date_stands_behind_the_word_in_every_language(memory, text, shown):
    assert line(memory, text) == shown
