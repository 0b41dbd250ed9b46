"""The command ``perdure``: its commands and common options, how errors are reported, and its exit codes."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Annotated, Any, Final, NoReturn, get_args

import typer
from typer.core import TyperCommand, TyperGroup

from perdure import __version__
from perdure.interfaces import blas_threads
from perdure.interfaces.cli import file_commands, plan, server, setup, transfer
from perdure.interfaces.cli.call import MEANINGS, Body, Exit, print_json
from perdure.interfaces.cli.commands import own_command, verb_commands
from perdure.interfaces.cli.options import ALIASES, MEANT, Json, Namespace, PolicyFile, Store, Timeout
from perdure.interfaces.files.project import GIVEN, commands_with_given, with_given
from perdure.interfaces.hooks import command
from perdure.records.errors import BUG, NotFound, PerdureError
from perdure.records.identifier import shown_id
from perdure.records.wording import COMMAND, worded
from perdure.rules.escaping import terminal_error
from perdure.verbs.declaration import VERBS, Panel

_UsageError: Any = typer.BadParameter.__base__  # typer does not name it in public, and brings its own or click's
_EPILOG = "Exit codes:\n\n" + "\n\n".join(f"{code.value}: {MEANINGS[code]}" for code in Exit)


SHORT: Final[set[Panel]] = {"Store", "Find and explain", "Feedback", "Change one memory"}
_OUR_WORDS: Final[Mapping[str, str]] = {
    "Value error, ": "",
    "Input should be greater than or equal to": "it must be at least",
    "Input should be less than or equal to": "it must be at most",
    "Input should be a valid integer, unable to parse string as an integer": "it must be a whole number",
    "Input should be a valid number, unable to parse string as a number": "it must be a number",
    "Input should be": "it must be",
}
"""How the library that reads options says what is wrong -> how errors of verbs say it."""
ONE_BLAS_THREAD: Final = {v.command for v in VERBS.values() if v.panel in SHORT} | {"maintain", "mcp", "serve"}
"""Commands that are over before numpy's threads have started, and those that run beside other work for long."""
OWN: Final[Mapping[Panel, Mapping[str, Body]]] = {
    "Maintenance": {"maintain": server.maintain, "apply": plan.apply, "watch": server.watch},
    "Export and copy": {"export": transfer.export, "import": transfer.import_, "copy": transfer.copy},
    "Backups": {"backup": transfer.backup, "restore-backup": transfer.restore_backup},
    "PostgreSQL": {"migrate": server.migrate, "postgres": server.postgres},
    "Setup": {
        "serve": server.serve,
        "mcp": setup.mcp,
        "mcp-config": setup.mcp_config,
        "hook": command.hook,
        "trust": setup.trust,
        "project": setup.project,
        "demo": setup.demo,
        "policy show": setup.policy_show,
        "policy check": setup.policy_check,
        "plugin install": setup.plugin_install,
        "plugin path": setup.plugin_path,
    },
}
"""Panel of the help page -> command -> function, of commands that are no verbs."""
GROUPS: Final[Mapping[str, tuple[Panel, str]]] = {
    "entity": (
        "Find and explain",
        "The people and things that memories are about: list, show, alias, merge and split them.",
    ),
    "plan": ("Maintenance", "Save what a command would do as a plan file, to review and apply later."),
    "plugin": ("Setup", "The plugin for Claude Code: install it, or print its folder."),
    "token": ("Service", "Tokens of the service: make, list and revoke them."),
    "policy": (
        "Setup",
        "Show or check the policy: the settings that decide how memories are ranked, moved and archived.",
    ),
}
"""Group of commands -> its panel and its help."""


def all_commands() -> dict[str, TyperCommand | TyperGroup]:
    """Return every command and group by name, panel by panel as the help page lists them."""
    grouped = [*verb_commands(file_commands.STEPS), *plan.plan_commands()]
    for panel, functions in OWN.items():
        for words, function in functions.items():
            group, _, name = words.rpartition(" ")
            grouped.append((group, own_command(name, function, None if group else panel)))
    top: list[TyperCommand | TyperGroup] = [command for group, command in grouped if not group]
    for name, (panel, text) in GROUPS.items():
        commands = [command for group, command in grouped if group == name]
        top.append(TyperGroup(name=name, help=text, rich_help_panel=panel, rich_markup_mode="rich", commands=commands))
    order = get_args(Panel)
    top.sort(key=lambda command: order.index(command.rich_help_panel))
    return {str(command.name): command for command in top}


