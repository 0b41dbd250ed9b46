"""Where the work of a page runs: in the threads that the service shares among all calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from anyio.to_thread import run_sync
from starlette.requests import Request

if TYPE_CHECKING:
    from perdure.interfaces.http.limits import CallLimits

T = TypeVar("T")


async def run_in_thread(request: Request, work: Callable[[], T]) -> T:
    """Run some work in a thread and return what it returns.

    Raises:
        RequestRefused: The service is busy, or it took too long.
    """
    limits: CallLimits | None = getattr(request.app.state, "limits", None)
    if limits is None:  # the pages are mounted in another application, which has limits of its own
        return await run_sync(work)
    return await limits.workers.run(work, limits.settings.call_seconds)
