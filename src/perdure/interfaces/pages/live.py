"""What runs beside requests: the service's threads, and news for open pages, as server-sent events."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, TypeVar

from anyio import sleep
from anyio.to_thread import run_sync
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from perdure.interfaces.pages.overview import alerts_of, digest_of_alerts
from perdure.interfaces.pages.rendering import HEADERS
from perdure.records.errors import PerdureError
from perdure.records.report import Operation

if TYPE_CHECKING:
    from perdure.interfaces.http.limits import CallLimits
    from perdure.memory import Memory

Runner = Callable[[Callable[[], Any]], Awaitable[Any]]
_RETRY_MS: Final = 2000  # when a browser connects again
_SHARE: Final = 4  # one token has at most this part of all connections
_LONGEST: Final = 200  # characters of what a page says that it shows
_MOST_PLACES: Final = 50  # namespaces whose alerts one connection hears of
_BUSY: Final = {"retry-after": "30"}
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PageChanges:
    """What a page compares to see that something is new."""

    operation: str  # the newest operation's id; empty if there is none
    name: str  # what it was
    alerts: str  # a digest of what needs attention

    @property
    def id(self) -> str:
        """The same in one text, which the browser gives back when it connects again."""
        return f"{self.operation}/{self.alerts}"


@dataclass(frozen=True, slots=True)
class _Caller:
    key: str  # names the token; empty where there are none
    run: Runner
    asked_again: Callable[[], Awaitable[object]] | None  # finds out again who asks; None for nobody


class LiveUpdates:
    """Answers the requests for news.

    A connection ends after a few seconds and the browser connects again where it left off, so that the service need
    not wait for open pages when it ends, and what was lost on the way is sent later.

    A page says which operation is the newest that it shows (``seen``), so what happens before it listens is told, too.
    Seconds: ``every`` between two looks at the operations, ``life`` of a connection; alerts are looked at when it
    begins. ``most`` connections at once, and a quarter of them of one token; more are refused with 503.
    """

    def __init__(self, every: float = 1.0, life: float = 10.0, most: int = 100) -> None:
        self._every, self._life, self._most = every, life, most
        self._open = Counter[str]()  # by the caller's key

    async def answer(self, request: Request) -> Response:
        """Return a stream of events."""
        principal = getattr(request.state, "principal", None)
        key = "" if principal is None else principal.key
        if self._open.total() >= self._most or (key and self._open[key] >= self._most // _SHARE):
            return Response(status_code=503, headers={**HEADERS, **_BUSY})
        memory, namespace = request.state.memory, request.query_params.get("namespace") or None
        last_id = request.headers.get("last-event-id") or request.query_params.get("seen", "")[:_LONGEST]
        headers = {**HEADERS, "X-Accel-Buffering": "no"}
        caller = _Caller(key, partial(run_in_thread, request), getattr(request.state, "asked_again", None))
        return StreamingResponse(self._events(caller, memory, namespace, last_id), 200, headers, "text/event-stream")

    async def _events(self, caller: _Caller, memory: Memory, namespace: str | None, last_id: str) -> AsyncIterator[str]:
        self._open[caller.key] += 1
        try:
            yield f"retry: {_RETRY_MS}\n\n"
            end, alerts = monotonic() + self._life, await caller.run(partial(_alerts, memory, namespace))
            while monotonic() < end:
                news = await caller.run(partial(_look, memory, namespace, alerts))
                if caller.asked_again is not None and await caller.asked_again() is None:
                    return  # the token was revoked, or has ended
                for event in _differences(last_id, news):
                    yield event
                last_id = news.id
                await sleep(self._every)
        except PerdureError:
            return  # the token is not valid now, or the store does not answer: the browser connects again
        finally:
            self._open -= Counter((caller.key,))  # forgets who has none left


def _differences(last_id: str, news: PageChanges) -> list[str]:
    """Return the events by which a browser learns what it does not know yet; not every page knows of alerts."""
    operation, _, alerts = last_id.partition("/")
    if not last_id:
        return [_event("hello", news)]
    events = [_event("operation", news)] if operation != news.operation else []
    return [*events, _event("alerts", news)] if alerts not in ("", news.alerts) else events


def _event(kind: str, news: PageChanges) -> str:
    data = json.dumps({"operation": news.operation, "name": news.name})
    return f"event: {kind}\nid: {news.id}\ndata: {data}\n\n"


def _look(memory: Memory, namespace: str | None, alerts: str) -> PageChanges:
    newest = next(
        (o for o in memory.history(namespace=namespace, limit=1, notes=True) if isinstance(o, Operation)), None
    )
    return PageChanges("", "", alerts) if newest is None else PageChanges(newest.id, newest.operation, alerts)


def _alerts(memory: Memory, namespace: str | None) -> str:
    """Return a digest of what needs attention in a namespace; in the first ones for who names none, as no page does."""
    names = memory.namespaces()[:_MOST_PLACES] if namespace is None else [namespace]
    return digest_of_alerts([alert for name in names for alert in alerts_of(memory, name)])


async def run_in_thread(request: Request, work: Callable[[], T]) -> T:
    """Run some work in a thread and return what it returns."""
    limits = _limits(request)
    if limits is None:  # the pages are mounted in another application, which has limits of its own
        return await run_sync(work)
    principal = getattr(request.state, "principal", None)
    named = request.query_params.get("namespace") or limits.settings.namespace
    caller = (principal and principal.key) or named
    return await limits.threads.run(work, limits.settings.call_seconds, caller)


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
