"""The commands that follow from the verbs' declarations: arguments, options, help, output and exit code."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from functools import partial
from typing import Annotated, Any, Final, Literal, get_type_hints

import typer
from typer.core import TyperCommand
from typer.main import get_command

import perdure.memory  # noqa: F401  # declares the verbs
from perdure.interfaces.cli.call import Body, Call, Exit, without_password
from perdure.interfaces.cli.options import COMMON, current_options, json_object, json_objects, moment, text_or_input
from perdure.interfaces.files.project import GIVEN, resolve_namespace
from perdure.records.errors import InvalidInput
from perdure.records.wording import COMMAND, Wording, worded
from perdure.verbs.arguments import not_found
from perdure.verbs.declaration import VERBS, Parameter, Verb


class LazyCommand(TyperCommand):
    """A command that lists its name and its help at once, and makes its options and its function at their first use."""

    def __init__(self, name: str, text: str, panel: str | None, body: Callable[[], Body]) -> None:
        super().__init__(name, help=text, rich_help_panel=panel, rich_markup_mode="rich")
        self._body = body
        del self.params, self.callback  # so that asking for them goes to __getattr__

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words after the command's name; earlier names of options are understood."""
        return super().parse_args(ctx, current_options(self.name or "", args))

    def __getattr__(self, attribute: str) -> Any:
        if attribute not in {"params", "callback"}:
            raise AttributeError(attribute)
        parser = typer.Typer(add_completion=False)
        parser.command(self.name)(typer_function(self._body()))
        built = get_command(parser)
        self.params, self.callback = built.params, built.callback
        return getattr(self, attribute)


def own_command(name: str, function: Body, panel: str | None = None) -> LazyCommand:
    """Return the command of a function that takes the call and its own annotated parameters."""
    return LazyCommand(name, help_text(function.__doc__ or ""), panel, lambda: function)


def help_text(docstring: str) -> str:
    """Return a docstring as help: a line for each paragraph, without the marks of code."""
    paragraphs = inspect.cleandoc(docstring).split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs).replace("``", "")


def own_parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """Return the parameters of a function after the first, as typer takes them."""
    hints = get_type_hints(function, include_extras=True)
    keyword = inspect.Parameter.KEYWORD_ONLY
    own = [p for p in list(inspect.signature(function).parameters.values())[1:] if p.kind is not p.VAR_KEYWORD]
    return [p.replace(kind=keyword, annotation=hints[p.name]) for p in own]


def typer_function(body: Body) -> Callable[..., Exit | None]:
    """Return a command's function as typer takes it: with the common options, and the context in the call's place."""
    keyword = inspect.Parameter.KEYWORD_ONLY
    own = own_parameters(body)
    common = {name: kind for name, kind in COMMON.items() if all(p.name != name for p in own)}
    parameters = [
        inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context),
        *own,
        *(inspect.Parameter(name, keyword, default=None, annotation=kind) for name, kind in common.items()),
    ]

    def command(context: typer.Context, **values: Any) -> Exit | None:
        return body(call_of(context, {option: values.pop(option) for option in common}), **values)

    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # functions take any attribute
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    return command


def call_of(context: typer.Context, after: dict[str, Any]) -> Call:
    """Return the call: options after the command's name win over those before it, and these over the environment."""
    before = context.obj or {}
    options = {name: before.get(name) if value is None else value for name, value in after.items()}
    store = options["store"] if options["store"] is not None else os.environ.get("PERDURE_STORE") or None
    namespace = resolve_namespace(options["namespace"])
    shown = options["store"] and without_password(options["store"])
    GIVEN.set({"-n": namespace, "--store": shown, "--policy": options["policy"]})
    return Call(store, options["policy"], namespace, bool(options["as_json"]), options.get("timeout"))


_TYPES: Final[Mapping[str, Any]] = {
    "text": str,
    "integer": int,
    "number": float,
    "flag": bool,
    "instant": datetime,
    "object": dict[str, Any],
    "texts": list[str],
    "objects": dict[str, Any],  # one value for typer, which takes lists apart
}
_PARSERS: Final[Mapping[str, Callable[[str], Any]]] = {
    "instant": moment,
    "object": json_object,
    "objects": json_objects,
}
_METAVARS: Final = {
    "integer": "N",
    "number": "NUMBER",
    "instant": "DATE",
    "object": "JSON",
    "objects": "FILE",
    "text": "TEXT",
    "texts": "TEXT",
}
_LARGEST_SHOWN: Final = 100_000  # ranges that end higher are left out of the help page
_CODE: Final = re.compile("``(\\w+)``")


