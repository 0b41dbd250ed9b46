"""A route for each verb, from its declaration: ``POST /v1/verb`` with JSON, and ``GET`` where a verb only reads."""

from __future__ import annotations

import json
import logging
import re
from asyncio import timeout
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain, islice
from time import monotonic
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

import perdure.memory  # noqa: F401  # declares the verbs; loads neither numpy nor SQLite
from perdure.interfaces.http.access import memory_of
from perdure.interfaces.http.answers import Payload, answer_of, response_of, wants_lines
from perdure.interfaces.http.call_notes import PLACE, CallEnd, note_call
from perdure.interfaces.http.kept_answers import run_kept, still_holds
from perdure.interfaces.http.limits import CallLimits, Late
from perdure.interfaces.http.lines import LineStream, lines_of
from perdure.interfaces.http.problems import (
    NAMESPACE_HEADER,
    RequestRefused,
    internal_problem,
    other_namespace,
    problem_of,
)
from perdure.interfaces.http.progress import stream_progress, wants_events
from perdure.interfaces.http.sessions import own_path
from perdure.records.errors import InvalidInput, PerdureError
from perdure.records.wording import JSON, worded
from perdure.verbs.arguments import LISTS, arguments_of, call_verb, namespace_of
from perdure.verbs.checks import checked_value
from perdure.verbs.declaration import VERBS, Parameter, Verb

if TYPE_CHECKING:
    from perdure.interfaces.http.tracing import Tracing
    from perdure.memory import Memory
    from perdure.operations.ports import Progress

_log = logging.getLogger(__name__)
API: Final = "/v1"
SCHEMA: Final = "/openapi.json"
_KEY: Final = "idempotency_key"
_TAGS: Final = "if-none-match"
_WAIT: Final = re.compile(r"(?:^|[,;\s])wait=([0-9]{1,6})(?![^,;\s])")  # RFC 7240 knows whole seconds alone
_SHORTEST_WAIT: Final = 0.05  # seconds
_LEAST_SECONDS_LEFT: Final = 0.001
_GRACE: Final = 1.0  # seconds until a call that should have ended itself is answered without it
_MOST_FIELDS: Final = 2000  # of a query string
_JSON: Final = "application/json"


