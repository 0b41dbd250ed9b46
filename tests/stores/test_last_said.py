"""What was confirmed or remembered again counts as said then: in recall, MEMORY.md, at a session's start and in why."""

from __future__ import annotations

from contextlib import nullcontext
from datetime import timedelta

import pytest

from conftest import WORDS_ONLY, opened
from perdure.compose import scratch_store, store_at
from perdure.operations.import_export import import_lines

OLD, NEW = "The API port is 8081", "The API port is 9000"
QUESTION = "What is the API port?"


@pytest.fixture
def memory(opening):
    return opening()


@pytest.fixture
def noted(memory, clock):
    """Return the ids of two notes about one thing, the earlier one first."""
    ids = []
    for text in (OLD, NEW):
        ids.append(memory.remember(text).id)
        clock.passes(days=1)
    return ids


def answer(memory, **filters):
    """Return the texts of an answer, and which are marked as newer than the first of the two, and as older."""
    hits = memory.recall(QUESTION, touch=False, **filters).hits
    texts = {hit.memory.id: hit.memory.content for hit in hits}
    marks = {hit.memory.content: ([texts[i] for i in hit.newer], [texts[i] for i in hit.older]) for hit in hits}
    return [hit.memory.content for hit in hits], marks


FORMER = ([NEW, OLD], {NEW: ([], [OLD]), OLD: ([NEW], [])})
AFFIRMED = ([OLD, NEW], {OLD: ([], [NEW]), NEW: ([OLD], [])})


def affirm(memory, identity, how):
    """Affirm a memory in one of the ways, and return the operation."""
    if how == "confirm":
        return memory.confirm(identity).operation
    if how == "remember":
        return memory.remember(OLD).operation
    return memory.remember_many([{"content": OLD}])[0].operation


WAYS = ["confirm", "remember", "remember_many"]


@pytest.mark.parametrize("how", WAYS)
def test_what_was_affirmed_last_stands_first_and_undo_takes_that_back(memory, clock, noted, how):
    assert answer(memory) == FORMER
    done = affirm(memory, noted[0], how)
    clock.passes(days=1)
    assert answer(memory) == AFFIRMED
    memory.undo(done)
    assert answer(memory) == FORMER


def test_the_other_one_is_affirmed_in_turn(memory, clock, noted):
    for identity, expected in ((noted[0], AFFIRMED), (noted[1], FORMER)):
        memory.confirm(identity)
        clock.passes(days=1)
        assert answer(memory) == expected
    for text, expected in ((OLD, AFFIRMED), (NEW, FORMER)):
        assert memory.remember(text).changed
        clock.passes(days=1)
        assert answer(memory) == expected


def test_words_that_are_remembered_again_at_once_write_nothing(memory, clock, noted):
    assert not memory.remember(NEW).changed  # nothing was said since
    clock.passes(days=1)
    assert memory.remember(OLD).changed
    clock.passes(days=1)
    assert not memory.remember(OLD).changed
    assert not memory.remember_many([{"content": OLD}])[0].changed
    assert memory.remember(NEW, idempotency_key="n").changed
    clock.passes(days=1)
    memory.remember(OLD)
    clock.passes(days=1)
    assert not memory.remember(NEW, idempotency_key="n").changed  # a known key is a call that is made again
    assert answer(memory) == AFFIRMED


def test_what_is_remembered_again_as_of_an_earlier_day_counts_as_said_then(memory, clock, noted):
    assert not memory.remember(OLD, at=clock.now - timedelta(days=3)).changed  # before it was known
    memory.remember(OLD, at=clock.now - timedelta(days=1, hours=12))
    assert answer(memory) == FORMER
    memory.remember(OLD, at=clock.now - timedelta(hours=12))
    assert answer(memory) == AFFIRMED


@pytest.mark.parametrize("how", WAYS)
def test_an_answer_as_of_before_has_the_former_order(memory, clock, noted, how):
    before = clock.now
    clock.passes(days=1)
    affirm(memory, noted[0], how)
    first = clock.now
    clock.passes(days=1)
    memory.confirm(noted[1])
    second = clock.now
    clock.passes(days=1)
    affirm(memory, noted[0], how)
    clock.passes(days=1)
    assert answer(memory) == AFFIRMED
    for time in ("as_of", "known_at"):
        for at, expected in ((before, FORMER), (first, AFFIRMED), (second, FORMER), (clock.now, AFFIRMED)):
            assert answer(memory, **{time: at}) == expected


