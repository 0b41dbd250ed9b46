"""Results as JSON, the same in every way in, and the JSON Schema that says what they hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from perdure.records.json_record import JsonRecord, as_json, instant_fields

__all__ = ["as_json", "as_object", "brief", "schema_of"]

BRIEF: Final = (
    *("id", "namespace", "kind", "content", "truncated", "tags", "speaker", "created_at"),
    *("tier", "status", "pinned", "form", "aging", "importance", "confidence", "value"),
)
"""What a model is given of a memory that it did not ask for by its id; ``get`` returns everything."""
OUTCOME: Final = (
    "operation",
    "changed",
    "hidden_facts",
    "hidden_messages",
    "still_believed",
    "believed_again",
    "said_by",
    "said_by_more",
    "links_removed_from",
    "links_turned_round",
    "facts",
    "related",
    "predicates",
)
"""What an outcome says besides its memory."""
LONG: Final = ("plans", "changes")  # what plans hold; it is for machines
MOST: Final = 50  # entries that a list inside a result has
CUT: Final = 2000  # characters of content that a brief memory has


def as_object(result: Any, items: str) -> dict[str, Any]:
    """Return a result as one JSON object; what is none stands under the name ``items``."""
    data = as_json(result)
    return data if isinstance(data, dict) else {items: data}


def brief(data: Any, *, whole: bool = False) -> Any:
    """Return JSON data as a model is given it.

    Memories have only what a model needs of them, their content cut where it is long; figures have four digits,
    and long lists inside a result are cut, with their length beside them.

    Args:
        data: JSON data.
        whole: Memories keep all but their stored state.
    """
    if isinstance(data, list):
        return [brief(item, whole=whole) for item in data]
    if isinstance(data, dict):
        is_memory = "state" in data and "content" in data
        return (_brief_memory if is_memory else _brief_result)(data, whole=whole)
    return round(data, 4) if isinstance(data, float) else data


def _brief_memory(data: dict[str, Any], *, whole: bool) -> dict[str, Any]:
    if whole:
        return {name: brief(value) for name, value in data.items() if name != "state"}
    content = data["content"]
    shown = {**data, "content": content[:CUT], "truncated": len(content) > CUT}
    return {name: brief(shown[name]) for name in (*BRIEF, *OUTCOME) if name in shown}


def _brief_result(data: dict[str, Any], *, whole: bool) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in data.items():
        long = isinstance(value, list) and len(value) > MOST
        if long:
            found[f"{name}_total"] = len(value)
        if name not in LONG or not isinstance(value, list):
            found[name] = brief(value[:MOST] if long else value, whole=whole)
    return found


def schema_of(type_: Any, items: str, *, whole: bool = False) -> dict[str, Any]:
    """Return the JSON Schema of a verb's result as one object.

    Args:
        type_: The type that the verb returns.
        items: The name under which a list stands.
        whole: Memories are whole, not brief.
    """
    schema = _schema(type_, whole=whole)
    options = schema.get("anyOf", [schema])
    found = next((option for option in options if option.get("type") == "object"), None)
    return found or {"type": "object", "properties": {items: schema}, "required": [items]}


_PLAIN: Final[Mapping[Any, str]] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    NoneType: "null",
    datetime: "string",
}


def _schema(type_: Any, *, whole: bool) -> dict[str, Any]:
    origin, inside = get_origin(type_), get_args(type_)
    if type_ in _PLAIN:
        return {"type": _PLAIN[type_]}
    if origin in {Union, UnionType}:
        return {"anyOf": [_schema(part, whole=whole) for part in inside]}
    if origin in {list, tuple, Sequence, frozenset}:
        several = origin is tuple and inside[-1] is not Ellipsis and len(set(inside)) > 1
        return {"type": "array"} | ({} if several else {"items": _schema(inside[0], whole=whole)})
    if is_dataclass(type_):
        return _record(type_, whole=whole)
    is_text = origin is Literal or (isinstance(type_, type) and issubclass(type_, Enum))
    return {"type": "string"} if is_text else {"type": "object"} if (origin or type_) in {dict, Mapping} else {}


def _record(type_: Any, *, whole: bool) -> dict[str, Any]:
    if getattr(type_, "to_dict", JsonRecord.to_dict) is not JsonRecord.to_dict:
        own = {name: _schema(part, whole=whole) for name, part in getattr(type_, "json_types", {}).items()}
        return {"type": "object", "properties": own, "required": list(own)} if own else {"type": "object"}
    hints = get_type_hints(type_)
    hints |= {name: str for name in instant_fields(type_) if hints[name] is int}
    for name in getattr(type_, "_computed", ()):
        hints[name] = get_type_hints(getattr(type_, name).fget)["return"]
    properties: dict[str, Any] = {}
    for name in (*(field.name for field in fields(type_)), *getattr(type_, "_computed", ())):
        schema = _schema(hints[name], whole=whole)
        properties |= schema["properties"] if name in getattr(type_, "_merged", ()) else {name: schema}
    if "state" in properties and "content" in properties and not whole:
        properties = {name: properties.get(name, {"type": "boolean"}) for name in BRIEF}
    for name in ("plans", "state"):
        properties.pop(name, None)
    return {"type": "object", "properties": properties, "required": list(properties)}
