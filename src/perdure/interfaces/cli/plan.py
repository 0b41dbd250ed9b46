"""Plans as files on the command line: ``perdure plan VERB -o FILE``, a look, and ``perdure apply FILE``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Protocol, get_type_hints

import typer

from perdure.interfaces.cli.call import Call, verb
from perdure.interfaces.files import plan_file
from perdure.records.plan import Plan

if TYPE_CHECKING:
    from perdure.memory import Memory

PlanFile = Annotated[str, typer.Option("--out", "-o", metavar="FILE", help="Where the plan goes, a JSON file.")]
Force = Annotated[bool, typer.Option("--force", help="Replace a file that is there.")]
AcceptLoss = Annotated[
    str | None,
    typer.Option(
        "--accept-loss", metavar="REASON", help="Apply what the gates would stop; the journal keeps the reason."
    ),
]


class Previewed(Protocol):
    """What every verb returns that can be previewed."""

    @property
    def plans(self) -> Sequence[Plan]:
        """What it would change."""
        ...


Preview = Callable[..., Previewed]
"""(memory, namespace or None, the verb's own arguments and options) -> what it would do. Nothing is written."""


def _sweep(memory: Memory, namespace: str | None) -> Previewed:
    """Plan the moves that have fallen due."""
    return memory.sweep(dry_run=True, namespace=namespace)


def _consolidate(
    memory: Memory,
    namespace: str | None,
    threshold: Annotated[float, typer.Option("--threshold", help="How alike memories must be, 0.7 to 0.99.")] = 0.85,
    strategy: Annotated[str, typer.Option("--strategy", help="What stays.")] = "keep_highest_importance",
    max_groups: Annotated[int, typer.Option("--max-groups", help="Groups at most, 1 to 100.")] = 50,
) -> Previewed:
    """Plan the merging of duplicates."""
    return memory.consolidate(namespace or "default", threshold, strategy, max_groups=max_groups)


def _fit(
    memory: Memory,
    namespace: str | None,
    tokens: Annotated[int | None, typer.Option("--tokens", help="The budget. Default: the policy's.")] = None,
) -> Previewed:
    """Plan how a namespace comes within a number of tokens."""
    return memory.fit(namespace or "default", tokens, dry_run=True)


def _complete_task(
    memory: Memory, namespace: str | None, task: Annotated[str, typer.Argument(metavar="TASK", help="Which task.")]
) -> Previewed:
    """Plan the end of a task."""
    return memory.complete_task(task, namespace=namespace or "default", dry_run=True)


def _promote(
    memory: Memory,
    namespace: str | None,
    session: Annotated[str, typer.Argument(metavar="SESSION", help="Which session.")],
    threshold: Annotated[
        float | None, typer.Option("--threshold", help="Confidence needed. Default: the policy's.")
    ] = None,
) -> Previewed:
    """Plan what a session brings to long term."""
    return memory.promote(session, threshold, namespace=namespace or "default")


def _procedures(memory: Memory, namespace: str | None) -> Previewed:
    """Plan which procedures are learned, changed and archived."""
    return memory.learn_procedures(namespace or "default")


def _summarize(memory: Memory, namespace: str | None) -> Previewed:
    """Plan the summaries of entities that are due."""
    return memory.summarize(namespace or "default", dry_run=True)


PREVIEWS: dict[str, Preview] = {
    "sweep": _sweep,
    "consolidate": _consolidate,
    "fit": _fit,
    "complete-task": _complete_task,
    "promote": _promote,
    "procedures": _procedures,
    "summarize": _summarize,
}
"""Verb -> its preview. Parameters after the first two become the command's arguments and options."""


def planning() -> typer.Typer:
    """Return the command group ``perdure plan``: one command for each row of ``PREVIEWS``."""
    app = typer.Typer(help="Write down what a verb would do, as a file to look at and to apply.")
    for name, preview in PREVIEWS.items():
        verb(app, name)(_command(preview))
    return app


def _command(preview: Preview) -> Callable[..., None]:
    hints = get_type_hints(preview, localns={"Memory": Any}, include_extras=True)  # Memory itself would load numpy
    own = [
        p.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[p.name])
        for p in list(inspect.signature(preview).parameters.values())[2:]
    ]

    def command(call: Call, out_file: str, force: bool, **given: Any) -> None:
        with call.memory() as memory:
            plans = preview(memory, call.namespace, **given).plans
        plan_file.write(out_file, plans, force=force)
        _tell(call, plans, out_file)

    first = inspect.Parameter("call", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Call)
    out = inspect.Parameter("out_file", inspect.Parameter.KEYWORD_ONLY, annotation=PlanFile)
    again = inspect.Parameter("force", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Force)
    command.__signature__ = inspect.Signature([first, *own, out, again])  # type: ignore[attr-defined]
    command.__annotations__ = {"call": Call, **{p.name: p.annotation for p in (*own, out, again)}}
    command.__doc__ = preview.__doc__
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
    from perdure.interfaces.views.rendering import show_plans  # noqa: PLC0415  # start-up time

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
    call.answer(answer, lambda out: show_plans(out, answer))
