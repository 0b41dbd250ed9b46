"""Words that are remembered again after something else was said: they are as new as that, on every store."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from stores.test_moving import export_to, import_from

FIRST = "My grocery budget is $500 monthly."
THEN = "My grocery budget was increased to $550 monthly."
QUESTION = "what is my grocery budget?"


def order(memory):
    """Return what recall answers, the first hit marked as the newer one."""
    first, second = memory.recall(QUESTION, touch=False).hits
    assert (first.older, second.newer) == ((second.memory.id,), (first.memory.id,))
    assert (first.newer, second.older) == ((), ())
    return [first.memory.content, second.memory.content]


def dates(memory):
    return {m.content: f"{m.created_at:%Y-%m-%d}" for m in memory.list()}


def test_what_is_remembered_again_is_newer_than_what_was_said_between(opening, path, elsewhere, clock, tmp_path):
    memory = opening()
    clock.now = datetime(2026, 3, 2, 9, tzinfo=UTC)
    kept = memory.remember(FIRST)
    clock.now += timedelta(days=7)
    memory.remember(THEN)
    assert order(memory) == [THEN, FIRST]
    clock.now += timedelta(days=7)
    again = memory.remember(FIRST)
    assert again.id == kept.id
    told = {FIRST: "2026-03-16", THEN: "2026-03-09"}
    target = elsewhere()
    import_from(export_to(path, tmp_path / "all.jsonl"), target)
    for one in (memory, opening(at=target)):
        assert order(one) == [FIRST, THEN]
        assert dates(one) == told
        assert f"- {FIRST} (2026-03-16)" in one.digest()
    assert memory.recall(QUESTION, as_of=datetime(2026, 3, 3, tzinfo=UTC), touch=False).hits[0].memory.id == kept.id
    assert memory.remember(FIRST).operation is None  # nothing was said since
    memory.undo(again.operation)
    assert order(memory) == [THEN, FIRST]
    assert dates(memory) == {**told, FIRST: "2026-03-02"}
    assert memory.check(full=True) == []


def test_words_of_an_earlier_day_that_are_remembered_again_later_stay_older(opening, clock):
    memory = opening()
    clock.now = datetime(2026, 3, 20, tzinfo=UTC)
    for text, day in ((FIRST, 1), (THEN, 9), (FIRST, 5)):
        memory.remember(text, at=datetime(2026, 3, day, tzinfo=UTC))
    assert order(memory) == [THEN, FIRST]
