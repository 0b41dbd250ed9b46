"""What is stored with a date in the past goes where it belongs by now, in the operation that stores it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from perdure.operations.lifecycle.gates import loss_history
from perdure.operations.ports import Context
from perdure.rules.decisions import Decisions
from perdure.rules.lifecycle.ration import Ration, Rationing
from perdure.rules.lifecycle.trajectory import foresee, replay


def settle_backdated(ctx: Context, decisions: Decisions, ids: Iterable[str]) -> None:
    """Move new memories whose instant has come as a sweep would, so that it does not matter when the next one is.

    The loss budget is asked. No recall can have found what is new, so the recall gate has nothing to protect, and
    shortening waits for the sweep.
    """
    states = {i: decisions.states[i] for i in ids}
    policy = replace(ctx.policy, compression=replace(ctx.policy.compression, rule="never"))
    sharing = Rationing(policy, decisions.now)
    losing = foresee(states, {}, decisions.now, policy, sharing.since(states)).losing()
    sharing.admit(losing.values(), states, {})
    history = loss_history(ctx, decisions.namespace, sharing.first_day) if losing else None
    ration = Ration() if history is None else sharing.share_out(history)
    openings = {**sharing.since(states), **ration.openings}
    for trajectory in replay(states, {}, decisions.now, policy, openings):
        for step in trajectory.transitions:
            decisions.change(trajectory.id, step.state, step.rule, step.because)
