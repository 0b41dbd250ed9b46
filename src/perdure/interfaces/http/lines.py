"""Lines of JSON that are read while they are sent: so many at once, each in bounded memory."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from itertools import chain
from time import monotonic
from typing import Any, Final

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from starlette.requests import ClientDisconnect
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from perdure.interfaces.http.answers import LINES, Payload, json_bytes, operation_of
from perdure.interfaces.http.problems import RETRY_SECONDS, RequestRefused, internal_problem, problem_of
from perdure.records.deadline import within
from perdure.records.errors import DeadlineExceeded, PerdureError
from perdure.verbs.declaration import Verb
from perdure.verbs.results import as_json

_log = logging.getLogger(__name__)
_CHUNK: Final = 64 << 10  # bytes that are made at once, about


def lines_of(verb: Verb, items: Iterable[Any], seconds: float | None) -> Payload:
    """Return the items of a verb's list as an answer: whole where it is short or cannot be read again, else its begin.

    Making its lines may take ``seconds`` in all; None for no limit.
    """
    chunks = limit_time(chunks_of(map(as_json, items)), seconds)
    if not verb.reads:
        return Payload(b"".join(chunks), LINES, operation=operation_of(verb, items))
    first, second = next(chunks, b""), next(chunks, b"")
    return Payload(first, LINES, chain((second,), chunks) if second else None)


def chunks_of(lines: Iterable[Any]) -> Iterator[bytes]:
    """Yield values as lines of JSON, about as many as a chunk holds at once."""
    pending, size = list[bytes](), 0
    for line in lines:
        pending.append(json_bytes(line))
        size += len(pending[-1]) + 1
        if size >= _CHUNK:
            yield b"\n".join((*pending, b""))
            pending, size = [], 0
    if pending:
        yield b"\n".join((*pending, b""))


def limit_time(chunks: Iterator[bytes], seconds: float | None) -> Iterator[bytes]:
    """Yield chunks while making them takes at most so many seconds in all; what the client takes does not count."""
    left = seconds
    while left is None or left > 0:
        began = monotonic()
        try:
            with within(left):
                chunk = next(chunks, b"")
        except DeadlineExceeded:
            break
        if left is not None:
            left -= monotonic() - began
        if not chunk:
            return
        yield chunk
    raise DeadlineExceeded(
        "The call's time was over before all lines were made; those that were sent are valid.",
        remedy="Allow more time (prefer: wait=SECONDS), or go on after the last one.",
    )


class StreamLimiter:
    """Counts what is sent at once, and reads it in a few threads of its own: it takes none from calls."""

    def __init__(self, noun: str, most: int, threads: int) -> None:
        self._noun, self._most, self._threads = noun, most, threads
        self._open = 0
        self._limiter: CapacityLimiter | None = None  # belongs to the loop that runs

    async def read(self, chunks: Iterator[bytes]) -> bytes:
        """Return the next chunk, made in a thread; it is empty after the last."""
        if self._limiter is None:
            self._limiter = CapacityLimiter(self._threads)
        return await run_sync(partial(next, chunks, b""), limiter=self._limiter)

    @contextmanager
    def place(self) -> Iterator[None]:
        """Count as one for the length of a block."""
        if self._open >= self._most:
            raise RequestRefused(
                503,
                f"{self._most} {self._noun} are being sent already.",
                remedy="Try again when one has ended.",
                headers={"retry-after": str(RETRY_SECONDS)},
            )
        self._open += 1
        try:
            yield
        finally:
            self._open -= 1


class LineStream(StreamingResponse):
    """Lines of JSON that are read while they are sent.

    What fails midway is in a last line, ``{"problem": …}``, and the connection is cut, so that nobody takes what came
    for all there is. ``on_end`` is called when it ends, with the status and the error, if anything failed.
    """

    def __init__(
        self,
        chunks: Iterator[bytes],
        streams: StreamLimiter,
        headers: Mapping[str, str] | None = None,
        on_end: Callable[[int, Exception | None], None] = lambda *_: None,
    ) -> None:
        super().__init__((), headers={"cache-control": "no-store", **(headers or {})}, media_type=LINES)
        self._chunks, self._streams, self._on_end = chunks, streams, on_end
        self._error: Exception | None = ClientDisconnect()  # until it has come to its end

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it, or refuse it where too many are being sent."""
        try:
            with self._streams.place():
                await self._send_all(scope, receive, send)
        except RequestRefused as error:
            self._on_end(error.status, error)
            await problem_of(error)(scope, receive, send)

    async def _send_all(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._on_end(self.status_code, self._error)

    async def stream_response(self, send: Send) -> None:
        """Send the head, chunk after chunk as the client takes them, and the end or what failed."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        while chunk := await self._next():
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
        if isinstance(self._error, ClientDisconnect):
            self._error = None
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _next(self) -> bytes:
        """Return the next chunk: what failed as a last line, nothing after the last one."""
        if not isinstance(self._error, ClientDisconnect):
            return b""
        problem: Response
        try:
            return await self._streams.read(self._chunks)
        except PerdureError as error:
            problem, self._error = problem_of(error), error
        except Exception as error:  # noqa: BLE001  # the outermost place: a client gets no internals, the log all
            _log.exception("Reading lines failed unexpectedly.")
            problem, self._error = internal_problem("Reading"), error
        return b'{"problem":%b}\n' % bytes(problem.body)
