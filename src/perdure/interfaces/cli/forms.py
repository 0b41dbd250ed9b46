"""Commands about what is shown of memories: a budget of tokens, and what shorter forms save and keep."""

from __future__ import annotations

from typing import Annotated

import typer

from perdure.interfaces.cli.call import Call
from perdure.interfaces.cli.options import AcceptLoss, Apply


def fit(
    call: Call,
    tokens: Annotated[
        int | None, typer.Option("--tokens", "-b", metavar="N", help="The budget. Default: the policy's.")
    ] = None,
    apply: Apply = False,
    accept_loss: AcceptLoss = None,
) -> None:
    """Keep what recall may return within a number of tokens: shorter forms first. Whole texts are kept."""
    with call.memory() as memory:
        done = memory.fit(call.place, tokens, dry_run=not apply, accept_loss=accept_loss)
    from perdure.interfaces.views.signals import show_fit  # noqa: PLC0415  # start-up time

    call.answer(done.to_dict(), lambda out: show_fit(out, done))


def compression(
    call: Call,
    queries: Annotated[
        int, typer.Option("--queries", metavar="N", help="How many past recalls are asked again, 1 to 1000.")
    ] = 50,
) -> None:
    """Report what shorter forms save and keep, and how past recalls are answered now. None of it is an access."""
    with call.memory() as memory:
        found = memory.compression(call.place, queries)
    from perdure.interfaces.views.signals import show_compression  # noqa: PLC0415  # start-up time

    call.answer(found.to_dict(), lambda out: show_compression(out, found))
