"""What later messages come back to has a line in MEMORY.md before what nobody mentions again."""

from __future__ import annotations

import pytest

from conftest import HashEmbedder

ROOF = "The cottage in Brindle has a leaking roof above the pantry."
BICYCLE = "Grandfather keeps his old bicycle behind the shed in Oslo."
AGAIN = (
    "Did anybody look at the leaking roof of the cottage?",
    "Is the pantry below the cottage roof still wet?",
    "Who pays for the leaking cottage roof above the pantry?",
)
BUDGET = 90  # one of the two lines fits


def talk(speaker, again=AGAIN):
    told = [("Ana", BICYCLE), ("Ana", ROOF), *((speaker, content) for content in again)]
    return [
        {"role": "user", "speaker": who, "content": content, "at": f"2025-12-31T0{hour}:00:00Z", "session": "a"}
        for hour, (who, content) in enumerate(told, 1)
    ]


@pytest.mark.parametrize(
    ("messages", "shown", "hidden"),
    [
        (talk("Ben"), "roof", "bicycle"),
        (talk("Ben", ()), "bicycle", "roof"),
        (talk("assistant"), "bicycle", "roof"),
    ],
    ids=["people come back to it", "nobody does", "an assistant repeats it"],
)
def test_what_people_come_back_to_is_shown_before_what_nobody_mentions_again(opening, messages, shown, hidden):
    memory = opening(embedder=HashEmbedder())
    memory.ingest(messages)
    text = memory.digest(budget_tokens=BUDGET)
    assert shown in text
    assert hidden not in text
    assert "roof" in memory.digest(budget_tokens=1000)


def test_a_line_does_not_end_with_an_abbreviation(opening):
    memory = opening(embedder=HashEmbedder())
    said = "My doctor for diabetes is now Dr. Petrova, at the clinic in Harrow."
    memory.ingest([{"role": "user", "content": said, "at": "2025-12-31T01:00:00Z"}], session="a")
    assert said in memory.digest()
    assert said in memory.agent.opening("b", "default")
