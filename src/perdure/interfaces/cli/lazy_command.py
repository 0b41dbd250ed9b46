"""A command whose options are built when it runs or shows its help, because start-up must not build those of all."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from typing import Any, get_type_hints

import typer
from typer.core import TyperCommand
from typer.main import get_command

from perdure.interfaces.cli.call import Body, Call, Exit
from perdure.interfaces.cli.options import COMMON
from perdure.interfaces.cli.renamed import current_options
from perdure.interfaces.files.project import resolve_namespace


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
        single = typer.Typer(add_completion=False)
        single.command(self.name)(typer_function(self._body()))
        built = get_command(single)
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
    named = [p for p in list(inspect.signature(function).parameters.values())[1:] if p.kind is not p.VAR_KEYWORD]
    return [p.replace(kind=keyword, annotation=hints[p.name]) for p in named]


def typer_function(body: Body) -> Callable[..., Exit | None]:
    """Return a command's function as typer takes it: with the common options, and the context in the call's place."""
    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context),
        *own_parameters(body),
        *(inspect.Parameter(name, keyword, default=None, annotation=kind) for name, kind in COMMON.items()),
    ]

    def command(context: typer.Context, **given: Any) -> Exit | None:
        return body(call_of(context, {option: given.pop(option) for option in COMMON}), **given)

    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # functions take any attribute
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    return command


def call_of(context: typer.Context, after: dict[str, Any]) -> Call:
    """Return the call: options after the command's name win over those before it, and these over the environment."""
    before = context.obj or {}
    chosen = {name: before.get(name) if value is None else value for name, value in after.items()}
    store = chosen["store"] if chosen["store"] is not None else os.environ.get("PERDURE_STORE") or None
    return Call(store, chosen["policy"], resolve_namespace(chosen["namespace"]), bool(chosen["as_json"]))