def verb_commands(steps: Mapping[str, CommandStep]) -> Iterator[tuple[str, LazyCommand]]:
    """Yield the command of each verb, with the group that its name of two words begins with, or nothing.

    ``steps`` has what the command of a verb does besides, where the declaration is not enough.
    """
    for declared in VERBS.values():
        step = steps.get(declared.name)
        if step is not None or declared.command:
            group, _, name = command_name(declared).rpartition(" ")
            panel = None if group else declared.panel
            text = help_of(declared, (step and step.function.__doc__) or declared.summary)
            yield group, LazyCommand(name, text, panel, partial(command_of, declared, step))


def command_name(declared: Verb) -> str:
    """Return the name of a verb's command."""
    return declared.command or declared.name.replace("_", "-")


def help_of(declared: Verb, docstring: str) -> str:
    """Return the help of a verb's command: options and commands stand in the place of parameters and methods."""

    def replacement(code: re.Match[str]) -> str:
        name = code[1]
        parameter = next((p for p in declared.parameters if p.name == name), None)
        if parameter is not None:
            return "--apply" if is_inverted(parameter) else option_names(parameter)[0].partition("/")[0]
        return f"'perdure {command_name(VERBS[name])}'" if name in VERBS else name

    text = help_text(_CODE.sub(replacement, docstring))
    return text if declared.empty is None else f"{text}\n\nExit code 3 if nothing is found."


@dataclass(frozen=True, slots=True)
class CommandStep:
    """What a command does that its verb's declaration does not say."""

    # runs it, with the call, its own annotated parameters, and the rest of the verb's arguments by name. Its docstring
    # is the command's help
    function: Callable[..., Exit]
    without: AbstractSet[str] = frozenset()  # the verb's parameters that the command does not have


def command_of(declared: Verb, step: CommandStep | None = None) -> Callable[..., Exit]:
    """Return the function of a verb's command; its signature is what typer needs."""
    own = [] if step is None else own_parameters(step.function)
    left_out = {"namespace", *(p.name for p in own), *(step.without if step else ())}
    offered = [p for p in declared.parameters if p.name not in left_out]

    def run(call: Call, **values: Any) -> Exit:
        found = {p.name: argument_of(p, values.pop(p.name)) for p in offered}
        arguments = {name: value for name, value in found.items() if value is not None}
        with worded(command_wording(offered)):
            return run_verb(call, declared, arguments) if step is None else step.function(call, **values, **arguments)

    parameters = [inspect.Parameter("call", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Call)]
    parameters += [*own, *(option_of(p) for p in offered)]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # functions take any attribute
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    return run


def command_wording(offered: Sequence[Parameter]) -> Wording:
    """Return how errors of a command name its parameters: by their options, or by what stands for them in its help."""
    names = {
        p.name: metavar_of(p) or p.name if p.is_positional else option_names(p)[0].partition("/")[0] for p in offered
    }
    return replace(COMMAND, parameter=lambda name: names.get(name, name))


def _namespace(call: Call, declared: Verb, arguments: Mapping[str, Any]) -> dict[str, Any]:
    if call.namespace is None and "namespace" in declared.required - arguments.keys():
        remedy = "Pass --namespace NAME, 'team/*', or '*' for all."
        raise InvalidInput(f"{declared.command} needs a namespace.", remedy=remedy)
    takes_it = call.namespace is not None and any(p.name == "namespace" for p in declared.parameters)
    return {"namespace": call.namespace} if takes_it else {}


def run_verb(call: Call, declared: Verb, arguments: dict[str, Any], notes: Mapping[str, Any] | None = None) -> Exit:
    """Run a verb on the store of a call, print its result, and return the exit code."""
    arguments |= _namespace(call, declared, arguments)
    if declared.creates_store and call.store.removeprefix("sqlite:///") == ":memory:":
        raise typer.BadParameter("A store in memory ends with the command: nothing would be kept. Name a file.")
    with call.memory(create=declared.creates_store) as memory:
        method = getattr(memory, declared.method.__name__)
        if declared.passes_progress:
            from perdure.interfaces.views.terminal import progress  # noqa: PLC0415  # start-up time

            with progress(declared.title) as report:
                result = method(**arguments, progress=report)
        else:
            result = method(**arguments)
        if result is None:
            raise not_found(memory, arguments["id"])
        call.show(memory, declared, arguments, result, notes)
    return Exit.NOTHING if declared.empty is not None and declared.empty(result) else Exit.OK


