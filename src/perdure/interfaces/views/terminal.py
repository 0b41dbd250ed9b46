"""Drawing a view in a terminal. What others wrote is shown, never interpreted: it cannot steer the terminal."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import rich.table
from rich import box
from rich.console import Console
from rich.text import Text as Styled

from perdure.interfaces.files.project import with_given
from perdure.interfaces.views import blocks as b
from perdure.interfaces.views.blocks import Block, Command, Identifier, Line, Quote, Span, Text, Untrusted, spans
from perdure.rules.escaping import cut, terminal_line, terminal_text
from perdure.verbs.declaration import VERBS, Parameter

_PIPE_WIDTH: Final = 160
_INDENT: Final = "   "
_STYLES: Final = {"plain": "", "strong": "bold", "faint": "dim", "warning": "yellow"}


def terminal() -> Console:
    """Return the console for answers. It obeys NO_COLOR; nothing in brackets is taken as markup."""
    width = None if sys.stdout.isatty() else _PIPE_WIDTH
    return Console(markup=False, highlight=False, emoji=False, soft_wrap=width is not None, width=width)


@contextmanager
def progress(title: str) -> Iterator[Callable[[int, int], None] | None]:
    """Show a progress bar on standard error if that is a terminal; yields what to call with (done, total), or None."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def draw(console: Console, blocks: Iterable[Block]) -> None:
    """Draw a view."""
    for block in blocks:
        _DRAW[type(block)](console, block)


def _line(console: Console, block: Line) -> None:
    if block.reader != "model":
        indent = _INDENT if block.item else ""
        console.print(Styled(indent + _text(block.text), style=_STYLES[block.tone]))


def _table(console: Console, block: b.Table) -> None:
    table = rich.table.Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in block.columns:
        table.add_column(column, no_wrap=column == "id", overflow="fold")
    for row in block.rows:
        table.add_row(*(Styled(_text(cell)) for cell in row))
    console.print(table)


def _pairs(console: Console, block: b.Pairs) -> None:
    table = rich.table.Table.grid(padding=(0, 2))
    for name, value in block.pairs:
        table.add_row(Styled(terminal_line(name), style="bold"), Styled(_text(value)))
    console.print(table)


def _quote(console: Console, block: Quote) -> None:
    indent = _INDENT if block.number or block.facts else ""
    speaker = f"{terminal_line(block.speaker)}: " if block.speaker else ""
    words = speaker + terminal_text(block.text).replace("\n", f"\n{_INDENT}" if block.number else "\n")
    console.print(Styled.assemble((f"{block.number}. " if block.number else "", "bold"), words))
    if block.facts:
        console.print(Styled(indent + " · ".join(_text(fact) for fact in block.facts), style="dim"))
    for warning in block.warnings:
        console.print(Styled(indent + _text(warning), style="yellow"))


def _document(console: Console, block: b.PlainText) -> None:
    text = terminal_text(block.text) if console.is_terminal else block.text
    console.file.write(text if text.endswith("\n") else f"{text}\n")
    if block.size:
        print(terminal_line(block.size), file=sys.stderr)


def _undo(console: Console, block: b.Undo) -> None:
    if len(block.operations) > 1:
        console.print("To undo all of it, run these in order:")
    for operation in reversed(block.operations):
        console.print(f"Undo: {_command(b.command('undo', operation_id=Identifier(operation)))}")


_DRAW: Final[dict[type, Callable[[Console, Any], None]]] = {
    Line: _line,
    b.Table: _table,
    b.Pairs: _pairs,
    Quote: _quote,
    b.PlainText: _document,
    b.Undo: _undo,
}


def _text(text: Text) -> str:
    return "".join(_span(span) for span in spans(text))


def _span(span: Span) -> str:
    if isinstance(span, Untrusted):
        return _brief(span.text, span.most) if span.most else terminal_line(span.text)
    if isinstance(span, Identifier):
        return terminal_line(span.short)
    return _command(span) if isinstance(span, Command) else terminal_line(span)


def _brief(text: str, most: int) -> str:
    line = terminal_line(" ".join(text.split()))
    return cut(line, most) if line else line


def _command(call: Command) -> str:
    verb = VERBS.get(call.verb)
    parameters = {p.name: p for p in verb.parameters} if verb else {}
    name = (verb.command if verb else "") or call.verb
    return with_given(" ".join(["perdure", name, *(_option(n, v, parameters.get(n)) for n, v in call.arguments)]))


def _option(name: str, value: Any, parameter: Parameter | None) -> str:
    """Return an argument as it is written on the command line."""
    if isinstance(value, list | tuple):
        return " ".join(_option(name, one, parameter) for one in value)
    if parameter is not None and parameter.kind == "flag":
        return "--apply" if name == "dry_run" else _option_name(parameter)
    text = name.removesuffix("s").upper() if value is ... else _argument(value)
    return text if parameter is None or parameter.is_positional else f"{_option_name(parameter)} {text}"


def _option_name(parameter: Parameter) -> str:
    return parameter.param.option or f"--{parameter.name.replace('_', '-')}"


def _argument(value: Any) -> str:
    return _span(value) if isinstance(value, Identifier) else shlex.quote(terminal_line(str(value)))
