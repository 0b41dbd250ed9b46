"""Short lives of what once went wrong in lived stores; docs/tests.md lists each, with the test that shows it."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pytest

from conftest import WORDS_ONLY

ROOT = Path(__file__).resolve().parents[2]
TABLE = (ROOT / "docs" / "tests.md").read_text("utf-8")

CHAT = """
user: Hey, good morning!
assistant: Good morning! How can I help?
user: Thanks, one second.
user: We decided to use PostgreSQL 16 for the billing service.
assistant: Understood.
user: haha ok, sounds great
user: I need a coffee.
assistant: Enjoy!
user: What a lovely morning it is.
user: Great, thanks a lot!
assistant: You're welcome!
"""
POLITE = re.compile(r"morning|thanks|haha|welcome|enjoy|understood", re.IGNORECASE)

SAID_AGAIN = [
    ("The staging server listens on port 8443.", "Port 8443 is the port that the staging server listens on."),
    ("Lena owns the invoice layout.", "The invoice layout is owned by Lena."),
    ("Backups are kept for 30 days.", "Backups are stored for 30 days."),
    ("The rate limit is at most 30 requests per minute.", "The rate limit is up to 30 requests every minute."),
    ("We decided to use Redis for caching.", "Decision: Redis is used for caching."),
    ("Never push directly to the main branch.", "Do not push directly to main."),
]
CHANGED = [
    ("The mirror server listens on port 9000.", "The mirror server listens on port 9001."),
    ("Tom reviews the work of Ana.", "Ana reviews the work of Tom."),
    ("The export job runs on Monday.", "The export job does not run on Monday."),
]


def test_small_talk_is_neither_extracted_nor_promoted_nor_shown(opening, clock):
    memory = opening(WORDS_ONLY)
    said = [line.partition(": ") for line in CHAT.strip().splitlines()]
    at = clock() - timedelta(hours=1)
    memory.ingest(
        [
            {"role": role, "content": words, "at": (at + timedelta(minutes=n)).isoformat()}
            for n, (role, _, words) in enumerate(said)
        ],
        session="monday",
        scope="session",
    )
    clock.passes(hours=2)
    taken = memory.extract(CHAT).extractions
    promoted = [memory.get(i).content for i in memory.end_session("monday").promotion.promoted]
    clock.passes(days=1)
    assert any("PostgreSQL 16" in words for words in promoted)
    assert [words for words in (*(m.content for m in taken), *promoted) if POLITE.search(words)] == []
    assert POLITE.search(memory.digest()) is None


@pytest.mark.parametrize("store", ["sqlite"], indirect=True)
def test_what_is_said_again_in_other_words_over_weeks_is_merged_and_what_changed_is_not(opening, clock):
    memory = opening({"embedder": {"model": "local"}, "consolidate": {"require_dry_run": False}})
    for number, (one, other) in enumerate((*SAID_AGAIN, *CHANGED)):
        memory.remember(one, namespace=f"about {number}")
        clock.passes(days=4)
        memory.remember(other, namespace=f"about {number}")
        memory.sweep()
    merged = [memory.consolidate(f"about {n}", dry_run=False).memories_merged for n in range(len(SAID_AGAIN + CHANGED))]
    assert sum(merged[: len(SAID_AGAIN)]) >= 3  # the others are less alike than 0.85, or refused
    assert merged[len(SAID_AGAIN) :] == [0] * len(CHANGED)


def test_each_test_that_the_table_names_is_there():
    named = re.findall(r"`((?:\w+/)+test_\w+\.py)`: `(test_\w+)`", TABLE)
    assert len(named) >= 20
    missing = [
        (file, name)
        for file, name in named
        if not re.search(rf"^def {name}\(", (ROOT / "tests" / file).read_text("utf-8"), re.MULTILINE)
    ]
    assert missing == []
