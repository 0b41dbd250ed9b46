"""The reference of the Python API, from the declarations of the verbs."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from dataclasses import is_dataclass
from types import NoneType
from typing import Any, get_args, get_origin

import perdure
from perdure.memory import Memory
from perdure.verbs.declaration import VERBS, Panel, Parameter, Verb

TYPES = {
    "text": "str",
    "integer": "int",
    "number": "float",
    "flag": "bool",
    "instant": "datetime",
    "object": "Mapping[str, Any]",
    "texts": "Sequence[str]",
    "objects": "Sequence[Mapping[str, Any]]",
    "texts or object": "Sequence[str] | Mapping[str, str]",
}
HEAD = """\
# Python API

`perdure.open(...)` returns a `Memory`; these are its methods. Arguments are checked before anything is done, and all
faults are named at once: a value of another type, out of range or no choice is an `InvalidInput`. An id may be given by
its short form. Every result has `to_dict()`, which returns plain JSON data; `perdure --json` prints the same.
"""
WIDTH = 88


def reference() -> str:
    """Every method of a memory with its parameters, result and errors."""
    lines = [HEAD]
    for panel in get_args(Panel):
        verbs = [v for v in VERBS.values() if v.panel == panel]
        lines += [f"## {panel}", ""] if verbs else []
        for verb in verbs:
            lines += method(verb)
    return "\n".join([*lines, "## Other methods", "", *others()])


def method(verb: Verb) -> Iterator[str]:
    """One method as Markdown."""
    result = type_name(verb.result_type(perdure))
    yield from (
        f"### {verb.method.__name__}",
        "",
        "```py",
        signature(verb, result),
        "```",
        "",
        verb.summary.replace("``", "`"),
        "",
    )
    if verb.parameters:
        yield from ("| parameter | values | meaning |", "|---|---|---|", *map(row, verb.parameters), "")
    yield f"Returns `{result}`{meaning(verb.result_type(perdure))}."
    yield ""
    errors = section(verb.method.__doc__ or "", "Raises:")
    if errors:
        yield from (
            "Raises:",
            "",
            *(f"- `{name}`: {text.replace('``', '`')}" for name, _, text in (e.partition(": ") for e in errors)),
            "",
        )


def signature(verb: Verb, result: str) -> str:
    """The call as it is written, one parameter a line where it is long."""
    known = {p.name: p for p in verb.parameters}
    words, keyword = [], False
    for p in list(verb.signature.parameters.values())[1:]:
        if p.kind is p.KEYWORD_ONLY and not keyword:
            words.append("*")
            keyword = True
        annotation = parameter_type(known[p.name], str(p.annotation)) if p.name in known else str(p.annotation)
        words.append(f"{p.name}: {annotation}" + ("" if p.default is p.empty else f" = {p.default!r}"))
    head, tail = f"memory.{verb.method.__name__}(", f") -> {result}"
    short = head + ", ".join(words) + tail
    return short if len(short) <= WIDTH else "\n".join([head, *(f"    {word}," for word in words), tail])


def parameter_type(parameter: Parameter, annotation: str) -> str:
    """What a parameter takes in Python: the declared type, and what stands beside it in the annotation."""
    value = value_type(parameter)
    parts = [ast.parse(annotation, mode="eval").body]
    while isinstance(parts[0], ast.BinOp):
        parts[:1] = [parts[0].left, parts[0].right]
    others = [ast.unparse(part) for part in parts[1:] if not isinstance(part, ast.Constant)]
    return " | ".join([value, *others]) if parameter.records else value


def value_type(parameter: Parameter) -> str:
    """What a parameter takes, as a type."""
    choices = ", ".join(repr(choice) for choice in parameter.choices)
    kind = TYPES.get(parameter.kind) or f"Literal[{choices}]"
    kind = f"Sequence[{kind}]" if parameter.kind == "choices" else kind
    return f"{kind} | None" if parameter.optional else kind


def row(parameter: Parameter) -> str:
    """One parameter as a row: its bounds and its meaning."""
    p = parameter.param
    low = f"above {p.gt:g}" if p.gt is not None else "" if p.ge is None else f"{p.ge:,g}"
    bounds = f"{low} to {p.le:,g}" if p.le is not None else f"at least {low}" if low else ""
    items = f"at most {p.most:,} items" if p.most and parameter.kind in {"texts", "choices"} else ""
    length = f"at most {p.longest:,} characters" if p.longest else ""
    values = ", ".join(part for part in (*parameter.choices, bounds, items, length) if part)
    return f"| `{parameter.name}` | {values} | {p.help} |"


def type_name(type_: Any) -> str:
    """A type as it is written."""
    inside = get_args(type_)
    if type_ in {None, NoneType} or isinstance(type_, str):
        return str(type_ if isinstance(type_, str) else None)
    if get_origin(type_) in {list, dict, tuple}:
        return f"{get_origin(type_).__name__}[{', '.join(map(type_name, inside))}]"
    return " | ".join(map(type_name, inside)) if inside else type_.__name__


def meaning(type_: Any) -> str:
    """What a result is: the first sentence of its class."""
    found = [getattr(perdure, t, t) if isinstance(t, str) else t for t in (type_, *get_args(type_))]
    records = [t for t in found if is_dataclass(t)]
    return f": {first_line(records[0]).rstrip('.')}" if records else ""


def first_line(documented: object) -> str:
    """The first line of a docstring."""
    return (inspect.getdoc(documented) or "").partition("\n")[0].replace("``", "`")


def section(docstring: str, name: str) -> list[str]:
    """The entries of a section of a docstring, each as one line."""
    _, _, rest = inspect.cleandoc(docstring).partition(f"\n{name}\n")
    entries: list[str] = []
    for line in rest.splitlines():
        if not line.startswith("    "):
            break
        if line.startswith("     "):
            entries[-1] += " " + line.strip()
        else:
            entries.append(line.strip())
    return entries


def others() -> Iterator[str]:
    """Methods that only Python has, with the arguments that they need and their first sentence."""
    declared = {v.method.__name__ for v in VERBS.values()}
    for name, function in inspect.getmembers(Memory, inspect.isfunction):
        if not name.startswith("_") and name not in declared:
            given = list(inspect.signature(function).parameters.values())[1:]
            needed = [p.name for p in given if p.default is p.empty and p.kind not in {p.VAR_POSITIONAL, p.VAR_KEYWORD}]
            yield f"- `{name}({', '.join(needed)})`: {first_line(function)}"
    yield ""
