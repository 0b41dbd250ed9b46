"""The service as one ASGI application: the verbs' routes, the pages, and whether it is alive and ready."""

from __future__ import annotations

import gc
from asyncio import get_running_loop
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager, nullcontext
from functools import cache, cached_property, partial
from importlib import import_module
from importlib.util import find_spec
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.body_limit import RequestBodyLimitMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Route
from starlette.types import Receive, Scope, Send

from perdure.interfaces.http.access import AccessMiddleware, Keyring, unauthorized
from perdure.interfaces.http.answers import JSON, json_bytes
from perdure.interfaces.http.call_notes import note_response
from perdure.interfaces.http.exporting import PATH as EXPORT
from perdure.interfaces.http.exporting import Exports
from perdure.interfaces.http.guard import RequestGuard
from perdure.interfaces.http.kept_answers import Run, follow_erasures
from perdure.interfaces.http.limits import CallLimits
from perdure.interfaces.http.metrics import STORE_SECONDS
from perdure.interfaces.http.openapi import openapi_document
from perdure.interfaces.http.problems import RequestRefused, problem_of
from perdure.interfaces.http.routes import SCHEMA, VerbShortcut, methods_of, path_of, verb_endpoints, verb_routes
from perdure.interfaces.http.sessions import Sessions, own_path
from perdure.interfaces.http.settings import Settings
from perdure.interfaces.http.shared import Shared
from perdure.records.access import EVERYWHERE
from perdure.records.deadline import within
from perdure.records.errors import NotAllowed, PerdureError
from perdure.verbs.declaration import VERBS
from perdure.verbs.results import as_json

if TYPE_CHECKING:
    from perdure.interfaces.http.mcp_mount import McpMount
    from perdure.memory import Memory

PAGES = "perdure.interfaces.pages"
PAGES_SECONDS: Final = 2.0  # when the pages load, after the start: the first calls come at once
_PAGE: Final = "perdure.page"  # the route of a page, in the scope of its request
READY_SECONDS: Final = 1.0  # how long it holds that the service is ready: anybody may ask
_NOT_EVERYWHERE = NotAllowed(
    "Metrics need a token for all namespaces.",
    remedy="Use such a token: `perdure token create --role reader --namespace '*' --actor NAME` makes one.",
)
_CACHEABLE = {"cache-control": "private, max-age=300"}


def build_app(get_memory: Callable[[], Memory], settings: Settings, shared: Shared | None = None) -> Starlette:
    """Return the service over an open memory, which the caller closes; ``shared`` is None in the only process."""
    shared = shared or Shared(settings.rate)
    limits = CallLimits.of(settings, shared)
    get_memory().watch(limits.watch)
    mount = _mcp(limits)
    sessions = Sessions(shared)
    endpoints = verb_endpoints(limits)
    watching = _own_threads()
    routes: list[BaseRoute] = [
        *verb_routes(endpoints),
        Route(EXPORT, Exports(limits).answer, name="export", methods=["GET"]),
        Route(SCHEMA, _schema_endpoint(), name="openapi"),
        Route("/healthz", _alive, name="healthz"),
        Route("/readyz", _readiness(get_memory, watching), name="readyz"),
        Route("/metrics", _metrics(get_memory, limits, watching), name="metrics"),
        *([Route("/mcp", mount, methods=["POST"], name="mcp")] if mount else []),
        *_pages(sessions),
    ]
    is_route = partial(_is_route, routes)
    layers = [
        Middleware(RequestGuard, settings=settings, note=partial(note_response, limits.observed, is_route)),
        Middleware(
            AccessMiddleware,
            get_memory=get_memory,
            keyring=Keyring(get_memory),
            sessions=sessions,
            page_of=_page_of,
            logged_out=_logged_out,
        ),
        Middleware(VerbShortcut, endpoints=endpoints),  # has its own limit of bodies
        Middleware(RequestBodyLimitMiddleware, max_body_size=settings.body_bytes),
    ]
    app = Starlette(
        routes=routes,
        middleware=layers,
        exception_handlers={HTTPException: _problem_of_refusal},
        lifespan=lambda _: _lifespan(limits, mount, get_memory(), watching),
    )
    app.state.limits = limits
    return app


@asynccontextmanager
async def _lifespan(limits: CallLimits, mount: McpMount | None, memory: Memory, watching: Run) -> AsyncIterator[None]:
    """Answer for the length of a block; calls that run at its end are waited for."""
    loop = get_running_loop()
    loading = loop.call_later(PAGES_SECONDS, Thread(target=_load_pages, daemon=True).start)
    try:
        async with limits.shared.running(limits.counts), mount.running() if mount else nullcontext():
            following = loop.create_task(follow_erasures(memory, limits.shared, watching))
            yield
            following.cancel()
    finally:
        loading.cancel()
        await run_sync(limits.threads.close)


def _load_pages() -> None:
    """Load what draws pages, so that the first one need not wait for it."""
    if find_spec(PAGES) is not None:
        import_module(PAGES)
        if gc.get_freeze_count():  # the process serves and does nothing else
            gc.freeze()


def _mcp(limits: CallLimits) -> McpMount | None:
    if find_spec("mcp") is None:
        return None
    from perdure.interfaces.http.mcp_mount import McpMount  # noqa: PLC0415  # an extra

    return McpMount(limits)


