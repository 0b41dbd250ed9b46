"""Commands about learning: how fast facts change, what follows what, and other policies on past recalls."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from perdure.interfaces.cli.call import Call
from perdure.interfaces.cli.options import AcceptLoss, Apply
from perdure.records.errors import InvalidInput
from perdure.rules.learning_hint import untaught


def rates(
    call: Call,
    learn: Annotated[
        bool, typer.Option("--learn", help="Write them down: confidence then falls by those that are sure enough.")
    ] = False,
) -> None:
    """Show how fast facts of each sort change, with intervals, and which rates are in use."""
    with call.memory() as memory:
        found = memory.learn_rates(call.place) if learn else memory.rates(call.place)
        hint = untaught(memory.policy.knowledge)
    from perdure.interfaces.views.learning import show_rates  # noqa: PLC0415  # start-up time

    call.answer(found.to_dict(), lambda out: show_rates(out, found, hint))


def procedures(call: Call, apply: Apply = False, accept_loss: AcceptLoss = None) -> None:
    """Learn what follows what in conversations; --apply writes it down, and archives what stopped holding."""
    with call.memory() as memory:
        done = memory.learn_procedures(call.place, not apply, accept_loss=accept_loss)
        days = memory.policy.knowledge.procedure_days
    from perdure.interfaces.views.learning import show_procedures  # noqa: PLC0415  # start-up time

    call.answer(done.to_dict(), lambda out: show_procedures(out, done, days))


def backtest(
    call: Call,
    limit: Annotated[
        int, typer.Option("--limit", "-l", metavar="N", help="Past recalls that are judged, 1 to 1000.")
    ] = 1000,
) -> None:
    """Show which hits of past recalls another policy (--policy FILE) would have hidden. Nothing is written.

    It is compared with the policy that applies where none is named.
    """
    if call.policy is None:
        raise InvalidInput("There is no policy to try.", remedy="Name its file: perdure backtest --policy other.toml")
    from perdure.compose import load_policy  # noqa: PLC0415  # start-up time

    other = load_policy(call.policy)
    with replace(call, policy=None).memory() as memory:
        found = memory.backtest(other, call.place, limit=limit)
    from perdure.interfaces.views.learning import show_backtest  # noqa: PLC0415  # start-up time

    call.answer(found.to_dict(), lambda out: show_backtest(out, found))
