"""What is shown of results: one view for each result, drawn by a back end for terminals and one for language models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Final

from perdure.interfaces.views.blocks import Block, Foreign, Identifier, Line, Pairs, Text


@dataclass(frozen=True, slots=True)
class Request:
    """The call whose result is shown.

    Attributes:
        verb: Its name, as the Python method is called.
        arguments: Parameter -> value, as bound.
        notes: What else the caller knows and a view may show: ``store`` (its address without a password),
            ``namespaces`` (all there are), ``no_facts`` (why the policy has none), ``files``, ``seconds``.
    """

    verb: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    notes: Mapping[str, Any] = field(default_factory=dict)


_PLAIN: Final = (list, tuple, dict, str, bool, int, type(None))
_BY_TYPE: Final = {
    "Recall": "recall:view_recall",
    "Absence": "recall:view_absence",
    "Memory": "memory:view_memory",
    "Outcome": "memory:view_outcome",
    "Explanation": "why:view_explanation",
    "Plan": "journal:view_undo",
    "Report": "maintenance:view_report",
    "Stats": "maintenance:view_stats",
    "Digest": "maintenance:view_digest",
}
"""Type of a result -> its view, as module and function, so that only the module that is needed loads."""
_BY_VERB: Final = {
    "list": "memory:view_memories",
    "history": "journal:view_history",
    "namespaces": "memory:view_namespaces",
}
"""Verb whose result is a plain list, dictionary or text -> its view."""


def view_of(result: Any, request: Request) -> list[Block]:
    """Return what is shown of a result; a result without a view is shown as its names and values."""
    plain = isinstance(result, _PLAIN)
    found = _BY_VERB.get(request.verb) if plain else _BY_TYPE.get(type(result).__name__)
    if found is None:
        return _pairs_of(result)
    module, _, name = found.partition(":")
    return list(getattr(import_module(f"{__name__}.{module}"), name)(result, request))


def _pairs_of(result: Any) -> list[Block]:
    if isinstance(result, list | tuple):
        return [block for one in result for block in _pairs_of(one)] or [Line("Nothing found.")]
    data = result.to_dict() if hasattr(result, "to_dict") else result
    if not isinstance(data, Mapping):
        return [Line("Done." if data is None else Foreign(str(data)))]
    return [Pairs(tuple((name.replace("_", " "), _value(name, value)) for name, value in data.items()))]


def _value(name: str, value: Any) -> Text:
    if name == "id" and isinstance(value, str):
        return Identifier(value)
    return str(value) if value is None or isinstance(value, bool | int | float) else Foreign(str(value))
