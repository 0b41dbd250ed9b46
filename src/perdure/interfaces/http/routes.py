"""A route for each verb, from its declaration: ``POST /v1/verb`` with JSON, and ``GET`` where a verb only reads."""

from __future__ import annotations

import json
import logging
import re
from asyncio import timeout
from collections.abc import Callable, Mapping
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import Scope

import perdure.memory  # noqa: F401  # declares the verbs; loads neither numpy nor SQLite
from perdure.interfaces.http.access import memory_for
from perdure.interfaces.http.answers import Payload, answer_of, response_of, wants_lines
from perdure.interfaces.http.call_log import log_call
from perdure.interfaces.http.limits import CallLimits
from perdure.interfaces.http.problems import RequestRefused, internal_problem, problem_of
from perdure.records.errors import InvalidInput, PerdureError
from perdure.verbs.arguments import LISTS, arguments_of, call_verb
from perdure.verbs.declaration import VERBS, Parameter, Verb

if TYPE_CHECKING:
    from perdure.interfaces.http.tracing import Tracing

_log = logging.getLogger(__name__)
API: Final = "/v1"
SCHEMA: Final = "/openapi.json"
_KEY: Final = "idempotency_key"
_WAIT: Final = re.compile(r"(?:^|[,;\s])wait=([0-9]{1,6})")
_SHORTEST: Final = 0.05  # seconds
_MOST_FIELDS: Final = 2000  # of a query string
_JSON: Final = "application/json"


def verb_routes(limits: CallLimits) -> list[Route]:
    """Return the routes of all verbs."""
    return [
        VerbRoute(path_of(verb), VerbEndpoint(verb, limits).answer, methods=methods_of(verb), name=verb.name)
        for verb in VERBS.values()
    ]


class VerbRoute(Route):
    """The route of a verb: its path has no parameters, so most requests are told apart without a pattern."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Return whether a request is for this route, and what it adds to the scope."""
        return super().matches(scope) if scope["path"].endswith(self.path) else (Match.NONE, {})


def path_of(verb: Verb) -> str:
    """Return the path of a verb's route."""
    return f"{API}/{verb.name.replace('_', '-')}"


def methods_of(verb: Verb) -> list[str]:
    """Return the HTTP methods of a verb's route."""
    return ["GET", "POST"] if verb.reads else ["POST"]


def parameters_of(verb: Verb) -> list[Parameter]:
    """Return the parameters that a verb's route has: all but those that name files of the service's machine."""
    return [p for p in verb.parameters if not p.param.local]


