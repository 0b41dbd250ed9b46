"""Plans as files on the command line: ``perdure plan VERB -o FILE``, a look, and ``perdure apply FILE``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Final

import typer

from perdure.interfaces.cli.call import Call, Exit, verb
from perdure.interfaces.cli.commands import command_of
from perdure.interfaces.files import plan_file
from perdure.interfaces.views import Request, view_of
from perdure.records.plan import Plan
from perdure.verbs.declaration import VERBS, Verb

PlanFile = Annotated[str, typer.Option("--out", "-o", metavar="FILE", help="Where the plan goes, a JSON file.")]
Force = Annotated[bool, typer.Option("--force", help="Replace a file that is there.")]
AcceptLoss = Annotated[
    str | None,
    typer.Option(
        "--accept-loss", metavar="REASON", help="Apply what the gates would stop; the journal keeps the reason."
    ),
]


_PREVIEWED: Final = ("sweep", "consolidate", "fit", "complete_task", "promote", "procedures", "summarize")
"""Verbs whose result holds the plans of what it would do."""


def planning() -> typer.Typer:
    """Return the command group ``perdure plan``: one command for each verb that can be previewed."""
    app = typer.Typer(help="Write down what a verb would do, as a file to look at and to apply.")
    for name in _PREVIEWED:
        verb(app, name.replace("_", "-"))(_command(VERBS[name]))
    return app


def _command(declared: Verb) -> Callable[..., Exit]:
    """Return the command that writes a verb's plans: the verb's own, with a file, without what makes it act."""

    def step(call: Call, out_file: str, force: bool, **given: Any) -> Exit:
        arguments = {name: value for name, value in given.items() if name not in {"dry_run", "confirm", "accept_loss"}}
        if "dry_run" in declared.defaults:
            arguments["dry_run"] = True
        arguments |= {"namespace": call.namespace or declared.defaults.get("namespace", "default")}
        with call.memory(create=False) as memory:
            plans: Sequence[Plan] = getattr(memory, declared.name)(**arguments).plans
        plan_file.write(out_file, plans, force=force)
        _tell(call, plans, out_file)
        return Exit.OK

    command = command_of(declared, step)
    keyword = inspect.Parameter.KEYWORD_ONLY
    own = [
        p for p in inspect.signature(command).parameters.values() if p.name not in {"dry_run", "confirm", "accept_loss"}
    ]
    out = inspect.Parameter("out_file", keyword, annotation=PlanFile)
    again = inspect.Parameter("force", keyword, default=False, annotation=Force)
    command.__signature__ = inspect.Signature([*own, out, again])  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in (*own, out, again)}
    command.__doc__ = f"Plan what `perdure {declared.command or declared.name}` would do."
    return command


def apply(
    call: Call,
    file: Annotated[str, typer.Argument(metavar="FILE", help="What `perdure plan` wrote.")],
    accept_loss: AcceptLoss = None,
) -> None:
    """Apply a plan exactly as it was shown, or refuse because the store or the policy has changed since."""
    plans = plan_file.read(file)
    with call.memory() as memory:
        done = memory.apply_all(plans, accept_loss=accept_loss)
    _tell(call, done, None)


def _tell(call: Call, plans: Sequence[Plan], file: str | None) -> None:
    told = [
        {
            "id": p.id,
            "operation": p.operation,
            "namespace": p.namespace,
            "note": p.note,
            "changes": len(p.changes),
            "hides": p.hides,
            "shortens": len(p.shortened),
        }
        for p in plans
    ]
    answer: dict[str, Any] = {"plans": told, "applied": file is None}
    if file is not None:
        answer["file"] = file
    call.answer(answer, *view_of(plans, Request("apply", notes=answer)))
