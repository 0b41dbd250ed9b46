"""A parameter has one name and one default in Python, on the command line, for tools and over HTTP.

What changes many memories shows first what it would change, in each of these ways in.
"""

from __future__ import annotations

import inspect
from functools import cache
from typing import get_args

from typer.main import get_command

import perdure
from conftest import every
from perdure.interfaces.cli.app import app
from perdure.interfaces.cli.commands import command_name
from perdure.interfaces.cli.file_commands import STEPS
from perdure.interfaces.http.openapi import openapi_document
from perdure.interfaces.http.routes import path_of
from perdure.interfaces.mcp.tools import tool_of, verbs_of
from perdure.memory import Memory
from perdure.verbs.declaration import VERBS

ALL = sorted(VERBS)
REPEATED = {"kinds": "kind", "keeps": "keep", "scopes": "scope", "tags": "tag"}
"""A list -> the option that gives one of its values."""
OTHERWISE = {
    "ingest": {"messages", "scope", "embed"},  # the command reads files of conversations
    "extract": {"text"},  # likewise a file
}
"""Verb -> parameters in whose place its command has others."""
NOT_FOR_MODELS = {
    "consolidate": {"pairs", "accept_loss"},
    "extract": {"session", "task", "at", "role"},
    "history": {"notes"},
}
"""Verb -> parameters that its tool does not have: two tools have the schema that was specified for them."""
AT_ONCE = {"sweep", "complete_task"}  # a sweep does what is due anyway; a task is told to be complete
WRITES_NO_MEMORY = {"compact", "create_token", "optimize", "recall", "revoke_token"}


def same(one, other):
    """Whether two defaults mean the same: nothing, none and an empty list do."""
    return one == other or not (one or other or one is False or other is False)


def usual(default):
    """The default that a schema names: a server may have a usual namespace of its own."""
    return None if default == "default" else default


@cache
def commands():
    root = get_command(app)

    def found(words):
        command = root
        for word in words.split():
            command = command.commands[word]
        return {parameter.name: parameter for parameter in command.params}

    return {n: found(command_name(v)) for n, v in VERBS.items() if v.command or n in STEPS}


@cache
def tools(profile):
    return {verb.name: tool_of(verb, profile).input_schema for verb in verbs_of(profile)}


@cache
def bodies():
    paths = openapi_document()["paths"]
    return {
        name: paths[path_of(verb)]["post"]["requestBody"]["content"]["application/json"]["schema"]
        for name, verb in VERBS.items()
    }


def python_defaults(name):
    """Parameter -> default of a method, as its caller sees it; without those that only Python has."""
    offered = {p.name for p in VERBS[name].parameters}
    parameters = inspect.signature(getattr(Memory, VERBS[name].method.__name__)).parameters
    return {n: None if p.default is p.empty else p.default for n, p in parameters.items() if n in offered}


@every([(n,) for n in ALL if VERBS[n].command or n in STEPS])
def test_a_command_has_the_names_and_defaults_of_the_method(name):
    options = commands()[name]
    policys = {p.name for p in VERBS[name].parameters if p.param.key}
    for parameter, default in python_defaults(name).items():
        if parameter == "namespace" or parameter in OTHERWISE.get(name, ()):
            continue
        option = options[parameter]
        names = [*option.opts, *option.secondary_opts]
        if parameter in ("dry_run", "confirm") and isinstance(default, bool):
            assert {"--apply", "--dry-run"} <= set(names)
            assert (option.opts[0], option.default) == (("--dry-run" if name in AT_ONCE else "--apply"), False)
            continue
        word = REPEATED.get(parameter, parameter).replace("_", "-")
        assert option.param_type_name == "argument" or f"--{word}" in names, parameter
        assert same(option.default, None if parameter in policys else default), parameter


@every([(p, n) for p in ("agent", "full") for n in tools(p)])
def test_a_tool_has_the_names_and_defaults_of_the_method(profile, name):
    schema, defaults = tools(profile)[name]["properties"], python_defaults(name)
    local = {p.name for p in VERBS[name].parameters if p.param.local}
    assert schema.keys() <= defaults.keys()
    if profile == "full":
        assert defaults.keys() - schema.keys() == NOT_FOR_MODELS.get(name, set()) | local
    for parameter, described in schema.items():
        assert same(described.get("default"), usual(defaults[parameter])), parameter


@every([(n,) for n in ALL])
def test_a_route_has_the_names_and_defaults_of_the_method(name):
    schema, defaults = bodies()[name]["properties"], python_defaults(name)
    assert schema.keys() == defaults.keys() - {p.name for p in VERBS[name].parameters if p.param.local}
    for parameter, described in schema.items():
        assert same(described.get("default"), usual(defaults[parameter])), parameter


def test_what_changes_many_memories_previews_by_default():
    for name in ALL:
        defaults = python_defaults(name)
        if "dry_run" in defaults:
            assert defaults["dry_run"] is (name not in AT_ONCE), name
    assert python_defaults("promote")["confirm"] is False
    previews = {name for name, verb in VERBS.items() if {"dry_run", "confirm"} & verb.defaults.keys()}
    assert {"consolidate", "decay", "erase", "fit", "procedures", "promote", "rates", "summarize"} <= previews


@every([(n,) for n in ALL if not VERBS[n].reads and n not in WRITES_NO_MEMORY])
def test_what_writes_returns_what_it_wrote(name):
    result = perdure.Outcome if name == "review" else VERBS[name].result_type(perdure)  # in the place ``answered``
    record = next(kind for kind in (*get_args(result), result) if hasattr(kind, "to_dict"))
    assert isinstance(inspect.getattr_static(record, "changed"), property)
    assert "operation" in {*dir(record), *record.__dataclass_fields__}
    assert "changed" in record._computed  # so JSON has it