class VerbShortcut:
    """Answers requests for verbs by their exact method and path; all others go on to the application's router.

    A request passes a dozen of the framework's layers otherwise, which cost as much as all of its own work here.
    """

    def __init__(self, app: ASGIApp, endpoints: Mapping[str, VerbEndpoint]) -> None:
        self._app = app
        self._answers = {
            (method, path_of(VERBS[name])): endpoint.respond
            for name, endpoint in endpoints.items()
            for method in methods_of(VERBS[name])
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        is_request = scope["type"] == "http"
        respond = self._answers.get((scope["method"], own_path(scope))) if is_request else None
        if respond is None:
            await self._app(scope, receive, send)
        else:
            response = await respond(scope, receive)
            await response(scope, receive, send)


def verb_endpoints(limits: CallLimits) -> dict[str, VerbEndpoint]:
    """Return what answers the requests of each verb, by its name."""
    return {name: VerbEndpoint(verb, limits) for name, verb in VERBS.items()}


def verb_routes(endpoints: Mapping[str, VerbEndpoint]) -> list[Route]:
    """Return the routes of all verbs: they refuse other methods, and answer where the service is mounted elsewhere."""
    return [
        Route(path_of(verb), endpoints[name].answer, methods=methods_of(verb), name=name)
        for name, verb in VERBS.items()
    ]


def path_of(verb: Verb) -> str:
    """Return the path of a verb's route."""
    return f"{API}/{verb.name.replace('_', '-')}"


def methods_of(verb: Verb) -> list[str]:
    """Return the HTTP methods of a verb's route."""
    return ["GET", "POST"] if verb.reads else ["POST"]


def parameters_of(verb: Verb) -> list[Parameter]:
    """Return the parameters that a verb's route has: all but those that name files of the service's machine."""
    return [p for p in verb.parameters if not p.param.local]


@dataclass(frozen=True, slots=True)
class VerbRequest:
    """A request of a verb."""

    method: str
    headers: Mapping[str, str]  # by lower-case names, the first where one is repeated
    query: bytes
    memory: Any  # of its caller
    caller: str  # names the caller, for limits
    keys: frozenset[str] = frozenset()  # all that Idempotency-Key gives
    until: float | None = None  # when it is ended, by the monotonic clock; None for one that lasts
    progress: Progress | None = None  # is called with (done, total)

    @property
    def seconds_left(self) -> float | None:
        """The seconds that are left of the call's time: it may have waited for a thread."""
        return None if self.until is None else max(_LEAST_SECONDS_LEFT, self.until - monotonic())

    def memory_with_deadline(self) -> Any:
        """Return the caller's memory with what is left of the call's time."""
        return self.memory if self.seconds_left is None else self.memory.within(self.seconds_left)


class VerbEndpoint:
    """Answers the requests of one verb."""

    def __init__(self, verb: Verb, limits: CallLimits) -> None:
        self._verb, self._limits = verb, limits
        self._in_turn = verb.name == "recall" and limits.settings.file is not None

    @cached_property
    def _parameters(self) -> list[Parameter]:
        """What the verb takes, read from its signature at the first call: a service starts sooner so."""
        return parameters_of(self._verb)

    @cached_property
    def _has_key(self) -> bool:
        return _KEY in {p.name for p in self._parameters}

    async def answer(self, request: Request) -> Response:
        """Answer a request that the framework has read."""
        return await self.respond(request.scope, request.receive)

    async def respond(self, scope: Scope, receive: Receive) -> Response:
        """Run the verb in a worker thread; every failure is a problem that says what to do, and shows no internals."""
        if self._verb.passes_progress and wants_events(headers_of(scope)):
            return await stream_progress(partial(self._respond, scope, receive))
        return await self._respond(scope, receive, None)

    async def _respond(self, scope: Scope, receive: Receive, progress: Progress | None) -> Response:
        began = monotonic()
        outcome: Payload | Exception
        try:
            call = replace(call_of(scope), progress=progress)
            payload = await self._payload(call, scope, receive)
            if payload.more is not None:
                on_end = partial(self._note_lines, scope, payload, began)
                return LineStream(chain((payload.body,), payload.more), self._limits.lists, on_end=on_end)
            response, outcome = response_of(payload, call.method, call.headers), payload
        except PerdureError as error:
            response, outcome = problem_of(error), error
        except ClientDisconnect as error:
            response, outcome = Response(status_code=400), error  # nobody is there to read it
        except Exception as error:  # noqa: BLE001  # the outermost place: a client gets no internals, the log all
            _log.exception("The verb %s failed unexpectedly.", self._verb.name)
            response, outcome = internal_problem(self._verb.name), error
        self._note(scope, outcome, monotonic() - began, response.status_code)
        return response

    def _note_lines(self, scope: Scope, payload: Payload, began: float, status: int, error: Exception | None) -> None:
        self._note(scope, error or payload, monotonic() - began, status)

    def _note(self, scope: Scope, outcome: Payload | Exception, seconds: float, status: int) -> None:
        if isinstance(outcome, Exception):
            end = CallEnd(self._verb.name, seconds, error=type(outcome).__name__)
        else:
            end = CallEnd(self._verb.name, seconds, outcome.hits, outcome.operation)
        note_call(self._limits.observed, end, scope=scope, method=scope["method"], status=status)

    async def _payload(self, call: VerbRequest, scope: Scope, receive: Receive) -> Payload:
        await self._limits.check_rate(call.caller)
        if call.query and call.method == "POST":
            raise InvalidInput("A POST takes no arguments in its query string.", remedy="Pass them in the JSON body.")
        body = await self._body(call, receive)
        values = object_of(body) if call.method == "POST" else query_values(call.query, self._parameters)
        key = _idempotency_key(call)
        if key is not None and self._has_key:
            values, key = _with_key(values, key), None
        run_verb = self._call if self._limits.tracing is None else partial(self._trace, self._limits.tracing)
        seconds = self._seconds(call)
        if not self._verb.lasts:  # it ends itself; what lasts is answered with 504, and goes on
            call, seconds = replace(call, until=monotonic() + seconds), seconds + _GRACE
        named = str(values.get("namespace") or "")
        usual = call.memory.usual_namespace(self._limits.settings.namespace)
        scope["state"][PLACE] = place = namespace_of(self._verb, values, usual)
        if (told := call.headers.get(NAMESPACE_HEADER)) and told != place:  # it chooses for tools of MCP alone
            raise other_namespace(told, str(place or usual))
        who = call.caller or named or self._limits.settings.namespace

        def in_thread(work: Callable[[], Payload], late: Late | None = None) -> Awaitable[Payload]:
            return self._limits.threads.run(work, seconds, who, in_turn=self._in_turn, late=late)

        if key is None or self._verb.reads or self._verb.shows_secret:
            return await in_thread(partial(run_verb, call, values))
        noting = partial(run_kept, call.memory_with_deadline, named, partial(run_verb, call, values))
        run, holds = partial(in_thread, noting), partial(still_holds, call.memory_with_deadline, named)
        return await self._limits.run_once((call.caller, self._verb.name, key), body, run, holds, named, seconds)

    async def _body(self, call: VerbRequest, receive: Receive) -> bytes:
        most = self._limits.settings.body_bytes
        if (length := call.headers.get("content-length", "0")).isdecimal() and int(length) > most:
            raise too_long()
        if call.method != "POST":
            return b""
        check_type(call.headers)
        try:
            async with timeout(self._limits.settings.body_seconds):
                return await read_body(receive, most)
        except TimeoutError:
            raise RequestRefused(408, "The body came too slowly.", remedy="Send it again, faster.") from None

    def _seconds(self, call: VerbRequest) -> float:
        """Return how long the call may take: as long as the client waits (``Prefer: wait=5``), up to the limit."""
        longest = self._limits.settings.call_seconds
        wait = _WAIT.search(call.headers["prefer"]) if "prefer" in call.headers else None
        return longest if wait is None else min(longest, max(float(wait[1]), _SHORTEST_WAIT))

    def _trace(self, tracing: Tracing, call: VerbRequest, values: Mapping[str, Any]) -> Payload:
        with tracing.call(self._verb.name, values, call.headers) as span:
            payload = self._call(call, values, note=span.note_result)
            span.wrote(payload.operation)
            return payload

    @worded(JSON)
    def _call(self, call: VerbRequest, values: Mapping[str, Any], note: Callable[[Any], None] | None = None) -> Payload:
        strict = call.method == "POST"  # all values of a query string are texts
        arguments = arguments_of(self._verb, values, self._parameters, where="route", schema=SCHEMA, strict=strict)
        if call.progress is not None:
            arguments["progress"] = call.progress
        namespace = call.memory.usual_namespace(self._limits.settings.namespace)
        as_lines = wants_lines(call.headers)
        if as_lines and self._verb.name == "list":
            return lines_of(
                self._verb,
                self._all(call.memory_with_deadline(), {"namespace": namespace, **arguments}),
                call.seconds_left,
            )
        result = call_verb(call.memory_with_deadline(), self._verb, arguments, namespace=namespace)
        if note is not None:
            note(result)
        if as_lines and isinstance(result, list):
            return lines_of(self._verb, result, call.seconds_left)
        return answer_of(self._verb, result, tagged=call.method != "POST")

    def _all(self, memory: Memory, arguments: dict[str, Any]) -> Iterator[Any]:
        """Return memories page after page: as many as the client wants, or all."""
        limit = arguments.pop("limit", None)
        if limit is not None:
            limit = checked_value(next(p for p in self._parameters if p.name == "limit"), limit)
        return islice(memory.list_all(**arguments), limit)


def call_of(scope: Scope) -> VerbRequest:
    """Return the call that a request makes."""
    memory, method = memory_of(scope), scope["method"]
    if method != "POST":  # others are sent unasked, and again: they must cost nothing
        memory = memory.without_model()
    keys = frozenset(value.decode("latin-1") for name, value in scope["headers"] if name == b"idempotency-key")
    return VerbRequest(method, headers_of(scope), scope["query_string"], memory, scope["state"]["principal"].key, keys)


def headers_of(scope: Scope) -> dict[str, str]:
    """Return the headers of a request by their lower-case names: the first where one is repeated, but all ETags."""
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in reversed(scope["headers"])}
    if _TAGS in headers:  # several of them are one list
        tags = [value for name, value in scope["headers"] if name == _TAGS.encode()]
        headers[_TAGS] = b", ".join(tags).decode("latin-1")
    return headers