def test_a_file_of_what_was_affirmed_says_so_after_import_and_is_whole(memory, clock, noted, elsewhere):
    before = clock.now
    clock.passes(days=1)
    memory.confirm(noted[0])
    clock.passes(days=1)
    assert memory.check(full=True) == []
    place = elsewhere()
    with store_at(place) as store:
        import_lines(memory.export, lambda: nullcontext(store), scratch_store)
    with opened(place, WORDS_ONLY, clock) as other:
        assert answer(other) == AFFIRMED
        assert answer(other, as_of=before) == FORMER
        assert other.check(full=True) == []


def test_a_batch_that_repeats_words_agrees_with_single_calls(opening, clock):
    memory = opening(at=":memory:")
    other = opening(at=":memory:")
    for one in (memory, other):
        for text in (OLD, NEW):
            one.remember(text)
            clock.passes(days=1)
    memory.remember_many([{"content": text} for text in (OLD, "The door is green", OLD)])
    for text in (OLD, "The door is green", OLD):
        other.remember(text)
    clock.passes(days=1)
    assert answer(memory) == answer(other) == AFFIRMED


def test_a_list_that_is_remembered_twice_is_written_once_and_its_texts_are_of_one_instant(memory, clock, noted):
    both = [{"content": OLD}, {"content": NEW}]
    assert all(done.changed for done in memory.remember_many(both))
    clock.passes(days=1)
    assert not any(done.changed for done in memory.remember_many(both))
    assert not any(hit.newer or hit.older for hit in memory.recall(QUESTION, touch=False).hits)
    assert memory.remember_many([{"content": OLD}, {"content": "The door is green"}])[0].changed
    assert answer(memory)[0] == [OLD, NEW]


def test_a_store_whose_journal_was_trimmed_is_whole_and_has_the_order_of_the_last_words(opening, clock):
    memory = opening({"preset": "facts", **WORDS_ONLY, "journal": {"horizon_days": 30}})
    for text in (OLD, NEW, OLD):
        memory.remember(text)
        clock.passes(days=1)
    before = clock.now - timedelta(hours=36)
    clock.passes(days=40)
    memory.upkeep("worker", eager=True)
    assert memory.check(full=True) == []
    assert answer(memory) == AFFIRMED
    assert answer(memory, as_of=before) == FORMER
    memory.remember(NEW)
    clock.passes(days=1)
    assert memory.check(full=True) == []
    assert answer(memory) == FORMER


def test_an_update_counts_as_said_when_it_was_made(memory, clock, noted):
    memory.confirm(noted[0])
    clock.passes(days=1)
    changed = "The API port is 9100"
    memory.update(noted[1], changed)
    assert answer(memory)[0] == [changed, OLD]


def test_an_update_to_known_words_affirms_them(memory, clock, noted):
    wrong = memory.remember("The gateway listens on 7000")
    clock.passes(days=1)
    memory.update(wrong.id, OLD)
    assert answer(memory)[0][0] == OLD


def test_a_restored_memory_is_not_affirmed(memory, clock, noted):
    memory.confirm(noted[0])
    clock.passes(days=1)
    memory.confirm(noted[1])
    clock.passes(days=1)
    memory.forget(noted[0])
    memory.restore(noted[0])
    assert answer(memory) == FORMER


def test_the_summary_and_a_start_take_the_affirmed_one_for_the_newer_one(memory, clock):
    """Of two messages of which the later one gives another number, the earlier one is left out."""
    said = ["The API listens on port 8081.", "The API now listens on port 8082."]
    for text in said:
        memory.ingest([{"content": text, "role": "user", "at": clock.now}])
        clock.passes(days=1)
    old = next(m.id for m in memory.list() if m.content == said[0])

    def shown():
        return [["8081" in text, "8082" in text] for text in (memory.digest(), memory.agent.opening("s", "default"))]

    assert shown() == [[False, True]] * 2
    done = memory.confirm(old)
    clock.passes(days=1)
    assert shown() == [[True, False]] * 2
    memory.undo(done)
    assert shown() == [[False, True]] * 2


def test_why_says_since_when_it_counts_as_said(memory, clock, noted):
    assert "counts as said" not in memory.why(noted[0]).summary
    clock.passes(days=1)
    memory.confirm(noted[0])
    assert f"counts as said on {clock.now.date()}" in memory.why(noted[0]).summary