class Commands(TyperGroup):
    """The group of all commands; turns errors into one or two lines, or into one JSON document."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands.update(all_commands())

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that the first word names; names of other memory tools are understood."""
        word = ALIASES.get(args[0], args[0])
        if word in MEANT:
            ctx.fail(f"No such command {word!r}. Did you mean {MEANT[word]!r}?")
        return super().resolve_command(ctx, [word, *args[1:]])

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run the command line and end the process with one of the codes of ``Exit``."""
        argv = list(sys.argv[1:] if args is None else args)
        as_json = "--json" in (argv[: argv.index("--")] if "--" in argv else argv)
        try:
            with worded(COMMAND):
                extra |= {"windows_expand_args": windows_expand_args, "standalone_mode": False}
                code = super().main(argv, prog_name, complete_var, **extra)
            exit_code = code if isinstance(code, int) else Exit.OK
            if exit_code == Exit.STOPPED:
                _report_error(typer.Abort(), as_json=as_json)
        except Exception as error:  # noqa: BLE001  # the outermost place: every error is printed in the asked form
            exit_code = _report_error(error, as_json=as_json)
        GIVEN.set({})  # who calls the command line as a function may print commands of its own
        if standalone_mode:
            _end_process(exit_code)
        return exit_code


def _report_error(error: Exception, *, as_json: bool) -> Exit:
    if isinstance(error, PerdureError):
        return _report_refusal(error, as_json=as_json)
    if isinstance(error, _UsageError):
        for theirs, ours in _OUR_WORDS.items():
            error.message = error.message.replace(theirs, ours)
        if as_json:
            _report_json("UsageError", error.format_message(), "Add --help to see the options.", "caller")
        else:
            error.show()
        return Exit.USAGE
    if isinstance(error, typer.Abort):
        if as_json:
            _report_json("Stopped", "Stopped by Ctrl-C.", "What was stored is safe; run the command again.", "caller")
        print("Stopped. What was stored is safe; run the command again to go on.", file=sys.stderr)
        return Exit.STOPPED
    traceback.print_exception(error)
    if as_json:
        _report_json(type(error).__name__, str(error), BUG, "machine")
    else:
        print("This is a bug in Perdure; please report it with the lines above.", file=sys.stderr)
    return Exit.FAILED


def _report_refusal(error: PerdureError, *, as_json: bool) -> Exit:
    """Print an error of ours, with what undoes what was written before it."""
    written = getattr(error, "operations", ())
    remedy, message = commands_with_given(error.remedy), commands_with_given(error.message)
    if as_json:
        print_json(
            {**error.to_dict(), "message": message, "remedy": remedy, **({"operations": written} if written else {})}
        )
    else:
        print(terminal_error(message, remedy), file=sys.stderr)
        if written:
            print("To undo what was written, run these in order:", file=sys.stderr)
        for operation in reversed(written):
            print(with_given(f"perdure undo {shown_id(operation)}"), file=sys.stderr)
    return Exit.NOTHING if isinstance(error, NotFound) else Exit.FAILED


def _report_json(name: str, message: str, remedy: str, fault: str) -> None:
    print_json({"error": name, "message": message, "remedy": remedy, "fault": fault})


def _end_process(code: int) -> NoReturn:
    """End the process. A reader that went away (``perdure list | head``) is no error."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        with suppress(OSError, ValueError):  # a stream without a descriptor needs no care
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(int(code))


app = typer.Typer(
    name="perdure",
    cls=Commands,
    epilog=_EPILOG,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)


def _print_version(is_set: bool) -> None:
    if is_set:
        print(f"perdure {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def perdure(
    context: typer.Context,
    store: Store = None,
    policy: PolicyFile = None,
    namespace: Namespace = None,
    timeout: Timeout = None,
    as_json: Json = None,
    version: Annotated[  # noqa: ARG001  # its callback answers
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> Exit | None:
    """A memory lifecycle engine for AI agents: it stores, recalls, ages, shortens, explains and restores memories."""
    context.obj = {"store": store, "policy": policy, "namespace": namespace, "timeout": timeout, "as_json": as_json}
    if context.invoked_subcommand in ONE_BLAS_THREAD:
        blas_threads.take_one()
    if context.invoked_subcommand is not None:
        return None
    if as_json:
        raise typer.BadParameter("Give a command, for example recall.")
    typer.echo(context.get_help())
    return Exit.USAGE


def main() -> NoReturn:
    """Run the command line; the entry point ``perdure``."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(
                errors="backslashreplace"
            )  # a terminal that cannot show a character is no reason to fail
    app(prog_name="perdure")
    sys.exit(0)


if __name__ == "__main__":
    main()
