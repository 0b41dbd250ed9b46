"""MEMORY.md and a session's start show a note in its own words, also where it says itself what is over."""

from __future__ import annotations

import pytest

from perdure.records.memory import Message


@pytest.mark.parametrize(
    "note",
    [
        "The queue of ticket-printer is no longer Redis; it uses NATS.",
        "Decision reversed: PostgreSQL for booking-api instead of MariaDB.",
        "The standup moved from Tuesday to Thursday.",
    ],
)
def test_a_note_that_says_what_is_over_is_shown_in_its_own_words(memory, note):
    memory.remember("The queue of ticket-printer is Redis.")
    memory.remember("MariaDB is the database of booking-api.")
    memory.remember("The standup is on Tuesday.")
    memory.remember(note)
    assert f"- {note} (" in memory.digest()
    assert f"- {note} (" in memory.agent.opening("a", "default")


def test_of_a_message_only_what_holds_is_shown(memory):
    memory.ingest([Message("The standup of the payments team is on Tuesday.", "user")], session="s")
    memory.ingest([Message("The standup of the payments team moved from Tuesday to Thursday.", "user")], session="t")
    text = memory.digest()
    assert "Thursday" in text
    assert "Tuesday" not in text
