"""What says until when it holds is not shown as current after that day, and an answer says that it has ended."""

from datetime import UTC, datetime, timedelta

import pytest

import perdure

BEGAN = datetime(2026, 11, 10, 9, tzinfo=UTC)


class Clock:
    now = BEGAN

    def __call__(self):
        return self.now


@pytest.mark.behaviour("UP42")
def test_what_has_ended_is_marked_in_recall_and_leaves_the_summaries(tmp_path):
    clock = Clock()
    with perdure.open(tmp_path / "a.db", {"embedder": {"model": "none"}}, clock=clock) as memory:
        memory.remember("Code freeze until 20 November 2026: merge nothing to main.")
        memory.remember("The main branch is protected.")
        pinned = memory.remember("The lift is broken until Friday.")
        memory.pin(pinned.id)
        agent = memory.agent
        for days, ended in ((10, ""), (11, "2026-11-20")):
            clock.now = BEGAN + timedelta(days=days)
            hits = {
                h.memory.content: h
                for h in memory.recall("Is the main branch protected, may I merge to main in a code freeze?").hits
            }
            assert hits["Code freeze until 20 November 2026: merge nothing to main."].ended == ended
            assert hits["The main branch is protected."].ended == ""
            for shown in (memory.digest(), agent.opening("s", "default")):
                assert ("Code freeze" in shown) == (not ended)
                assert "protected" in shown
                assert "lift" in shown  # what is pinned is a person's to unpin
            beside = agent.beside("May I merge to main in the code freeze?", f"t{days}", "default")
            assert ("ended 2026-11-20" in beside) == bool(ended)
