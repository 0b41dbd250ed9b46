"""Moving a memory to another tier because a person says so."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from perdure.operations.decisions import decide
from perdure.operations.ports import Context
from perdure.operations.writing import found, retried
from perdure.records.errors import InvalidInput
from perdure.records.memory import State, Status, Tier
from perdure.records.outcome import Outcome
from perdure.rules.lifecycle.unarchive import refresh

_NEARNESS: Final = {Tier.COLD: 0, Tier.WARM: 1, Tier.HOT: 2, Tier.VAULT: 3}


def move(ctx: Context, identity: str, tier: Tier, reason: str) -> Outcome:
    """Move a memory to a tier by hand, and write the reason down; the rules go on from there.

    Whoever moves a memory nearer, or out of the vault, wants it at hand: its ages start anew, as after a restore. One
    that is moved further away keeps its ages.

    Raises:
        InvalidInput: It is not in view.
    """

    def change(state: State) -> State:
        if state.status is not Status.ACTIVE:
            raise InvalidInput(
                f"{identity} is {state.status}; only memories in view have a tier to move between.",
                remedy="Use `restore` first."
                if state.status is Status.ARCHIVED
                else "Use `undo` on the operation that made it so (`why` names it).",
            )
        if state.tier is tier:
            return state
        now = ctx.clock()
        nearer = _NEARNESS[tier] > _NEARNESS[state.tier] or state.tier is Tier.VAULT
        base = refresh(state, ctx.policy, now) if nearer else state
        return replace(base, tier=tier, tier_ms=now, tier_accesses=0)

    because = f"manual override: moved by hand to {tier}: {reason}"
    return retried(lambda: decide(ctx, found(ctx, identity), "move", change, because))
