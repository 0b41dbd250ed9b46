"""A task without a session is refused at every door: nobody would see what is stored under it."""

from __future__ import annotations

import pytest

import perdure

SAID = "A task is given without a session"


@pytest.mark.parametrize(
    "call",
    [
        lambda memory: memory.remember("the sauce has paprika", task="cook"),
        lambda memory: memory.remember_many([{"content": "salt"}, {"content": "paprika", "task": "cook"}]),
        lambda memory: memory.extract("Remember: the sauce has paprika.", task="cook"),
    ],
)
def test_a_task_without_a_session_is_refused_and_nothing_is_stored(memory, call):
    with pytest.raises(perdure.InvalidInput, match=SAID) as refused:
        call(memory)
    assert "Pass session as well, or leave out task." in refused.value.remedy
    assert memory.list(include_archived=True) == []
    assert memory.namespaces() == []


def test_with_its_session_it_is_found_inside(memory):
    kept = memory.remember("the sauce has paprika", task="cook", session="kitchen")
    assert [h.memory.id for h in memory.recall("sauce", session="kitchen").hits] == [kept.id]


def test_what_is_updated_keeps_its_task_and_session(memory):
    kept = memory.remember("the sauce has paprika", task="cook", session="kitchen")
    new = memory.update(kept.id, "the sauce has cumin")
    assert (new.memory.task, new.memory.session) == ("cook", "kitchen")
