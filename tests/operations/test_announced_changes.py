"""A change that is announced for a later day ends nothing before that day."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from conftest import WORDS_ONLY

ANNOUNCED = [
    (
        "Alarms go by SMS to the on-call phone.",
        "From 1 October 2026 the alarms go by push notification instead of SMS.",
        "2026-10-01",
    ),
    ("We host on AWS.", "Starting next month we host on Hetzner instead of AWS.", "2026-10-01"),
    (
        "The shop closes at 18:00 on weekdays.",
        "The shop will close at 20:00 instead of 18:00 from 2 November 2026.",
        "2026-11-02",
    ),
]


@pytest.fixture(params=["words", "model"])
def memory(request, opening, clock):
    clock.now = datetime(2026, 9, 8, 9, tzinfo=UTC)
    if request.param == "model":
        pytest.importorskip("perdure_embedder")
    return opening(WORDS_ONLY if request.param == "words" else {})


@pytest.mark.parametrize(("now", "later", "day"), ANNOUNCED)
def test_what_holds_until_a_later_day_stays_in_view_until_then(memory, clock, now, later, day):
    note = memory.remember(now)
    clock.passes(days=2)
    change = memory.remember(later)
    clock.passes(days=1)
    lines = [line for line in memory.digest().splitlines() if line.startswith("- ")]
    assert any(change.id[-8:] in line for line in lines)
    line = next(line for line in lines if note.id[-8:] in line)
    assert "no longer" not in line
    assert "may say otherwise" not in line
    assert "No longer holds" not in memory.why(note.id).summary
    assert now[:-1] in memory.agent.beside(now.replace(".", "?"), "other", "default")
    clock.now = datetime.fromisoformat(f"{day}T09:00:00+00:00")
    after = next((line for line in memory.digest().splitlines() if note.id[-8:] in line), "no longer")
    assert "no longer" in after or "may say otherwise" in after


@pytest.mark.parametrize(
    "later",
    [
        "We moved the demo from Monday to Thursday.",
        "The demo is on 12 October instead of Monday.",
        "From now on the demo is on Thursday, not Monday.",
    ],
)
def test_a_change_that_is_made_counts_at_once(memory, clock, later):
    note = memory.remember("The demo is on Monday.")
    clock.passes(days=1)
    memory.remember(later)
    after = next((line for line in memory.digest().splitlines() if note.id[-8:] in line), "no longer")
    assert "no longer" in after or "may say otherwise" in after


@pytest.mark.parametrize(
    "later",
    [
        "Starting next year we host on Hetzner instead of AWS.",
        "In 99 months we move from AWS to Hetzner.",
        "Tomorrow we switch from AWS to Hetzner.",
        "From 31 February we host on Hetzner instead of AWS.",
        "From 2026-13-40 we host on Hetzner instead of AWS.",
    ],
)
def test_a_day_beyond_the_calendar_or_that_does_not_exist_is_none(opening, clock, later):
    clock.now = datetime(9998, 12, 31, tzinfo=UTC)  # the last instant that a store knows
    memory = opening(WORDS_ONLY)
    memory.remember("We host on AWS.")
    memory.remember(later)
    assert "Hetzner" in memory.digest()
    assert memory.recall("Where do we host?").hits
