"""What a later note names as replaced of one thing says nothing of another thing that has the same value."""

from __future__ import annotations

import pytest

OF_ANOTHER = [
    ("The demo runs on port 8080.", "The docs run on port 8081, not 8080."),
    ("Goats graze on the upper meadow.", "Sheep no longer graze on the upper meadow."),
    ("Invoices go to Petra.", "Reminders go to Luis instead of Petra."),
    ("Marta speaks Polish.", "Marek speaks Czech, not Polish."),
    ("Version 2 supports Windows.", "Version 3 no longer supports Windows."),
    ("The staging database is Postgres.", "The test database is SQLite, not Postgres."),
    ("The red team plays on Friday.", "The blue team plays on Sunday instead of Friday."),
    ("Feature flags live in flags.toml.", "Secrets no longer live in flags.toml."),
    ("Anders is our lawyer.", "Anderson is no longer our lawyer."),
    ("Our server is called anvil and the laptop is called hammer.", "The new NAS is called tongs, not anvil."),
    (
        "Urs Ammann is the cheesemaker and decides on ripening recipes.",
        "This week Ursula Ammann is on call, not Urs: he is at the alp.",
    ),
]
OF_THE_SAME = [
    ("We deploy on Thursdays.", "Release day is Tuesday now, not Thursday."),
    ("Standup is at 9 in room Blue.", "Daily standup is at 10, not 9."),
    ("The staging server runs Ubuntu for legacy reasons.", "The staging server is on Debian, not Ubuntu."),
    ("Backups of the orders run nightly to S3.", "Backups of the orders run hourly to GCS, not S3."),
    ("The demo is on Monday.", "We moved the demo from Monday to Thursday."),
    ("My dentist is Dr. Kern.", "My dentist is Dr. Vogt now, not Dr. Kern."),
]


def told_one_after_the_other(opening, clock, notes, policy):
    memory = opening(policy)
    ids = []
    for note in notes:
        ids.append(memory.remember(note).id)
        clock.passes(days=3)
    return memory, ids


@pytest.mark.parametrize("notes", OF_ANOTHER)
def test_a_note_about_something_else_keeps_its_line_without_a_mark(opening, clock, notes):
    memory, ids = told_one_after_the_other(opening, clock, notes, {"embedder": {"model": "none"}})
    line = next(line for line in memory.digest().splitlines() if ids[0][-8:] in line)
    assert line.startswith(f"- {notes[0]} (")
    assert "no longer" not in line
    assert "may say otherwise" not in line
    first = next(h for h in memory.recall(notes[0]).hits if h.memory.id == ids[0])
    assert first.updated_by is None
    assert first.over == ()
    assert "No longer holds" not in memory.why(ids[0]).summary


@pytest.mark.parametrize("notes", OF_THE_SAME)
def test_a_note_about_the_same_thing_gives_way(opening, clock, notes):
    pytest.importorskip("perdure_embedder")
    memory, ids = told_one_after_the_other(opening, clock, notes, {})
    lines = [line for line in memory.digest().splitlines() if line.startswith("- ")]
    assert ids[1][-8:] in lines[0]
    assert not any(ids[0][-8:] in line and "may say otherwise" not in line for line in lines)
