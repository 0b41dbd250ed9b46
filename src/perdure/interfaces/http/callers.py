"""Who may run how much at once: a caller's further calls wait, and take nothing from others meanwhile."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable

from perdure.records.errors import TooManyCalls

Begin = Callable[[], object]


class Callers:
    """Counts the calls of each caller: so many run, so many wait, more are refused. For one event loop.

    A caller is a token, or where there are no tokens a namespace. One that runs a call already begins another only
    while as many places stay free as it then has: the first has half of all, the next half of what is left, and who
    comes when four of them are as busy as they may be still finds one of sixteen. Who runs least goes first. Where a
    ``share`` of more than half is wanted, nothing is left free.
    """

    def __init__(self, places: int, share: int, waiting: int) -> None:
        self._free, self._share, self._most = places, share, waiting
        self._leaves = 2 * share <= places + 1
        self._running = Counter[str]()
        self._waiting: dict[str, deque[Begin]] = {}

    def enter(self, caller: str, begin: Begin) -> None:
        """Count a call, and begin it now or when it is its turn.

        Raises:
            TooManyCalls: Too many of the caller wait already.
        """
        if len(self._waiting.get(caller, ())) >= self._most and not self._may_begin(caller):
            raise too_many_at_once("too many calls of this token, or of this namespace, are waiting")
        self._waiting.setdefault(caller, deque()).append(begin)
        self._begin_some()

    def leave(self, caller: str, begin: Begin) -> None:
        """Count a call no longer: it has ended, and others may begin; or it was given up while it waited."""
        waiting = self._waiting.get(caller, deque())
        if begin in waiting:
            waiting.remove(begin)
            if not waiting:
                del self._waiting[caller]
            return
        self._free += 1
        self._running -= Counter((caller,))  # forgets who has none left
        self._begin_some()

    def runs(self, caller: str) -> bool:
        """Whether a call of a caller runs."""
        return caller in self._running

    def _may_begin(self, caller: str) -> bool:
        runs = self._running[caller]
        return runs < self._share and self._free > (runs + 1 if runs and self._leaves else 0)

    def _begin_some(self) -> None:
        while self._waiting:
            caller = min(self._waiting, key=self._running.__getitem__)
            if not self._may_begin(caller):
                return
            waiting = self._waiting.pop(caller)
            begin = waiting.popleft()
            if waiting:
                self._waiting[caller] = waiting  # behind the others
            self._free -= 1
            self._running[caller] += 1
            begin()


def too_many_at_once(why: str) -> TooManyCalls:
    """Return the refusal of a call beside others of its caller."""
    return TooManyCalls(f"The call was not begun: {why}.", remedy="Make fewer calls at once, and try again.")
