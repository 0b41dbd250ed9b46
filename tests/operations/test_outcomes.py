"""What a verb that writes says it did: the operation to undo, and none where nothing was written."""

from __future__ import annotations

import pytest

from conftest import WORDS_ONLY


def twice(verb, *arguments):
    """A verb about one memory, done and done again."""
    return lambda memory, kept: [getattr(memory, verb)(kept.id, *arguments) for _ in range(2)]


DECISIONS = {
    "pin": twice("pin"),
    "archive": twice("archive", "a test"),
    "move": twice("move", "vault", "a test"),
    "unpin": lambda memory, kept: [memory.pin(kept.id), memory.unpin(kept.id), memory.unpin(kept.id)],
    "restore": lambda memory, kept: [
        memory.archive(kept.id, "a test"),
        memory.restore(kept.id),
        memory.restore(kept.id),
    ],
}


@pytest.mark.parametrize("decide", DECISIONS.values(), ids=DECISIONS)
def test_a_decision_names_its_own_operation_and_one_that_changes_nothing_names_none(memory, decide):
    kept = memory.remember("The staging database is pg-stage-2.")
    *done, again = decide(memory, kept)
    for outcome in done:
        assert outcome.changed
    assert [o.operation for o in done] == [e.operation_id for e in memory.history(kept.id)][1:]
    before = memory.history()
    assert (again.operation, again.changed, again.id) == (None, False, kept.id)
    assert again.memory == memory.get(kept.id, include_archived=True)
    assert memory.history() == before


def test_what_is_there_already_names_no_operation(memory):
    first = memory.remember("The staging database is pg-stage-2.")
    assert (first.operation, first.changed) == (memory.history()[0].id, True)
    again = memory.remember("the staging database is pg-stage-2.")
    assert (again.id, again.operation, again.changed) == (first.id, None, False)
    new, known, same = memory.remember_many(["Another one.", "The staging database is pg-stage-2.", "another one."])
    assert [o.operation for o in (new, known, same)] == [memory.history()[0].id, None, None]
    assert (known.id, same.id) == (first.id, new.id)


def test_an_answer_names_its_own_operation_and_one_that_was_given_before_none(opening):
    memory = opening({**WORDS_ONLY, "preset": "facts"})
    for day in ("Friday", "Thursday"):
        memory.ingest([{"content": f"Remember that Gai Media prefers {day} deliveries.", "role": "user"}], session=day)
    fact = memory.facts("Gai Media")[0].id
    muted = memory.mute(fact)
    assert (muted.id, muted.operation) == (fact, memory.history()[0].id)
    before = memory.history()
    again = memory.mute(fact)
    assert (again.id, again.operation, again.changed) == (fact, None, False)
    assert memory.history() == before
    assert memory.confirm(fact).operation == memory.history()[0].id


def test_forgetting_archives_with_the_reason_that_is_given(memory):
    kept = memory.remember("The staging database is pg-stage-2.")
    gone = memory.forget(kept.id, "It was switched off.")
    assert (gone.memory.status, gone.changed, memory.get(kept.id)) == ("archived", True, None)
    last = memory.history(kept.id)[-1]
    assert (last.operation_id, last.because) == (gone.operation, "archived by hand: It was switched off.")
    assert memory.restore(kept.id).memory.status == "active"
