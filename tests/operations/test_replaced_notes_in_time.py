"""A note that was replaced was true until then: a question about a time before finds it."""

from __future__ import annotations

import pytest

from conftest import HASHED, HashEmbedder

QUESTION = "When does the surgery open?"
OLD, NEW = "The surgery opens at 8:00.", "The surgery opens at 7:30."


def at(memory, when):
    """Return what a recall and an answer sheet say of a time."""
    found = [hit.memory.content for hit in memory.recall(QUESTION, as_of=when).hits]
    sheet = memory.answer_sheet(QUESTION, as_of=when)
    assert [entry.says for entry in sheet.memories] == found
    assert bool(sheet.unknown) is not bool(found)
    return found


@pytest.mark.behaviour("KW1")
def test_a_note_that_was_updated_was_true_until_then(memory, clock):
    before = clock()
    clock.passes(days=5)
    old = memory.remember(OLD).id
    clock.passes(days=15)
    between = clock()
    clock.passes(days=25)
    memory.update(old, NEW)
    changed = clock()
    clock.passes(days=10)
    assert at(memory, before) == []
    assert at(memory, between) == [OLD]
    assert at(memory, changed) == at(memory, clock()) == [NEW]
    # As far as was known between, the old note was to hold on; by now it is known that it did not.
    assert [h.memory.content for h in memory.recall(QUESTION, as_of=changed, known_at=between).hits] == [OLD]
    assert [h.memory.content for h in memory.recall(QUESTION, as_of=between, known_at=clock()).hits] == [OLD]
    assert memory.why_not(old, QUESTION, as_of=between).kept_out_by == "nothing"
    assert memory.why_not(old, QUESTION, as_of=clock()).kept_out_by == "filters"


def test_what_was_corrected_twice_is_found_for_its_own_time(memory, clock):
    texts, times, identity = ["The gate code is 4471.", "The gate code is 4472.", "The gate code is 4473."], [], ""
    for text in texts:
        identity = (memory.update(identity, text) if identity else memory.remember(text)).id
        times.append(clock())
        clock.passes(days=20)
    assert [[h.memory.content for h in memory.recall("gate code", as_of=t).hits] for t in times] == [[t] for t in texts]


def test_what_was_said_to_be_wrong_or_put_away_was_not_replaced(memory, clock):
    wrong = memory.remember(OLD).id
    away = memory.remember("The surgery opens on Saturdays too.").id
    clock.passes(days=5)
    between = clock()
    clock.passes(days=5)
    memory.deny(wrong)
    memory.forget(away)
    assert at(memory, between) == []


def test_what_was_merged_into_a_later_memory_is_found_for_the_time_before(opening, clock):
    memory = opening(HASHED, HashEmbedder())
    memory.ingest([{"content": "the gateway is in the cellar!", "role": "user"}])
    clock.passes(days=5)
    between = clock()
    clock.passes(days=5)
    memory.ingest([{"content": "The gateway is in the cellar", "role": "user"}])
    memory.consolidate("default", similarity_threshold=0.9, dry_run=True)
    assert memory.consolidate("default", similarity_threshold=0.9, dry_run=False).memories_merged == 1
    clock.passes(days=5)
    for when in (between, clock()):
        hits = memory.recall("Where is the gateway?", as_of=when).hits
        assert len(hits) == 1
        assert "gateway is in the cellar" in hits[0].memory.content


def test_a_sheet_about_another_time_does_not_say_that_nothing_is_stored(memory, clock):
    before = clock()
    clock.passes(days=5)
    memory.remember(OLD)
    for when in ({"as_of": before}, {"known_at": before}):
        expected = "Nothing that is stored answers this question for the time that is asked about. Do not guess."
        assert memory.answer_sheet(QUESTION, **when).unknown == (expected,)
