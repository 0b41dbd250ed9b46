"""The OpenAPI 3.1 description of the service, from the verbs' declarations."""

from __future__ import annotations

import functools
import operator
from collections.abc import Mapping
from types import UnionType
from typing import Any, Final, Union, get_args, get_origin

import perdure
from perdure.interfaces.http.answers import JSON, LINES
from perdure.interfaces.http.exporting import PATH as EXPORT
from perdure.interfaces.http.problems import MEDIA_TYPE
from perdure.interfaces.http.progress import EVENTS
from perdure.interfaces.http.routes import parameters_of, path_of
from perdure.verbs.arguments import object_schema, parameter_schema
from perdure.verbs.declaration import VERBS, Verb
from perdure.verbs.results import schema_of

_PROBLEM: Final = {
    "type": "object",
    "description": "What went wrong, whose fault it is and what to do next (RFC 9457).",
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "error": {"type": "string", "description": "The class of the error, as Python raises it."},
        "fault": {"type": "string", "enum": ["caller", "policy", "store", "machine", "conflict"]},
        "remedy": {"type": "string", "description": "What to do next."},
    },
    "required": ["type", "title", "status", "detail", "error", "fault", "remedy"],
}
_NAMES: Final = {
    "4XX": "Problem",
    "5XX": "Problem",
    "401": "NoToken",
    "403": "NotAllowed",
    "429": "TooMany",
    "503": "Busy",
}
_REFUSALS: Final = {status: {"$ref": f"#/components/responses/{name}"} for status, name in _NAMES.items()}
_RETRY: Final = {"Retry-After": {"description": "Seconds until a try may succeed.", "schema": {"type": "integer"}}}
_CHALLENGE: Final = {"WWW-Authenticate": {"description": "Asks for a bearer token.", "schema": {"type": "string"}}}
_ETAG: Final = {"ETag": {"description": "Names what the answer says.", "schema": {"type": "string"}}}


def _refusal(description: str, headers: Mapping[str, Any] | None = None) -> dict[str, Any]:
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {"description": description, **({"headers": headers} if headers else {}), "content": content}


_COMPONENTS: Final = {
    "schemas": {"Problem": _PROBLEM},
    "securitySchemes": {
        "token": {
            "type": "http",
            "scheme": "bearer",
            "description": "A token. A service without tokens, which only its own machine reaches, needs none.",
        }
    },
    "parameters": {
        "IdempotencyKey": {
            "name": "Idempotency-Key",
            "in": "header",
            "description": "Makes it safe to repeat a call whose answer was lost. Another call needs another key.",
            "schema": {"type": "string", "minLength": 1, "maxLength": 255},
        },
        "IfNoneMatch": {
            "name": "If-None-Match",
            "in": "header",
            "description": "ETags of answers that the client has; one that still holds is answered with 304.",
            "schema": {"type": "string"},
        },
    },
    "responses": {
        "Problem": _refusal("Refused or failed; nothing is half done."),
        "NoToken": _refusal("A token is needed, or the one given is not known.", _CHALLENGE),
        "NotAllowed": _refusal("The token does not allow this, or the request comes from elsewhere."),
        "TooMany": _refusal("Too many calls.", _RETRY),
        "Busy": _refusal("The service or its store cannot do it now.", _RETRY),
    },
}


_LINES: Final = 'One item of the list in each line; what fails midway is a last line `{"problem": …}`.'
_LINES_ALL: Final = f"{_LINES} Without `limit` all items."
_EXPORTING: Final = {
    "operationId": "export",
    "summary": "Export a namespace, or all that the token reaches, with its journal.",
    "description": "Lines of JSON as `perdure export` writes them and `perdure import` reads them; the last has the "
    "digests to check them by. It needs an admin's token.",
    "tags": ["Service"],
    "parameters": [{"name": "namespace", "in": "query", "required": False, "schema": {"type": "string"}}],
    "responses": {"200": {"description": "All of it.", "content": {LINES: {"schema": {}}}}, **_REFUSALS},
}


def openapi_document() -> dict[str, Any]:
    """Return the description of all routes of verbs."""
    info = {
        "title": "Perdure",
        "version": perdure.__version__,
        "description": "A memory lifecycle engine for AI agents. Every verb of the Python API is a route with the same "
        "parameters, defaults and errors.",
        "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
    }
    paths = {**{path_of(verb): _path(verb) for verb in VERBS.values()}, EXPORT: {"get": _EXPORTING}}
    security: list[dict[str, list[str]]] = [{"token": []}, {}]
    return {"openapi": "3.1.0", "info": info, "security": security, "paths": paths, "components": _COMPONENTS}


def _path(verb: Verb) -> dict[str, Any]:
    parameters = parameters_of(verb)
    properties = {p.name: parameter_schema(p) for p in parameters}
    content = {JSON: {"schema": object_schema(parameters, properties)}}
    body = {"required": any(p.required for p in parameters), "content": content}
    operations = {"post": {**_operation(verb), "requestBody": body}}
    if not verb.reads and not verb.shows_secret:
        operations["post"]["parameters"] = [{"$ref": "#/components/parameters/IdempotencyKey"}]
    if verb.reads:
        query: list[dict[str, Any]] = [
            {"name": p.name, "in": "query", "required": p.required, "schema": properties[p.name]} for p in parameters
        ]
        operations["get"] = {
            **(shared := _operation(verb)),
            "operationId": f"get_{verb.name}",
            "parameters": [*query, {"$ref": "#/components/parameters/IfNoneMatch"}],
            "responses": {
                **shared["responses"],
                "200": {**shared["responses"]["200"], "headers": _ETAG},
                "304": {"description": "The client has it already.", "headers": _ETAG},
            },
        }
    return operations


def _resolve_names(type_: Any) -> Any:
    """Return a type with the names inside it, as in ``list["JournalEntry"]``, as the types that they name."""
    if isinstance(type_, str):
        return getattr(perdure, type_)
    inside = tuple(map(_resolve_names, get_args(type_)))
    if get_origin(type_) in {Union, UnionType}:
        return functools.reduce(operator.or_, inside)
    return get_origin(type_)[inside] if get_origin(type_) is list else type_


def _operation(verb: Verb) -> dict[str, Any]:
    schema = schema_of(_resolve_names(verb.result_type(perdure)), verb.items, whole=True)
    content: dict[str, Any] = {JSON: {"schema": schema}}
    if verb.items in schema.get("properties", {}):
        content[LINES] = {"schema": {"description": _LINES_ALL if verb.name == "list" else _LINES}}
    if verb.passes_progress:
        content[EVENTS] = {"schema": {"description": "`progress` (done, total), and last `answer` or `problem`."}}
    return {
        "operationId": verb.name,
        "summary": verb.title,
        "description": verb.summary,
        "tags": [verb.panel],
        "responses": {"200": {"description": "Done.", "content": content}, **_REFUSALS},
    }