async def read_body(receive: Receive, most: int) -> bytes:
    """Return a request's body."""
    parts: list[bytes] = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        parts.append(message.get("body", b""))
        if sum(map(len, parts)) > most:
            raise too_long()
        if not message.get("more_body", False):
            return parts[0] if len(parts) == 1 else b"".join(parts)


def too_long() -> RequestRefused:
    """Return the refusal of a body that is too long."""
    return RequestRefused(413, "The body is too long.", remedy="Split it into several calls.")


def check_type(headers: Mapping[str, str]) -> None:
    """Check that a body is said to be JSON, as it is."""
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != _JSON:  # browsers send other types across sites without asking first
        raise RequestRefused(
            415, "The body's type is not application/json.", remedy="Send content-type: application/json."
        )
    if headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise RequestRefused(415, "The body is compressed.", remedy="Send it as it is.")


def object_of(body: bytes) -> Mapping[str, Any]:
    """Return the values of a JSON body; an empty body is an empty object."""
    try:
        text = body.decode(json.detect_encoding(body), "surrogatepass")
        values = _DECODER.decode(text) if body.strip() else {}
    except (ValueError, RecursionError) as error:
        told = f"The body is not JSON: {_reason(error)}."
        raise RequestRefused(400, told, remedy="Send one JSON object. Nothing was done.") from None
    if not isinstance(values, dict):
        raise RequestRefused(400, "The body is not a JSON object.", remedy="Send the arguments as one JSON object.")
    return values


