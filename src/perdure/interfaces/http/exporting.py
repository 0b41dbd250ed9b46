"""``GET /v1/export``: everything of a namespace as lines of JSON, read while it is sent, in bounded memory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from functools import partial
from typing import Any, Final

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from perdure.interfaces.http.access import memory_for
from perdure.interfaces.http.answers import LINES, json_bytes
from perdure.interfaces.http.limits import CallLimits
from perdure.interfaces.http.problems import RETRY_SECONDS, RequestRefused, problem_of
from perdure.records.errors import PerdureError

PATH: Final = "/v1/export"
AT_ONCE: Final = 2
"""Exports that are read at once; more are refused: each holds a page of rows."""
_CHUNK: Final = 64 << 10  # bytes that are made at once, about


class Exports:
    """Answers the requests for exports.

    Args:
        limits: What the service shares; a chunk takes a thread of its own, so that exports take none from calls.
    """

    def __init__(self, limits: CallLimits) -> None:
        self._limits = limits
        self._open = 0

    async def answer(self, request: Request) -> Response:
        """Return a stream of lines; its first chunk is made before anything is sent, so that refusals are problems."""
        try:
            memory = memory_for(request)
            await self._limits.check_rate(request.state.principal.key)
            self._check_room()
            threads = CapacityLimiter(1)  # lines are read by one thread after the other
            lines = await run_sync(lambda: _chunks(memory.export(request.query_params.get("namespace"))))
            first = await run_sync(partial(next, lines, b""), limiter=threads)
        except PerdureError as error:
            return problem_of(error)
        headers = {"cache-control": "no-store", "content-disposition": 'attachment; filename="perdure-export.jsonl"'}
        return StreamingResponse(self._stream(first, lines, threads), media_type=LINES, headers=headers)

    def _check_room(self) -> None:
        if self._open >= AT_ONCE:
            raise RequestRefused(
                503,
                f"{AT_ONCE} exports are being sent already.",
                remedy="Try again when one has ended.",
                headers={"retry-after": str(RETRY_SECONDS)},
            )

    async def _stream(self, first: bytes, lines: Iterator[bytes], threads: CapacityLimiter) -> AsyncIterator[bytes]:
        self._open += 1
        try:
            chunk = first
            while chunk:
                yield chunk
                chunk = await run_sync(partial(next, lines, b""), limiter=threads)
        finally:
            self._open -= 1


def _chunks(lines: Iterator[Any]) -> Iterator[bytes]:
    """Yield lines of JSON, about as many as a chunk holds at once."""
    held, size = list[bytes](), 0
    for line in lines:
        held.append(json_bytes(line))
        size += len(held[-1]) + 1
        if size >= _CHUNK:
            yield b"\n".join((*held, b""))
            held, size = [], 0
    if held:
        yield b"\n".join((*held, b""))
