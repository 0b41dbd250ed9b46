"""Commands of verbs that read or write files, or that take a step of their own on the command line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer

from perdure.interfaces.cli.call import Call, Exit
from perdure.interfaces.cli.commands import CommandStep, run_verb
from perdure.interfaces.cli.options import Zone, text_of_file, text_or_input
from perdure.interfaces.views import Request, view_of
from perdure.records.errors import InvalidInput, NotFound
from perdure.verbs.declaration import VERBS, lazy_modules
from perdure.verbs.results import as_json

if TYPE_CHECKING:
    from perdure import compose
    from perdure.interfaces.files import conversation_files
    from perdure.memory import Memory
    from perdure.records import report
else:
    (compose,) = lazy_modules("perdure", "compose")
    (conversation_files,) = lazy_modules("perdure.interfaces.files", "conversation_files")
    (report,) = lazy_modules("perdure.records", "report")
FormatName = Literal["auto", "jsonl", "claude-code", "text", "markdown"]


def ingest(
    call: Call,
    paths: Annotated[
        list[str], typer.Argument(metavar="PATH...", help="Files, folders (*.jsonl, *.md, *.txt), or - for input.")
    ],
    format: Annotated[FormatName, typer.Option("--format", "-f", help="The format of the files.")] = "auto",  # noqa: A002  # the option's name
    zone: Zone = None,
    embed_later: Annotated[
        bool,
        typer.Option("--embed-later", help="Faster: only keyword search finds the messages until 'perdure reembed'."),
    ] = False,
    **arguments: Any,
) -> Exit:
    """Store conversations and notes. Storing the same file again adds nothing; all files are checked first."""
    files = conversation_files.find_files(paths)
    with conversation_files.copied_input(files) as copied:
        messages = conversation_files.ConversationFiles(files, format, arguments.get("session"), zone, copied)
        messages.check()  # what cannot be read makes no store
        arguments |= {"messages": messages, "embed": "later" if embed_later else "now"}
        return run_verb(call, VERBS["ingest"], arguments, notes={"files": len(files)})


def extract(
    call: Call,
    file: Annotated[str, typer.Argument(metavar="FILE", help="A text file (UTF-8); - reads standard input.")],
    **arguments: Any,
) -> Exit:
    """Store what is worth remembering in a text as notes, in the namespace 'extracted' unless -n is given."""
    text = text_or_input("-") if file == "-" else text_of_file(file)
    return run_verb(call, VERBS["extract"], {"text": text, **arguments})


def digest(
    call: Call,
    out: Annotated[
        str | None,
        typer.Option(
            "--out", "-o", metavar="FILE", help="Write between the markers in this file; other lines stay unchanged."
        ),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit with code 4 if the --out file is out of date.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Also replace what was changed by hand between the markers.")
    ] = False,
    **arguments: Any,
) -> Exit:
    """Print MEMORY.md, the memory summary of a namespace within a token budget, or write it to a file."""
    if check and out is None:
        raise typer.BadParameter("--check needs --out FILE, the file to check.")
    if force and out is None:
        raise typer.BadParameter("--force needs --out FILE, the file to write.")
    if force and check:
        raise typer.BadParameter("--check writes nothing, so it does not go with --force.")
    arguments["namespace"] = call.place
    with call.memory() as memory:
        result = memory.digest_details(**arguments)
        notes: dict[str, Any] = {"namespace": call.place, "file": out}
        if out is not None and check:
            file = compose.digest_file(out)
            notes |= {"stale": not file.check(result.text), "edited": file.is_edited(result.text)}
        elif out is not None:
            notes["written"] = compose.digest_file(out).write(result.text, namespace=call.place, force=force)
        call.show(memory, VERBS["digest"], arguments, result, notes)
    return Exit.STALE if notes.get("stale") else Exit.OK


def consolidate(call: Call, **arguments: Any) -> Exit:
    """Merge memories that say the same. Merged memories are hidden, never deleted."""
    arguments["namespace"] = call.place
    if not arguments["dry_run"]:  # each command is a process of its own, and the policy may ask for a dry run before
        with call.memory() as memory:
            memory.consolidate(**arguments | {"dry_run": True})
            call.show(memory, VERBS["consolidate"], arguments, memory.consolidate(**arguments))
        return Exit.OK
    return run_verb(call, VERBS["consolidate"], arguments)


def relate(
    call: Call,
    members: Annotated[
        list[str], typer.Argument(metavar="ID[=ROLE]...", help="Two or more memories, each with an optional role.")
    ],
    **arguments: Any,
) -> Exit:
    """Link memories by an edge, or add memories to an existing edge."""
    roles = {identity: role for identity, _, role in (member.partition("=") for member in members)}
    return run_verb(call, VERBS["relate"], {"members": roles, **arguments}, notes={"members": roles})


def backtest(call: Call, **arguments: Any) -> Exit:
    """Show which hits of past recalls another policy (--policy FILE) would have hidden. Nothing is written.

    It is compared with the policy that applies without --policy.
    """
    if call.policy is None:
        raise InvalidInput(
            "No policy to compare was given.", remedy="Pass its file: perdure backtest --policy other.toml"
        )
    arguments["policy"] = compose.load_policy(call.policy)
    return run_verb(replace(call, policy=None), VERBS["backtest"], arguments)


def _stats(call: Call, **arguments: Any) -> Exit:
    return run_verb(call, VERBS["stats"], arguments, notes={"store": call.shown_store})


def alerts(call: Call) -> Exit:
    """List what needs attention, with thresholds from the policy. Exit code 5 for a warning or something critical."""
    with call.memory() as memory:
        current = memory.alerts(call.namespace)
        call.show(memory, VERBS["alerts"], {"namespace": call.namespace}, current)
    return Exit.ALERT if any(a.severity != "info" for a in current) else Exit.OK


def check(call: Call, **arguments: Any) -> Exit:
    """Check the store. Exit code 1 if problems are found."""
    from perdure.interfaces.views.terminal import progress  # noqa: PLC0415  # start-up time

    with call.memory() as memory:
        with progress("Check") as report:
            faults = memory.check(**arguments, progress=report)
        notes = {
            "sound": not faults,
            "confirmed_losses": memory.confirmed_losses,
            "kept_copies": list(memory.kept_copies),
            "store": call.shown_store,
        }
        call.show(memory, VERBS["check"], arguments, faults, notes=notes)
    return Exit.FAILED if faults else Exit.OK


def repair(call: Call, **arguments: Any) -> Exit:
    """Repair what a full check finds: rows are restored from the journal, search indexes are rebuilt.

    Altered or lost texts are in no journal: they come from ``source``, an undamaged copy. Backups are refused while
    something is lost for good, until ``remove_lost`` removes it and records which lines of the journal are lost.
    ``undo`` reverses a repair, except that a damaged file was written anew: ``kept`` names the old file.

    Exit code 1 if something is still wrong after --apply.
    """
    with call.memory() as memory:
        result = memory.repair(**arguments)
        call.show(memory, VERBS["repair"], arguments, result)
    return Exit.FAILED if result.left and not result.dry_run else Exit.OK


def _review(call: Call, **arguments: Any) -> Exit:
    arguments["namespace"] = call.place
    with call.memory() as memory:
        review = memory.review_details(**arguments)
        shown = review if review.answered is not None or not call.as_json else list(review.questions)
        call.show(memory, VERBS["review"], arguments, shown)
    return Exit.OK


def undo(
    call: Call,
    operation_id: Annotated[
        str | None, typer.Argument(metavar="OPERATION", help="Its id, or last; if omitted, the last one is shown.")
    ] = None,
) -> Exit:
    """Undo an operation. Refused, with a list, if a memory has changed since.

    Without an id it only shows the last operation; 'perdure undo last' undoes it.
    """
    if operation_id is not None:
        return run_verb(call, VERBS["undo"], {"operation_id": operation_id})
    with call.memory() as memory:
        last = _last_operation(memory, call.namespace)
        call.answer(as_json(last), *view_of([last], Request("history")))
    return Exit.OK


def _last_operation(memory: Memory, namespace: str | None) -> report.Operation:
    newest = memory.history(namespace=namespace, limit=1000)
    operations = {o.id: o for o in newest if isinstance(o, report.Operation)}
    last = next((o for o in operations.values() if o.may_be_last(operations.get)), None)
    if last is None:
        raise NotFound("There is no operation to undo.", remedy="'perdure history' lists operations.")
    return last


STEPS: Final[Mapping[str, CommandStep]] = {
    "ingest": CommandStep(ingest, {"messages", "scope", "embed"}),
    "extract": CommandStep(extract, {"text"}),
    "digest": CommandStep(digest),
    "consolidate": CommandStep(consolidate),
    "relate": CommandStep(relate),
    "backtest": CommandStep(backtest, {"policy"}),
    "stats": CommandStep(_stats),
    "alerts": CommandStep(alerts),
    "check": CommandStep(check),
    "repair": CommandStep(repair),
    "review": CommandStep(_review),
    "undo": CommandStep(undo),
}
"""Verbs whose commands do more than their declarations say."""
