"""Calling a verb with JSON values: the schema of its parameters, its arguments, its result. For tools and routes."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from typing import Any, Final

from perdure.records.errors import InvalidInput, NotFound
from perdure.records.wording import argument
from perdure.rules.validation.values import DAY_REMEDY, TIME_REMEDY, parsed_time, whole_day
from perdure.verbs.checks import refuse_foreign
from perdure.verbs.declaration import Parameter, Verb

LISTS: Final = frozenset(("texts", "choices", "objects", "texts or object"))
"""Kinds of parameters that take several values."""
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


def parameter_schema(parameter: Parameter, choices: Sequence[str] = (), *, zone: tzinfo | None = UTC) -> dict[str, Any]:
    """Return the JSON Schema of a parameter; ``choices`` are those that it has here, if not all.

    ``zone`` is that of days; None for that of this machine.
    """
    param = parameter.param
    note = f" If omitted: the policy's {param.key}." if param.key else ""
    day = f" A {'local' if zone is None else 'UTC'} day counts whole." if param.day else ""
    schema = {**_TYPES[parameter.kind], "description": param.help + note + day}
    if param.day:
        del schema["format"]
    if parameter.kind == "choice":
        schema["enum"] = list(choices or parameter.choices)
    elif parameter.kind == "choices":
        schema["items"] = {"type": "string", "enum": list(parameter.choices)}
    bounds = {"minimum": param.ge, "maximum": param.le, "exclusiveMinimum": param.gt}
    schema |= {name: bound for name, bound in bounds.items() if bound is not None}
    if not parameter.required and parameter.default not in (None, (), "default"):
        schema["default"] = parameter.default
    return schema


def object_schema(parameters: Sequence[Parameter], properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON Schema of all arguments of a call."""
    schema: dict[str, Any] = {"type": "object", "properties": dict(properties), "additionalProperties": False}
    if required := [p.name for p in parameters if p.required]:
        schema["required"] = required
    return schema


def arguments_of(
    verb: Verb,
    given: Mapping[str, Any],
    offered: Sequence[Parameter],
    *,
    where: str,
    schema: str,
    strict: bool = False,
    zone: tzinfo | None = UTC,
) -> dict[str, Any]:
    """Return JSON values as the verb takes them; null is the same as nothing.

    Args:
        verb: Whose arguments they are.
        given: The values by name.
        offered: The parameters that can be given here.
        where: What is called, a tool or a route, for errors.
        schema: Where its arguments are described, for errors.
        strict: Whether numbers, flags, lists and objects must be that, as the schema says, and not JSON as text.
        zone: Where days are that are given without a time; None for where this machine is.

    Raises:
        InvalidInput: There is no such argument, or one is missing.
    """
    refuse_foreign(verb, given)
    parameters = {p.name: p for p in offered}
    refuse_unknown(given, parameters, where)
    if missing := [name for name, p in parameters.items() if p.required and given.get(name) is None]:
        raise InvalidInput(f"Missing argument: {', '.join(missing)}.", remedy=f"See {schema}.")
    values = {name: value for name, value in given.items() if value is not None}
    return {name: _value(parameters[name], value, strict=strict, zone=zone) for name, value in values.items()}


def refuse_unknown(given: Iterable[str], known: Collection[str], where: str) -> None:
    """Refuse arguments that there are not.

    Args:
        given: The names of those that are given.
        known: The names of all.
        where: What is called, a tool or a route.

    Raises:
        InvalidInput: Some are not known.
    """
    if unknown := sorted(set(given).difference(known)):
        remedy = f"The arguments are {', '.join(known)}." if known else f"The {where} takes no arguments."
        raise InvalidInput(f"Unknown argument: {', '.join(repr(name[:100]) for name in unknown[:10])}.", remedy=remedy)


def _value(parameter: Parameter, value: Any, *, strict: bool, zone: tzinfo | None) -> Any:
    """Return a JSON value as a verb takes it; models write lists and numbers as text now and then."""
    if isinstance(value, str) and parameter.kind == "instant":
        edge = parameter.param.day
        return (edge and whole_day(value, edge, zone)) or _instant(value, parameter)
    if isinstance(value, str) and parameter.kind not in ("text", "choice") and not strict:
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return value
    if isinstance(value, float) and parameter.kind == "integer" and value.is_integer():
        return int(value)  # JSON knows one kind of number, and its schemas call 3.0 an integer
    return value


def _instant(value: str, parameter: Parameter) -> datetime:
    remedy = DAY_REMEDY if parameter.param.day else TIME_REMEDY
    read = parsed_time(value, parameter.name, remedy)
    if read.tzinfo is None:  # a zone would be a guess
        raise InvalidInput(f"{parameter.name} has no time zone: {value[:50]!r}.", remedy=remedy)
    return read


def call_verb(memory: Any, verb: Verb, arguments: dict[str, Any], *, namespace: str) -> Any:
    """Run a verb and return its result.

    Args:
        memory: The memory.
        verb: Which of its verbs.
        arguments: As ``arguments_of`` returned them; the namespace is added to them where it is missing.
        namespace: The one of calls that name none.

    Raises:
        NotFound: There is no result, because there is no such visible memory.
        PerdureError: The verb refuses.
    """
    if (place := namespace_of(verb, arguments, namespace)) is not None:
        arguments["namespace"] = place
    result = getattr(memory, verb.method.__name__)(**arguments)
    if result is None:
        raise not_found(memory, arguments["id"])
    return result


def namespace_of(verb: Verb, arguments: Mapping[str, Any], usual: str) -> Any:
    """Return the namespace that a call is about, as it was given; None for one that names none and needs none."""
    needs_one = any(p.name == "namespace" and p.default == "default" for p in verb.parameters)
    return arguments.get("namespace", usual if needs_one else None)


def not_found(memory: Any, identity: str) -> NotFound:
    """Return the error for an id of no visible memory, for Python's None."""
    if (hidden := memory.get(identity, include_archived=True)) is not None:
        return NotFound(
            f"The memory {identity} is {hidden.status.value}.", remedy=f"Pass {argument('include_archived')}."
        )
    return NotFound(f"There is no memory {identity!r}.", remedy="Use an id that recall or list returned.")
