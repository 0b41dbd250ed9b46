"""A route for each verb, from its declaration: ``POST /v1/verb`` with JSON, and ``GET`` where a verb only reads."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from functools import partial
from typing import Any, Final
from urllib.parse import parse_qsl

from anyio.to_thread import run_sync
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

import perdure.memory  # noqa: F401  # declares the verbs; loads neither numpy nor SQLite
from perdure.interfaces.http.access import memory_for
from perdure.interfaces.http.answers import Payload, answer_of, response_of, wants_lines
from perdure.interfaces.http.problems import RequestRefused, internal_problem, problem_of
from perdure.records.errors import InvalidInput, PerdureError
from perdure.verbs.arguments import LISTS, arguments_of, call_verb
from perdure.verbs.declaration import VERBS, Parameter, Verb

_log = logging.getLogger(__name__)
API: Final = "/v1"
SCHEMA: Final = "/openapi.json"
_MOST_FIELDS: Final = 2000  # of a query string
_JSON: Final = "application/json"


def verb_routes(namespace: str) -> list[Route]:
    """Return the routes of all verbs; ``namespace`` is that of calls that name none."""
    return [
        Route(path_of(verb), VerbEndpoint(verb, namespace).answer, methods=methods_of(verb), name=verb.name)
        for verb in VERBS.values()
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


class VerbEndpoint:
    """Answers the requests of one verb.

    Args:
        verb: The verb.
        namespace: The namespace of calls that name none.
    """

    def __init__(self, verb: Verb, namespace: str) -> None:
        self._verb, self._namespace = verb, namespace
        self._parameters = parameters_of(verb)

    async def answer(self, request: Request) -> Response:
        """Run the verb in a worker thread; every failure is a problem that says what to do, and shows no internals."""
        try:
            memory = memory_for(request)
            given = query_values(request, self._parameters) if request.method != "POST" else await body_values(request)
            made = await run_sync(partial(self._call, memory, given, as_lines=wants_lines(request)))
            return response_of(made, request)
        except PerdureError as error:
            return problem_of(error)
        except HTTPException:
            raise  # the body is too long; the application answers it
        except ClientDisconnect:
            return Response(status_code=400)  # nobody is there to read it
        except Exception:  # noqa: BLE001  # the outermost place: a client gets no internals, the log all
            _log.exception("The verb %s failed unexpectedly.", self._verb.name)
            return internal_problem(self._verb.name)

    def _call(self, memory: Any, given: Mapping[str, Any], *, as_lines: bool) -> Payload:
        arguments = arguments_of(self._verb, given, self._parameters, where="route", schema=SCHEMA)
        result = call_verb(memory, self._verb, arguments, namespace=memory.usual_namespace(self._namespace))
        return answer_of(self._verb, result, as_lines=as_lines)


async def body_values(request: Request) -> Mapping[str, Any]:
    """Return the values of a JSON body; an empty body is an empty object.

    Raises:
        RequestRefused: It is no JSON object.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != _JSON:  # browsers send other types across sites without asking first
        raise RequestRefused(
            415, "The body's type is not application/json.", remedy="Send content-type: application/json."
        )
    if request.headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise RequestRefused(415, "The body is compressed.", remedy="Send it as it is.")
    body = await request.body()
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