def _own_threads() -> Run:
    """Return what runs work in two threads of its own: who watches is answered, whatever calls and lookups hold."""
    limiter: CapacityLimiter | None = None

    async def run(work: Callable[[], Any]) -> Any:
        nonlocal limiter
        limiter = limiter or CapacityLimiter(2)  # belongs to the loop that runs
        return await run_sync(work, limiter=limiter)

    return run


def _metrics(get_memory: Callable[[], Memory], limits: CallLimits, watching: Any) -> Callable[[Request], Any]:
    async def metrics(request: Request) -> Response:
        """Return figures for Prometheus; they are of the whole store."""
        grant = request.state.principal.grant
        if grant is not None and grant.pattern != EVERYWHERE:
            return problem_of(_NOT_EVERYWHERE)
        try:
            text = partial(limits.observed.text, get_memory(), await limits.shared.counts(limits.counts()))
            return Response(await watching(text), media_type="text/plain; version=0.0.4; charset=utf-8")
        except PerdureError as error:
            return problem_of(error)

    return metrics


_NO_ROUTE: Final = 404


class PageRoutes(BaseRoute):
    """The routes of the pages. What draws them takes a fifth of the start to load: that waits until one is wanted."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    @cached_property
    def routes(self) -> list[BaseRoute]:
        """All of them."""
        page_routes: list[BaseRoute] = import_module(PAGES).routes(self._sessions)
        return page_routes

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Return whether a request is for a page, and what that adds to the scope."""
        best: tuple[Match, Scope] = Match.NONE, {}
        for route in self.routes:
            match, more = route.matches(scope)
            if match.value > best[0].value:
                best = match, {**more, _PAGE: route}
        return best

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request that matched."""
        await scope[_PAGE].handle(scope, receive, send)


def _pages(sessions: Sessions) -> list[BaseRoute]:
    return [] if find_spec(PAGES) is None else [PageRoutes(sessions)]


def _is_route(routes: Iterable[BaseRoute], path: str) -> bool:
    """Whether a path is that of a route, letter by letter."""
    return any(
        _is_route(route.routes, path)
        if isinstance(route, PageRoutes)
        else isinstance(route, Route) and route.path == path
        for route in routes
    )


def _page_of(error: PerdureError, root: str) -> Response:
    if find_spec(PAGES) is None:
        return problem_of(error)
    page: Response = import_module(PAGES).error_page(error, root)
    return page


async def _logged_out(request: Request) -> Response:
    """Return what a person sees who has sent a form and is not known any longer."""
    if find_spec(PAGES) is None:
        return problem_of(unauthorized("A token is needed."))
    page: Response = await import_module(PAGES).logged_out_page(request)
    return page


def _schema_endpoint() -> Callable[[Request], Response]:
    @cache
    def body() -> bytes:
        return json_bytes(openapi_document())

    def schema(_request: Request) -> Response:
        return Response(body(), media_type=JSON, headers=_CACHEABLE)

    return schema


async def _alive(_request: Request) -> Response:
    return Response(b'{"status":"ok"}', media_type=JSON, headers={"cache-control": "no-store"})


def _readiness(get_memory: Callable[[], Memory], watching: Any) -> Callable[[Request], Any]:
    cached: tuple[float, Response] | None = None

    async def ready(_request: Request) -> Response:
        """Say whether the store answers, its schema, and whether maintenance keeps up; anybody may ask this."""
        nonlocal cached
        if cached is None or monotonic() - cached[0] >= READY_SECONDS:
            try:
                with within(STORE_SECONDS):  # a thread has the deadlines of who starts it
                    state = await watching(lambda: get_memory().readiness)
            except PerdureError as error:
                cached = None
                return problem_of(error)
            document = {"status": "ready", **as_json(state.store), "worker_lag_seconds": state.worker_lag_seconds}
            cached = monotonic(), Response(json_bytes(document), media_type=JSON, headers={"cache-control": "no-store"})
        return cached[1]

    return ready


def _route_meant(scope: Scope) -> str | None:
    """Return the route of the verb that a path names in another spelling, such as Python's."""
    named = own_path(scope).rstrip("/").rpartition("/")[2].lower()
    plain = named.replace("_", "").replace("-", "")
    verb = next((verb for name, verb in VERBS.items() if name.replace("_", "") == plain), None)
    return None if verb is None else f"{methods_of(verb)[-1]} {path_of(verb)}"


def _problem_of_refusal(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    route = _route_meant(request.scope) if status == _NO_ROUTE else None
    remedies = {
        404: "See /openapi.json for the routes." if route is None else f"Use {route}.",
        405: "Use POST, or GET where a verb only reads.",
        413: "Split it into several calls.",
    }
    headers = dict(error.headers or {}) if isinstance(error, HTTPException) else {}
    details = {
        404: "There is no such route.",
        405: f"{request.method} is not allowed here.",
        413: "The body is too long.",
    }
    detail = details.get(status, "The request is refused.")
    refused = RequestRefused(status, detail, remedy=remedies.get(status, ""), headers=headers)
    if status == _NO_ROUTE and request.method == "GET" and "text/html" in request.headers.get("accept", ""):
        missing = RequestRefused(status, "There is no such page.", remedy="Check its address.")
        return _page_of(missing, request.scope.get("root_path", ""))
    return problem_of(refused)
