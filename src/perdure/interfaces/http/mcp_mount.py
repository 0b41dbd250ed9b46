"""MCP over HTTP in the same process and under the same tokens: each request's tools use its caller's memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, nullcontext, suppress
from contextvars import ContextVar
from dataclasses import replace
from datetime import UTC
from time import monotonic
from typing import TYPE_CHECKING, Any

from anyio.to_thread import run_sync
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from perdure.interfaces.http.access import memory_for
from perdure.interfaces.http.answers import hits_of, operation_of
from perdure.interfaces.http.call_notes import PLACE, CallEnd, note_call
from perdure.interfaces.http.limits import CallLimits
from perdure.interfaces.http.problems import (
    NAMESPACE_HEADER,
    RequestRefused,
    other_namespace,
    problem_of,
    told_to_callers,
)
from perdure.interfaces.mcp.run import LazyStore, build
from perdure.records.errors import PerdureError, TooManyCalls
from perdure.verbs.arguments import namespace_of

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from perdure.memory import Memory
    from perdure.verbs.declaration import Verb

_REQUEST: ContextVar[Request] = ContextVar("request")


class CallersMemory(LazyStore):
    """Gives each call the memory of the request that it came with; there is none outside of a request."""

    def __init__(self) -> None:
        super().__init__(lambda: memory_for(_REQUEST.get()))

    def __call__(self) -> Memory:
        """Return the memory of the request."""
        return memory_for(_REQUEST.get())

    def namespace(self, usual: str) -> str:
        """Return the namespace that the request chooses in its URL or its header, else as anywhere.

        Whether the token reaches it is checked by the verb.
        """
        return chosen_namespace(_REQUEST.get()) or super().namespace(usual)

    def take_notice(self) -> str:
        """Return nothing: notices are for the one who started the service."""
        return ""

    def describe_error(self, error: PerdureError) -> dict[str, str]:
        """Return an error as plain data, without the folders of the service's machine."""
        message, remedy = told_to_callers(error)
        return {**error.to_dict(), "message": message, "remedy": remedy}


def chosen_namespace(request: Request) -> str:
    """Return the namespace that a request chooses; empty for none.

    Raises:
        RequestRefused: The URL and the header name different ones.
    """
    named, told = request.query_params.get("namespace") or "", request.headers.get(NAMESPACE_HEADER) or ""
    if named and told and named != told:
        raise other_namespace(told, named)
    return named or told


class McpMount:
    """Answers MCP requests. Its library takes most of a second to load: that waits for the first request.

    Each request is complete in itself (no sessions), so that any process of several may answer it.
    """

    def __init__(self, limits: CallLimits) -> None:
        self._limits, self._settings = limits, limits.settings
        self._runs = False
        self._held: asyncio.Task[None] | None = None
        self._manager: StreamableHTTPSessionManager | None = None
        self._starting = asyncio.Lock()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Answer requests for the length of a block."""
        self._runs = True
        try:
            yield
        finally:
            self._runs, self._manager = False, None
            if self._held is not None:
                self._held.cancel()
                with suppress(asyncio.CancelledError):
                    await self._held

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = Request(scope, receive)
        try:
            memory_for(request)  # there is one, or this is refused
            await self._limits.check_rate(request.state.principal.key)
            async with asyncio.timeout(self._settings.body_seconds):
                body = await request.body()  # whole, before it counts among the calls: slow clients take no place
            named = chosen_namespace(request)
            caller = request.state.principal.key or named or self._settings.namespace
            async with self._limits.threads.place(caller, self._settings.call_seconds):
                await self._answer(request, body, send)
        except (RequestRefused, TooManyCalls) as error:
            await problem_of(error)(scope, receive, send)
        except TimeoutError:
            slow = RequestRefused(408, "The body came too slowly.", remedy="Send it again, faster.")
            await problem_of(slow)(scope, receive, send)

    async def _answer(self, request: Request, body: bytes, send: Send) -> None:
        manager = self._manager or await self._start()
        sent = False

        async def replay() -> Message:
            nonlocal sent
            if sent:
                return await request.receive()
            sent = True
            return {"type": "http.request", "body": body, "more_body": False}

        reset_token, tracing = _REQUEST.set(request), self._limits.tracing
        try:
            with nullcontext() if tracing is None else tracing.within(request.headers):
                await manager.handle_request(request.scope, replay, send)
        finally:
            _REQUEST.reset(reset_token)

    @contextmanager
    def _observe(self, verb: Verb, arguments: Mapping[str, Any]) -> Iterator[Callable[[Any], None]]:
        """Count a call of a tool, write it to the log, and make a span of it where traces are wanted."""
        request, tracing = _REQUEST.get(), self._limits.tracing
        usual = chosen_namespace(request) or memory_for(request).usual_namespace(self._settings.namespace)
        place = namespace_of(verb, arguments, usual)
        began, end = monotonic(), CallEnd(verb.name, 0.0)
        traced = nullcontext() if tracing is None else tracing.call(verb.name, arguments, request.headers)

        def note_result(result: Any) -> None:
            nonlocal end
            end = replace(end, hits=hits_of(result), operation=operation_of(verb, result))
            if span is not None:
                span.note_result(result)
                span.wrote(end.operation)

        try:
            with traced as span:
                yield note_result
        except Exception as error:
            end = CallEnd(verb.name, 0.0, error=type(error).__name__)
            raise
        finally:
            end = replace(end, seconds=monotonic() - began)
            scope = {**request.scope, "state": {**request.scope["state"], PLACE: place}}
            note_call(self._limits.observed, end, scope=scope, method="MCP")

    async def _start(self) -> StreamableHTTPSessionManager:
        async with self._starting:
            if self._manager is None:
                if not self._runs:
                    raise RuntimeError("the application is not running")
                manager = await run_sync(self._new_manager)
                started = asyncio.get_running_loop().create_future()
                self._held = asyncio.create_task(_hold(manager, started))
                await asyncio.wait((started, self._held), return_when=asyncio.FIRST_COMPLETED)
                if self._held.done():
                    await self._held  # raises what kept it from starting
                self._manager = manager
        return self._manager

    def _new_manager(self) -> StreamableHTTPSessionManager:
        from mcp.server.transport_security import TransportSecuritySettings  # noqa: PLC0415  # start-up time

        server = build(
            CallersMemory(),
            profile=self._settings.tools,
            namespace=self._settings.namespace,
            observe=self._observe,
            zone=UTC,
        )
        checked = TransportSecuritySettings(enable_dns_rebinding_protection=False)  # the guard has checked Host, Origin
        server.streamable_http_app(
            stateless_http=True,
            json_response=True,
            transport_security=checked,
            max_request_body_size=self._settings.body_bytes,
        )
        return server.session_manager


async def _hold(manager: StreamableHTTPSessionManager, started: asyncio.Future[None]) -> None:
    async with manager.run():
        started.set_result(None)
        await asyncio.Event().wait()
