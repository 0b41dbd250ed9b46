"""How far a call is, as server-sent events for clients that accept them: ``progress``, and last ``answer``."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any, Final

from starlette.responses import Response, StreamingResponse

from perdure.interfaces.http.answers import json_bytes, wants_lines

if TYPE_CHECKING:
    from perdure.operations.ports import Progress

EVENTS: Final = "text/event-stream"
_HEADERS: Final = {"cache-control": "no-store", "x-accel-buffering": "no"}  # nginx would hold the events back


def wants_events(headers: Mapping[str, str]) -> bool:
    """Whether a client wants to follow the progress of its call."""
    return EVENTS in headers.get("accept", "") and not wants_lines(headers)


async def stream_progress(work: Callable[[Progress], Coroutine[Any, Any, Response]]) -> Response:
    """Return the answer of a call, or from its first report of progress on, events that end with the answer.

    ``work`` may report (done, total) from any thread; it is given up where the client goes.
    """
    loop, steps = asyncio.get_running_loop(), asyncio.Queue[tuple[int, int] | None]()

    def put_step(done: int, total: int) -> None:
        loop.call_soon_threadsafe(steps.put_nowait, (done, total))

    call = loop.create_task(work(put_step))
    call.add_done_callback(lambda _: steps.put_nowait(None))
    first = await steps.get()
    return await call if first is None else StreamingResponse(_events(first, steps, call), 200, _HEADERS, EVENTS)


async def _events(
    step: tuple[int, int] | None, steps: asyncio.Queue[tuple[int, int] | None], call: asyncio.Task[Response]
) -> AsyncIterator[bytes]:
    try:
        while step is not None:
            yield _event("progress", json_bytes({"done": step[0], "total": step[1]}))
            step = await steps.get()
        answer = await call
        yield _event("answer" if answer.status_code == 200 else "problem", bytes(answer.body))  # noqa: PLR2004  # OK
    finally:
        call.cancel()


def _event(name: str, data: bytes) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (name.encode(), data)
