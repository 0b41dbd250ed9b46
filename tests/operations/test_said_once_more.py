"""What somebody says, changes, and says again in the same words holds since it was said last."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

import perdure
from conftest import Clock

pytest.importorskip("onnxruntime")
START = datetime(2026, 9, 1, 9, tzinfo=UTC)
ORDERS = [
    ("Tom Okafor", "We decided to use the {} carrier.", "DHL", "UPS", "Which carrier does Tom Okafor use?"),
    ("Lou Tran", "I prefer the {} theme.", "dark", "light", "Which theme does Lou Tran prefer?"),
    ("Ada Ruiz", "Book the {} room for standups.", "Red", "Blue", "Which room is booked for standups?"),
    ("Ines Duarte", "We host on {} now.", "Hetzner", "AWS", "Where does Ines Duarte host?"),
]
each_order = pytest.mark.parametrize(("who", "words", "first", "between", "question"), ORDERS)


@pytest.fixture
def clock():
    return Clock(START)


@pytest.fixture
def memory(tmp_path, clock):
    with perdure.open(tmp_path / "talk.db", clock=clock) as opened:
        yield opened


def say(memory, clock, who, texts, days=3):
    for text in texts:
        memory.ingest([{"content": text, "speaker": who, "at": clock.now}], session=f"{clock.now:%m%d}")
        clock.passes(days=days)


def talk_of_others(memory):
    """Keep enough for a merge to hide no large part of it."""
    things = ("scanner", "router", "printer", "scale")
    memory.ingest(
        [
            {"content": f"Ticket {number * 37 + 11} about the {things[number % 4]} was closed.", "speaker": "Desk"}
            for number in range(25)
        ],
        session="desk",
    )


def merge(memory):
    memory.consolidate("default")
    return memory.consolidate("default", dry_run=False)


def lines(memory, who):
    return [line.partition(": ")[2].rpartition(" [")[0] for line in memory.digest().splitlines() if who in line]


def first_of(memory, who, question, **then):
    hits = memory.recall(question, touch=False, **then).hits
    return next((hit.memory.content for hit in hits if hit.memory.speaker == who), None)


@each_order
def test_what_is_said_again_has_the_line_of_its_last_day(memory, clock, who, words, first, between, question):
    say(memory, clock, who, [words.format(value) for value in (first, between, first)])

    shown = lines(memory, who)

    assert f"{words.format(first)} (2026-09-07)" in shown
    assert all(
        line in {f"{words.format(first)} (2026-09-07)", f"{words.format(between)} (2026-09-04)"} for line in shown
    )


def test_what_is_remembered_again_has_the_line_of_its_last_day(memory, clock):
    for carrier in ("DHL", "UPS", "DHL"):
        memory.remember(f"Tom ships with {carrier}.")
        clock.passes(days=3)

    assert any("DHL. (2026-09-07)" in line for line in memory.digest().splitlines())


def test_a_note_that_a_person_says_again_counts_as_said_then(memory, clock):
    note = memory.remember("Parcels of the shop go out with DHL every Monday.")
    clock.passes(days=3)
    memory.remember("Parcels of the shop go out with UPS every Monday.")
    clock.passes(days=3)
    memory.ingest([{"content": "Parcels of the shop go out with DHL every Monday.", "at": clock.now}], session="later")

    (line,) = (line for line in memory.digest().splitlines() if "DHL" in line)

    assert "(2026-09-07)" in line
    assert note.id.endswith(line.rpartition("[")[2].rstrip("]"))


def test_the_same_words_of_another_speaker_are_not_said_again(memory, clock):
    say(memory, clock, "Tom Okafor", ["I prefer the dark theme.", "I prefer the light theme."])
    say(memory, clock, "Kim Park", ["I prefer the dark theme."])

    assert "I prefer the dark theme. (2026-09-07)" not in lines(memory, "Tom Okafor")


def test_what_an_assistant_says_again_does_not_date_it(memory, clock):
    say(memory, clock, "user", ["We decided to use the DHL carrier.", "We decided to use the UPS carrier."])
    memory.ingest(
        [{"role": "assistant", "content": "We decided to use the DHL carrier.", "at": clock.now}], session="reply"
    )

    shown = memory.digest()

    assert "We decided to use the UPS carrier. (2026-09-04)" in shown
    assert "2026-09-07" not in shown


@each_order
def test_what_is_merged_counts_as_said_when_the_last_was(memory, clock, who, words, first, between, question):
    talk_of_others(memory)
    say(memory, clock, who, [words.format(value) for value in (first, between, first)])

    merge(memory)

    (kept,) = (m for m in memory.list(limit=100) if m.content == words.format(first))
    assert first_of(memory, who, question) == kept.content
    assert f"{kept.content} (2026-09-07)" in lines(memory, who)
    assert kept.created_at == START


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("then", ["as_of", "known_at"])
def test_a_merge_changes_no_earlier_answer(memory, clock, order, then):
    who, words, first, between, question = order
    talk_of_others(memory)
    say(memory, clock, who, [words.format(value) for value in (first, between, first, first)])
    days = [datetime(2026, 9, day, 12, tzinfo=UTC) for day in (2, 5, 8)]
    before = [first_of(memory, who, question, **{then: day}) for day in days]

    merge(memory)

    assert before == [words.format(value) for value in (first, between, first)]
    assert [first_of(memory, who, question, **{then: day}) for day in days] == before


def test_undoing_a_merge_gives_back_when_each_was_said(memory, clock):
    who, words, first, between, _ = ORDERS[0]
    talk_of_others(memory)
    say(memory, clock, who, [words.format(value) for value in (first, between, first)])
    before = {m.id: m.state for m in memory.list(limit=100)}

    merged = merge(memory)
    assert {m.id: m.state for m in memory.list(limit=100)} != before
    for operation in merged.operations:
        memory.undo(operation)

    assert {m.id: m.state for m in memory.list(limit=100)} == before
