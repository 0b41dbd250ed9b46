"""The tools that follow from the verbs' declarations: names, schemas, annotations, calls and answers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from mcp_types import CallToolResult, TextContent, Tool, ToolAnnotations

import perdure
import perdure.memory  # declares the verbs; loads neither numpy nor SQLite
from perdure.interfaces.views import Request, view_of
from perdure.interfaces.views.model import render_text
from perdure.records.errors import InvalidInput, NotFound
from perdure.rules.escaping import one_line
from perdure.verbs.checks import refuse_foreign
from perdure.verbs.declaration import VERBS, Parameter, Verb
from perdure.verbs.results import as_object, brief, schema_of

if TYPE_CHECKING:
    from perdure.memory import Memory

AGENT: Final = ("remember", "recall", "used", "update", "forget", "list", "why", "undo", "digest", "review")
"""The tools of the ``agent`` profile, in the order in which they are listed; others follow in theirs."""
WHOLE: Final = ("get",)
"""Verbs whose answer holds whole memories; the others shorten what a model did not ask for by its id."""
_LONGEST_ERROR: Final = 2000
_TYPES: Final[Mapping[str, Mapping[str, Any]]] = {
    "text": {"type": "string"},
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "flag": {"type": "boolean"},
    "choice": {"type": "string"},
    "instant": {"type": "string", "format": "date-time"},
    "object": {"type": "object"},
    "texts": {"type": "array", "items": {"type": "string"}},
    "choices": {"type": "array"},
    "objects": {"type": "array", "items": {"type": "object"}},
    "texts or object": {"type": "array", "items": {"type": "string"}},
}


def verbs_of(profile: str) -> list[Verb]:
    """Return the verbs of a profile, in the order in which their tools are listed."""
    verbs = {verb.name: verb for verb in VERBS.values() if verb.in_profile(profile)}
    return [verbs[name] for name in sorted(verbs, key=lambda name: AGENT.index(name) if name in AGENT else len(AGENT))]


def tool_of(verb: Verb, profile: str) -> Tool:
    """Return a verb as an MCP client lists it."""
    return Tool(
        name=verb.name,
        title=verb.title,
        description=verb.description,
        input_schema=input_schema(verb, profile),
        output_schema=output_schema(verb),
        annotations=ToolAnnotations(
            title=verb.title,
            read_only_hint=verb.reads,
            destructive_hint=verb.hides,
            idempotent_hint=verb.repeatable,
            open_world_hint=False,
        ),
    )


def offered(verb: Verb, profile: str) -> list[Parameter]:
    """Return the parameters that a profile's tool has."""
    few = None if profile == "full" else verb.agent
    return [p for p in verb.parameters if p.param.tool and (few is None or p.name in few)]


def input_schema(verb: Verb, profile: str) -> dict[str, Any]:
    """Return the JSON Schema of a tool's arguments."""
    parameters = offered(verb, profile)
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {p.name: _property(p) for p in parameters},
        "additionalProperties": False,
    }
    if required := [p.name for p in parameters if p.required]:
        schema["required"] = required
    return schema


def output_schema(verb: Verb) -> dict[str, Any]:
    """Return the JSON Schema of a tool's structured answer."""
    schema = schema_of(verb.result_type(perdure), verb.items, whole=verb.name in WHOLE)
    if "before" in verb.defaults:
        schema["properties"]["next_before"] = {"anyOf": [{"type": "string"}, {"type": "null"}]}
    return schema


def _property(parameter: Parameter) -> dict[str, Any]:
    told = parameter.param
    note = f" If omitted: the policy's {told.key}." if told.key else ""
    schema = {**_TYPES[parameter.kind], "description": told.help + note}
    if parameter.kind == "choice":
        schema["enum"] = list(told.tool_choices or parameter.choices)
    elif parameter.kind == "choices":
        schema["items"] = {"type": "string", "enum": list(parameter.choices)}
    bounds = {"minimum": told.ge, "maximum": told.le, "exclusiveMinimum": told.gt}
    schema |= {name: bound for name, bound in bounds.items() if bound is not None}
    if not parameter.required and parameter.default not in (None, (), "default"):
        schema["default"] = parameter.default
    return schema


