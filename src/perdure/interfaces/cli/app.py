"""The command ``perdure``: its global options, how errors are told, and its exit codes. Verbs are in ``cli_*.py``."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from perdure import __version__
from perdure.interfaces.cli import backup as cli_backup
from perdure.interfaces.cli import entities as cli_entities
from perdure.interfaces.cli import facts as cli_facts
from perdure.interfaces.cli import forms as cli_forms
from perdure.interfaces.cli import groups as cli_groups
from perdure.interfaces.cli import knowledge as cli_knowledge
from perdure.interfaces.cli import plan as cli_plan
from perdure.interfaces.cli import read as cli_read
from perdure.interfaces.cli import server as cli_server
from perdure.interfaces.cli import setup as cli_setup
from perdure.interfaces.cli import signals as cli_signals
from perdure.interfaces.cli import transfer as cli_move
from perdure.interfaces.cli import upkeep as cli_upkeep
from perdure.interfaces.cli import verify as cli_verify
from perdure.interfaces.cli import write as cli_write
from perdure.interfaces.cli.call import MEANINGS, Body, Exit, Json, Namespace, PolicyFile, Store, print_json, verb
from perdure.interfaces.hooks import command as cli_hook
from perdure.records.errors import NotFound, PerdureError

_UsageError: Any = typer.BadParameter.__base__  # typer does not name it in public, and brings its own or click's
_LONGEST_ERROR = 4000
"""Characters of a message that are printed; --json has all of it."""
_EPILOG = "Exit codes:\n\n" + "\n\n".join(f"{code.value}: {MEANINGS[code]}" for code in Exit)


class Commands(TyperGroup):
    """The group of all commands; turns errors into one or two lines, or into one JSON document."""

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
        words = list(sys.argv[1:] if args is None else args)
        as_json = "--json" in (words[: words.index("--")] if "--" in words else words)
        try:
            code = super().main(
                words, prog_name, complete_var, standalone_mode=False, windows_expand_args=windows_expand_args, **extra
            )
            ended = code if isinstance(code, int) else Exit.OK
            if ended == Exit.STOPPED:
                _told(typer.Abort(), as_json=as_json)
        except Exception as error:  # noqa: BLE001  # the outermost place: whatever it is, it is told in the asked form
            ended = _told(error, as_json=as_json)
        if standalone_mode:
            _end(ended)
        return ended


def _told(error: Exception, *, as_json: bool) -> Exit:
    """Tell an error and return the exit code that it stands for."""
    if isinstance(error, PerdureError):
        return _tell_refusal(error, as_json=as_json)
    if isinstance(error, _UsageError):
        if as_json:
            _tell_json("UsageError", error.format_message(), "Add --help to see the options.", "caller")
        else:
            error.show()
        return Exit.USAGE
    if isinstance(error, typer.Abort):
        if as_json:
            _tell_json("Stopped", "Stopped by Ctrl-C.", "What was stored is safe; run the command again.", "caller")
        print("Stopped. What was stored is safe; run the command again to go on.", file=sys.stderr)
        return Exit.STOPPED
    traceback.print_exception(error)
    if as_json:
        _tell_json(type(error).__name__, str(error), "This is a defect of Perdure; please report it.", "machine")
    else:
        print("This is a defect of Perdure; please report it with the lines above.", file=sys.stderr)
    return Exit.FAILED


def _tell_refusal(error: PerdureError, *, as_json: bool) -> Exit:
    if as_json:
        print_json(error.to_dict())
    else:
        from perdure.interfaces.views.rendering import shown  # noqa: PLC0415  # start-up time

        print(f"Error: {shown(error.message[:_LONGEST_ERROR])}", file=sys.stderr)
        if error.remedy:
            print(shown(error.remedy), file=sys.stderr)
    return Exit.NOTHING if isinstance(error, NotFound) else Exit.FAILED


def _tell_json(name: str, message: str, remedy: str, fault: str) -> None:
    print_json({"error": name, "message": message, "remedy": remedy, "fault": fault})


def _end(code: int) -> NoReturn:
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


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"perdure {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def perdure(
    context: typer.Context,
    store: Store = None,
    policy: PolicyFile = None,
    namespace: Namespace = None,
    as_json: Json = None,
    version: Annotated[  # noqa: ARG001  # its callback answers
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and end.")
    ] = False,
) -> Exit | None:
    """A memory lifecycle engine for AI agents: what is learnt is kept, faded, explained, and brought back."""
    context.obj = {"store": store, "policy": policy, "namespace": namespace, "as_json": as_json}
    if context.invoked_subcommand in BRIEF:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # 0.07 s sooner, and other work keeps its cores
    if context.invoked_subcommand is not None:
        return None
    if as_json:
        raise typer.BadParameter("Name a command.")
    typer.echo(context.get_help())
    return Exit.USAGE


VERBS: dict[str, dict[str, Body]] = {
    "Bring in": {"remember": cli_write.remember, "ingest": cli_write.ingest, "extract": cli_groups.extract},
    "Ask": {
        "recall": cli_read.recall,
        "get": cli_read.get,
        "list": cli_read.listed,
        "why": cli_read.why,
        "why-not": cli_read.why_not,
        "namespaces": cli_read.namespaces,
    },
    "Facts": {
        "learn": cli_facts.learn,
        "facts": cli_facts.facts,
        "timeline": cli_facts.timeline,
        "answer-sheet": cli_facts.answer_sheet,
        "summarize": cli_facts.summarize,
        "review": cli_signals.review,
        "confirm": cli_facts.confirm,
        "deny": cli_facts.deny,
        "correct": cli_facts.correct,
        "both": cli_facts.both,
        "same": cli_facts.same,
        "mute": cli_facts.mute,
    },
    "Say what became of it": {
        "used": cli_signals.used,
        "reinforce": cli_signals.reinforce,
        "weaken": cli_signals.weaken,
        "settle": cli_signals.settle,
    },
    "Decide about one memory": {
        "pin": cli_write.pin,
        "unpin": cli_write.unpin,
        "archive": cli_write.archive,
        "restore": cli_write.restore,
        "move": cli_signals.move,
    },
    "Tasks and sessions": {
        "relate": cli_groups.relate,
        "edges": cli_groups.edges,
        "complete-task": cli_groups.complete_task,
        "promote": cli_groups.promote,
        "end-session": cli_groups.end_session,
    },
    "Upkeep": {
        "sweep": cli_upkeep.sweep,
        "apply": cli_plan.apply,
        "forecast": cli_upkeep.forecast,
        "stats": cli_upkeep.stats,
        "digest": cli_upkeep.digest,
        "decay": cli_signals.decay,
        "consolidate": cli_groups.consolidate,
        "fit": cli_forms.fit,
        "compression": cli_forms.compression,
        "verify": cli_verify.verify,
        "reembed": cli_write.reembed,
        "optimize": cli_upkeep.optimize,
        "check": cli_upkeep.check,
    },
    "Learn": {
        "rates": cli_knowledge.rates,
        "procedures": cli_knowledge.procedures,
        "backtest": cli_knowledge.backtest,
    },
    "Move": {"export": cli_move.export, "import": cli_move.import_, "copy": cli_move.copy},
    "Keep safe": {"backup": cli_backup.backup, "restore-backup": cli_backup.restore_backup},
    "On a server": {"migrate": cli_server.migrate, "maintain": cli_server.maintain, "postgres": cli_server.postgres},
    "Look back and take back": {"history": cli_read.history, "undo": cli_write.undo},
    "Set up": {"mcp": cli_setup.mcp, "mcp-config": cli_setup.mcp_config, "hook": cli_hook.hook, "demo": cli_setup.demo},
}
"""Panel of the help page -> command -> its function."""

BRIEF = {"remember", *VERBS["Ask"], *VERBS["Say what became of it"], *VERBS["Decide about one memory"]}
"""Commands that are over before numpy's threads have started."""

for panel, verbs in VERBS.items():
    for name, body in verbs.items():
        verb(app, name, panel)(body)

policy_app = typer.Typer(help="Show or check the policy: every number that decides a memory's life.")
verb(policy_app, "show")(cli_setup.policy_show)
verb(policy_app, "check")(cli_setup.policy_check)
app.add_typer(cli_entities.entity_commands(), name="entity", rich_help_panel="Ask")
app.add_typer(cli_plan.planning(), name="plan", rich_help_panel="Upkeep")
app.add_typer(policy_app, name="policy", rich_help_panel="Set up")


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
