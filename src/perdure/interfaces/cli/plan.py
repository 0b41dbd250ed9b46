"""Plans as files on the command line: ``perdure plan VERB -o FILE``, a look, and ``perdure apply FILE``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from perdure.interfaces.cli.call import Call, Exit
from perdure.interfaces.cli.commands import CommandStep, LazyCommand, command_of
from perdure.interfaces.views import Request, view_of
from perdure.verbs.declaration import VERBS, Verb, lazy_modules

if TYPE_CHECKING:
    from perdure.interfaces.files import plan_file
    from perdure.records.plan import Plan
else:
    (plan_file,) = lazy_modules("perdure.interfaces.files", "plan_file")

PlanFile = Annotated[str, typer.Option("--out", "-o", metavar="FILE", help="The plan file to write (JSON).")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite an existing file, but no store and no backup.")]
AcceptLoss = Annotated[
    str | None,
    typer.Option(
        "--accept-loss",
        metavar="REASON",
        help="Apply the plan even if a safety gate stops it; the reason is kept in the journal.",
    ),
]


_PLANNED_VERBS: Final = ("sweep", "consolidate", "fit", "complete_task", "promote", "procedures", "summarize")
"""Verbs whose result holds the plans of what it would do."""


def plan_commands() -> Iterator[tuple[str, LazyCommand]]:
    """Yield the commands of the group ``perdure plan``: one for each verb that can be previewed."""
    for verb in _PLANNED_VERBS:
        name = verb.replace("_", "-")
        text = f"Save what 'perdure {name}' would do as a plan file."
        yield "plan", LazyCommand(name, text, None, partial(_plan_command, VERBS[verb]))


def _plan_command(declared: Verb) -> Callable[..., Exit]:
    """Return the command that writes a verb's plans: with a file, and without what makes the verb act."""

    def write(call: Call, out: PlanFile, *, force: Force = False, **arguments: Any) -> Exit:
        if "dry_run" in declared.defaults:
            arguments["dry_run"] = True
        arguments["namespace"] = call.namespace or declared.defaults.get("namespace", "default")
        with call.memory() as memory:
            plans: Sequence[Plan] = getattr(memory, declared.name)(**arguments).plans
        plan_file.write(out, plans, store=call.store, force=force)
        _show(call, plans, out)
        return Exit.OK

    return command_of(declared, CommandStep(write, {"dry_run", "confirm", "accept_loss"}))


def apply(
    call: Call,
    file: Annotated[str, typer.Argument(metavar="FILE", help="A plan file that `perdure plan` wrote.")],
    accept_loss: AcceptLoss = None,
) -> None:
    """Apply a plan exactly as shown; refused if the store or the policy has changed since."""
    plans = plan_file.read(file)
    with call.memory() as memory:
        outcome = memory.apply_all(plans, accept_loss=accept_loss)
    _show(call, outcome.plans, None)


def _show(call: Call, plans: Sequence[Plan], file: str | None) -> None:
    summaries = [
        {
            "id": p.id,
            "operation": p.operation,
            "namespace": p.namespace,
            "note": p.note,
            "changes": len(p.changes),
            "hides": p.hides,
            "shortens": len(p.shortened_ids),
        }
        for p in plans
    ]
    answer: dict[str, Any] = {"plans": summaries, "applied": file is None}
    if file is not None:
        answer["file"] = file
    call.answer(answer, *view_of(plans, Request("apply", notes=answer)))
