"""What all routes share: how often a token may call, repeats of a call, threads, what is counted."""

from __future__ import annotations

import hashlib
import json
from asyncio import CancelledError, Task, get_running_loop
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final

from perdure.interfaces.http.answers import Payload
from perdure.interfaces.http.call_threads import CallThreads, unknown_outcome
from perdure.interfaces.http.lines import StreamLimiter
from perdure.interfaces.http.metrics import ServiceMetrics
from perdure.interfaces.http.settings import Settings
from perdure.interfaces.http.shared import Counts, Shared
from perdure.records.errors import InvalidInput, MemoryErased, OutcomeUnknown, TooManyCalls

if TYPE_CHECKING:
    from perdure.interfaces.http.tracing import Tracing

_LISTS_AT_ONCE: Final = 16  # lists of lines that are sent at once; a short one counts as none
_LISTS_READ: Final = 2  # of them are read at once
_LONGEST_KEY: Final = 255
_FORGOTTEN: Final = "The call was made; what it returned was forgotten, because memories were erased since."
Late = Callable[[Payload | None], object]


@dataclass(frozen=True, slots=True)
class CallLimits:
    """What all routes share: threads, what holds over all processes, and what is counted."""

    settings: Settings
    threads: CallThreads
    shared: Shared
    observed: ServiceMetrics
    lists: StreamLimiter
    tracing: Tracing | None = None
    _ending: set[Task[None]] = field(default_factory=set)

    @classmethod
    def of(cls, settings: Settings, shared: Shared) -> CallLimits:
        """Return the limits that settings say."""
        share = settings.caller_threads or (settings.threads + 1) // 2
        threads = CallThreads(settings.threads, settings.waiting, share)
        lists = StreamLimiter("lists", _LISTS_AT_ONCE, _LISTS_READ)
        return cls(settings, threads, shared, ServiceMetrics(settings.file), lists, _make_tracing(settings))

    async def check_rate(self, caller: str) -> None:
        """Count a call.

        Raises:
            TooManyCalls: The caller has made too many lately.
        """
        rate = self.settings.rate
        if rate and caller and (wait := await self.shared.take(caller)):
            told = f"The token makes more than {rate:g} calls a second."
            raise TooManyCalls(told, int(wait) + 1, remedy="Wait, then go on more slowly.")

    async def run_once(
        self,
        key: tuple[str, str, str],
        body: bytes,
        call: Callable[[Late], Awaitable[Payload]],
        holds: Callable[[Payload], bool],
        namespace: str,
        seconds: float,
    ) -> Payload:
        """Run a call, or return what the first one with its key returned, for a day; one that failed may be repeated.

        The answers are kept in the process, or in the one that watches over several: the key of ``remember`` is stored
        with the memory, and holds for good.

        Args:
            key: (caller, verb, key).
            body: The request's body: the same key must mean the same call.
            call: Runs it, and passes on what it returns after its time was over.
            holds: Returns whether nothing was erased since a kept answer, by any process.
            namespace: That it names; "" for none.
            seconds: How long to wait for the end of the first call with the key.

        Raises:
            InvalidInput: The key was used for another call.
            MemoryErased: The call was made, and what it returned may hold what was erased since.
            OutcomeUnknown: The first call with the key has not ended in that time.
        """
        if not 0 < len(key[2]) <= _LONGEST_KEY:
            raise InvalidInput("Idempotency-Key must have 1 to 255 characters.", remedy="Send for example a UUID.")
        name = json.dumps(key)
        state, first_answer = await self.shared.begin(name, hashlib.sha256(body).hexdigest(), namespace, seconds)
        if state == "other":
            raise InvalidInput(
                "The Idempotency-Key was already used for another call.", remedy="Use a new key for each new call."
            )
        if state == "running":
            raise unknown_outcome(seconds)
        caller = key[0] or namespace
        if state == "known" and not await self.threads.run(partial(holds, first_answer), seconds, caller):
            await self.shared.forget(namespace)
            state = "forgotten"
        if state == "forgotten":
            raise MemoryErased(_FORGOTTEN, remedy="Do not try it again: `history` shows what it did.")
        if state == "known":
            payload: Payload = first_answer
            return payload
        return await self._run_and_keep(name, call)

    async def _run_and_keep(self, name: str, call: Callable[[Late], Awaitable[Payload]]) -> Payload:
        try:
            answer = await call(partial(self._end_late, name))
        except (OutcomeUnknown, CancelledError):
            raise  # it goes on, and who sends it again waits for its end
        except BaseException:
            await self.shared.end(name, None)
            raise
        await self.shared.end(name, answer)
        return answer

    def _end_late(self, name: str, answer: Payload | None) -> None:
        task = get_running_loop().create_task(self.shared.end(name, answer))
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    def counts(self) -> Counts:
        """Return what this process has counted."""
        return {**self.observed.counts(), ("calls_in_flight",): self.threads.taken}

    @contextmanager
    def watch(self, port: str, texts: int) -> Iterator[None]:
        """Count a call of the embedder or the language model, and make a span of it where traces are wanted."""
        with (
            self.threads.leave_turn(),
            self.observed.watch(port, texts),
            nullcontext() if self.tracing is None else self.tracing.watch(port, texts),
        ):
            yield


def _make_tracing(settings: Settings) -> Tracing | None:
    """Return what makes traces, where they are asked for; nothing of OpenTelemetry is loaded otherwise."""
    if settings.traces == "off":
        return None
    from perdure.interfaces.http.tracing import Tracing  # noqa: PLC0415  # only where it is used

    return Tracing(content=settings.traces == "content")
