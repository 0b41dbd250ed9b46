"""A circuit breaker before a language model: one that does not answer is left alone for a while."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

from perdure.records.deadline import until_half
from perdure.records.errors import DeadlineExceeded, ModelError, UnusableReply
from perdure.records.instant import Instant

REST_SECONDS: Final = 60
"""So long a model that could not be asked is left alone; then one call tries it again."""
_FAILURES: Final = 3  # after so many failures in a row it counts as away; after one where it kept the call waiting


class AskableModel(Protocol):
    """What is asked."""

    def ask(self, instruction: str, text: str, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return what the model says about a text; raises ModelError or DeadlineExceeded."""


class CircuitBreaker:
    """Asks a model, within half of the time that a call has, and not for a minute after it was away.

    What the model is asked for is never needed: rules do without. So the other half of the call's time is theirs. Safe
    to share between threads.
    """

    def __init__(self, model: AskableModel, clock: Callable[[], Instant]) -> None:
        self._model, self._clock = model, clock
        self._lock = threading.Lock()
        self._since: Instant | None = None  # when it could not be asked; None while it can
        self._failures = 0

    def ask(self, instruction: str, text: str, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return what the model says about a text, as an object that fits a schema.

        Raises:
            ModelError: As the model says; or half of the call's time is over; or it is left alone.
        """
        self._refuse_while_resting()
        try:
            with until_half():
                answer = self._model.ask(instruction, text, schema)
        except DeadlineExceeded as error:
            self._note_failure(away=False)
            raise ModelError(
                "The language model did not answer within half of the time that the call has.",
                remedy="Give the call more time.",
            ) from error
        except UnusableReply:
            self._note_answer()
            raise
        except ModelError as error:
            self._note_failure(away=isinstance(error.__cause__, TimeoutError))
            raise
        self._note_answer()
        return answer

    def _refuse_while_resting(self) -> None:
        with self._lock:
            now = self._clock()
            # A clock that was set back must not prolong the rest.
            if self._since is None or not 0 <= now - self._since < REST_SECONDS * 1000:
                return
            raise ModelError(
                f"The language model was not asked, because it did not answer less than {REST_SECONDS} s ago.",
                remedy="It is asked again after that time.",
            )

    def _note_answer(self) -> None:
        with self._lock:
            self._since, self._failures = None, 0

    def _note_failure(self, *, away: bool) -> None:
        with self._lock:
            self._failures += 1
            if away or self._failures >= _FAILURES:
                self._since = self._clock()
