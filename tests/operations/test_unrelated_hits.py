"""Two statements that share a word with the question are not linked as newer and older if they are of two things."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

import perdure


def recalled(folder, earlier, later, question):
    now = [datetime(2026, 3, 2, 9, tzinfo=UTC)]
    with perdure.open(folder / "store.db", embedder="local", clock=lambda: now[0]) as memory:
        for text in (earlier, later):
            memory.ingest([{"role": "user", "content": text, "at": now[0].isoformat()}], session=text)
            now[0] += timedelta(days=1)
        return memory.recall(question, touch=False).hits


@pytest.mark.parametrize(
    ("earlier", "later", "question"),
    [
        (
            "We chose Redis for the sessions, because it is quick.",
            "We never use global state in the session module.",
            "Which database for the sessions?",
        ),
        (
            "My dentist is Dr. Okafor in Hill Street.",
            "Swimming with the dentist's daughter is now on Mondays instead.",
            "Who is my dentist?",
        ),
        (
            "The team meets in the blue room on Wednesdays.",
            "The team never eats lunch together.",
            "Where does the team meet?",
        ),
    ],
)
def test_what_is_of_another_thing_is_neither_first_nor_linked(tmp_path, earlier, later, question):
    hits = recalled(tmp_path, earlier, later, question)
    assert [hit.memory.content for hit in hits] == [earlier, later]
    assert [(hit.newer, hit.older, hit.differs) for hit in hits] == [((), (), ())] * 2


def test_what_tells_a_change_of_the_same_thing_is_first_and_linked(tmp_path):
    earlier, later = "The team meets in the blue room.", "The team now meets in the attic."
    first, second = recalled(tmp_path, earlier, later, "Where does the team meet?")
    assert [first.memory.content, second.memory.content] == [later, earlier]
    assert (first.older, second.newer) == ((second.memory.id,), (first.memory.id,))
