"""What a person decides about one memory: pin, unpin, archive, restore."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from perdure.operations.ports import Context
from perdure.operations.writing import decided, found, retried
from perdure.records.errors import InvalidInput
from perdure.records.memory import Memory, State, Status
from perdure.rules.restoring import restored
from perdure.rules.signals import views


def pin(ctx: Context, identity: str, *, pinned: bool) -> Memory:
    """Exempt a memory from every move, or let the rules apply again (from now on, not for the time it was pinned)."""
    now = ctx.clock()

    def decide(state: State) -> State:
        if state.pinned == pinned:
            return state
        return replace(
            state, pinned=pinned, tier_ms=state.tier_ms if pinned else now, status_ms=state.status_ms if pinned else now
        )

    return _decided(
        ctx,
        identity,
        "pin" if pinned else "unpin",
        decide,
        "pinned: exempt from every move" if pinned else "unpinned: the rules apply again",
    )


def archive(ctx: Context, identity: str, reason: str) -> Memory:
    """Hide a memory by hand; ``restore`` brings it back.

    Raises:
        InvalidInput: It is superseded, invalidated or consolidated: such a memory is hidden for a reason of its own.
    """
    now = ctx.clock()

    def decide(state: State) -> State:
        if state.status is Status.ARCHIVED:
            return state
        if state.status is not Status.ACTIVE:
            raise InvalidInput(
                f"{identity} is {state.status} and so is hidden already.", remedy="Nothing needs to be done."
            )
        return replace(state, status=Status.ARCHIVED, status_ms=now, held=False)

    return _decided(ctx, identity, "archive", decide, f"archived by hand: {reason}")


def restore(ctx: Context, identity: str) -> Memory:
    """Show an archived memory again; its ages start anew, so that the next sweep does not take it back."""

    def decide(state: State) -> State:
        if state.status is Status.ACTIVE:
            return state
        if state.status is not Status.ARCHIVED:
            raise InvalidInput(
                f"{identity} is {state.status}; only archived memories can be restored.",
                remedy="Use `undo` on the operation that made it so (`why` names it).",
            )
        return restored(state, ctx.policy, ctx.clock())

    return _decided(ctx, identity, "restore", decide, "restored by hand: ages start anew")


def _decided(ctx: Context, identity: str, operation: str, decide: Callable[[State], State], because: str) -> Memory:
    record = retried(lambda: decided(ctx, found(ctx, identity), operation, decide, because))
    return views([record], ctx.policy, ctx.clock())[0]
