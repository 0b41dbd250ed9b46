"""The tools that follow from the verbs' declarations: names, schemas, annotations, calls and answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from datetime import tzinfo
from functools import cache
from pathlib import Path
from typing import Any, Final

from mcp_types import CallToolResult, TextContent, Tool, ToolAnnotations

import perdure
import perdure.memory  # declares the verbs; loads neither numpy nor SQLite
from perdure.interfaces.views import Request, view_of
from perdure.interfaces.views.model import render_text
from perdure.memory import Memory
from perdure.records.deadline import NOTHING_WRITTEN
from perdure.rules.escaping import one_line
from perdure.verbs.arguments import arguments_of as json_arguments
from perdure.verbs.arguments import call_verb, object_schema, parameter_schema
from perdure.verbs.declaration import VERBS, Parameter, Verb
from perdure.verbs.results import as_object, brief, schema_of

AGENT: Final = ("remember", "recall", "used", "update", "forget", "list", "why", "undo", "digest", "review")
"""The tools of the ``agent`` profile, in the order in which they are listed; others follow in theirs."""
WHOLE: Final = ("get",)
"""Verbs whose answer holds whole memories; the others shorten what a model did not ask for by its id."""
SCHEMAS: Final = Path(__file__).with_name("output_schemas.json")
_KEY: Final = "idempotency_key"
_LONGEST_ERROR: Final = 2000
_INSTEAD: Final = {
    "correct": ("`correct`", "`review` with verdict=correct"),
    "confirm": ("`confirm`", "`review` with verdict=confirm"),
    "restore": ("Use `restore` first", "Use `remember` with its words first, which restores it"),
}
"""Verb -> how a remedy names it, and what to do where no tool of the profile is it."""


def verbs_of(profile: str) -> list[Verb]:
    """Return the verbs of a profile, in the order in which their tools are listed."""
    verbs = {verb.name: verb for verb in VERBS.values() if verb.in_profile(profile)}
    return [verbs[name] for name in sorted(verbs, key=lambda name: AGENT.index(name) if name in AGENT else len(AGENT))]


def tool_of(verb: Verb, profile: str, zone: tzinfo | None = None) -> Tool:
    """Return a verb as an MCP client lists it; ``zone`` is that of days, None for that of this machine."""
    return Tool(
        name=verb.name,
        title=verb.title,
        description=verb.description,
        input_schema=input_schema(verb, profile, zone),
        output_schema=output_schema(verb),
        annotations=ToolAnnotations(
            title=verb.title,
            read_only_hint=verb.reads,
            destructive_hint=verb.hides,
            idempotent_hint=verb.repeatable,
            open_world_hint=False,
        ),
    )


def offered_parameters(verb: Verb, profile: str) -> list[Parameter]:
    """Return the parameters that a profile's tool has."""
    names = None if profile == "full" else verb.agent
    return [p for p in verb.parameters if p.param.tool and not p.param.local and (names is None or p.name in names)]


def input_schema(verb: Verb, profile: str, zone: tzinfo | None = None) -> dict[str, Any]:
    """Return the JSON Schema of a tool's arguments."""
    parameters = offered_parameters(verb, profile)
    return object_schema(parameters, {p.name: parameter_schema(p, p.param.tool_choices, zone=zone) for p in parameters})


def output_schema(verb: Verb) -> dict[str, Any]:
    """Return the JSON Schema of a tool's structured answer.

    Those of the ``agent`` profile are shipped: making them loads all records of results, a tenth of a server's start.
    """
    shipped = _shipped_schemas().get(verb.name)
    return made_output_schema(verb) if shipped is None else shipped


@cache
def _shipped_schemas() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = json.loads(SCHEMAS.read_text("utf-8")) if SCHEMAS.is_file() else {}
    return found


def made_output_schema(verb: Verb) -> dict[str, Any]:
    """Return the same, made from the records of results: docs/generate.py writes what is shipped."""
    schema = schema_of(verb.result_type(perdure), verb.items, whole=verb.name in WHOLE)
    if "before" in verb.defaults:
        schema["properties"]["next_before"] = {"anyOf": [{"type": "string"}, {"type": "null"}]}
    return schema


def call_tool(
    memory: Memory, verb: Verb, arguments: dict[str, Any], *, namespace: str, note: Callable[[Any], None]
) -> CallToolResult:
    """Run a verb, and return its result as data and as text; ``note`` is given what the verb returned."""
    result = call_verb(memory, verb, arguments, namespace=namespace)
    note(result)
    data = answer_data(verb, result, arguments)
    bound, notes = {**verb.defaults, **arguments}, {"facts_hint": memory.facts_hint, "standing": memory.hit_marks}
    text = render_text(view_of(result, Request(verb.name, bound, notes)))
    return tool_answer(data, text)


def answer_data(verb: Verb, result: Any, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the structured answer of a tool."""
    data = as_object(result, verb.items)
    if verb.name in WHOLE:
        return dict(brief(data, whole=True))
    if not isinstance(result, list):
        return dict(brief(data))
    page: dict[str, Any] = {verb.items: [brief(item) for item in data[verb.items]]}  # as many as were asked for
    if "before" in verb.defaults:
        full = len(result) == arguments.get("limit", verb.defaults["limit"])
        page["next_before"] = result[-1].id if full else None
    return page


def arguments_of(verb: Verb, values: Mapping[str, Any], profile: str, zone: tzinfo | None = None) -> dict[str, Any]:
    """Return arguments as the verb takes them; ``zone`` as above."""
    return json_arguments(
        verb, values, offered_parameters(verb, profile), where="tool", schema="the tool's input schema", zone=zone
    )


def tool_answer(structured: Mapping[str, Any], text: str) -> CallToolResult:
    """Return an answer as structured data and as text."""
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=dict(structured))


def with_offered_tools(error: Mapping[str, Any], offered: Collection[str]) -> dict[str, Any]:
    """Return an error whose remedy names a tool that is offered where it named a verb that is not."""
    remedy = str(error["remedy"])
    for verb, (words, instead) in _INSTEAD.items():
        remedy = remedy if verb in offered else remedy.replace(words, instead)
    return {**error, "remedy": remedy}


def with_call_again(error: Mapping[str, Any], verb: Verb, profile: str) -> dict[str, Any]:
    """Return an error of a call whose time was over, with what its tool lets the client do: it may not set the time."""
    if verb.reads or verb.panel == "Find and explain":
        remedy = f"Call {verb.name} again: it changes no memory."
    elif any(parameter.name == _KEY for parameter in offered_parameters(verb, profile)):
        remedy = f"Call {verb.name} again; with an {_KEY} nothing is stored twice."
    elif NOTHING_WRITTEN in str(error["message"]):
        remedy = f"Call {verb.name} again."
    else:
        remedy = f"Recall what it was about, and call {verb.name} again if that is missing."
    return {**error, "remedy": remedy}


def tool_error(error: Mapping[str, Any]) -> CallToolResult:
    """Return a tool error: the message and what to do next as text, the same as data in ``_meta``.

    Not as structured content: that must follow the tool's output schema, and strict clients reject what does not.
    """
    message = str(error["message"])
    if len(message) > _LONGEST_ERROR:  # it repeats what was given, or lists many faults
        message = f"{message[:_LONGEST_ERROR]} [...]"
    data = {**error, "message": message, "remedy": str(error["remedy"])}
    text = one_line(f"{message} {data['remedy']}")
    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=True, _meta={"perdure/error": data})
