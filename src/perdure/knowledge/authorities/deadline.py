"""Asking several authorities at once for no longer than a limit, whatever their drivers wait for."""

from __future__ import annotations

import time
from collections.abc import Sequence
from threading import Thread
from typing import Final

from perdure.knowledge.records.authority import Answers, AuthorityAnswer, AuthorityQuestion, Standing

_AT_ONCE: Final = 50
"""So many questions are asked over one connection; what was answered counts when the time is over."""


def answers_within(
    lookups: Sequence[tuple[Answers, Sequence[AuthorityQuestion]]], seconds: float
) -> list[list[AuthorityAnswer]]:
    """Return the answers of each authority; what it does not answer in time is unreachable.

    Args:
        lookups: (an authority's answers, what it is asked).
        seconds: The longest that this takes, above 0; a thread that still waits then ends by itself.
    """
    until = time.monotonic() + seconds
    asked = [_Lookup(answers, questions, until) for answers, questions in lookups]
    for lookup in asked:
        lookup.start()
    late = AuthorityAnswer(Standing.UNREACHABLE, evidence=f"no answer within {seconds:g} s")
    return [lookup.wait(late) for lookup in asked]


class _Lookup(Thread):
    def __init__(self, answers: Answers, questions: Sequence[AuthorityQuestion], until: float) -> None:
        super().__init__(name="perdure-authority", daemon=True)
        self._answers, self._questions, self._until = answers, questions, until
        self._found: list[AuthorityAnswer] = []

    def run(self) -> None:
        """Ask until everything is answered or the time is over."""
        for start in range(0, len(self._questions), _AT_ONCE):
            if time.monotonic() < self._until:
                self._found += self._answers(self._questions[start : start + _AT_ONCE])

    def wait(self, late: AuthorityAnswer) -> list[AuthorityAnswer]:
        """Return an answer to each question, ``late`` for those that have none."""
        self.join(max(0.0, self._until - time.monotonic()))
        found = self._found[:]
        return [*found, *[late] * (len(self._questions) - len(found))]
