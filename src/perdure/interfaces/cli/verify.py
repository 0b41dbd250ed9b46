"""The command that asks authorities: databases about facts, working trees about what memories cite."""

from __future__ import annotations

from typing import Annotated

import typer

from perdure.interfaces.cli.call import Call
from perdure.interfaces.cli.options import AcceptLoss


def verify(
    call: Call,
    ids: Annotated[list[str] | None, typer.Argument(metavar="[ID...]", help="Only these memories.")] = None,
    limit: Annotated[
        int, typer.Option("--limit", "-l", metavar="N", help="How many facts and citing memories at most, 1 to 1000.")
    ] = 1000,
    accept_loss: AcceptLoss = None,
) -> None:
    """Ask the authorities of the knowledge file about facts and citations. One that disagrees wins; undo works."""
    with call.memory() as memory:
        found = memory.verify(call.place, ids or None, limit=limit, accept_loss=accept_loss)
    from perdure.interfaces.views.verify import show_verified  # noqa: PLC0415  # start-up time

    call.answer(found.to_dict(), lambda out: show_verified(out, found))
