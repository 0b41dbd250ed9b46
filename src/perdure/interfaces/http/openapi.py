"""The OpenAPI 3.1 description of the service, from the verbs' declarations."""

from __future__ import annotations

from typing import Any, Final

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
_REFUSALS: Final = {
    "4XX": {"$ref": "#/components/responses/Problem"},
    "5XX": {"$ref": "#/components/responses/Problem"},
}


_COMPONENTS: Final = {
    "schemas": {"Problem": _PROBLEM},
    "responses": {
        "Problem": {
            "description": "Refused or failed; nothing is half done.",
            "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
        }
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
    return {"openapi": "3.1.0", "info": info, "paths": paths, "components": _COMPONENTS}


def _path(verb: Verb) -> dict[str, Any]:
    parameters = parameters_of(verb)
    properties = {p.name: parameter_schema(p) for p in parameters}
    content = {JSON: {"schema": object_schema(parameters, properties)}}
    body = {"required": any(p.required for p in parameters), "content": content}
    operations = {"post": {**_operation(verb), "requestBody": body}}
    if verb.reads:
        query = [
            {"name": p.name, "in": "query", "required": p.required, "schema": properties[p.name]} for p in parameters
        ]
        operations["get"] = {**_operation(verb), "operationId": f"get_{verb.name}", "parameters": query}
    return operations


def _operation(verb: Verb) -> dict[str, Any]:
    schema = schema_of(verb.result_type(perdure), verb.items, whole=True)
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
