"""Days that are named from the one on which something was said: where a text names one, and which date it has."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

import perdure
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
        "Hoy en día usamos Go en la cocina.",
        "Ayer wrote Language, Truth and Logic.",
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
        ("Hier soir, Paul a cassé le build.", "Hier soir (2026-09-13), Paul a cassé le build."),
        ("Standup: today I write docs.", "Standup: today (2026-09-14) I write docs."),
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


@on_a_file
@pytest.mark.behaviour("Q12")
@pytest.mark.parametrize(
    ("question", "is_dated"),
    [
        ("Was liegt hier im Keller?", False),
        ("Wat ligt hier in de kelder?", False),
        ("What does USA Today say of the cellar?", False),
        ("What does /v1/yesterday say of the cellar?", False),
        ("What did we put into the cellar yesterday?", True),
        ("Was haben wir gestern in den Keller gestellt?", True),
        ("Qu'est-ce que nous avons mis à la cave hier ?", True),
    ],
)
def test_a_question_asks_for_a_day_only_where_it_names_one(memory, clock, question, is_dated):
    clock.now = MONDAY - timedelta(days=1)
    memory.remember("Wine and cheese are in the cellar, im Keller, in de kelder, à la cave.")
    clock.now = MONDAY
    memory.remember("The cellar, der Keller, de kelder, la cave, has a new lock.")
    parts = [hit.parts.get("dated", 0.0) for hit in memory.recall(question, touch=False).hits]
    assert any(parts) == is_dated


@on_a_file
@pytest.mark.behaviour("UP42")
@pytest.mark.parametrize(
    ("text", "is_over"),
    [
        ("Der Server ist bis morgen aus.", True),
        ("De server is uit tot morgen.", True),
        ("The server is off until tomorrow.", True),
        ("Le serveur est coupé jusqu'à demain.", True),
        ("Das Fest in der Halle geht bis zum Morgen.", False),
        ("La sala está abierta hasta el mañana.", False),
        ("Bis heute nutzen wir Jenkins.", False),
        ("Jusqu'à aujourd'hui nous utilisons Jenkins.", False),
        ("Hasta hoy usamos Jenkins.", False),
        ("Fino a oggi usiamo Jenkins.", False),
        ("Até hoje usamos Jenkins.", False),
        ("Tot vandaag gebruiken we Jenkins.", False),
        ("The shop is closed until today.", True),
        ("The file keeps all events until 'tomorrow'.", False),
        ("The band is called Until Tomorrow.", False),
    ],
)
def test_a_text_ends_with_a_day_only_where_it_names_one(memory, clock, text, is_over):
    memory.remember(text)
    clock.now = MONDAY + timedelta(days=2)
    assert (max(text.split(), key=len) in memory.digest()) == (not is_over)


ZONES = {
    "America/Los_Angeles": datetime(2026, 9, 15, 3, tzinfo=UTC),  # 20:00 of the 14th
    "Asia/Tokyo": datetime(2026, 9, 14, 22, tzinfo=UTC),  # 7:00 of the 15th
}


@on_a_file
@pytest.mark.behaviour("M9")
@pytest.mark.parametrize(
    ("zone", "shown"),
    [
        ("America/Los_Angeles", "- Tomorrow (2026-09-15) the Inspector comes. (2026-09-14) ["),
        ("Asia/Tokyo", "- Tomorrow (2026-09-16) the Inspector comes. (2026-09-15) ["),
        ("UTC", "- Tomorrow (2026-09-16) the Inspector comes. (2026-09-15) ["),
    ],
)
def test_days_are_those_of_the_zone_that_the_policy_names(opening, clock, zone, shown):
    clock.now = ZONES.get(zone, ZONES["America/Los_Angeles"])
    memory = opening(WORDS_ONLY | {"days": {"zone": zone}})
    memory.remember("Tomorrow the Inspector comes.")
    (named,) = memory.timeline("Inspector").memories
    assert f"({named.created_at}) [" in shown
    assert shown in memory.digest()
    assert shown[:13] in memory.agent.opening("s", "default")


@on_a_file
@pytest.mark.behaviour("M9")
@pytest.mark.skipif(not hasattr(time, "tzset"), reason="the zone of a process cannot be set there")
def test_without_a_zone_days_are_those_of_the_machine(opening, clock, monkeypatch):
    clock.now = ZONES["Asia/Tokyo"]
    memory = opening(WORDS_ONLY)
    memory.remember("Tomorrow the Inspector comes.")
    try:
        for zone, day in (("Asia/Tokyo", 16), ("UTC", 15)):
            monkeypatch.setenv("TZ", zone)
            time.tzset()
            assert f"Tomorrow (2026-09-{day}) the Inspector" in memory.digest()
    finally:
        monkeypatch.undo()
        time.tzset()


@on_a_file
@pytest.mark.behaviour("M9")
@pytest.mark.parametrize(("zone", "hours"), [("America/Los_Angeles", 4), ("Asia/Tokyo", 17)])
def test_a_fact_and_a_note_that_end_today_last_until_midnight_there(opening, clock, zone, hours):
    clock.now = ZONES[zone]
    today = clock.now.astimezone(ZoneInfo(zone)).date()
    memory = opening(WORDS_ONLY | {"days": {"zone": zone}})
    closed = {"subject": "dock 2", "predicate": "status", "value": "closed", "valid_to": today.isoformat()}
    memory.remember("Dock 2 is closed.", facts=[closed])
    memory.remember("Gate 7 is locked until today.")
    beside = {"subject": "dock 3", "predicate": "status", "value": "closed"}
    memory.remember(f"Dock 3 is closed until {today.day} {today:%B %Y}.", facts=[beside])
    before, after = clock.now + timedelta(hours=hours, seconds=-1), clock.now + timedelta(hours=hours, seconds=1)
    for clock.now, holds in ((before, True), (after, False)):
        assert bool(memory.facts("dock 2")) == bool(memory.facts("dock 3")) == holds
        assert ("Gate 7" in memory.digest()) == holds
        (hit,) = memory.recall("Is gate 7 locked?", limit=1, touch=False).hits
        assert hit.ended == ("" if holds else today.isoformat())


@on_a_file
@pytest.mark.behaviour("M9")
def test_a_question_for_a_day_asks_for_that_of_the_zone(opening, clock):
    zone = ZoneInfo("America/Los_Angeles")
    memory = opening(WORDS_ONLY | {"days": {"zone": zone.key}})
    for day in (13, 14):
        clock.now = datetime(2026, 9, day, 19, tzinfo=zone)
        memory.remember(f"We cut release {day}.")
    clock.now = datetime(2026, 9, 14, 20, tzinfo=zone)
    (hit,) = memory.recall("What happened yesterday?", touch=False).hits
    assert hit.memory.content == "We cut release 13."


@on_a_file
def test_a_zone_that_there_is_not_is_refused(opening):
    for name in ("Mars/Olympus", "../etc/passwd", ""):
        with pytest.raises(perdure.PolicyError, match=r"days\.zone"):
            opening(WORDS_ONLY | {"days": {"zone": name}})
