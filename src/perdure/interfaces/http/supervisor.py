"""Several processes that answer at one address: the one that starts them, and keeps what they share."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import sys
from asyncio.subprocess import Process, create_subprocess_exec
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from time import monotonic
from typing import Any, Final

from perdure.interfaces.http.link import Link, counts_of_json, counts_to_json
from perdure.interfaces.http.shared import Begun, Counts, Shared
from perdure.records.errors import InvalidInput, PerdureError, StoreError

GAUGES: Final = frozenset(("calls_in_flight",))  # what a worker that has ended no longer counts for
_SHARED_METHODS: Final = ("take", "forget", "note_failure", "keep_token", "token_of", "drop_token")
"""What workers ask of ``Shared`` as it is."""
_COUNTS_SECONDS: Final = 1.0  # how long a worker may take to send what it has counted
_LIVED_SECONDS: Final = 10.0  # a worker that ends sooner is replaced after a pause
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 10.0  # seconds; it doubles from one to the other
_SHARES_OUT: Final = sys.platform == "linux"  # connections among all sockets of a port
_log = logging.getLogger(__name__)


class _Worker:
    def __init__(self, process: Process, supervisor: Supervisor) -> None:
        self.process, self._supervisor = process, supervisor
        self.is_ready = False
        self.latest_counts: Counts = {}
        self._begun_keys: set[str] = set()  # keys of the calls that it runs
        self._link: Link | None = None

    async def run(self, end: socket.socket, options: Mapping[str, Any]) -> int:
        """Answer the process until it has ended, and return its exit status."""
        shared = self._supervisor.shared
        answers: dict[str, Callable[..., Awaitable[Any]]] = {
            **{name: getattr(shared, name) for name in _SHARED_METHODS},
            "begin": self._begin,
            "end": self._end,
            "counts": self._counts,
            "ready": self._ready,
            "failed": self._supervisor.note_failure,
        }
        self._link = await Link.over(end, answers)
        self._link.tell("serve", options)
        try:
            await self._link.run()
            return await self.process.wait()
        finally:
            for key in self._begun_keys:  # nobody was answered: who asks again begins anew
                await shared.end(key, None)

    def stop(self, number: int) -> None:
        """Send the process a signal."""
        with suppress(ProcessLookupError):
            self.process.send_signal(number)

    async def ask_counts(self) -> None:
        """Learn what the process has counted; its last counts hold where it is too busy."""
        if self._link is not None and self.is_ready:
            with suppress(TimeoutError, PerdureError):
                self.latest_counts = counts_of_json(await asyncio.wait_for(self._link.ask("counts"), _COUNTS_SECONDS))

    async def _ready(self, has_tokens: bool) -> None:
        self.is_ready = True
        self._supervisor.ready(has_tokens=has_tokens)

    async def _begin(self, key: str, digest: str, namespace: str, seconds: float) -> Begun:
        begun = await self._supervisor.shared.begin(key, digest, namespace, seconds)
        if begun[0] == "run":
            self._begun_keys.add(key)
        return begun

    async def _end(self, key: str, answer: Any) -> None:
        self._begun_keys.discard(key)
        await self._supervisor.shared.end(key, answer)

    async def _counts(self, own_counts: list[Any]) -> list[Any]:
        self.latest_counts = counts_of_json(own_counts)
        return counts_to_json(await self._supervisor.counts(self))


class Supervisor:
    """Runs the workers of a service until SIGTERM or Ctrl-C, and starts another one where one has ended.

    The first one opens the store before the others are started, and runs maintenance. Where the system shares
    connections out among sockets of one port (Linux), each worker has its own: of many connections that come at once
    one socket would give most to one worker. A socket stays open when its worker ends, so that who connects meanwhile
    waits for the next one. ``announce`` is called when the service answers, with whether there are tokens.
    """

    def __init__(
        self,
        listener: socket.socket,
        workers: int,
        options: Mapping[str, Any],
        shared: Shared,
        announce: Callable[[bool], None],
    ) -> None:
        self._address, self._worker_count, self._options = listener.getsockname()[:2], workers, options
        self.shared, self._announce = shared, announce
        if _SHARES_OUT:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        self._sockets = {0: listener}  # of each worker
        self._running: dict[int, _Worker] = {}
        self._ended_counts: Counter[tuple[str, ...]] = Counter()  # what workers counted that have ended
        self._restarts = 0

    def run(self) -> None:
        """Run them."""
        asyncio.run(self._run())

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        self._stopping = asyncio.Event()
        self._opened: asyncio.Future[bool] = loop.create_future()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop, number)
        tasks = [loop.create_task(self._keep_running(0))]
        await asyncio.wait(list[asyncio.Future[Any]]((*tasks, self._opened)), return_when=asyncio.FIRST_COMPLETED)
        if self._opened.done():
            self._announce(self._opened.result())
            tasks += [loop.create_task(self._keep_running(slot)) for slot in range(1, self._worker_count)]
        await asyncio.gather(*tasks)

    def ready(self, *, has_tokens: bool) -> None:
        """Note that a worker has opened the store."""
        if not self._opened.done():
            self._opened.set_result(has_tokens)

    async def note_failure(self, kind: str, message: str, remedy: str) -> None:
        """Note that a worker cannot serve; what the first one says is what the service says."""
        if self._opened.done():
            _log.warning("A worker could not start: %s", message)
        else:
            error = InvalidInput if kind == InvalidInput.__name__ else StoreError
            self._opened.set_exception(error(message, remedy=remedy))

    async def counts(self, asking: _Worker) -> Counts:
        """Return what all workers have counted, also those that have ended: a sum never gets smaller.

        ``asking`` has just sent its own.
        """
        workers = [worker for worker in self._running.values() if worker.is_ready]
        await asyncio.gather(*(worker.ask_counts() for worker in workers if worker is not asking))
        workers = [worker for worker in self._running.values() if worker.is_ready]  # not those that ended meanwhile
        totals = Counter(self._ended_counts)
        for worker in workers:
            _add(totals, worker.latest_counts)
        return {**totals, ("workers",): len(workers), ("worker_restarts",): self._restarts}

    def _stop(self, number: int) -> None:
        """Have all workers finish what runs; a second Ctrl-C has them end at once."""
        again = self._stopping.is_set() and number == signal.SIGINT
        self._stopping.set()
        for listener in self._sockets.values():
            listener.close()
        for worker in self._running.values():
            worker.stop(signal.SIGINT if again else signal.SIGTERM)

    async def _keep_running(self, slot: int) -> None:
        pause = 0.0
        while not self._stopping.is_set():
            began = monotonic()
            why = await self._run_worker(slot)
            if self._stopping.is_set():
                return
            if not self._opened.done():
                self._opened.set_exception(StoreError(f"The service's worker ended ({why}).", remedy="See its error."))
            if self._opened.exception() is not None:
                return
            pause = 0.0 if monotonic() - began > _LIVED_SECONDS else min(_LONGEST_PAUSE, max(_FIRST_PAUSE, 2 * pause))
            self._restarts += 1
            _log.warning("Worker %d of the service ended (%s); another one starts.", slot + 1, why)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), pause)

    async def _run_worker(self, slot: int) -> str:
        try:
            our_end, worker_end = socket.socketpair()
        except OSError as error:
            return str(error)
        try:
            listener = self._sockets[slot] = self._sockets.get(slot) or self._listen()
            numbers = listener.fileno(), worker_end.fileno()
            command = (sys.executable, "-P", "-m", "perdure.interfaces.http.worker", *map(str, numbers))
            process = await create_subprocess_exec(*command, pass_fds=numbers, process_group=0)  # no Ctrl-C for it
        except OSError as error:
            our_end.close()
            return str(error)
        finally:
            worker_end.close()
        worker = self._running[slot] = _Worker(process, self)
        if self._stopping.is_set():  # it came while the process was started
            worker.stop(signal.SIGTERM)
        try:
            status = await worker.run(our_end, {**self._options, "slot": slot, "secret": self.shared.secret.hex()})
        except Exception:  # noqa: BLE001  # one worker's fault ends that worker alone
            _log.exception("What a worker sent could not be read.")
            worker.stop(signal.SIGKILL)
            status = await process.wait()
        finally:
            del self._running[slot]
        _add(self._ended_counts, {key: n for key, n in worker.latest_counts.items() if key[0] not in GAUGES})
        if not worker.is_ready:  # nobody would answer who connects here until another one can
            self._sockets.pop(slot).close()
        return f"signal {-status}" if status < 0 else f"exit status {status}"

    def _listen(self) -> socket.socket:
        """Return a socket for a worker: one of its own where the system shares connections out among several."""
        if self._sockets and not _SHARES_OUT:
            return next(iter(self._sockets.values())).dup()
        family = socket.AF_INET6 if ":" in self._address[0] else socket.AF_INET
        made = socket.socket(family, socket.SOCK_STREAM)  # the worker listens on it when it can answer
        for option in (socket.SO_REUSEADDR, socket.SO_REUSEPORT):
            made.setsockopt(socket.SOL_SOCKET, option, 1)
        if family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        made.bind(self._address)
        return made


def _add(counts: Counter[tuple[str, ...]], more: Counts) -> None:
    for key, value in more.items():
        counts[key] += value  # type: ignore[assignment]  # seconds are no whole numbers