def _reason(error: Exception) -> str:
    """Return why a body cannot be read, and where, as far as that is known."""
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} (line {error.lineno}, column {error.colno})"
    if isinstance(error, UnicodeDecodeError):
        return f"byte {error.start + 1} is not valid {error.encoding.upper()}"
    return str(error) if isinstance(error, _BodyError) else "it cannot be read"


class _BodyError(ValueError):
    """A body has what JSON does not allow, or leaves open."""


def _no_constant(name: str) -> None:
    raise _BodyError(f"{name} is not a JSON number")


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise _BodyError(f"the key {twice[:100]!r} stands in one object {keys.count(twice)} times")
    return found


_DECODER: Final = json.JSONDecoder(parse_constant=_no_constant, object_pairs_hook=_distinct)


def _idempotency_key(call: VerbRequest) -> str | None:
    """Return the key of the header, None where there is none; refuse several lines with different ones."""
    if len(call.keys) > 1:
        told = "Several lines of the header Idempotency-Key give different keys."
        raise RequestRefused(400, told, remedy="Send it once. Nothing was done.")
    return next(iter(call.keys), None)


def _with_key(values: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Return the values of a body with the key of the header, which the verb keeps with what it stores, for good."""
    own_key = values.get(_KEY)
    if own_key not in (None, key):
        told = f"The header idempotency-key is {key[:100]!r}, and {_KEY} of the body is {str(own_key)[:100]!r}."
        raise InvalidInput(told, remedy="Give one of them, or both the same.")
    return {**values, _KEY: key}


def query_values(text: bytes, parameters: list[Parameter]) -> Mapping[str, Any]:
    """Return the values of a query string; a list repeats its key."""
    query = text.decode("latin-1")
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