def call_tool(memory: Memory, verb: Verb, arguments: dict[str, Any], *, namespace: str) -> CallToolResult:
    """Run a verb, and return its result as data and as text.

    Raises:
        PerdureError: The verb refuses; the text says what to do.
    """
    place = next((p for p in verb.parameters if p.name == "namespace" and p.default == "default"), None)
    if place is not None:
        arguments.setdefault("namespace", namespace)
    result = getattr(memory, verb.method.__name__)(**arguments)
    if result is None:
        raise _absent(memory, arguments["id"])
    found = answer_data(verb, result, arguments)
    bound = {**verb.defaults, **arguments}
    text = render_text(view_of(result, Request(verb.name, bound, {"no_facts": memory.no_facts})))
    return answer(found, text)


def answer_data(verb: Verb, result: Any, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the structured answer of a tool."""
    data = as_object(result, verb.items)
    if verb.name in WHOLE:
        return dict(brief(data, whole=True))
    if not isinstance(result, list):
        return dict(brief(data))
    found: dict[str, Any] = {verb.items: [brief(item) for item in data[verb.items]]}  # as many as were asked for
    if "before" in verb.defaults:
        full = len(result) == arguments.get("limit", verb.defaults["limit"])
        found["next_before"] = result[-1].id if full else None
    return found


def arguments_of(verb: Verb, given: Mapping[str, Any], profile: str) -> dict[str, Any]:
    """Return arguments as the verb takes them.

    Raises:
        InvalidInput: There is no such argument, or one is missing.
    """
    refuse_foreign(verb, given)
    parameters = {p.name: p for p in offered(verb, profile)}
    if unknown := sorted(set(given) - set(parameters)):
        known = f"The arguments are {', '.join(parameters)}." if parameters else "The tool takes no arguments."
        raise InvalidInput(f"Unknown argument: {', '.join(map(repr, unknown))}.", remedy=known)
    if missing := [name for name, p in parameters.items() if p.required and given.get(name) is None]:
        raise InvalidInput(f"Missing argument: {', '.join(missing)}.", remedy="See the tool's input schema.")
    return {name: _value(parameters[name], value) for name, value in given.items() if value is not None}


def _value(parameter: Parameter, value: Any) -> Any:
    """Return a JSON value as a verb takes it; models write lists and numbers as text now and then."""
    if not isinstance(value, str) or parameter.kind in ("text", "choice"):
        return value
    if parameter.kind == "instant":
        return _instant(value, parameter.name)
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _instant(value: str, name: str) -> datetime:
    remedy = "Use ISO 8601 with a time zone, for example 2026-11-21T09:30:00Z."
    try:
        read = datetime.fromisoformat(value.strip())
    except ValueError:
        raise InvalidInput(f"{name} is not an ISO 8601 date and time: {value[:50]!r}.", remedy=remedy) from None
    if read.tzinfo is None:  # a zone would be a guess
        raise InvalidInput(f"{name} has no time zone: {value[:50]!r}.", remedy=remedy)
    return read


def _absent(memory: Memory, identity: str) -> NotFound:
    if (hidden := memory.get(identity, include_archived=True)) is not None:
        return NotFound(f"The memory {identity} is {hidden.status.value}.", remedy="Pass include_archived=true.")
    return NotFound(f"There is no memory {identity!r}.", remedy="Use an id that recall or list returned.")


def answer(structured: Mapping[str, Any], text: str) -> CallToolResult:
    """Return an answer as structured data and as text."""
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=dict(structured))


def failed(error: Mapping[str, Any]) -> CallToolResult:
    """Return a tool error: the message and what to do next as text, the same as data in ``_meta``.

    Not as structured content: that must follow the tool's output schema, and strict clients reject what does not.
    """
    message = str(error["message"])
    if len(message) > _LONGEST_ERROR:  # it repeats what was given, or lists many faults
        message = f"{message[:_LONGEST_ERROR]} [...]"
    told = {**error, "message": message}
    text = one_line(f"{message} {error['remedy']}")
    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=True, _meta={"perdure/error": told})
