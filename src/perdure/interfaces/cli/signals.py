"""Commands about a memory's signals: decay, reinforcement, use, open questions, and moving by hand."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from perdure.interfaces.cli.call import Call, Exit
from perdure.interfaces.cli.options import Apply, Identities, Identity
from perdure.interfaces.cli.write import decide
from perdure.rules.learning_hint import untaught


class Curve(StrEnum):
    """The shapes of decay (seed 000 section 1.3)."""

    EXPONENTIAL = "exponential"
    LINEAR = "linear"
    STEP = "step"


class Boost(StrEnum):
    """The ways to reinforce (seed 000 section 2.3)."""

    ADDITIVE = "additive"
    MULTIPLICATIVE = "multiplicative"
    SET_VALUE = "set_value"


class Outcome(StrEnum):
    """What became of a recalled memory."""

    HELPFUL = "helpful"
    WRONG = "wrong"
    UNUSED = "unused"


class Verdict(StrEnum):
    """A person's answer to an open question."""

    KEEP = "keep"
    DROP = "drop"


class Place(StrEnum):
    """Tiers to which a person may move a memory."""

    HOT = "hot"
    WARM = "warm"
    COLD = "cold"
    VAULT = "vault"


def decay(
    call: Call,
    curve: Annotated[Curve, typer.Option("--curve", help="The curve's shape.")] = Curve.EXPONENTIAL,
    half_life: Annotated[
        float, typer.Option("--half-life", metavar="DAYS", help="Days until importance halves, 1 to 365.")
    ] = 30.0,
    floor: Annotated[
        float, typer.Option("--floor", metavar="0..0.5", help="Decay does not go below this; it never lifts.")
    ] = 0.1,
    access_weight: Annotated[
        float, typer.Option("--access-weight", metavar="0..1", help="How much of the loss frequent access gives back.")
    ] = 0.3,
    apply: Apply = False,
) -> None:
    """Report what importance has decayed to, in all namespaces or one; --apply writes it down and sweeps."""
    with call.memory() as memory:
        found = memory.decay(call.namespace, curve.value, half_life, floor, access_weight, not apply)
    from perdure.interfaces.views.signals import show_decay  # noqa: PLC0415  # start-up time

    call.answer(found.to_dict(), lambda out: show_decay(out, found))


def reinforce(
    call: Call,
    ids: Identities,
    boost: Annotated[Boost, typer.Option("--boost", help="Add the amount, grow by this share, or set this value.")] = (
        Boost.ADDITIVE
    ),
    amount: Annotated[float, typer.Option("--amount", metavar="0..1", help="How much.")] = 0.1,
    no_access: Annotated[bool, typer.Option("--no-access", help="Do not count it as an access too.")] = False,
) -> Exit:
    """Raise the importance of memories, and with it strength and stability. Ends with 3 if none is found."""
    with call.memory() as memory:
        done = memory.reinforce(ids, boost.value, amount, not no_access)
    from perdure.interfaces.views.signals import show_reinforced  # noqa: PLC0415  # start-up time

    call.answer(done.to_dict(), lambda out: show_reinforced(out, done))
    return Exit.OK if done.reinforced else Exit.NOTHING


def weaken(
    call: Call,
    ids: Identities,
    amount: Annotated[float, typer.Option("--amount", metavar="0..100", help="Energy to take.")] = 1.0,
) -> Exit:
    """Lower the strength of memories; importance stays. Ends with 3 if none is found."""
    with call.memory() as memory:
        done = memory.weaken(ids, amount)
    from perdure.interfaces.views.signals import show_weakened  # noqa: PLC0415  # start-up time

    call.answer(done.to_dict(), lambda out: show_weakened(out, done))
    return Exit.OK if done.weakened else Exit.NOTHING


def used(
    call: Call,
    ids: Identities,
    outcome: Annotated[
        Outcome, typer.Option("--outcome", "-o", help="helpful reinforces, wrong doubts and asks, unused only notes.")
    ] = Outcome.HELPFUL,
    recall: Annotated[
        str | None,
        typer.Option("--recall", metavar="ID", help="The recall they came from. Default: the newest of each."),
    ] = None,
) -> Exit:
    """Say what became of recalled memories. The same memory and recall count once. Ends with 3 if none is found."""
    with call.memory() as memory:
        done = memory.used(ids, outcome.value, recall)
    from perdure.interfaces.views.signals import show_used  # noqa: PLC0415  # start-up time

    call.answer(done.to_dict(), lambda out: show_used(out, done))
    return Exit.NOTHING if set(ids) <= set(done.not_found) else Exit.OK


def review(
    call: Call,
    limit: Annotated[
        int | None,
        typer.Option("--limit", "-l", metavar="N", help="How many, 1 to 1000. Default: what is left of today's."),
    ] = None,
) -> None:
    """List questions about memories in doubt, the highest value at risk first; confirm, deny or correct answers one."""
    with call.memory() as memory:
        found = memory.review(call.place, limit)
        hint = untaught(memory.policy.knowledge)
    from perdure.interfaces.views.signals import show_questions  # noqa: PLC0415  # start-up time

    call.answer([q.to_dict() for q in found], lambda out: show_questions(out, found, call.place, hint))


def settle(
    call: Call,
    id: Identity,  # noqa: A002  # the contract's name
    verdict: Annotated[
        Verdict, typer.Option("--verdict", help="keep: it is still true; drop: archive it.")
    ] = Verdict.KEEP,
    reason: Annotated[
        str | None, typer.Option("--reason", "-r", metavar="TEXT", help="Why; it is kept in the journal.")
    ] = None,
) -> None:
    """Answer the open questions about a memory."""
    decide(call, "settle", "Settled", id, verdict.value, reason)


def move(
    call: Call,
    id: Identity,  # noqa: A002  # the contract's name
    tier: Annotated[Place, typer.Argument(metavar="TIER", help="Where to: hot, warm, cold or vault.")],
    reason: Annotated[str, typer.Option("--reason", "-r", metavar="TEXT", help="Why; it is kept in the journal.")],
) -> None:
    """Move a memory to a tier by hand, into the vault or out of it too. The rules go on from there."""
    decide(call, "move", "Moved", id, tier.value, reason)
