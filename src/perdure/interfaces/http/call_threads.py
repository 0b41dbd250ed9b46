"""The threads in which calls run: so many at once, and no more that wait than are allowed."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from contextvars import Context, copy_context
from functools import partial
from queue import Empty, SimpleQueue
from threading import Lock, Thread, local
from typing import Any, Final, TypeVar

from perdure.interfaces.http.callers import Callers, too_many_at_once
from perdure.interfaces.http.problems import RETRY_SECONDS, RequestRefused
from perdure.records.errors import OutcomeUnknown, PerdureError

T = TypeVar("T")


class _Call:
    __slots__ = ("answer", "begin", "begun", "caller", "context", "late", "loop", "queued", "work")

    def __init__(
        self, work: Callable[[], Any], caller: str, put: Callable[[_Call], None], late: Callable[[Any], object] | None
    ) -> None:
        self.work, self.caller, self.late = work, caller, late
        self.begin = partial(put, self)
        self.queued = self.begun = False  # whether a thread is free for it, and has it
        self.context: Context = copy_context()
        self.loop = asyncio.get_running_loop()
        self.answer: asyncio.Future[Any] = self.loop.create_future()


_WAITED: Final = "it waited too long for others of this token, or of this namespace"
_IN_TURN: Final = object()  # in the queue: a thread is to run the calls that wait for their turn


class CallThreads:
    """Runs calls in a bounded number of threads, and refuses those that would wait behind too many others.

    A call that outlasts its time is answered with 504 and goes on in its thread, which stays taken until it ends. The
    library's own pool takes three times the locks for each call: a twentieth of what a request costs.

    One caller has ``share`` threads at most, and no more than it leaves to others; see callers.py.

    Calls in turn run one at a time and one after the other in the same thread; one that waits for a model lets others
    run meanwhile. They are recalls of one file, which would stop each other at its connection and at Python's lock many
    times in each recall: in eight threads at once they take a tenth more CPU.
    """

    def __init__(self, threads: int, waiting: int, share: int) -> None:
        self._most, self._room = threads, threads + waiting
        self._callers = Callers(threads, share, (waiting + 1) // 2)
        self._queue: SimpleQueue[Any] = SimpleQueue()  # of calls, _IN_TURN, and None for each thread that is to end
        self._in_turn: deque[_Call] = deque()
        self._turn, self._returning = Lock(), 0  # how many threads wait to go on with their call in turn
        self._mine = local()
        self._threads: list[Thread] = []
        self._lock = Lock()  # decides whether a call begins or is given up
        self.taken = 0  # calls that run or wait

    async def run(
        self,
        work: Callable[[], T],
        seconds: float,
        caller: str,
        *,
        in_turn: bool = False,
        late: Callable[[T | None], object] | None = None,
    ) -> T:
        """Run a call and return what it returns, after ``seconds`` at most.

        ``late`` is given what it returns after that, None where it fails.

        Raises:
            OutcomeUnknown: It goes on.
            RequestRefused: Too many calls wait, or it waited too long.
            TooManyCalls: Too many of the caller's wait, or it waited too long for those.
        """
        self._check_room()
        call = _Call(work, caller, partial(self._put, in_turn=in_turn), late)
        self._callers.enter(caller, call.begin)
        self.taken += 1
        if len(self._threads) < min(self.taken, self._most):
            self._threads.append(Thread(target=self._serve, name=f"perdure-call_{len(self._threads)}", daemon=True))
            self._threads[-1].start()
        timer = call.loop.call_later(seconds, self._give_up, call, seconds)
        try:
            answer: T = await call.answer
            return answer
        finally:
            timer.cancel()

    def _put(self, call: _Call, *, in_turn: bool) -> None:
        call.queued = True
        if in_turn:
            self._in_turn.append(call)
            self._call_for_turn()
        else:
            self._queue.put(call)

    def _leave(self, call: _Call) -> None:
        self.taken -= 1
        self._callers.leave(call.caller, call.begin)

    def _serve(self) -> None:
        while (call := self._queue.get()) is not None:
            if call is _IN_TURN:
                self._run_in_turn()
            else:
                self._run(call)
            del call  # an idle thread keeps nothing alive

    def _run(self, call: _Call) -> None:
        if not self._begins(call):
            return
        result, error = None, None
        try:
            result = call.context.run(call.work)
        except BaseException as raised:  # noqa: BLE001  # whatever it is, who waits for the call gets it
            error = raised
        with suppress(RuntimeError):  # the loop is closed: nobody waits
            call.loop.call_soon_threadsafe(self._hand_over, call, result, error)

    def _call_for_turn(self) -> None:
        """See that calls in turn are run: by the thread that does so already, which looks once more when it ends."""
        if self._in_turn and not self._returning and not self._turn.locked():
            self._queue.put(_IN_TURN)

    def _run_in_turn(self) -> None:
        """Run the calls in turn that wait, unless another thread does; one that comes back from a model goes first."""
        if self._returning or not self._turn.acquire(blocking=False):
            return
        self._mine.turn = True
        try:
            while not self._returning:
                try:
                    call = self._in_turn.popleft()
                except IndexError:
                    break
                self._run(call)
        finally:
            self._mine.turn = False
            self._turn.release()
        self._call_for_turn()

    @contextmanager
    def leave_turn(self) -> Iterator[None]:
        """Let other calls in turn run for the length of a block, where this thread runs one."""
        if not getattr(self._mine, "turn", False):
            yield
            return
        self._mine.turn = False
        self._turn.release()
        self._call_for_turn()
        try:
            yield
        finally:
            with self._lock:
                self._returning += 1
            self._turn.acquire()
            self._mine.turn = True
            with self._lock:
                self._returning -= 1

    def _begins(self, call: _Call) -> bool:
        """Begin a call, or give it up: whoever is first decides."""
        with self._lock:
            first, call.begun = not call.begun, True
        return first

    def _hand_over(self, call: _Call, result: Any, error: BaseException | None) -> None:
        """Give what a call returned to who waits for it, if somebody does."""
        self._leave(call)
        if call.answer.done():
            if call.late is not None:
                call.late(result)
        elif error is None:
            call.answer.set_result(result)
        else:
            call.answer.set_exception(error)

    def _give_up(self, call: _Call, seconds: float) -> None:
        if call.answer.done():
            return
        refused: PerdureError
        if self._begins(call):
            refused = _not_begun() if call.queued else self._waiting_refusal(call.caller)
            self._leave(call)
        else:
            refused = unknown_outcome(seconds)
        call.answer.set_exception(refused)

    def _check_room(self) -> None:
        if self.taken >= self._room:
            raise RequestRefused(
                503,
                "The service is busy: too many calls are waiting.",
                remedy="Try again a little later.",
                headers={"retry-after": str(RETRY_SECONDS)},
            )

    def _waiting_refusal(self, caller: str) -> PerdureError:
        """Return the refusal of a call that waited too long for its caller's own ones, or for those of others."""
        return too_many_at_once(_WAITED) if self._callers.runs(caller) else _not_begun()

    @asynccontextmanager
    async def place(self, caller: str, seconds: float) -> AsyncIterator[None]:
        """Count as a call for the length of a block, which begins after ``seconds`` at most. Raises as ``run`` does."""
        self._check_room()
        turn = asyncio.Event()
        self._callers.enter(caller, turn.set)
        self.taken += 1
        try:
            try:
                await asyncio.wait_for(turn.wait(), seconds)
            except TimeoutError:
                raise self._waiting_refusal(caller) from None
            yield
        finally:
            self.taken -= 1
            self._callers.leave(caller, turn.set)

    def close(self) -> None:
        """Wait for the calls that run; those that wait are not begun."""
        waiting: list[Any] = [*self._in_turn]
        self._in_turn.clear()
        with suppress(Empty):
            while True:
                waiting.append(self._queue.get_nowait())
        for call in waiting:
            if isinstance(call, _Call) and self._begins(call):
                call.loop.call_soon_threadsafe(call.answer.cancel)
        for _ in self._threads:
            self._queue.put(None)
        for thread in self._threads:
            thread.join()


def _not_begun() -> PerdureError:
    return RequestRefused(503, "The call waited too long and was not begun.", remedy="Try again.")


def unknown_outcome(seconds: float) -> OutcomeUnknown:
    """Return the error for a call that goes on after its time."""
    return OutcomeUnknown(
        f"The call takes longer than {seconds:.3g} s and goes on: what it stores may be stored, or will be.",
        remedy="Send it again with the same idempotency key: that stores nothing twice. Without one, look at "
        "the history first.",
    )
