"""Who may run how much at once: a caller's further calls wait for its own, and take nothing from others meanwhile."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from perdure.records.errors import TooManyCalls

Begin = Callable[[], object]


class Callers:
    """Counts the calls of each caller: so many run, so many wait for these, more are refused. For one event loop.

    A caller is a token, or where there are no tokens a namespace.
    """

    def __init__(self, at_once: int, waiting: int) -> None:
        self._at_once, self._most = at_once, at_once + waiting
        self._taken: dict[str, int] = {}  # calls that run or wait
        self._waiting: dict[str, deque[Begin]] = {}

    def enter(self, caller: str, begin: Begin) -> None:
        """Count a call, and begin it now or when it is its turn.

        Raises:
            TooManyCalls: Too many wait already.
        """
        taken = self._taken.get(caller, 0)
        if taken >= self._most:
            raise too_many_at_once("too many calls of this token, or of this namespace, are waiting")
        self._taken[caller] = taken + 1
        if taken < self._at_once:
            begin()
        else:
            self._waiting.setdefault(caller, deque()).append(begin)

    def leave(self, caller: str, begin: Begin) -> None:
        """Count a call no longer: it has ended, and the next one begins; or it was given up while it waited."""
        waiting = self._waiting.get(caller, deque())
        following = None if begin in waiting else next(iter(waiting), None)
        left, gone = self._taken.pop(caller) - 1, following or begin
        if left:
            self._taken[caller] = left
        if gone in waiting:
            waiting.remove(gone)
        if not waiting:
            self._waiting.pop(caller, None)
        if following is not None:
            following()


def too_many_at_once(why: str) -> TooManyCalls:
    """Return the refusal of a call beside others of its caller."""
    return TooManyCalls(f"The call was not begun: {why}.", remedy="Make fewer calls at once, and try again.")