class VerbEndpoint:
    """Answers the requests of one verb.

    Args:
        verb: The verb.
        limits: What it shares with the others.
    """

    def __init__(self, verb: Verb, limits: CallLimits) -> None:
        self._verb, self._limits = verb, limits
        self._parameters = parameters_of(verb)
        self._has_key = _KEY in {p.name for p in self._parameters}

    async def answer(self, request: Request) -> Response:
        """Run the verb in a worker thread; every failure is a problem that says what to do, and shows no internals."""
        began = monotonic()
        told: Payload | Exception
        try:
            made = await self._made(request)
            response, told = response_of(made, request), made
        except PerdureError as error:
            response, told = problem_of(error), error
        except ClientDisconnect as error:
            response, told = Response(status_code=400), error  # nobody is there to read it
        except HTTPException:
            raise  # the body is too long; the application answers it
        except Exception as error:  # noqa: BLE001  # the outermost place: a client gets no internals, the log all
            _log.exception("The verb %s failed unexpectedly.", self._verb.name)
            response, told = internal_problem(self._verb.name), error
        self._note(request, told, monotonic() - began, response.status_code)
        return response

    def _note(self, request: Request, told: Payload | Exception, seconds: float, status: int) -> None:
        """Count a call, and write it to the log."""
        error = type(told).__name__ if isinstance(told, Exception) else None
        if isinstance(told, Payload) and told.hits is not None:
            self._limits.observed.recalled(told.hits)
        self._limits.observed.call(self._verb.name, error or "ok", seconds)
        log_call(
            verb=self._verb.name,
            method=request.method,
            status=status,
            ms=round(1000 * seconds, 1),
            actor=request.state.principal.actor if request.state.principal else None,
            operation=told.operation if isinstance(told, Payload) else None,
            error=error,
        )

    async def _made(self, request: Request) -> Payload:
        memory, caller = memory_for(request), request.state.principal.key
        if request.method == "GET":  # it is sent unasked, and again: it must cost nothing
            memory = memory.without_model()
        self._limits.rate.check(caller)
        body = await self._body(request) if request.method == "POST" else b""
        given = query_values(request, self._parameters) if request.method != "POST" else object_of(body)
        key = request.headers.get("idempotency-key")
        if key is not None and self._has_key:
            given = {_KEY: key, **given}  # the verb keeps it with what it stores, for good
            key = None
        call = self._call if self._limits.tracing is None else partial(self._trace, self._limits.tracing)
        work = partial(call, memory, given, request)
        run = partial(self._limits.workers.run, work, self._seconds(request))
        if key is None or self._verb.reads or self._verb.shows_secret:
            return await run()
        return await self._limits.repeats.run((caller, self._verb.name, key), body, run)

    async def _body(self, request: Request) -> bytes:
        check_type(request)
        try:
            async with timeout(self._limits.settings.body_seconds):
                return await request.body()
        except TimeoutError:
            raise RequestRefused(408, "The body came too slowly.", remedy="Send it again, faster.") from None

    def _seconds(self, request: Request) -> float:
        """Return how long the call may take: as long as the client waits (``Prefer: wait=5``), up to the limit."""
        wait = _WAIT.search(request.headers.get("prefer", ""))
        longest = self._limits.settings.call_seconds
        return longest if wait is None else min(longest, max(float(wait[1]), _SHORTEST))

    def _trace(self, tracing: Tracing, memory: Any, given: Mapping[str, Any], request: Request) -> Payload:
        """Run the verb within a span."""
        with tracing.call(self._verb.name, given, request.headers) as called:
            return self._call(memory, given, request, note=called.returned)

    def _call(
        self,
        memory: Any,
        given: Mapping[str, Any],
        request: Request,
        note: Callable[[Any], None] | None = None,
    ) -> Payload:
        arguments = arguments_of(self._verb, given, self._parameters, where="route", schema=SCHEMA)
        place = memory.usual_namespace(self._limits.settings.namespace)
        result = call_verb(memory, self._verb, arguments, namespace=place)
        if note is not None:
            note(result)
        asked_again = request.method != "POST"
        return answer_of(self._verb, result, as_lines=wants_lines(request), tagged=asked_again)


def check_type(request: Request) -> None:
    """Check that a body is said to be JSON, as it is.

    Raises:
        RequestRefused: It is not.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != _JSON:  # browsers send other types across sites without asking first
        raise RequestRefused(
            415, "The body's type is not application/json.", remedy="Send content-type: application/json."
        )
    if request.headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise RequestRefused(415, "The body is compressed.", remedy="Send it as it is.")


def object_of(body: bytes) -> Mapping[str, Any]:
    """Return the values of a JSON body; an empty body is an empty object.

    Raises:
        RequestRefused: It is no JSON object.
    """
    try:
        found = json.loads(body, parse_constant=_no_constant) if body.strip() else {}
    except (ValueError, RecursionError) as error:
        what = error.msg if isinstance(error, json.JSONDecodeError) else "it cannot be read"
        raise RequestRefused(400, f"The body is not JSON: {what}.", remedy="Send one JSON object.") from None
    if not isinstance(found, dict):
        raise RequestRefused(400, "The body is not a JSON object.", remedy="Send the arguments as one JSON object.")
    return found


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON number")


def query_values(request: Request, parameters: list[Parameter]) -> Mapping[str, Any]:
    """Return the values of a query string; a list repeats its key.

    Raises:
        InvalidInput: What takes one value is given several.
        RequestRefused: It cannot be read.
    """
    query = request.scope["query_string"].decode("latin-1")
    try:
        pairs = parse_qsl(query, keep_blank_values=True, errors="strict", max_num_fields=_MOST_FIELDS)
    except ValueError:
        raise RequestRefused(400, "The query string cannot be read.", remedy="Encode it as UTF-8.") from None
    lists = {p.name for p in parameters if p.kind in LISTS}
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in lists:
            found.setdefault(name, []).append(value)
        elif name in found:
            raise InvalidInput(f"{name[:100]} is given more than once.", remedy="Give it once.")
        else:
            found[name] = value
    return found