def argument_of(parameter: Parameter, value: Any) -> Any:
    """Return what a verb takes for what was written on the command line."""
    if is_inverted(parameter):
        return not value
    if parameter.kind == "choices" and value is not None:
        return [str(choice.value) for choice in value]
    return text_or_input(value) if parameter.param.stdin and isinstance(value, str) else value


def is_inverted(parameter: Parameter) -> bool:
    """Whether the command line says the opposite: ``--apply`` for a dry run that is the default."""
    return parameter.name == "dry_run" and parameter.default is True


def option_of(parameter: Parameter) -> inspect.Parameter:
    """Return a parameter as typer takes it."""
    annotation, default = annotation_of(parameter), None if parameter.param.key else parameter.default
    if parameter.kind in ("texts", "choices", "objects") and not parameter.required:
        default = None
    more: dict[str, Any] = {"help": option_help(parameter), "metavar": metavar_of(parameter)}
    if parameter.kind in _PARSERS:
        day = parameter.param.day
        more["parser"] = partial(moment, day=day) if day else _PARSERS[parameter.kind]
    if parameter.is_positional:
        argument: Any = typer.Argument(**more)
    elif is_inverted(parameter):
        text = "Apply it; without this it is only a preview."
        default, argument = False, typer.Option("--apply/--dry-run", help=text)
    else:
        argument = typer.Option(*option_names(parameter), **more)
    if not parameter.required and default is None:
        annotation = annotation | None
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(parameter.name, kind, default=default, annotation=Annotated[annotation, argument])


def annotation_of(parameter: Parameter) -> Any:
    """Return the type that typer reads a parameter as."""
    if parameter.kind == "choices":  # typer takes lists of an enumeration only
        return list[StrEnum(parameter.name, {choice: choice for choice in parameter.choices})]  # type: ignore[misc]
    return Literal[parameter.choices] if parameter.choices else _TYPES[parameter.kind]


def option_help(parameter: Parameter) -> str:
    """Return the help of a parameter, with what holds on the command line only."""
    notes = {
        "A day counts whole. Days and times without a zone are local.": bool(parameter.param.day),
        "A time without a zone is local time.": parameter.kind == "instant" and not parameter.param.day,
        "Repeat the option for several values.": parameter.kind in ("texts", "choices") and not parameter.is_positional,
        "A file with a JSON list of such objects.": parameter.kind == "objects",
        "Pass - to read standard input.": parameter.param.stdin or parameter.kind == "objects",
        f"Default: the policy's {parameter.param.key}.": parameter.param.key != "",
    }
    text = "Only report what would change." if parameter.name == "dry_run" else parameter.param.help
    return " ".join([text, *(note for note, holds in notes.items() if holds)])


def option_names(parameter: Parameter) -> list[str]:
    """Return the option's names: its own, then its short form."""
    name = parameter.param.option or f"--{parameter.name.replace('_', '-')}"
    if parameter.name == "dry_run":
        name = "--dry-run/--apply"  # each command that can show what it would change takes both
    elif parameter.kind == "flag" and parameter.default is True and "/" not in name:
        name = f"{name}/--no-{name.removeprefix('--')}"
    return [name, *([parameter.param.short] if parameter.param.short else [])]


def metavar_of(parameter: Parameter) -> str | None:
    """Return what stands for the value in the help page."""
    param = parameter.param
    if param.refers is not None:
        return "ID..." if parameter.kind == "texts" else "ID"
    if parameter.is_positional:
        name = parameter.name.removesuffix("_id").removesuffix("_or").upper()
        return f"{name.removesuffix('S')}..." if parameter.kind == "texts" else name
    if parameter.kind in ("integer", "number") and param.le is not None and param.le <= _LARGEST_SHOWN:
        return f"{param.ge or param.gt or 0:g}..{param.le:g}"
    return _METAVARS.get(parameter.kind)
