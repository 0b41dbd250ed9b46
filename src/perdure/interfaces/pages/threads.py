"""What the pages have from the service: the threads that all calls share, and the files that it was started with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from anyio.to_thread import run_sync
from starlette.requests import Request

if TYPE_CHECKING:
    from perdure.interfaces.http.limits import CallLimits

T = TypeVar("T")


async def run_in_thread(request: Request, work: Callable[[], T]) -> T:
    """Run some work in a thread and return what it returns."""
    limits = _limits(request)
    if limits is None:  # the pages are mounted in another application, which has limits of its own
        return await run_sync(work)
    return await limits.threads.run(work, limits.settings.call_seconds)


async def check_rate(request: Request) -> None:
    """Count a page as a call of the token behind it."""
    limits, principal = _limits(request), getattr(request.state, "principal", None)
    if limits is not None and principal is not None:
        await limits.check_rate(principal.key)


def memory_files_of(request: Request) -> Mapping[str, Path]:
    """Return namespace -> the MEMORY.md of its agent, as the service was started with."""
    limits = _limits(request)
    return {} if limits is None else limits.settings.memory_files


def _limits(request: Request) -> CallLimits | None:
    limits: CallLimits | None = getattr(request.app.state, "limits", None)
    return limits
