"""The words of errors: parameters, types and values are named as the way in names them through which a call came."""

from __future__ import annotations

import json
import reprlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, Literal

Term = Literal[
    "text",
    "texts",
    "true or false",
    "object",
    "objects",
    "items",
    "instant",
    "for example texts",
    "null character",
    "surrogate",
    "zone",
    "plan",
]
"""What errors say in other words in each way in."""

_LONGEST: Final = 100  # characters of a value that an error shows
_PYTHON: Final[Mapping[Term, str]] = {
    "text": "a str",
    "texts": "a list of strings",
    "true or false": "True or False",
    "object": "a dict",
    "objects": "a list of dicts",
    "items": "a list of strings or dicts",
    "instant": "datetime.datetime(..., tzinfo=datetime.UTC)",
    "for example texts": "['one', 'two']",
    "null character": "Remove it, for example with text.replace('\\0', '').",
    "surrogate": "Decode the source with errors='replace'.",
    "zone": "Add a time zone, for example moment.replace(tzinfo=datetime.UTC).",
    "plan": "a Plan",
}
_JSON: Final[Mapping[Term, str]] = {
    "text": "a string",
    "texts": "a list of strings",
    "true or false": "true or false",
    "object": "an object",
    "objects": "a list of objects",
    "items": "a list of strings or objects",
    "instant": "a date and time as text, for example 2026-11-21T09:30:00Z",
    "for example texts": '["one", "two"]',
    "null character": "Remove it.",
    "surrogate": "Remove it, or write U+FFFD for it.",
    "zone": "Add a time zone, for example 2026-11-21T09:30:00Z.",
    "plan": "a plan",
}
_COMMAND: Final[Mapping[Term, str]] = {**_JSON, "text": "text", "object": "a JSON object"}
_OPTIONS: Final = {("dry_run", False): "--apply", ("dry_run", True): "--dry-run", ("overwrite", True): "--force"}
_JSON_TYPES: Final[Mapping[str, str]] = {
    "NoneType": "null",
    "bool": "boolean",
    "int": "number",
    "float": "number",
    "str": "string",
    "tuple": "list",
    "dict": "object",
}


class _JsonRepr(reprlib.Repr):
    """Writes values as JSON does, cut as ``reprlib`` cuts them."""

    def repr_NoneType(self, value: None, level: int) -> str:  # noqa: ARG002, N802  # called by the type's name
        return "null"

    def repr_bool(self, value: bool, level: int) -> str:  # noqa: ARG002
        return "true" if value else "false"

    def repr_str(self, value: str, level: int) -> str:  # noqa: ARG002
        return json.dumps(value[: self.maxstring], ensure_ascii=False)


def _cut(short: reprlib.Repr) -> reprlib.Repr:
    short.maxstring = short.maxother = short.maxlong = _LONGEST + 1
    return short


def _argument(name: str, *, on: bool) -> str:
    return f"{name}={on}"


def _json_argument(name: str, *, on: bool) -> str:
    return f"{name}={json.dumps(on)}"


def _option(name: str, *, on: bool) -> str:
    return _OPTIONS.get((name, on), f"--{name.replace('_', '-')}")


def _same(name: str) -> str:
    return name


@dataclass(frozen=True, slots=True)
class Wording:
    """How one way in names things."""

    terms: Mapping[Term, str] = field(default_factory=lambda: MappingProxyType(_PYTHON))
    parameter: Callable[[str], str] = _same  # how a parameter is called
    argument: Callable[..., str] = _argument  # how a flag is given: the name, and whether it is ``on``
    types: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))  # a type of Python's -> its name
    short: reprlib.Repr = field(default_factory=lambda: _cut(reprlib.Repr()))


PYTHON: Final = Wording()
JSON: Final = Wording(_JSON, argument=_json_argument, types=_JSON_TYPES, short=_cut(_JsonRepr()))
COMMAND: Final = Wording(_COMMAND, argument=_option, types=_JSON_TYPES, short=JSON.short)
"""Of the command line; each command adds the names of its own options."""
_WORDING: Final[ContextVar[Wording]] = ContextVar("perdure_wording", default=PYTHON)


@contextmanager
def worded(wording: Wording) -> Iterator[None]:
    """Have errors that are raised in a block use the words of a way in."""
    token = _WORDING.set(wording)
    try:
        yield
    finally:
        _WORDING.reset(token)


def term(of: Term) -> str:
    """Return how the way in of this call says something."""
    return _WORDING.get().terms[of]


def parameter_name(name: str) -> str:
    """Return how the way in of this call names a parameter; another word stays as it is."""
    return _WORDING.get().parameter(name)


def argument(name: str, *, on: bool = True) -> str:
    """Return how a flag is given in the way in of this call: ``dry_run=False``, ``dry_run=false`` or ``--apply``."""
    return _WORDING.get().argument(name, on=on)


def type_name(value: object) -> str:
    """Return the type of a value as the way in of this call names it."""
    name = type(value).__name__
    return _WORDING.get().types.get(name, name)


def shown_value(value: Any) -> str:
    """Return how an error shows a value that it refuses: as the way in writes it, cut where it is long or deep."""
    try:
        shown = repr(value) if isinstance(value, str) else _WORDING.get().short.repr(value)
    except (ValueError, RecursionError):  # a whole number of thousands of digits; nesting behind a class of its own
        shown = f"a value of type {type_name(value)}"
    return shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 3]}..."
