"""Whether the counter of work counts what calls do, and nothing of its own."""

from __future__ import annotations

from contextlib import nullcontext

import pytest

from conftest import HashEmbedder
from life.breaks import LIVES
from life.driver import begin
from life.work import VERBS, Work


def functions_of(*, steps_too):
    """Play a short life, and return how many functions its calls called, by verb."""
    work = Work()
    with work.of_sqlite() if steps_too else nullcontext():
        player = begin(LIVES["busy"](), ":memory:", embedder=HashEmbedder())
    with work.of(player):
        player.play()
    return {verb: sum(call.functions for call in work.calls[verb]) for verb in VERBS}


@pytest.mark.behaviour("LV12")
def test_calls_call_as_many_functions_whether_steps_of_sqlite_are_counted_or_not():
    functions_of(steps_too=False)  # the first life of a process loads modules, and fills what is kept of words
    alone, both = (functions_of(steps_too=steps_too) for steps_too in (False, True))
    assert all(alone.values())
    assert both == pytest.approx(alone, rel=0.02)
