"""MEMORY.md and a session's start show a note in its own words, also where it says itself what is over."""

from __future__ import annotations

import pytest

import perdure
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


VALUE = "hunter2-Zq81xv"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"The test database password is {VALUE}.", ""),
        (f"password: {VALUE}", ""),
        (f"The test database password is {VALUE}. It expires on 3 May.", "It expires on 3 May."),
        (f"Log in to kelp:8443 with the password {VALUE}", "kelp:8443"),
        (f"Never share the password {VALUE}", "Never share"),
    ],
)
def test_what_says_nothing_but_a_secret_is_not_shown_unasked(memory, text, shown):
    with pytest.warns(perdure.PerdureWarning, match="1 secret was replaced"):
        noted = memory.remember(text)
    assert "[redacted: " in noted.memory.content
    for line in (memory.digest(), memory.agent.opening("a", "default")):
        assert shown in line
        assert ("[redacted: " in line) is bool(shown)
    assert [h.memory.id for h in memory.recall("password").hits] == [noted.id]
